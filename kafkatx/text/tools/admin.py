"""Tables of kafka-transactions.sh: what coordinators and leaders said at the moment of the call.

Shape   a heading of column names, then a line a row; columns are parted by tabs and padded with blanks, and only by
        blanks where a page was pasted. Subcommands list, describe, describe-producers, find-hanging (3.0+).
Meaning facts without a time of their own: they are of "now", when the command was run. `None` where nothing is open.
Source  TransactionsCommand, ToolsUtils.prettyPrintTable (Kafka 3.0 to 4.3); KIP-664.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kafkatx.sources.files import OpenFile
from kafkatx.text.lines import lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.pasted import undecorated
from kafkatx.text.printed.tool_lines import without_prefix


@dataclass(frozen=True, slots=True)
class ListedTransaction:
    """A row of `list`."""

    line: int
    position: int
    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class DescribedTransaction:
    """A row of `describe`; start and duration are None where no transaction was open."""

    line: int
    position: int
    coordinator_id: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    started_at: int | None
    duration_ms: int | None
    partitions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DescribedProducer:
    """A row of `describe-producers`; topic and partition stand in the command only (None where it is not there)."""

    line: int
    position: int
    topic: str | None
    partition: int | None
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_sequence: int
    last_timestamp: int
    open_since_offset: int | None


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """A row of `find-hanging`."""

    line: int
    position: int
    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_timestamp: int
    duration_min: int


AdminRow = ListedTransaction | DescribedTransaction | DescribedProducer | HangingTransaction

NUMBER, NUMBER_OR_NONE, WORD, ANY = r"-?\d{1,19}", r"-?\d{1,19}|None", r"\w{1,40}", r".+?"
TABLES = {
    "list": {"TransactionalId": ANY, "Coordinator": NUMBER, "ProducerId": NUMBER, "TransactionState": WORD},
    "describe": {
        "CoordinatorId": NUMBER,
        "TransactionalId": ANY,
        "ProducerId": NUMBER,
        "ProducerEpoch": NUMBER,
        "TransactionState": WORD,
        "TransactionTimeoutMs": NUMBER,
        "CurrentTransactionStartTimeMs": NUMBER_OR_NONE,
        "TransactionDurationMs": NUMBER_OR_NONE,
        "TopicPartitions": r"\S*",
    },
    "describe-producers": {
        "ProducerId": NUMBER,
        "ProducerEpoch": NUMBER,
        "LatestCoordinatorEpoch": NUMBER,
        "LastSequence": NUMBER,
        "LastTimestamp": NUMBER,
        "CurrentTransactionStartOffset": NUMBER_OR_NONE,
    },
    "find-hanging": {
        "Topic": r"[\w.-]{1,249}",
        "Partition": NUMBER,
        "ProducerId": NUMBER,
        "ProducerEpoch": NUMBER,
        "CoordinatorEpoch": NUMBER,
        "StartOffset": NUMBER,
        "LastTimestamp": NUMBER,
        "Duration(min)": NUMBER,
    },
}
"""Columns of every subcommand, and what a value of each looks like."""
_HEADINGS = {tuple(columns): name for name, columns in TABLES.items()}
_CELLS = {name: [re.compile(pattern) for pattern in columns.values()] for name, columns in TABLES.items()}
_PARTITION = re.compile(r"([\w.-]{1,249})-(\d{1,10})")


def admin_rows(file: OpenFile, part: TextPart) -> Iterator[AdminRow]:
    """Yield the rows of the tables of a part, in order; a line that is no row of the table above ends that table."""
    table, prefix = None, ""
    for line in lines(file, part.position, part.end, part.line):
        heading = heading_of(line.text)
        if heading is not None:
            table, prefix = heading
        elif table is not None and (text := without_prefix(line.text, prefix)).strip():
            cells = _cells(table, text)
            row = None if cells is None else _MAKERS[table](line.number, line.position, cells, part)
            table = None if row is None else table
            if row is not None:
                yield row


def heading_of(text: str) -> tuple[str, str] | None:
    """Return the subcommand whose heading a line is, and what stands before it as pasted; None for another line."""
    names = tuple(undecorated(text).split())
    table = _HEADINGS.get(names)
    return None if table is None else (table, text[: text.find(names[0])])


def _cells(table: str, text: str) -> dict[str, str] | None:
    """Return the cells of a row by column, None where it is none of the table.

    Without tabs an id takes all words that no other column can have.
    """
    names, count = tuple(TABLES[table]), len(TABLES[table])
    if "\t" in text:
        cells = [cell.strip() for cell in text.split("\t")]
        cells = cells[:count] if not any(cells[count:]) else []
    else:
        words = text.split()
        if "TopicPartitions" in names and words and not _PARTITION.fullmatch(words[-1].split(",")[0]):
            words.append("")
        surplus = len(words) - count + 1
        at = names.index("TransactionalId") if "TransactionalId" in names else 0
        cells = [*words[:at], " ".join(words[at : at + surplus]), *words[at + surplus :]] if surplus > 0 else []
    fits = len(cells) == count and all(
        pattern.fullmatch(cell) for pattern, cell in zip(_CELLS[table], cells, strict=True)
    )
    return dict(zip(names, cells, strict=True)) if fits else None


def _listed(line: int, position: int, of: dict[str, str], part: TextPart) -> AdminRow:
    return ListedTransaction(
        line, position, of["TransactionalId"], int(of["Coordinator"]), int(of["ProducerId"]), of["TransactionState"]
    )


def _described(line: int, position: int, of: dict[str, str], part: TextPart) -> AdminRow:
    pairs = (_PARTITION.fullmatch(text) for text in of["TopicPartitions"].split(","))
    return DescribedTransaction(
        line, position, int(of["CoordinatorId"]), of["TransactionalId"], int(of["ProducerId"]),
        int(of["ProducerEpoch"]), of["TransactionState"], int(of["TransactionTimeoutMs"]),
        _or_none(of["CurrentTransactionStartTimeMs"]), _or_none(of["TransactionDurationMs"]),
        tuple((pair[1], int(pair[2])) for pair in pairs if pair),
    )  # fmt: skip


def _produced(line: int, position: int, of: dict[str, str], part: TextPart) -> AdminRow:
    return DescribedProducer(
        line, position, part.topic, part.partition, int(of["ProducerId"]), int(of["ProducerEpoch"]),
        int(of["LatestCoordinatorEpoch"]), int(of["LastSequence"]), int(of["LastTimestamp"]),
        _or_none(of["CurrentTransactionStartOffset"]),
    )  # fmt: skip


def _hanging(line: int, position: int, of: dict[str, str], part: TextPart) -> AdminRow:
    return HangingTransaction(
        line, position, of["Topic"], int(of["Partition"]), int(of["ProducerId"]), int(of["ProducerEpoch"]),
        int(of["CoordinatorEpoch"]), int(of["StartOffset"]), int(of["LastTimestamp"]), int(of["Duration(min)"]),
    )  # fmt: skip


_MAKERS: dict[str, Callable[[int, int, dict[str, str], TextPart], AdminRow]] = {
    "list": _listed,
    "describe": _described,
    "describe-producers": _produced,
    "find-hanging": _hanging,
}


def _or_none(value: str) -> int | None:
    return None if value == "None" else int(value)
