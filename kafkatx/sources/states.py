"""What files looked like when they were met: by that a second look tells whether they are still the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from kafkatx.sources import places, stores
from kafkatx.sources.archives import SEPARATOR, STANDARD_INPUT, mount
from kafkatx.terms.records import dataclass

STEP = 1 << 20
FILES_AT_ONCE = 4
"""Files whose SHA-256 is taken at a time."""


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


def with_sums(states: Iterable[FileState]) -> list[FileState]:
    """Add the SHA-256 of files on this machine; objects in stores, and what can't be read, are known by their times."""
    with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
        return list(pool.map(_with_sum, states))


def _with_sum(state: FileState) -> FileState:
    if state.mtime_ns is None or places.is_url(state.path):
        return state
    try:
        with open(state.path, "rb") as file:  # noqa: PTH123
            return replace(state, sha256=hashlib.file_digest(file, "sha256").hexdigest())
    except OSError:
        return state


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
