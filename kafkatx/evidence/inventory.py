"""What was given: every file under the paths, what it was taken for by name and content, and where it belongs."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from kafkatx.evidence.claims import Claim, claim_of
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.looking import Looker, LooksHere, size_of
from kafkatx.evidence.swapped import without_swapped
from kafkatx.evidence.text_items import text_items
from kafkatx.formats import checkpoints, identity
from kafkatx.formats.file_names import (
    BOOTSTRAP_CHECKPOINT,
    FileSuffix,
    FolderState,
    PartitionFolder,
    SegmentKind,
    TieredFile,
    is_remote_index_file,
    parse_metadata_snapshot_file,
    parse_partition_folder,
    parse_segment_file,
    parse_tiered_file,
    parse_tiered_folder,
)
from kafkatx.kernels.batches import HEADER_SIZE, LOG_OVERHEAD, is_plausible, is_plausible_legacy
from kafkatx.sources import places
from kafkatx.sources.archives import SEPARATOR, STANDARD_INPUT, mount, packed_path, packing
from kafkatx.sources.files import OpenFile
from kafkatx.sources.packing import Packing
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.text.textual import is_text

__all__ = ["inventory"]

NAMED = {
    identity.META_PROPERTIES: Kind.META_PROPERTIES,
    identity.PARTITION_METADATA: Kind.PARTITION_METADATA,
    identity.CLEAN_SHUTDOWN: Kind.CLEAN_SHUTDOWN,
    checkpoints.LEADER_EPOCHS: Kind.LEADER_EPOCHS,
    BOOTSTRAP_CHECKPOINT: Kind.METADATA_SNAPSHOT,
    **{name: Kind.CHECKPOINT for name in checkpoints.OFFSET_CHECKPOINTS},
}
OF_DIRECTORY = {
    identity.META_PROPERTIES,
    identity.CLEAN_SHUTDOWN,
    BOOTSTRAP_CHECKPOINT,
    ".lock",
    *checkpoints.OFFSET_CHECKPOINTS,
}
"""Files of a data directory itself, which may be called like a partition folder (`broker-1`)."""
NO_SUCH_FILE = "file or directory"
FOREIGN = "an archive of a kind that is not read; unpack it first"
DUMPING = b"Dumping "
"""First word of kafka-dump-log's output, in all releases."""
MOST_PARTED = 32
"""So many paths or more are each listed by one look."""
COST_OF_LISTING = 2 << 20
NOT_HERE = "no such file or directory on"
TIERED_EPOCHS = "leader_epoch_checkpoint"
TIERED_SNAPSHOT = "a snapshot in tiered storage: up to which offset it is valid its name does not say"
TIERED_CHANGED = "a segment in tiered storage that its plugin compressed or encrypted; fetch it through the plugin"
OF_PLUGINS = {
    "indexes": "the indexes of a segment in tiered storage, in a layout of its plugin",
    "rsm-manifest": "what a plugin of tiered storage needs to read a segment",
}
IGNORED_SUFFIXES = {
    FileSuffix.DELETED: "waits for its deletion; the live segments replace it",
    FileSuffix.CLEANED: "unfinished output of the cleaner",
    FileSuffix.TMP: "unfinished",
    FileSuffix.PART: "unfinished",
}


def inventory(paths: Iterable[str | Path], cut_texts: bool = True, looker: Looker | None = None) -> list[Item]:
    """Every file under `paths`, in a stable order, each once; raises UsageError for a path that does not exist.

    A text is the parts that tools wrote, which `looker` tells apart, unless `cut_texts` says that only files of brokers
    are wanted.
    """
    items: dict[str, Item] = {}
    looker = looker or LooksHere()
    roots = [claim_of(given) for given in places.admitted(paths)]
    for claim, root in roots:
        if root != STANDARD_INPUT:
            _check(root, claim)
    for files_listed in looker.each(listed, listings(roots, looker.lists_in_parts), _cost_of_listing):
        for known_as, item in files_listed:
            items.setdefault(known_as or item.path, item)
    files = [*without_swapped([*items.values()], looker)]
    found = _cut(files, looker) if cut_texts else map(_whole, files)
    return sorted(found, key=lambda item: (item.path, item.part.position if item.part else -1))


@dataclass(frozen=True, slots=True)
class Listing:
    """A path to be listed with what is said of it, or `part` of the folder that it is (sources/places.py)."""

    root: str
    claim: Claim
    part: str | None = None


def listings(roots: list[tuple[Claim, str]], in_parts: bool = False) -> list[Listing]:
    """What is to be listed of paths; `in_parts`: a few folders are parted, so that they can be listed side by side."""
    found: list[Listing] = []
    for claim, root in roots:
        is_parted = in_parts and len(roots) < MOST_PARTED and root != STANDARD_INPUT and places.is_folder(root)
        parts = places.parts_below(root) if is_parted else []
        found += [Listing(root, claim, part) for part in parts] or [Listing(root, claim)]
    return found


def listed(listing: Listing) -> list[tuple[str | None, Item]]:
    """List files; each with its identity where that is not its path. Raises OSError where a path is not there."""
    root, claim = listing.root, listing.claim
    if root != STANDARD_INPUT and not (places.is_folder(root) or places.exists(root)):
        import socket

        raise FileNotFoundError(errno.ENOENT, f"{NOT_HERE} {socket.gethostname()}", root)
    files = (file for item in _items(root, claim, listing.part) for file in _opened_up(item, claim))
    identity = places.identities()
    found = ((identity(file.path), file) for file in files)
    return [(None if known_as == file.path else known_as, file) for known_as, file in found]


def _cost_of_listing(listing: Listing) -> int:
    """Bytes that could be read while a path is listed, about."""
    return COST_OF_LISTING


def _check(root: str, claim: Claim) -> None:
    """Look whether a path is there, and can be what is said of it; raises UsageError."""
    try:
        is_folder = places.is_folder(root, anew=True)
        is_there = is_folder or places.exists(root)
    except OSError as error:
        raise UsageError(f"{root}: {error.strerror}") from None
    if not is_there:
        raise UsageError(f"{root}: no such {'object or folder in the store' if places.is_url(root) else NO_SUCH_FILE}")
    if is_folder and claim.kind is not None:
        raise UsageError(f"{root} is a folder; what a file holds is said of files, one by one: {claim.kind.value}=FILE")


def _opened_up(item: Item, claim: Claim) -> Iterator[Item]:
    """A file as it is; an archive as what lies in it, and what could not be had of it."""
    if item.kind is not Kind.ARCHIVE or item.left_out:
        yield claim.placed(item)
        return
    try:
        mounted = mount(item.path)
    except OSError as error:
        yield replace(item, left_out=error.strerror)
        return
    for problem in mounted.problems:
        yield replace(item, path=f"{item.path}{SEPARATOR}", left_out=problem)
    if mounted.is_file:
        yield claim.placed(claim.of_kind(_by_content(replace(item, kind=Kind.OTHER))))
        return
    inside = replace(claim, kind=None)
    for folder, folders, names in os.walk(mounted.root):
        folders.sort()
        is_data_directory = not OF_DIRECTORY.isdisjoint(names)
        for name in sorted(names):
            shown = mounted.display(os.path.join(folder, name))  # noqa: PTH118
            yield from _opened_up(_item(shown, item.root, is_data_directory, inside), inside)


def _whole(item: Item) -> Item:
    """A file as it is; a text is none of a broker's files."""
    return replace(item, left_out="text, which diagnose and history read") if _is_text(item) else item


def _cut(files: list[Item], looker: Looker) -> Iterator[Item]:
    """Files as they are; texts as the parts that tools wrote."""
    yield from (item for item in files if not _is_text(item))
    texts = [item for item in files if _is_text(item)]
    yield from chain.from_iterable(looker.each(text_items, texts, size_of))


def _is_text(item: Item) -> bool:
    return item.kind is Kind.TEXT and item.left_out is None


def _items(root: str, claim: Claim, part: str | None = None) -> Iterator[Item]:
    """Files below a path, and folders that can't be read.

    Each folder is entered once, so a loop of links can't trap the walk.
    """
    if root == STANDARD_INPUT:
        yield Item(root, root, "", Kind.ARCHIVE, 0, claim.partition)
        return
    is_folder = places.is_folder(root)
    if not is_folder or places.is_file(root):  # an object and a folder in a store may have one name
        yield _item(root, root, _is_data_directory(places.parent(places.absolute(root))), claim)
    refused: list[OSError] = []
    folders = places.folders_below(root, refused, part) if is_folder else ()
    for path, is_data_directory in places.prepared(root, _files(folders)):
        yield _item(path, root, is_data_directory, claim)
    for error in refused:
        parent = places.parent(error.filename)
        yield Item(error.filename, root, parent, Kind.UNREADABLE, 0, left_out=error.strerror)


def _files(folders: Iterable[tuple[str, list[str]]]) -> Iterator[tuple[str, bool]]:
    """The files of folders, each with whether it lies in a data directory itself."""
    for folder, names in folders:
        is_data_directory = not OF_DIRECTORY.isdisjoint(names)
        yield from ((places.joined(folder, name), is_data_directory) for name in names)


def _is_data_directory(folder: str) -> bool:
    """Whether a folder holds files of a data directory: then it is no partition's, whatever its name (`broker-1`)."""
    if parse_partition_folder(places.name(folder)) is None:
        return False
    try:
        return any(places.exists(places.joined(folder, name)) for name in OF_DIRECTORY)
    except OSError:
        return False


def _item(path: str, root: str, in_data_directory: bool, claim: Claim) -> Item:
    parent = places.parent(path)
    try:
        real = packed_path(path)
        size = places.size_of_file(real)
    except OSError as error:
        return Item(path, root, parent, Kind.UNREADABLE, 0, left_out=error.strerror)
    if size is None:
        return Item(path, root, parent, Kind.OTHER, 0, left_out="not a regular file")
    folder, directory = _folder(path, root, in_data_directory, claim)
    item = Item(path, root, directory, Kind.OTHER, size, folder)
    if folder and folder.state is FolderState.DELETE:
        return replace(item, left_out="the topic was deleted")
    found = _by_name(item, places.name(path))
    return found if found.kind is Kind.ARCHIVE else claim.of_kind(found)


def _folder(path: str, root: str, in_data_directory: bool, claim: Claim) -> tuple[PartitionFolder | None, str]:
    """Return the partition that a file is of, as far as one is said or its folders say so, and the data directory."""
    if claim.partition is not None:
        return claim.partition, places.parent(root)
    parent = places.parent(path)
    if parse_tiered_file(places.name(path)) is not None:
        above = places.parent(parent)
        tiered = parse_tiered_folder(places.folder_name(path), places.folder_name(parent))
        if tiered is not None:
            return tiered[0], above if tiered[1] == 1 else places.parent(above)
    folder = None if in_data_directory else _partition_of(places.folder_name(path))
    return folder, places.parent(parent) if folder else parent


@lru_cache(maxsize=1024)
def _partition_of(name: str) -> PartitionFolder | None:
    """The partition of a folder, one object for all files in it."""
    return parse_partition_folder(name)


def _by_name(item: Item, name: str) -> Item:
    tiered = parse_tiered_file(name)
    if tiered is not None:
        return _tiered(item, tiered)
    segment = parse_segment_file(name) or parse_segment_file(_without_packing(name))
    if segment is not None and not _is_dump_saved_as(item):
        why = IGNORED_SUFFIXES.get(segment.suffix)
        folder = item.folder or PartitionFolder(places.folder_name(item.path), -1)
        return replace(
            item, kind=Kind(segment.kind.value), folder=folder, base_offset=segment.base_offset, left_out=why
        )
    if name in NAMED:
        return replace(item, kind=NAMED[name])
    if parse_metadata_snapshot_file(name):
        return replace(item, kind=Kind.METADATA_SNAPSHOT)
    if name == identity.QUORUM_STATE:
        return replace(item, left_out="the votes of the controllers")
    if is_remote_index_file(name):
        return replace(item, left_out="an index of tiered storage")
    return _by_content(item)


def _tiered(item: Item, tiered: TieredFile) -> Item:
    """A file of a segment in tiered storage: as in a data directory, unless a plugin changed it."""
    placed = replace(item, folder=item.folder or PartitionFolder(places.folder_name(item.path), -1))
    if tiered.ending == TIERED_EPOCHS:
        return replace(placed, kind=Kind.LEADER_EPOCHS)
    if tiered.ending in OF_PLUGINS:
        return replace(placed, left_out=OF_PLUGINS[tiered.ending])
    if tiered.ending != SegmentKind.LOG:
        why = TIERED_SNAPSHOT if tiered.ending == SegmentKind.SNAPSHOT else None
        return replace(placed, kind=Kind(tiered.ending), base_offset=tiered.base_offset, left_out=why)
    found = _by_content(placed)
    if found.kind is Kind.LOG:
        return replace(found, base_offset=tiered.base_offset)
    return found if found.kind is Kind.UNREADABLE else replace(found, kind=Kind.OTHER, left_out=TIERED_CHANGED)


def _by_content(item: Item) -> Item:
    """A file whose name says nothing: record batches betray themselves."""
    try:
        packed = packing(item.path)
        if packed not in (None, Packing.COMPRESSED):
            return replace(item, kind=Kind.ARCHIVE, left_out=FOREIGN if packed is Packing.FOREIGN else None)
        with OpenFile(item.path) as file:
            head, item = file.read(0, 4096), replace(item, size=file.size)
    except OSError as error:
        return replace(item, kind=Kind.UNREADABLE, left_out=error.strerror)
    if _begins_with_batch(head, item.size):
        folder = item.folder or PartitionFolder(places.name(item.path), -1)
        return replace(item, kind=Kind.LOG, folder=folder)
    if is_text(head):
        return replace(item, kind=Kind.TEXT)
    return replace(item, left_out="not recognised") if head else replace(item, left_out="empty")


def _without_packing(name: str) -> str:
    """Name of a file before it was compressed."""
    stem, _, ending = name.rpartition(".")
    return stem if ending in ("gz", "zst", "bz2", "xz") else name


def _is_dump_saved_as(item: Item) -> bool:
    """Whether a file that is called like a segment holds what kafka-dump-log printed of one."""
    try:
        with OpenFile(item.path) as file:
            return file.read(0, len(DUMPING)) == DUMPING
    except OSError:
        return False


def _begins_with_batch(head: bytes, size: int) -> bool:
    if len(head) < HEADER_SIZE:
        return False
    length = LOG_OVERHEAD + int.from_bytes(head[8:12], "big", signed=True)
    limit = (1 << 63) - 1
    fits = is_plausible.plain(head, 0, -1, limit, -1) or is_plausible_legacy.plain(head, 0, -1, limit)
    return fits and length <= size
