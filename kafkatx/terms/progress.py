"""How far reading is, for whoever watches: which file is next, and how many bytes there are in all.

No reader knows who watches. How far it is within one file is seen where files are read (`observed`, sources/files.py):
reads that go on where the last one ended count, a look at the end of a file doesn't.
"""

from collections.abc import Callable, Iterable
from typing import Protocol, runtime_checkable

Progress = Callable[[str, int], None]
"""Called with a path and its size in bytes before it is read."""


@runtime_checkable
class Expecting(Protocol):
    """A progress that shows a total."""

    def expect(self, size: int) -> None:
        """Learn that so many bytes more are going to be read."""


def expect(progress: Progress | None, sizes: Iterable[int]) -> None:
    """Tell a progress that shows a total the sizes of the files that it will be called with; others are not asked."""
    if isinstance(progress, Expecting):
        progress.expect(sum(sizes))
