"""The table of events against the catalogue of texts, against real lines, and against itself."""

import csv
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kafkatx.terms.catalogue.entries import EventTemplate
from kafkatx.terms.catalogue.loading import broker_log_templates, client_log_templates, event_templates
from kafkatx.terms.catalogue.releases import parse_release
from kafkatx.terms.catalogue.templates import parse_template
from kafkatx.terms.events import EventKind, Side
from kafkatx.text.logs.filling import COLUMNS, NUMBERS, empty_row, fill, names
from kafkatx.text.logs.framing import Framer
from kafkatx.text.logs.matching import match_exception, match_message, patterns, prefilter
from kafkatx.text.logs.strings import Strings

OF_KAFKA = [entry for entry in event_templates() if entry.side is not Side.client and entry.client != "kop"]
OWN = [entry for entry in OF_KAFKA if entry.kind is not EventKind.other]
LINES = Path(__file__).with_name("broker_lines.tsv")
EXCEPTIONS = {
    EventKind.unsupported_format: ("Transactional records are not supported for magic 1",
                                   "Idempotent records are not supported for magic 1"),
    EventKind.verification_failed: ("Partition was not added to the transaction",),
    EventKind.storage_failed: ("/var/lib/kafka/data/orders-0/00000000000000000000.index (Too many open files)",
                               "/var/lib/kafka/data/orders-0/00000000000000000000.log (No space left on device)",
                               "Too many open files", "No space left on device", "Cannot assign requested address",
                               "Map failed", "Disk quota exceeded", "Input/output error", "Read-only file system",
                               "Stale file handle"),
}  # fmt: skip
"""Messages of exceptions of the JVM and of Kafka's record library, which the catalogue does not list."""


@cache
def texts_with_a_real_line() -> frozenset[str]:
    """Texts that a line or an exception of the lists below is."""
    found = {match_message(*_framed(line)) for _, line in real_lines()}
    found |= {match_exception(message) for messages in EXCEPTIONS.values() for message in messages}
    return frozenset(one.pattern.entry.template for one in found if one)


@cache
def known_texts() -> dict[str, list[tuple[str, str]]]:
    """Spans of the catalogue's texts."""
    found = defaultdict(list)
    for entry in (*broker_log_templates(), *client_log_templates()):
        found[entry.template].append((entry.span.since or "0.11", entry.span.until or "99"))
    return found


def real_lines() -> list[tuple[EventKind, str]]:
    with LINES.open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [(EventKind[row["kind"]], row["line"]) for row in rows]


def value_of(field: str, number: int) -> str:
    """What a placeholder may stand for, by the column it fills."""
    if field in NUMBERS:
        return str(40 + number)
    words = {
        "topic_partition": "orders.eu-12", "error": "NOT_ENOUGH_REPLICAS", "api": "COMMIT", "topic": "orders.eu",
        "exception": "org.apache.kafka.common.errors.TimeoutException: late",
    }  # fmt: skip
    return words.get(field, f"any-{number}")


def written(entry: EventTemplate) -> tuple[str, list[str]]:
    """A message that the text stands for, and the values in it."""
    template = parse_template(entry.template)
    values = [value_of(field, number) for number, field in enumerate(entry.fields)]
    pieces = [*(piece + value for piece, value in zip(template.pieces, values, strict=False)), template.pieces[-1]]
    return "".join(pieces), values


def test_fields_are_columns_one_for_each_placeholder():
    for entry in event_templates():
        assert set(entry.fields) | {name for name, _ in entry.constants} <= set(names()), entry
        if entry.fields:
            assert len(entry.fields) == len(parse_template(entry.template).names), entry
        assert entry.stands in ("line", "exception", "both"), entry


@pytest.mark.parametrize("entry", OWN, ids=lambda entry: entry.template[:60])
def test_texts_of_brokers_are_the_catalogues_for_those_releases_or_have_a_real_line(entry):
    spans = known_texts().get(entry.template)
    if spans is None:
        assert entry.template in texts_with_a_real_line()
        return
    number = [parse_release(since).numbers for since, _ in spans], [parse_release(until).numbers for _, until in spans]
    assert parse_release(entry.span.since or "0.11").numbers == min(number[0])
    assert parse_release(entry.span.until or "99").numbers == max(number[1])


@pytest.mark.parametrize("entry", OWN, ids=lambda entry: entry.template[:60])
def test_a_message_written_by_a_text_is_that_event_with_its_columns(entry):
    message, values = written(entry)
    logger = f"kafka.any.{entry.loggers[0]}" if entry.loggers else ""
    places = {"line": (True, False), "exception": (False, True), "both": (True, True)}[entry.stands]
    finders = (lambda text: match_message(text, logger), match_exception)
    for is_expected, find in zip(places, finders, strict=True):
        found = find(message)
        if is_expected:
            assert found is not None
            assert found.kind is entry.kind
            check_columns(found, entry, values)


def check_columns(found, entry, values):
    row, strings = empty_row(), Strings()
    fill(row, found, strings)
    texts = strings.texts()
    for name, value in zip(entry.fields, values, strict=True):
        if name in NUMBERS:
            assert row[COLUMNS[name]] == int(value)
        elif name == "topic_partition":
            assert (texts[row[COLUMNS["topic_code"]]], row[COLUMNS["partition"]]) == ("orders.eu", 12)
        elif name == "file":
            assert texts[row[COLUMNS["detail_code"]]] == value
        elif name not in ("-", "exception") and name not in dict(entry.constants):
            assert texts[row[COLUMNS[f"{name}_code"]]] == value


def _framed(line: str) -> tuple[str, str]:
    framed = Framer([line]).frame(line)
    return framed.message, framed.logger


@pytest.mark.parametrize(("kind", "line"), real_lines())
def test_real_lines_are_the_event_that_they_are_listed_as(kind, line):
    found = match_message(*_framed(line))
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in EXCEPTIONS.items() for text in texts])
def test_real_exceptions_are_the_event_that_they_are_listed_as(kind, text):
    found = match_exception(text)
    assert found is not None
    assert found.kind is kind


def test_the_prefilter_sees_every_message_it_is_for():
    for entry in OWN:
        message = written(entry)[0] + f" (kafka.any.{entry.loggers[0] if entry.loggers else 'Other'})"
        line = message.encode() + b"\n"
        assert prefilter().held(line, np.array([0, len(line)])) == [0], message


@pytest.mark.parametrize(
    "message",
    [
        "somebody wrote: Completed rollback of ongoing transaction for transactionalId T due to timeout",
        "\"Completed rollback of ongoing transaction for transactionalId T due to timeout\"",
        "Completed rollback of ongoing transaction for transactionalId T due to timeout, they said",
        "started", "starting the engines", "shutting down", "shut down completed",
    ],
)  # fmt: skip
def test_a_text_within_another_or_of_another_class_is_no_event(message):
    assert match_message(message, "com.example.Chat") is None


def test_blanks_and_dots_at_the_end_do_not_count():
    found = match_message("  Resigned as the  txn coordinator for partition 4 at epoch Some(3).. ")
    assert found is not None
    assert found.kind is EventKind.coordinator_resigned


def test_of_two_texts_that_fit_the_more_telling_wins():
    found = match_message("Loading transaction metadata from __transaction_state-3 at epoch 7")
    assert found is not None
    assert found.pattern.entry.fields == ("topic_partition", "other_epoch")


def test_texts_that_rules_name_are_events_of_some_kind():
    texts = {pattern.template.pieces for pattern in patterns()}
    named = [entry.template.removeprefix("[GroupId <groupId>] ") for entry in broker_log_templates() if entry.rules]
    assert [text for text in named if parse_template(text).pieces not in texts] == []


@pytest.mark.parametrize(
    ("fields", "node"),
    [
        ("addr: h:9092, broker: 3", "3"),
        ("addr: h:9092, broker: seed_0, err: dial tcp h:9092: connect: connection refused", "seed_0"),
        ("addr: h:9092, broker: 3, pod: a", "3"),
        ("pod: a, addr: h:9092, broker: 3", "3"),
        ("pod: a, addr: h:9092, broker: 3, zone: b", "3"),
    ],
)
def test_a_connection_of_franz_go_is_read_among_the_fields_of_its_application(fields, node):
    found = match_message(f"unable to open connection to broker; {fields}")
    assert found.kind is EventKind.connection_failed
    told = dict(zip(found.pattern.entry.fields, found.values, strict=False))
    assert (told["detail"], told["node"]) == ("h:9092", node)
