"""Answers about lines, kept for a while: a page is looked through several times, and logs repeat their lines.

Only lines of common length are kept, so that what is kept is bounded in bytes as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

MOST = 2048
"""Lines whose answers are kept, of each question."""
LONGEST = 512
"""Characters of a line that is kept."""
T = TypeVar("T")


def remembered(ask: Callable[[str], T]) -> Callable[[str], T]:
    """Keep what a function says of a line, which follows from the line alone and is not changed by who gets it."""
    of_short = lru_cache(MOST)(ask)

    @wraps(ask)
    def asked(text: str) -> T:
        return of_short(text) if len(text) <= LONGEST else ask(text)

    return asked
