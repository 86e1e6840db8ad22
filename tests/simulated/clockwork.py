"""Runs processes in order of time: a process is a generator that yields the milliseconds it waits."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

Process = Iterator[int]


class Clockwork:
    """`now` is true time in milliseconds; nobody in a cluster can read it but through a clock of its own."""

    def __init__(self, now: int) -> None:
        self.now = now
        self._due: list[tuple[int, int, Process]] = []
        self._numbers = count()

    def spawn(self, process: Process, after: int = 0) -> None:
        """Start a process in a while."""
        heapq.heappush(self._due, (self.now + after, next(self._numbers), process))

    def run(self, until: int) -> None:
        """Let time pass; what is not over then goes on with the next call."""
        while self._due and self._due[0][0] <= until:
            self.now, _, process = heapq.heappop(self._due)
            wait = next(process, None)
            if wait is not None:
                self.spawn(process, max(wait, 0))
        self.now = max(self.now, until)
