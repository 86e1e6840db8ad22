"""How fast segments are read: against the peer's two ways of reading them, and by several cores against one.

python -m tests.benchmarks.report verifying     minutes: the peer's deep runs
python -m tests.benchmarks.report cores         4 GiB and four codecs; under five minutes on a quiet machine
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import cases, compressed, measure, peer
from tests.benchmarks.comparisons import Figure

SHALLOW_TIMES, DEEP_TIMES, SMALL_TIMES, CORES_TIMES, TOUCHING_TIMES, MEMORY_GROWTH = 1.4, 15.0, 1.5, 1.7, 3.0, 0.10
CODECS = ("none", "lz4", "zstd", "snappy")
SEGMENTS_MIB, SMALL_MIB = 800, 16
BUFFER = 2 << 20
RUNS = 3


def verifying() -> Iterator[Figure]:
    """CPU of `verify` and `verify --records` against kafka-dump-log, shallow and deep, 800 MB and 16 MiB."""
    yield _against_peer("verify", cases.ordinary_of(SEGMENTS_MIB), SHALLOW_TIMES)
    for codec in CODECS:
        yield _against_peer(f"verify --records, {codec}", _of_codec(codec), DEEP_TIMES, deep=True)
    yield _against_peer("verify", cases.ordinary_of(SMALL_MIB), SMALL_TIMES)
    yield _against_peer("verify --records", cases.ordinary_of(SMALL_MIB), SMALL_TIMES, deep=True)


def cores() -> Iterator[Figure]:
    """Two cores against one in process, and `diagnose` of 4 GiB against reading its bytes; memory of 4 GiB and 1."""
    large, small = cases.ordinary_of(4096), cases.ordinary_of(1024)
    for name, directory in [
        ("verify", small),
        ("records", small),
        *((f"records {codec}", _of_codec(codec)) for codec in CODECS[1:]),
        ("diagnose", large),
    ]:
        yield _split(name, name.split()[0], directory)
    yield from _touching(large, small)


def _of_codec(codec: str) -> Path:
    def make(place: Path) -> Path:
        return compressed.write(place, codec, SEGMENTS_MIB << 20)

    return cases.made(f"{codec}-{SEGMENTS_MIB}MiB", make)


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
    found = [json.loads(measure.output(command)) for _ in range(RUNS)]
    return min(found, key=lambda one: one["wall_s"])


def _touching(large: Path, small: Path) -> Iterator[Figure]:
    """The bound is the start of the process, which a small directory costs, and reading the bytes once."""
    start, ours, less = measure.alternately([measure.diagnose(one) for one in (cases.incident(), large, small)], RUNS)
    bound = start.wall_s + min(_read(large) for _ in range(RUNS))
    times = ours.wall_s / bound
    yield Figure(
        f"diagnose, {cases.size_bytes(cases.logs(large)) / 2**20:.0f} MiB, against start-up and reading its bytes once",
        f"{ours.wall_s:.2f} s wall, {ours.cpu_s:.2f} s CPU",
        f"{bound:.2f} s wall",
        f"{times:.2f} times",
        f"<= {TOUCHING_TIMES:.0f}",
        times <= TOUCHING_TIMES,
    )
    growth = ours.peak_bytes / less.peak_bytes - 1
    yield Figure(
        "peak RssAnon of diagnose, 4 GiB against 1 with as many transactions",
        f"{ours.peak_bytes / 2**20:.0f} MiB",
        f"{less.peak_bytes / 2**20:.0f} MiB",
        f"{growth:+.1%}",
        f"within {MEMORY_GROWTH:.0%}",
        abs(growth) <= MEMORY_GROWTH,
    )


def _read(directory: Path) -> float:
    """Seconds by the wall of reading all segments into one buffer."""
    buffer, began = memoryview(bytearray(BUFFER)), time.perf_counter()
    for path in cases.logs(directory):
        with path.open("rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    return time.perf_counter() - began
