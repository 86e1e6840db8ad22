"""Stage two, on the executors: the facts of each partition, in order, folded to its story. Logs pass.

Grain: one partition of a capture. A worker holds what stretches told and some blocks; Spark sorts and spills the rest.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from typing import Any

from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.evidence.reading import PartitionReading
from kafkatx.evidence.stretches import StretchReading, Told, put_together
from kafkatx.segments.batches import Rows
from kafkatx.segments.merging import Stream
from kafkatx.stages.blocks import packed, unpacked, unpacked_states
from kafkatx.stages.decoding import blocks
from kafkatx.stages.facts import OF_CAPTURE, Fact, Rank, facts_of, record_batches
from kafkatx.stages.joining import intervals
from kafkatx.stages.partitions import fold


def folded(batches: Iterable[Any], stretch_bytes: int | None = None) -> Iterator[Any]:
    """Fold the partitions whose facts come in RecordBatches of FACTS; yields RecordBatches of FACTS."""
    subjects = groupby(facts_of(batches), key=lambda fact: fact.subject)
    return record_batches(fact for _, facts in subjects for fact in _subject(facts, stretch_bytes))


def _subject(facts: Iterator[Fact], stretch_bytes: int | None) -> Iterator[Fact]:
    first = next(facts)
    if first.rank is not Rank.PLAN or first.number == OF_CAPTURE:
        yield from chain((first,), facts)
        return
    plan: PartitionPlan = unpacked(first.payload)
    story = fold(plan, _Blocks(facts, stretch_bytes).streams)
    yield Fact(first.capture, first.number, Rank.STORY, packed(story))
    if story.history is None:
        return
    for key, found in intervals(story):
        if key in plan.numbers:
            state, row = found.state_partition, int(found.rows[0])
            yield Fact(first.capture, plan.numbers[key], Rank.INTERVALS, packed(found), row, state)


@dataclass(slots=True)
class _Blocks:
    """The facts of a partition behind its plan: first what stretches told, then blocks in order of their offsets."""

    facts: Iterator[Fact]
    stretch_bytes: int | None
    first_block: list[Fact] = field(default_factory=list)
    again: list[tuple[int, int, bytes]] = field(default_factory=list)

    def streams(self, reading: PartitionReading) -> Iterator[Stream]:
        """Put the files together from their stretches; yields the blocks that count, each as a stream."""
        counted = self._files(reading)
        arriving = (
            (fact.at, fact.file, fact.payload)
            for fact in chain(self.first_block, self.facts)
            if (fact.file, fact.begin) in counted
        )
        for at, file, block in heapq.merge(arriving, sorted(self.again, key=_place), key=_place):
            yield Stream(at, file, partial(_rows, reading, block))

    def _files(self, reading: PartitionReading) -> set[tuple[int, int]]:
        """What counts, by file and begin of the stretch; the others are read again here."""
        counted: set[tuple[int, int]] = set()
        for number, told in self._told().items():
            if isinstance(told[0], FileReading):
                reading.files[number] = told[0]
                counted.add((number, 0))
                continue
            given = reading.files[number]
            again = partial(self._read_again, reading.plan.is_state_log, number, given)
            counted |= {(number, begin) for begin in put_together(given, told, again)}
        return counted

    def _told(self) -> dict[int, list[Any]]:
        """What stretches told, by number of the file and in order."""
        found: dict[int, list[tuple[int, Any]]] = {}
        for fact in self.facts:
            if fact.rank is not Rank.TOLD:
                self.first_block.append(fact)
                break
            found.setdefault(fact.file, []).append((fact.begin, unpacked(fact.payload)))
        return {file: [told for _, told in sorted(parts, key=lambda part: part[0])] for file, parts in found.items()}

    def _read_again(
        self, is_state_log: bool, number: int, given: FileReading, begin: int, stop: int, after: Told
    ) -> Told:
        reading = StretchReading(given, begin, stop, self.stretch_bytes, after)
        self.again.extend((at, number, block) for at, block in blocks(reading, is_state_log))
        assert reading.told is not None
        return reading.told


def _place(block: tuple[int, int, bytes]) -> tuple[int, int]:
    return block[:2]


def _rows(reading: PartitionReading, block: bytes) -> Iterator[Rows]:
    yield unpacked_states(block, reading.names) if reading.plan.is_state_log else unpacked(block)
