"""Fields of lines to columns of batch rows (kernels.rows.BATCH), many rows at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.formats.control_record import ControlType
from kafkatx.formats.record_batch import CODEC_MASK, MAGIC, Attributes, Codec
from kafkatx.kernels.dumped_batches import HAS_HORIZON, LACKS_COUNT
from kafkatx.kernels.rows import BATCH, UNCHECKED, VALID
from kafkatx.segments.batches import Rows
from kafkatx.terms.records import dataclass
from kafkatx.text.dump.events import Control, DumpedRecord
from kafkatx.text.dump.rows import BATCH_COLUMNS, mask_of
from kafkatx.text.lines import Line
from kafkatx.text.printed.dump_lines import DumpLine
from kafkatx.text.printed.eras import LineKind

NUMBERS = {
    "baseOffset": "base_offset",
    "lastOffset": "last_offset",
    "count": "record_count",
    "baseSequence": "base_sequence",
    "sequence": "base_sequence",
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "partitionLeaderEpoch": "leader_epoch",
    "position": "position",
    "size": "size",
    "batchSize": "size",
    "magic": "magic",
    "timestamp": "max_timestamp",
}
"""Fields that are a column as they stand; those of a record are its batch's where the record is its first."""
FLAGS = {
    "isTransactional": ("is_transactional", {"true": int(Attributes.IS_TRANSACTIONAL)}),
    "isControl": ("is_control", {"true": int(Attributes.IS_CONTROL)}),
    "timestampType": ("timestamp_type", {"LogAppendTime": int(Attributes.LOG_APPEND_TIME)}),
    "compresscodec": ("codec", {name: int(codec) for codec in Codec for name in (codec.name, codec.name.upper())}),
    "compressType": ("codec", {name: int(codec) for codec in Codec for name in (codec.name, codec.name.upper())}),
}
"""Fields that are bits of `attributes`."""
IS_TRANSACTIONAL, IS_CONTROL = int(Attributes.IS_TRANSACTIONAL), int(Attributes.IS_CONTROL)


@dataclass(slots=True)
class BatchDraft:
    """A batch while its records come: the line that tells of it, and of its records what no such line says."""

    line: Line
    parsed: DumpLine
    base_offset: int
    last_offset: int
    first: DumpedRecord | None = None
    control: Control | None = None
    count: int = 0
    max_timestamp: int = -1


def rows_of(drafts: list[BatchDraft]) -> tuple[Rows, Rows, Rows]:
    """Return rows, what is known of each (bits of BATCH_COLUMNS), and which hold a wrong CRC or impossible numbers."""
    tables = [_Table(group) for group in _alike(drafts)]
    for table in tables:
        table.fill()
    return (
        np.concatenate([np.zeros(0, BATCH), *(table.rows for table in tables)]),
        np.concatenate([np.zeros(0, np.int64), *(table.known for table in tables)]),
        np.concatenate([np.zeros(0, bool), *(table.wrong for table in tables)]),
    )


def _alike(drafts: list[BatchDraft]) -> Iterator[list[BatchDraft]]:
    """Cut drafts into runs whose lines carry the same fields."""
    begin = 0
    for number in range(1, len(drafts) + 1):
        before = drafts[begin].parsed
        if number == len(drafts) or not (
            drafts[number].parsed.at == before.at and drafts[number].parsed.kind is before.kind
        ):
            yield drafts[begin:number]
            begin = number


def known_as(*columns: str) -> int:
    """Return the bits of columns."""
    return mask_of(BATCH_COLUMNS, columns)


MARKED = known_as("control_type", "coordinator_epoch")
OF_MESSAGES = known_as(
    "base_offset", "last_offset", "record_count", "base_timestamp", "producer_id", "producer_epoch", "base_sequence",
    "leader_epoch", "is_transactional", "is_control", "delete_horizon", "control_type", "coordinator_epoch",
)  # fmt: skip
"""What is the same for every message of magic 0 and 1, or follows from its offset and time."""


_SAID = known_as(
    "base_offset", "last_offset", "record_count", "base_sequence", "producer_id", "producer_epoch", "leader_epoch",
    "position", "size", "magic", "max_timestamp", "crc", "crc_valid", "is_transactional", "is_control",
    "timestamp_type", "codec",
)  # fmt: skip


def known_of_run(rows: Rows, is_timed: Rows, shape: int) -> Rows:
    """Return what is known of batches whose lines a kernel read (printed/runs.py), as `rows_of` says it of their lines.

    Args:
        rows: the batches; what follows from the lines that `rows_of` knows is filled in.
        is_timed: whether their base_timestamp is told.
        shape: what their lines look like (kernels/dumped_batches.py).
    """
    known = np.full(len(rows), _SAID, np.int64)
    if shape & LACKS_COUNT:
        known &= ~known_as("record_count")
        rows["record_count"] = rows["last_offset"] - rows["base_offset"] + 1
        rows["attributes"] |= np.where(_may_be_markers(rows), IS_CONTROL, 0).astype(np.int16)
    if shape & HAS_HORIZON:
        known |= known_as("delete_horizon") | np.where(is_timed, known_as("base_timestamp"), 0)
    is_data = rows["attributes"] & IS_CONTROL == 0
    return known | np.where(is_data | (rows["record_count"] == 0) | (rows["control_type"] >= 0), MARKED, 0)


def _may_be_markers(rows: Rows) -> Rows:
    """Whether batches are markers though no line says isControl: data in a transaction always have a sequence."""
    is_transactional = rows["attributes"] & IS_TRANSACTIONAL != 0
    found: Rows = is_transactional & (rows["base_sequence"] == -1) & (rows["producer_id"] >= 0)
    return found


class _Table:
    """Batches whose lines carry the same fields; `fill` makes their rows."""

    def __init__(self, drafts: list[BatchDraft]) -> None:
        self.drafts, self.kind, self.at = drafts, drafts[0].parsed.kind, drafts[0].parsed.at
        self.fields = list(zip(*(draft.parsed.values for draft in drafts), strict=True))
        self.rows = np.zeros(len(drafts), BATCH)
        for name in BATCH.names or ():
            self.rows[name] = 0 if name in ("crc", "attributes") else -1
        self.known = np.zeros(len(drafts), np.int64)
        self.wrong = np.zeros(len(drafts), bool)

    def fill(self) -> None:
        """Fill the rows: what the lines say, then what follows from it."""
        self._extents()
        for name, column in NUMBERS.items():
            if name in self.at and not (name == "timestamp" and self.kind in _OF_RECORDS):
                self._number(name, column)
        for name, (column, bits) in FLAGS.items():
            if name in self.at:
                self.rows["attributes"] |= np.array([bits.get(value or "", 0) for value in self._field(name)], np.int16)
                self.known |= known_as(column)
        if "timestamp" not in self.at:
            self._times_of_markers()
        self._validity()
        self._times()
        self._controls()
        self._messages()

    def _field(self, name: str) -> tuple[str | None, ...]:
        return self.fields[self.at[name]]

    def _number(self, name: str, column: str) -> None:
        """Put a field into its column; a number that the column can't hold makes its row wrong."""
        self._put(column, [int(value or -1) for value in self._field(name)])
        self.known |= known_as(column)

    def _put(self, column: str, numbers: list[int]) -> None:
        limits = np.iinfo(BATCH[column])
        try:
            found = np.array(numbers, np.int64)
        except OverflowError:
            found = np.array([number if abs(number) < limits.max else limits.min for number in numbers], np.int64)
            self.wrong |= found == limits.min
        self.wrong |= (found > limits.max) | (found < limits.min)
        self.rows[column] = found.clip(limits.min, limits.max)

    def _extents(self) -> None:
        """First and last offset and number of records; of records without a header as far as they are there."""
        drafts, is_flat = self.drafts, self.kind in _OF_RECORDS
        self._put("base_offset", [draft.base_offset for draft in drafts])
        self._put("last_offset", [draft.last_offset for draft in drafts])
        if is_flat:
            self._put("record_count", [draft.count for draft in drafts])
            self._put("max_timestamp", [draft.max_timestamp for draft in drafts])
        is_run = self.kind is LineKind.FLAT_RECORD and "position" in self.at
        is_marker = np.array([draft.control is not None for draft in drafts], bool)
        whole = known_as("base_offset", "last_offset", "record_count")
        whole |= known_as("max_timestamp") if "timestamp" in self.at else 0
        if is_flat:
            self.known |= np.where(is_marker | is_run, whole, 0)

    def _validity(self) -> None:
        """CRC and whether it is right; that of a message inside a wrapper is not the wrapper's."""
        name = "isvalid" if "isvalid" in self.at else "isValid"
        if name in self.at:
            valid = np.array([value == "true" for value in self._field(name)], bool)
            self.wrong |= ~valid
            self.rows["crc_valid"] = VALID
            self.known |= known_as("crc_valid")
        if "crc" in self.at:
            printed = [value not in (None, "null") for value in self._field("crc")]
            inner = (self.kind is LineKind.FLAT_RECORD) & (self.rows["attributes"] & CODEC_MASK != 0)
            said = np.array(printed, bool) & ~inner
            self._put("crc", [int(value or 0) if value != "null" else 0 for value in self._field("crc")])
            self.rows["crc"][~said] = 0
            self.known |= np.where(said, known_as("crc"), 0)

    def _times_of_markers(self) -> None:
        """Fill the time of markers whose line was cut before it: their only record has the same."""
        times = np.array([draft.max_timestamp for draft in self.drafts], np.int64)
        self.rows["max_timestamp"] = times
        self.known |= np.where(times >= 0, known_as("max_timestamp"), 0)

    def _times(self) -> None:
        """Fill base_timestamp: the delete horizon, or the time of the first record, which writers count from."""
        rows, horizons = self.rows, None
        if "deleteHorizonMs" in self.at:
            horizons = np.array([int(value) if value else -1 for value in self._field("deleteHorizonMs")], np.int64)
            rows["attributes"] |= np.where(horizons >= 0, int(Attributes.HAS_DELETE_HORIZON), 0).astype(np.int16)
            self.known |= known_as("delete_horizon")
        appended = rows["attributes"] & int(Attributes.LOG_APPEND_TIME) != 0
        first = [draft.first for draft in self.drafts]
        offsets = np.array([-1 if record is None else record.offset for record in first], np.int64)
        times = np.array([-1 if record is None else record.parsed.number("timestamp") for record in first], np.int64)
        shown = (offsets == rows["base_offset"]) & (offsets >= 0) & ~appended
        rows["base_timestamp"] = np.where(shown, times, -1)
        if horizons is not None:
            rows["base_timestamp"] = np.where(horizons >= 0, horizons, rows["base_timestamp"])
            shown |= horizons >= 0
        if horizons is not None:  # up to 3.1 the tool does not show a horizon, which may be in its place
            self.known |= np.where(shown, known_as("base_timestamp"), 0)

    def _controls(self) -> None:
        """Fill what control records say.

        Up to 1.1 no line says isControl: a batch without a sequence in a transaction is a marker, since data in a
        transaction always have one. What kind it is stands in its record only.
        """
        rows, controls = self.rows, [draft.control for draft in self.drafts]
        said = np.array([control is not None for control in controls], bool)
        rows["control_type"] = [-1 if control is None else control.type for control in controls]
        rows["coordinator_epoch"] = [-1 if control is None else control.coordinator_epoch for control in controls]
        ends = said & (rows["control_type"] <= ControlType.COMMIT)
        if "isControl" not in self.at and {"isTransactional"} <= self.at.keys():
            has_sequence = "baseSequence" in self.at or "sequence" in self.at
            has_producer = (rows["producer_id"] >= 0) | ("producerId" not in self.at)
            guessed = (rows["attributes"] & IS_TRANSACTIONAL != 0) & (rows["base_sequence"] == -1) & has_producer
            rows["attributes"] |= np.where(guessed & has_sequence, IS_CONTROL, 0).astype(np.int16)
            self.known |= np.where(guessed & (not has_sequence), 0, known_as("is_control"))
        rows["attributes"] |= np.where(said, IS_CONTROL, 0).astype(np.int16)
        rows["attributes"] |= np.where(ends, IS_TRANSACTIONAL, 0).astype(np.int16)
        self.known |= np.where(said, known_as("is_control") | MARKED, 0) | np.where(
            ends, known_as("is_transactional"), 0
        )
        is_data = rows["attributes"] & IS_CONTROL == 0
        is_told = self.known & known_as("is_control") != 0
        self.known |= np.where(is_told & (is_data | (rows["record_count"] == 0)), MARKED, 0)

    def _messages(self) -> None:
        """Fill what messages of magic 0 and 1 have, or never have."""
        rows = self.rows
        old = (rows["magic"] >= 0) & (rows["magic"] < MAGIC)
        if old.any():
            rows["base_offset"] = np.where(old, rows["last_offset"], rows["base_offset"])
            rows["record_count"] = np.where(old, 1, rows["record_count"])
            rows["base_timestamp"] = np.where(old, rows["max_timestamp"], rows["base_timestamp"])
            rows["crc_valid"] = np.where(old, UNCHECKED, rows["crc_valid"])
            self.known |= np.where(old, OF_MESSAGES, 0)


_OF_RECORDS = (LineKind.FLAT_RECORD, LineKind.RECORD)
