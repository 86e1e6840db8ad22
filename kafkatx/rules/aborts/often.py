"""How many transactions of an id its client aborted, and whether that is a share worth a warning."""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_ABORT, PREPARE_COMMIT

FEWEST_ENDED, FEWEST_ABORTED, SHARE_PERCENT, IN_A_ROW = 10, 5, 5, 3
"""From this many on a share of aborted transactions says something; fewer is chance, unless they come in a row."""


def is_often(model: CaptureModel, of_id: Array) -> bool:
    """Whether the id (its transactions, oldest first) aborted a share worth a warning, or several in a row."""
    decisions = model.transactions["decision"][of_id]
    by_client = model.ends.ended_by[of_id] == EndedBy.client
    aborted = (decisions == PREPARE_ABORT) & (by_client | (model.ends.reason[of_id] == Reason.no_bump_release))
    ended, count = ended_of(model, of_id), int(np.count_nonzero(aborted))
    if ended >= FEWEST_ENDED and count >= FEWEST_ABORTED and 100 * count > SHARE_PERCENT * ended:
        return True
    runs = np.convolve(aborted, np.ones(IN_A_ROW, np.int64), "valid") if len(aborted) >= IN_A_ROW else np.zeros(1)
    return bool((runs == IN_A_ROW).any())


def ended_of(model: CaptureModel, of_id: Array) -> int:
    """How many transactions of an id were decided, given those that are held."""
    decided = np.count_nonzero(model.transactions["decision"][of_id] >= PREPARE_COMMIT)
    return int(decided) + model.counted.of_id(int(model.transactions["id_code"][of_id[0]]))
