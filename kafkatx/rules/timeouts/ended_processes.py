"""A producer's process that probably ended in the middle of its transaction: no timeout is too short for that.

Its client wrote no line, met no failure and was not closed from some time of the transaction on, and from then on a
client that takes its place does: of the same name, or of one that differs in the UUID of a process alone. Nor does a
client that lived beside it in the same log write a line, and no line that names nobody may be theirs. A process that
only stood still would go on, and be refused.

Look-alikes  another producer of the same process: it has a name of its own, and the first one's silence is that of any
             producer at INFO. Since a producer may also be made anew by a process that goes on, it is never more than
             probable.
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.line_owners import OPENING
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.catalogue.random_ids import shape_of
from kafkatx.terms.events import Side
from kafkatx.words.explanation import remedy, step


def restarted(group: EndGroup) -> ClientInstance | None:
    """The first client of the process that followed, where one transaction timed out since its own had ended."""
    return _successor(group.model, TransactionEnd(group.model, group.numbers[0])) if len(group.numbers) == 1 else None


def _successor(model: CaptureModel, end: TransactionEnd) -> ClientInstance | None:
    client, logs = end.client, model.logs
    if client is None or client.until is None or client.closed_at is not None or client.failures:
        return None
    skew = logs.clocks[client.source].skew_ms or 0
    here = [one for one in logs.clients if one.source == client.source and one.since is not None]
    after = [one for one in here if one.has_start and (one.since or 0) > (client.until or 0)]
    first = min(after, key=lambda one: one.since or 0, default=None)
    if first is None or first.since is None or first.since - skew > int(end.row["decided_at"]):
        return None
    before = [one for one in here if (one.since or 0) < first.since and (one.has_start or not one.is_consumer)]
    is_left = all((one.until or 0) < first.since for one in before) and not _has_nobodys(logs, client.source, first)
    return first if is_left and any(_takes_the_place(one, client) for one in after) else None


def _takes_the_place(later: ClientInstance, client: ClientInstance) -> bool:
    """Whether a client has the name of another one, but for the UUID of its process."""
    pairs = ((later.transactional_id, client.transactional_id), (later.client_id, client.client_id))
    return any(one is not None and two is not None and shape_of(one) == shape_of(two) for one, two in pairs)


def _has_nobodys(logs: LogModel, source: int, first: ClientInstance) -> bool:
    """Whether a line from the first client on is known to be of no client: it may be of one from before."""
    e = logs.events
    later = (e["source"] == source) & (e["side"] == Side.client) & (logs.owners < 0) & ~np.isin(e["kind"], OPENING)
    return bool(later[first.rows[0] :].any())


BREAKS_OFF = step(
    "The log of T1's client breaks off in the transaction, and a client in its place is made at {restarted_at}",
    "no line of a client from before comes later",
    cites="restarted",
)
ITS_PROCESS = remedy(
    "Find out why its process ended in the transaction (a kill, a crash, out of memory), as its log shows it: no "
    "timeout is long enough for that. If it did not end, raise transaction.timeout.ms above its longest transaction",
    "operator",
    needs="restarted_at",
)
"""What to do where probably no timeout could have been long enough."""
