"""Who ended transactions of which the rows print no version: the dump tool of 4.0 leaves it out."""

import numpy as np
import pytest

from kafkatx.histories.endings import EndedBy, Protocol, endings
from kafkatx.kernels.rows import TRANSACTION
from kafkatx.kernels.transactions import NOTHING, PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.clocks import TRANSACTIONS_V2_SINCE_MS
from kafkatx.terms.verdicts import Verdict

COMMIT_UP, COMMIT_LEVEL, ABORT_UP = (PREPARE_COMMIT, 1), (PREPARE_COMMIT, 0), (PREPARE_ABORT, 1)


def transactions(*ids):
    """For each id its transactions in order: (decision, how far its epoch lies above that of the data)."""
    told = [(code, *entry) for code, entries in enumerate(ids) for entry in entries]
    rows = np.zeros(len(told), TRANSACTION)
    for name in rows.dtype.names:
        rows[name] = -1
    for number, (code, decision, step) in enumerate(told):
        at = 1_000_000 * (number + 1)
        rows[number]["id_code"], rows[number]["decision"] = code, decision
        rows[number]["begin_offset"], rows[number]["decision_offset"] = 10 * number, 10 * number + 1
        rows[number]["started_at"], rows[number]["decided_at"], rows[number]["timeout_ms"] = at, at + 2_000, 60_000
        rows[number]["producer_epoch"], rows[number]["decision_epoch"] = number, number + step
    rows["next_state"] = NOTHING
    return rows


def told(*ids):
    rows = transactions(*ids)
    return endings(rows, np.full(len(rows), -1), True)


def test_a_commit_one_epoch_up_tells_the_protocol_and_the_abort_beside_it_is_no_fence():
    found = told([COMMIT_UP, ABORT_UP, COMMIT_UP])
    assert found.protocol.tolist() == [Protocol.v2] * 3
    assert (found.ended_by[1], found.verdict[1]) == (EndedBy.client, Verdict.possible)


@pytest.mark.parametrize("history", [[ABORT_UP, COMMIT_UP], [COMMIT_UP, ABORT_UP, COMMIT_LEVEL]])
def test_an_abort_is_read_as_the_commit_before_it_else_as_the_one_after_it(history):
    found = told(history)
    assert found.protocol[history.index(ABORT_UP)] == Protocol.v2


def test_an_abort_behind_a_commit_at_its_own_epoch_stays_classic():
    found = told([COMMIT_UP, COMMIT_LEVEL, ABORT_UP], [COMMIT_UP])
    assert found.protocol.tolist() == [Protocol.v2, Protocol.classic, Protocol.classic, Protocol.v2]
    assert found.ended_by[2] == EndedBy.new_instance


def test_an_id_without_a_commit_is_not_judged_beside_ids_of_transactions_v2():
    found = told([COMMIT_UP], [ABORT_UP])
    assert (found.protocol[1], found.ended_by[1]) == (Protocol.unknown, EndedBy.unknown)


def test_where_no_commit_raises_the_epoch_nothing_changes():
    found = told([COMMIT_LEVEL, ABORT_UP], [ABORT_UP])
    assert found.protocol.tolist() == [Protocol.classic] * 3
    assert found.ended_by[1:].tolist() == [EndedBy.new_instance] * 2


@pytest.mark.parametrize(("shift", "verdict"), [(-1, Verdict.proved), (1, Verdict.likely)])
def test_a_timeout_that_may_be_a_late_abort_of_transactions_v2_is_not_proved(shift, verdict):
    rows = transactions([ABORT_UP])
    rows["decided_at"] = TRANSACTIONS_V2_SINCE_MS + shift
    rows["started_at"] = rows["decided_at"] - 67_000
    found = endings(rows, np.full(1, -1), True)
    assert (found.ended_by[0], found.verdict[0]) == (EndedBy.timeout, verdict)
    rows["begin_version"] = 0
    assert endings(rows, np.full(1, -1), True).verdict[0] == Verdict.proved
