"""A segment file as chunks of batch rows, in bounded memory, whatever state the file is in.

Damage   the walk never throws: it yields what is whole, then a damage row, and goes on where resync.py says.
Steps    of a store's object the records of large batches are not asked for where the header is enough: of those that
         are larger than what could be read while the store answers (`request_bytes`). Smaller ones come with their
         block (sources/objects.py). Of a file of this machine stepping.py says where headers alone are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kafkatx.kernels.batches import (
    CHECK_CONTROL,
    DAMAGED,
    END,
    FULL,
    HEADER_SIZE,
    MORE_DATA,
    TORN,
    WRONG_CRC,
    seen_producers,
    walk_batches,
    write_header,
)
from kafkatx.kernels.rows import BATCH, UNCHECKED, VALID
from kafkatx.segments.damage import Damage, noted
from kafkatx.segments.free_arrays import lent
from kafkatx.segments.resync import ExpectedNext, Resync, crc_matches, is_zero, size_of
from kafkatx.segments.stepping import Steps
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

ROWS_PER_CHUNK = 16_384
FEW_ROWS = 256
"""Batches after which a walk knows about how many there are to come: whether the kernel is to be compiled."""
BUFFER_SIZE = 2 << 20
FEW_BYTES = 4096
FIRST_BYTES = 256 << 10
"""What says how large batches are, where steps are taken if they are large."""
LARGEST_BUFFER = 64 << 20
"""A batch above this is not held in memory: its CRC is taken in pieces."""
STRETCH_BYTES = 64 << 20
"""The table of producers seen begins empty at each multiple of this: so a walk may begin there (evidence/stretches.py).
"""
NO_LIMIT = (1 << 63) - 1

Rows = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some consecutive batches of a file.

    `rows` has dtype kernels.rows.BATCH and is nobody else's; `data` holds the bytes of the file from `data_position`
    on and is only valid until the next chunk. With `bodies` asked for, every batch of `rows` up to LARGEST_BUFFER bytes
    lies whole in `data`.
    """

    rows: Rows
    data: memoryview
    data_position: int


class SegmentWalk:
    """One pass over the batches of a file.

    What it met on the way stands in `damage`, `torn`, `preallocated` and `end` afterwards.
    """

    def __init__(
        self,
        file: OpenFile,
        *,
        check: int = CHECK_CONTROL,
        first_offset: int = 0,
        offset_limit: int = NO_LIMIT,
        start: int = 0,
        stop: int = NO_LIMIT,
        fit: ExpectedNext | None = None,
        stretch_bytes: int | None = None,
        bodies: bool = False,
        most_rows: int = ROWS_PER_CHUNK,
    ) -> None:
        """Prepare a walk of `file` from byte `start`; what begins at byte `stop` or behind it is not looked at.

        `first_offset` is the base offset in the file's name (0 where it has none), `offset_limit` that of the segment
        behind it: a batch outside can't be one of this segment. `fit` is what the batch at `start` must satisfy, where
        more is known of what lies before it. `stretch_bytes`: STRETCH_BYTES unless a test makes stretches small.
        """
        self._most_rows = most_rows
        self.file = file
        self.check = check
        self.bodies = bodies
        self.damage: list[Damage] = []
        self.torn = False
        self.preallocated = 0
        self.end = start
        self._fit = fit or ExpectedNext(first_offset - 1, offset_limit, -1)
        self._stop, self._stretch_bytes = stop, stretch_bytes or STRETCH_BYTES
        self._boundary = start
        self._resync = Resync(file)
        self._size = file.size
        size = max(BUFFER_SIZE, HEADER_SIZE)
        self._buffer = lent(size).data if file.size >= size else memoryview(bytearray(max(file.size, 1)))
        self._buffer_position = start
        self._filled = 0
        self._steps = Steps(file, check, bodies)
        self._wanted = min(FIRST_BYTES, len(self._buffer)) if self._steps.may_come else len(self._buffer)
        self._seen, self._is_behind_message = seen_producers(), False

    @property
    def fit(self) -> ExpectedNext:
        """What a batch at `end` must satisfy."""
        return self._fit

    def chunks(self) -> Iterator[Chunk]:
        """Yield the batches, then return; never raises for what the file holds."""
        out = self._room()
        position: int | None = self.end
        stop = MORE_DATA
        while position is not None and stop != END:
            if position >= self._boundary:
                if position >= self._stop:
                    self.end = position
                    return
                self._begin_stretch(position)
            if stop == MORE_DATA:
                self._fill(position)
            before = self._fit
            count, position, stop = self._up_to_boundary(out, before, *self._next(position, out))
            if not self._steps.are_next:
                walk_batches.count(count, count * (self._size - position) // max(self._filled, 1))
            if count:
                self._is_behind_message = bool(out["magic"][count - 1] < 2)
                self._wanted = self._worth_reading(out[:count])
                self._steps.learn(out[:count], self._size - position)
                is_full = 2 * count > len(out)
                yield Chunk(
                    out[:count] if is_full else out[:count].copy(), self._buffer[: self._filled], self._buffer_position
                )
                del out  # what nobody looks at any more is given out again
                out = self._room()
            self.end = position
            if position >= self._boundary and stop != END:
                stop = MORE_DATA
            elif stop in (DAMAGED, TORN, WRONG_CRC):
                position, self._is_behind_message = self._step_over(position, stop), False

    def _room(self) -> Rows:
        """An array for the batches of a chunk, whatever is in it."""
        return lent(self._most_rows * BATCH.itemsize).view(BATCH)

    def _worth_reading(self, rows: Rows) -> int:
        """How many bytes to ask for next: where batches are larger than what a request costs, a header and little more.

        What turns out to be needed of a body is read then.
        """
        request = self.file.request_bytes
        is_large = 0 < request <= int(rows["size"].min()) and not self.bodies
        return min(FEW_BYTES, len(self._buffer)) if is_large else len(self._buffer)

    def _begin_stretch(self, position: int) -> None:
        """Forget the producers seen, as a walk would know none that begins here."""
        self._boundary = min((position // self._stretch_bytes + 1) * self._stretch_bytes, self._stop)
        self._seen, self._is_behind_message = seen_producers(), False

    def _up_to_boundary(
        self, out: Rows, before: ExpectedNext, count: int, position: int, stop: int
    ) -> tuple[int, int, int]:
        """Give back the batches that begin behind the boundary; the walk goes on with the first of them."""
        if not count or out["position"][count - 1] < self._boundary:
            return count, position, stop
        kept = int(np.searchsorted(out["position"][:count], self._boundary))
        self._fit = self._fit_after(out[:kept], before)
        return kept, int(out["position"][kept]), MORE_DATA

    def _next(self, position: int, out: Rows) -> tuple[int, int, int]:
        """Fill `out` from the batch at `position` on; returns rows, position of the next batch, why it stopped."""
        before = self._fit
        count, behind, stop = self._walk(position, out)
        if (kept := self._before_wrong_message(out[:count])) < count:
            self._fit = self._fit_after(out[:kept], before)
            return kept, int(out["position"][kept]), WRONG_CRC
        if count and stop not in (END, WRONG_CRC):
            header = self.file.read(behind, HEADER_SIZE)
            if not self._fit.admits(header) or behind + size_of(header) > self._size:
                return self._doubt_last(out, count, behind, stop, before, header)
        if stop == MORE_DATA and not count and behind == self._buffer_position and not self._steps.are_next:
            return self._larger_than_buffer(behind, out)
        return count, behind, stop

    def _before_wrong_message(self, rows: Rows) -> int:
        """How many batches stand before the first message of magic 0 or 1 whose CRC is wrong, of those to doubt.

        Zeros over the end of a header of magic 2 (a power cut) read as magic 0: the first message behind batches of
        magic 2 is doubted, behind damage and of a stretch, and one whose CRC is zero.
        """
        if not len(rows) or rows["magic"].min() >= 2:
            return len(rows)
        legacy = rows["magic"] < 2
        is_first = np.concatenate(([not self._is_behind_message], ~legacy[:-1]))
        for number in np.flatnonzero(legacy & (is_first | (rows["crc"] == 0))).tolist():
            position = int(rows["position"][number])
            if not crc_matches(self.file, position, self.file.read(position, HEADER_SIZE)):
                return number
        return len(rows)

    def _walk(self, position: int, out: Rows) -> tuple[int, int, int]:
        """Run the kernel over the buffer, or from header to header."""
        if self._steps.are_next:
            self._buffer_position, self._filled = position, 0
            count, behind, stop, self._fit = self._steps.walk(
                self._buffer, position, self._boundary, self._size, self._fit, self._seen, out
            )
            return count, behind, stop
        fit, at = self._fit, position - self._buffer_position
        few = len(out) if walk_batches.is_compiled else min(FEW_ROWS, len(out))
        count, behind, stop = self._run(at, out[:few], 0)
        if stop == FULL and few < len(out):
            walk_batches.count(0, count * (self._size - position) // (behind - at))
            count, behind, stop = self._run(behind, out, count)
        at = behind
        if self.bodies and count and self._reaches_out(out[count - 1]):
            return self._without_last(out, count, fit)[0], int(out["position"][count - 1]), MORE_DATA
        return count, self._buffer_position + at, stop

    def _run(self, at: int, out: Rows, row: int) -> tuple[int, int, int]:
        """Fill `out` from `row` on; returns rows, place in the buffer of the next batch, why it stopped."""
        fit = self._fit
        count, at, stop, last_offset, leader_epoch = walk_batches(
            walk_batches.view(self._buffer[: self._filled]), at, self._filled, self._buffer_position, self._size,
            fit.last_offset, fit.offset_limit, fit.leader_epoch, self.check, self._seen, out, row,
        )  # fmt: skip
        self._fit = ExpectedNext(last_offset, fit.offset_limit, leader_epoch)
        return count, at, stop

    def _reaches_out(self, row: Any) -> bool:
        """Whether the body of a batch (only the last one can be that) is not whole in the buffer, but could be."""
        end = int(row["position"]) + int(row["size"]) - self._buffer_position
        return end > self._filled and int(row["size"]) <= LARGEST_BUFFER

    def _without_last(self, out: Rows, count: int, before: ExpectedNext) -> tuple[int, int]:
        """Give back the last batch; returns the rows left and its position."""
        self._fit = self._fit_after(out[: count - 1], before)
        return count - 1, int(out["position"][count - 1])

    def _fit_after(self, kept: Rows, before: ExpectedNext) -> ExpectedNext:
        """What the batch behind these rows must satisfy."""
        last_offset = int(kept["last_offset"][-1]) if len(kept) else before.last_offset
        epochs = int(kept["leader_epoch"].max()) if len(kept) else -1
        return ExpectedNext(last_offset, before.offset_limit, max(before.leader_epoch, epochs))

    def _doubt_last(
        self, out: Rows, count: int, behind: int, stop: int, before: ExpectedNext, header: bytes
    ) -> tuple[int, int, int]:
        """Where no batch follows the last one may be to blame: for a wrong length, offset or leader epoch.

        The CRC shows the first if it was not looked at yet. It does not cover the others: they are wrong if without
        this batch
        the log goes on, and with it not even behind the next batch.
        """
        row = out[count - 1]
        if row["crc_valid"] == UNCHECKED:
            position = int(row["position"])
            if not crc_matches(self.file, position, self.file.read(position, HEADER_SIZE)):
                return *self._without_last(out, count, before), WRONG_CRC
            row["crc_valid"] = VALID if row["magic"] == 2 else UNCHECKED
        with_last = self._fit
        left, position = self._without_last(out, count, before)
        only_without = self._fit.admits(header) and not with_last.admits(header)
        if only_without and not with_last.admits(self.file.read(behind + size_of(header), HEADER_SIZE)):
            return left, position, DAMAGED
        self._fit = with_last
        return count, behind, stop

    def _fill(self, position: int) -> None:
        """Make the buffer begin at `position`, unless steps are taken from there."""
        if self._steps.begin():
            return
        held = self.file.held(position, self._wanted)
        if held is None:
            self._buffer = self._free(self._buffer)
            self._filled = self.file.read_into(self._buffer[: self._wanted], position)
        else:
            self._buffer, self._filled = held, len(held)
        self._buffer_position = position
        if self._filled < self._wanted:  # the end; it may be nearer than it was: the file can have been truncated
            self._size = min(self._size, position + self._filled)

    def _free(self, buffer: memoryview) -> memoryview:
        """A buffer as large as `buffer` that may be overwritten."""
        return buffer

    def _larger_than_buffer(self, position: int, out: Rows) -> tuple[int, int, int]:
        """Make room for the batch at `position`, or take its CRC in pieces when it is too large for that."""
        header = bytes(self._buffer[:HEADER_SIZE])
        size = size_of(header)
        if self._wanted < len(self._buffer):
            self._wanted = len(self._buffer)
            return 0, position, MORE_DATA
        if size <= LARGEST_BUFFER:
            self._buffer = memoryview(bytearray(size))
            self._wanted = size
            return 0, position, MORE_DATA
        if not crc_matches(self.file, position, header):
            return 0, position, WRONG_CRC
        write_header.plain(header, 0, position, out, 0)
        out["crc_valid"][0] = VALID
        self._fit = self._fit.after(header)
        return 1, position + size, MORE_DATA

    def _step_over(self, position: int, stop: int) -> int | None:
        """Record the damage at `position`; return where to go on, or None at the end of what can be read."""
        left = self._size - position
        if stop != WRONG_CRC and is_zero(self.file, position) and not self.file.is_unreadable(position, left):
            self.preallocated = left
            return None
        if stop == DAMAGED and self._goes_beyond(position):
            return position
        resumed = self._resync.next_batch(position, self._fit)
        if resumed is None or resumed >= self._size:
            self.torn = True
            self._note(self._describe(position, left, stop, stop == TORN))
            return None
        self._note(self._describe(position, resumed - position, stop, False))
        return resumed

    def _goes_beyond(self, position: int) -> bool:
        """Lift the limit that the next segment sets where a whole batch contradicts it: pieces of a log may overlap."""
        without = replace(self._fit, offset_limit=NO_LIMIT)
        header = self.file.read(position, HEADER_SIZE)
        if self._fit.offset_limit == NO_LIMIT or not without.admits(header):
            return False
        if not crc_matches(self.file, position, header):
            return False
        self._fit = without
        return True

    def _note(self, damage: Damage) -> None:
        noted(self.damage, damage)

    def _describe(self, position: int, size: int, stop: int, torn: bool) -> Damage:
        if self.file.is_unreadable(position, size):
            return self._damage("unreadable", position, size, "bytes that can be read", str(self.file.problem))
        if torn:
            return self._damage("torn", position, size, "a whole batch", f"{size} bytes, then the end of the file")
        if stop == WRONG_CRC:
            return self._damage("crc", position, size, "a batch with the CRC its header states", "another CRC")
        header = self.file.read(position, HEADER_SIZE)
        length = int.from_bytes(header[8:12], "big", signed=True)
        magic = header[16] if len(header) > 16 else None
        found = f"offset {int.from_bytes(header[:8], 'big', signed=True)}, length {length}, magic {magic}"
        return self._damage("header", position, size, "the header of a batch that follows the last one", found)

    def _damage(self, kind: str, position: int, size: int, expected: str, found: str) -> Damage:
        return Damage(kind, self.file.path, position, size, expected, found)


__all__ = ["BUFFER_SIZE", "FULL", "NO_LIMIT", "ROWS_PER_CHUNK", "Chunk", "Rows", "SegmentWalk"]
