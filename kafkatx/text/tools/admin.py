"""What coordinators said of transactional.ids when they were asked: `kafka-transactions.sh describe`, `list`, rpk, kcl.

Shape   a heading of column names, then a line a row (text/tools/tables.py); `list` has neither epoch nor time.
Meaning facts without a time of their own: they are of "now", when the command was run, which `describe` tells where a
        transaction is open: its start and how long it lasts. `None` where nothing is open.
Cut     who cuts columns out of `list` (awk), or greps it without its heading, leaves rows that end with a state.
Named   one line of names and values: text/printed/named_cells.py.
Source  TransactionsCommand, ToolsUtils.prettyPrintTable (Kafka 3.0 to 4.3); KIP-664; rpk cluster txn; kcl txn
        (0.18, commands/admin/txn/txn.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.sources.files import OpenFile
from kafkatx.terms.regex import regex
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.starts import PrintedState
from kafkatx.text.lines import lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.line_kinds import listed_cells
from kafkatx.text.printed.listed_objects import LISTED
from kafkatx.text.printed.named_cells import named_cells
from kafkatx.text.printed.pasted import undecorated
from kafkatx.text.printed.tool_lines import without_prefix
from kafkatx.text.tools.tables import object_rows, table_rows, time_told

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
_CELLS = [regex(pattern) for pattern in COLUMNS.values()]
_ID_AT = list(COLUMNS).index("TransactionalId")
_LISTED = frozenset({"transactionalid", "transactionstate"})
_BY_RPK = frozenset({"coordinator", "transactionalid", "producerid", "state"})
_BY_KCL = frozenset({"transactionalid", "producerid", "state", "error"})
_IN_LIST = frozenset({"id_code", "state"})
_RPK_TIMEOUT = regex(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:([\d.]+)s)?(?:(\d+)ms)?")
_TOPIC = regex(r"([\w.-]{1,249})\[([\d; ]{1,4000})\]")
_PARTITION = regex(r"([\w.-]{1,249})-(\d{1,10})")
_BY_NAME = {state.name.lower(): state for state in TransactionState}
_TOLD = frozenset({"id_code", "producer_id", "producer_epoch", "state", "timeout_ms"})


def told_by_admins(file: OpenFile, part: TextPart) -> Iterator[tuple[PrintedState, int, int]]:
    """Yield what tables of a part say of ids, in order, with line and position."""
    listed = [(_of_row(row.cells), row.line) for row in object_rows(file, part, LISTED)]
    told = [(state, line.number, line.position) for state, line in listed if state is not None]
    of_objects = {line.number for _, line in listed}
    found = {line: (state, line, position) for state, line, position in described_states(file, part)}
    for row in table_rows(file, part, _LISTED, _BY_RPK, _BY_KCL):
        state = _of_row(row.cells) if row.line.number not in found else None
        if state is not None:
            found[row.line.number] = state, row.line.number, row.line.position
    for line in lines(file, part.position, part.end, part.line):
        is_read = line.number in found or line.number in of_objects
        cells = None if is_read else listed_cells(line.text) or named_cells(line.text)
        state = _of_row(cells) if cells is not None else None
        if state is not None:
            found[line.number] = state, line.number, line.position
    yield from sorted([*told, *found.values()], key=lambda one: one[2])


def _of_row(cells: dict[str, str]) -> PrintedState | None:
    """What a row of `list`, or of rpk, says; None where its state or producer id is none."""
    name = cells.get("transactionstate") or cells.get("state", "")
    state, producer_id = _BY_NAME.get(name.lower()), cells.get("producerid", "-1")
    if state is None or re.fullmatch(_NUMBER, producer_id) is None or not cells["transactionalid"]:
        return None
    known, epoch, started_at = set(_IN_LIST), cells.get("producerepoch", ""), _time_of(cells.get("starttimestamp", ""))
    timeout = _first_number(cells, "transactiontimeoutms", "timeoutms")
    timeout = timeout if timeout >= 0 else _milliseconds(cells.get("timeout", ""))
    started_at = max(started_at, _first_number(cells, "currenttransactionstarttimems", "starttimems"))
    lasts = _first_number(cells, "transactiondurationms")
    listed = cells.get("topicpartitions", cells.get("partitions", ""))
    topics = [*_PARTITION.findall(listed), *_TOPIC.findall(cells.get("topics", ""))]
    known |= {"producer_id"} if int(producer_id) >= 0 else set()
    known |= {"producer_epoch"} if epoch.isdecimal() else set()
    known |= {"timeout_ms"} if timeout >= 0 else set()
    known |= {"partitions_code"} if topics else set()
    return PrintedState(
        cells["transactionalid"],
        frozenset(known),
        producer_id=int(producer_id),
        producer_epoch=int(epoch) if epoch.isdecimal() else -1,
        state=int(state),
        partitions=tuple((topic, int(one)) for topic, listed in topics for one in re.split("[; ]", listed) if one)
        or None,
        timeout_ms=timeout,
        started_at=started_at if state is not TransactionState.Empty else -1,
        asked_at=started_at + lasts if min(started_at, lasts) >= 0 else -1,
    )


def _first_number(cells: dict[str, str], *names: str) -> int:
    return next((_number(cells[name]) for name in names if name in cells), -1)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else -1


def _time_of(text: str) -> int:
    """A time as rpk or kcl prints it, -1 where it is none (they print a start of 0 or -1 where nothing is open)."""
    found = int(text) if text.isdecimal() else time_told(text)
    return found if found > 0 else -1


def _milliseconds(text: str) -> int:
    """A duration as Go prints it (`1m0s`), -1 where it is none."""
    found = _RPK_TIMEOUT.fullmatch(text) if text else None
    if found is None:
        return -1
    hours, minutes, seconds, rest = (float(number or 0) for number in found.groups())
    return round(1000 * (3600 * hours + 60 * minutes + seconds) + rest)


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
    started_at, lasts = cells["CurrentTransactionStartTimeMs"], cells["TransactionDurationMs"]
    is_open = started_at.isdecimal() and lasts.isdecimal()
    return PrintedState(
        cells["TransactionalId"],
        _TOLD,
        producer_id=int(cells["ProducerId"]),
        producer_epoch=int(cells["ProducerEpoch"]),
        state=-1 if state is None else int(state),
        partitions=tuple((pair[1], int(pair[2])) for pair in pairs if pair),
        timeout_ms=int(cells["TransactionTimeoutMs"]),
        started_at=-1 if started_at == "None" else int(started_at),
        asked_at=int(started_at) + int(lasts) if is_open else -1,
    )
