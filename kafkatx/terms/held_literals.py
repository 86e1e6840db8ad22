"""What every match of a pattern holds: some texts of which one stands wherever the pattern matches.

Looking for a text is many times cheaper than asking the library's engine for a pattern that may begin anywhere: who
looks for its literals first asks it about few lines. Nothing is lost: a line without any of them holds no match.

Rule    letters in a row of a sequence are a text; of alternatives one of each; of what may be repeated or left out only
        what must stand there once. Nothing is told of what is looked for without regard to case.
Source  `re._parser` (Python 3.11 to 3.13): its tree of operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

SHORTEST = 2
"""Characters that a text must have: a single one stands in nearly every line."""
MOST = 24
"""Texts that are looked for: more cost what they save."""
Held = tuple[str, ...]


def held_literals(tree: Iterable[tuple[Any, Any]], flags: int) -> Held:
    """Return texts of which every match of a parsed pattern holds one; none where there are no such."""
    if flags & re.IGNORECASE:
        return ()
    found = _of_sequence(tree)
    return found if len(found) <= MOST else ()


def begins_anywhere(tree: Iterable[tuple[Any, Any]]) -> bool:
    """Whether a pattern begins with any number of any characters, so that it is looked for behind all of them."""
    first = next(iter(tree), None)
    is_repeat = first is not None and str(first[0]) in _REPEATS
    return bool(is_repeat and str(first[1][2][0][0]) == "ANY")  # type: ignore[index]


_REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def _of_sequence(tree: Iterable[tuple[Any, Any]]) -> Held:
    """The best of what each part of a sequence holds: the one whose shortest text is the longest."""
    return max(_of_parts(tree), key=_telling, default=())


def _telling(held: Held) -> tuple[int, int]:
    return min(map(len, held)), -len(held)


def _of_parts(tree: Iterable[tuple[Any, Any]]) -> Iterator[Held]:
    run = ""
    for operation, value in (*tree, (None, None)):
        name = str(operation)
        if name == "LITERAL":
            run += chr(value)
        elif name != "AT":
            if len(run) >= SHORTEST:
                yield (run,)
            run = ""
            if held := _of_part(name, value):
                yield held


def _of_part(name: str, value: Any) -> Held:
    """What a part that is no letter holds."""
    if name == "SUBPATTERN":
        _, added, _, inner = value
        return () if added & re.IGNORECASE else _of_sequence(inner)
    if name == "ATOMIC_GROUP":
        return _of_sequence(value)
    if name == "BRANCH":
        each = [_of_sequence(one) for one in value[1]]
        return tuple(dict.fromkeys(text for one in each for text in one)) if all(each) else ()
    if name in _REPEATS and value[0] > 0:
        return _of_sequence(value[2])
    return ()
