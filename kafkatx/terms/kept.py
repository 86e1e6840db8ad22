"""What is made of the package alone and costs something to make: kept on disk from one run to the next as bytecode is.

Where      beside this module's bytecode, else in the user's cache; under Python's own rules for bytecode: where none is
           written (`-B`) nothing is kept, `PYTHONPYCACHEPREFIX` leads elsewhere.
What       plain data by keys, in a file a kind, with a mark of what they were made of and by; of another mark nothing
           is taken.
Never less what can't be read or written, or is damaged, is made as ever.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from kafkatx.terms.kept_files import places, write_whole

DAMAGED = (EOFError, ValueError, TypeError, RuntimeError, OverflowError, AttributeError)
"""What may be raised where a file, or what is in it, is none of ours."""
Key = TypeVar("Key")
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """What was kept of one kind, and what came to it in this process."""

    def __init__(self, name: str, mark: Callable[[], Any], most: int) -> None:
        """Take the name of the file, what tells of what its content is (None: nobody knows), and how much is kept."""
        self.new: dict[Key, Value] = {}
        self._name, self._mark, self._most = name, mark, most
        self._known: dict[Key, Value] | None = None
        _KINDS.append(self)

    @property
    def known(self) -> dict[Key, Value]:
        """What was kept by runs before; read when first asked for."""
        if self._known is None:
            self._known = {}
            for path in _places(self._name):
                with suppress(OSError, *DAMAGED):
                    mark, found = marshal.loads(path.read_bytes())
                    self._known = (found if mark == self._mark() else {}) | self._known
        return self._known

    def keep(self) -> None:
        """Write down what is new, where bytecode may be written, for the next run."""
        if not self.new or sys.dont_write_bytecode or len(self.known) + len(self.new) > self._most:
            return
        content = marshal.dumps((self._mark(), self.known | self.new))
        self.new = {}
        for path in _places(self._name):
            with suppress(OSError):
                write_whole(path, content)
                return


_KINDS: list[Kept[Any, Any]] = []


def keep_all() -> None:
    """Write down what is new of every kind that this process has made use of."""
    for kind in _KINDS:
        kind.keep()


def _places(name: str) -> Iterator[Path]:
    """Where a kind may be kept, the first that can be written."""
    return places(__spec__, f"{name}.{sys.implementation.cache_tag}")
