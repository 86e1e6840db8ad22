"""Regular expressions as the library has compiled them, kept from one run to the next (kept.py).

Of a small diagnosis compiling its patterns is a sixth. What comes of a pattern is a list of numbers for the library's
engine; whoever has the list has the compiled pattern in some microseconds.

What       code by pattern and flags, of one release of Python and one engine; so nothing kept can be out of date.
Never less code of another engine is compiled as ever. The engine checks code that it is given.
Source     `re._compiler.compile`, `_sre` (Python 3.11 to 3.13); of an engine that is not known here nothing is kept.
"""

from __future__ import annotations

import _sre  # type: ignore[import-not-found]
import re
import sys
from array import array
from contextlib import suppress
from typing import Any

from kafkatx.terms.held_literals import begins_anywhere, held_literals
from kafkatx.terms.kept import DAMAGED, Kept

ENGINES = frozenset({20220615, 20221023, 20230612})
"""Engines whose compiler is the one that is meant here: those of Python 3.11, 3.12, 3.13."""
MOST = 4096
"""Patterns that are kept."""
LAYOUT = 3
"""What `Code` is; it changes with it."""
Key = tuple[str | bytes, int]
"""A pattern and its flags."""
Code = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...], tuple[Any, ...], bool]
"""What the engine takes beside the pattern: flags, code (32 bits each), how many groups, names of groups both ways;
then texts of which each match holds one, and whether the pattern begins with anything."""


class KeptPatterns(Kept[Key, Code]):
    """Code that was kept, and what came to it in this process."""

    def __init__(self) -> None:
        super().__init__("patterns", _engine, MOST)

    def compiled(self, pattern: Any, flags: int) -> re.Pattern[Any]:
        """Return what `re.compile` does, of kept code if there is any; raises re.error for a wrong pattern."""
        if _sre.MAGIC not in ENGINES:
            return re.compile(pattern, flags)
        key = (pattern, int(flags))
        with suppress(KeyError, *DAMAGED):
            return _made(pattern, self.known[key])
        code = self.new[key] = _code(pattern, flags)
        return _made(pattern, code)

    def held(self, pattern: Any, flags: int) -> tuple[tuple[Any, ...], bool]:
        """Return texts of which each match of a compiled pattern holds one, and whether it begins with anything."""
        key = (pattern, int(flags))
        code = self.new.get(key) or self.known.get(key)
        return code[5:] if code is not None else ((), False)


def _code(pattern: str | bytes, flags: int) -> Code:
    """Compile a pattern to code, as `re.compile` does."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    tree = _parser.parse(pattern, flags)
    code = array("I", _compiler._code(tree, flags)).tobytes()
    names = dict(tree.state.groupdict)
    by_group: list[str | None] = [None] * tree.state.groups
    for name, group in names.items():
        by_group[group] = name
    all_flags = int(flags | tree.state.flags)
    held: tuple[Any, ...] = held_literals(tree, all_flags)
    if isinstance(pattern, bytes):
        held = tuple(text.encode("latin-1") for text in held)
    return all_flags, code, tree.state.groups - 1, names, tuple(by_group), held, begins_anywhere(tree)


def _made(pattern: str | bytes, code: Code) -> re.Pattern[Any]:
    flags, numbers, groups, names, by_group, _, _ = code
    made: re.Pattern[Any] = _sre.compile(pattern, flags, array("I", numbers).tolist(), groups, names, by_group)
    return made


def _engine() -> tuple[int, int, int, int]:
    """What code is of: the engine, the release of Python, the size of its numbers, what we keep beside it."""
    return _sre.MAGIC, sys.hexversion, array("I").itemsize, LAYOUT


PATTERNS = KeptPatterns()
"""Those of this process."""
