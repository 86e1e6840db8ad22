"""Builds the story of each capture on this machine: read, fold, join."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import Partition, data_directories
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import JoinedEvidence, evidence
from kafkatx.evidence.log_reading import read_log
from kafkatx.evidence.looking import Looker, LooksHere
from kafkatx.evidence.marks import named_partitions
from kafkatx.evidence.plans import PartitionPlan, partition_plans
from kafkatx.histories.story import CaptureFacts, StateHorizon, Story, tell
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.stages.joining import Joined, whole
from kafkatx.stages.logs import Read, newest_time, read_logs
from kafkatx.stages.naming import named_alike
from kafkatx.stages.partitions import PartitionStory, fold
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.text.events import LogFacts

Progress = Callable[[str, int], None]
"""Called with a path and its size in bytes before it is read."""

__all__ = ["CaptureStory", "build_stories", "open_captures", "open_evidence"]


@dataclass(slots=True)
class CaptureStory:
    """A capture, its story, and what was met while reading it.

    `segments` leads from a place in a log back to the files.
    """

    capture: Capture
    story: Story
    coverage: list[Coverage]
    damage: list[Damage]
    diverged: list[tuple[str, str, int, Rows]]
    segments: dict[Partition, list[Item]]


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


FIRST_TO_RAISE_EPOCH, FIRST_TO_DESCRIBE_PRODUCERS = (0, 11, 0, 2), (2, 8)
"""Releases from which on a timeout raises the epoch (KAFKA-6119), and brokers can be asked for producers (KIP-664)."""


def build_stories(
    found: list[Capture],
    *,
    verify_all: bool = False,
    as_of: int | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
    log: Read = read_log,
) -> Iterable[CaptureStory]:
    """Read the captures one after the other, their logs by `log`.

    `release` is that of the brokers, where somebody knows it; `log_zone_ms` what is to be taken from the times of logs
    that name no zone, None to estimate it.
    """
    tick, telling = progress or (lambda path, size: None), Telling(as_of, release, log_zone_ms)
    for capture in found:
        partitions = [fold(_announced(plan, tick)) for plan in partition_plans(capture, verify_all)]
        yield told(capture, partitions, *read_logs(capture, tick, log), telling)


def _announced(plan: PartitionPlan, tick: Progress) -> PartitionPlan:
    for file in plan.files:
        tick(file.item.path, file.item.size)
    return plan


@dataclass(slots=True)
class Telling:
    """What an engine knows beside the evidence.

    `as_of` is "now" for ages, None for the end of the evidence; `release` that of the brokers, where somebody knows it;
    `log_zone_ms` what is to be taken from the times of logs that name no zone, None to estimate it.
    """

    as_of: int | None = None
    release: tuple[int, ...] = ()
    log_zone_ms: int | None = None


def told(
    capture: Capture,
    partitions: list[PartitionStory],
    logs: LogFacts,
    covered: list[Coverage],
    telling: Telling,
    parts: list[Joined] | None = None,
) -> CaptureStory:
    """Tell the story of a capture from its partitions, which come in order of their keys, and its logs.

    `covered` is the coverage of the logs; `parts` are there where data and intervals were joined elsewhere.
    """
    labels = named_alike(partitions)
    coverage = [entry for part in partitions for entry in part.coverage] + covered
    states = {part.key[1]: part.state_horizon for part in partitions if part.state_horizon is not None}
    story = tell(
        _facts(capture, _end(partitions, logs, telling.as_of), telling.release),
        labels,
        [part.history for part in partitions if part.history is not None],
        [part.spans for part in partitions if part.spans is not None],
        {part.horizon.partition_code: part.horizon for part in partitions if part.horizon is not None},
        {**states, **_missing_states(capture, states)},
        logs,
        telling.log_zone_ms,
        whole(parts, partitions, labels) if parts is not None else None,
    )
    return CaptureStory(
        capture,
        story,
        _whole_coverage(capture, coverage),
        [entry for part in partitions for entry in part.damage],
        [(part.key[0], path, part.key[1], row) for part in partitions for path, row in part.diverged],
        {part.key: part.items for part in partitions},
    )


def _end(partitions: list[PartitionStory], logs: LogFacts, as_of: int | None) -> int:
    """The end of the evidence: the newest time a broker wrote, else a client, else a log."""
    if as_of is not None:
        return as_of
    newest = max((part.newest for part in partitions), default=-1)
    of_clients = max((part.newest_of_clients for part in partitions), default=-1)
    return next((time for time in (newest, of_clients, newest_time(logs)) if time >= 0), -1)


def _missing_states(capture: Capture, at_hand: dict[int, StateHorizon]) -> dict[int, StateHorizon]:
    """Where some partitions of the coordinator's log are at hand, say of the others that they are not."""
    named = named_partitions(capture, TRANSACTION_STATE) if at_hand else set()
    return {
        partition: StateHorizon(partition, -1, -1, -1, is_torn=True, newest=-1, leader_epoch=-1)
        for partition in sorted(named - at_hand.keys())
    }


def _whole_coverage(capture: Capture, coverage: list[Coverage]) -> list[Coverage]:
    """Name every file that is no log segment too."""
    found = [*coverage]
    read = {item.key for copies in capture.segments().values() for _, item in copies}
    read |= {item.key for item in capture.texts(Kind.TEXT_LOG, Kind.SETTINGS)}
    for directory in capture.directories:
        found += [coverage_of(capture, item, directory.broker_id) for item in directory.items if item.key not in read]
    found += [coverage_of(capture, item, None) for item in capture.others if item.key not in read]
    for entry in found:
        if entry.kind == Kind.RECORDS.value and entry.status == "noted":
            entry.status, entry.note = "read", "records as a console consumer listed them"
    return sorted(found, key=lambda entry: entry.path)


def _facts(capture: Capture, end: int, release: tuple[int, ...]) -> CaptureFacts:
    directories = [directory for directory in capture.directories if directory.partitions]
    modern = any(directory.cluster_id or directory.has_partition_metadata for directory in directories)
    return CaptureFacts(
        capture.name,
        capture.cluster_id,
        capture.fingerprint,
        capture.brokers,
        end,
        modern or release >= FIRST_TO_RAISE_EPOCH,
        release >= FIRST_TO_DESCRIBE_PRODUCERS or any(d.has_partition_metadata for d in directories),
        capture.known_brokers,
    )
