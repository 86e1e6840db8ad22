"""A producer's process that stood still in its transaction: a longer timeout only makes who takes over wait longer.

Its log is silent from before the abort until after it, then the same clients go on; in between the coordinator of a
group removed a consumer of the same log, since its heartbeats were missing, and nothing was written for so long after
that that a consumer which ran would have noticed (a removed member is told by its next heartbeat, and one whose
heartbeats get no answer notices by itself: `AbstractCoordinator.HeartbeatThread`, session.timeout.ms).
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.distinct import distinct
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Duration, Instant, Refs

NOTICED_MS = 5_000
"""A consumer that runs notices within that time that it was removed (heartbeat.interval.ms is 3 s by default)."""


@dataclass(frozen=True, slots=True)
class Stall:
    """A process that wrote nothing from `since` to `until`, as the lines around it and the removed member show."""

    since: Instant
    until: Instant
    lasted: Duration
    rows: Refs


def stalled(group: EndGroup) -> Stall | None:
    """When the process of the first transaction stood still, None where nothing shows it or it is one of several."""
    end = TransactionEnd(group.model, group.numbers[0])
    if len(group.numbers) > 1 or end.client is None or end.row["decided_at"] < 0:
        return None
    logs, source = group.model.logs, end.client.source
    skew = logs.clocks[source].skew_ms or 0
    gap = _silence(logs, source, int(end.row["decided_at"]) + skew)
    if gap is None or (end.client.until or 0) < gap[1]:
        return None
    before, after = gap
    removed = _removed(logs, source, before - skew, after - skew - NOTICED_MS)
    if removed is None:
        return None
    since = max(before - skew, _last_write(group.model, source, after - skew))
    rows = event_refs(group.model, (removed, _first_at(logs, source, after)))
    return Stall(Instant(since), Instant(after), Duration(after - skew - since), rows)


def _last_write(model: CaptureModel, source: int, before: int) -> int:
    """When the coordinator last wrote for a client of a log that a transaction began or grew, before a time."""
    mine = {given for client in model.logs.clients if client.source == source for given in client.producer_ids}
    t = model.transactions[np.isin(model.transactions["producer_id"], sorted(mine))]
    times = np.maximum(t["grown_at"], t["started_at"])
    return int(times[times < before].max(initial=-1))


def _silence(logs: LogModel, source: int, at: int) -> tuple[int, int] | None:
    """The last line of a log before a time, and the first one after it; None where one of them is missing."""
    times = np.sort(logs.times[(logs.events["source"] == source) & (logs.times >= 0)])
    place = int(np.searchsorted(times, at))
    return (int(times[place - 1]), int(times[place])) if 0 < place < len(times) else None


def _removed(logs: LogModel, source: int, since: int, until: int) -> int | None:
    """A line about a consumer of a log that its group's coordinator removed within a time."""
    consumers = {one.client_id for one in logs.clients if one.source == source} | _named_in(logs, source)
    rows: list[int] = logs.of_kind(EventKind.member_removed).tolist()
    for row in rows:
        member = logs.string(row, "detail") or ""
        if since <= logs.times[row] <= until and any(name and member.startswith(f"{name}-") for name in consumers):
            return row
    return None


def _named_in(logs: LogModel, source: int) -> set[str | None]:
    """The client.ids that a log names: a member's id begins with that of its consumer."""
    codes = distinct(logs.events["client_id_code"][logs.events["source"] == source]).tolist()
    return {logs.facts.strings[code] for code in codes if code >= 0}


def _first_at(logs: LogModel, source: int, at: int) -> int:
    return int(np.flatnonzero((logs.events["source"] == source) & (logs.times == at))[0])


STOOD_STILL = step(
    "The process of T1 stood still until {stall.until}, from {stall.since} at the latest ({stall.lasted})",
    "its group removed its consumer, and no client in its log noticed anything before {stall.until}",
    cites="stall.rows",
    needs="stall",
)
WHY_IT_STOOD_STILL = remedy(
    "No setting to change: its process stood still for {stall.lasted}. Find out why (a paused container or host, a "
    "long garbage collection). A longer timeout would not have saved the transaction, since its group had removed its "
    "consumer, and who takes its work over waits for that timeout",
    "operator",
    needs="stall",
)
