"""Two folders change names in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

AT_FDCWD, RENAME_EXCHANGE = -100, 2
"""Of renameat2 on Linux."""
RENAME_SWAP = 2
"""Of renamex_np on macOS."""


def exchange(one: Path, other: Path) -> None:
    """Let two folders on one file system change names; raises OSError.

    Where the system or the file system can't do it at once, `one` is missing for a moment, and lies `aside(other)`.
    """
    if not _at_once(one, other):
        one.rename(aside(other))
        other.rename(one)
        aside(other).rename(other)


def aside(folder: Path) -> Path:
    """Where a folder lies meanwhile that is exchanged with this one step by step."""
    return folder.with_name(f"{folder.name}.old")


def _at_once(one: Path, other: Path) -> bool:
    """Whether the system did it."""
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, RENAME_SWAP) == 0)
        return bool(library.renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0)
    except (OSError, AttributeError):
        return False
