"""Observers that stood still themselves: after a pause their requests look unanswered, while the other side went on."""

from __future__ import annotations

import numpy as np

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.observers import ConnectionFailure, Weight
from kafkatx.kernels.growing import Array

PAUSE_MS, MOMENT_MS = 5_000, 1_000
"""After a shorter wait nobody need have stood still; what lies this close to its ends is not inside it."""


def pauses(logs: LogModel, bursts: list[ConnectionFailure]) -> set[ConnectionFailure]:
    """What an observer claims who stood still himself: the other side went on, or others missed him too."""
    heard = _Heard(logs)
    paused = [burst for burst in bursts if _is_of_a_pause(heard, burst)]
    refuted = {
        burst
        for burst in paused
        if burst.node is not None and not heard.is_silent(heard.of_broker(burst.node), burst.earliest, burst.until)
    }
    claims: dict[str, list[ConnectionFailure]] = {}
    for burst in bursts if paused else ():
        if burst not in refuted and burst.weight is Weight.hard:
            claims.setdefault(f"broker {burst.node}", []).append(burst)
    missed = {
        burst
        for burst in paused
        if any(other.overlaps(burst.earliest, burst.until) for other in claims.get(burst.observer.name, ()))
    }
    return refuted | missed


class _Heard:
    """When sources and brokers told anything, each laid out once."""

    def __init__(self, logs: LogModel) -> None:
        self.logs = logs
        self.known: dict[tuple[int, ...], Array] = {}

    def is_silent(self, sources: tuple[int, ...], since: int, until: int) -> bool:
        """Whether these sources tell of nothing strictly inside a stretch."""
        if sources not in self.known:
            mine = np.isin(self.logs.events["source"], sources)
            self.known[sources] = np.sort(self.logs.times[mine])
        times = self.known[sources]
        inside = np.searchsorted(times, [since + MOMENT_MS, until - MOMENT_MS], "right")
        return bool(inside[0] >= inside[1])

    def of_broker(self, node: int) -> tuple[int, ...]:
        """The sources that a broker wrote."""
        return tuple(number for number, entry in enumerate(self.logs.facts.sources) if entry.broker_id == node)


def _is_of_a_pause(heard: _Heard, burst: ConnectionFailure) -> bool:
    """Whether requests had waited for long when they were given up, and the observer told nothing meanwhile."""
    first = int(heard.logs.times[list(burst.rows)].min())
    source = int(heard.logs.events["source"][burst.rows[0]])
    return first - burst.earliest >= PAUSE_MS and heard.is_silent((source,), burst.earliest, first)
