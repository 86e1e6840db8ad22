"""What brokers' logs say of ends: the coordinator's rollbacks and its silence, refused writes, the request log.

Source  TransactionCoordinator.onEndTransactionComplete ("Completed rollback ...", all releases), RequestChannel,
        ProducerAppendInfo.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.logs.asof_join import asof_join, nearest
from kafkatx.histories.logs.corroboration import EvidenceMatcher
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.events import EventKind, Side

ROLLBACK_SLACK_MS = 1_000
"""How long before the row its own line can be dated: both are the coordinator's clock."""
COMMITS = 1
"""`number` of an EndTxn request that commits."""


def rollbacks(matcher: EvidenceMatcher) -> None:
    """A line belongs to the last abort of its id that was decided before it and is not long over.

    Whoever takes the id over at once may have committed again within the slack.
    """
    rows, times = matcher.rows(EventKind.timeout_rollback)
    names = matcher.logs.events["transactional_id_code"][rows]
    tolerance = matcher.broker_tolerance[matcher.logs.events["source"][rows]]
    aborts = np.where(matcher.ends.is_abort, matcher.names, -1)
    last, _ = asof_join(aborts, names, matcher.ends.decided_at, times + ROLLBACK_SLACK_MS)
    fits = (last >= 0) & (times <= matcher.reached[last] + tolerance)
    matcher.note(matcher.found.rollback, last[fits], rows[fits])


def silence(matcher: EvidenceMatcher) -> None:
    """Ends within the coordinator's own log without a line: a broker that gave this id its epochs, and goes on.

    Where brokers are several, the one that granted the id before the end and after it is taken for its coordinator.
    """
    logs = matcher.logs
    rows, times = matcher.rows(EventKind.initialized)
    brokers = [number for number, source in enumerate(logs.facts.sources) if source.side == Side.broker]
    told = set(distinct(logs.events["source"][rows]).tolist())
    coordinators = [number for number in brokers if number in told]
    for number in coordinators:
        mine = logs.events["source"][rows] == number
        before, after = _named_around(matcher, logs.events["transactional_id_code"][rows[mine]], times[mine])
        covered = _covered(matcher, number, after)
        if len(coordinators) > 1:
            covered &= before & after
        matcher.found.is_silent[covered & (matcher.found.rollback < 0) & matcher.ends.is_abort] = True


def _covered(matcher: EvidenceMatcher, number: int, named_after: Any) -> Any:
    """Whether a log holds the time of each end: it goes on behind it, or names the same id once more."""
    source, shift = matcher.logs.facts.sources[number], matcher.logs.clocks[number].zone_ms + int(matcher.skew[number])
    first, last = source.first_at - shift, source.last_at - shift
    known = (source.first_at >= 0) & (matcher.ends.decided_at >= 0)
    return known & (first < matcher.ends.decided_at) & ((matcher.reached + BROKERS_TOLERANCE_MS < last) | named_after)


def _named_around(matcher: EvidenceMatcher, names: Array, times: Array) -> tuple[Any, Any]:
    """Whether a broker granted the id of each end before it, and whether again after it."""
    before, after = asof_join(names, matcher.names, times, matcher.ends.decided_at)
    return before >= 0, after >= 0


def stale_epochs(matcher: EvidenceMatcher) -> None:
    """Writes with an epoch that is over, as partition leaders log them."""
    rows, times = matcher.rows(EventKind.stale_epoch, EventKind.init_fenced)
    e = matcher.logs.events
    wanted = e["producer_id"][rows] * 65_536 + e["producer_epoch"][rows]
    known = (e["producer_id"][rows] >= 0) & (e["producer_epoch"][rows] >= 0)
    wanted = np.where(known, wanted, -1)
    last, _ = asof_join(matcher.keys, wanted, matcher.ends.decided_at, times + BROKERS_TOLERANCE_MS)
    matcher.note(matcher.found.refusal, last[last >= 0], rows[last >= 0])


def requests(matcher: EvidenceMatcher) -> None:
    """The request log prints a request when it was answered: just after the row it made."""
    logs, found = matcher.logs, matcher.found
    rows, times = matcher.rows(EventKind.request_seen)
    if not len(rows):
        return
    e = logs.events[rows]
    names = e["transactional_id_code"]
    apis = np.array([logs.string(row, "api") or "" for row in rows.tolist()])
    granted = np.array([logs.string(row, "error") in (None, "NONE") for row in rows.tolist()])
    ends, begins = apis == "EndTxn", apis == "InitProducerId"
    near, of_abort = (
        nearest(keys, names, matcher.ends.decided_at, times)
        for keys in (matcher.names, np.where(matcher.ends.is_abort, matcher.names, -1))
    )
    ended = _is_abort_at(matcher, near, times) & ends & granted & (e["number"] != COMMITS)
    begun = _is_abort_at(matcher, of_abort, times) & begins
    matcher.note(found.end_request, near[ended], rows[ended])
    matcher.note(found.init_request, of_abort[begun], rows[begun])
    alone = (found.init_request >= 0) & (found.end_request < 0)
    found.is_init_alone[alone & np.isin(matcher.ends.name, names[ends & (names >= 0)])] = True


def _is_abort_at(matcher: EvidenceMatcher, ends: Array, times: Array) -> Any:
    """Whether an end is there, an abort, and of that time."""
    near = np.abs(times - matcher.ends.decided_at[ends]) <= BROKERS_TOLERANCE_MS
    return (ends >= 0) & matcher.ends.is_abort[ends] & near
