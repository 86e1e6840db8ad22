"""A folder of evidence written once more with stand-ins, its names of files too."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from kafkatx.evidence.item import Item, Kind
from kafkatx.formats.checkpoints import parse_offsets
from kafkatx.formats.file_names import parse_partition_folder
from kafkatx.local.collecting.picking import Pick
from kafkatx.local.collecting.staging import write_text
from kafkatx.local.redacting.internal_records import changer
from kafkatx.local.redacting.names_met import NamesMet
from kafkatx.local.redacting.segments import write_segment
from kafkatx.local.redacting.stand_ins import StandIns
from kafkatx.local.redacting.text_names import TextNames

COPIED = (
    Kind.SNAPSHOT,
    Kind.TXNINDEX,
    Kind.LEADER_EPOCHS,
    Kind.PARTITION_METADATA,
    Kind.META_PROPERTIES,
    Kind.CLEAN_SHUTDOWN,
)
"""Files that hold numbers and random ids only."""


def stand_ins(met: NamesMet, partitions: int) -> StandIns:
    """Give every name that was met its stand-in, in an order that depends on nothing else."""
    names = StandIns(partitions)
    names.add_ids(met.ids)
    for name in sorted(met.groups):
        names.group_of(name)
    for name in sorted(met.clients):
        names.client_of(name)
    for name in sorted(met.topics):
        names.topic_of(name)
    for name in sorted(met.hosts):
        names.host_of(name)
    return names


def is_of_records(pick: Pick) -> bool:
    """Whether a text shows records as an application wrote them: there is no telling what of it is payload."""
    return any(item.kind is Kind.RECORDS for item in pick.items)


class Redaction:
    """Writes files with stand-ins."""

    def __init__(self, names: StandIns) -> None:
        """Prepare for the names that are known by now."""
        self.names, self.texts = names, TextNames(names)

    def name(self, name: str) -> str:
        """Return the name of a file in the bundle, with stand-ins in its folders."""
        return "/".join(map(self._part, name.split("/")))

    def _part(self, part: str) -> str:
        folder = parse_partition_folder(part)
        if folder is not None and folder.topic in self.names.topics:
            return self.names.topic_of(folder.topic) + part[len(folder.topic) :]
        return self.texts.word(part)

    def write(self, pick: Pick, source: Path, target: Path) -> None:
        """Write a file of the bundle; `source` is where it lies as it was collected."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if pick.is_text:
            write_text(str(source), target, self.texts.bytes)
            return
        item = pick.items[0]
        if item.kind is Kind.LOG:
            write_segment(str(source), item.base_offset, changer(item.topic, self.names), target)
        elif item.kind is Kind.CHECKPOINT:
            target.write_text(self._checkpoint(source), encoding="utf-8")
        elif item.kind in COPIED:
            shutil.copyfile(source, target)
        else:
            raise ValueError(f"{_named(item)} is of a kind that may hold names")

    def _checkpoint(self, source: Path) -> str:
        """The offsets of a checkpoint, each partition under its stand-in."""
        text = source.read_text(encoding="utf-8", errors="replace")
        if not text.strip():
            return text
        rows = [f"{self.names.topic_of(one.topic)} {one.partition} {one.offset}" for one in parse_offsets(text).entries]
        head = text.split("\n", 2)[:2] if rows else text.split("\n")[:2]
        return "".join(f"{line}\n" for line in (*head, *rows) if line)


def _named(item: Item) -> str:
    return item.path.rpartition("/")[2]


def texts_of(pairs: Iterable[tuple[Pick, Path]]) -> list[Path]:
    """Texts among files that were collected."""
    return [path for pick, path in pairs if pick.is_text]
