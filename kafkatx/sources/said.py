"""What a path is said to be, by words in front of it: `orders-0=x.bin`, `log=x.bin`, `txnindex=orders-0=x.bin`.

Text      WORD=PATH, any number of words. A path that is there as it stands, with its `=`, has none.
Meaning   what a word says is asked where files are told apart (evidence/claims.py).
"""

from __future__ import annotations

import os

from kafkatx.terms.regex import regex

_WORD = regex(r"([A-Za-z0-9._-]+)=(?=.)")


def said(path: str) -> tuple[tuple[str, ...], str]:
    """Return the words in front of a path, and the path itself."""
    words: list[str] = []
    while (found := _WORD.match(path)) is not None and not os.path.lexists(path):
        words.append(found[1])
        path = path[found.end() :]
    return tuple(words), path


def of_place(path: str) -> str:
    """Return the path alone."""
    return said(path)[1]


def again(words: tuple[str, ...], path: str) -> str:
    """Return a path with words in front of it."""
    return "".join(f"{word}=" for word in words) + path
