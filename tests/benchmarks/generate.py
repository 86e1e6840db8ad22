"""Writes valid data directories quickly, by stamping template batches; the same arguments always give the same bytes.

    python -m tests.benchmarks.generate ordinary DIR --size-mib 1024 --transactions 256
    python -m tests.benchmarks.generate tiny DIR --transactions 2000000 [--no-state-log]
    python -m tests.benchmarks.generate spread DIR --transactions 1000000
    python -m tests.benchmarks.generate skewed DIR [--share 50]
    python -m tests.benchmarks.generate giant-state DIR [--share 50]
    python -m tests.benchmarks.generate codecs DIR --size-mib 770

ordinary  batches of about 16 KiB in a fixed number of transactions: what grows with the size is data, not history.
tiny      64 producers or more, each transaction one batch of two records and a marker, every 16th aborted: all history.
spread    the same in two partitions each, 64 producers for each of 50 partitions of `__transaction_state`.
The first two hold one partition, orders-0, and a `__transaction_state-0` that agrees with it, times included.

skewed       recorded batches, five million of one producer id beside 100,000 ids with two transactions each; planted
             incidents (tests/benchmarks/skewed_transactions.py). `--share 50` makes a fiftieth of it.
giant-state  two million transactions whose six million rows lie in one partition of fifty of `__transaction_state`.
codecs       one segment of distinct records, with each codec (tests/benchmarks/codec_log.py).
"""

import argparse
from dataclasses import replace
from itertools import count as count_from
from itertools import islice
from pathlib import Path

import numpy as np

from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from tests.benchmarks import codec_log, data_log, skewed, skewed_transactions, state_log
from tests.benchmarks.data_directory import Partition, finish, uuid_text
from tests.benchmarks.layouts import MARKER, batch
from tests.benchmarks.state_log import Rounds

SEED = 20231114
STARTED_AT = 1_700_000_000_000
SEGMENT_BYTES = 1 << 30
"""log.segment.bytes."""
ORDINARY_PRODUCERS = 4
TINY_PRODUCERS, TINY_WINDOW = 64, 16
ABORTED_EVERY = 16
STEP_MS = 8
ROUNDS_AT_ONCE = 512


def ordinary(directory: Path, size_bytes: int, transactions: int = 256) -> Path:
    """Write orders-0 of at most `size_bytes` in `transactions` committed transactions (whole rounds of 4)."""
    groups = -(-transactions // ORDINARY_PRODUCERS)
    bodies = data_log.batch_bodies(SEED)
    batch_bytes = batch(("records", "u1", (bodies.shape[1],))).itemsize
    turns = (size_bytes // groups - ORDINARY_PRODUCERS * MARKER.itemsize) // (batch_bytes * ORDINARY_PRODUCERS)
    batches = max(turns, 1) * ORDINARY_PRODUCERS
    ids = state_log.usual(ORDINARY_PRODUCERS)
    orders, states = _partitions(directory, ids)
    producers = data_log.no_state(ORDINARY_PRODUCERS)
    for group in range(groups):
        rounds = _ordinary_round(group, batches)
        chosen = np.random.default_rng([SEED, group]).integers(data_log.TEMPLATES, size=batches)
        sent_at = rounds.ongoing_at.max() + data_log.BATCH_SPAN_MS + 1 + np.arange(batches)
        data_log.append_batches(orders, producers, rounds, bodies[chosen], sent_at)
        state_log.append_rounds(states, rounds, ids)
    orders.close(uuid_text(SEED, "orders"), producers)
    states.close(uuid_text(SEED, "states"))
    finish(directory, [orders, states], SEED)
    return directory


def tiny(
    directory: Path, transactions: int = 2_000_000, with_state_log: bool = True, ids: int = TINY_PRODUCERS
) -> Path:
    """Write `transactions` (whole rounds of `ids`) of two records each; the state log has three rows a transaction."""
    count = -(-transactions // ids)
    named = state_log.usual(ids)
    orders, states = _partitions(directory, named)
    producers = data_log.no_state(ids)
    for first in range(0, count, ROUNDS_AT_ONCE):
        rounds = _tiny_rounds(first, min(ROUNDS_AT_ONCE, count - first), ids)
        data_log.append_pairs(orders, producers, rounds)
        if with_state_log:
            state_log.append_rounds(states, rounds, named)
    orders.close(uuid_text(SEED, "orders"), producers)
    states.close(uuid_text(SEED, "states"))
    finish(directory, [orders, states], SEED)
    return directory


def spread(directory: Path, transactions: int = 1_000_000, coordinators: int = 50) -> Path:
    """Write `transactions` of two records in each of two partitions, spread over partitions of `__transaction_state`.

    TINY_PRODUCERS ids have each of the `coordinators` as theirs, by their names, and write to two partitions of their
    own: so a partition is about as large as in a cluster, whatever the number of all transactions. Only the ids of the
    first coordinator abort.
    """
    count = -(-transactions // (coordinators * TINY_PRODUCERS))
    parts = [_spread_part(directory, number, count, coordinators) for number in range(coordinators)]
    finish(directory, [partition for part in parts for partition in part], SEED)
    return directory


def _spread_part(directory: Path, number: int, count: int, coordinators: int) -> tuple[Partition, ...]:
    """Write one partition of `__transaction_state` and the two of data that its ids write to."""
    first = state_log.FIRST_PRODUCER_ID + number * TINY_PRODUCERS
    ids = state_log.Ids(_names_of(number, coordinators), first, (2 * number, 2 * number + 1))
    states = Partition(directory, f"{TRANSACTION_STATE}-{number}", state_log.SEGMENT_BYTES)
    state_log.initialisations(states, ids, STARTED_AT)
    data = [Partition(directory, f"orders-{place}", SEGMENT_BYTES) for place in ids.partitions]
    left = [data_log.no_state(TINY_PRODUCERS, first) for _ in data]
    for begin in range(0, count, ROUNDS_AT_ONCE):
        rounds = _tiny_rounds(begin, min(ROUNDS_AT_ONCE, count - begin), TINY_PRODUCERS)
        if number:
            rounds = replace(rounds, is_aborted=np.zeros_like(rounds.is_aborted))
        for partition, producers in zip(data, left, strict=True):
            data_log.append_pairs(partition, producers, rounds)
        state_log.append_rounds(states, rounds, ids)
    for partition, producers in zip(data, left, strict=True):
        partition.close(uuid_text(SEED, "orders"), producers)
    states.close(uuid_text(SEED, "states"))
    return (*data, states)


def _names_of(number: int, coordinators: int) -> tuple[str, ...]:
    """The first transactional.ids whose coordinator is a partition."""
    names = (f"orders-app-{place:06d}" for place in count_from(0))
    return tuple(islice((name for name in names if partition_for(name, coordinators) == number), TINY_PRODUCERS))


def _partitions(directory: Path, ids: state_log.Ids) -> tuple[Partition, Partition]:
    orders = Partition(directory, data_log.NAME, SEGMENT_BYTES)
    states = Partition(directory, state_log.NAME, state_log.SEGMENT_BYTES)
    state_log.initialisations(states, ids, STARTED_AT)
    return orders, states


def _ordinary_round(group: int, batches: int) -> Rounds:
    """All producers begin within milliseconds, send a batch a millisecond in turn, and end one after the other."""
    place = np.arange(ORDINARY_PRODUCERS)[None, :]
    sending_ms = STEP_MS * ORDINARY_PRODUCERS + data_log.BATCH_SPAN_MS + batches + STEP_MS
    begun_at = STARTED_AT + 1000 + group * (sending_ms + STEP_MS * (ORDINARY_PRODUCERS + 1))
    return Rounds(
        first=group,
        window=ORDINARY_PRODUCERS,
        producer=place,
        is_aborted=np.zeros_like(place, dtype=bool),
        ongoing_at=begun_at + STEP_MS * place,
        prepare_at=begun_at + sending_ms + STEP_MS * place,
    )


def _tiny_rounds(first: int, count: int, ids: int) -> Rounds:
    """One step every 8 ms: the oldest open transaction ends (for `window` steps nothing does yet), the next begins."""
    number = np.arange(count)[:, None]
    place = np.arange(ids)[None, :]
    steps = (first + number) * (ids + TINY_WINDOW) + place
    began = STARTED_AT + 1000 + STEP_MS * steps
    producers = np.broadcast_to(place, (count, ids))
    return Rounds(
        first=first,
        window=TINY_WINDOW,
        producer=np.random.default_rng([SEED, first]).permuted(producers, axis=1),
        is_aborted=np.broadcast_to(place % ABORTED_EVERY == ABORTED_EVERY - 1, (count, ids)),
        ongoing_at=began + 4,
        prepare_at=began + STEP_MS * TINY_WINDOW,
    )


def main() -> None:
    """Generate one directory from the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.generate")
    parser.add_argument("kind", choices=("ordinary", "tiny", "spread", "skewed", "giant-state", "codecs"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--size-mib", type=int, default=1024)
    parser.add_argument("--transactions", type=int)
    parser.add_argument("--no-state-log", action="store_true")
    parser.add_argument("--share", type=int, default=1)
    given = parser.parse_args()
    if given.kind == "ordinary":
        ordinary(given.directory, given.size_mib << 20, given.transactions or 256)
    elif given.kind == "codecs":
        codec_log.write(given.directory, given.size_mib << 20)
    elif given.kind == "spread":
        spread(given.directory, given.transactions or 1_000_000)
    elif given.kind == "skewed":
        skewed.write(given.directory, skewed_transactions.whole(given.share))
    elif given.kind == "giant-state":
        skewed.write(given.directory, skewed_transactions.giant_state(given.share))
    else:
        tiny(given.directory, given.transactions or 2_000_000, not given.no_state_log)


if __name__ == "__main__":
    main()
