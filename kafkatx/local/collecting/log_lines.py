"""Entries of a log that are taken: those of some hours, those that name an id, and those that findings rest on.

An entry is a line with a stamp and the lines behind it without one (a stack trace, a block of settings). A log whose
stamps have no date can't be cut by time: of it all is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import HEAD, Line, encoding_of, lines
from kafkatx.text.logs.stamps import STAMP, read_stamp

_STAMP = regex(STAMP)
STAMP_WITHIN = 240
"""Characters of a line in which its stamp stands: fields of JSON may come before it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What of a log is taken: windows in milliseconds as printed, what names an id, lines by number."""

    windows: tuple[tuple[int, int], ...]
    named: re.Pattern[bytes] | None
    cited: frozenset[int] = frozenset()


@dataclass(slots=True)
class CutLog:
    """The bytes of the entries that are taken, how many lines they are and of how many."""

    content: bytes = b""
    lines: int = 0
    of: int = 0

    @property
    def part(self) -> str | None:
        """What was taken in words, None if it is all."""
        return None if self.lines == self.of else f"{self.lines:,} of {self.of:,} lines"


@dataclass(slots=True)
class _Entry:
    """The lines of an entry; `at` is the time of its stamp, -1 where none is known."""

    at: int = -1
    lines: list[Line] = field(default_factory=list)


def cut_log(path: str, cut: Cut) -> CutLog:
    """Read a log and return the entries that are wanted; raises OSError."""
    with OpenFile(path) as file:
        encoding, found, pieces = encoding_of(file.read(0, HEAD)), CutLog(), []
        everything = encoding.unit > 1 or not _is_dated(file)
        for entry in _entries(file):
            found.of += len(entry.lines)
            first, last = entry.lines[0], entry.lines[-1]
            raw = file.read(first.position, last.end - first.position)
            if everything or _is_wanted(entry, raw, cut):
                found.lines += len(entry.lines)
                pieces.append(raw)
        found.content = file.read(0, file.size) if everything else b"".join(pieces)
    return found


def _entries(file: OpenFile) -> Iterator[_Entry]:
    entry = _Entry()
    for line in lines(file):
        at = _time_of(line.text)
        if at is not None and entry.lines:
            yield entry
            entry = _Entry(at)
        elif at is not None:
            entry.at = at
        entry.lines.append(line)
    if entry.lines:
        yield entry


def _time_of(text: str) -> int | None:
    """The time of a line's stamp, None for a line without one that has a date."""
    found = _STAMP.search(text, 0, STAMP_WITHIN)
    stamp = read_stamp(found[0]) if found else None
    return stamp.at if stamp is not None and stamp.at >= 0 else None


def _is_dated(file: OpenFile) -> bool:
    return any(_time_of(line.text) is not None for line in lines(file, 0, min(file.size, HEAD)))


def _is_wanted(entry: _Entry, raw: bytes, cut: Cut) -> bool:
    if any(since <= entry.at <= until for since, until in cut.windows):
        return True
    if not cut.cited.isdisjoint(line.number for line in entry.lines):
        return True
    return cut.named is not None and cut.named.search(raw) is not None
