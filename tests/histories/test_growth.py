"""What a model of many transactions takes: bytes of a transaction, and work that is done once an id."""

import numpy as np

from kafkatx.histories import frameworks, transaction_partitions
from kafkatx.histories.build import build
from kafkatx.histories.capture_model import CaptureFacts, Labels, LogExtent
from kafkatx.histories.coordinator import CoordinatorHistory
from kafkatx.histories.partition_transactions import PartitionTransactions
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.rows import INITIALISATION, LATEST, ODDITY, SPAN, TRANSACTION
from kafkatx.kernels.spans import new_horizon
from tests.rules.log_told import rule
from tests.work import highest_bytes, lines_run

TRANSACTIONS = 100_000
PARTITIONS = 2
PRODUCERS = 64
BYTES_A_TRANSACTION = 400
"""Beside its own row and those of its spans."""


def history(count):
    """Committed transactions of some ids in turns; each lists both partitions."""
    rows = np.zeros(count, TRANSACTION)
    for name in TRANSACTION.names:
        rows[name] = -1
    number = np.arange(count)
    rows["id_code"] = number % PRODUCERS
    rows["producer_id"] = rows["completed_producer_id"] = 1_000 + number % PRODUCERS
    rows["producer_epoch"] = rows["decision_epoch"] = rows["completion_epoch"] = 0
    rows["started_at"] = rows["begin_timestamp"] = 1_000 * number
    rows["decided_at"] = rows["decision_timestamp"] = 1_000 * number + 100
    rows["completion_timestamp"], rows["timeout_ms"] = 1_000 * number + 300, 60_000
    rows["begin_offset"], rows["decision_offset"], rows["completion_offset"] = (
        3 * number,
        3 * number + 1,
        3 * number + 2,
    )
    rows["decision"], rows["partitions_code"], rows["state_partition"], rows["flags"] = 2, 0, 0, 0
    nothing = (np.zeros(0, dtype) for dtype in (INITIALISATION, ODDITY, LATEST))
    return CoordinatorHistory(0, rows, *nothing, 0, 3 * count, -1, 1_000 * count, 0, 3 * count)


def spans(count, code):
    """A span of one batch, ended by COMMIT, of each of the transactions."""
    rows, number = np.zeros(count, SPAN), np.arange(count)
    rows["producer_id"], rows["partition_code"] = 1_000 + number % PRODUCERS, code
    rows["first_offset"] = rows["last_offset"] = 2 * number
    rows["first_timestamp"] = rows["last_timestamp"] = 1_000 * number + 50
    rows["marker_offset"], rows["marker_timestamp"], rows["marker_kind"] = 2 * number + 1, 1_000 * number + 200, 1
    rows["previous_marker_offset"] = rows["previous_marker_timestamp"] = -1
    rows["records"] = rows["batches"] = 1
    return PartitionTransactions(rows, new_horizon()[0])


def told(made, *partitions):
    """The model of such transactions; they are made here if only their number is given."""
    coordinator = made if isinstance(made, CoordinatorHistory) else history(made)
    count = len(coordinator.transactions)
    labels = Labels([f"orders-{n}" for n in range(PRODUCERS)], [("orders", 0), ("orders", 1)], [(0, 1)])
    capture = CaptureFacts("c", None, "", 1, 1_000 * count, True)
    return build(capture, labels, [coordinator], list(partitions), {0: log_extent(0), 1: log_extent(1)}, {})


def log_extent(code):
    """A whole partition."""
    return LogExtent(
        code, "orders", code, 0, 1 << 40, 1 << 40, -1, 1, False, False, False, 0, 1 << 50, 1 << 50, 0, 0, 0, 0
    )


def test_the_transactions_made_here_are_matched_with_their_data():
    model = told(1_000, spans(1_000, 0), spans(1_000, 1))
    assert (model.parts.rows["status"] == Status.MARKED).all()
    assert model.parts.owner.tolist() == [*range(1_000), *range(1_000)]
    assert model.parts.of(7)["span"].tolist() == [7, 1_007]


def paired(transactions, rows, spans, tolerance_ms):
    """Stands for what matches: of these transactions each has one span in a partition, in the order of both."""
    order = np.lexsort((rows["transaction"], rows["partition_code"])).astype(np.int32)
    return np.argsort(order).astype(np.int32), np.argsort(order).astype(np.int32)


def test_a_story_takes_few_bytes_a_transaction_at_its_highest(monkeypatch):
    monkeypatch.setattr(transaction_partitions, "from_either_end", paired)

    def highest(count):
        made = [history(count), *(spans(count, code) for code in range(PARTITIONS))]
        return highest_bytes(lambda: told(*made))

    assert highest(2 * TRANSACTIONS) - highest(TRANSACTIONS) < BYTES_A_TRANSACTION * TRANSACTIONS


def test_a_framework_is_recognised_once_an_id(monkeypatch):
    model, asked = told(1_000, spans(1_000, 0), spans(1_000, 1)), []
    monkeypatch.setattr(frameworks, "recognise", asked.append)
    for _ in range(3):
        for name in model.labels.transactional_ids:
            frameworks.framework_of(model, name)
    assert len(asked) == PRODUCERS


def test_four_times_as_many_transactions_without_their_markers_are_four_times_the_work():
    def judged(count):
        model = told(count, spans(count, 0), spans(0, 1))
        return lines_run(lambda: list(rule("atomicity_violation")(model)))

    assert 0 < judged(400) < 5 * judged(100)
