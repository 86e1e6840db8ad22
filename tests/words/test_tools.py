"""What is asked of a living cluster is asked of brokers that answer it; older ones are read instead."""

import json
import re

import pytest

from kafkatx.cli.words import speaking_modules
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.topics import partition_for
from kafkatx.words.asked import Ask, AskFacts, answerable, asked
from kafkatx.words.catalogue import all_sentences
from kafkatx.words.explained import Remedy
from kafkatx.words.tools import answers, remedy_for, sentence_for
from tests.evidence import fixtures

UNANSWERED = re.compile(r"kafka-transactions\.sh(?: --bootstrap-server \S+)? (list|describe|find-hanging)\b")
TOOL = "kafka-transactions.sh --bootstrap-server HOST:PORT"
FACTS = AskFacts("bills-2", 7, "bills", 3, 11, 50)
WAITING = """Our brokers run Kafka {release}. Readers of the topic stand still since the night, and the producer says
2022-08-02 03:14:07,201 ERROR [Producer clientId=bills, transactionalId=bills-2] commit failed (shop.Bills)
org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting EndTxn(true)
"""


def home(name: str) -> int:
    return partition_for(name, 50)


@pytest.mark.parametrize(
    ("asks", "release", "is_answered"),
    [
        ("describe-producers", (2, 7, 2), False),
        ("describe-producers", (2, 8), True),
        ("find-hanging", (2, 8, 2), False),
        ("describe", (3, 0, 0), True),
        ("describe", (3,), True),
        ("list", (), True),
        ("abort", (1, 1), True),
    ],
)
def test_brokers_answer_from_their_release_on(asks: str, release: tuple[int, ...], is_answered: bool):
    assert answers(asks, release) is is_answered


def test_no_sentence_names_a_call_that_old_brokers_do_not_answer():
    named = [one.reads for one in all_sentences(speaking_modules()) if UNANSWERED.search(one.reads)]
    assert len(named) > 10
    for text in named:
        is_command = "--bootstrap-server" in text
        command = remedy_for(Remedy("Look", "operator", command=text), (2, 4), home).command
        said = command if is_command else sentence_for(text, (2, 4))
        assert not UNANSWERED.search(said or ""), said
        assert sentence_for(text, ()) == sentence_for(text, (3, 4)) == text


def test_a_call_that_is_not_answered_becomes_a_dump():
    look = Remedy("Look it up", "operator", command=f"{TOOL} describe --transactional-id it's-5")
    assert remedy_for(look, (3, 1), home) == look
    old = remedy_for(look, (2, 8), home)
    assert f"__transaction_state-{home(chr(105) + 't' + chr(39) + 's-5')}/" in (old.command or "")
    assert "Brokers before 3.0 can't be asked for it" in old.text
    producers = Remedy("Look", "operator", command=f"{TOOL} describe-producers --topic bills --partition 3")
    assert remedy_for(producers, (2, 8), home).command == producers.command
    assert "LOG_DIR/bills-3/" in (remedy_for(producers, (2, 6), home).command or "")


def test_an_abort_of_old_brokers_says_where_the_tool_is_from():
    end = Remedy("End it", "operator", command=f"{TOOL} abort --topic bills --partition 3 --producer-id 7")
    assert "came with Kafka 3.0" in remedy_for(end, (2, 1), home).text
    assert remedy_for(end, (3, 5), home) == remedy_for(end, (), home) == end


@pytest.mark.parametrize("kind", Ask)
def test_what_is_asked_for_can_be_had(kind: Ask):
    assert answerable(kind, ()) == answerable(kind, (3, 0)) == (kind,)
    for one in answerable(kind, (2, 5)):
        wanted = asked(one, FACTS)
        assert wanted is not None
        assert "kafka-transactions" not in json.dumps((wanted.command, wanted.where))


@pytest.mark.parametrize("release", ["2.5.1", "3.4.0"])
def test_a_page_that_names_the_brokers_release_is_advised_for_it(release: str, tmp_path):
    page = tmp_path / "page.txt"
    page.write_text(WAITING.format(release=release))
    told = document(diagnose([page]), "test")
    assert told["findings"]
    is_told = UNANSWERED.search(json.dumps([told["findings"], told["next"]])) is not None
    assert is_told is (release == "3.4.0")


@pytest.mark.parametrize("case", ["k10-hanging", "k011-timeout-late", "k24-unresolved"])
def test_old_clusters_are_not_asked_what_they_do_not_know(case: str):
    told = document(diagnose([fixtures() / case]), "test")
    assert not UNANSWERED.search(json.dumps([told["findings"], told["next"]]))
