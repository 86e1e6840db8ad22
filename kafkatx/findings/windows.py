"""Lines of a client, and those of its log that are nobody's (its application's), between two times."""

from __future__ import annotations

import numpy as np

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass

NO_FAILURE = (
    EventKind.produce_retry,
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.request_timed_out,
    EventKind.request_cancelled,
    EventKind.bootstrap_disconnected,
    EventKind.coordinator_found,
    EventKind.config_values,
)
"""What a client's network layer says at WARN of things that it tries again: no word of a lost transaction."""


class Windows:
    """The same; each client's lines are put in the order of their times once, however many transactions it lost."""

    def __init__(self, logs: LogModel) -> None:
        self.logs = logs
        loud = (logs.events["level"] >= Level.warn) & ~np.isin(logs.events["kind"], np.array(NO_FAILURE))
        self.loud: Array = loud
        nobodys = np.flatnonzero(logs.owners < 0)
        nobodys = nobodys[np.argsort(logs.events["source"][nobodys], kind="stable")]
        sources, starts = np.unique(logs.events["source"][nobodys], return_index=True)
        self.nobodys = dict(zip(sources.tolist(), np.split(nobodys, starts[1:]), strict=False))
        self.known: dict[int, _Lines] = {}

    def rows(self, client: ClientInstance, since: int, until: int) -> Array:
        """Row numbers of the lines, in order."""
        lines = self._lines(client)
        first, end = np.searchsorted(lines.times, since), np.searchsorted(lines.times, until, "right")
        return np.sort(lines.rows[first:end])

    def is_loud(self, client: ClientInstance, since: int, until: int) -> bool:
        """Whether a line among them is a warning that tells of a failure."""
        times = self._lines(client).loud_times
        return bool(np.searchsorted(times, since) < np.searchsorted(times, until, "right"))

    def _lines(self, client: ClientInstance) -> _Lines:
        if client.number not in self.known:
            mine = np.array(client.rows, np.int64)
            others = self.nobodys.get(client.source, mine[:0])
            rows = np.concatenate((mine[self.logs.owners[mine] == client.number], others))
            rows = rows[np.argsort(self.logs.times[rows], kind="stable")]
            times = self.logs.times[rows]
            self.known[client.number] = _Lines(rows, times, times[self.loud[rows]])
        return self.known[client.number]


@dataclass(frozen=True, slots=True)
class _Lines:
    """Rows and times of lines in the order of their times, and the times of the loud ones."""

    rows: Array
    times: Array
    loud_times: Array
