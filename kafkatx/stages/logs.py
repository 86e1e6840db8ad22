"""Logs and settings of a capture, read on this machine: events as rows in bounded memory, each file covered.

The readers of texts are imported when there is a text: they cost as much as the diagnosis of a small directory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.item import Item, Kind
from kafkatx.kernels.rows import EVENT
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import Side
from kafkatx.text.events import LogFacts, LogSource
from kafkatx.text.lines import lines
from kafkatx.text.pages.part import Part

Progress = Callable[[str, int], None]


def read_logs(capture: Capture, progress: Progress) -> tuple[LogFacts, list[Coverage]]:
    """Read every log and every file of settings of a capture; returns what they say, and their coverage."""
    items = sorted(capture.texts(Kind.TEXT_LOG, Kind.SETTINGS), key=lambda item: item.key)
    if not items:
        return LogFacts(), []
    reading = _Reading(capture, progress)
    for item in items:
        reading.read(item)
    return reading.facts(), reading.coverage


class _Reading:
    """The texts of one capture in work."""

    def __init__(self, capture: Capture, progress: Progress) -> None:
        from kafkatx.text.logs.reading import LogReader

        self.capture = capture
        self.progress = progress
        self.reader = LogReader()
        self.events: list[Any] = []
        self.sources: list[LogSource] = []
        self.coverage: list[Coverage] = []

    def read(self, item: Item) -> None:
        """Read one part; what can't be read is told in its coverage."""
        entry = coverage_of(self.capture, item, None)
        self.coverage.append(entry)
        self.progress(item.path, item.size)
        try:
            with OpenFile(item.path) as file:
                if item.part is not None:
                    self._read(file, item, item.part, entry)
        except OSError as error:
            entry.status, entry.note = "unreadable", error.strerror

    def _read(self, file: OpenFile, item: Item, part: Part, entry: Coverage) -> None:
        number, count = len(self.sources), 0
        if item.kind is Kind.SETTINGS:
            from kafkatx.text.settings.files import settings_of_file

            found = settings_of_file(lines(file, part.position, part.end, part.line), number)
            self.reader.settings.extend(found)
            self.sources.append(_silent_source(item))
            entry.status, entry.note = "read", f"{len(found)} settings"
            return
        for events in self.reader.read(file, part, number):
            self.events.append(events)
            count += len(events) + int(events["repeats"].clip(0).sum())
        source = self.reader.source()
        self.sources.append(source)
        _tell(entry, source, count)

    def facts(self) -> LogFacts:
        """Everything read so far."""
        events = np.concatenate(self.events) if self.events else np.zeros(0, EVENT)
        return LogFacts(self.sources, events, self.reader.strings, self.reader.traces, self.reader.settings)


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
