"""What files have grown by: how far each goes now, as an offset of a stream, and the tasks that read what is new.

Offset  for each log of a partition its mark (evidence/log_marks.py), for each text where its last whole entry ends:
        what files hold when they are looked at, whatever was read before. It grows with their number, not their size.
Tasks   by ranges of offsets, each of one log: which file has them the task finds itself, since brokers roll, merge,
        rename and delete segments meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from typing import Any, TypeVar

from kafkatx.evidence.directories import data_directories
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import evidence
from kafkatx.evidence.log_marks import Mark, Newer, end_of, is_there, mark_of, since
from kafkatx.evidence.log_tails import Segments, check_active, is_followed
from kafkatx.evidence.text_ends import end_of_text, known_by
from kafkatx.sources import places
from kafkatx.sources.archives import unpacked_places
from kafkatx.sources.files import OpenFile, read_small
from kafkatx.sources.states import file_states
from kafkatx.sources.stores import ways
from kafkatx.sources.urls import Way
from kafkatx.spark.planning import placed
from kafkatx.spark.request import Request
from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.stages.table_files import Source, light, sources
from kafkatx.stages.table_growth import OF_LOGS
from kafkatx.terms.records import dataclass

T = TypeVar("T")
LAYOUT = 2
QUIET_SECONDS = 10.0
"""A text that nobody wrote to for so long is taken to be whole."""
MOST_GONE = 1000
"""Logs that are not there any more and are remembered all the same: they may be back."""
ATTEMPTS = 5
"""How often files are listed anew that were rolled, renamed or deleted while they were looked at."""

Ends = dict[str, Any]
"""How far each file or log goes, by what names it."""


@dataclass(frozen=True, slots=True)
class GrownLog:
    """What is new of a log, or a range of offsets of it; `source` is one of its segments, `known` where to begin."""

    source: Source
    newer: Newer
    bytes: int
    known: Mark | None = None


@dataclass(frozen=True, slots=True)
class GrownText:
    """What is new of the text that is known by a name: entries that begin in [begin, end)."""

    source: Source
    name: str
    begin: int
    end: int

    @property
    def bytes(self) -> int:
        """Bytes that are read: what an entry means is told by those before it."""
        return self.end


Growth = GrownLog | GrownText


@dataclass(frozen=True, slots=True)
class GrowthTask:
    """What one task reads; `ways` is what it takes to open the stores that it lies in."""

    request: Request
    grown: tuple[Growth, ...]
    ways: tuple[Way, ...] = field(default_factory=ways, repr=False)


@dataclass(slots=True)
class Growing:
    """Evidence that grows: looks at it again and again."""

    wanted: Request
    paths: list[str]
    captures: dict[str, str] | None = None
    _seen: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def offset(self, before: dict[str, Any]) -> dict[str, Any]:
        """Return how far all goes now; what is gone is as it was in the offset `before`."""
        known = ends_of(before)
        found = {name: self._end(name, files, known) for name, files in self._listed().items()}
        now = {name: end for name, end in found.items() if end is not None}
        gone = [name for name in known if name not in now][-MOST_GONE:]
        ends = {**now, **{name: known[name] for name in gone}}
        return {"layout": LAYOUT, "ends": dict(sorted(ends.items()))}

    def tasks(self, start: dict[str, Any], end: dict[str, Any]) -> list[GrowthTask]:
        """Return the tasks that read what is new between two offsets."""
        known, ends = ends_of(start), ends_of(end)
        changed = {name: one for name, one in ends.items() if one != known.get(name)}
        grown = [*_again(lambda: [*self._grown(changed, known)])] if changed else []
        return [GrowthTask(self.wanted, tuple(group)) for group in grouped(grown, _cost)]

    def _grown(self, changed: Ends, known: Ends) -> Iterator[Growth]:
        listed = self._listed()
        for name, end in changed.items():
            if name in listed and self.wanted.table in OF_LOGS:
                yield from _of_log(listed[name], mark_of(known[name]) if name in known else None, mark_of(end))
            elif name in listed:
                yield GrownText(listed[name][0], name.rpartition("#")[2], known.get(name, 0), end)

    def _end(self, name: str, files: list[Source], known: Ends) -> Any:
        """How far a log or a text goes; as before where it can't be read now."""
        try:
            if self.wanted.table in OF_LOGS:
                return self._end_of_log(name, files)
            return max(known.get(name, 0), *(end for _, end in map(_text, files)))
        except OSError:
            return known.get(name)

    def _end_of_log(self, name: str, files: list[Source]) -> Any:
        """The mark at the end of a log; its files are looked at where they have changed."""
        state = _state(file.item for file in files)
        if name not in self._seen or self._seen[name][0] != state:
            segments = _segments(files)
            mark = end_of(segments)
            check_active(segments)
            self._seen[name] = state, None if mark is None else mark.told()
        return self._seen[name][1]

    def _listed(self) -> dict[str, list[Source]]:
        """The files that are followed, by what names their log or text."""
        with unpacked_places():
            items = inventory(placed(self.paths), cut_texts=False)
            found = evidence(data_directories(items), self.captures)
            files = [replace(one, columns=self.wanted.wanted) for one in sources(found, self.wanted.verify_all)]
            return _logs(self.wanted, files, items) if self.wanted.table in OF_LOGS else _texts(files)


def ends_of(offset: dict[str, Any]) -> Ends:
    """Return the ends in an offset; raises ValueError for one that another kafkatx wrote in another way."""
    if offset and offset.get("layout") != LAYOUT:
        raise ValueError(f"an offset of layout {offset.get('layout')}: begin with a new checkpoint")
    return dict(offset.get("ends", {}))


def _again(look: Callable[[], T]) -> T:
    for _ in range(ATTEMPTS - 1):
        try:
            return look()
        except OSError:
            continue
    return look()


def _logs(wanted: Request, files: Iterable[Source], items: Iterable[Item]) -> dict[str, list[Source]]:
    ids = {places.parent(item.path): item for item in items if item.kind is Kind.PARTITION_METADATA}
    found: dict[str, list[Source]] = {}
    for source in files:
        is_wanted = FILE_TABLES[wanted.table].has_rows(source) and wanted.has_file(source.item.topic, source.partition)
        if is_followed(source.item) and is_wanted:
            found.setdefault(places.parent(source.item.path), []).append(light(source))
    return {f"{folder}{_topic_id(ids.get(folder))}": files for folder, files in found.items()}


def _topic_id(metadata: Item | None) -> str:
    """What tells a topic from another one of its name that was deleted before; nothing before Kafka 2.8."""
    try:
        text = read_small(metadata.path, 1 << 10).decode("utf-8", "replace") if metadata else ""
    except OSError:
        return ""
    return "".join(f"#{line.split()[1]}" for line in text.splitlines() if line.startswith("topic_id: "))


def _texts(files: Iterable[Source]) -> dict[str, list[Source]]:
    """Texts by their folder and their first line; copies in one folder are one."""
    found: dict[str, list[Source]] = {}
    for source in files:
        if source.item.kind is Kind.TEXT:
            try:
                name, _ = _text(source)
            except OSError:
                continue
            if name is not None:
                found.setdefault(f"{places.parent(source.item.path)}#{name}", []).append(light(source))
    return {name: sorted(copies, key=lambda one: -one.item.size) for name, copies in found.items()}


def _text(source: Source) -> tuple[str | None, int]:
    with OpenFile(source.item.path) as file:
        (state,) = file_states([source.item.path])
        is_quiet = state.mtime_ns is not None and time.time() - state.mtime_ns / 1e9 > QUIET_SECONDS
        return known_by(file), end_of_text(file, is_quiet)


def _of_log(files: list[Source], known: Mark | None, end: Mark) -> Iterator[GrownLog]:
    """What is new of a log, by segments as they are now."""
    segments = _segments(files)
    newer = since(known, end, segments)
    check_active(segments)
    begin = known if known is not None and newer.known == known and is_there(known, segments) else None
    stops = [*segments.bases[1:], newer.stop]
    for number, (base, stop) in enumerate(zip(segments.bases, stops, strict=True)):
        part = newer.within(base if number else 0, stop)
        if part.first < min(part.stop, end.end):
            read = begin.position if begin is not None and begin.base == base else 0
            yield GrownLog(files[0], part, max(0, segments.items[base].size - read), begin)


def _segments(files: Iterable[Source]) -> Segments:
    return Segments.of([source.item for source in files])


def _state(items: Iterable[Item]) -> Any:
    """What differs when files were written to; of the last of a log, and which there are."""
    found = sorted((item.path, item.size) for item in items)
    last = [state.mtime_ns for state in file_states(path for path, _ in found[-1:])]
    return found, last


def _cost(grown: Growth) -> int:
    return COST_OF_FILE + grown.bytes
