"""Whether a walk steps from header to header of a file, and the steps.

Pays      where the bytes between headers are not asked for, and are more than a system call costs; where a compiled
          kernel makes the calls; and where the page cache holds the file, which each call finds out anew.
Else      blocks are read. A walk goes from one road to the other wherever it stands: both look at a batch by
          `kernels.batches.walk_batches`, and what a step does not find at hand a block reads.
"""

from __future__ import annotations

import os
from typing import Any

from kafkatx.kernels.batches import CHECK_ALL, FULL, MORE_DATA
from kafkatx.kernels.stepping import address_of_preadv2, aimed, request_of, step_batches
from kafkatx.segments.resync import ExpectedNext
from kafkatx.sources.files import OpenFile, was_read

WORTH_A_STEP = 8 << 10
"""Bytes of a batch: copying fewer costs no more than a system call."""

Walked = tuple[int, int, int, ExpectedNext]


class Steps:
    """Steps in one file; `are_next` says whether the walk takes them or reads a block."""

    def __init__(self, file: OpenFile, check: int, bodies: bool) -> None:
        """Prepare steps for a walk that checks so much and asks for the bodies or not."""
        self._file, self._check = file, check
        self._request: Any = None
        self._can = not bodies and check != CHECK_ALL and file.descriptor >= 0 and address_of_preadv2() != 0
        self._pay = self._missed = self.are_next = False

    @property
    def are_cheap(self) -> bool:
        """Whether a compiled kernel makes the calls: from Python one costs as much as reading what it steps over."""
        return step_batches.is_compiled

    @property
    def may_come(self) -> bool:
        """Whether steps are taken as soon as batches turn out to be large."""
        return self._can and self.are_cheap

    def learn(self, rows: Any, left: int) -> None:
        """Look at batches (kernels.rows.BATCH) that were read, with `left` bytes behind them: so are those to come."""
        size = int(rows["size"].mean()) if self._can else 0
        self._pay = size >= WORTH_A_STEP
        if self._pay:
            step_batches.count(len(rows), left // size)

    def begin(self) -> bool:
        """Choose the road to take from here; a block comes first where a step found nothing at hand."""
        self.are_next = self._pay and self.are_cheap and not self._missed
        self._missed = False
        return self.are_next

    def walk(
        self, buffer: memoryview, position: int, stop: int, size: int, fit: ExpectedNext, seen: Any, out: Any
    ) -> Walked:
        """Fill `out` with the batches that begin in [position, stop) of a file of `size` bytes; `buffer` is used up.

        Returns rows, position of the next batch, why it stopped, what must follow.
        """
        if self._request is None:
            self._request = request_of(address_of_preadv2(), self._file.descriptor, os.RWF_NOWAIT)
        count, behind, why, last_offset, leader_epoch = step_batches(
            step_batches.view(buffer), aimed(self._request, buffer), position, stop, size, fit.last_offset,
            fit.offset_limit, fit.leader_epoch, self._check, seen, out, 0,
        )  # fmt: skip
        self._missed = why == MORE_DATA and behind < stop
        was_read(self._file.path, position, behind)
        why = MORE_DATA if why == FULL else why
        return count, behind, why, ExpectedNext(last_offset, fit.offset_limit, leader_epoch)
