"""Byte strings of many rows as small integers.

One Python object a distinct value, none a row.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from kafkatx.kernels.growing import with_length
from kafkatx.kernels.interning import NO_ROOM, code_ranges

Step = Callable[[int, Any, Any, Any, int], tuple[int, int, int]]
"""A kernel that goes on from a row, given slots, values, their ends, and how many are known (kernels/interning.py);
returns why it stopped (NO_ROOM, or reasons of its own), the row to go on with, and how many are known.
"""


class Interner:
    """Gives every distinct byte string a code, in order of first sight."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self._codes: dict[bytes, int] = {}
        self._table: _Table | None = None

    def code(self, value: bytes) -> int:
        """Return the code of one value."""
        code = self._codes.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def codes(self, data: memoryview, starts: Any, lengths: Any) -> Any:
        """Codes (int32 array) of the ranges data[start : start + length]; -1 for a length of -1."""
        if not len(starts):
            return np.empty(0, np.int32)
        if lengths.max() < 0:
            return np.full(len(starts), -1, np.int32)
        code_ranges.count(len(starts))
        if not code_ranges.is_compiled:
            return self._one_by_one(data, starts, lengths)
        self._table = table = self._table or _Table()
        table.learn(self.values)
        found = table.codes(data, np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(lengths, np.int64))
        for value in table.values_from(len(self.values)):
            self.code(value)
        return found

    def taken_by(self, step: Step, first: int, longest: int) -> tuple[int, int]:
        """Let a kernel give codes itself, from its row `first` on, as long as all that it lacks is room.

        `longest` is the length up to which it may want a value to be taken. Returns what it returned at last.
        """
        self._table = table = self._table or _Table()
        table.learn(self.values)
        why = NO_ROOM
        while why == NO_ROOM:
            why, first = table.step(step, first, longest)
        for value in table.values_from(len(self.values)):
            self.code(value)
        return why, first

    def _one_by_one(self, data: memoryview, starts: Any, lengths: Any) -> Any:
        ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
        return np.array([self.code(bytes(data[at : at + size])) if size >= 0 else -1 for at, size in ranges], np.int32)


class _Table:
    """What the kernel looks values up in; grows by doubling."""

    def __init__(self) -> None:
        self.count = 0
        self._slots = np.full(64, -1, np.int32)
        self._known = np.zeros(1024, np.uint8)
        self._ends = np.zeros(32, np.int64)

    def learn(self, values: list[bytes]) -> None:
        """Take the values that were met elsewhere, in order."""
        if new := values[self.count :]:
            ends = np.cumsum([0, *(len(value) for value in new)], dtype=np.int64)
            self.codes(memoryview(b"".join(new)), ends[:-1], np.diff(ends))

    def values_from(self, code: int) -> list[bytes]:
        """Return the values of this code and those behind it."""
        ends = self._ends[code : self.count + 1].tolist()
        return [self._known[begin:end].tobytes() for begin, end in pairwise(ends)]

    def step(self, step: Step, first: int, longest: int) -> tuple[int, int]:
        """Call a kernel once, with room for a value of `longest` bytes; say why it stopped and where."""
        why, first, self.count = step(first, self._slots, self._known, self._ends, self.count)
        if why == NO_ROOM:
            self._make_room(longest)
        return why, first

    def codes(self, data: memoryview, starts: Any, lengths: Any) -> Any:
        """Codes of ranges; new values are taken."""
        view = code_ranges.view(data.toreadonly())  # one kind of buffer: the kernel is compiled for each
        found = np.empty(len(starts), np.int32)
        number, why = 0, NO_ROOM
        while why == NO_ROOM:
            why, number, self.count = code_ranges(
                view, starts, lengths, number, self._slots, code_ranges.room(self._known), self._ends, self.count, found
            )
            if why == NO_ROOM:
                self._make_room(int(lengths[number]))
        return found

    def _make_room(self, length: int) -> None:
        """Have room for one more value of that length, and some behind it; all slots are filled anew."""
        end = int(self._ends[self.count])
        self._known = with_length(self._known, end + length)
        if 2 * (self.count + 1) <= len(self._slots) and self.count + 2 <= len(self._ends):
            return
        known, ends, count = self._known, self._ends, self.count
        self._slots = np.full(2 * len(self._slots), -1, np.int32)
        self._ends, self._known, self.count = np.zeros(len(self._slots) // 2 + 2, np.int64), np.zeros_like(known), 0
        self.codes(known.data, ends[:count].copy(), np.diff(ends[: count + 1]))
