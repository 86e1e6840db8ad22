"""Which task reads what: files packed to tasks by their bytes, without a look into them.

A task is plain data and its rows follow from it alone, however often it is run: paths, sizes and stretches are fixed
here, and what a live broker appends later is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from itertools import chain, groupby
from pathlib import Path

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.extents import Extent
from kafkatx.evidence.item import LOG_KINDS, Item
from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.evidence.looking import Looker
from kafkatx.sources import places
from kafkatx.sources.archives import SEPARATOR, STANDARD_INPUT
from kafkatx.sources.said import again, said
from kafkatx.sources.stores import ways
from kafkatx.sources.urls import Way
from kafkatx.spark.request import OF_ALL_FILES, Request
from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.stages.models import joined_evidence
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.stages.seams import in_stretches
from kafkatx.stages.table_files import Light, Source, sources
from kafkatx.tables.settings import SETTINGS
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass

OF_TEXTS = LOG_KINDS
IN_STRETCHES = ("batches", "markers", "records", "transaction_states", "offset_commits", "cluster_events")
"""Tables whose files may be read in stretches; of the others a row needs the whole file, or the file is small."""


@dataclass(frozen=True, slots=True)
class Task:
    """What one task reads: some files, or stretches of them; of some tables whole captures, or the texts of them.

    `ways` is what it takes to open the stores that they lie in.
    """

    request: Request
    sources: tuple[Source, ...] = ()
    captures: tuple[Capture, ...] = ()
    ways: tuple[Way, ...] = field(default_factory=ways, repr=False)

    @property
    def roots(self) -> set[str]:
        """The paths as given under which its files lie."""
        inside = (item for capture in self.captures for one in capture.directories for item in one.items)
        texts = (item for capture in self.captures for item in capture.others)
        return {item.root for item in (*(source.item for source in self.sources), *inside, *texts)}


def placed(paths: Iterable[str | Path]) -> list[str]:
    """Return paths absolute: a worker has a working directory of its own. Raises UsageError for standard input."""
    given = [said(path) for path in places.admitted(paths)]
    if any(path == STANDARD_INPUT for _, path in given):
        raise UsageError("standard input can't be read by the workers of Spark: save it as a file first")
    return [again(words, places.normal(path)) for words, path in given]


def opened_evidence(
    paths: Iterable[str | Path], captures: dict[str, str] | None, looker: Looker | None = None
) -> JoinedEvidence:
    """Find the files and join them to captures; raises UsageError for a path that does not exist."""
    return joined_evidence(placed(paths), captures, looker)


def files_of(request: Request, evidence: JoinedEvidence) -> list[Source]:
    """The files that have rows of a table, each with no more than a task needs to know of its capture."""
    light, columns, has_rows = Light(), request.wanted, FILE_TABLES[request.table].has_rows
    return [
        replace(light.source(source), extent=Extent(_size(source.item), since=request.since), columns=columns)
        for source in sources(evidence, request.verify_all)
        if has_rows(source) and request.has_file(source.item.topic, source.partition)
    ]


def tasks_of(request: Request, files: Iterable[Source]) -> list[Task]:
    """Pack files to tasks, in the order given; what lies in one archive is one task, since all of it is unpacked."""
    units = [list(members) for _, members in groupby(files, _unit)]
    return [
        Task(request, tuple(chain.from_iterable(group)))
        for group in grouped(units, lambda unit: sum(map(read_bytes, unit)))
    ]


def tasks_of_settings(request: Request, evidence: JoinedEvidence) -> list[Task]:
    """Pack captures to tasks: what a setting means depends on all texts of its capture."""
    found = [replace(capture, directories=[], others=capture.texts(*OF_TEXTS)) for capture in evidence.captures]
    with_texts = [capture for capture in found if capture.others]
    return [
        Task(request, captures=tuple(group))
        for group in grouped(with_texts, lambda capture: sum(COST_OF_FILE + item.size for item in capture.others))
    ]


def tasks_of_captures(request: Request, evidence: JoinedEvidence) -> list[Task]:
    """Pack captures to tasks: what follows from all files of a capture is one task's at least."""
    return [Task(request, captures=tuple(group)) for group in grouped(evidence.captures, _size_of_capture)]


def _size_of_capture(capture: Capture) -> int:
    inside = (item for directory in capture.directories for item in directory.items)
    return sum(COST_OF_FILE + item.size for item in (*inside, *capture.others))


def planned(request: Request, evidence: JoinedEvidence, stretch_bytes: int | None = None) -> list[Task]:
    """Return the tasks of a table; nothing is read for it but what joins captures."""
    if request.table in OF_ALL_FILES:
        return tasks_of_captures(request, evidence)
    if request.table == SETTINGS.name:
        return tasks_of_settings(request, evidence)
    files = files_of(request, evidence)
    return tasks_of(request, in_stretches(files, stretch_bytes) if request.table in IN_STRETCHES else files)


def read_bytes(source: Source) -> int:
    """About how much work a file is, or the stretch of it that is read, in bytes."""
    item, extent = source.item, source.extent
    if item.part is not None:
        return COST_OF_FILE + item.part.end - item.part.position
    return COST_OF_FILE + max(0, min(extent.stop, item.size) - extent.start)


def _size(item: Item) -> int | None:
    """How many bytes of a file are read; a part of a text knows its end itself."""
    return item.size if item.part is None else None


def _unit(source: Source) -> tuple[str, int, int]:
    """What can't be apart: files of one archive."""
    path, item = source.item.path, source.item
    if SEPARATOR in path:
        return path.partition(SEPARATOR)[0], -1, -1
    return path, item.part.position if item.part is not None else -1, source.extent.start
