"""Tables of `kafka-transactions.sh describe`: what coordinators said at the moment of the call.

Shape   a heading of column names, then a line a row; columns are parted by tabs and padded with blanks, and only by
        blanks where a page was pasted. (3.0+; the tables of other subcommands are known as the tool's, and not read.)
Meaning facts without a time of their own: they are of "now", when the command was run. `None` where nothing is open.
Source  TransactionsCommand, ToolsUtils.prettyPrintTable (Kafka 3.0 to 4.3); KIP-664.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.sources.files import OpenFile
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.states import PrintedState
from kafkatx.text.lines import lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.pasted import undecorated
from kafkatx.text.printed.tool_lines import without_prefix

_NUMBER, _NUMBER_OR_NONE = r"-?\d{1,19}", r"-?\d{1,19}|None"
COLUMNS = {
    "CoordinatorId": _NUMBER,
    "TransactionalId": r".+?",
    "ProducerId": _NUMBER,
    "ProducerEpoch": _NUMBER,
    "TransactionState": r"\w{1,40}",
    "TransactionTimeoutMs": _NUMBER,
    "CurrentTransactionStartTimeMs": _NUMBER_OR_NONE,
    "TransactionDurationMs": _NUMBER_OR_NONE,
    "TopicPartitions": r"\S*",
}
"""Columns of the table, and what a value of each looks like."""
_CELLS = [re.compile(pattern) for pattern in COLUMNS.values()]
_ID_AT = list(COLUMNS).index("TransactionalId")
_PARTITION = re.compile(r"([\w.-]{1,249})-(\d{1,10})")
_TOLD = frozenset({"id_code", "producer_id", "producer_epoch", "state", "timeout_ms"})


def described_states(file: OpenFile, part: TextPart) -> Iterator[tuple[PrintedState, int, int]]:
    """Yield the rows of the tables of a part, in order, with line and position; what is no row ends a table."""
    prefix: str | None = None
    for line in lines(file, part.position, part.end, part.line):
        heading = _prefix_of_heading(line.text)
        if heading is not None:
            prefix = heading
        elif prefix is not None and (text := without_prefix(line.text, prefix)).strip():
            cells = _cells(text)
            if cells is None:
                prefix = None
            else:
                yield _state(cells), line.number, line.position


def _prefix_of_heading(text: str) -> str | None:
    """What stands before the table's heading as pasted; None for another line."""
    is_heading = undecorated(text).split() == list(COLUMNS)
    return text[: text.find("CoordinatorId")] if is_heading else None


def _cells(text: str) -> dict[str, str] | None:
    """Return the cells of a row by column, None where it is none; without tabs the id takes the words that are left."""
    count = len(COLUMNS)
    if "\t" in text:
        cells = [cell.strip() for cell in text.split("\t")]
        cells = cells[:count] if not any(cells[count:]) else []
    else:
        words = text.split()
        if words and not _PARTITION.fullmatch(words[-1].split(",")[0]):
            words.append("")
        behind = _ID_AT + len(words) - count + 1
        cells = [*words[:_ID_AT], " ".join(words[_ID_AT:behind]), *words[behind:]] if behind > _ID_AT else []
    fits = len(cells) == count and all(pattern.fullmatch(cell) for pattern, cell in zip(_CELLS, cells, strict=True))
    return dict(zip(COLUMNS, cells, strict=True)) if fits else None


def _state(cells: dict[str, str]) -> PrintedState:
    state = TransactionState.__members__.get(cells["TransactionState"])
    pairs = (_PARTITION.fullmatch(text) for text in cells["TopicPartitions"].split(","))
    started_at = cells["CurrentTransactionStartTimeMs"]
    return PrintedState(
        cells["TransactionalId"],
        _TOLD,
        producer_id=int(cells["ProducerId"]),
        producer_epoch=int(cells["ProducerEpoch"]),
        state=-1 if state is None else int(state),
        partitions=tuple((pair[1], int(pair[2])) for pair in pairs if pair),
        timeout_ms=int(cells["TransactionTimeoutMs"]),
        started_at=-1 if started_at == "None" else int(started_at),
    )
