"""Bytecode of this package's modules in one file: a diagnosis imports 550, and to find and open each was half of that.

What       of each module that a command has imported the bytecode that Python keeps (PEP 3147, PEP 552), by its name,
           with path, size and time of its source.
Checked    when a module is imported: its source has the size and the time (in ns) that it had, else Python's own
           importer finds and compiles it as ever, and the next run takes what came of that.
Trust      as of compiled kernels: what is kept is run, so nobody else may be able to write it (kept_files.py).
Never less what can't be read is loaded as ever, what can't be written is not kept. Only the process of a command takes
           part (`__main__.py`): a program that imports the package is left to Python's importer.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, BinaryIO

from kafkatx.terms.kept import DAMAGED
from kafkatx.terms.kept_files import open_trusted, places, write_whole

LENGTH = 8
"""Bytes that say how long the index is, which stands behind them."""
HEAD = 16
"""Bytes before the code in a file of Python's: its magic number, flags, time and size of the source, 4 each."""
PACKAGE = __name__.partition(".")[0]
Known = tuple[str, tuple[int, int], str, bool, int, int]
"""A module: path of its source, size and time of that, path of its bytecode, whether it is a package; where its code
stands behind the index, and its size."""
Entry = tuple[str, tuple[int, int], str, bool, bytes]
"""A module with its code itself."""


class KeptModules:
    """What was kept; once it takes part it is a finder of modules, as `sys.meta_path` has them."""

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._file: BinaryIO | None = None
        self._begin = 0

    def take_part(self) -> None:
        """Find modules from now on, before Python's own importer does."""
        for path in _places() if hasattr(os, "pread") else ():
            with suppress(OSError):
                if self._is_taken(open_trusted(path)):
                    sys.meta_path.insert(0, self)
                    return

    def _is_taken(self, file: BinaryIO) -> bool:
        """Whether the index of a file is one for this package; then the file is left open."""
        with suppress(OSError, *DAMAGED):
            size = int.from_bytes(file.read(LENGTH), "big")
            mark, known = marshal.loads(file.read(size))
            if mark == _mark():
                self._known, self._file, self._begin = known, file, LENGTH + size
                return True
        file.close()
        return False

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        """Return how a module is loaded, None for one that is not kept or has changed since."""
        known = self._known.get(name)
        if known is None:
            return None
        if not _is_as_it_was(known):
            self.forget(name)
            return None
        source, _, bytecode, is_package, _, _ = known
        spec = ModuleSpec(name, _Loader(name, source, self), origin=source, is_package=is_package)
        spec.has_location, spec.cached = True, bytecode
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(os.path.dirname(source))  # noqa: PTH120 - a path for each costs more
        return spec

    def code_of(self, name: str) -> bytes:
        """Return the code of a module that was found, as it is marshalled; raises OSError where it can't be read."""
        assert self._file is not None
        *_, begin, size = self._known[name]
        code = os.pread(self._file.fileno(), size, self._begin + begin)
        if len(code) < size:
            raise OSError(f"the code of {name} is cut")
        return code

    def forget(self, name: str) -> None:
        """Leave a module to Python's own importer; what that has of it is kept instead."""
        del self._known[name]

    def keep(self) -> None:
        """Write down what this process imported and the file does not have, for the next one."""
        if sys.dont_write_bytecode or not hasattr(os, "pread"):
            return
        new = dict(_imported(self._known))
        content = _written(dict(self._whole()) | new) if new else b""
        for path in _places() if new else ():
            with suppress(OSError):
                write_whole(path, content)
                return

    def _whole(self) -> Iterator[tuple[str, Entry]]:
        """Yield what was kept, but for modules that have changed, or of which the code is cut."""
        for name, known in self._known.items():
            with suppress(OSError):
                if _is_as_it_was(known):
                    yield name, (*known[:4], self.code_of(name))


class _Loader(SourceFileLoader):
    """Loads a module of which the code is kept."""

    def __init__(self, name: str, path: str, modules: KeptModules) -> None:
        super().__init__(name, path)
        self._modules = modules

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code that is kept; where that is damaged, Python's own."""
        with suppress(OSError, *DAMAGED):
            code = marshal.loads(self._modules.code_of(fullname))
            if isinstance(code, CodeType):
                _imp._fix_co_filename(code, self.path)  # type: ignore[attr-defined]  # a moved source, as importlib does
                return code
        self._modules.forget(fullname)
        return super().get_code(fullname)


def _imported(known: dict[str, Known]) -> Iterator[tuple[str, Entry]]:
    """Yield modules of the package that Python's own importer loaded, with the bytecode that it has of them."""
    ours = [name for name in sys.modules if name.startswith(PACKAGE) and name not in known]
    for name in ours:
        spec = sys.modules[name].__spec__
        if name.partition(".")[0] != PACKAGE or spec is None or not spec.origin or not spec.cached:
            continue
        with suppress(OSError):
            state, content = _state(spec.origin), Path(spec.cached).read_bytes()
            if state is not None and content[:HEAD] == _head(*state):
                is_package = spec.submodule_search_locations is not None
                yield name, (spec.origin, state, spec.cached, is_package, content[HEAD:])


def _written(entries: dict[str, Entry]) -> bytes:
    """What a file holds: the length of the index, the index, all code."""
    index: dict[str, Known] = {}
    end = 0
    for name, (source, state, bytecode, is_package, code) in entries.items():
        index[name] = source, state, bytecode, is_package, end, len(code)
        end += len(code)
    head = marshal.dumps((_mark(), index))
    return len(head).to_bytes(LENGTH, "big") + head + b"".join(code for *_, code in entries.values())


def _head(size: int, time: int) -> bytes:
    """How a file of Python's begins that holds the bytecode of a source in this state."""
    numbers = (0, time // 10**9, size)
    return MAGIC_NUMBER + b"".join((number & 0xFFFF_FFFF).to_bytes(4, "little") for number in numbers)


def _state(source: str) -> tuple[int, int] | None:
    """Size in bytes and time of the last change in ns of a source, None where it is gone."""
    try:
        found = os.stat(source)  # noqa: PTH116 - 550 times
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def _is_as_it_was(known: Known) -> bool:
    """Whether the source of a module has not changed since it was kept."""
    return _state(known[0]) == known[1]


def _mark() -> tuple[bytes, int, str, str]:
    """What code is made by and of: Python, whether it drops assertions, the package's release and where it lies."""
    release: str = sys.modules[PACKAGE].__version__
    return MAGIC_NUMBER, sys.flags.optimize, release, str(Path(__file__).parents[1])


def _places() -> Iterator[Path]:
    """Where modules may be kept, the first that can be written."""
    return places(__spec__, f"modules.{sys.implementation.cache_tag}")
