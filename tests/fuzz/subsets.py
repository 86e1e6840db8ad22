"""Parts of a case, none of them changed: data alone, rows alone, one log, one partition, each pair of them.

A seed is the number of a part, in the order of cases and of their parts: all of them are some thousands. What stands in
a trial: `case`, `parts` (paths below the case).

Held against the answer to all that is at hand, alone: more evidence never makes an answer worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

from kafkatx.terms.topics import CLUSTER_METADATA, CONSUMER_OFFSETS, TRANSACTION_STATE
from tests.fuzz.oracle import Trial, case_named, drawn_from, false_claims, told
from tests.fuzz.watching import again

LEFT_OUT = (CLUSTER_METADATA, CONSUMER_OFFSETS)


@cache
def parts_of(name: str) -> dict[str, tuple[str, ...]]:
    """The parts of a case by their names: of the disk and of its dump text by partition, logs and settings by file."""
    case, found = case_named(name), {}
    for kind, top in (("disk", ""), ("dump", "kafka-dump-log/")):
        folders = sorted({path.parent for path in case.glob(f"{top}broker-*/*/*.log*") if path.stat().st_size})
        by_partition: dict[str, list[str]] = {}
        for folder in folders:
            if not folder.name.startswith(LEFT_OUT):
                by_partition.setdefault(folder.name, []).append(str(folder.relative_to(case)))
        found |= {f"{kind} {partition}": tuple(paths) for partition, paths in sorted(by_partition.items())}
        found[f"{kind} data"] = _of(by_partition, False)
        found[f"{kind} rows"] = _of(by_partition, True)
    for path in sorted([*case.glob("logs/**/*"), *case.glob("config/**/*")]):
        if path.is_file():
            found[f"file {path.relative_to(case)}"] = (str(path.relative_to(case)),)
    return {name: paths for name, paths in found.items() if paths}


def _of(by_partition: dict[str, list[str]], rows: bool) -> tuple[str, ...]:
    return tuple(
        path
        for partition, paths in sorted(by_partition.items())
        if partition.startswith(TRANSACTION_STATE) is rows
        for path in paths
    )


@cache
def _all(collection: bool) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (case, names)
        for case in drawn_from(collection)
        for size in (1, 2)
        for names in combinations(parts_of(case), size)
    ]


def count(collection: bool = False) -> int:
    """How many there are."""
    return len(_all(collection))


def drawn(seed: int, collection: bool = False) -> Trial | None:
    """Return the trial of a number; None behind the last."""
    if seed >= count(collection):
        return None
    case, names = _all(collection)[seed]
    paths = sorted({path for name in names for path in parts_of(case)[name]})
    return {"case": case, "parts": paths}


def faults(trial: Trial, folder: Path) -> Iterator[str]:
    """Say what went wrong with a trial."""
    case = case_named(trial["case"])
    again()
    found = told(case / path for path in trial["parts"])
    yield from false_claims(trial["case"], found, traced=False)
