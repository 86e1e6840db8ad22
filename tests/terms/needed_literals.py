"""Whether every text that a pattern matches holds one of some literals.

Told by the parsed pattern (`re._parser`), not by trying: of a sequence one part must need them, of an alternative every
branch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from re import _constants as ops
from re import _parser
from typing import Any

MOST = 64
"""Texts that a part of a pattern is written out as."""
Item = tuple[Any, Any]
_WITHOUT_WIDTH = (ops.AT, ops.ASSERT, ops.ASSERT_NOT)


def needs(pattern: str, literals: Sequence[str], flags: int = 0) -> bool:
    """Whether every text that matches holds one of the literals (in small letters, if case is looked past)."""
    parsed = _parser.parse(pattern, flags)
    return _needs(list(parsed), tuple(literals), bool(parsed.state.flags & re.IGNORECASE))


def _needs(items: list[Item], literals: tuple[str, ...], small: bool) -> bool:
    return any(_item_needs(op, given, literals, small) for op, given in items) or any(
        _hold(written, literals, small) for first in range(len(items)) for written in _runs(items[first:])
    )


def _item_needs(op: Any, given: Any, literals: tuple[str, ...], small: bool) -> bool:
    if op is ops.BRANCH:
        return all(_needs(list(branch), literals, small) for branch in given[1])
    if op is ops.SUBPATTERN:
        return _needs(list(given[3]), literals, small)
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        return given[0] > 0 and _needs(list(given[2]), literals, small)
    return op is ops.ASSERT and _needs(list(given[1]), literals, small)


def _hold(texts: frozenset[str], literals: tuple[str, ...], small: bool) -> bool:
    return all(any(literal in (text.lower() if small else text) for literal in literals) for text in texts)


def _runs(items: list[Item]) -> list[frozenset[str]]:
    """The longest beginning of a sequence that can be written out, and what it is then."""
    texts, found = frozenset([""]), list[frozenset[str]]()
    for op, given in items:
        more = frozenset([""]) if op in _WITHOUT_WIDTH else _written_item(op, given)
        if more is None or len(texts) * len(more) > MOST:
            break
        texts = frozenset(before + behind for before in texts for behind in more)
        found = [texts]
    return found


def _written(items: list[Item]) -> frozenset[str] | None:
    """All texts that some items match, None where they are too many."""
    texts = frozenset([""])
    for op, given in items:
        more = frozenset([""]) if op in _WITHOUT_WIDTH else _written_item(op, given)
        if more is None or len(texts) * len(more) > MOST:
            return None
        texts = frozenset(before + behind for before in texts for behind in more)
    return texts


def _written_item(op: Any, given: Any) -> frozenset[str] | None:
    if op is ops.LITERAL:
        return frozenset([chr(given)])
    if op is ops.IN and all(kind is ops.LITERAL for kind, _ in given):
        return frozenset(chr(code) for _, code in given)
    if op is ops.SUBPATTERN:
        return _written(list(given[3]))
    if op is ops.BRANCH:
        branches = [_written(list(branch)) for branch in given[1]]
        return frozenset().union(*branches) if None not in branches else None
    if op in (ops.MAX_REPEAT, ops.MIN_REPEAT) and given[1] == 1 and (once := _written(list(given[2]))) is not None:
        return once | frozenset([""] if given[0] == 0 else [])
    return None
