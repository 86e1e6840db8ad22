"""Runs ranges of clusters and counts: `python -m tests.simulated --seeds 0:5000`; what was run is not run again."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from tests.simulated.judging import judged


def main() -> int:
    """Run the seeds that are not in the file yet, and print figures by kind of fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0:100", help="FIRST:END")
    parser.add_argument("--results", type=Path, help="file of results, a line a cluster; runs go on behind it")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    given = parser.parse_args()
    first, end = map(int, given.seeds.split(":"))
    rows = read(given.results)
    stop = time.monotonic() + given.seconds
    for seed in range(first, end):
        if seed in rows or time.monotonic() > stop:
            continue
        rows[seed] = judged(seed).to_row()
        missed = [kind for kind, became in rows[seed]["faults"] if became == "missed"]
        if rows[seed]["false"] or missed:
            print(f"{seed} ({rows[seed]['release']})", *shown(rows[seed]["false"]), *missed, sep="\n    ", flush=True)
        if given.results:
            with given.results.open("a") as file:
                file.write(json.dumps(rows[seed]) + "\n")
    chosen = [row for seed, row in rows.items() if first <= seed < end]
    print(figures(chosen))
    return int(any(row["false"] for row in chosen))


def shown(false: list[str]) -> list[str]:
    """Return the first of each rule, and how many more there are."""
    by_rule: dict[str, list[str]] = {}
    for one in false:
        by_rule.setdefault(one.partition(" ")[0], []).append(one)
    return [f"{len(alike)} x {alike[0]}" for alike in by_rule.values()]


def read(path: Path | None) -> dict[int, dict]:
    """Return the rows of an earlier run, by seed."""
    if path is None or not path.exists():
        return {}
    rows = map(json.loads, path.read_text().splitlines())
    return {row["seed"]: row for row in rows}


def figures(rows: list[dict]) -> str:
    """Return what was found of each kind of fault, and how many clusters hold a false accusation."""
    counts = Counter((kind, became) for row in rows for kind, became in row["faults"])
    kinds = sorted({kind for kind, _ in counts})
    lines = [
        f"{kind:32} found {counts[kind, 'found']:6}  not checkable {counts[kind, 'not checkable']:5}"
        f"  missed {counts[kind, 'missed']:5}"
        for kind in kinds
    ]
    false = sum(bool(row["false"]) for row in rows)
    return "\n".join([*lines, f"{len(rows)} clusters, {false} with a false accusation"])
