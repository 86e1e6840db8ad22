"""Places: paths of this machine and URLs of stores by the same functions, so that nobody else asks which it is.

A URL goes through no `pathlib` and no `os.path`, which would take two slashes for one.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from kafkatx.sources import stores
from kafkatx.sources.said import again, said
from kafkatx.sources.urls import is_url, resolved, root_of

__all__ = ["is_url"]

T = TypeVar("T")

ROOT_ALONE = ""
NO_NAME = ("", ".")
"""Last components that are no names: those of this machine's paths are left out."""


def admitted(paths: Iterable[str | Path]) -> list[str]:
    """Return paths as they are shown, in their order, each with what is said of it.

    What it takes to open URLs is known from now on.

    Raises UsageError for a URL that can't be read, or one bucket given in two ways; no secret is in its text.
    """
    given = [said(str(path)) for path in paths]
    found = [resolved(path) for _, path in given]
    stores.admit(way for _, way in found if way is not None)
    return [again(words, path) for (words, _), (path, _) in zip(given, found, strict=True)]


def shown(path: str) -> str:
    """Return a path as it is shown; raises UsageError for a URL that can't be read."""
    return resolved(path)[0]


def name(path: str) -> str:
    """Last component."""
    last = path.rpartition("/")[2]
    return last if last not in NO_NAME or is_url(path) else Path(path).name


def parent(path: str) -> str:
    """The folder that holds a place, relative where the path is; that of a bucket is itself."""
    if is_url(path):
        return root_of(path) if len(path) <= len(root_of(path)) else path.rpartition("/")[0]
    folder, last = os.path.split(path)
    return _spelled(folder) if last not in NO_NAME else str(Path(path).parent)


@lru_cache(maxsize=1024)
def _spelled(folder: str) -> str:
    """A path of this machine as `pathlib` spells it; many files lie in one folder."""
    return str(Path(folder))


def absolute(path: str) -> str:
    """The path from the root; links stay what they are."""
    return path if is_url(path) else str(Path(path).absolute())


def normal(path: str) -> str:
    """The absolute path without `.` and `..`; links stay what they are."""
    return path if is_url(path) else os.path.abspath(path)  # noqa: PTH100 (resolve follows links)


def folder_name(path: str) -> str:
    """Name of the folder that holds a place."""
    return name(parent(path if path.startswith("/") else absolute(path)))


def joined(folder: str, inner: str) -> str:
    """The path of something in a folder."""
    return f"{folder}/{inner}" if is_url(folder) else os.path.join(folder, inner)  # noqa: PTH118 (there are a million)


def identity(path: str) -> str:
    """The path that a place has, however it was come to: links are followed."""
    return path if is_url(path) else os.path.realpath(path)


def identities() -> Callable[[str], str]:
    """Return what tells identities of many places: links of a folder are followed once for all in it."""
    folders: dict[str, str] = {}

    def told(path: str) -> str:
        if is_url(path):
            return path
        folder, last = os.path.split(path)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder)
        whole = os.path.join(folders[folder], last)  # noqa: PTH118 (there are a million)
        return os.path.realpath(whole) if os.path.islink(whole) or last in (*NO_NAME, "..") else whole  # noqa: PTH114

    return told


def parts(path: str) -> tuple[str, ...]:
    """The components of the absolute path, of a URL the bucket first."""
    if not is_url(path):
        return Path(path).absolute().parts
    root = root_of(path)
    return (root, *filter(None, path[len(root) :].split("/")))


def is_within(path: str, folder: str) -> bool:
    """Whether a place is a folder or lies in it, by their paths."""
    outer = parts(folder)
    return parts(path)[: len(outer)] == outer


def exists(path: str) -> bool:
    """Whether something has this path, also a link that leads nowhere; raises OSError where a store does not tell."""
    if not is_url(path):
        return os.path.lexists(path)
    return stores.known(path) is not None


def beside(path: str, suffix: str) -> str:
    """The path of the file that is called alike but for what stands behind the last dot."""
    return f"{path.rpartition('.')[0]}{suffix}"


def is_there(path: str) -> bool:
    """Whether something has a path that was given; a store is asked now. Raises OSError where it does not tell."""
    return stores.answers(path) if is_url(path) else os.path.lexists(path)


def is_folder(path: str, anew: bool = False) -> bool:
    """Whether it is a folder; a store is asked once, or `anew`. Raises OSError where it does not tell."""
    if not is_url(path):
        return Path(path).is_dir()
    return stores.look(path)[1] if anew else stores.is_folder(path)


def is_file(path: str) -> bool:
    """Whether it is a regular file, or an object; raises OSError where a store does not tell."""
    return stores.known(path) is not None if is_url(path) else Path(path).is_file()


def size_of_file(path: str) -> int | None:
    """Bytes of a regular file, or of an object; None of what is none. Raises OSError."""
    if is_url(path):
        found = size(path)
        return found if is_file(path) else None
    known = os.stat(path)  # noqa: PTH116 (there are a million)
    return known.st_size if stat.S_ISREG(known.st_mode) else None


def size(path: str) -> int:
    """Bytes of a file; raises OSError."""
    if not is_url(path):
        return Path(path).stat().st_size
    return stores.known_size(path)


def stream(path: str) -> BinaryIO:
    """Open a file as one of Python, for reading; raises OSError."""
    if not is_url(path):
        return Path(path).open("rb")
    from kafkatx.sources.objects import StoredStream

    return cast(BinaryIO, io.BufferedReader(StoredStream(path)))


def prepared(root: str, files: Iterable[tuple[str, T]]) -> Iterable[tuple[str, T]]:
    """Yield files below a place, each a path and something; they are opened next: a store is asked for some at once."""
    if not is_url(root):
        return files
    from kafkatx.sources.objects import prepare

    return prepare(files)


def folders_below(root: str, refused: list[OSError], part: str | None = None) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder with the names of its files, in order; those that can't be read are told in `refused`.

    Each folder is entered once, so a loop of links can't trap the walk. A store is asked once for all. `part` is the
    name of a folder in it to which, or ROOT_ALONE where to the root itself, the walk is limited: all parts together
    yield what a whole walk does.
    """
    if is_url(root):
        yield from _in_store(root)
        return
    entered = {os.path.realpath(root)}
    for folder, folders, names in os.walk(root, onerror=refused.append, followlinks=True):
        folders[:] = [name for name in sorted(folders) if _enter(os.path.join(folder, name), entered)]  # noqa: PTH118
        if part is not None and folder == root:
            folders[:] = [name for name in folders if name == part]
            if part != ROOT_ALONE:
                continue
        yield folder, sorted(names)


def parts_below(root: str) -> list[str]:
    """Return the parts of a folder that can be walked each by itself, in order; none in a store, which lists all."""
    if is_url(root):
        return []
    with os.scandir(root) as entries:
        return [ROOT_ALONE, *sorted(entry.name for entry in entries if entry.is_dir())]


def _in_store(root: str) -> Iterator[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for path in stores.below(root):
        found.setdefault(parent(path), []).append(name(path))
    yield from sorted(found.items())


def _enter(folder: str, entered: set[str]) -> bool:
    """Whether a folder was not entered yet; it is from now on."""
    real = os.path.realpath(folder)
    known = len(entered)
    entered.add(real)
    return len(entered) > known
