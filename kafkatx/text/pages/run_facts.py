"""Facts of batches and records that were taken in as a run: those that their lines tell one by one (incidents.py)."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.formats.record_batch import Attributes
from kafkatx.kernels.dumped_batches import IS_DEEP, REPEATS_BATCH
from kafkatx.segments.batches import Rows
from kafkatx.text.pages.incidents import LineFact
from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.runs import Run

_COLUMNS = ("base_offset", "last_offset", "producer_id", "producer_epoch", "max_timestamp", "size", "crc")
_SIGNED = ("producer_id", "producer_epoch", "max_timestamp")
_OFFSET, _TIME, _VALUE_SIZE, _BEHIND = 2, 4, 8, 9
"""Where the words of a record's line stand, its bar the first."""
_TIME_OF_28, _VALUE_SIZE_OF_28, _EPOCH_OF_28, _BEHIND_OF_28 = 12, 10, 22, 23
"""The same of 2.8, whose records say the epoch, too."""
Found = tuple[tuple[ToolLineKind, int], LineFact]


def facts_of_run(run: Run, most: int) -> Iterator[Found]:
    """Yield facts with their keys, in order of the lines, `most` at most."""
    batches = _facts_of_batches(run.rows[:most])
    if not run.shape & IS_DEEP:
        yield from batches
        return
    counts = run.rows["record_count"][:most].tolist()
    lines = iter(bytes(run.data[: run.end - run.begin]).split(b"\n", most)[:most])
    for batch, count in zip(batches, counts, strict=True):
        if next(lines, None) is None:
            return
        yield batch
        for _, line in zip(range(count), lines, strict=False):
            yield _fact_of_28(line) if run.shape & REPEATS_BATCH else _fact_of_record(line)


def _facts_of_batches(rows: Rows) -> Iterator[Found]:
    columns = [rows[name].clip(-1) if name in _SIGNED else rows[name] for name in _COLUMNS]
    is_control = rows["attributes"] & int(Attributes.IS_CONTROL) != 0
    for first, *told in zip(*(column.tolist() for column in (*columns, is_control)), strict=True):
        yield (ToolLineKind.BATCH, first), LineFact(*told)


def _fact_of_record(line: bytes) -> Found:
    words = line.split(b" ", _BEHIND)
    told = LineFact(timestamp=max(int(words[_TIME]), -1), size=max(int(words[_VALUE_SIZE]), -1))
    return (ToolLineKind.RECORD, int(words[_OFFSET])), told


def _fact_of_28(line: bytes) -> Found:
    words = line.split(b" ", _BEHIND_OF_28)
    epoch, time, size = (max(int(words[at]), -1) for at in (_EPOCH_OF_28, _TIME_OF_28, _VALUE_SIZE_OF_28))
    return (ToolLineKind.RECORD, int(words[_OFFSET])), LineFact(producer_epoch=epoch, timestamp=time, size=size)
