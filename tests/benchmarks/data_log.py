"""`orders-0` for generated transactions: data batches, markers, .txnindex entries and the producer state they leave."""

import numpy as np

from tests.benchmarks.data_directory import Partition
from tests.benchmarks.layouts import (
    ABORTED_TXN,
    COMMIT,
    CONTROL,
    MARKER,
    PRODUCER_STATE,
    TRANSACTIONAL,
    Array,
    batch,
    markers,
    record,
    seal,
    stamp,
)
from tests.benchmarks.state_log import FIRST_PRODUCER_ID, Rounds

NAME = "orders-0"
BATCH_RECORDS, BATCH_SPAN_MS, TEMPLATES = 150, 4, 64
PAIR, PAIR_SPAN_MS = 2, 1


def no_state(producers: int, first: int = FIRST_PRODUCER_ID) -> Array:
    """Producer state before the first batch; append_* keep it up to date for the snapshot."""
    state = np.zeros(producers, dtype=PRODUCER_STATE)
    state["producer_id"] = first + np.arange(producers)
    state["last_sequence"] = state["current_txn_first_offset"] = -1
    return state


def batch_bodies(seed: int) -> Array:
    """Records of batches of about 16 KiB, each of 150 records of the same sizes but random values; one row a body."""
    rng = np.random.default_rng(seed)
    bodies = b"".join(_batch_body(rng) for _ in range(TEMPLATES))
    return np.frombuffer(bodies, dtype="u1").reshape(TEMPLATES, -1)


def append_batches(partition: Partition, state: Array, group: Rounds, bodies: Array, sent_at: Array) -> None:
    """Append one round whose producers take turns, a batch each, and end together; `sent_at` holds a time per batch."""
    k, batches = group.producer.shape[1], len(bodies)
    turn = np.arange(batches)
    writer, sequence = turn % k, state["last_sequence"][turn % k] + 1 + BATCH_RECORDS * (turn // k)
    rows = np.zeros(batches, dtype=batch(("records", "u1", (bodies.shape[1],))))
    rows["records"] = bodies
    offset = partition.end_offset + BATCH_RECORDS * turn
    ids = state["producer_id"]
    _stamp_data(rows, ids[writer], offset, sequence, sent_at, BATCH_RECORDS, BATCH_SPAN_MS)
    ends = _markers(group, ids, partition.end_offset + BATCH_RECORDS * batches + np.arange(k))
    block = np.zeros(1, dtype=[("data", rows.dtype, (batches,)), ("markers", MARKER, (k,))])
    block["data"], block["markers"] = seal(rows), ends
    partition.append(block)
    _remember(state, writer[-k:], offset[-k:], sequence[-k:], BATCH_RECORDS, group.marker_at[0])


def append_pairs(partition: Partition, state: Array, rounds: Rounds) -> None:
    """Append rounds of transactions of one batch of two records each, `window` of them open at once."""
    count, k = rounds.producer.shape
    window, place = rounds.window, np.arange(k)
    base = partition.end_offset + (PAIR + 1) * k * np.arange(count)[:, None]
    begun = base + PAIR * place + np.maximum(place - window + 1, 0)
    ended = base + PAIR * np.minimum(place + window, k) + place
    sequence = np.broadcast_to((rounds.first + np.arange(count)[:, None]) * PAIR, (count, k))
    rows = _pairs(rounds)
    ids = state["producer_id"]
    _stamp_data(rows, ids[rounds.producer], begun, sequence, rounds.ongoing_at, PAIR, PAIR_SPAN_MS)
    blocks = _pair_blocks(window, seal(rows), _markers(rounds, ids, ended))
    following = np.concatenate([begun[:, 1:], ended[:, -1:] + 1], axis=1)
    partition.append(blocks, _aborted(rounds, ids, begun, ended, np.where(following < ended, following, ended + 1)))
    _remember(state, rounds.producer[-1], begun[-1], sequence[-1], PAIR, rounds.marker_at[-1])


def _batch_body(rng: np.random.Generator) -> bytes:
    keys = rng.integers(0, 100_000_000, size=BATCH_RECORDS)
    spans = [i * (BATCH_SPAN_MS + 1) // BATCH_RECORDS for i in range(BATCH_RECORDS)]
    return b"".join(record(b"o-%08d" % keys[i], rng.bytes(88), spans[i], i) for i in range(BATCH_RECORDS))


def _pairs(rounds: Rounds) -> Array:
    """Batches of two records: constant keys, random values."""
    value = bytes(20)
    parts = [record(b"order-k%d" % i, value, i * PAIR_SPAN_MS, i) for i in range(PAIR)]
    head = len(parts[0]) - len(value) - 1
    one = [("head", "u1", (head,)), ("value", "u1", (len(value),)), ("header_count", "u1")]
    rows = np.zeros(rounds.producer.shape, dtype=batch(("records", one, (PAIR,))))
    rows["records"] = np.frombuffer(b"".join(parts), dtype=one)
    rng = np.random.default_rng([rounds.first, PAIR])
    rows["records"]["value"] = rng.integers(0, 256, size=(*rounds.producer.shape, PAIR, len(value)), dtype="u1")
    return rows


def _stamp_data(
    rows: Array, producer_id: Array, offset: Array, sequence: Array, newest: Array, records: int, span_ms: int
) -> None:
    stamp(
        rows,
        base_offset=offset,
        attributes=TRANSACTIONAL,
        last_offset_delta=records - 1,
        base_timestamp=newest - span_ms,
        max_timestamp=newest,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        record_count=records,
    )


def _markers(rounds: Rounds, ids: Array, offset: Array) -> Array:
    rows = markers(rounds.producer.shape, np.where(rounds.is_aborted, COMMIT - 1, COMMIT))
    stamp(
        rows,
        base_offset=offset,
        attributes=TRANSACTIONAL | CONTROL,
        base_timestamp=rounds.marker_at,
        max_timestamp=rounds.marker_at,
        producer_id=ids[rounds.producer],
        producer_epoch=0,
    )
    return seal(rows)


def _pair_blocks(window: int, data: Array, ends: Array) -> Array:
    k = data.shape[1]
    turn = [("marker", MARKER), ("data", data.dtype)]
    layout = [("first", data.dtype, (window,)), ("turns", turn, (k - window,)), ("last", MARKER, (window,))]
    blocks = np.zeros(len(data), dtype=np.dtype(layout))
    blocks["first"], blocks["turns"]["data"] = data[:, :window], data[:, window:]
    blocks["turns"]["marker"], blocks["last"] = ends[:, : k - window], ends[:, k - window :]
    return blocks


def _aborted(rounds: Rounds, ids: Array, first: Array, last: Array, last_stable: Array) -> Array:
    chosen = rounds.is_aborted
    entries = np.zeros(int(chosen.sum()), dtype=ABORTED_TXN)
    entries["producer_id"] = ids[rounds.producer[chosen]]
    entries["first_offset"], entries["last_offset"] = first[chosen], last[chosen]
    entries["last_stable_offset"] = last_stable[chosen]
    return entries


def _remember(state: Array, writer: Array, offset: Array, sequence: Array, records: int, ended_at: Array) -> None:
    state["last_offset"][writer] = offset + records - 1
    state["last_sequence"][writer] = sequence + records - 1
    state["offset_delta"] = records - 1
    state["timestamp"][writer] = ended_at
