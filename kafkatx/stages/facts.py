"""What is told between the stages: facts of a capture, each of one partition, one log, or the capture itself.

Stage one reads: plans, snapshots, what stretches of files told, blocks of rows, logs. Stage two folds partitions, so
that models come of them. Stage three judges captures. Where the stages run in one process a fact holds its content as
it is; on the way from one process to another, and in a file, it is bytes (stages/fact_batches.py).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass

LAYOUT = 7
"""Number of what facts consist of (stages/fact_types.py) as they are written; 1 had none."""
READABLE = frozenset({7})
"""Layouts that are read: those from 7 on stay in it (tests/stages/stored). An export of another is refused by it."""
OF_CAPTURE, NO_CAPTURE = -1, -1
"""`number` of what is about a capture as a whole; `capture` of what is about all of them."""


class FactsError(UsageError):
    """Bytes that should be facts and are none of this release; the text says what is wrong with them."""


class FactKind(IntEnum):
    """What a fact is; of one partition or capture they come in this order.

    PLAN: what is known before reading: a Head, a Capture, or a PartitionPlan. SNAPSHOT: the entries of a .snapshot,
    or of another small file beside the log.
    TOLD: what a stretch, or a text, told beside its rows. BLOCK: rows. LOG: a log or a file of settings.
    STORY: what a partition, or a capture, comes to; SPANS the same of a partition of data. INTERVALS: what that is
    joined to, JOINED: what comes of it (stages/joined_partitions.py); SAID: what it says before all partitions come
    (stages/counting.py).
    PLACED, HIDDEN: what is read of files in the end (stages/placed.py).
    MISSING: a file that a machine of the engine could not open, told beside all captures.
    """

    PLAN = 0
    SNAPSHOT = 1
    TOLD = 2
    BLOCK = 3
    SAID = 4
    LOG = 5
    STORY = 6
    INTERVALS = 7
    PLACED = 8
    HIDDEN = 9
    MISSING = 10
    SPANS = 11
    JOINED = 12


MADE = frozenset({FactKind.SAID, FactKind.STORY, FactKind.INTERVALS, FactKind.MISSING, FactKind.SPANS, FactKind.JOINED})
"""What later stages make: pickled, on its way in one run, and never read from a file."""
READ = frozenset(FactKind) - MADE
"""What stage one reads: encoded by stages/codec.py, so that it may lie in a file."""
FOLDED = READ - {FactKind.PLACED, FactKind.HIDDEN}
"""What stages two and three are given of it."""


@dataclass(frozen=True, slots=True)
class CaptureFact:
    """One fact: what it is about, what it is, and its content, as it is or as the bytes that stand for it.

    `at` is the offset that a block begins at; `file` and `begin` say of which stretch of which file it is.
    """

    capture: int
    number: int
    rank: FactKind
    content: Any
    at: int = 0
    file: int = 0
    begin: int = 0

    @property
    def subject(self) -> tuple[int, int]:
        """Which partition or log of which capture."""
        return self.capture, self.number

    def says(self, declared: Any) -> Any:
        """Return its content; raises FactsError where bytes are not what is `declared` (stages/fact_types.py)."""
        if not isinstance(self.content, bytes):
            return self.content
        from kafkatx.stages.blocks import unpacked  # loaded where there are bytes: Arrow and codecs come with them
        from kafkatx.stages.codec import decode

        return unpacked(self.content) if self.rank in MADE else decode(self.content, declared)

    @property
    def payload(self) -> bytes:
        """The bytes that stand for its content."""
        if isinstance(self.content, bytes):
            return self.content
        from kafkatx.stages.blocks import packed
        from kafkatx.stages.codec import encode

        return packed(self.content) if self.rank in MADE else encode(self.content)
