"""How every transaction at hand ended, whatever told it: one table with provenance, for rules, timelines and tables.

Grain     one ended (or open) transaction. Its number says where it comes from: first all rows of
          `model.transactions`, then aborted data of which no row is at hand, then ends that logs alone show.
Builders  histories/endings.py (rows), data_endings.py (markers), log_endings.py (lines); each holds its decision
          table. They are asked once a model, in that order: who is told of by a row is not told of again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any

import numpy as np

from kafkatx.histories.endings import BY_LOGS, EndedBy, Endings, Protocol, Reason
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.corroboration import Corroboration
from kafkatx.histories.logs.fencings import Excluded, Fencing
from kafkatx.histories.logs.testimony import Testimony
from kafkatx.kernels.growing import Array
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict


class ToldBy(IntEnum):
    """What told of an end: the coordinator's rows, markers in the data, logs alone, or several (logs decided)."""

    rows = 0
    data = 1
    logs = 2
    several = 3


@dataclass(frozen=True, slots=True)
class LogEnding:
    """An end that logs tell of; times in milliseconds.

    `began` is when the transaction had begun at the latest (None: unknown), `at` its end or what shows it; `rows` are
    the lines that decide, `failures` what its client was answered; `takeover` where a new instance ended it; `excluded`
    what excludes a timeout where no takeover is at hand. `silent_since` is the client's last sign before, where its
    silence speaks for a timeout. Of a possible end a timeout and a new instance are each other's alternative.
    """

    name: str
    ended_by: EndedBy
    verdict: Verdict
    at: int
    rows: tuple[int, ...]
    began: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    client: ClientInstance | None = None
    failures: tuple[Failure, ...] = ()
    takeover: Fencing | None = None
    excluded: Excluded = Excluded.NOTHING
    silent_since: int | None = None
    told: Testimony | None = None


@dataclass(frozen=True, slots=True)
class TransactionEnds:
    """Arrays, a place an end: EndedBy, Verdict, Reason, Protocol; duration in ms and epoch of the data (-1 unknown).

    `by_operator` says that an operator wrote the marker (WriteTxnMarkers). `witnesses` are the events of logs beside
    the ends that rows and data tell. `spans` are the numbers of the spans that data tell, `logs` the ends that logs
    tell, both in the order of their numbers here.
    """

    ended_by: Any
    verdict: Any
    reason: Any
    protocol: Any
    duration_ms: Any
    data_epoch: Any
    by_operator: Any
    witnesses: Corroboration
    spans: Any
    logs: tuple[LogEnding, ...] = ()

    def __len__(self) -> int:
        """How many."""
        return len(self.ended_by)

    def rows(self) -> Endings:
        """Return the ends that rows tell, alone."""
        rows = slice(0, self.row_count)
        columns = (self.ended_by, self.verdict, self.reason, self.protocol, self.duration_ms, self.data_epoch)
        return Endings(*(column[rows] for column in columns))

    @property
    def row_count(self) -> int:
        """How many of them rows tell: the first ones."""
        return len(self.ended_by) - len(self.spans) - len(self.logs)

    def numbers(self, told_by: ToldBy) -> range:
        """Numbers of those that rows, data or logs tell; what logs added to them is no matter."""
        rows = self.row_count
        bounds = (0, rows, rows + len(self.spans), len(self.ended_by))
        return range(bounds[told_by], bounds[told_by + 1])

    def told_by(self, number: int) -> ToldBy:
        """What told of an end; several where logs decided who ended what rows or data tell."""
        if number >= self.row_count + len(self.spans):
            return ToldBy.logs
        if self.reason[number] in BY_LOGS:
            return ToldBy.several
        return ToldBy.rows if number < self.row_count else ToldBy.data

    def ended(self, by: EndedBy, told_by: ToldBy) -> Array:
        """Numbers of those that somebody ended, of those that rows, data or logs tell."""
        among = self.numbers(told_by)
        found: Array = np.flatnonzero(self.ended_by[among.start : among.stop] == by) + among.start
        return found

    def span(self, number: int) -> int:
        """Number of the span of an end that data tell."""
        return int(self.spans[number - self.row_count])

    def log(self, number: int) -> LogEnding:
        """An end that logs tell."""
        return self.logs[number - self.row_count - len(self.spans)]


def of_rows(ended: Endings, seen: Corroboration) -> TransactionEnds:
    """Return the table of what rows tell."""
    count = len(ended.ended_by)
    return TransactionEnds(
        ended.ended_by, ended.verdict, ended.reason, ended.protocol, ended.duration_ms, ended.data_epoch,
        np.broadcast_to(np.False_, count), seen, np.zeros(0, np.int64),
    )  # fmt: skip


def with_data(
    ends: TransactionEnds, ended: Endings, by_operator: Any, seen: Corroboration, spans: Array
) -> TransactionEnds:
    """Add the ends that data tell, with their spans and the events beside them."""
    if not len(spans):
        return ends
    return replace(
        _longer(ends, ended),
        by_operator=np.concatenate((ends.by_operator, by_operator)),
        witnesses=ends.witnesses.joined(seen),
        spans=spans,
    )


def with_logs(ends: TransactionEnds, logs: Sequence[LogEnding]) -> TransactionEnds:
    """Add the ends that logs alone tell."""
    if not logs:
        return ends
    count = len(logs)
    told = Endings(
        np.array([one.ended_by for one in logs], np.int8),
        np.array([one.verdict for one in logs], np.int8),
        np.full(count, Reason.none, np.int8),
        np.full(count, Protocol.unknown, np.int8),
        np.array([one.at - one.began if one.began is not None else -1 for one in logs], np.int64),
        np.array([-1 if one.producer_epoch is None else one.producer_epoch for one in logs], np.int32),
    )
    by_operator = np.concatenate((ends.by_operator, np.zeros(count, bool)))
    return replace(_longer(ends, told), by_operator=by_operator, logs=tuple(logs))


def _longer(ends: TransactionEnds, more: Endings) -> TransactionEnds:
    columns: dict[str, Any] = {}
    for name in ("ended_by", "verdict", "reason", "protocol", "duration_ms", "data_epoch"):
        column = getattr(ends, name)
        columns[name] = np.concatenate((column, getattr(more, name).astype(column.dtype)))
    return replace(ends, **columns)
