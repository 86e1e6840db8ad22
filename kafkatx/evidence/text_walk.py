"""A part of a text walked like a segment: rows chunk by chunk, and what ended or damaged it.

The readers of texts are imported when there is a text: they cost as much as the diagnosis of a small directory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from kafkatx.evidence.offset_coverage import Range
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.text.pages.part import PartKind, TextPart

if TYPE_CHECKING:
    from kafkatx.text.dump.rows import TextRows

ELIDED = "printed with lines or fields left out: what is not there may have been"
LAST_BYTES = 256
MAGIC = 2
TELLING = "states as a tool printed them: without offsets and times of their own, and nothing says what is missing"
TOLD = (PartKind.CONSOLE_STATES, PartKind.ADMIN_TRANSACTIONS)
CUT = "a piece of what the tool printed: what lies before and behind it is unknown"


@dataclass(slots=True)
class TextWalk:
    """Rows of what a tool printed of a log, and what is to be said of them."""

    file: OpenFile
    part: TextPart
    damage: list[Damage] = field(default_factory=list)
    is_elided: bool = False
    is_assumed: bool = False
    lost: list[Range] = field(default_factory=list)
    torn: bool = False
    preallocated: int = 0
    _next_offset: int = -1
    _next_position: int = -1

    def batches(self) -> Iterator[Rows]:
        """Batches (kernels.rows.BATCH) in the order printed."""
        return (rows for rows, _ in self.told())

    def told(self) -> Iterator[tuple[Rows, Rows]]:
        """Batches in the order printed, and those of them that say whose they are and what; the others only fill."""
        from kafkatx.text.dump.batches import batch_chunks

        for chunk in batch_chunks(self.file, self.part):
            self._note(chunk)
            self._compare(chunk)
            if len(chunk.rows):
                tell_magic(chunk.rows)
                yield chunk.rows, chunk.rows[chunk.is_telling]

    def states(self, names: Names) -> Iterator[tuple[Rows, Rows]]:
        """Batches and coordinator rows (kernels.rows.STATE) in the order printed."""
        from kafkatx.text.dump.states import state_chunks
        from kafkatx.text.tools.states import told_states

        chunks = told_states if self.part.kind in TOLD else state_chunks
        for batches, states in chunks(self.file, self.part, names):
            self._note(batches)
            self._note(states)
            self._compare(batches, needs_head=True)
            if len(batches.rows):
                yield batches.rows, states.rows

    def printed(self) -> Iterator[TextRows]:
        """Batches with the line of each."""
        from kafkatx.text.dump.batches import batch_chunks
        from kafkatx.text.tools.states import told_states

        if self.part.kind in TOLD:
            return (batches for batches, _ in told_states(self.file, self.part, Names()))
        return batch_chunks(self.file, self.part)

    @property
    def note(self) -> str | None:
        """What a reader must know of the part, None where it is whole."""
        if self.part.kind in TOLD:
            return TELLING
        if self.is_elided or self.part.is_elided:
            return ELIDED
        return None if self.part.is_whole else CUT

    @property
    def ends_open(self) -> bool:
        """Whether the log may have gone on behind the last row, by what the text itself shows.

        A page that begins with the tool's own heading is taken to show what the tool printed up to its last line,
        unless it stops in the middle of one or says by `...` that it goes on. Lines that it lacks in between show as
        offsets that are missing.
        """
        if self.is_assumed:
            return True
        if self.part.is_whole:
            return False
        begin = max(self.part.position, self.part.end - LAST_BYTES)
        tail = self.file.read(begin, self.part.end - begin).decode("utf-8", "replace").rstrip("`~> \t\r\n*/#")
        return self.part.kind in TOLD or self.part.named is None or tail.endswith(("...", "\u2026"))

    def _compare(self, chunk: TextRows, *, needs_head: bool = False) -> None:
        """Find what is missing between batches: of lines that are not all that the tool printed, any offset.

        Where one batch begins at the position at which the one before it ends, the cleaner took the offsets between.
        What lay before the first is lost to states (`needs_head`), while a log of data may begin anywhere.
        """
        if self.part.is_whole or self.part.kind in TOLD:
            return
        for row in chunk.rows:
            first, position = int(row["base_offset"]), int(row["position"])
            is_beginning = self._next_offset < 0 and (position == 0 or not needs_head)
            if first > self._next_offset and not is_beginning and not 0 <= self._next_position == position:
                self.lost.append((max(self._next_offset, self.part.base_offset, 0), first))
            elif self._next_position > position >= 0:  # a line of another log
                self.lost.append((first, int(row["last_offset"]) + 1))
            self._next_offset = int(row["last_offset"]) + 1
            self._next_position = position + int(row["size"]) if position >= 0 and row["size"] >= 0 else -1

    def _note(self, chunk: TextRows) -> None:
        self.damage.extend(chunk.damage)
        self.is_elided = self.is_elided or chunk.is_elided
        self.is_assumed = self.is_assumed or chunk.is_assumed
        self.lost.extend(chunk.left_out)


def tell_magic(rows: Rows) -> None:
    """Write the magic where it was left out: only format 2 has producers, sequences and control records."""
    is_modern = (rows["producer_id"] >= 0) | (rows["base_sequence"] >= 0) | (rows["control_type"] >= 0)
    rows["magic"] = np.where((rows["magic"] < 0) & is_modern, MAGIC, rows["magic"])
