"""Sets of partitions as decoders print them up to 4.0, by Scala or by Java."""

from __future__ import annotations

import re

from kafkatx.terms.regex import regex

_PARTITION = regex(r"(.+?)-(\d{1,10})(?:, ?|$)", re.DOTALL)


class Unreadable(Exception):
    """Contents that are no state of a transactional.id."""


def partitions_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return the topic-partitions of a printed set: `Set(a-0, b-1)`, `HashSet(..)`, `[a-0,b-1]`; raises Unreadable."""
    inner, at, found = text[text.index("(" if text.endswith(")") else "[") + 1 : -1], 0, []
    while at < len(inner):
        match = _PARTITION.match(inner, at)
        if match is None:
            raise Unreadable(text[:60])
        found.append((match[1], int(match[2])))
        at = match.end()
    return tuple(found)
