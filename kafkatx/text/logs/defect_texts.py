"""Texts of known defects (terms/catalogue/known_defects.tsv) in lines, whether or not a logger wrote them.

Where nothing of a log stands before a line (an assertion, a panic, a frame), it shows a defect if the text is one of
those that nothing else makes, and stands there as a program prints it: behind a label, or beside the file and line that
wrote it. Quoted in a sentence, in source code or in a list it is talk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from kafkatx.terms.catalogue.entries import Signs
from kafkatx.terms.catalogue.loading import known_defects
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.regex import regex
from kafkatx.text.logs.source_code import BEGINNINGS, ENDINGS, THROWS

SHORTEST_ALONE = 12
"""Characters of a sign that a line without anything of a log is known by."""
LONGEST = 4_096
MOST_WORDS = 24
"""Words that may stand before a text."""
_WORD = regex(r"[A-Za-z_]{4,80}")
_INNER = regex(r"(?<=[^A-Za-z_])[A-Za-z_]{4,80}(?=[^A-Za-z_])")
"""A word that stands whole in every text that holds its own."""
_PLACE = regex(
    r"\.(?:cc?|cpp|hh?|go|rs|erl|exs?|py|rb|php|[jt]sx?|cs|java|scala|kt)(?:\"?, ?line |[\"']?\},\{line,|:|\()\d{1,6}\b"
)
"""The file and line of a program."""
_QUOTED = regex(r"(?:[a-z,.] [\"`'(\u201c]+|[a-z] `)[^\"`\u201d]*$")
"""What stands before words that a sentence quotes."""
_LABEL = regex(
    r"(?:^|[:=>\]|}] ?|(?<=\w)[:(.] ?|\b(?:panic|at|error|exception|in) )[\s\"'`(\[{<*#]*"
    r"(?:[\w$.*()<>/@-]{1,200}[.:(/ ])?$",
    re.IGNORECASE,
)
_CODE = regex(rf"^\s*(?:{BEGINNINGS}|#include|[-+] )|{ENDINGS}|{THROWS}|\b(?:rd_)?assert\w*\(")
"""A line of source code, or an item of a list."""


@lru_cache(maxsize=4096)
def signs_in(text: str) -> tuple[str, ...]:
    """Return the texts of known defects that a text holds."""
    by_word, others = _texts()
    likely = (sign for word in by_word.keys() & _WORD.findall(text) for sign in by_word[word])
    return tuple(sorted(sign for sign in (*likely, *others) if sign in text))


def is_evidence(texts: Iterable[str]) -> bool:
    """Whether these texts hold all of a sign that nothing else makes, or of what must stand beside one."""
    return bool(_shown(frozenset(texts)))


@lru_cache(maxsize=4096)
def shows_defect(text: str) -> bool:
    """Whether a line with nothing of a log before it shows a defect, and does not only talk about it."""
    line = text[:LONGEST].strip()
    told = _shown(frozenset(signs_in(line)))
    if not told or _CODE.search(line):
        return False
    return any(_is_printed(line, line.index(text)) for text in told)


def _shown(texts: frozenset[str]) -> frozenset[str]:
    """Texts of the whole signs that are among these."""
    return frozenset().union(*(one for one in _sure_signs() if one <= texts)) if texts else texts


def is_quoted(line: str, sign: str) -> bool:
    """Whether a sentence quotes a text."""
    before, found, _ = line.partition(sign)
    return bool(found) and _QUOTED.search(before) is not None


def _is_printed(line: str, at: int) -> bool:
    """Whether what stands at a place is a program's: behind a label, or with the place in its source."""
    before = line[:at]
    if len(before.split()) > MOST_WORDS or _QUOTED.search(before):
        return False
    return _LABEL.search(before) is not None or _PLACE.search(line) is not None


@kept_table
def all_texts() -> tuple[str, ...]:
    """Return the texts of all known defects, each once and in order."""
    return tuple(sorted({text for defect in known_defects() for text in defect.texts}))


@kept_table
def _sure_signs() -> tuple[frozenset[str], ...]:
    """Signs that nothing else makes, and what must stand beside them."""
    sure = [defect for defect in known_defects() if defect.is_sure]
    shown: list[Signs] = [signs for defect in sure for signs in (defect.shows, defect.beside)]
    return tuple(frozenset(one) for signs in shown for one in signs if sum(map(len, one)) >= SHORTEST_ALONE)


@kept_table
def defects_by_text() -> dict[str, tuple[int, ...]]:
    """Return the numbers of the defects that a text is a sign of, by the text; what stands beside it set aside."""
    found: dict[str, list[int]] = {}
    for number, defect in enumerate(known_defects()):
        for text in {text for signs in defect.shows for text in signs}:
            found.setdefault(text, []).append(number)
    return {text: tuple(numbers) for text, numbers in found.items()}


@kept_table
def _texts() -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Texts by their longest whole word, which what holds them must hold; then those without one."""
    found: dict[str, list[str]] = {}
    for text in all_texts():
        found.setdefault(max(_INNER.findall(text), key=len, default=""), []).append(text)
    others = tuple(found.pop("", ()))
    return {word: tuple(texts) for word, texts in found.items()}, others
