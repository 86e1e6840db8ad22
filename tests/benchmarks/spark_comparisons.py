"""What Spark costs: one core against two in the same run, and against the local engine over the same directories.

    KAFKATX_BENCH_SPARK_MIB     ordinary directory in MiB (default 1024)
    KAFKATX_BENCH_SPARK_SHARE   the skewed case is a whole one divided by this (default 1)

Start-up of Spark is told apart. All else is of warm processes: workers forked, kernels loaded.
"""

import functools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks import cases, measure
from tests.benchmarks.comparisons import Figure
from tests.benchmarks.spark_run import STEPS

WORKER_BYTES = 512 << 20
ONE, TWO, HERE = "local[1]", "local[2]", "here"


def spark() -> Iterator[Figure]:
    """Lines whose left value is of local[2], the right one of local[1] (or of the local engine, where it says so)."""
    directories = _directories()
    runs = {master: _run(master, tuple(directories)) for master in (HERE, ONE, TWO)}
    yield Figure("start of Spark, first job included", _s(runs[TWO]["start_s"]), _s(runs[ONE]["start_s"]), "")
    for number, directory in enumerate(directories):
        of = {master: run["runs"][number] for master, run in runs.items()}
        yield from _figures(_described(directory, of[TWO]), of)


def _figures(what: str, of: dict[str, dict[str, Any]]) -> Iterator[Figure]:
    one, two, here = of[ONE], of[TWO], of[HERE]
    same = len({run["document"] for run in of.values()}) == 1
    yield Figure(f"{what}: the same document from all three", "", "", "", "the same", same)
    yield _speed(f"{what}: diagnosis, wall", two["wall_s"], one["wall_s"])
    yield _speed(f"{what}: of it decoding", two["stages"]["decode"]["wall_s"], one["stages"]["decode"]["wall_s"])
    yield Figure(f"{what}: decode throughput", _decoded(two), _decoded(one), "")
    yield Figure(f"{what}: reading `batches` to nowhere", _read(two), _read(one), _times(one["read_s"] / two["read_s"]))
    for master, run in ((TWO, two), (ONE, one)):
        yield _overhead(f"{what}: {master} against the local engine", run, here)
    yield Figure(f"{what}: cores busy, by step", _busy(two, 2), _busy(one, 1), "")
    yield Figure(f"{what}: longest task, by step", _longest(two), _longest(one), "")
    highest = max(resident for resident, _ in two["workers"] + one["workers"])
    holds = highest < WORKER_BYTES
    yield Figure(f"{what}: highest of a Python worker", _memory(two), _memory(one), "", "VmHWM < 512 MiB", holds)


def _directories() -> list[Path]:
    mib, share = cases.setting("SPARK_MIB", 1024), cases.setting("SPARK_SHARE", 1)
    return [cases.ordinary_of(max(mib // 4, 1)), cases.ordinary_of(mib), cases.skewed_of(share)]


@functools.cache
def _run(master: str, directories: tuple[Path, ...]) -> dict[str, Any]:
    warm_up = cases.skewed_of(50)
    command = [sys.executable, "-m", "tests.benchmarks.spark_run", master, *map(str, (warm_up, *directories))]
    found: dict[str, Any] = json.loads(measure.output(command))
    return found


def _described(directory: Path, run: dict[str, Any]) -> str:
    return f"{directory.name.partition('-')[2]}, {run['bytes'] / 2**20:.0f} MiB, {run['batches']:,} batches"


def _speed(what: str, two: float, one: float) -> Figure:
    return Figure(what, _s(two), _s(one), _times(one / two))


def _overhead(what: str, run: dict[str, Any], here: dict[str, Any]) -> Figure:
    wall, cpu = run["wall_s"] / here["wall_s"], run["cpu_s"] / here["cpu_s"]
    return Figure(what, _cost(run), _cost(here), f"{wall:.2f} times the wall, {cpu:.2f} times the CPU")


def _decoded(run: dict[str, Any]) -> str:
    return _rate(run, run["stages"]["decode"]["wall_s"])


def _read(run: dict[str, Any]) -> str:
    return _rate(run, run["read_s"])


def _rate(run: dict[str, Any], seconds: float) -> str:
    return f"{run['bytes'] / 1e6 / seconds:.0f} MB/s, {run['batches'] / seconds:,.0f} batches/s"


def _busy(run: dict[str, Any], cores: int) -> str:
    """Share of the cores' time in which tasks ran, by step."""
    stages = [run["stages"][step] for step in STEPS]
    return ", ".join(
        f"{step} {sum(stage['task_s']) / (cores * stage['wall_s']):.0%}"
        for step, stage in zip(STEPS, stages, strict=True)
    )


def _longest(run: dict[str, Any]) -> str:
    stages = [run["stages"][step] for step in STEPS]
    return ", ".join(
        f"{step} {stage['task_s'][0]:.1f} of {sum(stage['task_s']):.1f} s in {len(stage['task_s'])}"
        for step, stage in zip(STEPS, stages, strict=True)
    )


def _memory(run: dict[str, Any]) -> str:
    resident, anonymous = (max(one[place] for one in run["workers"]) >> 20 for place in (0, 1))
    return f"VmHWM {resident} MiB, RssAnon {anonymous} MiB"


def _cost(run: dict[str, Any]) -> str:
    return f"{run['cpu_s']:.1f} s CPU, {run['wall_s']:.1f} s wall"


def _s(seconds: float) -> str:
    return f"{seconds:.1f} s"


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times faster"
