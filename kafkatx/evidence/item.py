"""One file (or one part of a text) that was met: where it lies, what it is, which partition it belongs to."""

from __future__ import annotations

from enum import StrEnum

from kafkatx.evidence.run_copies import copy_of
from kafkatx.formats.file_names import PartitionFolder
from kafkatx.terms.records import dataclass
from kafkatx.text.pages.part import TextPart


class Kind(StrEnum):
    """What a file was taken for."""

    LOG = "log"
    INDEX = "index"
    TIMEINDEX = "timeindex"
    TXNINDEX = "txnindex"
    SNAPSHOT = "snapshot"
    CHECKPOINT = "checkpoint"
    LEADER_EPOCHS = "leader-epochs"
    META_PROPERTIES = "meta.properties"
    PARTITION_METADATA = "partition.metadata"
    CLEAN_SHUTDOWN = "clean-shutdown"
    METADATA_SNAPSHOT = "metadata-snapshot"
    STATES = "states"
    OFFSETS = "offsets"
    RECORDS = "records"
    ARCHIVE = "archive"
    ANSWERS = "answers"
    TEXT_LOG = "text-log"
    SETTINGS = "settings"
    OTHER = "other"
    TEXT = "text"
    UNREADABLE = "unreadable"

    @property
    def is_of_broker(self) -> bool:
        """Whether such files hold what a broker wrote to its data directory (or a tool's print of it)."""
        return self not in OF_NO_BROKER


OF_NO_BROKER = frozenset(
    {Kind.RECORDS, Kind.ANSWERS, Kind.ARCHIVE, Kind.TEXT_LOG, Kind.SETTINGS, Kind.OTHER, Kind.TEXT, Kind.UNREADABLE}
)

LOG_KINDS = (Kind.TEXT_LOG, Kind.ANSWERS, Kind.SETTINGS)
"""Texts that say what happened, or how programs are set up: they are read to the end one by one."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file: where it lies, what it is, which partition it belongs to.

    `root` is the path as given, `data_directory` the directory that holds its partition folder (or the file itself);
    `base_offset` is -1 where the name has none; `left_out` says why a file is not used, None where it is; `part` is the
    stretch of a text that it is, None where it is a whole file of bytes; `copy` tells what several runs of an export
    hold of one path apart, 0 in the newest.
    """

    path: str
    root: str
    data_directory: str
    kind: Kind
    size: int
    folder: PartitionFolder | None = None
    base_offset: int = -1
    left_out: str | None = None
    part: TextPart | None = None
    copy: int = 0

    @property
    def key(self) -> str:
        """Path, and for a part of a text where it begins: no two items of a call share it.

        What a tool printed of a snapshot is a snapshot, and says what was open in its partition (`ANSWERS`).
        """
        path = copy_of(self.path, self.copy)
        if self.part is None:
            return path
        return f"{path}#{self.part.position}{'+' if self.kind is Kind.ANSWERS else ''}"

    @property
    def order(self) -> tuple[str, int, str]:
        """Where it stands among others: by path, and in one text from its beginning on."""
        return self.path, -1 if self.part is None else self.part.position, self.key

    @property
    def topic(self) -> str | None:
        """Topic, None where the file belongs to no partition."""
        return self.folder.topic if self.folder else None
