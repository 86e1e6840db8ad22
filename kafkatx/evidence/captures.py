"""Captures: which data directories are evidence of one cluster (contract, "Identity")."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations, takewhile

from kafkatx.evidence.directories import LOGS, DataDirectory, Partition
from kafkatx.evidence.item import Item, Kind
from kafkatx.kernels import engine
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import TRANSACTION_STATE

SAMPLED_BATCHES = 256
"""Batches at the start of each segment by which directories without a cluster.id are recognised as replicas of each
other.
"""

BatchKey = tuple[str, int, int, int]


@dataclass(slots=True)
class Capture:
    """Evidence of one cluster. `fingerprint` stands for it in ids of findings.

    Its cluster.id, else a hash of its first batches.

    `others` are files that belong to it and lie in none of its data directories.
    """

    name: str
    cluster_id: str | None
    fingerprint: str
    why: str
    directories: list[DataDirectory] = field(default_factory=list)
    others: list[Item] = field(default_factory=list)

    def segments(self) -> dict[Partition, list[tuple[DataDirectory, Item]]]:
        """Log segments by partition, each with the directory it lies in."""
        found: dict[Partition, list[tuple[DataDirectory, Item]]] = {}
        for directory in self.directories:
            for item in directory.items:
                if item.kind in LOGS and item.folder and not item.left_out:
                    found.setdefault((item.folder.topic, item.folder.partition), []).append((directory, item))
        return _without_retellings(found)

    @property
    def known_brokers(self) -> int:
        """How many brokers have said their id."""
        return len({directory.broker_id for directory in self._holders if directory.broker_id is not None})

    @property
    def brokers(self) -> int:
        """How many brokers may have written what is at hand.

        Each nameless directory may be of one more; what a tool printed of files that are there is of none.
        """
        held = {key for directory in self._holders if not directory.is_printed for key in directory.partitions}
        unnamed = [directory for directory in self._holders if directory.broker_id is None]
        return self.known_brokers + sum(
            1 for directory in unnamed if not (directory.is_printed and directory.partitions <= held)
        )

    @property
    def _holders(self) -> list[DataDirectory]:
        return [directory for directory in self.directories if directory.partitions]

    def texts(self, *kinds: Kind) -> list[Item]:
        """Logs of brokers and clients, settings and the like, wherever they lie; those that are used."""
        inside = (item for directory in self.directories for item in directory.items)
        return [item for item in (*inside, *self.others) if item.kind in kinds and not item.left_out]

    def entries(self, kind: Kind) -> dict[Partition, list[Item]]:
        """Used files of one kind by partition."""
        found: dict[Partition, list[Item]] = {}
        for directory in self.directories:
            for item in directory.items:
                if item.kind is kind and item.folder and not item.left_out:
                    found.setdefault((item.folder.topic, item.folder.partition), []).append(item)
        return found


Files = dict[Partition, list[tuple[DataDirectory, Item]]]


def _without_retellings(found: Files) -> Files:
    """Leave out states that a tool told, which have no offsets of their own, where the coordinator's log is at hand."""
    has_log = any(
        item.kind is Kind.LOG for key, files in found.items() if key[0] == TRANSACTION_STATE for _, item in files
    )
    if not has_log:
        return found
    kept = {key: [file for file in files if file[1].kind is Kind.LOG] for key, files in found.items()}
    return {key: files for key, files in kept.items() if files}


def common_depth(one: DataDirectory, other: DataDirectory) -> int:
    """How many folders two paths begin with that are the same."""
    pairs = zip(places.parts(one.path), places.parts(other.path), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def captures(directories: Iterable[DataDirectory], forced: dict[str, str] | None = None) -> list[Capture]:
    """Join directories of brokers to captures; `forced` as in `evidence`."""
    used = list(directories)
    names = [forced_name(directory, forced or {}) for directory in used]
    groups = _Groups([_label(directory, name) for directory, name in zip(used, names, strict=True)])
    _join_log_dirs(used, groups)
    samples = _join_replicas(used, groups)
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


def forced_name(directory: DataDirectory, forced: dict[str, str]) -> str | None:
    """Return the name of the capture that a directory is forced into, None where it is not."""
    return next((name for path, name in forced.items() if places.is_within(directory.path, path)), None)


def _join_log_dirs(used: list[DataDirectory], groups: _Groups) -> None:
    """Directories side by side, of one broker.id, with no partition in common: the `log.dirs` of one broker."""
    for one, other in combinations([n for n, label in enumerate(groups.labels) if not label], 2):
        a, b = used[one], used[other]
        beside = places.parent(places.absolute(a.path)) == places.parent(places.absolute(b.path))
        if beside and a.broker_id is not None and a.broker_id == b.broker_id and not a.partitions & b.partitions:
            groups.join(one, other)


def _join_replicas(used: list[DataDirectory], groups: _Groups) -> list[set[BatchKey]]:
    """Directories that share identical batches.

    Returns the batches sampled of each: none where every directory has a cluster.id.
    """
    samples: list[set[BatchKey]] = [set() for _ in used]
    nameless = [number for number, directory in enumerate(used) if not directory.cluster_id and directory.partitions]
    if not nameless:
        return samples
    wanted = set().union(*(used[number].partitions for number in nameless))
    owner: dict[BatchKey, int] = {}
    for number, directory in enumerate(used):
        samples[number] = _sample(directory, wanted) if len(used) > 1 or number in nameless else set()
        for key in samples[number]:
            groups.join(number, owner.setdefault(key, number))
    return samples


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


def _sample(directory: DataDirectory, partitions: set[Partition]) -> set[BatchKey]:
    """(topic, partition, offset, CRC) of the first batches of every segment."""
    keys: set[BatchKey] = set()
    for item in directory.items:
        if (
            item.kind is Kind.LOG
            and item.part is None
            and item.folder
            and not item.left_out
            and (item.folder.topic, item.folder.partition) in partitions
        ):
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
    fingerprint = cluster_id or _fingerprint(samples[number] for number in group)
    return Capture(name or cluster_id or "", cluster_id, fingerprint, why, directories)


def _fingerprint(samples: Iterable[set[BatchKey]]) -> str:
    """Hash of the first batch at hand of every partition: the same for the same evidence, wherever it lies."""
    first: dict[tuple[str, int], tuple[int, int]] = {}
    for topic, partition, offset, crc in set().union(*samples):
        first[topic, partition] = min(first.get((topic, partition), (offset, crc)), (offset, crc))
    return hashlib.sha256(repr(sorted(first.items())).encode()).hexdigest()[:16]


def named(found: list[Capture]) -> list[Capture]:
    """Name captures without a cluster.id after their fingerprints.

    The same evidence has the same name in any company.
    """
    found.sort(key=place_in_order)
    taken: Counter[str] = Counter()
    for capture in found:
        if not capture.name:
            name = f"capture-{capture.fingerprint[:8]}"
            taken[name] += 1
            capture.name = name if taken[name] == 1 else f"{name}-{taken[name]}"
    return found


def place_in_order(capture: Capture) -> tuple[str, str, list[str]]:
    """Return what captures are sorted by."""
    return capture.cluster_id or "", capture.fingerprint, [directory.path for directory in capture.directories]
