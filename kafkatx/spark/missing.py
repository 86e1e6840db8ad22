"""Files that a worker could not open: told to the driver beside the rows, and looked for there.

What is gone there too went meanwhile, as retention takes it: the coverage says so, as on one machine. What the driver
can open is a worker's fault, and no answer may be made without it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

import pyarrow.compute as pc

from kafkatx.sources import places
from kafkatx.sources.archives import SEPARATOR
from kafkatx.sources.files import OpenFile
from kafkatx.spark.failures import WorkerLacksFileError
from kafkatx.spark.trail import Trail, worker_name
from kafkatx.stages.fact_batches import ORDER, facts_of, record_batches
from kafkatx.stages.facts import NO_CAPTURE, OF_CAPTURE, CaptureFact, FactKind
from kafkatx.terms.records import dataclass

MOST_TOLD = 100
"""Files that a task tells of: where more are missing these will do."""


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A file that a worker could not open, and why; `has_folder` says whether it has the folder at least."""

    path: str
    worker: str
    problem: str
    has_folder: bool


@dataclass(slots=True)
class Opened:
    """What a task opens, as its trail notes it, and what it could not open."""

    trail: Trail
    missing: dict[str, MissingFile] = field(default_factory=dict)

    def opening(self, path: str) -> None:
        """Note it."""
        self.trail.opening(path)

    def refused(self, path: str, error: OSError) -> None:
        """Keep it, to be told."""
        if len(self.missing) < MOST_TOLD:
            problem = error.strerror or str(error)
            self.missing.setdefault(path, MissingFile(path, worker_name(), problem, _has_folder(path)))


Report = Callable[[Iterable[MissingFile]], Iterator[Any]]
"""Makes RecordBatches of what was missing, for the rows that a step yields."""


def as_facts(missing: Iterable[MissingFile]) -> Iterator[Any]:
    """Tell what was missing as facts, which stand beside all captures."""
    return record_batches(
        CaptureFact(NO_CAPTURE, OF_CAPTURE, FactKind.MISSING, one, secrets.randbits(62), 0, secrets.randbits(62))
        for one in missing
    )


def raised(missing: Iterable[MissingFile]) -> Iterator[Any]:
    """Fail where not even the folder of a file is there; one that retention took has no rows.

    For rows that nobody looks at before they are used.
    """
    for one in missing:
        if not one.has_folder:
            raise lacks(one)
    return iter(())


def apart(batches: Iterable[Any]) -> tuple[Iterator[Any], list[Any]]:
    """Part RecordBatches of FACTS: those of captures, and a list of those beside them, full when they are exhausted."""
    beside: list[Any] = []

    def of_captures() -> Iterator[Any]:
        for batch in batches:
            is_beside = pc.less(batch.column("capture"), 0)
            if pc.any(is_beside).as_py():
                beside.append(batch.filter(is_beside))
                batch = batch.filter(pc.invert(is_beside))
            if batch.num_rows:
                yield batch

    return of_captures(), beside


def told_beside(batches: Iterable[Any]) -> list[MissingFile]:
    """The missing files of RecordBatches of FACTS that hold nothing else."""
    order = [(name, "ascending") for name in ORDER]
    return [fact.says(MissingFile) for batch in batches for fact in facts_of([batch.sort_by(order)])]


def look_for(missing: Iterable[MissingFile]) -> None:
    """Open here what a worker could not open; raises WorkerLacksFileError for the first that can be."""
    looked: set[str] = set()
    for one in missing:
        if one.path not in looked and _can_open(one.path):
            raise lacks(one)
        looked.add(one.path)


def lacks(one: MissingFile) -> WorkerLacksFileError:
    """Say that a worker lacks a file."""
    return WorkerLacksFileError(
        f"worker {one.worker} can't open {one.path}: {one.problem}",
        ["All workers must reach all files by the same path: a mount that each of them has, or an object store."],
        file=one.path,
        worker=one.worker,
    )


def _can_open(path: str) -> bool:
    try:
        with OpenFile(path) as file:
            file.read(0, 1)
            return file.problem is None
    except OSError:
        return False


def _has_folder(path: str) -> bool:
    outer = path.partition(SEPARATOR)[0]
    return places.is_url(outer) or places.is_folder(places.parent(outer))
