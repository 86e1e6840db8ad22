"""How fast segments are read: against the peer's two ways of reading them, and by several cores against one.

python -m tests.benchmarks.report verifying     minutes: the peer's deep runs
python -m tests.benchmarks.report cores         4 GiB and four codecs; under five minutes on a quiet machine
KAFKATX_BENCH_CORES_MIB=256 KAFKATX_BENCH_SEGMENTS_MIB=32 KAFKATX_BENCH_RUNS=1 for a quick check
"""

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources.files import OpenFile
from tests.benchmarks import cases, compressed, measure, peer
from tests.benchmarks.comparisons import Figure
from tests.benchmarks.measure import Usage

SHALLOW_TIMES, DEEP_TIMES, SMALL_TIMES, CORES_TIMES, TOUCHING_TIMES, MEMORY_GROWTH = 1.4, 15.0, 1.5, 1.7, 3.0, 0.10
CODECS = ("none", "lz4", "zstd", "snappy")
SMALL_MIB = 16
BUFFER = 2 << 20
RECORDS = ("verify", "--records", "--quiet")


def verifying() -> Iterator[Figure]:
    """CPU of `verify` and `verify --records` against kafka-dump-log, shallow and deep, 800 MB and 16 MiB."""
    yield _against_peer("verify", cases.ordinary_of(_segments_mib()), SHALLOW_TIMES)
    for codec in CODECS:
        yield _against_peer(f"verify --records, {codec}", _of_codec(codec), DEEP_TIMES, deep=True)
    yield _against_peer("verify", cases.ordinary_of(SMALL_MIB), SMALL_TIMES)
    yield _against_peer("verify --records", cases.ordinary_of(SMALL_MIB), SMALL_TIMES, deep=True)


def cores() -> Iterator[Figure]:
    """Two cores against one by the wall, `diagnose` against touching what it needs; memory of 4 GiB and of 1."""
    large_mib = cases.setting("CORES_MIB", 4096)
    large, small = cases.ordinary_of(large_mib), cases.ordinary_of(large_mib // 4)
    yield from _by_cores("verify --records", lambda place: measure.kafkatx(*RECORDS, str(place)), large, small)
    usages = yield from _by_cores("diagnose", measure.diagnose, large, small)
    yield from _touching(large, usages)
    yield _memory(*usages)
    for name, directory in [("verify", small), *((f"records {codec}", _of_codec(codec)) for codec in CODECS[1:])]:
        yield _split(name, name.split()[0], directory)


def _of_codec(codec: str) -> Path:
    def make(place: Path) -> Path:
        return compressed.write(place, codec, _segments_mib() << 20)

    return cases.made(f"{codec}-{_segments_mib()}MiB", make)


def _segments_mib() -> int:
    return cases.setting("SEGMENTS_MIB", 800)


def _against_peer(name: str, directory: Path, wanted: float, deep: bool = False) -> Figure:
    """Both read the segments of one partition: the peer knows nothing of a directory."""
    partition = directory / "orders-0"
    commands = [
        measure.kafkatx("verify", str(partition), "--quiet", *(["--records"] if deep else [])),
        peer.dump_log(cases.logs(partition), *(["--deep-iteration"] if deep else [])),
    ]
    ours, other = measure.alternately(commands, cases.runs())
    times = other.cpu_s / ours.cpu_s
    what = f"CPU, {name}, {cases.size_bytes(cases.logs(partition)) / 1e6:.0f} MB, against dump-log"
    what += " --deep-iteration" if deep else ""
    costs = [f"{one.cpu_s:.2f} s CPU, {one.wall_s:.2f} s wall" for one in (ours, other)]
    return Figure(what, *costs, f"{times:.1f} times cheaper", f">= {wanted:.1f}", times >= wanted)


def _by_cores(
    name: str, command: Callable[[Path], list[str]], large: Path, small: Path
) -> Generator[Figure, None, tuple[Usage, Usage]]:
    """Whole processes on one core and on two, by the wall; returns what both directories cost on two.

    Both directories hold as many transactions, so what they differ by is reading: what a process costs before it reads
    (start-up, kernels) and behind it (history, words) is in both, and falls out of the difference.
    """
    usages: dict[tuple[int, Path], list[Usage]] = {(count, place): [] for count in (1, 2) for place in (small, large)}
    for _ in range(cases.runs()):
        for (count, place), found in usages.items():
            with _held_to(count):
                found.append(measure.run(command(place)))
    least = {key: measure.cheapest(found) for key, found in usages.items()}
    more = {count: least[count, large].wall_s - least[count, small].wall_s for count in (1, 2)}
    spent = {count: least[count, large].cpu_s - least[count, small].cpu_s for count in (1, 2)}
    sizes = [cases.size_bytes(cases.logs(place)) / 2**20 for place in (large, small)]
    yield _faster(
        f"{name}, {sizes[0]:.0f} MiB, whole process, two cores against one",
        [(least[count, large].wall_s, least[count, large].cpu_s) for count in (2, 1)],
    )
    yield _faster(
        f"{name}, reading {sizes[0] - sizes[1]:.0f} MiB more: what a process costs before it reads left out",
        [(more[count], spent[count]) for count in (2, 1)],
    )
    return least[2, large], least[2, small]


def _faster(what: str, costs: list[tuple[float, float]]) -> Figure:
    """Of two cores and of one: seconds by the wall, of CPU."""
    (two, two_cpu), (one, one_cpu) = costs
    times = one / two if two > 0 else 0.0
    return Figure(
        what,
        f"{two:.2f} s wall, {two_cpu:.2f} s CPU",
        f"{one:.2f} s wall, {one_cpu:.2f} s CPU",
        f"{times:.2f} times faster, {two_cpu / one_cpu if one_cpu > 0 else 0:.2f} times the CPU",
        f">= {CORES_TIMES:.1f}",
        times >= CORES_TIMES,
    )


@contextmanager
def _held_to(count: int) -> Iterator[None]:
    """Run what is started inside on so many cores; systems that hold nobody run it on all."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _touching(large: Path, usages: tuple[Usage, Usage]) -> Iterator[Figure]:
    """The bounds: what as many transactions cost with next to no data, and the pages that hold headers, or all bytes.

    The pages are mapped and a byte of each header is taken, its place known.
    """
    few = measure.cheapest([measure.run(measure.diagnose(cases.ordinary_of(SMALL_MIB))) for _ in range(cases.runs())])
    places = {path: _headers(path) for path in cases.logs(large)}
    for what, read in [("touching the page of each header", _touched), ("reading all bytes", _read)]:
        reading = min(sum(read(path, headers) for path, headers in places.items()) for _ in range(cases.runs()))
        times = usages[0].wall_s / (few.wall_s + reading)
        yield Figure(
            f"diagnose, {cases.size_bytes(cases.logs(large)) / 2**20:.0f} MiB, against start-up and {what}",
            f"{usages[0].wall_s:.2f} s wall, {usages[0].cpu_s:.2f} s CPU",
            f"{few.wall_s:.2f} + {reading:.2f} s wall",
            f"{times:.2f} times",
            f"<= {TOUCHING_TIMES:.0f}",
            times <= TOUCHING_TIMES,
        )


def _memory(large: Usage, small: Usage) -> Figure:
    growth = large.peak_bytes / small.peak_bytes - 1
    return Figure(
        "peak RssAnon of diagnose, four times the data with as many transactions",
        f"{large.peak_bytes / 2**20:.0f} MiB",
        f"{small.peak_bytes / 2**20:.0f} MiB",
        f"{growth:+.1%}",
        f"within {MEMORY_GROWTH:.0%}",
        abs(growth) <= MEMORY_GROWTH,
    )


def _headers(path: Path) -> Any:
    """Where the batches of a segment begin."""
    with OpenFile(str(path)) as file:
        return np.concatenate([chunk.rows["position"] for chunk in SegmentWalk(file, check=CHECK_NONE).chunks()])


def _touched(path: Path, headers: Any) -> float:
    """Seconds by the wall of taking a byte of each header from the mapped file."""
    mapped, began = np.memmap(path, np.uint8, "r"), time.perf_counter()
    mapped[headers].sum()
    return time.perf_counter() - began


def _read(path: Path, headers: Any) -> float:
    """Seconds by the wall of reading a segment into one buffer."""
    buffer, began = memoryview(bytearray(BUFFER)), time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - began


def _split(name: str, reading: str, directory: Path) -> Figure:
    one, two = (_least(count, reading, directory) for count in (1, 2))
    times = one["wall_s"] / two["wall_s"]
    shares = " + ".join(f"{share:.2f}" for share in [two["first_s"], *two["others_s"]])
    return Figure(
        f"{name}, {cases.size_bytes(cases.logs(directory)) / 1e6:.0f} MB, two cores against one, kernels loaded",
        f"{two['wall_s']:.2f} s wall, {two['cpu_s']:.2f} s CPU = {shares}",
        f"{one['wall_s']:.2f} s wall, {one['cpu_s']:.2f} s CPU",
        f"{times:.2f} times faster, {two['cpu_s'] / one['cpu_s']:.2f} times the CPU",
        f">= {CORES_TIMES:.1f}",
        times >= CORES_TIMES,
    )


def _least(count: int, reading: str, directory: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.split", str(count), reading, str(directory)]
    found = [json.loads(measure.output(command)) for _ in range(cases.runs())]
    return min(found, key=lambda one: one["wall_s"])
