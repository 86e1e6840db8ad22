"""Object stores: how each is reached, what lies in it, and its errors in a line.

Table     the ways to the buckets that were given are known to the process by what is shown of them; workers are handed
          them (`ways`, `take`). What was listed is known too, so that a size costs no request.
Listing   one recursive listing of what was given; no request an object.
Names     an object with an empty part, `.` or `..` in its name is listed and never opened: clients on the way
          rewrite such names, and another object would be read.
"""

from __future__ import annotations

import contextlib
import errno
import threading
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from kafkatx.sources.urls import Way, root_of
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass

ELSEWHERE = 'its name has an empty part, "." or "..", and would lead to another object'
LONGEST_REASON = 160
MOST_SILENCES = 4
"""Requests in a row that a store may leave unanswered, each tried again by its client, before it is asked no more."""
NO_ANSWER = "the store can't be reached", "the store does not answer in time"

_REASONS = (
    ("NO_SUCH_BUCKET", "no such bucket"),
    ("NO_SUCH_KEY", "no such object"),
    ("ACCESS_DENIED", "access denied: the credentials, or the lack of them, do not allow it"),
    ("INVALID_ACCESS_KEY_ID", "the store does not know the access key"),
    ("SIGNATURE_DOES_NOT_MATCH", "the store does not accept the secret key"),
    ("EXPIRED_TOKEN", "the credentials have expired"),
    ("curlCode: 18", "the store sent less than it had announced"),
    ("REQUEST_TIMEOUT", NO_ANSWER[1]),
    ("curlCode: 28", NO_ANSWER[1]),
    ("NETWORK_CONNECTION", NO_ANSWER[0]),
    ("INTERNAL_FAILURE", "the store failed, or the object changed or went meanwhile"),
    ("HTTP status 5", "the store failed"),
)


@dataclass(frozen=True, slots=True)
class Listed:
    """An object: size in bytes and time of its last change in nanoseconds, None where the store does not say."""

    size: int
    mtime_ns: int | None


@dataclass(slots=True)
class _Table:
    """What this process knows: ways and file systems by bucket, objects by path, and what lies below listed places."""

    ways: dict[str, Way] = field(default_factory=dict)
    systems: dict[str, tuple[Any, str]] = field(default_factory=dict)
    objects: dict[str, Listed] = field(default_factory=dict)
    looked: dict[str, list[str]] = field(default_factory=dict)
    silent: dict[str, int] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def set(self, way: Way) -> None:
        """Reach a bucket in this way from now on; what was known of it by another one is forgotten."""
        with self.lock:
            if self.ways.get(way.shown) != way:
                for place in [place for place in self.looked if is_below(place, way.shown)]:
                    self.forget(place)
                self.systems.pop(way.shown, None)
                self.ways[way.shown] = way

    def forget(self, place: str) -> None:
        """Forget what was listed of a place."""
        for path in (place, *self.looked.pop(place, ())):
            self.objects.pop(path, None)


_TABLE = _Table()


def is_below(path: str, place: str) -> bool:
    """Whether a path is a place or lies in it."""
    return path.startswith(place) and path[len(place) : len(place) + 1] in ("", "/")


def admit(given: Iterable[Way]) -> None:
    """Take up the ways of a call; a bucket by its name alone is reached as before, if it was.

    Raises UsageError where one bucket is given in two ways.
    """
    told: dict[str, Way] = {}
    for way in given:
        if way.is_told and told.setdefault(way.shown, way) != way:
            raise UsageError(f"{way.shown} is given with two different credentials or endpoints; give the same in all")
        if way.is_told or way.shown not in _TABLE.ways:
            _TABLE.set(way)


def ways() -> tuple[Way, ...]:
    """Return how the buckets of this process are reached, for a worker; never to be shown."""
    return tuple(_TABLE.ways.values())


def take(given: Iterable[Way]) -> None:
    """Reach buckets as the process does that handed over its `ways`."""
    for way in given:
        _TABLE.set(way)
    _TABLE.silent.clear()


def opened(path: str) -> tuple[Any, str]:
    """Return the file system of a path and the path in it; raises OSError, also for a name that is not safe."""
    root = root_of(path)
    key = path[len(root) + 1 :]
    if any(part in ("", ".", "..") for part in key.split("/")) and key:
        raise OSError(errno.EINVAL, ELSEWHERE, path)
    system, base = _system(root)
    return system, f"{base}{key}"


def look(path: str) -> tuple[bool, bool]:
    """Ask the store for a path and all that lies below it; returns whether it is an object, and whether a folder.

    Raises OSError where the store does not tell.
    """
    _TABLE.silent.pop(root_of(path), None)
    found = listing(path)
    with _TABLE.lock:
        _TABLE.forget(path)
        _TABLE.objects.update(found)
        _TABLE.looked[path] = [one for one in found if one != path]
    return path in found, bool(_TABLE.looked[path])


def listing(path: str) -> dict[str, Listed]:
    """Return the object of a path, if there is one, and those below it, in order; raises OSError."""
    from pyarrow.fs import FileSelector, FileType

    system, inner = opened(path)
    root = root_of(path)
    base = len(_system(root)[1])
    with told_as(path):
        itself = system.get_file_info(inner.rstrip("/") or inner)
        infos = [itself] if itself.type == FileType.File else []
        if itself.type != FileType.NotFound:
            with contextlib.suppress(NotADirectoryError):
                infos += system.get_file_info(FileSelector(inner, allow_not_found=True, recursive=True))
    files = sorted((info.path, info.size or 0, info.mtime_ns) for info in infos if info.type == FileType.File)
    return {f"{root}/{name[base:]}": Listed(size, mtime) for name, size, mtime in files}


def is_folder(path: str) -> bool:
    """Whether objects lie below a path; raises OSError."""
    return bool(_TABLE.looked[path]) if path in _TABLE.looked else look(path)[1]


def known(path: str) -> Listed | None:
    """Return what was listed of an object, else ask for it; None where there is none. Raises OSError."""
    from pyarrow.fs import FileType

    if path in _TABLE.objects or _was_listed(path):
        return _TABLE.objects.get(path)
    system, inner = opened(path)
    with told_as(path):
        info = system.get_file_info(inner)
    return Listed(info.size or 0, info.mtime_ns) if info.type == FileType.File else None


def known_size(path: str) -> int:
    """Return the bytes of an object, as they were listed; raises OSError, also for a name that is not safe."""
    opened(path)
    found = known(path)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "no such object", path)
    return found.size


def version(path: str) -> tuple[Way | None, Listed | None]:
    """Return how an object is reached and what was listed of it, None where nothing was: another one has another."""
    return _TABLE.ways.get(root_of(path)), _TABLE.objects.get(path)


def below(path: str) -> list[str]:
    """Return the objects that were listed below a path."""
    return _TABLE.looked.get(path, [])


def answers(path: str) -> bool:
    """Whether there is an object or a folder of this path, asked now; raises OSError."""
    from pyarrow.fs import FileType

    system, inner = opened(path)
    with told_as(path):
        return bool(system.get_file_info(inner.rstrip("/") or inner).type != FileType.NotFound)


def states(paths: Iterable[str]) -> dict[str, Listed]:
    """Return objects as they are now, by path: listed once for all that were looked at together; raises OSError."""
    wanted, found = set(paths), dict[str, Listed]()
    for place in [*_TABLE.looked]:
        if any(is_below(path, place) for path in wanted - found.keys()):
            found.update(listing(place))
    return {path: one for path in wanted if (one := found.get(path)) is not None}


def _was_listed(path: str) -> bool:
    return any(is_below(path, place) for place in _TABLE.looked)


def _system(root: str) -> tuple[Any, str]:
    """The file system of a bucket, and what its paths begin with."""
    with _TABLE.lock:
        if root not in _TABLE.systems:
            from pyarrow.fs import FileSystem

            with told_as(root):
                system, base = FileSystem.from_uri(_TABLE.ways.get(root, Way(root, f"{root}/")).uri)
            _TABLE.systems[root] = system, f"{base.rstrip('/')}/" if base else ""
        return _TABLE.systems[root]


@contextlib.contextmanager
def told_as(path: str) -> Iterator[None]:
    """Turn what Arrow raises into OSError with a reason that can be shown; `path` as it is shown."""
    root = root_of(path)
    if _TABLE.silent.get(root, 0) >= MOST_SILENCES:
        raise OSError(errno.EIO, NO_ANSWER[0], path)
    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "no such object", path) from None
    except (OSError, ValueError, NotImplementedError) as error:
        reason = _reason(str(error), path)
        _TABLE.silent[root] = _TABLE.silent.get(root, 0) + 1 if reason in NO_ANSWER else 0
        raise OSError(errno.EIO, reason, path) from None
    _TABLE.silent.pop(root, None)


def _reason(text: str, path: str) -> str:
    """What an error of a store means, in a line without secrets."""
    for mark, reason in _REASONS:
        if mark in text:
            return reason
    way = _TABLE.ways.get(root_of(path))
    first = next(iter(text.splitlines()), "")
    shown = way.hide(first) if way is not None else first
    return f"the store can't be read: {shown[:LONGEST_REASON]}"
