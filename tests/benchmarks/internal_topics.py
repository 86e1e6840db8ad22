"""What the tables of two internal topics cost: `offset_commits` and `cluster_events`, in one process, kernels loaded.

    KAFKATX_BENCH_COMMITS   commits in thousands (default 2000)
    KAFKATX_BENCH_EVENTS    records of the metadata log in thousands, of each kind (default 200)

CPU of reading a table to nowhere. Commits lie a hundred to a batch, as a busy group leaves them.
"""

import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from pathlib import Path

import kafkatx
from tests.benchmarks import cases
from tests.benchmarks.comparisons import Figure
from tests.metadata_records import noted, said
from tests.offset_commits import commits, key, value

RECORDS_PER_BATCH = 100
GROUPS, PARTITIONS = 50, 40
TOPIC_ID = bytes(range(16))


def internal() -> Iterator[Figure]:
    """Rows a second of CPU."""
    committed, noted_rows = cases.setting("COMMITS", 2000) * 1000, cases.setting("EVENTS", 200) * 1000
    yield _rate("offset_commits", "__consumer_offsets-0", _commit_batches(committed), committed)
    yield _rate("cluster_events, each record another", "__cluster_metadata-0", _changes(noted_rows), noted_rows)
    yield _rate("cluster_events, each a NoOpRecord", "__cluster_metadata-0", _nothing(noted_rows), noted_rows)


def _rate(what: str, folder: str, batches: Iterable[bytes], rows: int) -> Figure:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / folder / "00000000000000000000.log"
        path.parent.mkdir()
        with path.open("wb") as file:
            file.writelines(batches)
        _read(place, what)
        started = time.process_time()
        found = _read(place, what)
        used = time.process_time() - started
        size = path.stat().st_size
    return Figure(
        f"{what}: {rows:,} rows of {size >> 20} MiB", f"{found / used:,.0f} rows/s", "", "", "all", found == rows
    )


def _read(place: str, what: str) -> int:
    return sum(part.num_rows for part in kafkatx.open(place).table(what.partition(",")[0]))


def _commit_batches(rows: int) -> Iterator[bytes]:
    made = [_batch_of(f"group-{number}") for number in range(GROUPS)]
    for number, batch in enumerate(islice(cycle(made), rows // RECORDS_PER_BATCH)):
        yield (number * RECORDS_PER_BATCH).to_bytes(8, "big") + batch[8:]


def _batch_of(group: str) -> bytes:
    names = [key(group, "orders", number % PARTITIONS) for number in range(RECORDS_PER_BATCH)]
    return commits(0, *((name, value(10**9 + at, "", 1_795_256_939_889)) for at, name in enumerate(names)))


def _changes(rows: int) -> Iterator[bytes]:
    for first in range(0, rows, RECORDS_PER_BATCH):
        numbers = range(first, first + RECORDS_PER_BATCH)
        made = (
            said("PartitionChangeRecord", partitionId=number, topicId=TOPIC_ID, isr=[1, 2, 3], leader=number % 3)
            for number in numbers
        )
        yield noted(first, *made)


def _nothing(rows: int) -> Iterator[bytes]:
    nothing = said("NoOpRecord")
    return (noted(number, nothing) for number in range(rows))
