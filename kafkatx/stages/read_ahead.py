"""Partitions whose files are read ahead on other cores, beyond the one that is folded.

Grain: one partition of a capture; plans come in order, and as many are looked at ahead as there is room for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from kafkatx.evidence.extents import Extent, first_possible_offset
from kafkatx.evidence.file_reading import FileReading, batches_of
from kafkatx.evidence.parted import PartedFile, Reads
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.evidence.reading import PartitionReading
from kafkatx.segments.batches import Rows, SegmentWalk
from kafkatx.segments.merging import Stream, in_order
from kafkatx.segments.names import Names, Renaming
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.ahead import Ahead
from kafkatx.sources.files import OpenFile
from kafkatx.stages.partitions import Streams
from kafkatx.terms.progress import Progress
from kafkatx.terms.records import dataclass


def read_ahead(plans: Iterable[PartitionPlan], ahead: Ahead, tick: Progress) -> Iterator[tuple[PartitionPlan, Streams]]:
    """Yield the plans, each with where its rows come from; `tick` is told of each file when its rows are asked for."""
    return ahead.in_order(plans, lambda plan: (plan, _FilesAhead(_parted(plan, ahead), tick).streams))


Named = tuple[Rows, Names]
"""Coordinator rows of a stretch, and the names that its reader gives: it may add to them meanwhile."""
Parted = PartedFile[None] | PartedFile[Named] | None
"""A file that is read in stretches; None for one that is read whole when its turn comes."""


def _parted(plan: PartitionPlan, ahead: Ahead) -> list[Parted]:
    return [_parted_file(given, plan.is_state_log, ahead) for given in plan.readings()]


def _parted_file(given: FileReading, is_state_log: bool, ahead: Ahead) -> Parted:
    """Plan a file: a text is read whole, and so are coordinator rows where no other core reads them."""
    if given.item.part is not None or (is_state_log and not ahead.is_parallel):
        return None
    if is_state_log:
        return PartedFile(given, Reads(partial(_state_walk, given), _states, leaves_batches=True), ahead)
    return PartedFile(given, Reads(given.batch_walk, _batches), ahead)


def _batches(walk: SegmentWalk) -> Iterator[tuple[Rows, None]]:
    return ((rows, None) for rows, _ in batches_of(walk))


def _state_walk(given: FileReading, file: OpenFile, extent: Extent) -> StateWalk:
    return given.state_walk(file, Names(), extent)


def _states(walk: StateWalk) -> Iterator[tuple[Rows, Named]]:
    return ((batches, (rows, walk.names)) for batches, rows in walk.state_chunks())


@dataclass(frozen=True, slots=True)
class _FilesAhead:
    """The files of a partition, in the order of its plan."""

    files: list[Parted]
    tick: Progress

    def streams(self, reading: PartitionReading) -> list[Stream]:
        """Return the streams of a reading of that plan."""
        return in_order(
            Stream(first_possible_offset(file.item), number, partial(self._rows, reading, number))
            for number, file in enumerate(reading.files)
        )

    def _rows(self, reading: PartitionReading, number: int) -> Iterator[Rows]:
        """Rows of a file, once they are asked for."""
        file, parted = reading.files[number], self.files[number]
        self.tick(file.item.path, file.item.size)
        if parted is None:
            return file.state_rows(reading.names) if reading.plan.is_state_log else file.batch_rows()
        return _rows_of(parted, file, reading.names)


def _rows_of(parted: PartedFile[None] | PartedFile[Named], file: FileReading, names: Names) -> Iterator[Rows]:
    renaming: tuple[Names, Renaming] | None = None
    for block in parted.blocks(file):
        found = [held for held in block.held if held is not None]
        if not found:
            yield block.batches
        for rows, others in found:
            if renaming is None or renaming[0] is not others:
                renaming = others, Renaming(others, names)
            if len(rows):
                yield renaming[1].rename(rows)
