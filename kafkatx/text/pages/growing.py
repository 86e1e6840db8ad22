"""A stretch of a page while it grows: where it stands, what it is of, what its lines say of each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kafkatx.terms.records import dataclass
from kafkatx.text.pages.completeness import Completeness
from kafkatx.text.pages.incidents import LineFact, fact_of, first_offset
from kafkatx.text.pages.naming import UNKNOWN, NamedFile
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.pages.run_facts import facts_of_run
from kafkatx.text.printed.joining import is_complete
from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.runs import Run, shape_of
from kafkatx.text.printed.tool_lines import ToolLine

MOST_FACTS_OF_ONE = 4_096
"""Facts of one stretch that are compared with others."""
LOGS = (PartKind.DUMP_LOG, PartKind.DUMP_METADATA_SNAPSHOT)
DUMPS = (
    *LOGS,
    PartKind.DUMP_INDEX,
    PartKind.DUMP_TIMEINDEX,
    PartKind.DUMP_TXNINDEX,
    PartKind.DUMP_SNAPSHOT,
)
TOOLS = (
    *DUMPS,
    PartKind.CONSOLE_STATES,
    PartKind.CONSOLE_OFFSETS,
    PartKind.CONSOLE_RECORDS,
    PartKind.ADMIN_TRANSACTIONS,
    PartKind.ANSWER,
)
TABLES = (PartKind.ADMIN_TRANSACTIONS, PartKind.ANSWER)


@dataclass(slots=True)
class GrowingPart:
    """Lines of one kind, from byte `position` (line `line`) up to byte `end`.

    `section` counts the headings of the page above it. `has_header`, `has_start`: `Dumping FILE`, and the line behind
    it that tells the file's first offset, stand above. `is_foreign`: something else stands between its lines. `filled`:
    how many of its lines are not blank.
    """

    kind: PartKind
    position: int
    line: int
    end: int
    origin: NamedFile = UNKNOWN
    section: int = 0
    has_header: bool = False
    has_start: bool = False
    is_foreign: bool = False
    is_elided: bool = False
    filled: int = 0
    known_settings: int = 0
    facts: dict[tuple[ToolLineKind, int], LineFact] = field(default_factory=dict)
    completeness: Completeness = field(default_factory=Completeness)
    _last: ToolLine | None = None
    _record_offset: int = -1
    _has_capitals: bool = True
    _repeats_batch: bool = False
    _has_contents: bool = False

    @property
    def place(self) -> tuple[str | None, int | None]:
        """Topic and partition."""
        return self.origin.topic, self.origin.partition

    @property
    def is_empty_dump(self) -> bool:
        """Whether there is a header and nothing behind it yet."""
        return self.has_header and self._last is None

    def takes(self, kind: PartKind, shape: ToolLineKind, fields: Mapping[str, str]) -> bool:
        """Whether a line of a tool goes on with this stretch."""
        is_of_kind = kind is self.kind or (self.kind in LOGS and kind in LOGS)
        if self.is_empty_dump:
            return is_of_kind or self.origin.kind is None
        if not is_of_kind or shape is ToolLineKind.ADMIN:
            return False
        return kind not in LOGS or self.completeness.lines == 0 or self._goes_on(shape, fields)

    def _goes_on(self, shape: ToolLineKind, fields: Mapping[str, str]) -> bool:
        """Whether the offset of a line of a log is above those before it, as far as it tells one."""
        first = first_offset(shape, fields)
        is_below_batch = shape is ToolLineKind.RECORD and ("position" not in fields or "batchSize" in fields)
        return first < 0 or first > (self._record_offset if is_below_batch else self.completeness.last_offset)

    def add(self, line: ToolLine, fields: Mapping[str, str]) -> None:
        """Take in a line of a tool."""
        assert line.printed is not None
        self.extend(line.line.end)
        self.is_elided |= line.printed.is_elided
        shape = line.printed.kind
        if shape is ToolLineKind.RECORD:
            self._has_capitals, self._repeats_batch = "keySize" in fields, "batchSize" in fields
            self._has_contents |= " key: " in line.printed.text or " payload: " in line.printed.text
        if shape in (ToolLineKind.BATCH, ToolLineKind.RECORD):
            self.completeness.add(shape, fields)
            first = first_offset(shape, fields)
            if first >= 0:
                self._record_offset = first - (shape is ToolLineKind.BATCH)
                if len(self.facts) < MOST_FACTS_OF_ONE:
                    self.facts.setdefault((shape, first), fact_of(shape, fields))
        self._last = line

    def shape_of_run(self, text: str) -> int | None:
        """Return what batches must look like to be taken in at once, where the first has this line; None: none can."""
        told = self.completeness
        if self.kind is not PartKind.DUMP_LOG or not told.is_plain:
            return None
        is_named = self.origin.named is not None  # else contents may tell what the log is of
        return shape_of(
            text,
            capitals=self._has_capitals,
            deep=told.is_deep,
            repeats=self._repeats_batch,
            contents=is_named and self._has_contents,
            decoded=is_named and self._has_contents,
            untitled=is_named and self._has_contents,
        )

    def pass_over(self, run: Run, *, is_deep: bool) -> None:
        """Take in a run of batches that follow the last line."""
        self.end = run.end
        self.filled += run.line_count
        self.completeness.pass_over(run.rows, run.line_count, is_deep=is_deep)
        self._record_offset = int(run.record_offsets[-1])
        if len(self.facts) < MOST_FACTS_OF_ONE:
            for key, fact in facts_of_run(run, MOST_FACTS_OF_ONE - len(self.facts)):
                self.facts.setdefault(key, fact)

    def extend(self, end: int) -> None:
        """Take in a line that says nothing of its own."""
        self.end = end
        self.filled += 1

    def _is_whole_dump(self) -> bool:
        """Whether a dump has its header, all of its last line and, of a log, its beginning and all records."""
        last = self._last.printed if self._last is not None else None
        is_whole = self.has_header and (last is None or is_complete(last))
        if self.kind not in LOGS or not is_whole:
            return is_whole
        has_begun = self.has_start or self.completeness.lines > 0
        return has_begun and not self.completeness.misses_records and self.completeness.first_position <= 0

    def part(self, run: int) -> TextPart:
        """Return the stretch as a part of its page."""
        is_elided = self.is_elided or (self.kind in LOGS and self.completeness.is_elided)
        is_whole = not (is_elided or self.is_foreign) and (self.kind not in DUMPS or self._is_whole_dump())
        if self.kind in LOGS:
            is_elided |= self.completeness.has_holes and not is_whole
        origin = self.origin
        return TextPart(
            self.kind, self.position, self.end, self.line, origin.topic, origin.partition, origin.base_offset,
            is_elided, is_whole, origin.named, run, origin.command,
        )  # fmt: skip
