"""What there is to read of the evidence, cut into tasks of about the same number of bytes; nothing is read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.plans import PartitionPlan, partition_plans
from kafkatx.evidence.stretches import NO_END, stretches
from kafkatx.evidence.unread import light
from kafkatx.stages.facts import OF_CAPTURE, CaptureFact, FactKind
from kafkatx.stages.logs import log_items
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.terms.records import dataclass


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
class SmallFile:
    """A .snapshot, or another small file beside a log, to be read."""

    capture: int
    number: int
    file: int
    item: Item


@dataclass(frozen=True, slots=True)
class LogOfCapture:
    """A log or a file of settings, to be read."""

    capture: int
    number: int
    item: Item


Piece = CaptureFact | StretchOfFile | SmallFile | LogOfCapture
"""What a task does: hand something on as it is, or read."""


def tasks(
    captures: list[Capture],
    verify_all: bool = False,
    stretch_bytes: int | None = None,
    at_once: int = 1,
    is_read: Callable[[Item], bool] = lambda item: False,
    is_light: bool = True,
) -> Iterator[list[Piece]]:
    """Pack all that is to be read into tasks, for about `at_once` of them at a time; leave out files that are read.

    `is_light`: captures are handed on without the files that nobody asks for once plans are made.
    """
    found = pieces(captures, verify_all, stretch_bytes, is_light=is_light)
    return grouped((one for one in found if (item := item_of(one)) is None or not is_read(item)), _cost, at_once)


def pieces(
    captures: list[Capture],
    verify_all: bool = False,
    stretch_bytes: int | None = None,
    whole: bool = False,
    is_light: bool = True,
) -> Iterator[Piece]:
    """Yield what there is to read, capture by capture: files in stretches, and what their logs need beside them.

    As a `whole`: each file at once, and also what is asked for when its files are gone.
    """
    for at, capture in enumerate(captures):
        yield CaptureFact(at, OF_CAPTURE, FactKind.PLAN, light(capture) if is_light and not whole else capture)
        numbers, at_hand = numbering(capture), capture.segments()
        for number, plan in enumerate(partition_plans(capture, verify_all)):
            yield CaptureFact(at, number, FactKind.PLAN, plan)
            yield from _of_partition(at, number, plan, stretch_bytes, whole)
            for file, item in enumerate(plan.beside, len(plan.snapshots)):
                yield SmallFile(at, number, file, item)
        for key, items in capture.entries(Kind.SNAPSHOT).items():
            if whole or key in at_hand:
                yield from (SmallFile(at, *numbers[item.key], item) for item in items)
        yield from (LogOfCapture(at, numbers[item.key][0], item) for item in log_items(capture))


def places_of_logs(captures: list[Capture]) -> dict[str, tuple[int, int]]:
    """Which capture each log belongs to, and its number there, by the keys of the logs."""
    numbers = ((at, capture, numbering(capture)) for at, capture in enumerate(captures))
    return {item.key: (at, known[item.key][0]) for at, capture, known in numbers for item in log_items(capture)}


def numbering(capture: Capture) -> dict[str, tuple[int, int]]:
    """Number what a capture's files are about: for the key of each, the number of the subject and its own within it.

    First partitions of which a log is at hand, in order of their plans, then logs, then other partitions' snapshots.
    """
    segments, snapshots = capture.segments(), capture.entries(Kind.SNAPSHOT)
    files: list[Sequence[Item]] = [[item for _, item in segments[key]] for key in sorted(segments)]
    files += [[item] for item in log_items(capture)]
    files += [snapshots[key] for key in sorted(snapshots.keys() - segments.keys())]
    found = {item.key: (number, file) for number, items in enumerate(files) for file, item in enumerate(items)}
    for number, key in enumerate(sorted(segments)):
        found.update({item.key: (number, file) for file, item in enumerate(snapshots.get(key, ()))})
    return found


def _of_partition(
    capture: int, number: int, plan: PartitionPlan, stretch_bytes: int | None, whole: bool
) -> Iterable[Piece]:
    for file, given in enumerate(plan.readings()):
        cuts = [(0, NO_END)] if whole else stretches(given.item.size, stretch_bytes)
        if given.item.part is not None:
            cuts = [(0, 0)]
        for begin, stop in cuts:
            yield StretchOfFile(capture, number, file, begin, stop, stretch_bytes, given, plan.is_state_log)


def item_of(piece: Piece) -> Item | None:
    """The file that a piece makes a task read; None where it hands something on."""
    match piece:
        case CaptureFact():
            return None
        case StretchOfFile():
            return piece.given.item
        case SmallFile() | LogOfCapture():
            return piece.item


def _cost(piece: Piece) -> int:
    """Bytes that a piece makes a task read, about."""
    match piece:
        case CaptureFact():
            return 0
        case SmallFile() | LogOfCapture():
            return COST_OF_FILE + piece.item.size
        case StretchOfFile():
            return COST_OF_FILE + min(piece.stop or piece.given.item.size, piece.given.item.size) - piece.begin
