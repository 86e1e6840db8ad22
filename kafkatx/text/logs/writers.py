"""Who wrote the lines of a log into which a tool has put several: each writer that it names is a source of its own.

Grain    a writer is a container, a pod, a service or a file, as the wrapper of its lines names it (wrappers.py); lines
         without such a name are those of one more. Only writers with events count: of one alone nothing is set apart.
Limits   what a writer is (a broker, which one) its own events tell, else the log as a whole.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np

from kafkatx.terms.events import Level, Side
from kafkatx.terms.records import dataclass
from kafkatx.text.events import LogSource
from kafkatx.text.logs.framing import Framed
from kafkatx.text.logs.meaning import side_of

UNKNOWN, BROKER = Side.unknown, Side.broker
"""Asked of each line: a member costs more where it is asked of its enumeration."""


@dataclass(slots=True)
class Writer:
    """What the events of one writer tell of it."""

    sides: dict[Side, int] = field(default_factory=dict)
    brokers: dict[int, int] = field(default_factory=dict)
    times: list[int] = field(default_factory=lambda: [-1, -1])
    lowest: int = int(Level.unknown)

    def meet(self, framed: Framed, at: int, side: Side, lines: int = 1) -> None:
        """Learn from a line, or some that are like it, the last one at a time."""
        if side is not UNKNOWN:
            self.sides[side] = self.sides.get(side, 0) + lines
        if side is BROKER and framed.context.broker_id >= 0:
            self.brokers[framed.context.broker_id] = self.brokers.get(framed.context.broker_id, 0) + lines
        if at >= 0:
            self.times = [self.times[0] if self.times[0] >= 0 else at, at]
        if framed.level >= 0:
            self.lowest = framed.level if self.lowest < 0 else min(self.lowest, framed.level)

    def of(self, whole: LogSource) -> LogSource:
        """The writer's own log within the whole one."""
        side = max(self.sides, key=lambda side: self.sides[side], default=whole.side)
        broker = max(self.brokers, key=lambda number: self.brokers[number], default=None)
        first, last = self.times
        return replace(whole, side=side, broker_id=broker, first_at=first, last_at=last, lowest_level=self.lowest)


class Writers:
    """Takes the lines of a log one by one and tells its writers apart."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._found: list[Writer] = []

    def number(self, framed: Framed, at: int, told: int, lines: int = 1) -> int:
        """Number of the writer of a line that is an event; `told` is the side that its text tells, below 0: none.

        `lines`: how many there are that differ in their time `at` only.
        """
        number = self._numbers.setdefault(framed.writer, len(self._found))
        if number == len(self._found):
            self._found.append(Writer())
        self._found[number].meet(framed, at, Side(told) if told >= 0 else side_of(framed), lines)
        return number

    @property
    def are_several(self) -> bool:
        """Whether several have been met, or one beside lines without a name."""
        return len(self._found) > 1

    def apart(self, events: Any) -> Any:
        """Events in the order of their writers, each as a source; as they are where one wrote all."""
        if not self.are_several:
            events["source"] = 0
            return events
        return events[np.argsort(events["source"], kind="stable")]

    def sources(self, whole: LogSource) -> list[LogSource]:
        """The log as its writers' logs, by number."""
        return [writer.of(whole) for writer in self._found] if self.are_several else [whole]
