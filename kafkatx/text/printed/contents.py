"""Key and value of a record as its line prints them, and where they end when they hold line ends themselves.

Shape   behind the fields: keys of headers and `]`, then ` key: K` unless the key is null, then ` payload: V` unless the
        value is. Both raw, as long (in UTF-8) as keysize and valuesize say; a decoder's text has sizes of its own.
"""

from __future__ import annotations

import re
from dataclasses import field
from enum import Enum

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line

KEY, PAYLOAD = b" key: ", b" payload: "
HEADER_KEYS = "headerKeys: ["
SIZES = regex(r" key[sS]ize: (-?\d{1,10}) value[sS]ize: (-?\d{1,10}) ")
REPLACED = "\ufffd".encode()
_DECODED = regex(
    r"\]? (?:key: (?:transactionalId=|transaction_metadata::|offset::|offset_commit::|group_metadata::|metadata::"
    r"|\{\"metadata\":|\{\"type\":\"|unknown::|Unknown record type |Error at offset )"
    r"|payload: (?:\{\"type\":\"[A-Z_0-9]+\"|Remote(?:LogSegment|Partition)[A-Za-z]{8,30}\{"
    r"|Error at (?:offset )?\d+, skipping))"
)
_PASTED_CONTROL = regex(rb"\^[@-_]")


def looks_decoded(tail: str) -> bool:
    """Whether contents are a decoder's text (of any release)."""
    return _DECODED.match(tail) is not None


def content_of(text: str) -> str | None:
    """Return what stands behind the fields of a record from the keys of its headers on, None without any content."""
    tail = text.partition(HEADER_KEYS)[2]
    return tail if "] key: " in tail or "] payload: " in tail else None


def is_longer_by(text: str, surplus: int) -> bool:
    """Whether a record's line holds more than its content by that many bytes: a decoder's text holds no markup."""
    tail, sizes = content_of(text), SIZES.search(text)
    if tail is None or looks_decoded(tail):
        return True
    if sizes is None or not tail.startswith("]"):
        return False
    return len(tail.encode()) - 1 == content_size(int(sizes[1]), int(sizes[2])) + surplus


def content_size(key_size: int, value_size: int) -> int:
    """Bytes that key and value take behind the fields of their line."""
    key = len(KEY) + key_size if key_size >= 0 else 0
    return key + (len(PAYLOAD) + value_size if value_size >= 0 else 0)


_DECODED_KEYS = {
    "] key: transactionalId=": 4,
    "] key: transaction_metadata::transactionalId=": 4,
    "] key: group_metadata::group=": 4,
    "] key: offset_commit::group=": 10,
    "] key: offset::": 10,
    "] key: metadata::": 4,
}
"""Titles of keys that older decoders print raw, and how many bytes of the key are no text: version, lengths, number."""


def decoded_size(tail: str, key_size: int) -> int:
    """Bytes that a decoder's text has at least: ids, groups and topics are in it with all their characters."""
    found = next((title for title in _DECODED_KEYS if tail.startswith(title)), None)
    return 0 if found is None else len(found) + key_size - _DECODED_KEYS[found]


@dataclass(slots=True)
class Contents:
    """What stands behind a record's fields, from the keys of its headers on, line ends included.

    A size of -1 is null, -2 not known. `is_whole`: key and value are as long as declared.
    """

    tail: str
    key_size: int
    value_size: int
    is_whole: bool
    is_decoded: bool

    @property
    def printed(self) -> str:
        """Key and value with their titles."""
        if not self.is_whole or self.is_decoded:
            return self.tail[self.tail.find("]") + 1 :] if self.tail.startswith("]") else self.tail.partition("]")[2]
        raw = self.tail.encode()
        return raw[len(raw) - content_size(self.key_size, self.value_size) :].decode("utf-8", "replace")

    @property
    def is_as_written(self) -> bool:
        """Whether key and value are printed byte for byte."""
        return self._raw() is not None

    @property
    def key(self) -> bytes | None:
        """The key, None where it is null, not printed or not whole."""
        raw = self._raw()
        if raw is None or self.key_size < 0:
            return None
        return raw[len(KEY) : len(KEY) + self.key_size]

    @property
    def value(self) -> bytes | None:
        """The value, None where it is null, not printed or not whole."""
        raw = self._raw()
        return None if raw is None or self.value_size < 0 else raw[len(raw) - self.value_size :]

    @property
    def header_keys(self) -> str:
        """Keys of the headers as printed, between the brackets."""
        raw = self.tail.encode()
        if not self.is_whole or self.is_decoded:
            return self.tail.partition("]")[0]
        return raw[: len(raw) - content_size(self.key_size, self.value_size)].decode("utf-8", "replace")[:-1]

    def _raw(self) -> bytes | None:
        """Key and value with titles; None where they are not printed as they are: U+FFFD may stand for anything."""
        if not self.is_whole or self.is_decoded:
            return None
        tail = self.tail.encode()
        raw = tail[len(tail) - content_size(self.key_size, self.value_size) :]
        return None if REPLACED in raw else raw


class Reach(Enum):
    """How the lines taken so far compare with what a record declares."""

    SHORT = "more must follow"
    EXACT = "all is there"
    POSSIBLE = "all may be there: some bytes were no UTF-8, or are written as `^A`"
    BEYOND = "there is more than declared"


@dataclass(slots=True)
class Growth:
    """Contents of a record as lines are added to them, by their length alone.

    Carriage returns that were taken for a part of ends of lines count where the declared size needs them (`returns`).
    """

    line: Line
    tail: str
    key_size: int
    value_size: int
    returns: int = 0
    _starts: list[int] = field(default_factory=list)
    _length: int = 0
    _surplus: int = 0
    _returns: int = 0
    _last_returns: int = 0
    _is_pasted: bool = False

    def __post_init__(self) -> None:
        raw = self.tail.encode()
        title = KEY if self.key_size >= 0 else PAYLOAD
        self._starts = [found.end() for found in re.finditer(rb"\](?=" + title + rb")", raw)][:MOST_STARTS]
        self._length = len(raw)
        self._note(self.line, self.line.text.encode())

    def add(self, line: Line) -> int:
        """Add a line; returns its bytes."""
        raw = line.text.encode()
        if not self._starts:  # the keys of headers hold the end of a line: contents begin further down
            title = KEY if self.key_size >= 0 else PAYLOAD
            found = re.finditer(rb"\](?=" + title + rb")", raw)
            self._starts = [self._length + 1 + start.end() for start in found][:MOST_STARTS]
        self._returns += self._last_returns
        self._length += 1 + len(raw)
        self._note(line, raw)
        return len(raw)

    @property
    def has_begun(self) -> bool:
        """Whether contents have begun: keys of headers may hold ends of lines, too."""
        return bool(self._starts)

    def reach(self) -> Reach:
        """Compare with what is declared."""
        wanted = content_size(self.key_size, self.value_size)
        lengths = [self._length - start for start in self._starts]
        for returns in (0, self._returns, self._returns + self._last_returns):
            if any(length + returns == wanted for length in lengths):
                self.returns = returns
                return Reach.EXACT
        if not lengths or max(lengths) < wanted:
            return Reach.SHORT
        if any(length - self._surplus <= wanted <= length for length in lengths):
            return Reach.POSSIBLE
        return Reach.BEYOND

    @property
    def may_have_lost(self) -> bool:
        """Whether the text shows that pasting changed control characters, or that contents were cut short by hand."""
        return self._is_pasted

    def _note(self, line: Line, raw: bytes) -> None:
        """Take in a line: bytes of the file that are no UTF-8 count as they stand, U+FFFD that were printed may not."""
        size = line.end - line.position - line.is_ended if line.is_cut else line.size
        differs = size - len(raw) if line.size >= 0 else 0
        self._length += differs
        carets = len(_PASTED_CONTROL.findall(raw))
        self._surplus += carets + (0 if differs else 2 * raw.count(REPLACED))
        self._is_pasted |= carets > 0 or b"..." in raw or "\u2026".encode() in raw
        self._last_returns = returns_of(line)


def returns_of(line: Line) -> int:
    """Carriage returns before the end of a line, where it was not pasted."""
    hidden = line.end - line.position - line.size - line.is_ended if line.size >= 0 else 0
    return hidden if 0 <= hidden <= 2 else 0


def joined(tail: str, lines: list[Line], returns: int) -> str:
    """Put together what stands on several lines, the first of them from `tail` on, with this many carriage returns."""
    ends = [returns_of(line) for line in lines]
    if returns < sum(ends):
        ends = [0] * len(ends) if not returns else [*ends[:-1], 0]
    texts = [tail, *(line.text for line in lines[1:])]
    return "\n".join(text + "\r" * end for text, end in zip(texts, ends, strict=True))


MOST_STARTS = 16
"""Places in one line that are looked at as the beginning of contents: keys of headers may imitate it."""
