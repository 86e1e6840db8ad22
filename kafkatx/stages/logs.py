"""Logs and settings of a capture: read text by text, each by itself, and united in one order.

A text may be read anywhere, since nothing of its reading depends on the others; `united_logs` numbers through what
each calls by numbers of its own. Memory is bounded by the events that are kept of a text (text/logs/thinning.py).

The readers of texts are imported when there is a text: they cost as much as the diagnosis of a small directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.item import Item, Kind
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import Side
from kafkatx.text.events import LogFacts, LogSource
from kafkatx.text.lines import lines
from kafkatx.text.logs.union import LogUnion
from kafkatx.text.pages.part import TextPart

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What one text says, numbered from 0 by itself, and its coverage; it can be pickled."""

    facts: LogFacts
    coverage: Coverage


def read_logs(capture: Capture, progress: Progress) -> tuple[LogFacts, list[Coverage]]:
    """Read every log and every file of settings of a capture; returns what they say, and their coverage."""
    coverage: list[Coverage] = []
    return united_logs(_read_each(capture, progress, coverage)), coverage


def _read_each(capture: Capture, progress: Progress, coverage: list[Coverage]) -> Iterator[FileFacts]:
    """Read one text after the other, so that one is held at a time; their coverage grows by it."""
    for item in log_items(capture):
        progress(item.path, item.size)
        read = read_log(item, coverage_of(capture, item, None))
        coverage.append(read.coverage)
        yield read


def log_items(capture: Capture) -> list[Item]:
    """Logs and files of settings of a capture, in the order in which they are united."""
    return sorted(capture.texts(Kind.TEXT_LOG, Kind.SETTINGS), key=lambda item: item.key)


def read_log(item: Item, entry: Coverage) -> FileFacts:
    """Read one log or one file of settings, or a part of a text that is one.

    Args:
        item: the text.
        entry: its coverage as it was begun; it is completed, also where the text can't be read.
    """
    facts = LogFacts()
    try:
        with OpenFile(item.path) as file:
            if item.part is not None:
                facts = _read(file, item, item.part, entry)
    except OSError as error:
        entry.status, entry.note = "unreadable", error.strerror
    return FileFacts(facts, entry)


def united_logs(parts: Iterable[FileFacts]) -> LogFacts:
    """Unite what texts say, each read by itself, in the order given.

    Sources, strings and traces are numbered as if one reader had read all; the parts stay as they are.
    """
    union = LogUnion()
    for part in parts:
        union.add(part.facts)
    return union.facts()


def _read(file: OpenFile, item: Item, part: TextPart, entry: Coverage) -> LogFacts:
    if item.kind is Kind.SETTINGS:
        from kafkatx.text.settings.files import settings_of_file

        found = settings_of_file(lines(file, part.position, part.end, part.line), 0)
        entry.status, entry.note = "read", f"{len(found)} settings"
        return LogFacts([_silent_source(item)], settings=found)
    from kafkatx.text.logs.reading import read_log as read_part

    facts = read_part(file, part)
    _tell(entry, facts.sources[0], len(facts.events) + int(facts.events["repeats"].clip(0).sum()))
    return facts


def _silent_source(item: Item) -> LogSource:
    """A file of settings as a source: it has places but no events."""
    return LogSource(item.path, Side.unknown, 0, item.size, -1, -1, True, None, -1, "")


def _tell(entry: Coverage, source: LogSource, events: int) -> None:
    zone = "" if source.is_zoned or source.first_at < 0 else "; times without a zone"
    entry.status, entry.broker_id = "read", source.broker_id
    entry.first_timestamp = source.first_at if source.first_at >= 0 else None
    entry.last_timestamp = source.last_at if source.last_at >= 0 else None
    entry.note = f"log of a {source.side.name}: {source.lines:,} lines, {events:,} of them matter{zone}"


def newest_time(facts: LogFacts) -> int:
    """Newest printed time of any log, -1 where none is printed."""
    return max((source.last_at for source in facts.sources), default=-1)
