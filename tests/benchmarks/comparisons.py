"""What is compared with what, and what we hold ourselves to. The tests assert it, the report prints it."""

import functools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import cases, measure, peer
from tests.benchmarks.measure import Usage

ORDINARY_TIMES_CHEAPER = 1.0
TINY_TIMES_CHEAPER = 8.0
PEAK_GROWTH = 0.10
BYTES_A_TRANSACTION = 200
"""Of two partitions, beside all others, at the highest."""
BLOCK_GROWTH = 0.01
INCIDENT_WALL_S = 2.0
SPARSE_TIMES_GREP = 1.3
DENSE_TIMES_GREP = 3.0
TIMES_GREP = {"quiet": 20.0, "busy": 20.0, "client": 25.0, "flink": 50.0}
"""Of 20 MiB, kinds of tests/benchmarks/repeated_log.py; some of it is the start of the process."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report: two values, how they relate, and whether that is what we want (None: for information)."""

    what: str
    ours: str
    other: str
    relation: str
    wanted: str = ""
    holds: bool | None = None


def ordinary() -> Iterator[Figure]:
    """CPU of diagnose and of a shallow dump of the same segments, where data is much and history little."""
    yield _against_peer("ordinary", cases.ordinary_large(), ORDINARY_TIMES_CHEAPER)


def tiny() -> Iterator[Figure]:
    """The same where all is history: every transaction is two batches and three coordinator rows."""
    yield _against_peer("tiny", cases.tiny(), TINY_TIMES_CHEAPER)


def memory() -> Iterator[Figure]:
    """Peak anonymous memory over four times the data in as many transactions."""
    commands = [measure.diagnose(place) for place in (cases.ordinary_small(), cases.ordinary_large())]
    small, large = measure.alternately(commands, cases.runs())
    what = f"peak RssAnon, ordinary {_mib(cases.ordinary_large())} against {_mib(cases.ordinary_small())}"
    yield _peaks(what, large, small, f"within {PEAK_GROWTH:.0%}")


def many() -> Iterator[Figure]:
    """Peak anonymous memory a transaction, where each writes to two partitions and there are many of them."""
    few, large = cases.setting("SPREAD", 4_000_000) // 4, cases.setting("SPREAD", 4_000_000)
    commands = [measure.diagnose(cases.spread_of(count)) for count in (few, large)]
    small, all_of_them = measure.alternately(commands, 1)
    bytes_each = (all_of_them.peak_bytes - small.peak_bytes) / (large - few)
    yield Figure(
        f"peak RssAnon, {large:,} transactions of two partitions against {few:,}",
        f"{all_of_them.peak_bytes / 2**20:,.0f} MiB, {all_of_them.cpu_s:.1f} s CPU",
        f"{small.peak_bytes / 2**20:,.0f} MiB, {small.cpu_s:.1f} s CPU",
        f"{bytes_each:.0f} bytes a transaction",
        f"< {BYTES_A_TRANSACTION}",
        bytes_each < BYTES_A_TRANSACTION,
    )


def first_run() -> Iterator[Figure]:
    """Wall time with an empty cache of compiled kernels, and with the cache that run left."""
    first, after = _cold_and_warm(cases.incident())
    holds = max(first.wall_s, after.wall_s) < INCIDENT_WALL_S
    yield _runs(
        f"incident of {cases.INCIDENT_TRANSACTIONS} transactions", first, after, f"< {INCIDENT_WALL_S:.0f} s", holds
    )
    yield _runs(f"ordinary {_mib(cases.ordinary_large())}", *_cold_and_warm(cases.ordinary_large()))


def blocks() -> Iterator[Figure]:
    """Python objects alive after and during a diagnosis in process, over four times the batches."""
    directories = [cases.ordinary_large(), cases.ordinary_small(), cases.ordinary_large()]
    command = [sys.executable, "-m", "tests.benchmarks.blocks", *map(str, directories)]
    counted = json.loads(measure.output(command))
    small, large = counted["small"], counted["large"]
    for moment, wanted in (("after", f"within {BLOCK_GROWTH:.0%}"), ("highest", "")):
        growth = large[moment] / small[moment] - 1
        holds = abs(growth) < BLOCK_GROWTH if wanted else None
        yield Figure(
            f"Python blocks, {moment}, 4N batches against N",
            str(large[moment]),
            str(small[moment]),
            f"{growth:+.2%}",
            wanted,
            holds,
        )


def broker_logs() -> Iterator[Figure]:
    """CPU of reading a broker's log against grep with the prefilter's literals, few lines of which matter, or all."""
    sparse, dense = cases.broker_log_of("sparse"), cases.broker_log_of("dense")
    small = cases.broker_log_of("sparse", 4), cases.broker_log_of("dense", 4)
    literals = cases.prefilter_literals()
    commands = [measure.grep(literals, sparse), measure.grep(literals, dense)]
    commands += map(measure.read_log, (sparse, dense, *small))
    peer, peer_of_all, few, all_of_it, few_small, all_small = measure.alternately(commands, cases.runs())
    size = f"{sparse.stat().st_size / 2**20:.0f} MiB"
    for ours, grep, most, which in (
        (few, peer, SPARSE_TIMES_GREP, "one line in 100 matters"),
        (all_of_it, peer_of_all, DENSE_TIMES_GREP, "every line matters"),
    ):
        times = ours.cpu_s / grep.cpu_s
        what = f"CPU, broker's log of {size}, {which}, against grep -cFf"
        yield Figure(what, _cost(ours), _cost(grep), f"{times:.2f} times", f"<= {most:.1f}", times <= most)
    what = f"peak RssAnon, broker's log of {size} against a quarter"
    yield _peaks(f"{what}, every line", all_of_it, all_small, f"within {PEAK_GROWTH:.0%}")
    yield _peaks(f"{what}, one line in 100 (all of them kept)", few, few_small)


def diagnosed_logs() -> Iterator[Figure]:
    """CPU of diagnosing a log that repeats a recorded one, against grep with the literals and a pass in Python."""
    literals = cases.prefilter_literals()
    for kind, most in TIMES_GREP.items():
        log = cases.repeated_log_of(kind)
        commands = [measure.diagnose(log), measure.grep(literals, log), measure.python_pass(log)]
        ours, grep, python = measure.alternately(commands, cases.runs())
        size = f"{log.stat().st_size / 2**20:.0f} MiB"
        times = ours.cpu_s / grep.cpu_s
        what = f"CPU, log of {size}, {kind}, against grep -cFf"
        yield Figure(what, _cost(ours), _cost(grep), f"{times:.1f} times", f"<= {most:.0f}", times <= most)
        times = ours.cpu_s / python.cpu_s
        what = f"CPU, log of {size}, {kind}, against a pass over its lines in Python"
        yield Figure(what, f"{ours.peak_bytes / 2**20:.0f} MiB RssAnon", _cost(python), f"{times:.0f} times")


def exports() -> Iterator[Figure]:
    """Peak anonymous memory of writing batches and records as Parquet, over four times the data."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("--overwrite", "--quiet", "--table", "batches", "--table", "records")
        commands = [
            measure.kafkatx("export", str(place), "--out", f"{folder}/tables", *words)
            for place in (cases.ordinary_small(), cases.ordinary_large())
        ]
        small, large = measure.alternately(commands, cases.runs())
    what = f"peak RssAnon of export, ordinary {_mib(cases.ordinary_large())} against {_mib(cases.ordinary_small())}"
    yield _peaks(what, large, small, f"within {PEAK_GROWTH:.0%}")
    yield Figure("export of the same, batches and records", _cost(large), _cost(small), "")


def _peaks(what: str, large: Usage, small: Usage, wanted: str = "") -> Figure:
    growth = large.peak_bytes / small.peak_bytes - 1
    ours, other = f"{large.peak_bytes / 2**20:.1f} MiB", f"{small.peak_bytes / 2**20:.1f} MiB"
    return Figure(what, ours, other, f"{growth:+.1%}", wanted, abs(growth) <= PEAK_GROWTH if wanted else None)


ALL: tuple[Callable[[], Iterator[Figure]], ...] = (
    ordinary,
    tiny,
    memory,
    many,
    first_run,
    blocks,
    broker_logs,
    diagnosed_logs,
    exports,
)


def peer_figures() -> Iterator[Figure]:
    """What the peer alone costs, for a machine on which nothing else is to be measured."""
    for name, directory in (("ordinary", cases.ordinary_large()), ("tiny", cases.tiny())):
        usage = _peer(directory)
        yield Figure(f"dump-log, {name}, {_described(directory)}", "", _cost(usage), "")


@functools.cache
def _peer(directory: Path) -> Usage:
    return measure.cheapest([measure.run(peer.dump_log(cases.logs(directory))) for _ in range(cases.runs())])


def _against_peer(name: str, directory: Path, wanted: float) -> Figure:
    commands = [measure.diagnose(directory), peer.dump_log(cases.logs(directory))]
    ours, other = measure.alternately(commands, cases.runs())
    times = other.cpu_s / ours.cpu_s
    what = f"CPU, {name}, {_described(directory)}, against dump-log"
    return Figure(what, _cost(ours), _cost(other), f"{times:.2f} times cheaper", f">= {wanted:.1f}", times >= wanted)


def _cold_and_warm(directory: Path) -> tuple[Usage, Usage]:
    """The cheapest first run of several, each with a cache of its own, and the cheapest run after one."""
    first, after = [], []
    for _ in range(cases.runs()):
        with tempfile.TemporaryDirectory() as cache:
            command, environment = measure.diagnose(directory), {"NUMBA_CACHE_DIR": cache}
            first.append(measure.run(command, environment))
            after.append(measure.run(command, environment))
    return measure.cheapest(first), measure.cheapest(after)


def _runs(name: str, first: Usage, after: Usage, wanted: str = "", holds: bool | None = None) -> Figure:
    relation = f"{first.wall_s / after.wall_s:.2f} times"
    return Figure(f"first run (left) and a later one, {name}", _cost(first), _cost(after), relation, wanted, holds)


def _cost(usage: Usage) -> str:
    return f"{usage.cpu_s:.2f} s CPU, {usage.wall_s:.2f} s wall"


def _described(directory: Path) -> str:
    files = cases.logs(directory)
    return f"{cases.size_bytes(files) / 2**20:.0f} MiB in {len(files)} segments"


def _mib(directory: Path) -> str:
    return f"{cases.size_bytes(cases.logs(directory)) / 2**20:.0f} MiB"
