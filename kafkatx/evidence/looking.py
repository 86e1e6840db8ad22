"""Looks into files while nobody knows yet what belongs together: taken here, or by tasks of an engine.

What captures are joined by is little: ids, first rows, hashes. So an engine that plans in one place and reads in others
has each look taken where files are read, and is told the answer alone. A log is read whole to learn its ids; what was
read of it is kept, and handed over when its capture is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from kafkatx.evidence.item import Item
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from kafkatx.evidence.log_reading import FileFacts

T = TypeVar("T")
R = TypeVar("R")

MOST_KEPT = 256 << 20
"""Bytes of events that are kept of logs before their captures are told; a log beyond them is read again."""


class Looker(Protocol):
    """Looks into files; `lists_in_parts`: many looks at once, so that folders are best listed in parts."""

    @property
    def lists_in_parts(self) -> bool:
        """Whether it looks at many places at once."""

    def each(self, look: Callable[[T], R], values: Sequence[T], size: Callable[[T], int]) -> Iterable[R]:
        """Call a pure function of a module for each of some values; return the answers in their order.

        `size` is about how many bytes it reads for a value.
        """

    def ids(self, logs: Sequence[Item]) -> list[frozenset[str]]:
        """Read logs and files of settings; return the transactional.ids that each names."""


@dataclass(slots=True)
class LooksHere:
    """Looks taken in this process, each when its answer is asked for."""

    lists_in_parts: ClassVar[bool] = False
    _ids: dict[str, frozenset[str]] = field(default_factory=dict)
    _kept: dict[str, FileFacts] = field(default_factory=dict)
    _held: int = 0

    def each(self, look: Callable[[T], R], values: Sequence[T], size: Callable[[T], int]) -> Iterable[R]:
        """Return an iterator that looks."""
        return map(look, values)

    def ids(self, logs: Sequence[Item]) -> list[frozenset[str]]:
        """Read those logs that were not read yet."""
        return [self._ids[item.key] if item.key in self._ids else self._learned(item) for item in logs]

    def log(self, item: Item) -> FileFacts:
        """Hand over what was read of a log, which is not kept any longer; read it where nothing was."""
        kept = self._kept.pop(item.key, None)
        if kept is None:
            return read_log(item)
        self._held -= kept.facts.events.nbytes
        return kept

    def _learned(self, item: Item) -> frozenset[str]:
        read = read_log(item)
        if self._held + read.facts.events.nbytes <= MOST_KEPT:
            self._kept[item.key] = read
            self._held += read.facts.events.nbytes
        return self._ids.setdefault(item.key, read.ids())


def read_log(item: Item) -> FileFacts:
    """Read a log, and what reads them first: who dumps or verifies segments needs none of it."""
    from kafkatx.evidence import log_reading

    return log_reading.read_log(item)


def size_of(item: Item) -> int:
    """Bytes of a file, or of a part of one."""
    return item.size
