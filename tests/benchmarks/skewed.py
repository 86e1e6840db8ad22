"""Writes the skewed case: recorded batches stamped into `orders-0` to `orders-7`, and `__transaction_state` to match.

What happens is told in `skewed_transactions`; here it becomes rows of logs in the order of time, then bytes.
"""

from pathlib import Path

import numpy as np

from tests.benchmarks import recorded, skewed_transactions, transactional_ids
from tests.benchmarks.data_directory import Partition, finish, uuid_text
from tests.benchmarks.layouts import ABORT, ABORTED_TXN, COMMIT, PRODUCER_STATE, Array
from tests.benchmarks.recorded import Template, Templates, stamped
from tests.benchmarks.skewed_transactions import BATCH_MS, PARTITIONS, STATE_PARTITIONS, Shape
from tests.benchmarks.state_log import COMPLETE_COMMIT, EMPTY, ONGOING, PREPARE_COMMIT

SEED = 20231114
FIRST_PRODUCER_ID = 1000
STATE_SEGMENT_BYTES = 104_857_600
CLEANED = 0.8
"""Share of a compacted state partition's offsets that the cleaner went over."""

DATA_ROW = np.dtype(
    [
        ("template", "i1"),
        ("at", "i8"),
        ("producer_id", "i8"),
        ("producer_epoch", "i2"),
        ("kind", "i2"),
        ("base_offset", "i8"),
        ("base_sequence", "i4"),
    ]
)
STATE_ROW = np.dtype(
    [
        ("template", "i1"),
        ("at", "i8"),
        ("base_offset", "i8"),
        ("transactional_id", f"S{len(recorded.TRANSACTIONAL_ID)}"),
        ("owner", "i8"),
        ("owner_epoch", "i2"),
        ("state", "i1"),
        ("partition", "i4"),
        ("updated_at", "i8"),
        ("started_at", "i8"),
    ]
)
EMPTY_ROW, WITH_PARTITION, COMPLETE_ROW = range(3)


def write(directory: Path, shape: Shape) -> Path:
    """Write a data directory of this shape."""
    made_of = recorded.templates()
    transactions = skewed_transactions.transactions(shape)
    data = [_data_partition(directory, shape, made_of, transactions, number) for number in range(PARTITIONS)]
    rows, home = _state_rows(shape, transactions)
    states = [
        _state_partition(directory, shape, made_of, rows[home == number], number) for number in range(STATE_PARTITIONS)
    ]
    finish(directory, [*data, *(partition for partition, _ in states)], SEED)
    cleaned = [(partition.name.rpartition("-"), end) for partition, end in states if end]
    lines = [f"{topic} {number} {end}" for (topic, _, number), end in cleaned]
    (directory / "cleaner-offset-checkpoint").write_text("\n".join(["0", str(len(lines)), *lines, ""]))
    return directory


def _data_partition(directory: Path, shape: Shape, made_of: Templates, transactions: Array, number: int) -> Partition:
    here = transactions[transactions["partition"] == number]
    late = skewed_transactions.stray(shape, transactions)
    rows, of_transaction = _data_rows(made_of, here, late[late["partition"] == number])
    aborted = _aborted(rows, of_transaction, here)
    partition = Partition(directory, f"{recorded.TOPIC}-{number}", shape.segment_bytes)
    for raw, starts in stamped((*made_of.data, made_of.marker), rows):
        partition.append_batches(raw, starts, aborted)
    snapshot = _producer_states(made_of, rows)
    partition.close(uuid_text(SEED, partition.name), snapshot)
    return partition


def _data_rows(made_of: Templates, transactions: Array, late: Array) -> tuple[Array, Array]:
    """Batches and markers of a partition in the order of its log, and the transaction of each (-1: of none)."""
    owner = np.repeat(np.arange(len(transactions)), transactions["batches"])
    turn = np.arange(len(owner)) - np.repeat(
        np.cumsum(transactions["batches"]) - transactions["batches"], transactions["batches"]
    )
    data = np.zeros(len(owner), dtype=DATA_ROW)
    data["template"] = turn % len(made_of.data)
    data["at"] = transactions["begun_at"][owner] + BATCH_MS * (turn + 1)
    data["producer_id"], data["producer_epoch"] = transactions["writer"][owner], transactions["epoch"][owner]
    ends = np.zeros(len(transactions), dtype=DATA_ROW)
    ends["template"], ends["at"] = len(made_of.data), transactions["prepare_at"] + 2
    ends["producer_id"], ends["producer_epoch"] = transactions["writer"], transactions["end_epoch"]
    ends["kind"] = np.where(transactions["is_aborted"], ABORT, COMMIT)
    after = np.zeros(len(late), dtype=DATA_ROW)
    after["at"], after["producer_id"], after["producer_epoch"] = late["at"], late["writer"], late["epoch"]
    rows = np.concatenate([data, ends, after])
    owner = np.concatenate([owner, np.arange(len(transactions)), np.full(len(late), -1)])
    order = np.argsort(rows["at"], kind="stable")
    rows, owner = rows[order], owner[order]
    rows["producer_id"] += FIRST_PRODUCER_ID
    records = _records(made_of, rows)
    rows["base_offset"] = np.cumsum(records) - records
    _number(rows, np.where(_is_marker(made_of, rows), 0, records))
    return rows, owner


def _number(rows: Array, records: Array) -> None:
    """Give each producer's batches the sequences that follow each other, from 0 in each epoch."""
    order = np.lexsort((rows["base_offset"], rows["producer_epoch"], rows["producer_id"]))
    before = np.cumsum(records[order]) - records[order]
    of_one = rows[["producer_id", "producer_epoch"]][order]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = of_one[1:] != of_one[:-1]
    rows["base_sequence"][order] = before - before[is_first][np.cumsum(is_first) - 1]


def _records(made_of: Templates, rows: Array) -> Array:
    counts: Array = np.array([template.records for template in (*made_of.data, made_of.marker)])[rows["template"]]
    return counts


def _is_marker(made_of: Templates, rows: Array) -> Array:
    chosen: Array = rows["template"] == len(made_of.data)
    return chosen


def _aborted(rows: Array, of_transaction: Array, transactions: Array) -> Array:
    """Entries of .txnindex: with each the last stable offset that its marker left."""
    first, last = np.full(len(transactions), -1), np.full(len(transactions), -1)
    known = of_transaction >= 0
    first[of_transaction[known][::-1]] = rows["base_offset"][known][::-1]
    last[of_transaction[known]] = rows["base_offset"][known]
    chosen = np.flatnonzero(transactions["is_aborted"])
    chosen = chosen[np.argsort(last[chosen])]
    entries = np.zeros(len(chosen), dtype=ABORTED_TXN)
    entries["producer_id"] = FIRST_PRODUCER_ID + transactions["writer"][chosen]
    entries["first_offset"], entries["last_offset"] = first[chosen], last[chosen]
    for entry in entries:
        open_then = first[(first < entry["last_offset"]) & (last > entry["last_offset"])]
        entry["last_stable_offset"] = min(open_then, default=entry["last_offset"] + 1)
    return entries


def _producer_states(made_of: Templates, rows: Array) -> Array:
    """What the partition knows of each producer after its last batch."""
    order = np.lexsort((rows["base_offset"], rows["producer_id"]))
    ids = rows["producer_id"][order]
    newest = rows[order[np.append(ids[1:] != ids[:-1], True)]]
    data = rows[order][~_is_marker(made_of, rows[order])]
    written = data[np.append(data["producer_id"][1:] != data["producer_id"][:-1], True)]
    states = np.zeros(len(newest), dtype=PRODUCER_STATE)
    for field, column in (("producer_id", "producer_id"), ("producer_epoch", "producer_epoch"), ("timestamp", "at")):
        states[field] = newest[column]
    records = _records(made_of, written) - 1
    states["last_sequence"], states["offset_delta"] = written["base_sequence"] + records, records
    states["last_offset"] = written["base_offset"] + records
    raised = newest["producer_epoch"] != written["producer_epoch"]
    states["last_sequence"][raised] = states["last_offset"][raised] = -1
    states["offset_delta"][raised] = 0
    is_open = ~_is_marker(made_of, newest)
    states["current_txn_first_offset"] = np.where(is_open, newest["base_offset"], -1)
    return states


def _state_rows(shape: Shape, transactions: Array) -> tuple[Array, Array]:
    """All rows of the coordinator in the order of time, and the partition of each."""
    begun = skewed_transactions.initialisations(shape, transactions)
    empty = np.zeros(len(begun), dtype=STATE_ROW)
    empty["template"], empty["state"], empty["started_at"] = EMPTY_ROW, EMPTY, -1
    empty["owner"], empty["owner_epoch"] = begun["writer"], begun["epoch"]
    empty["at"] = empty["updated_at"] = begun["at"]
    aborted = transactions["is_aborted"].astype("i1")
    begins, prepared = transactions["begun_at"], transactions["prepare_at"]
    ongoing = _transaction_rows(transactions, WITH_PARTITION, ONGOING, begins, begins, "epoch")
    prepare = _transaction_rows(transactions, WITH_PARTITION, PREPARE_COMMIT + aborted, prepared, prepared, "end_epoch")
    complete = _transaction_rows(
        transactions, COMPLETE_ROW, COMPLETE_COMMIT + aborted, prepared + 3, prepared + 1, "end_epoch"
    )
    rows = np.concatenate([empty, ongoing, prepare, complete])
    rows = rows[np.argsort(rows["at"], kind="stable")]
    ids = transactional_ids.names(shape.writers, STATE_PARTITIONS, shape.state_partition)
    rows["transactional_id"] = ids[rows["owner"]]
    home = transactional_ids.partition_of(ids, STATE_PARTITIONS)[rows["owner"]]
    rows["owner"] += FIRST_PRODUCER_ID
    return rows, home


def _transaction_rows(
    transactions: Array, template: int, state: Array | int, at: Array, updated_at: Array, epoch: str
) -> Array:
    rows = np.zeros(len(transactions), dtype=STATE_ROW)
    rows["template"], rows["state"], rows["at"], rows["updated_at"] = template, state, at, updated_at
    rows["owner"], rows["owner_epoch"] = transactions["writer"], transactions[epoch]
    rows["partition"], rows["started_at"] = transactions["partition"], transactions["begun_at"]
    return rows


def _state_partition(
    directory: Path, shape: Shape, made_of: Templates, rows: Array, number: int
) -> tuple[Partition, int]:
    """The partition and its first dirty offset, 0 where the cleaner never came."""
    rows["base_offset"] = np.arange(len(rows))
    first_dirty = int(CLEANED * len(rows)) if shape.is_compacted else 0
    partition = Partition(directory, f"__transaction_state-{number}", STATE_SEGMENT_BYTES)
    forms = (made_of.empty, made_of.with_partition, made_of.complete)
    _append(partition, forms, _newest_of_each(rows[:first_dirty]))
    if first_dirty:
        partition.end_offset = first_dirty
        partition.roll()
    _append(partition, forms, rows[first_dirty:])
    partition.close(uuid_text(SEED, "states"))
    return partition, first_dirty


def _append(partition: Partition, forms: tuple[Template, ...], rows: Array) -> None:
    for raw, starts in stamped(forms, rows):
        partition.append_batches(raw, starts)


def _newest_of_each(rows: Array) -> Array:
    _, from_the_end = np.unique(rows["owner"][::-1], return_index=True)
    return rows[np.sort(len(rows) - 1 - from_the_end)]
