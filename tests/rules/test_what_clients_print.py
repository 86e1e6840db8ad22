"""Every text that clients other than Java's print of transactions, alone on a page, is read as what it is.

The tables in printed/ hold the texts by their clients' sources (librdkafka 1.4 to 2.15, sarama 1.20 to 1.46, franz-go,
kafka-go, KafkaJS, @platformatic/kafka 2.9, aiokafka, faust, kafka-python 2.0 to 3.0), with the errors that each can
carry; printed/forms.py prints them as the client, its bindings and the loggers of its language do.
"""

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.error_codes import error_code
from kafkatx.terms.errors import NothingReadableError
from tests.rules.printed.forms import RUST, TITLES, Printed, pages_of, printed_texts

TEXTS = list(printed_texts())


CLIENTS = list(dict.fromkeys(printed.client for printed in TEXTS))
MOST_SHORT = 0.01
"""Of texts in forms of loggers and bindings this share may be read short of what it says: a sentence in words alone,
with nothing of a logger, may as well speak of errors."""


def told(folder: Path, page: str) -> list[dict]:
    """What is found in a page."""
    path = folder / "page.md"
    path.write_text(page)
    try:
        return document(kafkatx.diagnose([path]), "1")["findings"]
    except NothingReadableError:
        return []


@pytest.mark.parametrize("client", CLIENTS)
def test_what_a_client_prints_is_read(tmp_path, client):
    texts = [printed for printed in TEXTS if printed.client == client]
    assert not [one.id for one in texts if not is_read(tmp_path, one, next(pages_of(one))[1])]


def test_it_is_read_whatever_prints_it(tmp_path):
    """Each text in one of its other forms; all texts together meet all forms."""
    others = [(one, number, list(pages_of(one))[1:]) for number, one in enumerate(TEXTS)]
    pages = [(one, *forms[number % len(forms)]) for one, number, forms in others if forms]
    short = [f"{form}: {one.id}" for one, form, page in pages if not is_read(tmp_path, one, page)]
    assert len(short) <= MOST_SHORT * len(pages), short


def is_read(folder: Path, printed: Printed, page: str) -> bool:
    """Whether a failure has its cause among findings or the first two candidates; what is none has no other rule."""
    found = told(folder, page)
    rules = {one["rule"] for one in found if one["rule"] != "unexplained_failure"}
    if printed.is_quiet:
        return {one["rule"] for one in found if one["severity"] != "info"} <= printed.allowed
    named = rules | {candidate["rule"] for one in found for candidate in one["candidates"][:2]}
    return bool(found) and (not printed.told or bool(named & printed.told))


@pytest.mark.parametrize("client", ["librdkafka", "sarama", "franz-go"])
def test_the_errors_of_texts_keep_their_numbers(tmp_path, client):
    """What no rule explains has the number of the error that the text carries."""
    for printed in TEXTS:
        if printed.client == client and not printed.is_quiet and (printed.code or 0) > 0:
            _, page = next(pages_of(printed))
            codes = {one["facts"].get("code") for one in told(tmp_path, page) if one["rule"] == "unexplained_failure"}
            assert codes <= {printed.code}, printed.id


@pytest.mark.parametrize(("code", "name"), [(code, name) for code, name in RUST.items() if code > 0])
def test_names_of_rust_are_errors(code, name):
    assert error_code(name) in (code, 0)


@pytest.mark.parametrize(("code", "title"), TITLES.items())
def test_titles_of_kafka_go_are_errors(code, title):
    assert error_code(title.replace(" ", "")) == code


BESIDE_A_BROKER = """\
Our test of transactions prints this now and then

[2026-11-20 23:58:09,644] ERROR Aborting producer batches due to fatal error \
(org.apache.kafka.clients.producer.internals.Sender:381)
org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch.
[2026-11-20 23:58:10,177] ERROR [ReplicaFetcherThread-0-0]: Error for partition [orders,3] to broker 0:\
org.apache.kafka.common.errors.NotLeaderForPartitionException: This server is not the leader for that topic-partition. \
(kafka.server.ReplicaFetcherThread:99)
"""


def test_a_loggers_class_of_a_broker_is_no_module_of_python(tmp_path):
    names = [actor["what"] for one in told(tmp_path, BESIDE_A_BROKER) for actor in one["actors"]]
    assert names
    assert not [name for name in names if "kafka-python" in name]
