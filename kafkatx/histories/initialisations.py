"""Why InitProducerId ran: each Empty row and tombstone of the coordinator, judged by the row before it.

Grain: the rows of a transactional.id; vectorised over all at once. Who ended the transaction before is taken from
histories/endings.py and never decided again.
Source  TransactionCoordinator.handleInitProducerId, prepareInitProducerIdTransit (0.11 to 4.4); KIP-98, KIP-360,
KIP-588.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, NOTHING, PREPARE_ABORT, TOMBSTONE
from kafkatx.terms.clocks import EXPIRATION_MS, PROMPT_RETRY_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict

EXHAUSTED_EPOCH = 32_766
"""InitProducerId at this epoch gives a new producer id (Short.MaxValue - 1, all releases)."""


class Why(IntEnum):
    """What made the coordinator write the row."""

    first_start = 0
    rows_before_missing = 1
    restart = 2
    takeover = 3
    after_timeout = 4
    own_bump = 5
    exhausted = 6
    back_after_expiry = 7
    new_producer_id = 8
    rows_between_missing = 9
    expired = 10


@dataclass(frozen=True, slots=True)
class Initialisations:
    """Arrays parallel to model.initialisations: Why and Verdict."""

    why: Any
    verdict: Any


def initialisations(model: CaptureModel) -> Initialisations:
    """Say of every row why it was written and how sure that is."""
    rows = model.initialisations
    preceding = _preceding(model)
    ended_by = np.where(preceding >= 0, model.ends.ended_by[preceding], -1) if len(model.transactions) else preceding
    before, same_id = rows["previous_state"], rows["producer_id"] == rows["previous_producer_id"]
    complete = (before == COMPLETE_COMMIT) | (before == COMPLETE_ABORT)
    known = before >= EMPTY
    unseen = before == NOTHING
    idle = rows["updated_at"] - rows["previous_updated_at"]
    returned = known & ~same_id & (idle >= EXPIRATION_MS) & (rows["producer_epoch"] == 0)
    step = rows["producer_epoch"].astype(np.int64) - rows["previous_epoch"]
    skipped = known & ((~complete & (before != EMPTY)) | (same_id & (step != 1) & (step != 0)))
    answers = [
        (rows["is_tombstone"] == 1, Why.expired, Verdict.likely),
        (unseen & (rows["producer_epoch"] > 0), Why.rows_before_missing, Verdict.proved),
        (unseen & _begins_at_zero(model), Why.first_start, Verdict.proved),
        (unseen, Why.first_start, Verdict.likely),
        (before == TOMBSTONE, Why.back_after_expiry, Verdict.proved),
        (known & ~same_id & (rows["previous_epoch"] >= EXHAUSTED_EPOCH), Why.exhausted, Verdict.proved),
        (returned, Why.back_after_expiry, Verdict.likely),
        (known & ~same_id, Why.new_producer_id, Verdict.possible),
        (skipped, Why.rows_between_missing, Verdict.likely),
        (ended_by == EndedBy.timeout, Why.after_timeout, Verdict.likely),
        (_is_own_bump(model, preceding, ended_by) | (known & same_id & (step == 0)), Why.own_bump, Verdict.likely),
    ]
    conditions = [answer[0] for answer in answers]
    why = np.select(conditions, [int(answer[1]) for answer in answers], int(Why.restart))
    verdict = np.select(conditions, [int(answer[2]) for answer in answers], int(Verdict.likely))
    took_over = (ended_by == EndedBy.new_instance) & ((why == Why.restart) | (why == Why.exhausted))
    why = np.where(took_over & (why == Why.restart), int(Why.takeover), why)
    verdict = np.where(
        why == Why.takeover, model.ends.verdict[preceding] if len(model.transactions) else verdict, verdict
    )
    return Initialisations(why, np.where(_is_witnessed(model, why, preceding), Verdict.proved, verdict))


def _is_witnessed(model: CaptureModel, why: Any, preceding: Any) -> Any:
    """Whether logs show what the rows leave open: the coordinator's rollback before, the client's own request."""
    if not len(model.transactions) or not len(model.ends.witnesses.rollback):
        return np.zeros(len(why), bool)
    rolled_back = (why == Why.after_timeout) & (model.ends.witnesses.rollback[preceding] >= 0)
    own = (why == Why.own_bump) & (model.ends.witnesses.own_bump[preceding] >= 0)
    return (preceding >= 0) & (rolled_back | own)


def _begins_at_zero(model: CaptureModel) -> Any:
    """Whether the coordinator's log of a row is at hand from its first offset on, with none missing."""
    log_extents = model.state_log_extents.items()
    whole = [code for code, log_extent in log_extents if log_extent.first_offset == 0 and log_extent.last_gap < 0]
    return np.isin(model.initialisations["state_partition"], whole)


def _is_own_bump(model: CaptureModel, preceding: Any, ended_by: Any) -> Any:
    """Whether the client raised its own epoch after its abort (KIP-360, classic): InitProducerId follows at once."""
    rows, t = model.initialisations, model.transactions
    if not len(t):
        return np.zeros(len(rows), bool)
    classic = model.ends.protocol[preceding] != Protocol.v2
    prompt = rows["timestamp"] - t["completion_timestamp"][preceding] <= PROMPT_RETRY_MS
    aborted = (preceding >= 0) & (ended_by == EndedBy.client) & (t["decision"][preceding] == PREPARE_ABORT)
    return aborted & classic & prompt


def _preceding(model: CaptureModel) -> Any:
    """Row of the transaction whose next row each one is, -1 for none."""
    rows, t = model.initialisations, model.transactions
    found = np.full(len(rows), -1, np.int64)
    for partition in distinct(rows["state_partition"]):
        mine = np.flatnonzero(t["state_partition"] == partition)
        ordered = mine[np.argsort(t["next_offset"][mine], kind="stable")]
        wanted = np.flatnonzero(rows["state_partition"] == partition)
        found[wanted] = _rows_at(t["next_offset"][ordered], ordered, rows["offset"][wanted])
    return found


def _rows_at(offsets: Array, numbers: Array, wanted: Array) -> Any:
    """The number that stands beside each wanted offset; -1 where the sorted `offsets` lack it."""
    if not len(offsets):
        return np.full(len(wanted), -1, np.int64)
    at = np.searchsorted(offsets, wanted).clip(max=len(offsets) - 1)
    return np.where(offsets[at] == wanted, numbers[at], -1)
