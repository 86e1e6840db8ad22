"""Texts under careless hands: lines of dumps and logs lost, elided, repeated, turned round, put into one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.cases.weakening import ids_of
from tests.evidence import fixtures

Texts = dict[str, list[str]]
"""Lines by path."""
Finding = dict[str, Any]
SURE = ("likely", "proved")

DUMPS, LOGS = "kafka-dump-log", "logs"


@cache
def texts(name: str, below: tuple[str, ...] = (DUMPS, LOGS)) -> Texts:
    """Return what tools and programs printed in a case: dumps of topics' logs, and logs."""
    case, found = fixtures() / name, Texts()
    for path in sorted(path for folder in below for path in (case / folder).rglob("*") if path.is_file()):
        if "__cluster_metadata" not in str(path) and "__consumer_offsets" not in str(path):
            found[str(path.relative_to(case))] = path.read_text(errors="replace").splitlines()
    return found


@dataclass(frozen=True, slots=True)
class Mangling:
    """One careless act on the files whose paths hold `where`: `kind`, and `at`, `size`, `to` as parts of a file of
    1,000.
    """

    kind: str
    where: str
    at: int
    size: int
    to: int = 0

    def of(self, lines: list[str]) -> list[str]:
        """Return the lines as they are left."""
        first = len(lines) * self.at // 1_000
        end = min(len(lines), first + max(1, len(lines) * self.size // 1_000))
        return KINDS[self.kind](lines, first, end, len(lines) * self.to // 1_000)


def _shuffled(lines: list[str], first: int, end: int, to: int) -> list[str]:
    rest = [*lines[:first], *lines[end:]]
    return [*rest[:to], *lines[first:end], *rest[to:]]


KINDS = {
    "head": lambda lines, first, end, to: lines[end - first :],
    "tail": lambda lines, first, end, to: lines[: len(lines) - (end - first)],
    "middle": lambda lines, first, end, to: [*lines[:first], *lines[end:]],
    "elided": lambda lines, first, end, to: [*lines[:first], "...", *lines[end:]],
    "line": lambda lines, first, end, to: [*lines[:first], *lines[first + 1 :]],
    "every": lambda lines, first, end, to: [
        line for number, line in enumerate(lines) if number % max(2, end - first) != first % max(2, end - first)
    ],
    "repeated": lambda lines, first, end, to: [*lines[:to], *lines[first:end], *lines[to:]],
    "moved": _shuffled,
    "halved": lambda lines, first, end, to: (
        [*lines[:first], lines[first][: len(lines[first]) // 2], *lines[first + 1 :]] if first < len(lines) else lines
    ),
    "headless": lambda lines, first, end, to: lines[2:],
}
"""What is done to the lines [first, end) of a file; `to` is a place in it."""

ONE_FILE = ("apart", "one", "one with logs", "one by logs")


def mangled(given: Texts, manglings: list[Mangling]) -> Texts:
    """Return texts after some careless acts, one after the other."""
    found = dict(given)
    for act in manglings:
        for path in found:
            if act.where in path and found[path]:
                found[path] = act.of(found[path])
    return found


def laid(found: Texts, layout: str) -> Texts:
    """Put texts into files: each its own, or one after the other in one file."""
    if layout == "apart":
        return found
    dumps = [path for path in sorted(found) if path.startswith(DUMPS)]
    logs = [path for path in sorted(found) if not path.startswith(DUMPS)]
    groups = {
        "one": {"dumps.txt": dumps, "logs.txt": logs},
        "one with logs": {"all.txt": [*dumps, *logs]},
        "one by logs": {"all.log": [*logs, *dumps]},
    }[layout]
    return {name: [line for path in paths for line in found[path]] for name, paths in groups.items() if paths}


def write(found: Texts, folder: Path) -> list[Path]:
    """Write texts; returns what is to be diagnosed."""
    for path, lines in found.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(f"{line}\n" for line in lines))
    return [folder]


def false_claims(whole: list[Finding], left: list[Finding]) -> Iterator[str]:
    """Say what is claimed as likely or proved of what careless hands left, and nowhere of the whole evidence.

    A claim needs one of its rule and about its id (any, where what was lost told the id). Remarks are
    no claims, nor is a failure whose cause was lost.
    """
    for one in left:
        is_claim = one["verdict"] in SURE and one["severity"] != "info" and one["rule"] != "unexplained_failure"
        if is_claim and not any(_supports(other, one) for other in whole):
            yield f"{one['severity']} {one['verdict']} {one['rule']}: {one['summary']}"


def _supports(other: Finding, one: Finding) -> bool:
    ids = ids_of(one)
    return other["rule"] == one["rule"] and other["verdict"] in SURE and (not ids or bool(ids & ids_of(other)))
