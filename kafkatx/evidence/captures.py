"""Captures: which data directories are evidence of one cluster (contract, "Identity")."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from kafkatx.evidence.directories import DataDirectory, Partition
from kafkatx.evidence.inventory import Item, Kind
from kafkatx.kernels import engine
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources.files import OpenFile

SAMPLED_BATCHES = 256
"""Batches at the start of each segment by which directories without a cluster.id are recognised as replicas of each other."""

BatchKey = tuple[str, int, int, int]


@dataclass(slots=True)
class Capture:
    """Evidence of one cluster. `fingerprint` stands for it in ids of findings: its cluster.id, else a hash of its first batches."""

    name: str
    cluster_id: str | None
    fingerprint: str
    why: str
    directories: list[DataDirectory] = field(default_factory=list)

    def segments(self) -> dict[Partition, list[tuple[DataDirectory, Item]]]:
        """Log segments by partition, each with the directory it lies in."""
        found: dict[Partition, list[tuple[DataDirectory, Item]]] = {}
        for directory in self.directories:
            for item in directory.items:
                if item.kind is Kind.LOG and item.folder and not item.left_out:
                    found.setdefault((item.folder.topic, item.folder.partition), []).append((directory, item))
        return found

    def entries(self, kind: Kind) -> dict[Partition, list[Item]]:
        """Used files of one kind by partition."""
        found: dict[Partition, list[Item]] = {}
        for directory in self.directories:
            for item in directory.items:
                if item.kind is kind and item.folder and not item.left_out:
                    found.setdefault((item.folder.topic, item.folder.partition), []).append(item)
        return found


def captures(directories: Iterable[DataDirectory], forced: dict[str, str] | None = None) -> list[Capture]:
    """Join directories to captures. `forced` maps a path prefix to a capture's name (`--capture NAME=PATH`)."""
    used = list(directories)
    groups = _Groups(len(used))
    _join_forced(used, groups, forced or {})
    _join_clusters(used, groups)
    _join_log_dirs(used, groups)
    samples = _join_replicas(used, groups)
    return _named([_capture([used[n] for n in group], [samples[n] for n in group], forced or {}) for group in groups.sets()])


class _Groups:
    """Disjoint sets of directory numbers."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))

    def find(self, number: int) -> int:
        while self.parent[number] != number:
            number = self.parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.find(one), self.find(other)))
        self.parent[high] = low

    def sets(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for number in range(len(self.parent)):
            found.setdefault(self.find(number), []).append(number)
        return list(found.values())


def _forced_name(directory: DataDirectory, forced: dict[str, str]) -> str | None:
    where = Path(directory.path).absolute()
    return next((name for path, name in forced.items() if where.is_relative_to(Path(path).absolute())), None)


def _join_forced(used: list[DataDirectory], groups: _Groups, forced: dict[str, str]) -> None:
    for one, other in combinations(range(len(used)), 2):
        name = _forced_name(used[one], forced)
        if name is not None and name == _forced_name(used[other], forced):
            groups.join(one, other)


def _join_clusters(used: list[DataDirectory], groups: _Groups) -> None:
    first: dict[str, int] = {}
    for number, directory in enumerate(used):
        if directory.cluster_id:
            groups.join(number, first.setdefault(directory.cluster_id, number))


def _join_log_dirs(used: list[DataDirectory], groups: _Groups) -> None:
    """Directories side by side, of one broker.id, with no partition in common: the `log.dirs` of one broker."""
    for one, other in combinations([n for n, directory in enumerate(used) if not directory.cluster_id], 2):
        a, b = used[one], used[other]
        beside = Path(a.path).absolute().parent == Path(b.path).absolute().parent
        if beside and a.broker_id is not None and a.broker_id == b.broker_id and not a.partitions & b.partitions:
            groups.join(one, other)


def _join_replicas(used: list[DataDirectory], groups: _Groups) -> list[set[BatchKey]]:
    """Directories that share identical batches, unless both have a cluster.id. Returns the batches sampled of each."""
    samples: list[set[BatchKey]] = [set() for _ in used]
    nameless = [number for number, directory in enumerate(used) if not directory.cluster_id and directory.partitions]
    if not nameless:
        return samples
    wanted = set().union(*(used[number].partitions for number in nameless))
    owner: dict[BatchKey, int] = {}
    for number, directory in enumerate(used):
        samples[number] = _sample(directory, wanted) if len(used) > 1 or number in nameless else set()
        for key in samples[number]:
            other = owner.setdefault(key, number)
            if other != number and not (used[other].cluster_id and directory.cluster_id):
                groups.join(number, other)
    return samples


def _sample(directory: DataDirectory, partitions: set[Partition]) -> set[BatchKey]:
    """(topic, partition, offset, CRC) of the first batches of every segment."""
    keys: set[BatchKey] = set()
    for item in directory.items:
        if item.kind is Kind.LOG and item.folder and not item.left_out and (item.folder.topic, item.folder.partition) in partitions:
            keys.update((item.folder.topic, item.folder.partition, *key) for key in _first_batches(item.path))
    return keys


def _first_batches(path: str) -> list[tuple[int, int]]:
    try:
        with OpenFile(path) as file, engine.forced("interpreted"):
            for chunk in SegmentWalk(file, check=CHECK_NONE, most_rows=SAMPLED_BATCHES).chunks():
                return list(zip(chunk.rows["base_offset"].tolist(), chunk.rows["crc"].tolist(), strict=True))
    except OSError:
        pass
    return []


def _capture(group: list[DataDirectory], samples: list[set[BatchKey]], forced: dict[str, str]) -> Capture:
    cluster_ids = sorted({directory.cluster_id for directory in group if directory.cluster_id})
    cluster_id = cluster_ids[0] if cluster_ids else None
    name = next((name for directory in group if (name := _forced_name(directory, forced))), None)
    if name is not None:
        why = "forced by --capture"
    elif cluster_id:
        why = f"cluster.id {cluster_id}"
    elif len(group) > 1:
        why = "no cluster.id; the directories share identical batches or are the log.dirs of one broker"
    else:
        why = "no cluster.id: a directory of its own"
    return Capture(name or cluster_id or "", cluster_id, cluster_id or _fingerprint(samples), why, group)


def _fingerprint(samples: list[set[BatchKey]]) -> str:
    """Hash of the first batch at hand of every partition: the same for the same evidence, wherever it lies."""
    first: dict[tuple[str, int], tuple[int, int]] = {}
    for topic, partition, offset, crc in set().union(*samples):
        first[topic, partition] = min(first.get((topic, partition), (offset, crc)), (offset, crc))
    return hashlib.sha256(repr(sorted(first.items())).encode()).hexdigest()[:16]


def _named(found: list[Capture]) -> list[Capture]:
    """Give captures without a cluster.id a name: capture-1, capture-2, ... in the order of their fingerprints."""
    number = 0
    for capture in sorted(found, key=lambda capture: (capture.fingerprint, [directory.path for directory in capture.directories])):
        if not capture.name:
            number += 1
            capture.name = f"capture-{number}"
    return sorted(found, key=lambda capture: (capture.cluster_id or "", capture.fingerprint))
