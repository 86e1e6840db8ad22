"""Names in a data directory: segment files, partition folders, snapshots of KRaft, the cache of remote indexes.

Text      segment file: 20 digits (base offset; of a .snapshot the offset it is valid up to), a kind, perhaps a suffix.
          copied to tiered storage: `<20 digits>-<uuid>.<kind>`, in `topic-partition-<topic id>` or, in the stores of a
          plugin, `topic-<topic id>/<partition>` (ids of 22 characters).
          partition folder: `topic-partition`, split at the last dash; with a state `topic-partition.<32 hex>-<state>`.
          KRaft snapshot: `<20 digits>-<10 digits>.checkpoint` (end offset, epoch). Remote index:
          `<offset>_<uuid>.<kind>`.
Versions  -future since 1.1 (KIP-113), -stray since 3.7, remote indexes since 3.5 (then `_` before the dot;
          KIP-405).
Meaning   .deleted: waits for its removal, its content is still valid evidence. .cleaned: unfinished output of the
          cleaner, ignore. .swap: finished output that replaces the segments it covers. .tmp, .part: in work. -delete:
          the topic was deleted. -future: a copy on its way to another log dir. -stray: not in the metadata.
Limits    topics have 1 to 249 of the characters a-z A-Z 0-9 . _ - and are not `.` or `..`. In a -delete, -future or
          -stray name the topic may be cut, so that the whole has at most 255 characters. Numbers of partitions have no
          leading zero.
          A snapshot in tiered storage has the offset of its segment, not the one that it is valid up to.
Source    LogFileUtils.java, UnifiedLog/LocalLog (names and suffixes), RemoteIndexCache.java, Snapshots.java,
          Topic.java (Kafka 0.11 to 4.3); RemoteLogSegmentFileset.java and RemoteTopicPartitionDirectory.java (Kafka
          3.6), ObjectKeyFactory.java (tiered-storage-for-apache-kafka 1.0).
"""

from __future__ import annotations

import re
from enum import StrEnum

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

BOOTSTRAP_CHECKPOINT = "bootstrap.checkpoint"
MAX_TOPIC = 249
MAX_OFFSET, MAX_PARTITION = 2**63 - 1, 2**31 - 1


class SegmentKind(StrEnum):
    """What a segment file holds, as its extension says."""

    LOG = "log"
    INDEX = "index"
    TIMEINDEX = "timeindex"
    TXNINDEX = "txnindex"
    SNAPSHOT = "snapshot"


class FileSuffix(StrEnum):
    """Why a file is not (or no longer) in use; NONE for one that is."""

    NONE = ""
    DELETED = "deleted"
    CLEANED = "cleaned"
    SWAP = "swap"
    TMP = "tmp"
    PART = "part"


class FolderState(StrEnum):
    """Why a partition folder is not in use; NONE for one that is."""

    NONE = ""
    DELETE = "delete"
    FUTURE = "future"
    STRAY = "stray"


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A file of a segment by its name; `base_offset` of a snapshot is the offset it is valid up to (exclusive)."""

    base_offset: int
    kind: SegmentKind
    suffix: FileSuffix = FileSuffix.NONE


@dataclass(frozen=True, slots=True)
class TieredFile:
    """A file of a segment that was copied to tiered storage; `ending` is what stands behind the dot."""

    base_offset: int
    ending: str


@dataclass(frozen=True, slots=True)
class MetadataSnapshotFile:
    """A snapshot of `__cluster_metadata`: record batches up to `end_offset` (exclusive), of leader epoch `epoch`."""

    end_offset: int
    epoch: int
    suffix: FileSuffix = FileSuffix.NONE


@dataclass(frozen=True, slots=True)
class PartitionFolder:
    """A partition by the name of its folder; `unique_id` are the 32 hex digits of a folder with a state."""

    topic: str
    partition: int
    state: FolderState = FolderState.NONE
    unique_id: str | None = None


_SUFFIX = r"(?:\.(?P<suffix>deleted|cleaned|swap|tmp|part))?"
_KIND = r"(?P<kind>log|index|timeindex|txnindex|snapshot)"
_SEGMENT = regex(rf"(?P<offset>[0-9]{{20}})\.{_KIND}{_SUFFIX}")
_REMOTE = regex(rf"(?P<offset>[0-9]{{1,20}})_[A-Za-z0-9_-]{{22}}_?\.(?:time|txn)?index{_SUFFIX}")
_ID = r"[A-Za-z0-9_-]{22}"
_ENDING = r"(?P<ending>log|(?:time|txn)?index|snapshot|leader_epoch_checkpoint|indexes|rsm-manifest)"
_TIERED = regex(rf"(?P<offset>[0-9]{{20}})-{_ID}\.{_ENDING}")
_TIERED_FOLDER = regex(rf"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>0|[1-9][0-9]{{0,9}})-{_ID}")
_TIERED_TOPIC = regex(rf"(?P<topic>[A-Za-z0-9._-]+)-{_ID}")
_PARTITION = regex(r"0|[1-9][0-9]{0,9}")
_METADATA = regex(rf"(?P<offset>[0-9]{{20}})-(?P<epoch>[0-9]{{10}})\.checkpoint{_SUFFIX}")
_FOLDER = regex(
    r"(?P<topic>[A-Za-z0-9._-]+)-(?P<partition>0|[1-9][0-9]{0,9})"
    r"(?:\.(?P<unique>[0-9a-f]{32})-(?P<state>delete|future|stray))?"
)


def parse_segment_file(name: str) -> SegmentFile | None:
    """Return what the name of a segment file says, None for another name."""
    found = _SEGMENT.fullmatch(name)
    if found is None or int(found["offset"]) > MAX_OFFSET:
        return None
    return SegmentFile(int(found["offset"]), SegmentKind(found["kind"]), FileSuffix(found["suffix"] or ""))


def is_remote_index_file(name: str) -> bool:
    """Whether a file in the remote index cache, an index that a broker fetched from tiered storage, has this name."""
    found = _REMOTE.fullmatch(name)
    return found is not None and int(found["offset"]) <= MAX_OFFSET


def parse_tiered_file(name: str) -> TieredFile | None:
    """Return what the name of a segment's file in tiered storage says, None for another name."""
    found = _TIERED.fullmatch(name)
    if found is None or int(found["offset"]) > MAX_OFFSET:
        return None
    return TieredFile(int(found["offset"]), found["ending"])


def parse_tiered_folder(name: str, parent: str) -> tuple[PartitionFolder, int] | None:
    """Return the partition of a folder in tiered storage, and how many folders below the storage it lies."""
    found, number = _TIERED_FOLDER.fullmatch(name), _PARTITION.fullmatch(name)
    if found is not None and int(found["partition"]) <= MAX_PARTITION and is_topic(found["topic"]):
        return PartitionFolder(found["topic"], int(found["partition"])), 1
    topic = _TIERED_TOPIC.fullmatch(parent)
    if number is None or topic is None or int(name) > MAX_PARTITION or not is_topic(topic["topic"]):
        return None
    return PartitionFolder(topic["topic"], int(name)), 2


def parse_metadata_snapshot_file(name: str) -> MetadataSnapshotFile | None:
    """Return what the name of a KRaft snapshot says, None for another name (bootstrap.checkpoint carries no offset)."""
    found = _METADATA.fullmatch(name)
    if found is None or int(found["offset"]) > MAX_OFFSET:
        return None
    return MetadataSnapshotFile(int(found["offset"]), int(found["epoch"]), FileSuffix(found["suffix"] or ""))


def parse_partition_folder(name: str) -> PartitionFolder | None:
    """Return the partition whose folder has this name, None for a name that no partition can have."""
    found = _FOLDER.fullmatch(name)
    if found is None or not is_topic(found["topic"]) or int(found["partition"]) > MAX_PARTITION:
        return None
    return PartitionFolder(found["topic"], int(found["partition"]), FolderState(found["state"] or ""), found["unique"])


def is_topic(name: str) -> bool:
    """Whether Kafka accepts a topic of this name."""
    return bool(re.fullmatch(rf"[A-Za-z0-9._-]{{1,{MAX_TOPIC}}}", name)) and name not in (".", "..")
