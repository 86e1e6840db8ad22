"""Tables that are worked out of the catalogue, kept from one run to the next (kept.py): indexes of its texts.

A small diagnosis spent a fourteenth on them: 1,400 rows are cut, parsed, sorted and indexed, of which it asks for few.

What       plain data by the name of the function that makes it; as of the files that it is made of and by, whose names,
           sizes and times are the mark, as those of a source are of its bytecode.
Never less where the package is no folder nothing is kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

from kafkatx.terms.kept import Kept

FOLDERS = ("terms", "terms/catalogue", "text", "text/logs", "text/prose", "kernels")
"""Where everything lies that a kept table is made of: the catalogue, and the code that reads and indexes it."""
MOST = 64
"""Tables that are kept."""
T = TypeVar("T")


class KeptTables(Kept[str, Any]):
    """Tables that were kept, and what came to them in this process."""

    def __init__(self) -> None:
        super().__init__("tables", made_of, MOST)

    def made(self, name: str, make: Callable[[], T]) -> T:
        """Return what a function makes, as it was kept if it was."""
        if made_of() is None:
            return make()
        if name in self.known:
            found: T = self.known[name]
            return found
        made = self.new[name] = make()
        return made


def kept_table(make: Callable[[], T]) -> Callable[[], T]:
    """Keep what a function without arguments makes of the package's own files; it must be plain, and is not changed."""

    @cache
    @wraps(make)
    def table() -> T:
        return TABLES.made(f"{make.__module__}.{make.__qualname__}", make)

    return table


@cache
def made_of() -> tuple[Any, ...] | None:
    """Return what tables are made of: the releases of Python and the package, and its files; None where it is none."""
    package: Any = sys.modules[__name__.partition(".")[0]]
    try:
        return sys.hexversion, package.__version__, tuple(sorted(_files(Path(package.__file__).parent)))
    except OSError:
        return None


def _files(package: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the files of the folders: path, size in bytes, time of their last change in ns."""
    for folder in FOLDERS:
        for entry in os.scandir(package / folder):
            if entry.is_file():
                found = entry.stat()
                yield entry.path, found.st_size, found.st_mtime_ns


TABLES = KeptTables()
"""Those of this process."""
