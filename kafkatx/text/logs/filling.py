"""Columns of an event out of a recognised text: numbers, names and partitions as Kafka prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kafkatx.kernels.rows import EVENT
from kafkatx.terms.regex import regex
from kafkatx.text.logs.calls import call_in
from kafkatx.text.logs.error_names import EPOCH_BUMP
from kafkatx.text.logs.matching import RecognisedText
from kafkatx.text.logs.strings import Strings

COLUMNS = {name: number for number, name in enumerate(EVENT.names or ())}
"""Place of each column in an event."""
NUMBERS = frozenset(
    {"producer_id", "offset", "number", "producer_epoch", "other_epoch", "correlation_id", "node", "partition"}
)
LARGEST = {name: (1 << (8 * EVENT[name].itemsize - 1)) - 1 for name in NUMBERS}
_NUMBER = regex(r"(?:Some|Optional\w*)?[\[(]?(\d{1,18})[\])]?")
_PARTITION = regex(r"(?P<topic>.*)-(?P<partition>\d{1,10})", re.DOTALL)
_OLD_PARTITION = regex(r"\[(?P<topic>[^,\]]*),(?P<partition>\d{1,10})\]")
_PRODUCER = regex(r"producerId=(\d{1,19}), epoch=(\d{1,5})")
_THROWN = regex(r"((?:[\w$]+\.)*[\w$]+)(?:: (.*))?", re.DOTALL)
_CONSTANT_FIRST = regex(r"([A-Z]{3,20}(?:_[A-Z]{2,20}){1,6})[.,;:)`'\"] ")
"""An error of the protocol, and words behind it that are no part of its name."""
_FAILED = regex(rf"(?P<words>.*) \((?P<error>[A-Z_0-9]{{4,60}})(?:{EPOCH_BUMP})?\)?(?:; [a-zA-Z].*)?", re.DOTALL)

QUOTES = frozenset("\"'`")
"""Marks of quotations: one by itself, at the end of a value, was opened before the text."""

Row = list[int]


def empty_row() -> Row:
    """A row that tells nothing."""
    row = [-1] * len(COLUMNS)
    row[COLUMNS["repeats"]] = 0
    return row


def fill(row: Row, found: RecognisedText, strings: Strings) -> None:
    """Write what a recognised text says into a row."""
    entry = found.pattern.entry
    for name, value in (*zip(entry.fields, found.values, strict=False), *entry.constants):
        fill_field(row, name, value, strings)


def fill_field(row: Row, name: str, value: str, strings: Strings) -> None:
    """Write one value as the column (or the columns) of a name."""
    if name in NUMBERS:
        row[COLUMNS[name]] = number(value, LARGEST[name])
    elif name == "topic_partition":
        topic, partition = topic_partition(value)
        row[COLUMNS["topic_code"]] = strings.code(topic)
        row[COLUMNS["partition"]] = partition
    elif name == "producer":
        if found := _PRODUCER.search(value):
            row[COLUMNS["producer_id"]] = number(found[1], LARGEST["producer_id"])
            row[COLUMNS["producer_epoch"]] = number(found[2], LARGEST["producer_epoch"])
    elif name == "error" and (constant := _CONSTANT_FIRST.match(value)):
        row[COLUMNS["error_code"]] = strings.code(constant[1])
    elif name == "exception":
        thrown = _THROWN.fullmatch(value.strip())
        row[COLUMNS["error_code"]] = strings.code(thrown[1] if thrown else "")
        row[COLUMNS["detail_code"]] = strings.code((thrown[2] or "") if thrown else value)
    elif name == "failed":
        _fill_failed(row, value.strip(), strings)
    elif name != "-":
        row[COLUMNS[f"{name}_code"]] = strings.code(_within_quotation(value))


def _within_quotation(value: str) -> str:
    """A value at the end of a text that somebody quotes, without the mark that closes the quotation."""
    return value[:-1] if value[-1:] in QUOTES and value.count(value[-1]) == 1 else value


def _fill_failed(row: Row, value: str, strings: Strings) -> None:
    """Write what librdkafka says of a failed transaction: words and, in brackets behind them, the error."""
    told = _FAILED.fullmatch(value)
    for name, text in (
        ("detail", told["words"] if told else value.strip(".\u2026 ")),
        ("error", told["error"] if told else ""),
    ):
        row[COLUMNS[f"{name}_code"]] = strings.code(text)
    fill_field(row, "api", call_in(value) or "", strings)


def number(text: str, largest: int = (1 << 63) - 1) -> int:
    """A number as Java or Scala print it (`5`, `Some(5)`, `OptionalInt[5]`); -1 if it is none or negative."""
    found = _NUMBER.fullmatch(text.strip())
    value = int(found[1]) if found else -1
    return value if 0 <= value <= largest else -1


def topic_partition(text: str) -> tuple[str, int]:
    """Topic and partition of `orders-0` (or `[orders,0]`, as Kafka wrote it to 1.0)."""
    found = _OLD_PARTITION.fullmatch(text) or _PARTITION.fullmatch(text)
    return (found["topic"], number(found["partition"], LARGEST["partition"])) if found else (text, -1)


def names() -> Iterable[str]:
    """Names that the catalogue's fields may have."""
    codes = {name.removesuffix("_code") for name in COLUMNS if name.endswith("_code") and name != "trace_code"}
    return (*NUMBERS, *codes, "topic_partition", "producer", "exception", "failed", "-")
