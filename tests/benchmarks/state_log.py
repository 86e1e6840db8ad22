"""`__transaction_state-0` for generated transactions: value version 0, one row a batch, as brokers before 4.0 write it.

A block is one round of K transactions, one of each transactional.id, of which `window` are open at once:
`window` times Ongoing; then Prepare*, Complete*, Ongoing for each further one; then Prepare*, Complete* for those left.
The topic has a single partition, so every transactional.id belongs to it.
Source: TransactionLog, TransactionLogValue version 0, TransactionStateManager (Kafka 3.9).
"""

from dataclasses import dataclass

import numpy as np

from tests.benchmarks.data_directory import Partition
from tests.benchmarks.layouts import Array, batch, record, seal, stamp

EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = range(6)
NAME = "__transaction_state-0"
SEGMENT_BYTES = 104_857_600
"""transaction.state.log.segment.bytes."""
TIMEOUT_MS = 60_000
FIRST_PRODUCER_ID = 1000
TIMES_AND_HEADER_COUNT = 17
"""Bytes at the end of a record that differ from row to row: two times and the count of headers."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """Consecutive rounds of transactions; arrays of shape (rounds, K), in the order in which they begin and end.

    `ongoing_at` and `prepare_at` are broker times; the marker follows 2 ms after Prepare*, Complete* 3 ms after it.
    """

    first: int
    window: int
    producer: Array
    is_aborted: Array
    ongoing_at: Array
    prepare_at: Array

    @property
    def marker_at(self) -> Array:
        """When the markers are appended."""
        return self.prepare_at + 2


@dataclass(frozen=True, slots=True)
class Ids:
    """Who writes: transactional.ids of one length, their first producer id, and the partitions of orders they list."""

    names: tuple[str, ...]
    first: int = FIRST_PRODUCER_ID
    partitions: tuple[int, ...] = (0,)


def usual(count: int) -> Ids:
    """So many ids of one application that write to orders-0."""
    return Ids(tuple(transactional_id(producer, count) for producer in range(count)))


def initialisations(partition: Partition, ids: Ids, at: int) -> None:
    """Append the Empty rows of transactional.ids, epoch 0."""
    count = len(ids.names)
    producer = np.arange(count)
    rows = _rows(ids, producer, np.full(count, EMPTY), producer, np.full(count, at) + producer)
    rows["started_at"] = -1
    partition.append(seal(rows))


def append_rounds(partition: Partition, rounds: Rounds, ids: Ids) -> None:
    """Append the three rows of every transaction of these rounds."""
    count, k = rounds.producer.shape
    base = partition.end_offset + 3 * k * np.arange(count)[:, None]
    begun, ended = base + _ongoing_places(k, rounds.window), base + _prepare_places(k, rounds.window)
    aborted = rounds.is_aborted.astype(int)
    ongoing = _rows(ids, rounds.producer, np.full((count, k), ONGOING), begun, rounds.ongoing_at)
    prepare = _rows(ids, rounds.producer, PREPARE_COMMIT + aborted, ended, rounds.prepare_at)
    complete = _rows(ids, rounds.producer, COMPLETE_COMMIT + aborted, ended + 1, rounds.prepare_at + 3)
    complete["updated_at"] -= 2
    for rows in (ongoing, prepare, complete):
        rows["started_at"] = rounds.ongoing_at
        seal(rows)
    partition.append(_blocks(rounds.window, ongoing, prepare, complete))


def transactional_id(producer: int, producers: int) -> str:
    """The transactional.id of a producer, as long as those of all others."""
    return f"orders-app-{producer:0{max(2, len(str(producers - 1)))}d}"


def _blocks(window: int, ongoing: Array, prepare: Array, complete: Array) -> Array:
    """The rows of each round laid out in the order of the log."""
    count, k = ongoing.shape
    end = [("prepare", prepare.dtype), ("complete", complete.dtype)]
    turn = [*end, ("ongoing", ongoing.dtype)]
    layout = [("first", ongoing.dtype, (window,)), ("turns", turn, (k - window,)), ("last", end, (window,))]
    blocks = np.zeros(count, dtype=np.dtype(layout))
    blocks["first"] = ongoing[:, :window]
    blocks["turns"]["ongoing"] = ongoing[:, window:]
    for name, rows in (("prepare", prepare), ("complete", complete)):
        blocks["turns"][name] = rows[:, : k - window]
        blocks["last"][name] = rows[:, k - window :]
    return blocks


def _ongoing_places(k: int, window: int) -> Array:
    place = np.arange(k)
    places: Array = place + 2 * np.maximum(place - window + 1, 0)
    return places


def _prepare_places(k: int, window: int) -> Array:
    place = np.arange(k)
    return np.minimum(place + window, k) + 2 * place


def _rows(ids: Ids, producer: Array, state: Array, offset: Array, at: Array) -> Array:
    """Unsealed rows, updated and appended at `at`; states of one width: all with partitions or all without."""
    with_partitions = state.flat[0] in (ONGOING, PREPARE_COMMIT, PREPARE_ABORT)
    templates = _templates(ids, with_partitions)
    fixed = ("fixed", "u1", (templates.shape[-1],))
    rows = np.zeros(
        producer.shape, dtype=batch(fixed, ("updated_at", ">i8"), ("started_at", ">i8"), ("header_count", "u1"))
    )
    rows["fixed"] = templates[producer, state]
    rows["updated_at"] = at
    stamp(rows, base_offset=offset, base_timestamp=at, max_timestamp=at)
    return rows


def _templates(ids: Ids, with_partitions: bool) -> Array:
    """The constant first bytes of the record, by producer and state; rows of states of the other width stay unused."""
    states, producers = range(COMPLETE_ABORT + 1), len(ids.names)
    listed = ids.partitions if with_partitions else ()
    records = [[_record(ids.first + p, name, state, listed) for state in states] for p, name in enumerate(ids.names)]
    raw = np.frombuffer(b"".join(b"".join(row) for row in records), dtype="u1")
    width = len(records[0][0])
    shaped: Array = raw.reshape(producers, COMPLETE_ABORT + 1, width)
    return shaped[..., : width - TIMES_AND_HEADER_COUNT]


def _record(producer_id: int, name: str, state: int, listed: tuple[int, ...]) -> bytes:
    key = b"\0\0" + len(name).to_bytes(2, "big") + name.encode()
    start = (0).to_bytes(2, "big") + producer_id.to_bytes(8, "big") + (0).to_bytes(2, "big")
    partitions = (0 if state != EMPTY else -1).to_bytes(4, "big", signed=True)
    if listed:
        numbers = b"".join(number.to_bytes(4, "big") for number in listed)
        partitions = (1).to_bytes(4, "big") + b"\0\6orders" + len(listed).to_bytes(4, "big") + numbers
    return record(key, start + TIMEOUT_MS.to_bytes(4, "big") + bytes([state]) + partitions + bytes(16))
