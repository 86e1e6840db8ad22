"""A segment file as chunks of batch rows, in bounded memory, whatever state the file is in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkatx.kernels import engine
from kafkatx.kernels.batches import (
    CHECK_CONTROL,
    DAMAGED,
    END,
    FULL,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MORE_DATA,
    TORN,
    WRONG_CRC,
    seen_producers,
    walk_batches,
)
from kafkatx.kernels.rows import BATCH
from kafkatx.segments.damage import Damage
from kafkatx.segments.resync import Fit, crc_matches, is_zero, next_batch
from kafkatx.sources.files import OpenFile

ROWS_PER_CHUNK = 16_384
BUFFER_SIZE = 4 << 20
LARGEST_BUFFER = 64 << 20
"""A batch above this is not held in memory: its CRC is taken in pieces."""
NO_LIMIT = (1 << 63) - 1

Rows = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some consecutive batches of a file.

    `rows` has dtype kernels.rows.BATCH and is a copy; `data` holds the bytes of the file from `data_position` on and is only valid
    until the next chunk. With `bodies` asked for, every batch of `rows` lies whole in `data`.
    """

    rows: Rows
    data: memoryview
    data_position: int


class SegmentWalk:
    """One pass over the batches of a file; what it met on the way stands in `damage`, `torn`, `preallocated` and `end` afterwards."""

    def __init__(
        self, file: OpenFile, *, check: int = CHECK_CONTROL, offset_limit: int = NO_LIMIT, start: int = 0, bodies: bool = False,
        most_rows: int = ROWS_PER_CHUNK,
    ) -> None:  # fmt: skip
        """Prepare a walk of `file` from byte `start`; `offset_limit` is the base offset of the segment behind this one."""
        self._most_rows = most_rows
        self.file = file
        self.check = check
        self.bodies = bodies
        self.damage: list[Damage] = []
        self.torn = False
        self.preallocated = 0
        self.end = start
        self._fit = Fit(-1, offset_limit, -1)
        self._size = file.size
        self._buffer = memoryview(bytearray(min(BUFFER_SIZE, max(file.size, 1))))
        self._buffer_position = start
        self._filled = 0
        self._seen = seen_producers()

    def chunks(self) -> Iterator[Chunk]:
        """Yield the batches, then return; never raises for what the file holds."""
        out = np.zeros(self._most_rows, BATCH)
        position, stop = self.end, MORE_DATA
        while stop != END:
            self._fill(position)
            count, position, stop = self._walk(position, out)
            engine.count_rows(count)
            if count:
                yield Chunk(out[:count].copy(), self._buffer[: self._filled], self._buffer_position)
            if stop in (DAMAGED, TORN, WRONG_CRC):
                resumed = self._step_over(position, stop)
                if resumed is None:
                    break
                position = resumed
            elif stop == MORE_DATA and position == self._buffer_position and count == 0:
                self._grow(position)
        self.end = position

    def _walk(self, position: int, out: Rows) -> tuple[int, int, int]:
        """Run the kernel over the buffer; returns rows, file position of the next batch, why it stopped."""
        at = position - self._buffer_position
        data = engine.data_view(self._buffer[: self._filled])
        fit = self._fit
        count, at, stop, last_offset, leader_epoch = walk_batches(
            data, at, self._filled, self._buffer_position, self._size,
            fit.last_offset, fit.offset_limit, fit.leader_epoch, self.check, self._seen, out, 0,
        )  # fmt: skip
        if self.bodies and count:
            count, at, stop, last_offset, leader_epoch = self._keep_whole(out, count, at, stop, last_offset, leader_epoch)
        self._fit = Fit(last_offset, fit.offset_limit, leader_epoch)
        return count, self._buffer_position + at, stop

    def _keep_whole(self, out: Rows, count: int, at: int, stop: int, last: int, epoch: int) -> tuple[int, int, int, int, int]:
        """Give back a last batch whose body is not in the buffer yet (only the last one can be)."""
        row = out[count - 1]
        start = int(row["position"]) - self._buffer_position
        if start + int(row["size"]) <= self._filled or int(row["size"]) > LARGEST_BUFFER:
            return count, at, stop, last, epoch
        previous = int(out["last_offset"][count - 2]) if count > 1 else self._fit.last_offset
        before = int(out["leader_epoch"][count - 2]) if count > 1 else self._fit.leader_epoch
        return count - 1, start, MORE_DATA, previous, max(before, self._fit.leader_epoch)

    def _fill(self, position: int) -> None:
        """Make the buffer begin at `position`."""
        self._filled = self.file.read_into(self._buffer, position)
        self._buffer_position = position
        if self._filled < len(self._buffer):  # the end, which may be nearer than it was: the file can have been truncated
            self._size = min(self._size, position + self._filled)

    def _grow(self, position: int) -> None:
        """Make room for a batch larger than the buffer, or take its CRC in pieces when it is too large for that."""
        header = self.file.read(position, HEADER_SIZE)
        size = LOG_OVERHEAD + int.from_bytes(header[8:12], "big", signed=True)
        if len(self._buffer) < size <= LARGEST_BUFFER:
            self._buffer = memoryview(bytearray(size))
        elif not crc_matches(self.file, position, size, header):
            self.check, checked = 0, self.check
            self.damage.append(self._damage("crc", position, size, "a batch with the CRC its header states", "another CRC"))
            self.check = checked
        else:
            self.check = 0

    def _step_over(self, position: int, stop: int) -> int | None:
        """Record the damage at `position`; return where to go on, or None at the end of what can be read."""
        if stop != WRONG_CRC and is_zero(self.file, position):
            self.preallocated = self._size - position
            return None
        resumed = next_batch(self.file, position, self._fit)
        if resumed is None or resumed >= self._size:
            torn = stop == TORN
            self.torn = True
            self.damage.append(self._describe(position, self._size - position, stop, torn))
            return None
        self.damage.append(self._describe(position, resumed - position, stop, False))
        return resumed

    def _describe(self, position: int, size: int, stop: int, torn: bool) -> Damage:
        if torn:
            return self._damage("torn", position, size, "a whole batch", f"{size} bytes, then the end of the file")
        if stop == WRONG_CRC:
            return self._damage("crc", position, size, "a batch with the CRC its header states", "another CRC")
        header = self.file.read(position, HEADER_SIZE)
        length = int.from_bytes(header[8:12], "big", signed=True)
        return self._damage(
            "header", position, size, "the header of a batch that follows the last one",
            f"offset {int.from_bytes(header[:8], 'big', signed=True)}, length {length}, magic {header[16] if len(header) > 16 else None}",
        )  # fmt: skip

    def _damage(self, kind: str, position: int, size: int, expected: str, found: str) -> Damage:
        return Damage(kind, self.file.path, position, size, expected, found)


__all__ = ["BUFFER_SIZE", "FULL", "NO_LIMIT", "ROWS_PER_CHUNK", "Chunk", "Rows", "SegmentWalk"]
