"""Headers and records of a dump's text to rows of batches (kernels.rows.BATCH).

Without header lines (0.11 to 2.1 with records) a batch is the run of records that say the same position: its end is the
last record that is there, and its size, CRC and leader epoch are not printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafkatx.formats.record_batch import CODEC_MASK, Attributes, Codec
from kafkatx.kernels.rows import BATCH, INVALID, UNCHECKED, VALID
from kafkatx.segments.batches import ROWS_PER_CHUNK, Rows
from kafkatx.segments.damage import Damage
from kafkatx.text.dump.eras import LineKind
from kafkatx.text.dump.records import Control, Header, LogText, Record
from kafkatx.text.dump.rows import BATCH_COLUMNS, TextRows, mask_of
from kafkatx.text.lines import Line

CODECS = {codec.name: int(codec) for codec in Codec} | {codec.name.upper(): int(codec) for codec in Codec}
NUMBERS = {
    "baseOffset": "base_offset",
    "lastOffset": "last_offset",
    "count": "record_count",
    "baseSequence": "base_sequence",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "partitionLeaderEpoch": "leader_epoch",
    "position": "position",
    "size": "size",
    "batchSize": "size",
    "magic": "magic",
    "timestamp": "max_timestamp",
}
"""Fields that are a column as they stand."""
SAID_BY = {
    "isTransactional": "is_transactional",
    "isControl": "is_control",
    "compresscodec": "codec",
    "compressType": "codec",
    "timestampType": "timestamp_type",
    "deleteHorizonMs": "delete_horizon",
    "crc": "crc",
    "isvalid": "crc_valid",
    "isValid": "crc_valid",
    "sequence": "base_sequence",
}


@dataclass(slots=True)
class Draft:
    """A batch while its records come. `first` is its first record, where one is there."""

    line: Line
    names: tuple[str, ...]
    values: tuple[str | None, ...]
    kind: LineKind
    base_offset: int
    last_offset: int
    count: int = 0
    first: Record | None = None
    control: Control | None = None
    max_timestamp: int = -1


@dataclass(slots=True)
class Drafting:
    """Collects lines to batches."""

    done: list[Draft] = field(default_factory=list)
    _open: Draft | None = None

    def add(self, event: Header | Record) -> Draft:
        """Add a header or record; returns the batch that it belongs to."""
        if isinstance(event, Header):
            parsed = event.parsed
            return self._begin(
                Draft(event.line, parsed.names, parsed.values, parsed.kind, event.base_offset, event.last_offset)
            )
        draft = self._open
        if draft is None or not _continues(draft, event):
            parsed = event.parsed
            draft = self._begin(Draft(event.line, parsed.names, parsed.values, parsed.kind, event.offset, event.offset))
        if draft.first is None:
            draft.first = event
        draft.count += 1
        draft.control = draft.control or event.control
        draft.max_timestamp = max(draft.max_timestamp, event.parsed.number("timestamp"))
        if event.header is None:
            draft.last_offset = event.offset
        return draft

    def close(self) -> None:
        """No record of the last batch comes any more."""
        if self._open is not None:
            self.done.append(self._open)
            self._open = None

    def _begin(self, draft: Draft) -> Draft:
        self.close()
        self._open = draft
        return draft


def _continues(draft: Draft, record: Record) -> bool:
    """Whether a record belongs to a batch: its header stands above, or it says the same of its batch as the first."""
    if record.header is not None:
        return draft.line is record.header.line
    if draft.first is None or draft.kind is not record.parsed.kind or draft.control or record.control:
        return False
    if draft.kind is LineKind.RECORD and record.parsed.get("baseOffset") is None:
        return record.offset == draft.last_offset + 1
    same = ("position", "baseOffset", "producerId", "producerEpoch", "isTransactional", "magic", "compresscodec")
    first = draft.first.parsed
    return first.get("position") is not None and all(first.get(name) == record.parsed.get(name) for name in same)


def batch_rows(text: LogText, rows_per_chunk: int = ROWS_PER_CHUNK) -> Iterator[TextRows]:
    """Yield the batches of a dump in chunks; one chunk at least, which tells what was met where there is no batch."""
    drafting = Drafting()
    for event in text.events():
        drafting.add(event)
        if len(drafting.done) >= rows_per_chunk:
            yield chunk_of(drafting, text)
    drafting.close()
    yield chunk_of(drafting, text)


def chunk_of(drafting: Drafting, text: LogText) -> TextRows:
    """Return the batches that are done as rows, with what was met since the last call."""
    drafts, drafting.done = drafting.done, []
    parts, groups = [], _alike(drafts)
    for group in groups:
        parts.append(_rows(group))
    rows = np.concatenate([np.zeros(0, BATCH), *(rows for rows, _ in parts)])
    known = np.concatenate([np.zeros(0, np.int64), *(known for _, known in parts)])
    lines = np.array([draft.line.number for draft in drafts], np.int64)
    positions = np.array([draft.line.position for draft in drafts], np.int64)
    kept = _checked(drafts, rows, text)
    damage, left_out = text.damage[:], text.left_out[:]
    text.damage.clear()
    text.left_out.clear()
    return TextRows(
        BATCH_COLUMNS, rows[kept], lines[kept], positions[kept], known[kept], damage, left_out, text.is_elided
    )


def _alike(drafts: list[Draft]) -> Iterable[list[Draft]]:
    """Cut drafts into runs whose lines carry the same fields."""
    begin = 0
    for number in range(1, len(drafts) + 1):
        before = drafts[begin]
        if number == len(drafts) or drafts[number].names != before.names or drafts[number].kind != before.kind:
            yield drafts[begin:number]
            begin = number


def _rows(drafts: list[Draft]) -> tuple[Rows, Rows]:
    """Rows, and what is known of them, of drafts whose lines carry the same fields."""
    rows, names = np.zeros(len(drafts), BATCH), drafts[0].names
    for name in BATCH.names or ():
        rows[name] = 0 if name in ("crc", "attributes") else -1
    values = dict(zip(names, zip(*(draft.values for draft in drafts), strict=True), strict=True))
    known = {SAID_BY.get(name) or NUMBERS.get(name, "") for name in names}
    for name, column in NUMBERS.items():
        if name in values:
            _fill(rows, column, values[name])
    rows["attributes"] = _attributes(values, len(drafts))
    valid = values.get("isvalid") or values.get("isValid")
    rows["crc_valid"] = UNCHECKED if valid is None else np.where(np.array(valid) == "true", VALID, INVALID)
    if "crc" in values and values["crc"][0] != "null":
        rows["crc"] = np.array([int(crc or 0) & 0xFFFFFFFF for crc in values["crc"]], np.uint32)
    else:
        known.discard("crc")
    horizons = values.get("deleteHorizonMs")
    bits = np.full(len(drafts), mask_of(BATCH_COLUMNS, known), np.int64)
    if drafts[0].kind is LineKind.FLAT_RECORD:  # the CRC of a message in a wrapper is not the wrapper's
        inner = rows["attributes"] & CODEC_MASK != 0
        rows["crc"][inner], bits[inner] = 0, bits[inner] & ~mask_of(BATCH_COLUMNS, ("crc",))
    if drafts[0].kind is LineKind.FLAT_RECORD or drafts[0].names.count("offset"):
        bits |= _from_records(drafts, rows, values)
    bits |= _times(drafts, rows, horizons)
    bits |= _controls(drafts, rows, bits)
    return rows, bits | _of_messages(drafts, rows)


def _fill(rows: Rows, column: str, values: tuple[str | None, ...]) -> None:
    """Put a field into its column; a number that the column can't hold is damage, found by `_checked`."""
    limits = np.iinfo(BATCH[column])
    numbers = np.array([OUTSIDE if value is None else _within(int(value), limits) for value in values])
    rows[column] = numbers
    if (numbers == OUTSIDE).any():
        rows["base_offset"][numbers == OUTSIDE] = OUTSIDE


OUTSIDE = -2
"""Stands in a column for a number that it can't hold; no field of a batch is ever below -1."""


def _within(number: int, limits: Any) -> int:
    return number if -1 <= number <= limits.max else OUTSIDE


def _attributes(values: dict[str, tuple[str | None, ...]], count: int) -> Rows:
    """Attribute bits as far as the fields say them."""
    found = np.zeros(count, np.int16)
    for codec in (values.get("compresscodec") or values.get("compressType"),):
        if codec is not None:
            found |= np.array([CODECS.get(name or "", 0) for name in codec], np.int16)
    for name, flag, positive in (
        ("isTransactional", Attributes.IS_TRANSACTIONAL, "true"),
        ("isControl", Attributes.IS_CONTROL, "true"),
        ("timestampType", Attributes.LOG_APPEND_TIME, "LogAppendTime"),
    ):
        if name in values:
            found |= np.where(np.array(values[name]) == positive, int(flag), 0).astype(np.int16)
    if "deleteHorizonMs" in values:
        has = np.array([value is not None for value in values["deleteHorizonMs"]])
        found |= np.where(has, int(Attributes.HAS_DELETE_HORIZON), 0).astype(np.int16)
    return found


EXTENT = ("base_offset", "last_offset", "record_count", "max_timestamp")


def _from_records(drafts: list[Draft], rows: Rows, values: dict[str, tuple[str | None, ...]]) -> int:
    """Columns of batches whose records stand there without a header; returns what is known then."""
    if drafts[0].kind is LineKind.MESSAGE:
        rows["base_offset"] = rows["last_offset"] = [draft.last_offset for draft in drafts]
        return mask_of(BATCH_COLUMNS, ("base_offset", "last_offset"))
    rows["base_offset"] = [draft.base_offset for draft in drafts]
    rows["last_offset"] = [draft.last_offset for draft in drafts]
    rows["record_count"] = [draft.count for draft in drafts]
    rows["max_timestamp"] = [draft.max_timestamp for draft in drafts]
    if "baseOffset" in values:
        _fill(rows, "base_offset", values["baseOffset"])
        _fill(rows, "last_offset", values["lastOffset"])
    elif "sequence" in values:
        _fill(rows, "base_sequence", values["sequence"])
    is_extent_known = drafts[0].kind is LineKind.FLAT_RECORD and "position" in values
    return mask_of(BATCH_COLUMNS, EXTENT) if is_extent_known else 0


def _times(drafts: list[Draft], rows: Rows, horizons: tuple[str | None, ...] | None) -> Rows:
    """Fill base_timestamp: the delete horizon, or the time of the first record, which writers count from."""
    none = (None,) * len(drafts)
    appended = (rows["attributes"] & int(Attributes.LOG_APPEND_TIME) != 0).tolist()
    starts = rows["base_offset"].tolist()
    found = [
        int(horizon) if horizon is not None else _first_time(draft, start, is_appended)
        for draft, start, is_appended, horizon in zip(drafts, starts, appended, horizons or none, strict=True)
    ]
    rows["base_timestamp"] = [-1 if time is None else time for time in found]
    known = np.array([time is not None for time in found], bool)
    return np.where(known, mask_of(BATCH_COLUMNS, ("base_timestamp",)), 0)


def _first_time(draft: Draft, start: int, is_appended: bool) -> int | None:
    """Time of the first record, None where the text does not show the client's."""
    if draft.first is None or draft.first.offset != start or is_appended:
        return None
    return draft.first.parsed.number("timestamp")


def _controls(drafts: list[Draft], rows: Rows, bits: Rows) -> Rows:
    """Fill what control records say, and return what is known of it.

    A batch without sequences in a transaction is a marker: data in a transaction always have them.
    """
    has_control, has_transactional = (mask_of(BATCH_COLUMNS, (name,)) for name in ("is_control", "is_transactional"))
    told = mask_of(BATCH_COLUMNS, ("control_type", "coordinator_epoch"))
    found = np.zeros(len(drafts), np.int64)
    for number, draft in enumerate(drafts):
        flags = int(rows["attributes"][number])
        if draft.control is not None:
            rows["control_type"][number], rows["coordinator_epoch"][number] = draft.control
            flags |= int(Attributes.IS_CONTROL)
            if draft.control.type <= 1:
                flags |= int(Attributes.IS_TRANSACTIONAL)
            found[number] = told | has_control | has_transactional
        elif not bits[number] & has_control and bits[number] & has_transactional:
            is_marker = flags & int(Attributes.IS_TRANSACTIONAL) and rows["base_sequence"][number] == -1
            is_known = mask_of(BATCH_COLUMNS, ("base_sequence",)) & bits[number] or not is_marker
            flags |= int(Attributes.IS_CONTROL) if is_marker and is_known else 0
            found[number] = has_control | (0 if is_marker else told)
        elif bits[number] & has_control and (
            not flags & int(Attributes.IS_CONTROL) or rows["record_count"][number] == 0
        ):
            found[number] = told
        rows["attributes"][number] = flags
    return found


def _of_messages(drafts: list[Draft], rows: Rows) -> Rows:
    """Fill what messages of magic 0 and 1 have, or never have; returns what is known then."""
    bits = np.zeros(len(drafts), np.int64)
    old = np.flatnonzero((rows["magic"] >= 0) & (rows["magic"] < 2))
    if not len(old):
        return bits
    bits[old] = mask_of(
        BATCH_COLUMNS,
        ("base_offset", "last_offset", "record_count", "base_timestamp", "producer_id", "producer_epoch",
         "base_sequence", "leader_epoch", "is_transactional", "is_control", "delete_horizon", "control_type",
         "coordinator_epoch"),
    )  # fmt: skip
    rows["base_offset"][old] = rows["last_offset"][old]
    rows["record_count"][old] = 1
    rows["base_timestamp"][old] = rows["max_timestamp"][old]
    rows["crc_valid"][old] = UNCHECKED
    return bits


def _checked(drafts: list[Draft], rows: Rows, text: LogText) -> Rows:
    """Which rows count: those with a wrong CRC and those with impossible numbers are damage, as they are in bytes."""
    outside = rows["base_offset"] == OUTSIDE
    wrong = (rows["crc_valid"] == INVALID) & ~outside
    for number in np.flatnonzero(outside | wrong).tolist():
        line = drafts[number].line
        kind, found = (
            ("entry", "a number that none of its fields can have") if outside[number] else ("crc", "another CRC")
        )
        text.damage.append(
            Damage(
                kind,
                text.path,
                line.position,
                max(line.end - line.position, 0),
                "a batch with the CRC that its header states",
                found,
            )
        )
    kept: Rows = ~(outside | wrong)
    return kept
