"""What files looked like when they were met: by that a second look tells whether they are still the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafkatx.sources import places, stores
from kafkatx.sources.archives import SEPARATOR, STANDARD_INPUT, mount

STEP = 1 << 20


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it is now: size in bytes and time of its last change in nanoseconds, None where it can't be told.

    Standard input has no time; its content is told by its SHA-256.
    """

    path: str
    size: int | None
    mtime_ns: int | None
    sha256: str | None = None


def file_states(paths: Iterable[str]) -> list[FileState]:
    """Look at files, given by paths as they are shown; what lies in an archive is the archive. Each once, by path."""
    looked_at = sorted({_outermost(path) for path in paths})
    stored = _in_stores([path for path in looked_at if places.is_url(path)])
    return [stored[path] if path in stored else _state(path) for path in looked_at]


def _in_stores(paths: list[str]) -> dict[str, FileState]:
    """Look at objects, all that lie together at once."""
    try:
        found = stores.states(paths)
    except OSError:
        found = {}
    there = {path: FileState(path, one.size, one.mtime_ns) for path, one in found.items()}
    return {path: there.get(path, FileState(path, None, None)) for path in paths}


def _outermost(path: str) -> str:
    """The file itself that a path leads to or into; `!/` may also stand in the name of a folder."""
    return path if SEPARATOR not in path or places.exists(path) else path.partition(SEPARATOR)[0]


def _state(path: str) -> FileState:
    try:
        if path == STANDARD_INPUT:
            return _taken_in(Path(mount(path).root))
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return FileState(path, None, None)
    return FileState(path, found.st_size, found.st_mtime_ns)


def _taken_in(root: Path) -> FileState:
    """Standard input: a file, or the folder of an archive that was unpacked."""
    digest, size = hashlib.sha256(), 0
    for file in sorted(root.rglob("*")) if root.is_dir() else [root]:
        digest.update(os.fsencode(file.relative_to(root)) + b"\0")
        for piece in _content(file) if file.is_file() else ():
            digest.update(piece)
            size += len(piece)
    return FileState(STANDARD_INPUT, size, None, digest.hexdigest())


def _content(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while piece := stream.read(STEP):
            yield piece
