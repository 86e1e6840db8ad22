"""Runs of exports that hold evidence of one capture, united: their files are copies, as if all lay side by side.

Copies    a file that stayed as it was (the same path, the same SHA-256) is read once, of the newest run; one that grew,
          or of which a later run has less, is a copy more. A log with whose lines another run's begins says nothing
          of its own, and of a file of settings the newest stands.
Numbers   facts name partitions, logs and files by their places in the plan of their run; here they get those of the
          united capture's plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.clusters import BatchKey, fingerprint_of
from kafkatx.evidence.directories import DataDirectory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.log_reading import FileFacts
from kafkatx.evidence.plans import PartitionPlan, partition_plans
from kafkatx.evidence.run_copies import copy_of
from kafkatx.sources.archives import SEPARATOR
from kafkatx.stages.facts import OF_CAPTURE, CaptureFact, FactKind
from kafkatx.stages.logs import log_items
from kafkatx.stages.tasks import numbering
from kafkatx.terms.records import dataclass

SAME_EVENT = ("position", "at", "kind", "producer_id", "producer_epoch", "offset")
"""Columns by which an event of a log is known in another copy of it."""
Log = Callable[[Item], FileFacts]
Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CaptureOfRun:
    """A capture as one run has it, the SHA-256 of its files by path, what its logs say, and its first batches.

    These are known of captures without a cluster.id: what stands for one is made of them.
    """

    capture: Capture
    sums: dict[str, str]
    log: Log
    first: frozenset[BatchKey] = frozenset()


@dataclass(frozen=True, slots=True)
class Renumbering:
    """Where facts of one run's capture belong in the united one; what is not named is dropped.

    `logs`, `files` and `small` lead from number, or number and file, in the plan of the run to those in the united
    plan, `items` from the key of an item in the united capture to the run's own; `strays` are numbers of snapshots
    without a log whose partition has a log in another run.
    """

    items: dict[str, Item]
    logs: dict[int, int]
    files: dict[Key, Key]
    small: dict[Key, Key]
    strays: frozenset[int]

    def place(self, rank: FactKind, number: int, file: int) -> Key | None:
        """Return number and file in the united plan of a fact of the run, None where another run tells it."""
        if rank is FactKind.PLAN:
            return None
        if rank is FactKind.LOG:
            united = self.logs.get(number)
            return None if united is None else (united, file)
        return (self.small if rank is FactKind.SNAPSHOT else self.files).get((number, file))


@dataclass(frozen=True, slots=True)
class UnitedCapture:
    """A capture of several runs, the plans of its partitions, and where facts of each run belong, in order of runs."""

    capture: Capture
    plans: tuple[PartitionPlan, ...]
    parts: tuple[Renumbering, ...]

    def plan_facts(self, number: int) -> Iterator[CaptureFact]:
        """Yield the facts that say what there is to read; the capture is `number` among all."""
        yield CaptureFact(number, OF_CAPTURE, FactKind.PLAN, self.capture)
        yield from (CaptureFact(number, at, FactKind.PLAN, plan) for at, plan in enumerate(self.plans))


def united_capture(parts: list[CaptureOfRun], verify_all: bool) -> UnitedCapture:
    """Unite a capture's runs, the oldest first."""
    kept = [_Kept(part, len(parts) - 1 - at) for at, part in enumerate(parts)]
    _without_repeats(kept)
    newest, first = parts[-1].capture, [part.first for part in parts]
    directories = [one for part in kept for one in part.directories()]
    capture = replace(
        newest,
        fingerprint=fingerprint_of(first) if all(first) else parts[0].capture.fingerprint,
        directories=directories,
        others=[item for part in kept for item in part.chosen(part.of.capture.others)],
    )
    plans = tuple(partition_plans(capture, verify_all))
    places = _Places(capture, plans)
    return UnitedCapture(capture, plans, tuple(_renumbering(part, places) for part in kept))


@dataclass(slots=True)
class _Kept:
    """What of one run is used: all items but those that another run has as they are; `copy` counts from the newest."""

    of: CaptureOfRun
    copy: int
    dropped: set[str] = field(default_factory=set)

    def items(self) -> Iterator[Item]:
        """Yield all files of the run."""
        for directory in self.of.capture.directories:
            yield from directory.items
        yield from self.of.capture.others

    def chosen(self, items: Iterable[Item]) -> list[Item]:
        """The items that are used, as copies."""
        return [self.copied(item) for item in items if item.key not in self.dropped]

    def copied(self, item: Item) -> Item:
        """An item as the copy that this run has."""
        return replace(item, copy=self.copy, data_directory=copy_of(item.data_directory, self.copy))

    def directories(self) -> Iterator[DataDirectory]:
        """The data directories that hold something that is used."""
        for directory in self.of.capture.directories:
            items = self.chosen(directory.items)
            if items:
                yield replace(directory, path=copy_of(directory.path, self.copy), items=items)

    def sum_of(self, item: Item) -> tuple[str, str, str] | None:
        """What makes a file of two runs the same; None where its bytes are not known by a sum."""
        known = self.of.sums.get(item.path.partition(SEPARATOR)[0])
        return (item.key, item.kind.value, known) if known is not None else None


def _without_repeats(kept: list[_Kept]) -> None:
    """Drop of each run what a later one has as it was, settings that a later one has, and logs that went on."""
    seen: set[tuple[str, str, str]] = set()
    settings: set[str] = set()
    for part in reversed(kept):
        found = {item.key: part.sum_of(item) for item in part.items()}
        part.dropped |= {key for key, told in found.items() if told is not None and told in seen}
        seen |= {told for told in found.values() if told is not None}
        stated = {item.key for item in log_items(part.of.capture) if item.kind is Kind.SETTINGS}
        part.dropped |= stated & settings
        settings |= stated
    _without_beginnings(kept)


def _without_beginnings(kept: list[_Kept]) -> None:
    """Drop of each run the logs with which a log of another run begins; of equal ones the newest run's stays."""
    read = [
        (part, item.key, part.of.log(item))
        for part in reversed(kept)
        for item in log_items(part.of.capture)
        if item.kind is Kind.TEXT_LOG and item.key not in part.dropped
    ]
    whole: list[tuple[_Kept, FileFacts]] = []
    for part, key, log in sorted(read, key=lambda entry: -len(entry[2].facts.events)):
        if any(other is not part and _begins_with(longer, log) for other, longer in whole):
            part.dropped.add(key)
        else:
            whole.append((part, log))


def _begins_with(log: FileFacts, other: FileFacts) -> bool:
    """Whether a log begins with all that another one says."""
    one, two = log.facts.events, other.facts.events
    if not len(two):
        return log.coverage.path == other.coverage.path
    return len(two) <= len(one) and all(np.array_equal(one[name][: len(two)], two[name]) for name in SAME_EVENT)


class _Places:
    """Where each item of the united capture stands in its plans."""

    def __init__(self, capture: Capture, plans: tuple[PartitionPlan, ...]) -> None:
        self.numbers = numbering(capture)
        self.files = {f.item.key: (at, n) for at, plan in enumerate(plans) for n, f in enumerate(plan.files)}
        self.small = {item.key: (at, n) for at, plan in enumerate(plans) for n, item in enumerate(plan.small_files)}
        self.with_log = len(plans)


def _renumbering(part: _Kept, places: _Places) -> Renumbering:
    """Say where the facts of a run belong."""
    capture = part.of.capture
    plans, own = [*partition_plans(capture)], numbering(capture)
    files: dict[Key, Key] = {}
    small: dict[Key, Key] = {}
    for at, plan in enumerate(plans):
        for number, file in enumerate(plan.files):
            _note(files, (at, number), places.files.get(part.copied(file.item).key))
        for number, item in enumerate(plan.small_files):
            _note(small, (at, number), places.small.get(part.copied(item).key))
    strays: set[int] = set()
    for item in (item for items in capture.entries(Kind.SNAPSHOT).values() for item in items):
        number, _ = own[item.key]
        place = places.numbers.get(part.copied(item).key)
        if number >= len(plans) and place is not None:
            small[own[item.key]] = places.small.get(part.copied(item).key, place)
            strays |= {number} if place[0] < places.with_log else set()
    logs = {own[item.key][0]: places.numbers.get(part.copied(item).key) for item in log_items(capture)}
    told = {number: place[0] for number, place in logs.items() if place is not None}
    items = {part.copied(item).key: item for item in part.items() if item.key not in part.dropped}
    return Renumbering(items, told, files, small, frozenset(strays))


def _note(found: dict[Key, Key], place: Key, united: Key | None) -> None:
    if united is not None:
        found[place] = united
