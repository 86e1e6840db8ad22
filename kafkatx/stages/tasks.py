"""What there is to read of the evidence, cut into tasks of about the same number of bytes; nothing is read for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Item
from kafkatx.evidence.plans import PartitionPlan, partition_plans
from kafkatx.evidence.stretches import stretches
from kafkatx.stages.blocks import packed
from kafkatx.stages.facts import OF_CAPTURE, Fact, Rank
from kafkatx.stages.logs import log_items

SMALLEST_TASK, LARGEST_TASK = 4 << 20, 64 << 20
COST_OF_FILE = 64 << 10
"""What opening a file costs, in bytes that could have been read instead."""


@dataclass(frozen=True, slots=True)
class StretchOfFile:
    """A stretch of a file of a partition's log, to be read; of a text the whole part (`stop` is 0)."""

    capture: int
    number: int
    file: int
    begin: int
    stop: int
    stretch_bytes: int | None
    given: FileReading
    is_state_log: bool


@dataclass(frozen=True, slots=True)
class LogOfCapture:
    """A log or a file of settings, to be read; `coverage` is begun."""

    capture: int
    number: int
    item: Item
    coverage: Coverage


Piece = Fact | StretchOfFile | LogOfCapture
"""What a task does: hand something on as it is, or read."""


def tasks(
    captures: list[Capture], verify_all: bool = False, stretch_bytes: int | None = None, at_once: int = 1
) -> Iterator[list[Piece]]:
    """Pack all that is to be read into tasks, for about `at_once` of them at a time."""
    found = [*_pieces(captures, verify_all, stretch_bytes)]
    total = sum(_cost(piece) for piece in found)
    limit = min(max(total // max(at_once, 1), SMALLEST_TASK), LARGEST_TASK)
    task: list[Piece] = []
    cost = 0
    for piece in found:
        if task and cost + _cost(piece) > limit:
            yield task
            task, cost = [], 0
        task.append(piece)
        cost += _cost(piece)
    yield task


def _pieces(captures: list[Capture], verify_all: bool, stretch_bytes: int | None) -> Iterator[Piece]:
    for at, capture in enumerate(captures):
        yield Fact(at, OF_CAPTURE, Rank.PLAN, packed(capture))
        number = 0
        for plan in partition_plans(capture, verify_all):
            yield Fact(at, number, Rank.PLAN, packed(plan))
            yield from _of_partition(at, number, plan, stretch_bytes)
            number += 1
        for item in log_items(capture):
            yield LogOfCapture(at, number, item, coverage_of(capture, item, None))
            number += 1


def _of_partition(capture: int, number: int, plan: PartitionPlan, stretch_bytes: int | None) -> Iterable[Piece]:
    for file, given in enumerate(plan.readings()):
        cuts = [(0, 0)] if given.item.part is not None else stretches(given.item.size, stretch_bytes)
        for begin, stop in cuts:
            yield StretchOfFile(capture, number, file, begin, stop, stretch_bytes, given, plan.is_state_log)


def _cost(piece: Piece) -> int:
    """Bytes that a piece makes a task read, about."""
    match piece:
        case Fact():
            return len(piece.payload)
        case StretchOfFile():
            return COST_OF_FILE + min(piece.stop or piece.given.item.size, piece.given.item.size) - piece.begin
        case LogOfCapture():
            return COST_OF_FILE + piece.item.size
