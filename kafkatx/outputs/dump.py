"""`dump`: every field of every file, batch and record, as lines in kafka-dump-log's shapes or as JSON lines.

Shape   with any of the tool's own options what kafka-dump-log 4.3.1 prints for exactly those; without them everything.
Differs from the tool: damage never ends a dump (it is told on standard error and what follows is shown), preallocated
        zeros are no entries, and no `-1 is followed by N` is reported of a log that does not begin at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.formats.file_names import parse_segment_file
from kafkatx.outputs.dump_blocks import blocks_of
from kafkatx.outputs.dump_entries import READERS, Entry
from kafkatx.outputs.dump_indexes import IndexDump
from kafkatx.outputs.dump_lines import LogLines
from kafkatx.outputs.dump_log import LogDump, Piece, first_line
from kafkatx.outputs.dump_objects import LogObjects, damage_object, json_line, place_fields, shown_path
from kafkatx.outputs.dump_options import DumpOptions
from kafkatx.segments.damage import Damage
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile, read_small
from kafkatx.terms.java_text import java_text
from kafkatx.terms.printable import printable
from kafkatx.terms.progress import Progress, expect
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CLUSTER_METADATA

LOGS = {Kind.LOG, Kind.METADATA_SNAPSHOT}
INDEXES = {Kind.INDEX, Kind.TIMEINDEX}
ENTRIES = {Kind.TXNINDEX, Kind.SNAPSHOT}
TEXTS = {Kind.CHECKPOINT, Kind.LEADER_EPOCHS, Kind.META_PROPERTIES, Kind.PARTITION_METADATA, Kind.CLEAN_SHUTDOWN}
TOOL_ENDINGS = (".log", ".checkpoint", ".index", ".timeindex", ".snapshot", ".txnindex")


@dataclass(slots=True)
class Dump:
    """One dump of some files. `complain` gets what belongs on standard error; `shown` counts the readable files."""

    options: DumpOptions
    as_json: bool
    complain: Callable[[str], None]
    progress: Progress | None = None
    shown: int = 0
    _afterwards: list[str] = field(default_factory=list)

    def pieces(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield the text of all files, in the order given; a folder stands for the files in it.

        Raises:
            UsageError: a path does not exist, or a decoder class can't be had.
        """
        return (piece.decode() if isinstance(piece, bytes) else piece for piece in self._all(paths))

    def encoded(self, paths: Iterable[str]) -> Iterator[bytes]:
        """Yield the same as UTF-8, bytes of names that are none as they are; raises what `pieces` raises."""
        return (
            piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape")
            for piece in self._all(paths)
        )

    def _all(self, paths: Iterable[str]) -> Iterator[Piece]:
        for path in paths:
            items = inventory([path], cut_texts=False)
            expect(self.progress, (item.size for item in items))
            for item in items:
                if self.progress is not None:
                    self.progress(item.path, item.size)
                try:
                    yield from self._file(item)
                except OSError as error:
                    self.complain(f"{item.path}: {error.strerror}")
        for line in self._afterwards:
            self.complain(line)

    def _file(self, item: Item) -> Iterator[Piece]:
        yield self._begin(item)
        if self.options.as_tool and not item.path.endswith(TOOL_ENDINGS):
            self.complain(f"Ignoring unknown file {item.path}")
        elif item.kind in LOGS:
            yield from self._log(item)
        elif item.kind in INDEXES:
            yield from self._index(item)
        elif item.kind in ENTRIES:
            yield from self._entries(item, *READERS[item.kind](item.path))
        elif item.kind in TEXTS:
            yield from self._text(item)
        else:
            self.complain(f"Ignoring unknown file {item.path}" + (f" ({item.left_out})" if item.left_out else ""))
            return
        self.shown += 1

    def _begin(self, item: Item) -> str:
        if not self.as_json:
            return f"Dumping {self._visible(item.path)}\n"
        return json_line(
            {
                "object": "file",
                "path": shown_path(item.path),
                "kind": item.kind.value,
                **place_fields(item),
                "base_offset": None if item.base_offset < 0 else item.base_offset,
                "bytes": item.size,
            }
        )

    def _log(self, item: Item) -> Iterator[Piece]:
        if not self.as_json and (line := first_line(item.path)):
            yield f"{line}\n"
        decode = self.options.decoder_for(_topic(item))
        with OpenFile(item.path) as file:
            if self.as_json:
                dump = LogDump(file, self.options, LogObjects(item, self.options, decode))
            else:
                lines = LogLines(self.options, decode)
                blocks = blocks_of(file, self.options, self.options.decoder_of(_topic(item)), lines)
                dump = LogDump(file, self.options, lines, blocks)
            for piece in dump.pieces():
                if isinstance(piece, Damage):
                    yield from self._damage(piece)
                else:
                    yield piece
        if dump.trailing_bytes and not self.as_json:
            name = self._visible(places.name(item.path))
            yield f"Found {dump.trailing_bytes} invalid bytes at the end of {name}\n"
        self._note_jumps(item, dump)

    def _note_jumps(self, item: Item, dump: LogDump) -> None:
        if not dump.jumps.count or self.as_json:
            return
        self._afterwards.append(f"Non-consecutive offsets in {places.absolute(item.path)}")
        self._afterwards += [f"  {first} is followed by {second}" for first, second in dump.jumps.pairs]
        if dump.jumps.count > len(dump.jumps.pairs):
            self._afterwards.append(f"  and {dump.jumps.count - len(dump.jumps.pairs):,} more")

    def _index(self, item: Item) -> Iterator[str]:
        segment = parse_segment_file(places.name(item.path))
        index = IndexDump(item.path, segment.base_offset if segment else 0, of_times=item.kind is Kind.TIMEINDEX)
        if index.left_over:
            self.complain(f"{item.path}: {index.left_over} bytes at the end are no entry")
        if not index.size_bytes and item.kind is Kind.INDEX and not self.as_json:
            yield f"{self._visible(item.path)} is empty.\n"
            return
        if self.options.index_sanity_check and not self.as_json:
            yield from self._sanity(item, index)
            return
        for text, fields in index.entries():
            if not self.options.verify_index_only:
                yield self._entry(item, text, fields)
        self._afterwards += index.problems

    def _sanity(self, item: Item, index: IndexDump) -> Iterator[str]:
        """Say whether the broker would keep an index: its size is right and its last entry is not below the first."""
        if index.is_sane():
            yield f"{self._visible(item.path)} passed sanity check.\n"
        else:
            self.complain(f"{item.path} did not pass the sanity check: a broker rebuilds it")

    def _entries(self, item: Item, entries: Iterator[Entry], damage: list[Damage]) -> Iterator[str]:
        for text, fields in entries:
            yield self._entry(item, text, fields)
        for found in damage:
            yield from self._damage(found)

    def _entry(self, item: Item, text: str, fields: dict[str, object]) -> str:
        if not self.as_json:
            return text
        return json_line({"object": "entry", "path": shown_path(item.path), "kind": item.kind.value, **fields})

    def _text(self, item: Item) -> Iterator[str]:
        for number, line in enumerate(java_text(read_small(item.path)).removesuffix("\n").split("\n"), 1):
            if self.as_json:
                yield json_line({"object": "line", "path": shown_path(item.path), "number": number, "text": line})
            else:
                yield f"{self._visible(line)}\n"

    def _damage(self, damage: Damage) -> Iterator[str]:
        self.complain(damage.sentence())
        if self.as_json:
            yield json_line(damage_object(damage))

    def _visible(self, text: str) -> str:
        return printable(text) if self.options.escape else text


def _topic(item: Item) -> str | None:
    return CLUSTER_METADATA if item.kind is Kind.METADATA_SNAPSHOT else item.topic
