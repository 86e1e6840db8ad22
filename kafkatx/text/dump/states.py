"""Records of `__transaction_state` as decoders print them, to rows of states (kernels.rows.STATE).

Old shape  (0.11 to 4.0) `transactionalId=ID` or `transaction_metadata::transactionalId=ID`, payload `producerId:P,...`
           with partitions as `Set(a-0, b-1)`, `HashSet(..)` or `[a-0,b-1]`; no start, no tags, no value version.
JSON       (4.1) key and value as messages; numbers of type and version are strings.
Start      the old shape has no start of the transaction (text/dump/starts.py).
Limits     the list of Empty is null in the bytes, of any other state it is a list; the text prints the same for both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np

from kafkatx.kernels.rows import NOT_PRINTED, STATE
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.batches import ROWS_PER_CHUNK, Drafting, chunk_of, rows_of_run, runs_behind
from kafkatx.text.dump.columns import BatchDraft
from kafkatx.text.dump.events import DumpedRecord, Header
from kafkatx.text.dump.printed_sets import Unreadable, partitions_of
from kafkatx.text.dump.records import log_text
from kafkatx.text.dump.rows import STATE_COLUMNS, TextRows, mask_of
from kafkatx.text.dump.starts import PrintedState, Starts
from kafkatx.text.dump.state_runs import FoundStates, StateRuns
from kafkatx.text.lines import Line
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.runs import runs_of

DELETED = "<DELETE>"
_OLD_KEY = regex(r" key: (?:transaction_metadata::)?transactionalId=")
_OLD_VALUE = regex(
    r"producerId:(-?\d{1,19}),producerEpoch:(-?\d{1,5}),state=(\w+),"
    r"partitions=((?:\w*Set)?[(\[].*[)\]]),txnLastUpdateTimestamp=(-?\d{1,19}),txnTimeoutMs=(-?\d{1,10})$",
    re.DOTALL,
)
_JSON_KEY = " key: {"
_PAYLOAD = " payload: "


_IN_KEY = frozenset({"position", "offset", "timestamp", "id_code", "leader_epoch", "crc", "is_tombstone"})
_IN_OLD_VALUE = _IN_KEY | {"producer_id", "producer_epoch", "state", "partitions_code", "updated_at", "timeout_ms"}
_IN_NEW_VALUE = _IN_OLD_VALUE | {
    "started_at", "previous_producer_id", "next_producer_id", "next_producer_epoch", "client_transaction_version",
    "value_version",
}  # fmt: skip
_ALL = frozenset(STATE_COLUMNS)


def state_of(printed: str, key_size: int) -> PrintedState:
    """Return what key and value say.

    Args:
        printed: ` key: ... payload: ...` as behind the fields of a record.
        key_size: as declared, -2 where it is not: the id has 4 bytes less.

    Raises:
        Unreadable: they say nothing that is known.
    """
    old = _OLD_KEY.match(printed)
    if old:
        return _old_state(printed[old.end() :], key_size - 4)
    if printed.startswith(_JSON_KEY):
        return _new_state(printed[len(" key: ") :])
    raise Unreadable(printed[:60])


def _old_state(behind: str, id_size: int) -> PrintedState:
    raw = behind.encode()
    whole = id_size >= 0 and raw[id_size : id_size + len(_PAYLOAD)] in (_PAYLOAD.encode(), b"")
    if whole:
        transactional_id, value = raw[:id_size].decode("utf-8", "replace"), raw[id_size + len(_PAYLOAD) :].decode()
    else:
        transactional_id, _, value = behind.rpartition(f"{_PAYLOAD}producerId:")
        value = f"producerId:{value}" if transactional_id else behind.rpartition(_PAYLOAD)[2]
        transactional_id = transactional_id or behind.rpartition(_PAYLOAD)[0]
    if value == DELETED:
        return PrintedState(transactional_id, _ALL, is_tombstone=True)
    found = _OLD_VALUE.match(value)
    if found is None or found[3] not in TransactionState.__members__:
        raise Unreadable(value[:60])
    state = TransactionState[found[3]]
    return PrintedState(
        transactional_id,
        _IN_OLD_VALUE,
        producer_id=int(found[1]),
        producer_epoch=int(found[2]),
        state=int(state),
        partitions=None if state is TransactionState.Empty else partitions_of(found[4]),
        updated_at=int(found[5]),
        timeout_ms=int(found[6]),
    )


def _new_state(text: str) -> PrintedState:
    try:
        key, end = _DECODER.raw_decode(text)
        value = text[end:].removeprefix(_PAYLOAD)
        transactional_id = key["data"]["transactionalId"]
        if str(key.get("type", key.get("version"))) != "0" or not isinstance(transactional_id, str):
            raise Unreadable(text[:60])
        if value == DELETED:
            return PrintedState(transactional_id, _ALL, is_tombstone=True)
        return state_of_message(transactional_id, json.loads(value))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Unreadable(text[:60]) from error


_DECODER = json.JSONDecoder()


def state_of_message(transactional_id: str, value: dict[str, Any]) -> PrintedState:
    """Return what a value says that is printed as JSON; raises KeyError, TypeError or ValueError."""
    version, data = int(value["version"]), value["data"]
    topics = data["transactionPartitions"]
    return PrintedState(
        transactional_id,
        _IN_NEW_VALUE,
        producer_id=int(data["producerId"]),
        producer_epoch=int(data["producerEpoch"]),
        state=_status(data["transactionStatus"]),
        partitions=None if topics is None else tuple(
            (str(topic["topic"]), int(number)) for topic in topics for number in topic["partitionIds"] or ()
        ),
        timeout_ms=int(data["transactionTimeoutMs"]),
        updated_at=int(data["transactionLastUpdateTimestampMs"]),
        started_at=int(data["transactionStartTimestampMs"]),
        previous_producer_id=int(data.get("previousProducerId", -1)),
        next_producer_id=int(data.get("nextProducerId", -1)),
        next_producer_epoch=int(data.get("nextProducerEpoch", -1)),
        client_transaction_version=int(data.get("clientTransactionVersion", 0)) if version else -1,
        value_version=version,
    )  # fmt: skip


def _status(told: object) -> int:
    """The number of a state; decoders behind 4.3 print its name."""
    text = str(told)
    return int(TransactionState[text]) if text in TransactionState.__members__ else int(text)


def state_chunks(file: OpenFile, part: TextPart, names: Names) -> Iterator[tuple[TextRows, TextRows]]:
    """Yield batches and states (kernels.rows.STATE) of a dumped `__transaction_state` in chunks, one at least."""
    text, drafting, states = log_text(file, part), Drafting(needs_records=True), _States(file.path, names)
    runs = None if part.is_elided else runs_of(file, part.position, part.end)
    reader = StateRuns(names, states.starts)
    for event in text.events():
        if runs is not None and isinstance(event, Header) and runs.are_due():
            number, last = event.line.number, None
            for run in runs_behind(event, runs, text):
                if run.begin == event.line.position:  # names get their codes in the order of the text
                    drafting.close()
                    rows = states.take()
                    yield chunk_of(drafting, text), rows
                read = reader.read(run)
                if read is not None:
                    batches = rows_of_run(read[0], number, drafting)
                    yield batches, states_of_run(read[1], batches)
                    last = read[0], number
                    number += read[0].line_count
                if read is None or read[0].end < run.end:
                    break
            if last is not None:
                text.go_on_behind(*last)
                continue
        draft = drafting.add(event)
        if isinstance(event, DumpedRecord) and event.control is None:
            states.add(draft, event)
        if isinstance(event, Header) and len(drafting.done) >= ROWS_PER_CHUNK:
            rows = states.take()
            yield chunk_of(drafting, text), rows
    drafting.close()
    rows = states.take()
    batches = chunk_of(drafting, text)
    yield batches, rows


def states_of_run(found: FoundStates, batches: TextRows) -> TextRows:
    """Return the states of a run as rows."""
    whole, deleted = mask_of(STATE_COLUMNS, _IN_NEW_VALUE), mask_of(STATE_COLUMNS, _ALL)
    old, started = mask_of(STATE_COLUMNS, _IN_OLD_VALUE), mask_of(STATE_COLUMNS, {"started_at"})
    of_old = old | np.where(found.is_started, started, 0)
    known = np.where(found.rows["is_tombstone"] != 0, deleted, np.where(found.is_old, of_old, whole))
    return TextRows(STATE_COLUMNS, found.rows, batches.lines[0] + found.lines, found.positions, known)


@dataclass(slots=True)
class _States:
    """Collects rows of states; an id's start is carried from row to row."""

    path: str
    names: Names
    rows: list[tuple[BatchDraft, DumpedRecord, PrintedState]] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    starts: Starts = field(default_factory=Starts)

    def add(self, draft: BatchDraft, record: DumpedRecord) -> None:
        """Read the contents of a record."""
        contents = record.contents
        if contents is None:
            return
        try:
            self.rows.append((draft, record, state_of(contents.printed, contents.key_size)))
        except (Unreadable, ValueError) as error:
            self.damage.append(self._damage(record.line, str(error)))

    def _damage(self, line: Line, found: str) -> Damage:
        size = max(line.end - line.position, 0)
        return Damage("entry", self.path, line.position, size, "a state of a transactional.id", found)

    def take(self) -> TextRows:
        """Return the rows collected so far."""
        taken, self.rows = self.rows, []
        damage, self.damage = self.damage, []
        rows, known = np.zeros(len(taken), STATE), np.zeros(len(taken), np.int64)
        for number, (draft, record, state) in enumerate(taken):
            row = rows[number : number + 1]
            known[number] = self._fill(row, draft, record, state)
        lines = np.array([record.line.number for _, record, _ in taken], np.int64)
        positions = np.array([record.line.position for _, record, _ in taken], np.int64)
        for number in np.flatnonzero(known < 0).tolist():
            damage.append(
                self._damage(taken[number][1].line, "numbers that a state can have, but one that is too large")
            )
        kept = known >= 0
        return TextRows(STATE_COLUMNS, rows[kept], lines[kept], positions[kept], known[kept], damage)

    def _fill(self, row: Any, draft: BatchDraft, record: DumpedRecord, state: PrintedState) -> int:
        """Fill one row; returns what is known of it, -1 where a number can't be one of a state."""
        row["offset"], row["timestamp"] = record.offset, record.parsed.number("timestamp")
        if not put_state(row, state, self.names):
            return -1
        known = set(state.known)
        self._of_batch(row, draft, known)
        if "started_at" not in known:
            row["started_at"], is_known = self.starts.of(record.offset, state)
            if is_known:
                known.add("started_at")
            else:
                row["started_at"] = NOT_PRINTED
        return mask_of(STATE_COLUMNS, known)

    def _of_batch(self, row: Any, draft: BatchDraft, known: set[str]) -> None:
        for column, name in (("position", "position"), ("leader_epoch", "partitionLeaderEpoch"), ("crc", "crc")):
            value = draft.parsed.get(name)
            told = None if value is None or value == "null" else int(value)
            if told is None:
                known.discard(column)
            row[column] = told if told is not None else 0 if column == "crc" else -1


_PLAIN = (
    "producer_id", "producer_epoch", "state", "timeout_ms", "updated_at", "started_at", "previous_producer_id",
    "next_producer_id", "next_producer_epoch", "client_transaction_version", "value_version",
)  # fmt: skip
_LIMITS = {name: np.iinfo(STATE[name]) for name in _PLAIN}


def put_state(row: Any, state: PrintedState, names: Names) -> bool:
    """Put what a key and a value say into a row; False where a number can't be one of a state."""
    values = {name: getattr(state, name) for name in _PLAIN}
    pairs = state.partitions or ()
    if any(not _LIMITS[name].min <= value <= _LIMITS[name].max for name, value in values.items()):
        return False
    if any(not 0 <= number < 1 << 31 for _, number in pairs):
        return False
    for name, value in values.items():
        row[name] = value
    row["id_code"] = names.transactional_ids.code(state.transactional_id.encode("utf-8", "replace"))
    row["partitions_code"] = -1 if state.partitions is None else _list_code(pairs, names)
    row["unknown_tags_code"], row["is_tombstone"] = -1, state.is_tombstone
    return True


def _list_code(pairs: tuple[tuple[str, int], ...], names: Names) -> int:
    return names.list_code(tuple(sorted({names.partition_code(*pair) for pair in pairs})))
