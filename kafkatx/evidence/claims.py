"""What a user says of a path: which partition it is of, and what it holds, whatever its name and its content say."""

from __future__ import annotations

from dataclasses import replace

from kafkatx.evidence.item import Item, Kind
from kafkatx.formats.file_names import FolderState, PartitionFolder, parse_partition_folder
from kafkatx.sources.files import OpenFile
from kafkatx.sources.said import said
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass

KINDS = {
    kind.value: kind
    for kind in (
        Kind.LOG,
        Kind.INDEX,
        Kind.TIMEINDEX,
        Kind.TXNINDEX,
        Kind.SNAPSHOT,
        Kind.LEADER_EPOCHS,
        Kind.META_PROPERTIES,
        Kind.TEXT,
    )
}
"""What a file can be said to hold: what is read without the rest of a name."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What was said of a path; None for what was not."""

    partition: PartitionFolder | None = None
    kind: Kind | None = None

    def of_kind(self, item: Item) -> Item:
        """The file as what it is said to hold, where it can be read."""
        if self.kind is None or item.kind is Kind.UNREADABLE:
            return item
        folder = item.folder or PartitionFolder(item.path.rpartition("/")[2], -1)
        is_of_partition = self.kind not in (Kind.META_PROPERTIES, Kind.TEXT)
        return replace(item, kind=self.kind, folder=folder if is_of_partition else item.folder, left_out=None)

    def placed(self, item: Item) -> Item:
        """The file with the offset at which its partition's others are told from it: that of its first batch."""
        if self.partition is None or item.kind is not Kind.LOG or item.base_offset >= 0 or item.left_out:
            return item
        try:
            with OpenFile(item.path) as file:
                first = int.from_bytes(file.read(0, 8), "big", signed=True)
        except OSError:
            return item
        return replace(item, base_offset=max(-1, first))


NOTHING = Claim()


def claim_of(path: str) -> tuple[Claim, str]:
    """Return what is said of a path, and the path; raises UsageError for words that say nothing."""
    words, place = said(path)
    claim = NOTHING
    for word in words:
        partition = parse_partition_folder(word)
        if partition is not None and partition.state is FolderState.NONE:
            claim = replace(claim, partition=partition)
        elif word in KINDS:
            claim = replace(claim, kind=KINDS[word])
        else:
            raise UsageError(
                f"{path}: no such file or directory; before = stands a partition, like orders-0, or what a file holds: "
                f"{', '.join(KINDS)}"
            )
    return claim, place
