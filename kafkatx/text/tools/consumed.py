"""Plain output of kafka-console-consumer with offsets, and what two listings of a partition say beside each other.

Shape   `CreateTime:T<tab>Partition:P<tab>Offset:N<tab>[headers<tab>][key<tab>]value`, each where it was asked for
        (offsets and partitions like this since 2.7, KIP-431); blanks for tabs where a page was pasted.
Limits  what stands behind the properties is a key if a tab follows it; headers are told from keys by `NO_HEADERS` only.
        Lines without properties go on with the value above; whatever they say, they are no records.
Source  DefaultMessageFormatter (Kafka 2.7 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line, lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.line_kinds import ToolLineKind
from kafkatx.text.printed.pasted import as_printed
from kafkatx.text.printed.tool_lines import unpasted

_PROPERTY = regex(
    r"(?:(CreateTime|LogAppendTime):(-?\d{1,19})|NO_TIMESTAMP|Partition:(\d{1,10})|Offset:(\d{1,19})"
    r"|(?:Delivery|Epoch):-?\w{1,20}|NO_HEADERS)(?:\t|[ ]{1,8}|$)"
)
MOST_CONTINUED = 1 << 20
"""Characters of a value that went on in further lines which are kept."""


@dataclass(frozen=True, slots=True)
class Consumed:
    """A record that a console consumer printed; None where it was not asked for.

    `line` and `position` say where it begins in the text.
    """

    line: int
    position: int
    partition: int | None
    offset: int | None
    timestamp: int | None
    timestamp_type: str | None
    key: str | None
    value: str


def consumed_records(file: OpenFile, part: TextPart) -> Iterator[Consumed]:
    """Yield the records of a plain listing in the order printed."""
    current: _Printed | None = None
    for line in _listing(lines(file, part.position, part.end, part.line)):
        found = _read(line)
        if found is not None:
            if current is not None:
                yield current.record(part)
            current = found
        elif current is not None:
            current.add(line.text)
    if current is not None:
        yield current.record(part)


def _listing(source: Iterator[Line]) -> Iterator[Line]:
    """Lines from the first record on; if that one was pasted, as they were printed. What is a value is left alone."""
    for line in source:
        if _PROPERTY.match(line.text):
            return chain([line], source)
        if (printed := as_printed(line.text)) and printed.kind is ToolLineKind.CONSUMED:
            return unpasted(chain([line], source))
    return iter(())


@dataclass(slots=True)
class _Printed:
    """A record while lines of its value come."""

    line: Line
    at: dict[str, str]
    rest: str

    def add(self, text: str) -> None:
        """Go on with the value."""
        if len(self.rest) + len(text) < MOST_CONTINUED:
            self.rest += "\n" + text

    def record(self, part: TextPart) -> Consumed:
        """Return the record; its partition is the part's where the line does not say it."""
        key, tab, value = self.rest.partition("\t")
        partition, offset, timestamp = (
            int(self.at[name]) if name in self.at else None for name in ("Partition", "Offset", "timestamp")
        )
        return Consumed(
            self.line.number, self.line.position, part.partition if partition is None else partition, offset,
            timestamp, self.at.get("type"), key if tab else None, value if tab else self.rest,
        )  # fmt: skip


def _read(line: Line) -> _Printed | None:
    """Read the properties before key and value; None where there is none."""
    found: dict[str, str] = {}
    at = 0
    while (match := _PROPERTY.match(line.text, at)) is not None:
        kind, time, partition, offset = match.groups()
        found |= {
            name: said
            for name, said in (("type", kind), ("timestamp", time), ("Partition", partition), ("Offset", offset))
            if said is not None
        }
        at = match.end()
    return _Printed(line, found, line.text[at:]) if at else None


Range = tuple[int, int]
"""Offsets first to last, both included."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What two listings of one partition say, in the stretch of offsets that both cover.

    `first` and `last` are the lowest and highest offset of the listing with read_uncommitted. `passed` is the highest
    offset that the reader with read_committed was given, None for none: the last stable offset was above it.
    `hidden_before` are records up to there, `hidden_after` records behind it that this reader was not given.
    """

    partition: int | None
    first: int
    last: int
    passed: int | None
    hidden_before: tuple[Range, ...]
    hidden_after: tuple[Range, ...]


def compared(uncommitted: Iterable[Consumed], committed: Iterable[Consumed]) -> list[Compared]:
    """Lay two listings beside each other, a partition at a time; records without an offset say nothing here."""
    everything, visible = _offsets(uncommitted), _offsets(committed)
    return [_compared(key, found, visible.get(key, set())) for key, found in sorted(everything.items(), key=_order)]


def _offsets(records: Iterable[Consumed]) -> dict[int | None, set[int]]:
    found: dict[int | None, set[int]] = {}
    for record in records:
        if record.offset is not None:
            found.setdefault(record.partition, set()).add(record.offset)
    return found


def _order(entry: tuple[int | None, set[int]]) -> int:
    return -1 if entry[0] is None else entry[0]


def _compared(partition: int | None, everything: set[int], visible: set[int]) -> Compared:
    first, last = min(everything), max(everything)
    visible = {offset for offset in visible if offset <= last}
    passed = max(visible, default=None)
    hidden = everything - visible
    before = {offset for offset in hidden if passed is not None and offset < passed}
    return Compared(partition, first, last, passed, ranges(before), ranges(hidden - before))


def ranges(offsets: Iterable[int]) -> tuple[Range, ...]:
    """Return consecutive offsets as ranges, in order."""
    found: list[Range] = []
    for offset in sorted(offsets):
        if found and offset == found[-1][1] + 1:
            found[-1] = found[-1][0], offset
        else:
            found.append((offset, offset))
    return tuple(found)
