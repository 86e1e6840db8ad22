"""The directories that are measured: where they lie and how big they are, from the environment; made once, then reused.

    KAFKATX_BENCH_DATA          folder of generated data (default: kafkatx-bench in the system's temporary folder)
    KAFKATX_BENCH_LARGE_MIB     ordinary, large (1024)
    KAFKATX_BENCH_SMALL_MIB     ordinary, small (256)
    KAFKATX_BENCH_TINY          transactions of tiny (2000000)
    KAFKATX_BENCH_SPREAD        transactions of two partitions (4000000); a quarter of them is made as well
    KAFKATX_BENCH_DUMPED        transactions whose logs are dumped, and whose dumps are read (200000)
    KAFKATX_BENCH_LOG_MIB       a broker's log, large (1024); the small one has a quarter of it
    KAFKATX_BENCH_REPEATED_MIB  a recorded log repeated (20)
    KAFKATX_BENCH_CODECS_MIB   one segment of distinct records, with each codec (770: that without one)
    KAFKATX_BENCH_CORES_MIB     ordinary, read on one core and on two (4096); a quarter of it is made as well
    KAFKATX_BENCH_SEGMENTS_MIB  segments that are verified, with each codec (800: those without one)
    KAFKATX_BENCH_RUNS          runs of each command, the one of least CPU counts (3)

A quick check of everything:
    KAFKATX_BENCH_LARGE_MIB=32 KAFKATX_BENCH_SMALL_MIB=8 KAFKATX_BENCH_TINY=20000 KAFKATX_BENCH_RUNS=1
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks import broker_log, generate, repeated_log, skewed, skewed_transactions
from tests.benchmarks.codec_log import NAME
from tests.benchmarks.codec_log import write as codec_log_of
from tests.benchmarks.read_log import literals

GENERATION = 1
"""Raise this when a generator's bytes change, so that older data is not taken for the new."""
TRANSACTIONS = 256
INCIDENT_TRANSACTIONS = 640
CROWD_IDS, CROWD_TRANSACTIONS = 1_000, 100_000


def setting(name: str, default: int) -> int:
    """A whole number from the environment variable KAFKATX_BENCH_<name>."""
    return int(os.environ.get(f"KAFKATX_BENCH_{name}", default))


def runs() -> int:
    """How often each command runs."""
    return setting("RUNS", 3)


def ordinary_large() -> Path:
    """The large ordinary directory."""
    return ordinary_of(setting("LARGE_MIB", 1024))


def ordinary_small() -> Path:
    """The small ordinary directory: as many transactions, less data."""
    return ordinary_of(setting("SMALL_MIB", 256))


def tiny() -> Path:
    """The directory that is all history."""
    return tiny_of(setting("TINY", 2_000_000))


def tiny_of(count: int) -> Path:
    """The same with some number of transactions."""
    return made(f"tiny-{count}", lambda place: generate.tiny(place, count))


def spread_of(transactions: int) -> Path:
    """So many transactions, each of two partitions, spread over those of `__transaction_state`."""
    return made(f"spread-{transactions}", lambda place: generate.spread(place, transactions))


def crowd() -> Path:
    """Many ids with a hundred transactions each."""
    name = f"crowd-{CROWD_IDS}-{CROWD_TRANSACTIONS}"
    return made(name, lambda place: generate.tiny(place, CROWD_TRANSACTIONS, ids=CROWD_IDS))


def incident() -> Path:
    """A directory as small as what people attach to a question."""
    return made(f"tiny-{INCIDENT_TRANSACTIONS}", lambda place: generate.tiny(place, INCIDENT_TRANSACTIONS))


def skewed_of(share: int = 1) -> Path:
    """One producer id with five million batches beside 100,000 with few, a `share`th of both."""
    shape = skewed_transactions.whole(share)
    return made(f"skewed-share-{share}", lambda place: skewed.write(place, shape))


def giant_state_of(share: int = 1) -> Path:
    """Six million rows in one partition of `__transaction_state`, a `share`th of them."""
    shape = skewed_transactions.giant_state(share)
    return made(f"giant-state-share-{share}", lambda place: skewed.write(place, shape))


def codec_log(codec: str) -> Path:
    """The segment of distinct records, with a codec (tests/benchmarks/codec_log.py)."""
    mib = setting("CODECS_MIB", 770)
    folder = made(f"codecs-{mib}MiB", lambda place: codec_log_of(place, mib << 20))
    return folder / codec / "orders-0" / NAME


def broker_log_of(kind: str, share: int = 1) -> Path:
    """A broker's log, sparse or dense (tests/benchmarks/broker_log.py), of one `share`th of the size."""
    mib = setting("LOG_MIB", 1024) // share
    name = f"{kind}-log-{mib}MiB"

    def make(place: Path) -> object:
        place.mkdir(parents=True)
        return broker_log.write(place / "server.log", mib << 20, kind == "dense")

    return made(name, make) / "server.log"


def repeated_log_of(kind: str) -> Path:
    """A recorded log repeated (tests/benchmarks/repeated_log.py)."""
    mib = setting("REPEATED_MIB", 20)

    def make(place: Path) -> object:
        place.mkdir(parents=True)
        return repeated_log.write(place / f"{kind}.log", mib << 20, kind)

    return made(f"{kind}-repeated-{mib}MiB", make) / f"{kind}.log"


def prefilter_literals() -> Path:
    """The literals of the prefilter, a line each; written anew, as they change with the catalogue."""
    _home().mkdir(parents=True, exist_ok=True)
    return literals(_home() / "literals.txt")


def logs(directory: Path) -> list[Path]:
    """All segments under a directory, in order."""
    return sorted(directory.rglob("*.log"))


def size_bytes(files: list[Path]) -> int:
    """Bytes of files together."""
    return sum(file.stat().st_size for file in files)


def ordinary_of(mib: int) -> Path:
    """An ordinary directory of some size: the number of transactions stays the same."""
    return made(f"ordinary-{mib}MiB-{TRANSACTIONS}", lambda place: generate.ordinary(place, mib << 20, TRANSACTIONS))


def _home() -> Path:
    return Path(os.environ.get("KAFKATX_BENCH_DATA", Path(tempfile.gettempdir(), "kafkatx-bench")))


def made(name: str, make: Callable[[Path], object]) -> Path:
    """A folder of generated data of this name, made unless it is there."""
    place = _home() / f"v{GENERATION}-{name}"
    if not place.exists():
        unfinished = place.with_name(f"{place.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(place)
    return place
