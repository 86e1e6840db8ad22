"""Runs of batches in a long dump, read at once by a kernel where the lines are as the tool prints them.

A reader of lines that stands at the line of a batch asks for the run that begins there, takes it in as a whole and goes
on behind it. What begins, ends or breaks a run it reads itself, so that only what is plain takes this way.
Limits  short texts are not worth what a kernel costs before it runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kafkatx.kernels.dumped_batches import (
    HAS_CAPITALS,
    HAS_CONTENTS,
    HAS_HORIZON,
    IS_DECODED,
    IS_DEEP,
    IS_UNTITLED,
    IS_VALID_EARLY,
    LACKS_COUNT,
    NUMBERS,
    REPEATS_BATCH,
    read_run,
)
from kafkatx.kernels.rows import BATCH
from kafkatx.segments.batches import Rows
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import HEAD, Readable, encoding_of

SHORT = 256 << 10
"""Bytes of a text that is not worth a kernel, even if it is kept."""
BYTES_OF_A_LINE = 350
"""Of the line of a batch, about: read in Python it costs two to three times what a kernel's rows do."""
GLANCE = 128 << 10
"""Bytes in which a line of a batch or record begins, however large records are that a run may hold."""
PIECE = 2 << 20
"""Bytes that are looked at in one go."""
ROWS = 1 << 14
FEWEST = 32
"""Batches below which a run is left to the reader of lines, which asks again that many batches later."""
_LINE = regex(rb"\n(?:baseOffset|\| offset): \d")


@dataclass(frozen=True, slots=True)
class Run:
    """Batches that follow one another: their rows, byte and line (from the first of the run) where each begins.

    `record_offsets` are those of the last record of each, `is_timed` tells whether its base_timestamp is known. `end`
    is the byte behind them, `line_count` how many lines they take; `data` holds them from its first byte on and is only
    valid until the next run.
    """

    rows: Rows
    positions: Rows
    lines: Rows
    record_offsets: Rows
    is_timed: Rows
    end: int
    line_count: int
    shape: int
    data: memoryview

    @property
    def begin(self) -> int:
        """Byte at which the first of them begins; `data` begins there, too."""
        return int(self.positions[0])

    def up_to(self, count: int) -> Run:
        """Return the first `count` of them, fewer than there are."""
        return replace(
            self, rows=self.rows[:count], positions=self.positions[:count], lines=self.lines[:count],
            record_offsets=self.record_offsets[:count], is_timed=self.is_timed[:count],
            end=int(self.positions[count]), line_count=int(self.lines[count]),
        )  # fmt: skip


def shape_of(
    text: str,
    *,
    capitals: bool,
    deep: bool,
    repeats: bool,
    contents: bool = False,
    decoded: bool = False,
    untitled: bool = False,
) -> int:
    """Return what the lines of a run must look like where its first batch has this line."""
    words = {
        HAS_HORIZON: " deleteHorizonMs: " in text,
        LACKS_COUNT: " count: " not in text,
        IS_VALID_EARLY: " isvalid: true size: " in text,
        HAS_CAPITALS: capitals,
        IS_DEEP: deep,
        REPEATS_BATCH: repeats,
        HAS_CONTENTS: contents,
        IS_DECODED: decoded,
        IS_UNTITLED: untitled,
    }
    return sum(bit for bit, is_so in words.items() if is_so)


class Runs:
    """Finds the runs of one text."""

    def __init__(self, file: Readable, end: int) -> None:
        """Look at a file up to byte `end`."""
        self._file, self._end = file, end
        self._rows, self._places = np.zeros(ROWS, BATCH), np.zeros((ROWS, 4), np.int64)
        self._numbers, self._left = np.zeros(NUMBERS, np.int64), 0
        self._buffer, self._is_worth_it = memoryview(b""), False

    def are_due(self) -> bool:
        """Whether enough batches were read line by line since the last time that there was no run."""
        self._left -= 1
        return self._left < 0

    def at(self, position: int, shape: int, last_offset: int, next_position: int) -> Iterator[Run]:
        """Yield the run whose first batch begins at byte `position`, piece by piece.

        `last_offset` is that of the batch before it, `next_position` where in the log that one ends.
        """
        self._left = FEWEST
        while (run := self._piece(position, shape, last_offset, next_position)) is not None:
            last = run.rows[-1]
            last_offset, next_position = int(last["last_offset"]), int(last["position"]) + int(last["size"])
            position = run.end
            yield run

    def _piece(self, position: int, shape: int, last_offset: int, next_position: int) -> Run | None:
        self._is_worth_it = self._is_worth_it or are_worth_it(self._reach(position))
        if not self._is_worth_it:
            return None
        data = self._filled(position)
        count, size, lines = read_run(
            read_run.view(data),
            0,
            len(data),
            shape,
            last_offset,
            next_position,
            self._rows,
            self._places,
            self._numbers,
        )
        if count < FEWEST:
            return None
        places = self._places[:count].copy()
        rows, (begins, line_numbers, record_offsets, is_timed) = self._rows[:count].copy(), places.T
        return Run(
            rows, begins + position, line_numbers, record_offsets, is_timed != 0, position + size, lines, shape, data
        )

    def _reach(self, position: int) -> int:
        """How many bytes of a dump lie ahead, half of them at least: glances twice as far each time."""
        reach = GLANCE
        while position + reach < self._end and _LINE.search(self._file.read(position + reach, GLANCE)):
            reach *= 2
        return min(reach, self._end - position)

    def _filled(self, position: int) -> memoryview:
        """Bytes from `position` on, in memory that is filled again and again: new memory costs as much as reading."""
        if not len(self._buffer):
            self._buffer = memoryview(bytearray(min(PIECE, self._end)))
        room = self._buffer[: max(0, self._end - position)]
        return room[: self._file.read_into(room, position)]


def are_worth_it(size: int) -> bool:
    """Whether a dump of some bytes is for kernels: it has lines enough, or they are loaded already."""
    read_run.count(0, size // BYTES_OF_A_LINE)
    return read_run.is_compiled


def runs_of(file: Readable, begin: int, end: int) -> Runs | None:
    """Return what finds the runs of a text; None where it is short, or no UTF-8 with ends of lines as Kafka writes."""
    encoding = encoding_of(file.read(0, HEAD)) if end - begin > SHORT else None
    return Runs(file, end) if encoding is not None and (encoding.unit, encoding.newline) == (1, b"\n") else None
