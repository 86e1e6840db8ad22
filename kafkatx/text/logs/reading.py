"""Logs read to events: of brokers and clients, whatever layout they have, in memory that does not grow with them.

The prefilter finds the entries that may matter (entries.py), the framer takes their first line apart (framing.py), the
texts of the catalogue tell what it means (matching.py); lines behind it are a stack trace, a block of settings, or of
no interest. What repeats itself without end is counted instead of kept (thinning.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.text.events import LogSource, Setting, Trace
from kafkatx.text.lines import lines
from kafkatx.text.logs.entries import Entry, entries_of, shape_of
from kafkatx.text.logs.filling import COLUMNS
from kafkatx.text.logs.framing import Framed, Framer
from kafkatx.text.logs.matching import prefilter
from kafkatx.text.logs.meaning import OWN_NODE, event_of, side_of
from kafkatx.text.logs.strings import Strings
from kafkatx.text.logs.thinning import Thinning
from kafkatx.text.logs.windows import Window
from kafkatx.text.pages import Part
from kafkatx.text.printed_settings import ValuesBlocks

DIGEST_BYTES = 4096
"""Bytes of a source's beginning that its digest is made of."""
LAST_BYTES = 1 << 13
"""Bytes of a source's end that tell when it ends."""
SAMPLE_LINES = 100
"""Lines of a source's beginning that tell its layout, and when it begins."""
ROWS_AT_ONCE = 4096
MOST_STRINGS = 100_000
"""Strings of a source above which those go that no kept event points to."""


class LogReader:
    """Reads logs, one part of a file at a time, into events that share one table of strings and one of traces."""

    def __init__(self) -> None:
        self._strings = Strings()
        self._settings: list[Setting] = []
        self._blocks = 0

    @property
    def strings(self) -> list[str]:
        """The interned strings, by code."""
        return self._strings.texts()

    @property
    def traces(self) -> list[Trace]:
        """The traces, by code."""
        return self._strings.traces

    @property
    def settings(self) -> list[Setting]:
        """What `... values:` blocks say, of all that was read."""
        return self._settings

    def read(self, file: OpenFile, part: Part, source: int) -> Iterator[Any]:
        """Yield the events of a part of a file (arrays of dtype EVENT, in order of lines)."""
        reading = _Reading(file, part, source, self._blocks)
        yield from reading.run(self._strings)
        self._settings += reading.blocks.settings
        self._blocks = reading.blocks.block
        self._source = reading.summary()

    def source(self) -> LogSource:
        """What is known of the part that was read last."""
        return self._source


class _Reading:
    """One part of one file while it is read."""

    def __init__(self, file: OpenFile, part: Part, source: int, block: int) -> None:
        self.file, self.part, self.number = file, part, source
        self.strings = Strings()
        self.thinning = Thinning()
        self.blocks = ValuesBlocks(source, block)
        self.rows: list[tuple[int, ...]] = []
        self.sides = {Side.broker: 0, Side.client: 0}
        self.brokers: dict[int, int] = {}
        self.is_zoned = False
        self.lowest = int(Level.unknown)

    def run(self, strings: Strings) -> Iterator[Any]:
        """Read everything; yield what is kept, its strings moved to the common table."""
        sample = [line.text for line in islice(lines(self.file, self.part.position, self.part.end), SAMPLE_LINES)]
        framer = Framer(sample)
        framed = [framer.frame(text) for text in sample]
        self._look_at(framed, framer)
        self.window = Window(self.file, self.part.position, self.part.end, self.part.line)
        for entry in entries_of(self.window, framer, shape_of(sample, framed), prefilter()):
            self._take(entry)
        self.blocks.close()
        self._flush()
        events = self.thinning.thin()
        events["side"] = np.where(events["side"] < 0, self.side, events["side"])
        self._name_broker(events)
        self.strings.move(events, strings)
        self.events = events
        yield events

    @property
    def side(self) -> Side:
        """Who wrote the log, by most of its lines that tell."""
        if not any(self.sides.values()):
            return Side.unknown
        return max(self.sides, key=lambda side: self.sides[side])

    def summary(self) -> LogSource:
        """What is known of the log."""
        window = self.window
        return LogSource(
            path=self.file.path,
            side=self.side,
            lines=window.line - self.part.line + self._has_open_end(),
            bytes=max(0, window.end - self.part.position),
            first_at=self.first_at,
            last_at=self.last_at,
            is_zoned=self.is_zoned,
            broker_id=self.broker_id if self.side is Side.broker else None,
            lowest_level=self.lowest,
            digest=hashlib.sha256(self.file.read(self.part.position, DIGEST_BYTES)).hexdigest(),
        )

    def _has_open_end(self) -> bool:
        end = self.window.end
        return end > self.part.position and self.file.read(end - 1, 1) != b"\n"

    def _take(self, entry: Entry) -> None:
        row = event_of(entry, self.strings)
        self._meet(entry.framed)
        if row is None:
            return
        if side_of(entry.framed) is Side.unknown and (told := row[COLUMNS["side"]]) >= 0:
            self.sides[Side(told)] += 1
        row[COLUMNS["source"]] = self.number
        self.rows.append(tuple(row))
        if row[COLUMNS["kind"]] == EventKind.config_values:
            self._read_block(entry)
        if len(self.rows) >= ROWS_AT_ONCE:
            self._flush()

    def _read_block(self, entry: Entry) -> None:
        self.blocks.feed(entry.line, entry.framed.message)
        for number, text in enumerate(entry.tail, entry.line + 1):
            if not self.blocks.is_open:
                break
            self.blocks.feed(number, text)
        self.blocks.close()

    def _flush(self) -> None:
        if self.rows:
            self.thinning.add(np.array(self.rows, EVENT))
            self.rows = []
        if self.strings.size > MOST_STRINGS:
            events, fewer = self.thinning.thin(), Strings()
            self.strings.move(events, fewer)
            self.strings = fewer

    def _meet(self, framed: Framed) -> None:
        """Learn from a line who writes, and how much of it."""
        side = side_of(framed)
        if side is not Side.unknown:
            self.sides[side] += 1
        if side is Side.broker and (number := framed.context.broker_id) >= 0:
            self.brokers[number] = self.brokers.get(number, 0) + 1
        if framed.level >= 0:
            self.lowest = framed.level if self.lowest < 0 else min(self.lowest, framed.level)

    def _look_at(self, first: list[Framed], framer: Framer) -> None:
        """Learn from the first and the last lines when the log begins and ends, and who writes."""
        last = lines(self.file, max(self.part.position, self.part.end - LAST_BYTES), self.part.end)
        framed = first + [framer.frame(line.text) for line in last]
        times = [line.at for line in framed if line.at >= 0]
        self.first_at, self.last_at = (times[0], times[-1]) if times else (-1, -1)
        self.is_zoned = any(line.is_zoned for line in framed)
        for line in framed:
            if line.layout:
                self._meet(line)

    def _name_broker(self, events: Any) -> None:
        """Write into a broker's own lines which broker it is; `Kafka version` is its release, not a client's."""
        if self.side is not Side.broker:
            return
        events["kind"][events["kind"] == EventKind.client_release] = EventKind.broker_release
        is_own = np.isin(events["kind"], OWN_NODE) & (events["node"] < 0)
        events["node"][is_own] = -1 if self.broker_id is None else self.broker_id

    @property
    def broker_id(self) -> int | None:
        """The broker that wrote the log, by most of its lines that tell."""
        return max(self.brokers, key=lambda number: self.brokers[number]) if self.brokers else None
