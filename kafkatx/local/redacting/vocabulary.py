"""Words that programs print themselves: a name that equals one of them can't be told from it in free text.

Source  all texts, names of settings, exceptions and messages that the package knows, whatever they mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from kafkatx.terms.regex import regex

SHORTEST = 3
"""Characters that a name has at least to be looked for in free text."""
_TOKEN = regex(r"[A-Za-z0-9_.-]+")
_PIECE = regex(r"[.-]")
_PART = regex(r"[A-Z]?[a-z]+|[A-Z]+")
OF_PATHS = frozenset(
    ("app", "apps", "data", "home", "var", "opt", "tmp", "lib", "etc", "usr", "log", "logs", "gz", "txt", "conf")
)
"""Words of paths, which name nobody."""


@cache
def words() -> frozenset[str]:
    """Return the words in lower case: whole ones (`transaction.timeout.ms`), their beginnings and their parts."""
    found = set(OF_PATHS)
    for text in _texts(files("kafkatx")):
        for token in set(_TOKEN.findall(text)):
            pieces = _PIECE.split(token)
            found.update(".".join(pieces[: at + 1]).lower() for at in range(len(pieces)))
            found.update((token.lower(), *(piece.lower() for piece in pieces)))
            found.update(part.lower() for part in _PART.findall(token))
    return frozenset(found)


def is_common(name: str) -> bool:
    """Whether a name equals such a word, is a number, or is too short to be told from others."""
    return len(name) < SHORTEST or not re.search("[A-Za-z]", name) or name.lower() in words()


def _texts(folder: Traversable) -> Iterator[str]:
    for inner in folder.iterdir():
        if inner.is_dir():
            yield from _texts(inner)
        elif inner.name.endswith((".tsv", ".txt")):
            yield inner.read_text(encoding="utf-8")
