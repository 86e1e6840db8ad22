"""Lines of tools as they were printed: what pasting did is undone, broken lines are joined, contents stay.

Wraps      A terminal breaks a long line at its last column, mail and editors at a blank before it. A line is joined
           with the next one where the two together read as one line of a dump and as more of it than the first alone:
           no field twice, and none where no release prints it.
Contents   Keys and values are printed raw and may hold ends of lines: lines that end where the declared sizes end are
           content, whatever they look like. A quotation mark before the record's line is taken off them as well.
Limits     Looking ahead is paid from a budget in proportion to the text, so that time is linear whatever sizes lines
           claim; what is looked at is bounded by `LONGEST_CONTENT`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from itertools import chain

from kafkatx.terms.records import dataclass
from kafkatx.text.lines import Line
from kafkatx.text.printed.contents import Reach, content_of
from kafkatx.text.printed.joining import FILE_END, begins_anew, extended, growth_of, is_whole
from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.pasted import Printed, as_printed, has_closing_tag, undecorated, unescaped
from kafkatx.text.told_lines import ValuesBlock

LONGEST_CONTENT = 4 << 20
"""Bytes of a record's content that are looked at behind its first line."""
BUDGET = 1 << 20
"""Bytes of looking ahead that are always granted."""
MOST_WRAPS = 200
"""Lines that one line may have been broken into."""
NARROWEST = 40
"""Columns below which nobody breaks lines."""


@dataclass(frozen=True, slots=True)
class ToolLine:
    """A line as printed: `line` has the number and place of its first physical line, and the end of its last one.

    `printed` is None for a line of no tool (its text is then as it stands) and for content of the record above
    (`is_content`). `is_joined`: it had been broken; `is_value`: it gives a setting that a program printed at its start.
    """

    line: Line
    printed: Printed | None
    is_content: bool = False
    is_joined: bool = False
    is_value: bool = False


def unpasted(source: Iterable[Line]) -> Iterator[Line]:
    """Yield lines as the tool printed them; lines of no tool as they stand."""
    return (tool_line.line for tool_line in tool_lines(source))


def cleaned(source: Iterator[Line], is_printed: Callable[[str], object]) -> Iterator[Line]:
    """Yield lines; undoing what pasting did costs ten times as much as reading, and most dumps were not pasted.

    Args:
        source: lines of a file.
        is_printed: whether a line is one that the tool prints of what was dumped.
    """
    for line in source:
        if (not is_printed(line.text) or has_closing_tag(line.text)) and as_printed(line.text) is not None:
            yield from unpasted(chain([line], source))
            return
        yield line


def tool_lines(source: Iterable[Line]) -> Iterator[ToolLine]:
    """Yield the lines of a text as tools printed them, in order; bounded memory, linear time, raises nothing."""
    return ToolLines(iter(source)).read()


@dataclass(slots=True)
class ToolLines:
    """One pass: lines that were looked at and not taken wait, each with what it reads as once that is known."""

    source: Iterator[Line]
    waiting: deque[Line] = field(default_factory=deque)
    budget: int = BUDGET
    width: int = 0

    def read(self) -> Iterator[ToolLine]:
        """Yield the lines that are left."""
        block = ValuesBlock()
        while (line := self._next()) is not None:
            if block.takes(line.text):
                yield ToolLine(line, None, is_value=True)
                continue
            if line.text.lstrip()[:1] in ("{", "[") and (listed := self._objects(line)) is not None:
                yield listed
                continue
            printed = as_printed(line.text)
            if printed is None and line.text.rstrip().endswith("Dumping"):
                printed = self._header(line)
            if printed is None:
                yield ToolLine(line, None)
                continue
            found = self._joined(line, printed)
            yield found
            if printed.kind is ToolLineKind.RECORD:
                bare = replace(found.line, size=-1) if found.is_joined else line
                yield from self._contents(_as_if_bare(bare, found.line.text), prefix_of(line.text, printed.text))

    def go_on(self, source: Iterator[Line], passed: int) -> None:
        """Go on with other lines of the same text, behind `passed` characters that somebody else has read."""
        self.budget += 2 * (passed - sum(len(line.text) for line in self.waiting))  # those will be read again
        self.source, self.waiting = source, deque()

    def _next(self) -> Line | None:
        if self.waiting:
            return self.waiting.popleft()
        line = next(self.source, None)
        if line is not None:
            self.budget += 2 * len(line.text)
        return line

    def _peek(self, number: int) -> Line | None:
        while len(self.waiting) <= number:
            line = next(self.source, None)
            if line is None:
                return None
            self.budget += 2 * len(line.text)
            self.waiting.append(line)
        return self.waiting[number]

    def _header(self, line: Line) -> Printed | None:
        """A header that was broken before its path."""
        following = self._peek(0)
        path = without_prefix(following.text, line.text.partition("Dumping")[0]).strip() if following else ""
        is_header = undecorated(line.text).strip() == "Dumping" and FILE_END.search(path) and " " not in path
        return Printed(ToolLineKind.DUMPING, "Dumping") if is_header else None

    def _objects(self, line: Line) -> ToolLine | None:
        """A list of objects that begins here, over however many lines; what reads them is loaded where one may."""
        from kafkatx.text.printed.listed_objects import kind_of_objects, whole_object

        listed = whole_object(line, self._peek)
        if listed is None:
            return None
        whole, behind = listed
        for _ in range(behind):
            self.waiting.popleft()
        kind = kind_of_objects(whole.text)
        assert kind is not None
        return ToolLine(whole, Printed(kind, whole.text), is_joined=behind > 0)

    def _joined(self, line: Line, printed: Printed) -> ToolLine:
        """Join a line with those that it was broken into."""
        around = Surroundings.of(line.text, printed.text)
        width, last = len(line.text), line
        for _ in range(MOST_WRAPS):
            is_narrow = len(line.text) < NARROWEST and printed.text != "Dumping"
            following = None if is_whole(printed) or is_narrow else self._peek(0)
            rest = around.without(following.text, content_of(printed.text)) if following is not None else ""
            if following is None or begins_anew(printed, rest):
                break
            more = extended(printed, rest, is_full=width == self.width)
            if more is None:
                break
            if len(more.fields) > len(printed.fields):
                self.width = width
            printed, width, last = more, len(following.text), self.waiting.popleft()
        if last is line and printed.text == line.text:
            return ToolLine(line, printed)
        joined = replace(line, text=printed.text, end=last.end, is_ended=last.is_ended, size=len(printed.text.encode()))
        return ToolLine(joined, printed, is_joined=last is not line)

    def _contents(self, record: Line, prefix: str) -> Iterator[ToolLine]:
        """The lines behind a record's own that are its content, by the sizes that it declares."""
        growth = growth_of(record, record.text)
        taken: list[Line] = []
        size = 0
        while growth is not None and growth.reach() in (Reach.SHORT, Reach.POSSIBLE):
            following = self._peek(len(taken)) if self.budget > 0 and size < LONGEST_CONTENT else None
            if following is None:
                return
            text = without_prefix(following.text, prefix)
            bare = _as_if_bare(following, text)
            taken.append(replace(bare, end=following.end))
            cost = growth.add(bare) + 1
            self.budget, size = self.budget - cost, size + cost
        if growth is not None and growth.reach() is Reach.EXACT:
            for line in taken:
                self.waiting.popleft()
                yield ToolLine(line, None, is_content=True)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What pasting put before and behind a line, and whether it escaped its signs."""

    before: str
    behind: str
    is_escaped: bool

    @classmethod
    def of(cls, text: str, printed: str) -> Surroundings:
        """Compare a line of a page with what the tool printed."""
        text = text.rstrip()
        before, found, behind = text.partition(printed)
        return cls(before, behind.strip(), False) if found else cls("", "", True)

    def without(self, text: str, content: str | None) -> str:
        """Return a further line without the same; where content goes on, escapes may be its own."""
        text = without_prefix(text, self.before)
        if self.behind:
            text = text.rstrip().removesuffix(self.behind)
        return unescaped(text) if self.is_escaped or content is None else text


def prefix_of(text: str, printed: str) -> str:
    """Return what stands before a tool's line as pasted, empty where more than that was changed."""
    return text[: -len(printed)] if printed and text.endswith(printed) else ""


def without_prefix(text: str, prefix: str) -> str:
    """Return a line without the quotation marks, comment signs or blanks that the line above has before it."""
    if prefix and text.startswith(prefix):
        return text[len(prefix) :]
    if prefix.strip() and text.startswith(prefix.rstrip()):
        return text[len(prefix.rstrip()) :]
    return text


def _as_if_bare(line: Line, text: str) -> Line:
    """A line as if nothing had stood before it: the bytes that it takes beside its text are those of its end."""
    shown = len(text.encode())
    if line.size < 0:
        return replace(line, text=text, end=line.position + shown + 1, size=shown)
    size = line.size - len(line.text.encode()) + shown
    return replace(line, text=text, end=line.end - line.size + size, size=size)
