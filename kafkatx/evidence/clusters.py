"""Which data directories are evidence of one cluster (contract, "Identity")."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from itertools import combinations

from kafkatx.evidence.captures import Capture, common_depth, forced_name, named
from kafkatx.evidence.directories import DataDirectory, Partition
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.looking import Looker, LooksHere
from kafkatx.kernels import engine
from kafkatx.kernels.batches import CHECK_NONE, HEADER_SIZE
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile

SAMPLED_BATCHES = 256
"""Batches at the start of each segment by which directories without a cluster.id are recognised as replicas of each
other.
"""

BatchKey = tuple[str, int, int, int]


def captures(
    directories: Iterable[DataDirectory], forced: dict[str, str] | None = None, looker: Looker | None = None
) -> list[Capture]:
    """Join directories of brokers to captures; arguments as of `evidence` (evidence/joining.py)."""
    used = list(directories)
    names = [forced_name(directory, forced or {}) for directory in used]
    groups = _Groups([_label(directory, name) for directory, name in zip(used, names, strict=True)])
    _join_log_dirs(used, groups)
    samples = _join_replicas(used, groups, looker or LooksHere())
    _join_others(used, groups)
    return named([_capture(group, used, samples, names) for group in groups.sets()])


Label = tuple[str, str]


def _label(directory: DataDirectory, forced: str | None) -> Label | None:
    """What a directory says about where it belongs; None where nothing does."""
    if forced is not None:
        return "--capture", forced
    return ("cluster.id", directory.cluster_id) if directory.cluster_id else None


class _Groups:
    """Disjoint sets of directory numbers: those of one label are one, those of two labels never are."""

    def __init__(self, labels: list[Label | None]) -> None:
        self.labels = labels
        self.parent = list(range(len(labels)))
        self._of_set = list(labels)
        first: dict[Label, int] = {}
        for number, label in enumerate(labels):
            if label:
                self.join(number, first.setdefault(label, number))

    def find(self, number: int) -> int:
        while self.parent[number] != number:
            number = self.parent[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Make two sets one, unless their labels contradict."""
        low, high = sorted((self.find(one), self.find(other)))
        labels = {self._of_set[low], self._of_set[high]} - {None}
        if low != high and len(labels) < 2:
            self.parent[high] = low
            self._of_set[low] = labels.pop() if labels else None

    def sets(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for number in range(len(self.parent)):
            found.setdefault(self.find(number), []).append(number)
        return list(found.values())


def _join_log_dirs(used: list[DataDirectory], groups: _Groups) -> None:
    """Directories side by side, of one broker.id, with no partition in common: the `log.dirs` of one broker."""
    for one, other in combinations([n for n, label in enumerate(groups.labels) if not label], 2):
        a, b = used[one], used[other]
        beside = places.parent(places.absolute(a.path)) == places.parent(places.absolute(b.path))
        if beside and a.broker_id is not None and a.broker_id == b.broker_id and not a.partitions & b.partitions:
            groups.join(one, other)


def _join_replicas(used: list[DataDirectory], groups: _Groups, looker: Looker) -> list[set[BatchKey]]:
    """Directories that share identical batches.

    Returns the batches sampled of each: none where every directory has a cluster.id.
    """
    nameless = [number for number, directory in enumerate(used) if not directory.cluster_id and directory.partitions]
    wanted = set[Partition]().union(*(used[number].partitions for number in nameless))
    samples = _samples(used, [*range(len(used))] if len(used) > 1 else nameless, wanted, looker)
    owner: dict[BatchKey, int] = {}
    for number, keys in enumerate(samples):
        for key in keys:
            groups.join(number, owner.setdefault(key, number))
    return samples


def _samples(
    used: list[DataDirectory], numbers: list[int], wanted: set[Partition], looker: Looker
) -> list[set[BatchKey]]:
    """The first batches of the wanted partitions' segments in some of the directories, by directory."""
    found: list[set[BatchKey]] = [set() for _ in used]
    segments = [(number, item) for number in numbers for item in used[number].items if _is_sampled(item, wanted)]
    keys = looker.each(first_batches, [item for _, item in segments], _bytes_sampled)
    for (number, _), of_segment in zip(segments, keys, strict=True):
        found[number] |= of_segment
    return found


def _join_others(used: list[DataDirectory], groups: _Groups) -> None:
    """Directories without segments join the only capture, else the only one of the nearest common folder."""
    holders = [number for number, directory in enumerate(used) if directory.partitions]
    for number in range(len(used)):
        if number in holders or groups.labels[number]:
            continue
        shared = {other: common_depth(used[number], used[other]) for other in holders}
        nearest = [other for other in holders if shared[other] == max(shared.values())]
        for candidates in (holders, nearest):
            if len({groups.find(other) for other in candidates}) == 1:
                groups.join(number, candidates[0])


def _is_sampled(item: Item, partitions: set[Partition]) -> bool:
    """Whether a file is a segment of one of these partitions."""
    is_segment = item.kind is Kind.LOG and item.part is None and not item.left_out
    return is_segment and item.folder is not None and (item.folder.topic, item.folder.partition) in partitions


def _bytes_sampled(item: Item) -> int:
    return min(item.size, SAMPLED_BATCHES * HEADER_SIZE)


def first_batches(item: Item) -> set[BatchKey]:
    """Look at the first batches of a segment: (topic, partition, offset, CRC) of each."""
    assert item.folder is not None
    try:
        with OpenFile(item.path) as file, engine.forced("interpreted"):
            for chunk in SegmentWalk(file, check=CHECK_NONE, most_rows=SAMPLED_BATCHES).chunks():
                found = zip(chunk.rows["base_offset"].tolist(), chunk.rows["crc"].tolist(), strict=True)
                return {(item.folder.topic, item.folder.partition, *key) for key in found}
    except OSError:
        pass
    return set()


def _capture(
    group: list[int], used: list[DataDirectory], samples: list[set[BatchKey]], names: list[str | None]
) -> Capture:
    directories = [used[number] for number in group]
    cluster_ids = sorted({directory.cluster_id for directory in directories if directory.cluster_id})
    cluster_id = cluster_ids[0] if cluster_ids else None
    name = next((name for number in group if (name := names[number])), None)
    if name is not None:
        why = "forced by --capture"
    elif cluster_id:
        why = f"cluster.id {cluster_id}"
    elif len(group) > 1:
        why = "no cluster.id; the directories share identical batches or are the log.dirs of one broker"
    else:
        why = "no cluster.id: a directory of its own"
    fingerprint = cluster_id or fingerprint_of(samples[number] for number in group)
    return Capture(name or cluster_id or "", cluster_id, fingerprint, why, directories)


def fingerprint_of(samples: Iterable[Collection[BatchKey]]) -> str:
    """Hash of the first batch at hand of every partition: the same for the same evidence, wherever it lies."""
    first: dict[tuple[str, int], tuple[int, int]] = {}
    for topic, partition, offset, crc in set[BatchKey]().union(*samples):
        first[topic, partition] = min(first.get((topic, partition), (offset, crc)), (offset, crc))
    return hashlib.sha256(repr(sorted(first.items())).encode()).hexdigest()[:16]
