"""Stage two: the facts of each partition, in order, folded to its model. Logs pass.

Grain: one partition of a capture. What stretches told and some blocks are held at a time; on Spark the JVM
sorts and spills the rest.
"""

from __future__ import annotations

import heapq
import types
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import partial
from itertools import chain, groupby
from typing import Any

from kafkatx.evidence.file_entries import ROWS_OF
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Kind
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.evidence.reading import PartitionReading
from kafkatx.evidence.stretches import NO_END, SplitSummary, StretchReading, put_together
from kafkatx.kernels.rows import BATCH
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import PRODUCER
from kafkatx.segments.merging import Stream
from kafkatx.stages.blocks import named_anew
from kafkatx.stages.codec import encode
from kafkatx.stages.decoding import blocks
from kafkatx.stages.fact_types import States
from kafkatx.stages.facts import FOLDED, OF_CAPTURE, CaptureFact, FactKind, FactsError
from kafkatx.stages.joining import intervals
from kafkatx.stages.partitions import PartitionStory, fold
from kafkatx.terms.records import dataclass

ENTRIES: Any = types.GenericAlias(tuple, (PRODUCER, list[Damage]))
"""Declares what a SNAPSHOT is: its entries, and what of it could not be read."""
OF_SMALL_FILE: dict[Kind, Any] = {
    kind: types.GenericAlias(tuple, (rows, list[Damage])) for kind, rows in ROWS_OF.items()
}
"""The same of each kind of small file."""


@dataclass(frozen=True, slots=True)
class RereadPolicy:
    """Files are at hand, and were read in stretches of so many bytes (None: as large as they are)."""

    stretch_bytes: int | None = None


def folded(facts: Iterable[CaptureFact], again: RereadPolicy | None) -> Iterator[CaptureFact]:
    """Fold the partitions whose facts come in order; yields their models, and the facts that stage three needs.

    Args:
        facts: those of stage one, in ORDER.
        again: how stretches are read again whose seams do not fit; None where the files may be gone, or are none of
            ours: then files must have been read whole.

    Raises:
        FactsError: facts are missing, or are no facts of stage one.
    """
    for _, of_subject in groupby(facts, key=lambda fact: fact.subject):
        yield from _subject(of_subject, again)


def _subject(facts: Iterator[CaptureFact], again: RereadPolicy | None) -> Iterator[CaptureFact]:
    first = next(facts)
    if first.rank is FactKind.PLAN and first.number != OF_CAPTURE:
        plan: PartitionPlan = first.says(PartitionPlan)
        model = _folded(plan, _Blocks(facts, again))
        kind = FactKind.STORY if plan.is_state_log else FactKind.SPANS
        yield CaptureFact(first.capture, first.number, kind, model)
        yield from _intervals(first.capture, plan, model)
        return
    for fact in chain((first,), facts):
        if fact.rank not in FOLDED:
            raise FactsError(f"not a fact of stage one: {fact.rank.name}")
        if fact.rank is not FactKind.SNAPSHOT:
            yield fact


def _intervals(capture: int, plan: PartitionPlan, model: PartitionStory) -> Iterator[CaptureFact]:
    """What the coordinator's log tells of each partition of data, as facts of that partition."""
    for key, found in intervals(model) if model.history is not None else ():
        if key in plan.numbers:
            state, row = found.state_partition, int(found.rows[0])
            yield CaptureFact(capture, plan.numbers[key], FactKind.INTERVALS, found, row, state)


def _folded(plan: PartitionPlan, blocks: _Blocks) -> PartitionStory:
    files = plan.small_files
    known = {files[file].key: content for file, content in blocks.small_files([item.kind for item in files])}
    return fold(plan, blocks.streams, lambda item: known[item.key])


@dataclass(slots=True)
class _Blocks:
    """The facts of a partition behind its plan: small files, what stretches told, blocks in order of their offsets."""

    facts: Iterator[CaptureFact]
    again: RereadPolicy | None
    next_fact: list[CaptureFact] = field(default_factory=list)
    read_again: list[tuple[int, int, CaptureFact]] = field(default_factory=list)

    def small_files(self, kinds: list[Kind]) -> Iterator[tuple[int, tuple[Rows, list[Damage]]]]:
        """Yield what was read of each small file, by its number; there must be these `kinds`, in order."""
        found = [*self._of_rank(FactKind.SNAPSHOT)]
        if [fact.file for fact in found] != [*range(len(kinds))]:
            raise FactsError(f"facts are missing: {len(found)} of {len(kinds)} small files are there")
        yield from ((fact.file, fact.says(OF_SMALL_FILE[kinds[fact.file]])) for fact in found)

    def _of_rank(self, rank: FactKind) -> Iterator[CaptureFact]:
        """The facts of a rank, which come next."""
        for fact in chain(self.next_fact, self.facts):
            self.next_fact = []
            if fact.rank is not rank:
                self.next_fact = [fact]
                return
            yield fact

    def streams(self, reading: PartitionReading) -> Iterator[Stream]:
        """Put the files together from their stretches; yields the blocks that count, each as a stream."""
        counted = self._files(reading)
        arriving = (
            (fact.at, fact.file, fact) for fact in self._of_rank(FactKind.BLOCK) if (fact.file, fact.begin) in counted
        )
        for at, file, block in heapq.merge(arriving, sorted(self.read_again, key=_place), key=_place):
            yield Stream(at, file, partial(_rows, reading, block))

    def _files(self, reading: PartitionReading) -> set[tuple[int, int]]:
        """What counts, by file and begin of the stretch; the others are read again here."""
        counted: set[tuple[int, int]] = set()
        told = self._told()
        if told.keys() != {*range(len(reading.files))}:
            raise FactsError(f"facts are missing: {len(told)} of {len(reading.files)} files of a log are there")
        for number, parts in told.items():
            if isinstance(parts[0], FileReading):
                item, reach = reading.files[number].item, replace(parts[0].reach, source=number)
                reading.files[number] = replace(parts[0], item=item, reach=reach)
                counted.add((number, 0))
                continue
            given = reading.files[number]
            if self.again is None and [(part.begin, part.stop) for part in parts] != [(0, NO_END)]:
                raise FactsError(f"not a fact: {given.item.path} was not read whole")
            again = partial(self._read_again, reading.plan.is_state_log, number, given)
            counted |= {(number, begin) for begin in put_together(given, parts, again)}
        return counted

    def _told(self) -> dict[int, list[Any]]:
        """What stretches told, by number of the file and in order."""
        found: dict[int, list[tuple[int, Any]]] = {}
        for fact in self._of_rank(FactKind.TOLD):
            found.setdefault(fact.file, []).append((fact.begin, fact.says(SplitSummary | FileReading)))
        return {file: [told for _, told in sorted(parts, key=lambda part: part[0])] for file, parts in found.items()}

    def _read_again(
        self, is_state_log: bool, number: int, given: FileReading, begin: int, stop: int, after: SplitSummary
    ) -> SplitSummary:
        assert self.again is not None
        reading = StretchReading(given, begin, stop, self.again.stretch_bytes, after)
        for at, block in blocks(reading, is_state_log):  # held as bytes: there may be many
            self.read_again.append((at, number, CaptureFact(0, 0, FactKind.BLOCK, encode(block), at, number, begin)))
        assert reading.told is not None
        return reading.told


def _place(block: tuple[int, int, CaptureFact]) -> tuple[int, int]:
    return block[:2]


def _rows(reading: PartitionReading, block: CaptureFact) -> Iterator[Rows]:
    is_state_log = reading.plan.is_state_log
    yield named_anew(block.says(States), reading.names) if is_state_log else block.says(BATCH)
