"""Archives, compressed files and standard input, as places whose files can be opened by the path that is shown.

Paths     a file in an archive is `bundle.tgz!/inner/path`, one in an archive in it `bundle.tgz!/more.zip!/path`; a
          compressed file keeps its own path (`server.log.gz`), standard input is `-` (`-!/path` inside an archive).
Table     what was unpacked is known to the process by those paths. A path that is not known is unpacked when it is
          opened, so another process can open it as well (standard input can be read once only, by the first).
Folder    everything lies in one temporary folder, which goes when the process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from dataclasses import field, replace
from pathlib import Path
from typing import BinaryIO

from kafkatx.sources import places
from kafkatx.sources.packing import STEP, Damaged, Packing, compression_of, packing_of
from kafkatx.sources.unpacking import SINGLE, Allowance, Limits, TooLarge, Unpacking, unpack
from kafkatx.terms.records import dataclass

SEPARATOR = "!/"
STANDARD_INPUT = "-"
DEEPEST = 3
"""Archives inside each other: one, and two levels in it."""


@dataclass(frozen=True, slots=True)
class Mounted:
    """Something unpacked: the path that is shown, where it lies, whether it is one file, what is not there and why."""

    path: str
    root: str
    is_file: bool
    problems: tuple[str, ...] = ()

    def display(self, real: str) -> str:
        """Return the path to show for a file below `root`."""
        inner = os.path.relpath(real, self.root)
        return self.path if self.is_file or inner == "." else f"{self.path}{SEPARATOR}{inner}"


@dataclass(slots=True)
class _Table:
    """What this process has unpacked, by the path that is shown. `owner` is the process that made the folder."""

    mounts: dict[str, Mounted] = field(default_factory=dict)
    folder: str | None = None
    owner: int = 0
    used: int = 0
    lock: threading.RLock = field(default_factory=threading.RLock)

    def new_folder(self) -> Path:
        """An empty folder of its own for something unpacked."""
        import tempfile

        if self.folder is None or self.owner != os.getpid():
            self.folder, self.owner = tempfile.mkdtemp(prefix="kafkatx-"), os.getpid()
        return Path(tempfile.mkdtemp(dir=self.folder))

    def remove(self) -> None:
        """Forget everything; the folder goes, unless another process made it."""
        if self.folder is not None and self.owner == os.getpid():
            shutil.rmtree(self.folder, ignore_errors=True)
        self.mounts, self.folder, self.used = {}, None, 0


_TABLE = _Table()
atexit.register(_TABLE.remove)


@contextlib.contextmanager
def unpacked_places() -> Iterator[None]:
    """Remove what was unpacked at the end of a block, instead of at the end of the process."""
    try:
        yield
    finally:
        _TABLE.remove()


def packing(path: str) -> Packing | None:
    """Tell how a file is packed, by its content; None for one that is not, or that is a program or a document.

    Args:
        path: a path as it is shown; raises OSError where it can't be read.
    """
    with places.stream(packed_path(path)) as file:
        return packing_of(file)


def mount(path: str, limits: Limits | None = None) -> Mounted:
    """Unpack an archive, a compressed file, or take in standard input (`-`); a second time nothing is done.

    Args:
        path: a path as it is shown; raises OSError where it can't be read, or where the disk takes nothing.
        limits: what may be unpacked, over all that this process unpacks.

    Returns:
        where it lies. A file that is not packed is its own root.
    """
    with _TABLE.lock:
        if path not in _TABLE.mounts:
            _TABLE.mounts[path] = _mounted(path, limits or Limits())
        return _TABLE.mounts[path]


def real_path(path: str) -> str:
    """Return the path at which a shown path can be opened: itself, but for what lies in an archive or was unpacked.

    What is not unpacked yet is unpacked; raises nothing but for what that raises. Of a compressed file that nobody
    mounted this is the compressed file.
    """
    if (known := _TABLE.mounts.get(path)) is not None:
        return known.root
    if path == STANDARD_INPUT:
        return mount(path).root
    outer, separator, inner = path.rpartition(SEPARATOR)
    known = _TABLE.mounts.get(outer)
    if known is None:
        if not separator or places.exists(path) or not places.is_file(real_path(outer)):
            return path
        known = mount(outer)
    return path if known.is_file else str(Path(known.root, inner))


def packed_path(path: str) -> str:
    """Return where a shown path lies as it is packed, also when it was unpacked already; raises as `real_path` does."""
    if path == STANDARD_INPUT or path not in _TABLE.mounts:
        return real_path(path)
    outer, separator, inner = path.rpartition(SEPARATOR)
    return str(Path(real_path(outer), inner)) if separator and not places.exists(path) else path


def real_path_of_content(path: str, head: bytes) -> str | None:
    """Return where the content of a compressed file lies, unpacked now if need be; None for a file that is none.

    Args:
        path: the path as it is shown.
        head: the first bytes of the file, LONGEST_MAGIC of them if it has so many.
    """
    if path in _TABLE.mounts or compression_of(head) is None or packing(path) is not Packing.COMPRESSED:
        return None
    return mount(path).root


def _mounted(path: str, limits: Limits) -> Mounted:
    if path == STANDARD_INPUT:
        return _standard_input(limits)
    if path.count(SEPARATOR) >= DEEPEST:
        return Mounted(path, str(_TABLE.new_folder()), False, ("left out: archives inside archives go too deep",))
    kind = packing(path)
    return Mounted(path, real_path(path), True) if kind is None else _unpacked(path, real_path(path), kind, limits)


def _unpacked(path: str, real: str, kind: Packing, limits: Limits) -> Mounted:
    folder = _TABLE.new_folder()
    written, problems = unpack(real, kind, folder, replace(limits, total=limits.total - _TABLE.used))
    _TABLE.used += written
    single = folder / SINGLE
    if kind is Packing.COMPRESSED:
        single.touch()
        return Mounted(path, str(single), True, tuple(problems))
    return Mounted(path, str(folder), False, tuple(problems))


def _standard_input(limits: Limits) -> Mounted:
    """Keep standard input as a file, and unpack that if it is packed."""
    folder = _TABLE.new_folder()
    free = shutil.disk_usage(folder).free - limits.reserve
    most = replace(limits, smallest=limits.total)
    unpacking = Unpacking(folder, Allowance(most, 0, True, free))
    try:
        unpacking.write(SINGLE, _pieces(sys.stdin.buffer))
    except TooLarge as error:
        unpacking.note(f"stopped: {error}; what came before is read")
    except Damaged as error:
        unpacking.note(f"damaged: {error}")
    real = folder / SINGLE
    real.touch()
    with real.open("rb") as file:
        kind = packing_of(file)
    if kind is None:
        return Mounted(STANDARD_INPUT, str(real), True, tuple(unpacking.problems))
    found = _unpacked(STANDARD_INPUT, str(real), kind, limits)
    return replace(found, problems=(*unpacking.problems, *found.problems))


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(STEP):
        yield piece
