"""What a broker's own logs say of a time in which others could not reach it.

Grain: one broker. Its lines are laid out once, so that thousands of absences can ask.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CLUSTER_METADATA

MOMENT_MS = 1_000
"""Lines this close to either end of a stretch don't show that its broker went on."""


class OwnLog(StrEnum):
    """How a broker's own log lies to an absence."""

    NONE = ""
    STOPS = "stops"
    ENDS = "ends"
    STOOD_STILL = "stood still"
    HARD_STOP = "hard stop"
    GOES_ON = "goes on"
    ORDERLY = "orderly"


@dataclass(frozen=True, slots=True)
class _Told:
    """Times of a broker's events, sorted: all, stops, recoveries, and when it was there again; `last` of its lines."""

    times: Array
    stops: Array
    recoveries: Array
    returns: Array
    last: int


class OwnLogs:
    """The brokers' own logs of a model, by broker."""

    def __init__(self, logs: LogModel) -> None:
        self.logs = logs
        self.known: dict[int, _Told] = {}
        sources = logs.facts.sources
        self.brokers = np.array([-1 if entry.broker_id is None else entry.broker_id for entry in sources] or [-1])

    def state(self, node: int, since: int, until: int) -> OwnLog:
        """What the log of a broker says of a stretch: nothing at hand, silence, its end, a stop, or that it went on."""
        told = self._told(node)
        if not len(told.times):
            return OwnLog.NONE
        if _any_between(told.stops, since - CLIENT_TOLERANCE_MS, since + CLIENT_TOLERANCE_MS):
            return OwnLog.ORDERLY
        back = self.back(node, until)
        if _any_between(told.recoveries, since + 1, (until if back is None else back) + CLIENT_TOLERANCE_MS):
            return OwnLog.HARD_STOP
        if 0 <= told.last <= since + CLIENT_TOLERANCE_MS:
            return OwnLog.ENDS
        goes_on = _any_between(told.times, since + MOMENT_MS + 1, until - MOMENT_MS - 1)
        return OwnLog.GOES_ON if goes_on else OwnLog.STOPS

    def back(self, node: int, time: int) -> int | None:
        """When a broker was there again after a time, as its own log or a controller's tells."""
        returns = self._told(node).returns
        at = int(np.searchsorted(returns, time))
        return int(returns[at]) if at < len(returns) else None

    def ends(self, sources: list[int]) -> int:
        """When the last of these logs ends, -1 where nothing tells."""
        return max((self._end(source) for source in sources), default=-1)

    def source(self, row: int) -> int:
        """The log that a line stands in."""
        return int(self.logs.events["source"][row])

    def _end(self, source: int) -> int:
        entry = self.logs.facts.sources[source]
        return entry.last_at - self.logs.clocks[source].zone_ms if entry.last_at >= 0 else -1

    def _told(self, node: int) -> _Told:
        if node not in self.known:
            mine = [number for number, broker in enumerate(self.brokers.tolist()) if broker == node]
            rows = np.flatnonzero(np.isin(self.logs.events["source"], mine) & (self.logs.times >= 0))
            self.known[node] = _Told(
                np.sort(self.logs.times[rows]),
                self._times(rows, EventKind.broker_stopping, EventKind.broker_stopped),
                self._times(rows[~self._of_metadata(rows)], EventKind.unclean_start),
                self._returns(node),
                self.ends(mine),
            )
        return self.known[node]

    def _of_metadata(self, rows: Array) -> Array:
        """Which lines are about the metadata log: KRaft recovers it at every start, after an orderly stop too."""
        strings = self.logs.facts.strings
        known = np.array([code for code, string in enumerate(strings) if string == CLUSTER_METADATA], np.int64)
        mine: Array = np.isin(self.logs.events["topic_code"][rows], known)
        return mine

    def _times(self, rows: Array, *kinds: EventKind) -> Array:
        return np.sort(self.logs.times[rows[np.isin(self.logs.events["kind"][rows], kinds)]])

    def _returns(self, node: int) -> Array:
        rows = self.logs.of_kind(EventKind.broker_started, EventKind.broker_unfenced)
        events, times = self.logs.events[rows], self.logs.times[rows]
        who = np.where(events["node"] >= 0, events["node"], self.brokers[events["source"]])
        return np.sort(times[(who == node) & (times >= 0)])


def _any_between(times: Array, first: int, last: int) -> bool:
    """Whether a sorted array has a time in a closed stretch."""
    return bool(np.searchsorted(times, first) < np.searchsorted(times, last, "right"))
