"""Captures: the evidence of one cluster each, and what they are called."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from itertools import takewhile

from kafkatx.evidence.directories import LOGS, DataDirectory, Partition
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.run_copies import original
from kafkatx.sources import places
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE


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
        more = [one for one in unnamed if not (one.is_printed and one.partitions <= held)]
        return self.known_brokers + len({original(directory.path) for directory in more})

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


def forced_name(directory: DataDirectory, forced: dict[str, str]) -> str | None:
    """Return the name of the capture that a directory is forced into, None where it is not."""
    return next((name for path, name in forced.items() if places.is_within(directory.path, path)), None)


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
