"""Every sentence can be said: it reads over sample facts, and a field that its facts don't have fails."""

from dataclasses import dataclass

import pytest

from kafkatx.cli.words import main, speaking_modules
from kafkatx.rules.registry import RULES
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.catalogue import Sentence, all_sentences
from kafkatx.words.explanation import Phrase, Words, explain, step
from kafkatx.words.sample import sample
from kafkatx.words.template import pick, render
from kafkatx.words.values import Count, Duration, Instant, Refs, as_json

SENTENCES = list(all_sentences(speaking_modules()))


@dataclass(frozen=True)
class Facts:
    id: str
    count: Count
    took: Duration | None
    at: Instant | None
    is_open: bool
    lines: Refs


SOME = Facts("orders-1", Count(2), Duration(1_160), None, True, ())


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda one: f"{one.module}: {one.template[:60]}")
def test_a_sentence_reads_over_sample_facts(sentence: Sentence):
    assert sentence.reads.strip()
    assert not any(sign in sentence.reads for sign in ("{", "}", "None", "  ", "Enum."))


def test_every_rule_speaks():
    spoken = {sentence.module.rpartition(".")[2] for sentence in SENTENCES}
    assert set(RULES) <= spoken


def test_the_list_prints_each_sentence_once(capsys):
    main("fenced_by_new_instance")
    printed = capsys.readouterr().out
    assert "give each instance a transactional.id of its own" in printed
    assert printed.count("title: fenced by a second instance\n") == 1


def test_a_name_that_the_facts_lack_is_an_error():
    words = Words(Facts, title="{count:time}", summary="{id}", steps=(step("{nobody} did it", "so it says"),))
    with pytest.raises(AttributeError):
        explain(words, SOME, Verdict.proved)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [(Verdict.proved, "it ended"), (Verdict.likely, "it probably ended"), (Verdict.possible, "it possibly ended")],
)
def test_a_sentence_sounds_as_sure_as_its_verdict(verdict, said):
    assert explain(Words(Facts, title="ended", summary="it[ {perhaps}] ended"), SOME, verdict).summary == said


@pytest.mark.parametrize(
    "part", [step("x", "y", cites="nobody"), step("x", "y", needs="nobody"), step("x", "y", each="nobody")]
)
def test_a_condition_that_the_facts_lack_is_an_error(part):
    module = type("module", (), {})
    module.__name__, module.phrase = "kafkatx.words.x", Phrase(Facts, part)
    with pytest.raises(AttributeError):
        list(all_sentences([module]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{count:transaction} of {id} {count:was|were} lost", "2 transactions of orders-1 were lost"),
        ("{id}[ at {at}] after {took}", "orders-1 after 1.16 s"),
        ("{id} at {at}", None),
        (("{id}", pick("is_open", {True: " is open"}, " is closed")), "orders-1 is open"),
        (pick("at", {None: "nobody knows when"}, "at {at}"), "nobody knows when"),
        (pick("count", {1: "once"}), None),
    ],
)
def test_absent_facts_drop_what_needs_them(text, said):
    assert render(text, SOME) == said


def test_facts_are_plain_data_for_programs():
    told = as_json(SOME)
    assert told == {"id": "orders-1", "count": 2, "took_ms": 1160, "at": None, "is_open": True}


def test_samples_fill_every_field():
    assert None not in [getattr(sample(Facts), name) for name in Facts.__dataclass_fields__]
