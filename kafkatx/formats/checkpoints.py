"""Checkpoint files: offsets of all partitions of a data directory, and the leader epochs of one partition.

Text      line 1 the version, line 2 the number of entries, then one entry a line, fields between blanks:
          `topic partition offset`, or in leader-epoch-checkpoint `epoch start_offset`.
Versions  0 in all releases, 0.11 to 4.4; another is not read, since its lines may mean something else.
Meaning   replication-offset-checkpoint: high watermark (every 5 s). recovery-point-offset-checkpoint: flushed up to
          (60 s). log-start-offset-checkpoint: only partitions whose log start is above the base of the first segment
          (60 s). cleaner-offset-checkpoint: first dirty offset. All but the leader epochs are old after a kill, by
          those seconds.
Limits    an empty file is legal and means no entries. Written to NAME.tmp and renamed, so that half a file is not to
          be expected; a file of zero bytes (power cut) is. Kafka refuses a file with one bad line; we read the other
          lines.
Source    CheckpointFile.java, OffsetCheckpointFile, LeaderEpochCheckpointFile (Kafka 0.11 to 4.3); KIP-101.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from kafkatx.formats.text_problem import TextProblem, problem, whole_number
from kafkatx.terms.records import dataclass

VERSION = 0
REPLICATION_OFFSETS = "replication-offset-checkpoint"
RECOVERY_POINT_OFFSETS = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
OFFSET_CHECKPOINTS = (REPLICATION_OFFSETS, RECOVERY_POINT_OFFSETS, LOG_START_OFFSETS, CLEANER_OFFSETS)
"""Files of a data directory that `parse_offsets` reads."""

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class PartitionOffset:
    """An offset of a partition; what it means depends on the file."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class EpochStart:
    """The first offset that a leader of this epoch wrote."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class Checkpoint(Generic[Entry]):
    """What could be read, in the order of the file, and what is wrong with the rest."""

    entries: tuple[Entry, ...]
    problems: tuple[TextProblem, ...]


def parse_offsets(text: str) -> Checkpoint[PartitionOffset]:
    """Read one of OFFSET_CHECKPOINTS; never raises."""
    return _parse(text, "topic partition offset", _partition_offset)


def parse_leader_epochs(text: str) -> Checkpoint[EpochStart]:
    """Read a leader-epoch-checkpoint; never raises."""
    return _parse(text, "epoch start_offset", _epoch_start)


def _parse(text: str, shape: str, entry_of: Callable[[list[str]], Entry | None]) -> Checkpoint[Entry]:
    if not text:
        return Checkpoint((), ())
    lines = text.removesuffix("\n").split("\n")
    if whole_number(lines[0].strip(), 32) != VERSION:
        return Checkpoint((), (problem(1, f"version {VERSION}", lines[0]),))
    entries, problems = _entries(lines[2:], shape, entry_of)
    return Checkpoint(tuple(entries), (*_count_problems(lines), *problems))


def _count_problems(lines: list[str]) -> list[TextProblem]:
    """Compare the number in line 2 with the lines behind it: fewer means that the end is missing."""
    there = len(lines) - 2
    if there < 0:
        return [problem(2, "a number of entries", "the end of the file")]
    count = whole_number(lines[1].strip(), 32)
    if count is None or count < 0:
        return [problem(2, "a number of entries", lines[1])]
    return [] if count == there else [problem(2, f"{count} entries, as line 2 says", f"{there} lines")]


def _entries(
    lines: list[str], shape: str, entry_of: Callable[[list[str]], Entry | None]
) -> tuple[list[Entry], list[TextProblem]]:
    entries, problems = [], []
    for number, line in enumerate(lines, 3):
        entry = entry_of(line.split())
        if entry is None:
            problems.append(problem(number, shape, line))
        else:
            entries.append(entry)
    return entries, problems


def _partition_offset(fields: list[str]) -> PartitionOffset | None:
    if len(fields) != 3:
        return None
    partition, offset = whole_number(fields[1], 32), whole_number(fields[2], 64)
    return None if partition is None or offset is None else PartitionOffset(fields[0], partition, offset)


def _epoch_start(fields: list[str]) -> EpochStart | None:
    if len(fields) != 2:
        return None
    epoch, start_offset = whole_number(fields[0], 32), whole_number(fields[1], 64)
    return None if epoch is None or start_offset is None else EpochStart(epoch, start_offset)
