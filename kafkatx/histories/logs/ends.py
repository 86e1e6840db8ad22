"""Ends of transactions as events of logs are laid beside them: whose, when, and what came next.

Grain: ended transactions, of rows (`ends_of`) or of data alone (histories/data_endings.py); arrays over all at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import EMPTY, PREPARE_ABORT
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends to lay events beside: arrays of equal length, -1 where not known.

    `name` is the code of the transactional.id among the strings of the logs; `epoch` that of the data, `next_*` what
    the producer that comes next is given; `is_abort` whether it ended so. Times are milliseconds.
    """

    producer_id: Any
    epoch: Any
    name: Any
    started_at: Any
    decided_at: Any
    completed_at: Any
    next_producer_id: Any
    next_epoch: Any
    is_abort: Any


def ends_of(transactions: Array, data_epoch: Array, names: Array) -> Ends:
    """Return the ends of transactions that rows show; `names` are the codes of the ids in logs (see name_codes).

    Where the rows stop at the end, the epoch above it is what the next producer would be given.
    """
    t = transactions
    last = np.where(t["completion_epoch"] >= 0, t["completion_epoch"], t["decision_epoch"]).astype(np.int64)
    owner = np.where(t["completed_producer_id"] >= 0, t["completed_producer_id"], t["producer_id"])
    is_known = t["next_state"] == EMPTY
    return Ends(
        producer_id=t["producer_id"],
        epoch=data_epoch.astype(np.int64),
        name=names[t["id_code"]],
        started_at=np.where(t["started_at"] >= 0, t["started_at"], t["begin_timestamp"]),
        decided_at=np.select([t["decided_at"] >= 0, t["decision_timestamp"] >= 0],
                             [t["decided_at"], t["decision_timestamp"]], t["completion_timestamp"]),
        completed_at=np.maximum(t["decision_timestamp"], t["completion_timestamp"]),
        next_producer_id=np.where(is_known, t["next_producer_id"], owner),
        next_epoch=np.where(is_known, t["next_epoch"], np.where(last >= 0, last + 1, -1)),
        is_abort=t["decision"] == PREPARE_ABORT,
    )  # fmt: skip


def name_codes(logs: LogModel, names: list[str]) -> Array:
    """Code among the strings of the logs of each name, -1 for names that no line has; one more -1 behind."""
    codes = {text: code for code, text in enumerate(logs.facts.strings)}
    return np.array([*(codes.get(name, -1) for name in names), -1], np.int64)
