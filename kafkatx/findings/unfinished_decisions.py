"""Decided transactions that still wait for their markers, and who waits for them.

While an id stands in PrepareCommit or PrepareAbort its coordinator answers InitProducerId with CONCURRENT_TRANSACTIONS,
which clients ask again after, without a word, until max.block.ms is over (TransactionCoordinator.handleInitProducerId,
TransactionManager.InitProducerIdHandler, 0.11 to 4.3). What is printed then names neither the answer nor, where the
thread's own trace is all there is, the id.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import OLD_CLEANUP_INTERVAL_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.transaction_states import PREPARED
from kafkatx.words.evidence_refs import parts_of

IN_FLIGHT_MS = 10_000


def unfinished(model: CaptureModel) -> list[Array]:
    """The latest rows of all ids that wait for their markers."""
    decided = model.latest[np.isin(model.latest["state"], list(PREPARED))]
    return [latest for latest in decided if is_unfinished(model, latest)]


def is_unfinished(model: CaptureModel, latest: Array) -> bool:
    """Whether an id's latest row is a decision that is no longer in flight, or the last one that a page shows."""
    is_decided = int(latest["state"]) in PREPARED
    return is_decided and (decided_for_ms(model, latest) > IN_FLIGHT_MS or ends_a_page(model, latest))


def ends_a_page(model: CaptureModel, latest: Array) -> bool:
    """Whether somebody shows no row of the id behind the decision, which lasts milliseconds where all is well."""
    log_extent, row = model.state_log_extents[int(latest["state_partition"])], int(latest["transaction_row"])
    parts = parts_of(model, row) if row >= 0 else ()
    is_marked = len(parts) > 0 and all(part["status"] == Status.MARKED for part in parts)
    return log_extent.is_printed and not is_marked


def decided_for_ms(model: CaptureModel, latest: Array) -> int:
    """Time since the decision, up to where the coordinator's log is known to reach; none where nothing tells it."""
    if was_asked_for(latest):  # decided at the latest when its timeout was over and the coordinator looked
        return max(0, model.age_ms(int(latest["started_at"])) - int(latest["timeout_ms"]) - OLD_CLEANUP_INTERVAL_MS)
    if latest["timestamp"] < 0:
        return 0
    log_extent = model.state_log_extents[int(latest["state_partition"])]
    end = model.facts.evidence_end if model.is_latest_known(latest) else log_extent.newest
    return max(0, end - int(latest["timestamp"]))


def was_asked_for(latest: Array) -> bool:
    """Whether a coordinator was asked for it: such an answer has no time of update, and holds for the call."""
    return bool(latest["updated_at"] < 0 <= latest["started_at"])


def waits_for(model: CaptureModel, latest: Array) -> list[int]:
    """Rows of `logs` in which initTransactions gave up waiting for a decided transaction of its id."""
    rows = model.logs.of_kind(EventKind.await_timeout).tolist() if is_unfinished(model, latest) else []
    return [row for row in rows if _waited_for(model, row) == int(latest["id_code"])]


def is_kept_waiting(model: CaptureModel, row: int) -> bool:
    """Whether a call that gave up is initTransactions of an id whose last transaction waits for its markers."""
    return _waited_for(model, row) is not None


def _waited_for(model: CaptureModel, row: int) -> int | None:
    """Code of the id whose decided transaction a call waited for.

    A line without an id is about the one that a page shows as decided, if that is one alone: beside the rows of a
    whole partition it may be about any.
    """
    logs = model.logs
    if not (logs.string(row, "api") or "").startswith("InitProducerId"):
        return None
    name = logs.transactional_id(row)
    if name is not None:
        latest = model.latest_of(model.id_code(name))
        return int(latest["id_code"]) if latest is not None and is_unfinished(model, latest) else None
    found = unfinished(model)
    is_alone = len(found) == 1 and model.state_log_extents[int(found[0]["state_partition"])].is_printed
    return int(found[0]["id_code"]) if is_alone else None
