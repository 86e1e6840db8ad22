"""Signs of known defects in the lines of logs: which texts of the catalogue's table an entry shows.

An entry shows a text with its message, or with a line of the stack trace under it: a frame tells as much as the
exception above it. Any other line under it may be somebody's words about it. Which texts make a defect is no reader's
business (findings/known_defects.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from kafkatx.terms.catalogue.loading import known_defects
from kafkatx.text.logs.entries import Entry

SEPARATOR = "\n"
"""Stands between the texts that one entry shows."""
MOST_LINES = 200
"""Lines of an entry that are looked at."""
LONGEST_LINE = 4_096
SHORTEST_PART = 12
"""Characters of a piece of a message that make it part of a text."""
_WORD = re.compile(r"[A-Za-z_]{4,80}")
_TRACED = re.compile(r"\s{0,40}(?:at |File \"|Caused by: |#\d{1,3} +0x|[\w.$]{1,200}(?:Exception|Error)\b)")
_PYTHON_FRAME = re.compile(r"\s{1,40}File \"")
_INNER = re.compile(r"(?<=[^A-Za-z_])[A-Za-z_]{4,80}(?=[^A-Za-z_])")
"""A word that stands whole in every text that holds its own."""


def signs_of(entry: Entry) -> str:
    """Return the texts of known defects that an entry shows, nothing where it shows none."""
    framed = entry.framed
    lines = (framed.logger, framed.message, framed.trace, *_traced(entry.tail[:MOST_LINES]))
    return SEPARATOR.join(signs_in("\n".join(line[:LONGEST_LINE] for line in lines if line)))


def _traced(tail: tuple[str, ...]) -> Iterator[str]:
    """Lines of a stack trace: frames, the source line under a frame of Python, exceptions."""
    is_under_frame = False
    for line in tail:
        begin = line[:64].lstrip()
        if is_under_frame or begin.startswith(("at ", "Caused by: ")) or _TRACED.match(line):
            yield line
        is_under_frame = begin.startswith('File "') and _PYTHON_FRAME.match(line) is not None


@lru_cache(maxsize=4096)
def signs_in(text: str) -> tuple[str, ...]:
    """Return the texts of known defects that a text holds."""
    by_word, others = _texts()
    likely = (sign for word in by_word.keys() & _WORD.findall(text) for sign in by_word[word])
    return tuple(sorted(sign for sign in (*likely, *others) if sign in text))


def may_show(pieces: Iterable[str]) -> bool:
    """Whether a message of these pieces may show a text: one holds it, or is a part of it that a value goes on."""
    parts = [piece.strip() for piece in pieces if len(piece.strip()) >= SHORTEST_PART]
    return any(part in _all_texts() or signs_in(part) for part in parts)


@cache
def _all_texts() -> str:
    return SEPARATOR.join(text for defect in known_defects() for text in defect.texts)


@cache
def _texts() -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Texts by their longest whole word, which what holds them must hold; then those without one."""
    found: dict[str, list[str]] = {}
    for text in {text for defect in known_defects() for text in defect.texts}:
        found.setdefault(max(_INNER.findall(text), key=len, default=""), []).append(text)
    others = tuple(found.pop("", ()))
    return {word: tuple(texts) for word, texts in found.items()}, others
