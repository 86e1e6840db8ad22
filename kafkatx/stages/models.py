"""The model of each capture: its facts are gathered, joined and told, however they come.

Facts are made by this process of files that are read in turn (`build_models`), or come from elsewhere: from the stages
before on other machines, or from an export.

Grain: one capture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import groupby
from pathlib import Path

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.directories import Partition, data_directories
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item
from kafkatx.evidence.joining import JoinedEvidence, evidence
from kafkatx.evidence.log_reading import FileFacts, read_log
from kafkatx.evidence.looking import Looker, LooksHere
from kafkatx.evidence.plans import partition_plans
from kafkatx.histories.build import build
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.sources.ahead import Ahead
from kafkatx.stages.capture_facts import capture_facts, missing_states, whole_coverage
from kafkatx.stages.counting import HELD_UP_TO, CountingOfCapture
from kafkatx.stages.facts import OF_CAPTURE, CaptureFact, FactKind, FactsError
from kafkatx.stages.joined_partitions import JoinedStory
from kafkatx.stages.joining import Joined, whole
from kafkatx.stages.joining_here import facts_here, states_first
from kafkatx.stages.logs import Read, checked, log_items, newest_time, united_logs
from kafkatx.stages.naming import common_names, rename
from kafkatx.stages.partitions import PartitionStory, fold
from kafkatx.stages.read_ahead import read_ahead
from kafkatx.terms.progress import Progress, expect
from kafkatx.terms.records import dataclass
from kafkatx.text.events import LogFacts

LEAST_COUNTED_BYTES = HELD_UP_TO * 200
"""A transaction that is counted takes no fewer bytes: a smaller capture has too few of them to count any."""


@dataclass(slots=True)
class JudgedCapture:
    """A capture, its model, and what was met while reading it.

    `segments` leads from a place in a log back to the files.
    """

    capture: Capture
    model: CaptureModel
    coverage: list[Coverage]
    damage: list[Damage]
    diverged: list[tuple[str, str, int, Rows]]
    segments: dict[Partition, list[Item]]


@dataclass(slots=True)
class Telling:
    """What an engine knows beside the evidence.

    `as_of` is "now" for ages, None for the end of the evidence; `release` that of the brokers, where somebody knows it;
    `log_zone_ms` what is to be taken from the times of logs that name no zone, None to estimate it. Of a capture with
    more than `held_up_to` transactions plain ones are counted (stages/counting.py) if its partitions were joined apart;
    None to hold all.
    """

    as_of: int | None = None
    release: tuple[int, ...] = ()
    log_zone_ms: int | None = None
    held_up_to: int | None = None


def open_evidence(paths: Iterable[str | Path], forced: dict[str, str] | None = None) -> JoinedEvidence:
    """Find what lies under the paths and join it to captures; raises UsageError for a path that does not exist."""
    here = LooksHere()
    return replace(joined_evidence(paths, forced, here), log=here.log)


def joined_evidence(
    paths: Iterable[str | Path], forced: dict[str, str] | None = None, looker: Looker | None = None
) -> JoinedEvidence:
    """Do the same with all that has to be looked into looked into by `looker`."""
    return evidence(data_directories(inventory(paths, looker=looker)), forced, looker)


def open_captures(paths: Iterable[str | Path], forced: dict[str, str] | None = None) -> list[Capture]:
    """Like `open_evidence`, without the files that belong to no capture."""
    return open_evidence(paths, forced).captures


def build_models(
    found: Iterable[Capture],
    *,
    verify_all: bool = False,
    as_of: int | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
    log: Read = read_log,
    held_up_to: int | None = None,
    ahead: Ahead | None = None,
) -> Iterator[JudgedCapture]:
    """Read the captures one after the other, their logs by `log`, segments `ahead` of what is folded.

    The other arguments are as of `Telling`.
    """
    tick, captures = progress or (lambda path, size: None), [*found]
    expect(progress, (item.size for capture in captures for item in _read_items(capture)))
    facts = (
        fact
        for number, one in enumerate(captures)
        for fact in _facts_here(number, one, verify_all, tick, log, ahead or Ahead(0), held_up_to is not None)
    )
    return (model for _, model in models(facts, Telling(as_of, release, log_zone_ms, held_up_to)))


def _facts_here(
    number: int, capture: Capture, verify_all: bool, tick: Progress, log: Read, ahead: Ahead, may_count: bool
) -> Iterator[CaptureFact]:
    """Read and fold a capture: its facts as stage three is given them, each made when it is asked for.

    `may_count`: its plain transactions may be counted; for that partitions are joined one by one.
    """
    yield CaptureFact(number, OF_CAPTURE, FactKind.PLAN, capture)
    plans, logs = partition_plans(capture, verify_all), [*log_items(capture)]
    if may_count and not logs and _read_bytes(capture) >= LEAST_COUNTED_BYTES:
        yield from facts_here(number, read_ahead(states_first(plans), ahead, tick))
        return
    for plan, streams in read_ahead(plans, ahead, tick):
        yield CaptureFact(number, 0, FactKind.STORY, fold(plan, streams))
    for item in logs:
        tick(item.path, item.size)
        yield CaptureFact(number, 0, FactKind.LOG, log(item))


def _read_bytes(capture: Capture) -> int:
    return sum(item.size for item in _read_items(capture))


def _read_items(capture: Capture) -> Iterator[Item]:
    """The files of a capture that are read: segments, logs and settings."""
    for segments in capture.segments().values():
        yield from (item for _, item in segments)
    yield from log_items(capture)


def models(facts: Iterable[CaptureFact], telling: Telling) -> Iterator[tuple[int, JudgedCapture]]:
    """Tell the model of each capture, with its number.

    `facts` are what comes of the partitions, capture by capture: first the capture, then partitions and logs, each in
    order. Raises FactsError where they are not.
    """
    for number, of_capture in groupby(facts, key=lambda fact: fact.capture):
        yield number, _gathered(of_capture, telling.held_up_to).told(telling)


@dataclass(slots=True)
class _Gathered:
    """What there is of a capture: partitions in order of their keys, its logs in one.

    `parts` are there where data and intervals were joined elsewhere; else that is still to be done.
    """

    capture: Capture
    counting: CountingOfCapture
    partitions: list[PartitionStory] = field(default_factory=list)
    parts: list[Joined] = field(default_factory=list)
    covered: list[Coverage] = field(default_factory=list)
    logs: LogFacts = field(default_factory=LogFacts)

    def take(self, facts: Iterator[CaptureFact]) -> Iterator[FileFacts]:
        """Take facts; yields those of logs, one at a time."""
        for fact in facts:
            if fact.rank in (FactKind.STORY, FactKind.SPANS):
                self._take(fact.says(PartitionStory))
            elif fact.rank is FactKind.SAID:
                self.counting.hear(*fact.says(tuple))
            elif fact.rank is FactKind.JOINED:
                self._take_joined(fact.says(JoinedStory))
            elif fact.rank is not FactKind.INTERVALS:
                self.counting.is_possible = False  # what logs ask of transactions nobody has listed
                read = checked(fact.says(FileFacts)).within(self.capture)
                self.covered.append(read.coverage)
                yield read
        self.partitions.sort(key=lambda part: part.key)

    def _take(self, story: PartitionStory) -> None:
        self.partitions.append(story)
        if story.history is not None:
            self.counting.take_states(story)

    def _take_joined(self, data: JoinedStory) -> None:
        self.partitions.append(data.story)
        left = self.counting.left_of(data.story, data.joined, data.alone)
        if left is not None:
            self.parts.append(left)

    def told(self, telling: Telling) -> JudgedCapture:
        """Join and tell."""
        partitions, capture = self.partitions, self.capture
        return JudgedCapture(
            capture,
            self._story(telling),
            whole_coverage(capture, [entry for part in partitions for entry in part.coverage] + self.covered),
            [entry for part in partitions for entry in part.damage],
            [(part.key[0], path, part.key[1], row) for part in partitions for path, row in part.diverged],
            {part.key: part.items for part in partitions},
        )

    def _story(self, telling: Telling) -> CaptureModel:
        partitions, names = self.partitions, common_names(self.partitions)
        rename(partitions, names)
        states = {part.key[1]: part.state_horizon for part in partitions if part.state_horizon is not None}
        return build(
            capture_facts(self.capture, self._end(telling.as_of), telling.release),
            names.labels,
            [part.history for part in partitions if part.history is not None],
            [part.spans for part in partitions if part.spans is not None],
            {part.log_extent.partition_code: part.log_extent for part in partitions if part.log_extent is not None},
            {**states, **missing_states(self.capture, states)},
            self.logs,
            telling.log_zone_ms,
            whole(self.parts, partitions, names.labels) if self.parts else None,
        )

    def _end(self, as_of: int | None) -> int:
        """The end of the evidence: the newest time a broker wrote, else a client, else a log."""
        if as_of is not None:
            return as_of
        newest = max((part.newest for part in self.partitions), default=-1)
        of_clients = max((part.newest_of_clients for part in self.partitions), default=-1)
        return next((time for time in (newest, of_clients, newest_time(self.logs)) if time >= 0), -1)


def _gathered(facts: Iterator[CaptureFact], held_up_to: int | None) -> _Gathered:
    first = next(facts)
    if first.rank is not FactKind.PLAN:
        raise FactsError("facts are missing: of a capture itself")
    found = _Gathered(first.says(Capture), CountingOfCapture(held_up_to))
    found.logs = united_logs(found.take(facts))
    return found
