"""The transactions of the skewed case, and the incidents planted among them; times only, no bytes.

One producer id, the *hot* one, writes to `orders-0` without rest: each round is one transaction of it, of some
hundred batches. In each round other ids end transactions of two batches: the first of them in `orders-0`, between the
batches of the hot one, the others in turn in the other partitions. All of these are healthy.

Planted, each by an id of its own except the last:
- *timed_out* leaves a transaction open in `orders-0` for longer than its timeout: PrepareAbort one epoch up;
- *fenced* is initialised again in the middle of a transaction in `orders-3`: rolled back one epoch up, then epoch 2;
- *hanging* writes one more batch to `orders-5` after its transaction has ended: nobody will end it;
- the hot producer aborts one of its transactions as its application asked.
"""

from dataclasses import dataclass

import numpy as np

from tests.benchmarks.layouts import Array

STARTED_AT = 1_700_000_000_000
PARTITIONS = 8
STATE_PARTITIONS = 50
HOT = 0
BATCH_MS, MARGIN_MS = 4, 10
TIMEOUT_MS = 60_000
"""transaction.timeout.ms, as it stands in the recorded rows."""
TIMEOUT_SCAN_MS = 10_000
"""transaction.abort.timed.out.transaction.cleanup.interval.ms."""
OTHER_BATCHES = 2
PLANTED_IDS = 3

TRANSACTION = np.dtype(
    [
        ("writer", "i4"),
        ("partition", "i4"),
        ("batches", "i4"),
        ("epoch", "i2"),
        ("end_epoch", "i2"),
        ("is_aborted", "?"),
        ("begun_at", "i8"),
        ("prepare_at", "i8"),
    ]
)
"""`writer` is the number of the id, HOT first; the marker is written 2 ms after `prepare_at`."""
INITIALISATION = np.dtype([("writer", "i4"), ("epoch", "i2"), ("at", "i8")])
STRAY = np.dtype([("writer", "i4"), ("partition", "i4"), ("epoch", "i2"), ("at", "i8")])


@dataclass(frozen=True, slots=True)
class Shape:
    """How much of everything; the whole case by default."""

    rounds: int = 20_000
    """Transactions of the hot producer."""
    batches: int = 250
    """Data batches of each."""
    others: int = 10
    """Transactions of other ids in a round."""
    ids: int = 100_000
    """Other ids; they take turns, twice each."""
    state_partition: int | None = None
    """The one partition of `__transaction_state` that all ids belong to; None: where their names put them."""
    is_compacted: bool = False
    """Of the older four fifths of `__transaction_state` only the last row of each id is left."""
    segment_bytes: int = 1 << 30

    @property
    def round_ms(self) -> int:
        """How long a transaction of the hot producer takes, and a moment."""
        return self.batches * BATCH_MS + 4 * MARGIN_MS

    @property
    def writers(self) -> int:
        """All ids: the hot one, the others, those of the incidents."""
        return 1 + self.ids + PLANTED_IDS

    @property
    def timed_out(self) -> int:
        """The writer whose transaction times out."""
        return self.ids + 1

    @property
    def fenced(self) -> int:
        """The writer that is initialised again by a second instance."""
        return self.ids + 2

    @property
    def hanging(self) -> int:
        """The writer of the late batch."""
        return self.ids + 3


def whole(share: int = 1) -> Shape:
    """Five million batches of one producer id beside 100,000 ids; a `share`th of both."""
    return Shape(rounds=20_000 // share, ids=100_000 // share)


def giant_state(share: int = 1) -> Shape:
    """Two million transactions of 100,000 ids whose six million rows lie in one partition of the coordinator's log."""
    return Shape(rounds=20_000 // share, ids=100_000 // share, batches=2, others=100, state_partition=7)


def transactions(shape: Shape) -> Array:
    """All transactions, planted ones last."""
    return np.concatenate([_hot(shape), _others(shape), _planted(shape)])


def initialisations(shape: Shape, all_of_them: Array) -> Array:
    """The first of each id, 2 ms before its first transaction, and the one that fences."""
    _, first = np.unique(all_of_them["writer"], return_index=True)
    rows = np.zeros(len(first), dtype=INITIALISATION)
    rows["writer"], rows["at"] = all_of_them["writer"][first], all_of_them["begun_at"][first] - 2
    fencing = all_of_them[(all_of_them["writer"] == shape.fenced) & (all_of_them["epoch"] == 2)]
    again = np.zeros(1, dtype=INITIALISATION)
    again["writer"], again["epoch"], again["at"] = shape.fenced, 2, fencing["begun_at"] - MARGIN_MS
    return np.concatenate([rows, again])


def stray(shape: Shape, all_of_them: Array) -> Array:
    """The late batch, a second after the transaction it belongs to has ended."""
    ended = all_of_them[all_of_them["writer"] == shape.hanging]
    rows = np.zeros(1, dtype=STRAY)
    rows["writer"], rows["partition"], rows["at"] = shape.hanging, ended["partition"], ended["prepare_at"] + 1000
    return rows


def _hot(shape: Shape) -> Array:
    rows = np.zeros(shape.rounds, dtype=TRANSACTION)
    rows["writer"], rows["batches"] = HOT, shape.batches
    rows["begun_at"] = _round_at(shape, np.arange(shape.rounds))
    rows["prepare_at"] = rows["begun_at"] + shape.round_ms - 2 * MARGIN_MS
    rows["is_aborted"][shape.rounds // 3] = True
    return rows


def _others(shape: Shape) -> Array:
    count = shape.rounds * shape.others
    number = np.arange(count)
    rows = np.zeros(count, dtype=TRANSACTION)
    turn = number % shape.others
    rows["writer"], rows["batches"] = 1 + number % shape.ids, OTHER_BATCHES
    rows["partition"] = np.where(turn == 0, 0, 1 + number % (PARTITIONS - 1))
    rows["begun_at"] = (
        _round_at(shape, number // shape.others) + turn * (shape.round_ms - 4 * MARGIN_MS) // shape.others
    )
    rows["prepare_at"] = rows["begun_at"] + OTHER_BATCHES * BATCH_MS + MARGIN_MS
    return rows


def _planted(shape: Shape) -> Array:
    """The timed out one, the fenced one and the one after it, the one that a late batch follows."""
    rows = np.zeros(4, dtype=TRANSACTION)
    rows["writer"] = shape.timed_out, shape.fenced, shape.fenced, shape.hanging
    rows["partition"], rows["batches"] = (0, 3, 3, 5), OTHER_BATCHES
    rows["epoch"], rows["end_epoch"] = (0, 0, 2, 0), (1, 1, 2, 0)
    rows["is_aborted"] = True, True, False, False
    quarter = _round_at(shape, np.array([1, 2, 2, 3]) * shape.rounds // 4) + 1
    rows["begun_at"] = quarter + np.array([0, 0, 1100, 0])
    rows["prepare_at"] = rows["begun_at"] + np.array([TIMEOUT_MS + TIMEOUT_SCAN_MS // 2, 1000, 500, 500])
    return rows


def _round_at(shape: Shape, number: Array) -> Array:
    return STARTED_AT + 1000 + number * shape.round_ms
