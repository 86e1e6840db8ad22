"""Text files as items: one for each part that a tool wrote, so that a part is found, merged and covered like a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from kafkatx.evidence.item import Item, Kind
from kafkatx.formats.file_names import PartitionFolder, parse_partition_folder
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import INTERNAL, TRANSACTION_STATE, UNNAMED
from kafkatx.text.pages.part import PartKind, TextPart

KINDS = {
    PartKind.DUMP_LOG: Kind.LOG,
    PartKind.DUMP_TXNINDEX: Kind.TXNINDEX,
    PartKind.DUMP_SNAPSHOT: Kind.SNAPSHOT,
    PartKind.DUMP_INDEX: Kind.INDEX,
    PartKind.DUMP_TIMEINDEX: Kind.TIMEINDEX,
    PartKind.DUMP_METADATA_SNAPSHOT: Kind.METADATA_SNAPSHOT,
    PartKind.CONSOLE_STATES: Kind.STATES,
    PartKind.CONSOLE_OFFSETS: Kind.OFFSETS,
    PartKind.CONSOLE_RECORDS: Kind.RECORDS,
    PartKind.ADMIN_TRANSACTIONS: Kind.STATES,
    PartKind.ANSWER: Kind.ANSWERS,
    PartKind.LOG: Kind.TEXT_LOG,
    PartKind.SETTINGS: Kind.SETTINGS,
    PartKind.WORDS: Kind.TEXT_LOG,
    PartKind.PROSE: Kind.TEXT,
}


def text_items(item: Item) -> list[Item]:
    """The parts of a text file as items; what no tool wrote is one item for the whole file."""
    from kafkatx.text.pages.parts import parts  # no text, no readers of texts: they cost as much as a small diagnosis

    try:
        with OpenFile(item.path) as file:
            found = parts(file)
    except OSError as error:
        return [replace(item, kind=Kind.UNREADABLE, left_out=error.strerror)]
    known = [part for part in _numbered(found) if part.kind is not PartKind.PROSE]
    if not known:
        return [replace(item, left_out="text in which nothing of Kafka's tools or logs was recognised")]
    items = [_item(item, part) for part in known]
    items += [replace(one, kind=Kind.ANSWERS, folder=None) for one in items if one.kind is Kind.SNAPSHOT]
    rest = item.size - sum(part.end - part.position for part in known)
    if rest > 0 and any(part.kind is PartKind.PROSE for part in found):
        items.append(replace(item, kind=Kind.TEXT, size=rest, left_out="other text between what was recognised"))
    return items


def _numbered(found: list[TextPart]) -> Iterator[TextPart]:
    """Parts, of several with printed states each behind the rows that those above it can have: one a line."""
    rows = 0
    for part, below in zip_longest(found, found[1:]):
        if KINDS[part.kind] is not Kind.STATES:
            yield part
            continue
        yield replace(part, base_offset=rows)
        rows += below.line - part.line if below is not None else 0


def _item(file: Item, part: TextPart) -> Item:
    kind = KINDS[part.kind]
    folder = _folder(file, part)
    left_out = None if kind is not Kind.RECORDS or part.topic else "records without the name of their topic"
    return replace(
        file,
        kind=kind,
        size=part.end - part.position,
        folder=folder if kind.is_of_broker else None,
        data_directory=_directory(file, part, folder) if kind.is_of_broker else file.data_directory,
        base_offset=part.base_offset if _is_placed(part) else -1,
        left_out=left_out,
        part=part,
    )


def _is_placed(part: TextPart) -> bool:
    """Whether a part tells the offset at which its segment begins."""
    return KINDS[part.kind] is not Kind.STATES and (part.named is not None or part.is_whole)


def _folder(file: Item, part: TextPart) -> PartitionFolder | None:
    """The partition that was dumped: as the text says, else as the folder of the text is called.

    Without a header the partition of an internal topic is a guess by an id (text/pages/content.py): the folder knows.
    """
    if KINDS[part.kind] is Kind.STATES:
        return PartitionFolder(TRANSACTION_STATE, max(0, part.partition or 0))
    if file.folder is not None and part.named is None and part.topic in INTERNAL and file.folder.topic == part.topic:
        return file.folder
    if part.topic is not None:
        return PartitionFolder(part.topic, part.partition if part.partition is not None else -1)
    return file.folder or PartitionFolder(UNNAMED, -1)


def _directory(file: Item, part: TextPart, folder: PartitionFolder | None) -> str:
    """What stands for the data directory: the folder that holds the folders of partitions, else the page and its run.

    Dumps of several brokers lie in folders of their own, as the brokers' data directories do.
    """
    parent = places.parent(file.path)
    named = parse_partition_folder(places.name(parent))
    place = places.parent(parent) if named is not None and named == folder else file.path
    return f"{place} (incident {part.run + 1})" if part.run else place
