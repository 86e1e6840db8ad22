"""Which task of an export reads what: files packed by their bytes, and partitions that lie in one folder in strands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.segments.batches import STRETCH_BYTES
from kafkatx.stages.export_tasks import FileOfExport, files_of_export
from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.stages.lone_copies import TOLD_IN_ORDER, are_alone, partition_of
from kafkatx.stages.packing import LARGEST_TASK, grouped
from kafkatx.stages.seams import in_stretches
from kafkatx.stages.strands import Place, Strand

OTHERS = frozenset(FILE_TABLES) - {*TOLD_IN_ORDER}
SHARES = 2
"""Tasks for each that runs at a time, so that all have something to do to the end. A task costs some 0.1 s: it looks
for where it begins, and its memory is empty."""
LARGEST_STRAND = 1 << 30
"""Bytes of logs that one task reads at most: as many as a segment has by default."""


def tasks_of_export(evidence: JoinedEvidence, verify_all: bool, at_once: int) -> list[list[FileOfExport]]:
    """Pack all files to tasks, of which about so many run at once."""
    found = [*files_of_export(evidence, verify_all)]
    return _packed(_units(found, _largest(found, at_once)), at_once)


def tasks_of_places(
    evidence: JoinedEvidence, verify_all: bool, at_once: int, places: set[Place]
) -> list[list[FileOfExport]]:
    """Pack what is read once more, as blocks: of some tables the files of some partitions."""
    found = [*files_of_export(evidence, verify_all)]
    of = {partition: frozenset(table for table, whose in places if whose == partition) for _, partition in places}
    again = [
        FileOfExport(one.source, tables=of[partition])
        for one in found
        if (partition := partition_of(one.source)) is not None and partition in of
    ]
    return _packed(([one] for file in again for one in _cut(file, _largest(found, at_once))), at_once)


def _largest(found: list[FileOfExport], at_once: int) -> int:
    """How many bytes of logs one task reads, in whole stretches."""
    share = sum(one.bytes for one in found) // (SHARES * max(at_once, 1))
    return -(-min(max(share, LARGEST_TASK), LARGEST_STRAND) // STRETCH_BYTES) * STRETCH_BYTES


def _packed(units: Iterable[list[FileOfExport]], at_once: int) -> list[list[FileOfExport]]:
    packed = grouped(units, lambda unit: sum(one.bytes for one in unit), at_once)
    return [[one for unit in task for one in unit] for task in packed] or [[]]


def _units(found: list[FileOfExport], largest: int) -> Iterator[list[FileOfExport]]:
    """Yield what one task must read: strands of partitions that all lie in one folder, else each file alone.

    Of what is more than `largest` bytes, records and batches are read apart from the rest, in stretches.
    """
    logs: dict[str, list[FileOfExport]] = {}
    for one in found:
        if (partition := partition_of(one.source)) is not None:
            logs.setdefault(partition, []).append(one)
    alone = {name for name, of in logs.items() if are_alone(one.source.item for one in of if one.source is not None)}
    for one in found:
        partition = partition_of(one.source)
        if partition is None or partition not in alone:
            yield from _apart(one, largest)
        elif logs[partition][0] is one:
            yield from _strands(partition, sorted(logs[partition], key=_place), largest)


def _apart(one: FileOfExport, largest: int) -> Iterator[list[FileOfExport]]:
    """Yield a file alone, or without what is told in order, and that in stretches."""
    stretches = _cut(replace(one, pieces=(), placed=None, tables=frozenset(TOLD_IN_ORDER)), largest)
    if len(stretches) > 1:
        yield [replace(one, tables=OTHERS)]
        yield from ([stretch] for stretch in stretches)
    else:
        yield [one]


def _strands(partition: str, files: list[FileOfExport], largest: int) -> Iterator[list[FileOfExport]]:
    """Yield the logs of a partition as one strand, or without what is told in order, and strands of that."""
    if sum(one.bytes for one in files) <= largest:
        yield [replace(one, strand=Strand(partition)) for one in files]
        return
    told = [replace(one, pieces=(), placed=None, tables=frozenset(TOLD_IN_ORDER)) for one in files]
    strands = [*_neighbours((one for file in told for one in _cut(file, largest)), largest)]
    if len(strands) == 1:
        yield [replace(one, strand=Strand(partition)) for one in files]
        return
    yield from ([replace(one, tables=OTHERS)] for one in files)
    for number, strand in enumerate(strands):
        yield [replace(one, strand=Strand(partition, number, len(strands))) for one in strand]


def _cut(one: FileOfExport, largest: int) -> list[FileOfExport]:
    """Return what is read of a log, or its stretches."""
    sources = [] if one.source is None or not one.source.is_log else in_stretches([one.source], largest)
    return [replace(one, source=source) for source in sources] or [one]


def _neighbours(files: Iterable[FileOfExport], largest: int) -> Iterator[list[FileOfExport]]:
    held: list[FileOfExport] = []
    for one in files:
        if held and sum(file.bytes for file in (*held, one)) > largest:
            yield held
            held = []
        held.append(one)
    if held:
        yield held


def _place(one: FileOfExport) -> tuple[int, str]:
    item = one.source.item if one.source is not None else None
    return (item.base_offset, item.path) if item is not None else (-1, "")
