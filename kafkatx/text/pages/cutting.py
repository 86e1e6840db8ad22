"""Cuts a text into parts: the stretches that one tool, one log or one file of settings wrote, and what stands between.

A dump goes on over prose, blanks and remarks as long as its lines go on: offsets ascend, and nothing in between names
another file. A log goes on over its stack traces. What a page says about the file that lines are of (header, command,
prompt, heading) counts until it says something else, or until a section ends.
Limits    at most `MOST_PARTS` parts; behind them the rest is one part of a log. Memory is bounded, time linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from kafkatx.kernels.dumped_batches import IS_DEEP
from kafkatx.terms.catalogue.setting_names import is_known
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Readable, lines
from kafkatx.text.pages import likeness
from kafkatx.text.pages.content import named_by_content
from kafkatx.text.pages.growing import DUMPS, LOGS, TABLES, TOOLS, GrowingPart
from kafkatx.text.pages.incidents import Incidents, number
from kafkatx.text.pages.naming import (
    LONGEST_COMMAND,
    UNKNOWN,
    NamedFile,
    is_command,
    origin_of_command,
    origin_of_header,
    origin_of_heading,
)
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.printed.elisions import is_elision
from kafkatx.text.printed.line_kinds import BEGINNINGS, ToolLineKind
from kafkatx.text.printed.pasted import Printed, undecorated
from kafkatx.text.printed.runs import Runs, runs_of
from kafkatx.text.printed.stable_offsets import offset_field
from kafkatx.text.printed.tool_lines import ToolLine, ToolLines

MOST_PARTS = 10_000
HEADING_LINES = 5
"""Filled lines between a heading and what it names, at most."""
STRETCHES_ABOVE = 50
"""Stretches among which the header of a broken dump is looked for."""
COMMAND_LINES = 40
"""Lines that a command may go on over."""
_DEATH = regex(r"Exception in thread \"|\s+at [\w.$]+\(|(?:java|scala|kafka|org\.apache)\.[\w.$]+(?:Exception|Error)\b")
_COLUMNS = regex(r"\t| {2,}|,(?=\S)")
_IN_BARS = regex(r"\s*(?:>\s*)*(?:\|.*\||[-+=|:\s]{4,})\s*")
"""A row of a table between bars, or a rule between its rows."""
KINDS = {
    ToolLineKind.BATCH: PartKind.DUMP_LOG,
    ToolLineKind.RECORD: PartKind.DUMP_LOG,
    ToolLineKind.START: PartKind.DUMP_LOG,
    ToolLineKind.INDEX: PartKind.DUMP_INDEX,
    ToolLineKind.TIMEINDEX: PartKind.DUMP_TIMEINDEX,
    ToolLineKind.TXNINDEX: PartKind.DUMP_TXNINDEX,
    ToolLineKind.SNAPSHOT: PartKind.DUMP_SNAPSHOT,
    ToolLineKind.STATE: PartKind.CONSOLE_STATES,
    ToolLineKind.OFFSET: PartKind.CONSOLE_OFFSETS,
    ToolLineKind.CONSUMED: PartKind.CONSOLE_RECORDS,
    ToolLineKind.ADMIN: PartKind.ADMIN_TRANSACTIONS,
    ToolLineKind.LISTED: PartKind.ADMIN_TRANSACTIONS,
    ToolLineKind.ANSWER: PartKind.ANSWER,
}


def cut(tool_lines: Iterable[ToolLine]) -> list[TextPart]:
    """Return the parts of a text, in the order in which they stand."""
    cutter = _Cutter()
    for line in tool_lines:
        cutter.read(line)
    return cutter.parts()


def cut_file(file: Readable) -> list[TextPart]:
    """Return the parts of a whole file, of which long runs of batches are passed over at once."""
    cutter, reader, runs = _Cutter(), ToolLines(lines(file)), runs_of(file, 0, file.size)
    for line in reader.read():
        is_passed = (
            runs is not None and cutter.can_pass(line) and runs.are_due() and _pass(cutter, line, runs, reader, file)
        )
        if not is_passed:
            cutter.read(line)
    return cutter.parts()


def _pass(cutter: _Cutter, line: ToolLine, runs: Runs, reader: ToolLines, file: Readable) -> bool:
    """Pass over the run that begins with the line of a batch, if there is one."""
    stretch, text, begin = cutter.current, line.line.text, line.line
    assert stretch is not None
    shape = stretch.shape_of_run(text)
    if shape is None:
        return False
    told, number, behind = stretch.completeness, begin.number, begin.position
    for run in runs.at(begin.position, shape, told.last_offset, told.next_position):
        stretch.pass_over(run, is_deep=bool(shape & IS_DEEP))
        number, behind = number + run.line_count, run.end
    if behind == begin.position:
        return False
    passed = behind - begin.position - (number - begin.number) - len(text)
    reader.go_on(lines(file, behind, None, number), passed)
    cutter.is_blank, cutter.hint_age = False, HEADING_LINES
    return True


@dataclass(slots=True)
class _Cutter:
    """One pass over a page. `current` grows; `waiting` is a tool's stretch that prose has interrupted."""

    runs: Incidents = field(default_factory=Incidents)
    done: list[tuple[GrowingPart, int]] = field(default_factory=list)
    current: GrowingPart | None = None
    waiting: GrowingPart | None = None
    origin: NamedFile = UNKNOWN
    hint: NamedFile = UNKNOWN
    hint_age: int = HEADING_LINES
    command: str = ""
    command_lines: int = 0
    section: int = 0
    first_section: int = 0
    is_blank: bool = False
    left_out: bool = False

    def read(self, line: ToolLine) -> None:
        """Take in the next line."""
        if len(self.done) >= MOST_PARTS:
            self._overflow(line)
        elif line.printed is not None:
            self._tool(line, line.printed)
        elif self.current is not None and self._is_unasked(line, self.current):
            self.current.extend(line.line.end)
        else:
            self._plain(line, line.line.text)
        self.is_blank = not line.line.text.strip() or (line.printed is None and likeness.is_fence(line.line.text))

    @staticmethod
    def _is_unasked(line: ToolLine, current: GrowingPart) -> bool:
        """Whether a line belongs to what grows, whatever it is like: a record's content, a setting that a log shows."""
        return line.is_content or (line.is_value and current.kind is PartKind.LOG)

    def can_pass(self, line: ToolLine) -> bool:
        """Whether what begins with a line may be a run that the stretch that grows takes in."""
        printed = line.printed
        if printed is None or printed.kind is not ToolLineKind.BATCH or self.current is None:
            return False
        return not line.is_joined and printed.text == line.line.text and len(self.done) < MOST_PARTS

    def parts(self) -> list[TextPart]:
        """Return what was cut."""
        self._close()
        found = [stretch.part(run) for stretch, run in self.done]
        return sorted(found, key=lambda part: part.position)

    def _tool(self, line: ToolLine, printed: Printed) -> None:
        if printed.kind is ToolLineKind.DUMPING:
            self._header(line, printed.text.removeprefix("Dumping "))
        elif printed.kind is ToolLineKind.NOTE:
            if self.current is not None and self.current.kind in DUMPS:
                self.current.extend(line.line.end)
            else:
                self._plain(line, line.line.text)
        else:
            self._entry(line, printed, printed.fields)

    def _header(self, line: ToolLine, path: str) -> None:
        self._close()
        self.origin = origin_of_header(path, self._context())
        self._open(self.origin.kind or PartKind.DUMP_LOG, line).has_header = True
        self.hint_age = HEADING_LINES

    def _entry(self, line: ToolLine, printed: Printed, fields: Mapping[str, str]) -> None:
        """A line of a batch, a record, an entry: goes on with a stretch, or begins one."""
        kind = KINDS[printed.kind]
        if printed.kind is ToolLineKind.RECORD:
            self._learn_topic(printed.text, number(fields, "offset"))
        stretch = self._stretch_that_takes(kind, printed.kind, fields)
        if stretch is None:
            self._close()
            origin = self._context()
            stretch = self._open(kind, line, replace(origin, base_offset=-1) if kind not in LOGS else origin)
        elif stretch.is_empty_dump and stretch.origin.kind is None:
            stretch.kind = kind
        if printed.kind is ToolLineKind.START:
            self._start(stretch, line)
        else:
            stretch.add(line, fields)
        self.hint_age = HEADING_LINES

    def _learn_topic(self, text: str, offset: int) -> None:
        """Take the topic from what a decoder printed, where no header names the file: the batch above is of it, too.

        Its partition is that of a header of the topic further up, if offsets go on behind what stands there: broken
        lines do not make another log of the rest.
        """
        found = named_by_content(text) if " key: " in text else None
        current = self.current if self.current is not None and self.current.kind is PartKind.DUMP_LOG else None
        origin = self._context() if current is None else current.origin
        if found is None or found.topic == origin.topic or origin.named is not None:
            return
        above = self._headed(found.topic)
        if above is not None and above.completeness.last_offset < offset:
            found = replace(found, partition=above.origin.partition)
        self.origin, self.hint_age = replace(found, command=origin.command), HEADING_LINES
        if current is not None and not current.completeness.is_deep:
            current.origin = self.origin

    def _headed(self, topic: str | None) -> GrowingPart | None:
        """The last stretch of a log of a topic that a header names; stretches are many, so the latest are asked."""
        latest = (stretch for stretch, _ in reversed(self.done[-STRETCHES_ABOVE:]) if stretch.kind is PartKind.DUMP_LOG)
        return next((one for one in latest if one.origin.named is not None and one.origin.topic == topic), None)

    def _stretch_that_takes(self, kind: PartKind, shape: ToolLineKind, fields: Mapping[str, str]) -> GrowingPart | None:
        current, waiting = self.current, self.waiting
        if shape is ToolLineKind.START:
            return current if current is not None and current.is_empty_dump else None
        if current is not None and current.kind in TOOLS:
            return current if current.takes(kind, shape, fields) else None
        if waiting is None or self.hint_age < HEADING_LINES or not waiting.takes(kind, shape, fields):
            return None
        waiting.is_foreign |= current is not None and current.filled > 0
        self.current, self.waiting = waiting, None
        return waiting

    def _start(self, stretch: GrowingPart, line: ToolLine) -> None:
        """`Log starting offset: N` tells the base offset where no name does."""
        stretch.extend(line.line.end)
        stretch.has_start = True
        if stretch.origin.base_offset < 0:
            digits = "".join(filter(str.isdigit, line.line.text.partition("offset: ")[2].partition(",")[0]))
            offset = int(digits) if 0 < len(digits) < 20 else -1
            stretch.origin = self.origin = replace(stretch.origin, base_offset=offset)

    def _plain(self, line: ToolLine, text: str) -> None:
        """A line of no tool."""
        current = self.current
        if not text.strip() or likeness.is_fence(text):
            return
        if is_elision(text):
            self._elide(line)
        elif current is not None and current.kind in TOOLS and self._belongs(current, text):
            current.extend(line.line.end)
        else:
            self._of_no_tool(line, text)

    def _of_no_tool(self, line: ToolLine, text: str) -> None:
        """A line that no tool printed: a command, a log's, a heading, a setting, prose."""
        if self.command.endswith("\\") or is_command(text):
            self._command(line, text)
        elif likeness.is_log_line(text) or self._goes_on(text):
            self._grow(PartKind.LOG, line)
        elif likeness.is_heading(text) or likeness.is_rule(text):
            self._break(line, text)
        elif name := likeness.setting_name(text):
            self._grow(PartKind.SETTINGS, line).known_settings += is_known(name)
        else:
            self._prose(line, text)

    def _belongs(self, current: GrowingPart, text: str) -> bool:
        """Whether a line right behind a tool's is its own: a row of a table, a line cut off, the trace of its death."""
        if current.kind in TABLES and (is_command(text) or likeness.begins_line(text)):
            return False
        if self.is_blank:
            return current.kind in TABLES and likeness.is_row_of_numbers(text)
        if current.kind in TABLES:
            return (
                likeness.is_row_of_state(text)
                or offset_field(text) is not None
                or len(_COLUMNS.split(undecorated(text).strip())) >= 3
                or _IN_BARS.fullmatch(text[:LONGEST_COMMAND]) is not None
                or likeness.is_row_of_numbers(text)
            )
        bare = undecorated(text)
        if current.kind is PartKind.CONSOLE_STATES:
            return bare.rstrip().endswith("::NULL")
        is_rest = any(begin.startswith(bare) or bare.startswith(begin) for begin in BEGINNINGS) and bool(bare)
        is_end = current.kind in DUMPS and (is_rest or _DEATH.match(text[:LONGEST_COMMAND]) is not None)
        current.is_foreign |= is_end
        return is_end and (is_rest or current.kind in LOGS)  # why an index or a snapshot can't be read is a log's

    def _goes_on(self, text: str) -> bool:
        """Whether a line belongs to the log above it."""
        if self.current is None or self.current.kind is not PartKind.LOG:
            return False
        return likeness.goes_on(text) or (not self.is_blank and not likeness.is_heading(text))

    def _elide(self, line: ToolLine) -> None:
        stretch = self.waiting if self.current is None or self.current.kind not in TOOLS else self.current
        if self.current is not None and self.current.kind is PartKind.LOG:
            self.current.extend(line.line.end)
        elif stretch is not None:
            stretch.is_elided = True
        self.left_out = True

    def _command(self, line: ToolLine, text: str) -> None:
        goes_on = self.command.endswith("\\")
        self.command_lines = self.command_lines + 1 if goes_on else 1
        self.command = f"{self.command[:-1]} {text.strip()}" if goes_on else text.strip()
        self.command = self.command[: LONGEST_COMMAND - 1] if self.command_lines < COMMAND_LINES else ""
        self._close()
        self.origin, self.hint_age = origin_of_command(self.command), HEADING_LINES
        self._grow(PartKind.PROSE, line)

    def _break(self, line: ToolLine, text: str) -> None:
        self._close()
        self.section += 1
        self.origin = UNKNOWN
        self._prose(line, text)

    def _prose(self, line: ToolLine, text: str) -> None:
        self._grow(PartKind.PROSE, line)
        self.hint_age += 1
        self.left_out = False
        named = origin_of_heading(text) or origin_of_heading(undecorated(text))
        if named is not None and (named.topic, named.partition) != (self.origin.topic, self.origin.partition):
            self.hint, self.hint_age = replace(named, command=self.origin.command), 0
        elif named is None and likeness.speaks_of_another(text):
            self._settle(self.waiting)
            self.waiting, self.origin = None, replace(UNKNOWN, command=self.origin.command)

    def _context(self) -> NamedFile:
        """What the page says about the lines that come now."""
        if self.hint_age < HEADING_LINES:
            self.origin = self.hint
        return self.origin

    def _grow(self, kind: PartKind, line: ToolLine) -> GrowingPart:
        """Take a line into a stretch of no tool; prose interrupts a tool's stretch, a log or settings end it."""
        if self.current is None or self.current.kind is not kind:
            interrupted = self.current if kind is PartKind.PROSE else None
            if interrupted is not None and interrupted.kind in TOOLS:
                self.waiting, self.current = interrupted, None
            else:
                self._close()
            self._open(kind, line)
        assert self.current is not None
        self.current.extend(line.line.end)
        return self.current

    def _open(self, kind: PartKind, line: ToolLine, origin: NamedFile | None = None) -> GrowingPart:
        if origin is None:
            origin = self.origin if kind in TOOLS else UNKNOWN
        place = line.line
        self.current = GrowingPart(kind, place.position, place.number, place.end, origin, self.section)
        if kind in TOOLS:
            self.current.is_elided, self.left_out = self.left_out, False
        return self.current

    def _close(self) -> None:
        """End what grows and what waits."""
        for stretch in (self.waiting, self.current):
            self._settle(stretch)
        self.waiting = self.current = None

    def _settle(self, stretch: GrowingPart | None) -> None:
        """Give a stretch that has ended its incident."""
        if stretch is None:
            return
        if stretch.kind is PartKind.SETTINGS and (stretch.filled < 2 or not stretch.known_settings):
            stretch.kind = PartKind.PROSE
        run = self.runs.latest
        if stretch.facts:
            run = self.runs.place(stretch.place, stretch.facts)
            if stretch.origin.topic is not None:
                self._begin(run, stretch)
            self.runs.take(run, stretch.place, stretch.facts)
            stretch.facts = {}
        self.done.append((stretch, run))

    def _begin(self, run: int, stretch: GrowingPart) -> None:
        """Go on with an incident; a new one began with the section, if what it contradicts stands in an older one."""
        if run >= len(self.runs.runs) and stretch.section > self.first_section:
            self.done = [
                (other, run if other.section == stretch.section and number == self.runs.latest else number)
                for other, number in self.done
            ]
        if run != self.runs.latest:
            self.runs.latest, self.first_section = run, stretch.section

    def _overflow(self, line: ToolLine) -> None:
        """Behind too many parts all is one."""
        if self.current is None or self.current.kind is not PartKind.LOG:
            self.current, self.waiting = (
                GrowingPart(PartKind.LOG, line.line.position, line.line.number, line.line.end),
                None,
            )
        self.current.extend(line.line.end)
