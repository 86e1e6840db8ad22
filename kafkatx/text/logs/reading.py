"""Logs read to events: of brokers and clients, whatever layout they have, in memory that does not grow with them.

The prefilter finds the entries that may matter (entries.py), the framer takes their first line apart (framing.py), the
texts of the catalogue tell what it means (matching.py); lines behind it are a stack trace, a block of settings, or of
no interest. What repeats itself without end is counted instead of kept (thinning.py). Where a tool has put several
logs into one and says before each line whose it is, each writer is a source of its own (writers.py).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kafkatx.kernels.growing import chosen, joined
from kafkatx.kernels.literals import EVERY_LINE, may_show_level_below
from kafkatx.kernels.rows import EVENT
from kafkatx.kernels.templates import take_apart
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.text.events import LogFacts, LogSource
from kafkatx.text.lines import lines
from kafkatx.text.logs.alike import Alike, CutLines, Kinds
from kafkatx.text.logs.entries import SMALL, Cut, Entry, cuts
from kafkatx.text.logs.entry_shapes import begins_with_trace, shape_of
from kafkatx.text.logs.filling import COLUMNS, Row
from kafkatx.text.logs.framing import Framed, Framer
from kafkatx.text.logs.matching import prefilter
from kafkatx.text.logs.meaning import OWN_NODE, event_of, side_of, spoken_event_of
from kafkatx.text.logs.repeated import Block, Repeated
from kafkatx.text.logs.said_before import fill_said_before
from kafkatx.text.logs.stamps import day_of_name
from kafkatx.text.logs.strings import Strings
from kafkatx.text.logs.thinning import Thinning
from kafkatx.text.logs.traced import Traced
from kafkatx.text.logs.windows import window_of
from kafkatx.text.logs.writers import BROKER, UNKNOWN, Writers
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.prose.named_errors import named_on_page
from kafkatx.text.prose.statements import statements_on_page
from kafkatx.text.releases_told import releases_on_page
from kafkatx.text.settings.printed import ValuesBlocks
from kafkatx.text.told_lines import told_lines

if TYPE_CHECKING:
    from kafkatx.text.logs.columns import Columns
    from kafkatx.text.logs.filled import Filled

DIGEST_BYTES = 4096
"""Bytes of a source's beginning that its digest is made of."""
SOURCE = 0
"""Number of the source in what is read of it."""
SAMPLE_LINES = 200
"""Lines of a source's beginning that tell its layout, and when it begins."""
SAMPLES, SAMPLE = 10, 1 << 13
"""Places of a source that are looked at for other layouts, and bytes of each."""
MOST_STRINGS = 100_000
"""Strings of a source above which those go that no kept event points to."""


def read_log(file: OpenFile, part: TextPart) -> LogFacts:
    """Read a part of a file.

    Returns:
        What it says: itself as the only source (number 0), or its writers, each as one; events by source and line,
        codes of its own.
    """
    if part.kind is PartKind.WORDS:
        return LogFacts([_words(file)])
    reading = _Reading(file, part)
    events = reading.run()
    strings, sources = reading.strings, reading.writers.sources(reading.summary())
    return LogFacts(sources, events, strings.texts(), strings.traces, reading.blocks.settings)


def _words(file: OpenFile) -> LogSource:
    """A page on which people only say something, as a source without events."""
    return LogSource(
        path=file.path,
        side=Side.unknown,
        lines=sum(1 for _ in lines(file)),
        bytes=file.size,
        first_at=-1,
        last_at=-1,
        is_zoned=False,
        broker_id=None,
        lowest_level=int(Level.unknown),
        digest=hashlib.sha256(file.read(0, DIGEST_BYTES)).hexdigest(),
        releases=releases_on_page(file),
        statements=(*statements_on_page(file), *named_on_page(file)),
    )


class _Reading:
    """One part of one file while it is read."""

    def __init__(self, file: OpenFile, part: TextPart) -> None:
        self.file, self.part = file, part
        self.strings = Strings()
        self.filled: Filled | None = None
        self.thinning = Thinning()
        self.writers = Writers()
        self.blocks = ValuesBlocks(SOURCE)
        self.window = window_of(file, part)
        self.sides = {Side.broker: 0, Side.client: 0}
        self.brokers: dict[int, int] = {}
        self.is_zoned = False
        self.lowest = int(Level.unknown)

    def run(self) -> Any:
        """Read everything; return the events that are kept, and keep no string but theirs."""
        first = self.window.first_lines(SAMPLE_LINES)
        sample = [line.text for line in told_lines(first)]
        self.last = self.window.last_lines()
        self.framer = Framer(sample, day_of_name(self.file.path))
        framed = [self.framer.frame(text) for text in sample]
        self._look_at(framed)
        others = self._sample_behind() if len(first) == SAMPLE_LINES else []
        shape = shape_of([*sample, *others], [*framed, *(self.framer.frame(text) for text in others)])
        is_short = self.window.end - self.part.position <= SMALL
        if is_short and begins_with_trace(sample, framed):
            shape = replace(shape, mode=EVERY_LINE)
        self.framer.asks_what_is_known = is_short and shape.mode == EVERY_LINE and not shape.has_loggers
        self.framer.restart()
        can_repeat = shape.mode != EVERY_LINE or not (shape.has_loggers or shape.is_bare)
        self.repeated = Repeated(Kinds(self.framer)) if can_repeat and self.window.is_plain else None
        for cut, found in cuts(self.window, self.framer, shape, prefilter()):
            self._take_cut(cut, found)
        self.blocks.close()
        self.lines = self.window.line - self.part.line
        events = Traced(self.file, self.framer).read(self.thinning.thin(), self.strings)
        fill_said_before(self.file, self.part.position, self.framer, events, self.strings)
        is_call = (events["kind"] == EventKind.failure) & (events["api_code"] >= 0) & (events["side"] < 0)
        events["side"] = np.where(is_call, Side.client, events["side"])
        events = self.writers.apart(events)
        for number, told in enumerate(self.writers.sources(self.summary())):
            mine = events["source"] == number
            events["side"] = np.where(mine & (events["side"] < 0), told.side, events["side"])
            _name_broker(events, mine, told)
        self._keep_strings_of(events)
        return events

    def _sample_behind(self) -> list[str]:
        """Lines from places all over the part: logs of several programs may stand in it one after the other."""
        begin, end = self.part.position, self.part.end
        found: list[str] = []
        for number in range(1, SAMPLES):
            at = begin + number * (end - begin) // SAMPLES
            behind = lines(self.file, at, min(end, at + SAMPLE))
            found.extend(line.text for line in islice(behind, 1, SAMPLE_LINES // SAMPLES))
        return found

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
            lines=self.lines,
            bytes=max(0, window.end - self.part.position),
            first_at=self.first_at,
            last_at=self.last_at,
            is_zoned=self.is_zoned,
            broker_id=self.broker_id if self.side is Side.broker else None,
            lowest_level=self.lowest,
            digest=hashlib.sha256(self.file.read(self.part.position, DIGEST_BYTES)).hexdigest(),
            releases=releases_on_page(self.file),
            statements=(*statements_on_page(self.file), *named_on_page(self.file)),
        )

    def _take_cut(self, cut: Cut, found: Any) -> None:
        """Read the entries of a window: the fast way what is of the brokers' layout, if a compiler is at work.

        A short text is read line by line, so that it tells the same whatever was read before it.
        """
        self._look_for_levels(cut)
        parts = [np.zeros(0, EVENT)]
        if cut.is_of_brokers and is_fast() and not cut.is_short:
            columns = self._columns(cut, found)
            columns.events["position"] += cut.window.position
            columns.events["line"] += cut.window.line
            columns.events["source"] = SOURCE
            parts.append(columns.events)
            self._hear(columns)
            found = found[columns.slow]
        if self.repeated is None or cut.is_short:
            parts.append(np.array(self._read_each(cut, found), EVENT))
        elif cut.is_of_brokers:
            parts.append(np.array([*self._read_whole(cut, self.repeated, found)], EVENT))
        else:
            parts.append(self._take_kinds(cut, self.repeated, found))
        self.thinning.add(_in_order(parts))
        self._forget_strings()

    def _read_each(self, cut: Cut, found: Any) -> list[tuple[int, ...]]:
        """Read entries one by one."""
        return [row for entry in cut.entries(found) if (row := self._row(entry, cut.is_short)) is not None]

    def _take_kinds(self, cut: Cut, repeated: Repeated, found: Any) -> Any:
        """Read the entries of a window: those of known kinds at once, the others one by one, each in its place."""
        lines = repeated.kinds.lines(cut)
        alike = repeated.kinds.read(lines, found, self.strings)
        rows: list[tuple[int, ...]] = []
        for first, end in alike.stretches():
            if alike.kinds[first] is None:
                rows += self._read_blocks(lines, repeated, found[first:end])
            else:
                self._pass_by(alike, first, end)
        return joined([chosen(alike.events, alike.are_events()), np.array(rows, EVENT)])

    def _read_whole(self, cut: Cut, repeated: Repeated, found: Any) -> Iterator[tuple[int, ...]]:
        """Read entries that the kernel has found whole one by one, but for those that have been read before."""
        for number, (start, _, end, line) in enumerate(found.tolist()):
            block = repeated.whole(cut, start, end, line)
            if block is None:
                yield from self._read_each(cut, found[number : number + 1])
            else:
                yield from self._read_block_of(cut, repeated, block, found[number : number + 1])

    def _read_blocks(self, lines: CutLines, repeated: Repeated, found: Any) -> Iterator[tuple[int, ...]]:
        """Read entries one by one, but for those that have been read before."""
        first = number = 0
        starts, numbers = found[:, 0].tolist(), found[:, 3].tolist()
        while number < len(found):
            block = repeated.block(lines, numbers[number])
            if block is None:
                number += 1
                continue
            if first < number:
                yield from self._read_each(lines.cut, found[first:number])
            first = bisect_left(starts, block.end, number)
            yield from self._read_block_of(lines.cut, repeated, block, found[number:first])
            number = first
        if first < len(found):
            yield from self._read_each(lines.cut, found[first:])

    def _read_block_of(self, cut: Cut, repeated: Repeated, block: Block, found: Any) -> Iterator[tuple[int, ...]]:
        """Read the entries of a block, if they have not been read before."""
        position, line = cut.window.position + block.start, cut.window.line + block.number
        if (known := repeated.read(cut, block, self.strings)) is not None:
            for framed, tail, row in known.entries:
                self._meet(framed)
                if row is not None:
                    row[COLUMNS["position"]] += position
                    row[COLUMNS["line"]] += line
                    yield self._told(Entry(row[COLUMNS["position"]], row[COLUMNS["line"]], framed, tail), known.at, row)
            self.framer.pass_by(known.own_time)
            return
        read = []
        for entry in cut.entries(found):
            row = event_of(entry, self.strings)
            read.append((entry, row and [*row]))
            self._meet(entry.framed)
            if row is not None:
                yield self._told(entry, entry.framed.at, row)
        repeated.learn(cut, block, line, read, self.strings)

    def _pass_by(self, alike: Alike, first: int, end: int) -> None:
        """Learn from lines of known kinds what is learnt from each (`_row`)."""
        for kind, numbers in alike.groups(first, end):
            side = side_of(kind.framed)
            self._count(side, kind.framed.context.broker_id, len(numbers))
            self._meet_level(kind.framed.level)
            if not kind.is_event:
                continue
            if side is Side.unknown and kind.side >= 0:
                self.sides[Side(kind.side)] += len(numbers)
            for some in filter(None, (numbers[:-1], numbers[-1:])):
                at = int(alike.events["at"][some[0]])
                alike.events["source"][some] = self.writers.number(kind.framed, at, kind.side, len(some))
        self.framer.pass_by(int(alike.own_times[end - 1]))

    def _row(self, entry: Entry, is_short: bool) -> tuple[int, ...] | None:
        row = event_of(entry, self.strings)
        if row is None and is_short:
            row = spoken_event_of(entry, self.strings)
        self._meet(entry.framed)
        return None if row is None else self._told(entry, entry.framed.at, row)

    def _told(self, entry: Entry, at: int, row: Row) -> tuple[int, ...]:
        """The row of an entry at a time that is an event, with its source; settings below it are read."""
        if side_of(entry.framed) is Side.unknown and (told := row[COLUMNS["side"]]) >= 0:
            self.sides[Side(told)] += 1
        row[COLUMNS["source"]] = self.writers.number(entry.framed, at, row[COLUMNS["side"]])
        if row[COLUMNS["kind"]] == EventKind.config_values:
            self.blocks.source = row[COLUMNS["source"]]
            self._read_block(entry)
        return tuple(row)

    def _read_block(self, entry: Entry) -> None:
        self.blocks.feed(entry.line, entry.framed.message)
        for number, text in enumerate(entry.tail, entry.line + 1):
            if not self.blocks.is_open:
                break
            self.blocks.feed(number, text)
        self.blocks.close()

    def _forget_strings(self) -> None:
        if self.strings.size > MOST_STRINGS:
            self._keep_strings_of(self.thinning.thin())

    def _keep_strings_of(self, events: Any) -> None:
        fewer = Strings()
        self.strings.move(events, fewer)
        self.strings = fewer

    def _columns(self, cut: Cut, found: Any) -> Columns:
        """Read entries of a broker's log by kernels."""
        from kafkatx.text.logs.columns import read_columns
        from kafkatx.text.logs.filled import Filled

        self.filled = self.filled or Filled()
        return read_columns(cut.data, found, self.strings, self.filled)

    def _hear(self, columns: Columns) -> None:
        """Learn from lines that were read the fast way who writes, and how much of it."""
        for speaker in columns.speakers:
            self._count(speaker.side, speaker.context.broker_id, speaker.lines)
        self._meet_level(columns.lowest_level)

    def _meet(self, framed: Framed) -> None:
        """Learn from a line who writes, and how much of it."""
        self._count(side_of(framed), framed.context.broker_id, 1)
        self._meet_level(framed.level)

    def _count(self, side: Side, broker_id: int, lines: int) -> None:
        if side is not UNKNOWN:
            self.sides[side] += lines
        if side is BROKER and broker_id >= 0:
            self.brokers[broker_id] = self.brokers.get(broker_id, 0) + lines

    def _meet_level(self, level: int) -> None:
        if level >= 0:
            self.lowest = level if self.lowest < 0 else min(self.lowest, level)

    def _look_for_levels(self, cut: Cut) -> None:
        """Learn the least severe level from lines that nobody reads, where the layout says where it stands."""
        if cut.is_of_brokers:
            is_met = self.lowest <= Level.trace or not may_show_level_below(cut.data)
            for name, level in () if is_met else ((b"] DEBUG ", Level.debug), (b"] TRACE ", Level.trace)):
                if self.lowest > level and name in cut.data:
                    self._meet_level(level)

    def _look_at(self, first: list[Framed]) -> None:
        """Learn from the first and the last lines when the log begins and ends, and who writes."""
        framed = first + [self.framer.frame(text) for text in self.last]
        times = [line.at for line in framed if line.at >= 0]
        self.first_at, self.last_at = (times[0], times[-1]) if times else (-1, -1)
        self.is_zoned = any(line.is_zoned for line in framed)
        for line in framed:
            if line.layout:
                self._meet(line)

    @property
    def broker_id(self) -> int | None:
        """The broker that wrote the log, by most of its lines that tell."""
        return max(self.brokers, key=lambda number: self.brokers[number]) if self.brokers else None


def is_fast() -> bool:
    """Whether the kernels run compiled: only then the columns are faster than the slow path."""
    return take_apart.is_compiled


def _in_order(parts: list[Any]) -> Any:
    """Events that were read in several ways, by their places."""
    told = [part for part in parts if len(part)] or parts[:1]
    events = told[0] if len(told) == 1 else joined(told)
    places = events["position"]
    return events if (places[1:] >= places[:-1]).all() else chosen(events, np.argsort(places, kind="stable"))


def _name_broker(events: Any, mine: Any, source: LogSource) -> None:
    """Write into a broker's own lines which broker it is; `Kafka version` is its release, not a client's."""
    if source.side is not Side.broker:
        return
    events["kind"][mine & (events["kind"] == EventKind.client_release)] = EventKind.broker_release
    is_own = mine & np.isin(events["kind"], OWN_NODE) & (events["node"] < 0)
    events["node"][is_own] = -1 if source.broker_id is None else source.broker_id
