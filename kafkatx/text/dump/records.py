"""The lines of a log's dump as headers and records in order of offset, each record with its contents.

Why     keys, values and keys of headers are printed raw: they may hold line ends and text that looks like a line of the
        tool. How many bytes belong to a record is printed before them, so the lines of a record are known by counting.
Doubt   what was no UTF-8 became U+FFFD (three bytes for one to three), and pasting may lose control characters or write
        them as `^A`. Then of the ends that the count allows the last one counts behind which the log goes on; a line
        that may be content is never taken for a line of the tool.
Pasted  lines are read as they stand up to the first one that no tool prints like that; from there on what pasting did
        is undone (text/printed/tool_lines.py).
Limits  lookahead is paid from a budget in proportion to the text: the time is linear whatever sizes lines claim.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import chain

from kafkatx.kernels.dumped_batches import IS_DEEP
from kafkatx.segments.damage import Damage
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.dump.cursor import Continuation, Generation, LogCursor
from kafkatx.text.dump.events import HEADERS, DumpedRecord, Header, control_of, header_of, sizes_of
from kafkatx.text.lines import Line, lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.contents import Contents, Growth, Reach, content_size, decoded_size, joined, looks_decoded
from kafkatx.text.printed.dump_lines import DumpLine, Syntax, loose_line
from kafkatx.text.printed.elisions import leaves_out
from kafkatx.text.printed.eras import LineKind
from kafkatx.text.printed.joining import ends_decoded
from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.pasted import as_printed, has_closing_tag
from kafkatx.text.printed.runs import Run, shape_of
from kafkatx.text.printed.tool_lines import unpasted

BUDGET = 4 << 20
"""Bytes of lookahead that are always granted."""
LARGEST_CONTENT = 16 << 20
"""Bytes of one record's further lines that are held; behind one with more only the very next line counts."""
LARGEST_KEY = 1 << 17
"""No key of a coordinator is larger: two names of at most 32 KiB."""
MOST_DAMAGE = 10_000

_INVALID_BYTES = regex(r"Found (\d{1,15}) invalid bytes at the end of ")
_DIED = regex(r"Exception in thread \"|^(?:Caused by: )?[a-z]\w*(?:\.\w+)+(?:Exception|Error)\b|^\s+at [\w.$]+\(")
_WITHOUT_METADATA = ("| key: ", "| payload: ", " payload: ")


@dataclass(slots=True)
class LogText:
    """One pass over the lines of a log's dump.

    `topic` is that of the dumped file, None where it is not known; `size` the bytes of the text; `restart` gives the
    lines from a byte on that begins a line with a number. What was met on the
    way stands in `damage`, `left_out` (offsets first, behind), `is_elided`, `is_torn` afterwards.
    """

    source: Iterator[Line]
    path: str
    topic: str | None
    size: int
    restart: Callable[[int, int], Iterator[Line]] | None = None
    damage: list[Damage] = field(default_factory=list)
    left_out: list[tuple[int, int]] = field(default_factory=list)
    is_elided: bool = False
    is_torn: bool = False
    _order: LogCursor = field(default_factory=LogCursor)
    _waiting: deque[Line] = field(default_factory=deque)
    _syntax: Syntax = field(default_factory=Syntax)
    _generation: Generation = field(default_factory=Generation)
    _is_pasted: bool = False
    _budget: int = 0
    _losses: int = 0
    _doubt: Continuation = Continuation.NOT
    _has_metadata: bool = True
    _prints_contents: bool | None = None
    _lacking: Line | None = None
    _dies_of_tombstones: bool = False

    def __post_init__(self) -> None:
        self._budget = BUDGET + 2 * self.size

    def events(self) -> Iterator[Header | DumpedRecord]:
        """Yield headers and records in ascending order of offset; never raises for what the text holds."""
        while not self.is_torn and (line := self._next()) is not None:
            parsed = self._parsed(line)
            if parsed is None or not self._is_credible(parsed):
                continue
            event = self._headed(line, parsed) if parsed.kind in HEADERS else self._record(line, parsed)
            if event is not None:
                yield event
        if self._lacking is not None and not self.is_torn:
            self._break_off(self._lacking, "the tool ended in the middle of a line")

    def shape_of_run(self, header: Header) -> int | None:
        """Return what batches behind a header must look like to be read at once; None where none can be.

        Only where all that was met so far is as the tool prints it does a line mean the same whatever stands around it.
        """
        shapes = self._generation.shapes
        is_usual = (
            self._has_metadata and self._doubt is Continuation.NOT and id(header.parsed.at) in self._generation.usual
        )
        if self._is_pasted or self.is_elided or not is_usual or header.parsed.kind is not LineKind.BATCH:
            return None
        at, is_deep = shapes.get(LineKind.RECORD, {}), LineKind.RECORD in shapes
        prints_contents = is_deep and self._prints_contents is not False
        if prints_contents and self._prints_contents is None:
            return None
        is_decoded = prints_contents and self._may_be_decoded
        return shape_of(
            header.line.text,
            capitals="keySize" in at,
            deep=is_deep,
            repeats="batchSize" in at,
            contents=prints_contents and not is_decoded,
            decoded=is_decoded and not self._dies_of_tombstones,
            untitled=is_decoded and self._dies_of_tombstones,
        )

    def go_on_behind(self, run: Run, number: int) -> None:
        """Go on behind a run, of which the first line has a number, as if its batches had been read one by one."""
        assert self.restart is not None
        begin, last = int(run.positions[-1]), int(run.lines[-1])
        self.source, self._waiting, self._lacking = self.restart(begin, number + last), deque(), None
        line = self._next()
        parsed = None if line is None else self._syntax.exact(line.text)
        assert line is not None
        assert parsed is not None
        self._order.header = None
        self._order.begin(header_of(line, parsed))
        if run.shape & IS_DEEP:
            self._order.record_offset, self._order.left = int(run.record_offsets[-1]), 0
        self.source = self.restart(run.end, number + run.line_count)

    def _next(self) -> Line | None:
        return self._waiting.popleft() if self._waiting else next(self.source, None)

    def _peek(self, number: int) -> Line | None:
        """Line that comes `number` lines after the next one."""
        while len(self._waiting) <= number:
            line = next(self.source, None)
            if line is None:
                return None
            self._waiting.append(line)
        return self._waiting[number]

    def _parsed(self, line: Line) -> DumpLine | None:
        """What a line says; None for a line of another kind, and where reading begins again with what was pasted."""
        exact = self._syntax.exact(line.text)
        if exact is not None and (self._is_pasted or not has_closing_tag(line.text)):
            return exact
        if not self._is_pasted and (printed := as_printed(line.text)) and printed.kind in _OF_LOGS:
            self._unpaste(line)
            return None
        loose = loose_line(line.text)
        if loose is None:
            self._foreign(line)
        return loose

    def _unpaste(self, line: Line) -> None:
        """From this line on, undo what pasting did."""
        self._is_pasted = True
        self.source, self._waiting = unpasted(chain([line], self._waiting, self.source)), deque()

    def _is_credible(self, parsed: DumpLine) -> bool:
        """Whether a line is one of the log where it could as well be content; takes it in if it is."""
        if id(parsed.at) in self._generation.usual and self._has_metadata and self._doubt is Continuation.NOT:
            return True
        if not self._generation.admits(parsed):
            self.is_elided |= self._doubt is Continuation.NOT
            return False
        least = self._doubt if self._has_metadata else Continuation.STRICTLY
        if self._order.fit(parsed) < least:
            return False
        self._doubt = Continuation.NOT
        self._generation.note(parsed)
        self.is_elided |= parsed.is_loose
        return True

    def _headed(self, line: Line, parsed: DumpLine) -> Header | None:
        header, self._lacking = header_of(line, parsed), None
        if header.base_offset <= self._order.offset or header.last_offset < header.base_offset:
            found = f"offsets {header.base_offset} to {header.last_offset}"
            self._note(line, "entry", "a batch behind the last one", found)
            return None
        gap = self._order.begin(header)
        if not self._has_metadata:  # the records of the batch do not count
            self._order.left = -1
        if gap is not None:
            self.left_out.append(gap)
            self.is_elided = True
        return header

    def _record(self, line: Line, parsed: DumpLine) -> DumpedRecord | None:
        order, offset = self._order, parsed.number("offset")
        header = order.batch_of(offset)
        if header is None and offset <= order.offset:
            self._note(line, "entry", "a record behind the last one", f"offset {offset}")
            return None
        was_pasted, before = self._is_pasted, order.place
        order.step(offset, parsed, header)
        self._lacking = None
        control = control_of(parsed, header)
        contents = None if control is not None or parsed.tail == "]" else self._contents(line, parsed)
        if self._is_pasted and not was_pasted:  # the line is read again
            order.place = before
            return None
        if contents is None and control is None:
            self._without_contents(line, parsed)
        return DumpedRecord(line, parsed, offset, header, control, contents)

    def _contents(self, line: Line, parsed: DumpLine) -> Contents | None:
        """Contents of a record, None where none are printed."""
        tail, (key_size, value_size) = parsed.tail, sizes_of(parsed)
        if self._may_be_decoded and looks_decoded(tail):
            if not self._is_pasted and not ends_decoded(tail) and self._is_followed_by_none():
                self._unpaste(line)
                return None
            self._prints_contents, self._dies_of_tombstones = True, tail.startswith(_DIES_OF_TOMBSTONES)
            return self._decoded(line, tail, key_size, value_size)
        if tail.startswith("]Exception in thread "):
            self._break_off(line, "the tool ended with an exception")
            return None
        if min(key_size, value_size) < -1:
            return Contents(tail, key_size, value_size, is_whole=False, is_decoded=False)
        size = content_size(key_size, value_size)
        if len(tail) == size + 1 and tail[0] == "]" and tail.isascii() and size:
            self._prints_contents = True
            return Contents(tail, key_size, value_size, is_whole=True, is_decoded=False)
        if self._ends_with_keys(tail, size):
            return None
        return self._grown(line, Growth(line, tail, key_size, value_size))

    def _is_followed_by_none(self) -> bool:
        """Whether the next line is none of the log's: the line above may have been broken in two."""
        following = self._peek(0)
        return following is not None and bool(following.text.strip()) and self._fit(following) is Continuation.NOT

    def _grown(self, line: Line, growth: Growth) -> Contents | None:
        """Contents with the further lines that they take, None to read the line again."""
        found = (0, True) if growth.reach() is Reach.EXACT else self._look_ahead(line, growth)
        if found is None:
            return None
        number, fits = found
        if growth.has_begun:
            self._prints_contents = True
        taken = [line, *(self._waiting.popleft() for _ in range(number))]
        text = joined(growth.tail, taken, growth.returns if fits else 0)
        is_whole = fits and not any(one.is_cut for one in taken)
        return Contents(text, growth.key_size, growth.value_size, is_whole, is_decoded=False)

    def _ends_with_keys(self, tail: str, size: int) -> bool:
        """Whether a line ends with the keys of headers, since contents are null or not printed at all."""
        if not tail.endswith("]") or (size and self._prints_contents):
            return False
        return " key: " not in tail and " payload: " not in tail and self._fit(self._peek(0)) is not Continuation.NOT

    def _decoded(self, line: Line, tail: str, key_size: int, value_size: int) -> Contents:
        """Contents that a decoder printed: one line, but for ids and groups that hold the end of a line."""
        missing, texts = decoded_size(tail, key_size) - len(tail.encode()), [tail]
        while 0 < missing < LARGEST_KEY and (following := self._peek(0)) is not None:
            missing -= 1 + len(following.text.encode())
            texts.append(self._waiting.popleft().text)
        return Contents("\n".join(texts), key_size, value_size, is_whole=True, is_decoded=True)

    @property
    def _may_be_decoded(self) -> bool:
        return self.topic is None or self.topic.startswith("__")

    def _without_contents(self, line: Line, parsed: DumpLine) -> None:
        """Remember a line that lacks contents which others have: it may be the one in which the tool ended."""
        key_size, value_size = sizes_of(parsed)
        if max(key_size, value_size) < 0 or self._prints_contents is False:
            return
        if value_size < 0 and not self._dies_of_tombstones:  # to 2.4.0 nothing is printed of a null value, nor its key
            self._lacking = line if not line.is_ended and self._may_be_decoded else None
        elif self._prints_contents is None and line.is_ended:
            self._prints_contents = False
        else:
            self._lacking = line

    def _look_ahead(self, line: Line, growth: Growth) -> tuple[int, bool] | None:
        """Lines that belong to a record beside its own, and whether its contents are whole; None to read it again."""
        best, taken, beyond, held = (Continuation.NOT, False, 0), 0, False, 0
        while self._budget > 0 and held < LARGEST_CONTENT:
            reach = growth.reach()
            if reach is Reach.EXACT:
                return taken, True
            beyond = reach is Reach.BEYOND
            following = None if beyond else self._peek(taken)
            is_possible = reach is Reach.POSSIBLE
            if is_possible or (following and (taken == 0 or growth.may_have_lost or self._losses)):
                best = max(best, (self._fit(following), is_possible, taken))
            if following is None:
                break
            size = growth.add(following)
            self._budget, held, taken = self._budget - size, held + size, taken + 1
        if not self._is_pasted:
            self._unpaste(line)
            return None
        return self._chosen(line, best, taken, beyond, growth)

    def _chosen(
        self, line: Line, best: tuple[Continuation, bool, int], taken: int, beyond: bool, growth: Growth
    ) -> tuple[int, bool]:
        """Lines of a record whose size fits nowhere: up to where the log goes on, else all that could be content."""
        fit, is_possible, lines = best
        self._losses += beyond
        if fit and (beyond or is_possible or growth.may_have_lost or self._losses):
            return lines, False
        if not beyond and self._peek(taken) is None:
            self._break_off(line, "the end of the text in the middle of a record")
            return taken, False
        self._doubt = Continuation.STRICTLY if taken and not beyond else Continuation.LOOSELY
        return 0, False

    def _fit(self, line: Line | None) -> Continuation:
        """How a line continues the log behind the last record; the end of the text does so, too."""
        if line is None:
            return Continuation.STRICTLY
        parsed = self._syntax.exact(line.text) or (loose_line(line.text) if self.is_elided else None)
        if parsed is not None:
            return self._order.fit(parsed) if self._generation.admits(parsed) else Continuation.NOT
        return Continuation.LOOSELY if _INVALID_BYTES.match(line.text) or _DIED.match(line.text) else Continuation.NOT

    def _foreign(self, line: Line) -> None:
        """Take in what is no line of a batch or record."""
        if found := _INVALID_BYTES.match(line.text):
            self._note(line, "torn", "a whole batch", f"{found[1]} bytes at the end of the log that are none")
        elif _DIED.match(line.text):
            self._break_off(line, "the tool ended with an exception")
        elif leaves_out(line.text):
            self.is_elided = True
        elif self._order.header is not None and line.text.startswith(_WITHOUT_METADATA):
            self._has_metadata, self._order.left = False, -1

    def _break_off(self, line: Line, why: str) -> None:
        self.is_torn = True
        self._note(line, "torn", "the rest of the log", why)

    def _note(self, line: Line, kind: str, expected: str, found: str) -> None:
        if len(self.damage) < MOST_DAMAGE:
            size = max(line.end - line.position, 0)
            self.damage.append(Damage(kind, self.path, line.position, size, expected, found))


def log_text(file: OpenFile, part: TextPart) -> LogText:
    """Return the dump of a log that a part of a text is, to be read once."""

    def restart(position: int, number: int) -> Iterator[Line]:
        return lines(file, position, part.end, number)

    return LogText(restart(part.position, part.line), file.path, part.topic, part.end - part.position, restart)


_OF_LOGS = (ToolLineKind.BATCH, ToolLineKind.RECORD)
_DIES_OF_TOMBSTONES = "] key: transactionalId="
"""Keys that a decoder prints which ends at the first tombstone (to 2.4.0, KAFKA-9293)."""
