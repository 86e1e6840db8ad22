"""Compiled kernels kept on disk from one run to the next as machine code, which runs without numba.

Importing numba takes a third of a second, and loading what its own cache holds as much again and more, since it
restores all that it knew when it compiled. Machine code needs none of that.

Where      NUMBA_CACHE_DIR where that is set, beside this package's bytecode, else in the user's cache. A package in a
           zip keeps nothing: each copy would fill the cache anew.
What       a file for each kernel and kind of arguments. Its name is a digest of all that it was made by: the sources
           of all kernels, numba, llvmlite, numpy, Python, the processor's name and features. The oldest go when there
           are more than MOST of a kernel.
Trust      what is kept is run. So a file is used only if it belongs to whom our own modules belong, to root or to us,
           if nobody else may write it, and if it is whole (SHA-256 in front) and says itself what it is for.
Never less what can't be read is made anew, what can't be written is not kept.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from kafkatx.kernels.native_calls import HEAD, Objects
from kafkatx.terms.kept_files import open_trusted, places, write_whole

FIRST = b"kafkatx kernel 1\n"
MOST = 24
DAMAGED = (EOFError, ValueError, TypeError)
OF_PROCESSOR = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"
HARMLESS = frozenset({*OF_PROCESSOR, "NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER"})
"""Settings of numba beside which what it compiles is what is kept; any other is for who looks into numba itself."""


def is_wanted() -> bool:
    """Whether numba is left to compile as it does, without settings that change what it makes."""
    told = {name for name in os.environ if name.startswith("NUMBA_")}
    return told <= HARMLESS and not Path(".numba_config.yaml").exists()


def kept(name: str, kinds: str) -> Objects | None:
    """What is kept of a kernel for such arguments, None where nothing (of ours) is."""
    key = f"{name} {kinds} {_made_by()}"
    for path in _paths(name, key):
        with suppress(OSError, *DAMAGED):
            with open_trusted(path) as file:
                content = file.read()
            head, digest, body = content[: len(FIRST)], content[len(FIRST) :][:32], content[len(FIRST) + 32 :]
            if head == FIRST and digest == hashlib.sha256(body).digest():
                found, objects = marshal.loads(body)
                if found == key:
                    return Objects(*objects)
    return None


def keep(name: str, kinds: str, objects: Objects) -> None:
    """Write a compiled kernel down for the next run, where that is possible."""
    key = f"{name} {kinds} {_made_by()}"
    body = marshal.dumps((key, tuple(objects)))
    for path in _paths(name, key):
        with suppress(OSError):
            write_whole(path, FIRST + hashlib.sha256(body).digest() + body)
            _thin_out(path.parent, name)
            return


def is_any_kept(name: str) -> bool:
    """Whether something of this release and for this processor is kept of a kernel, whatever its arguments."""
    found = [path.name for folder in _folders() for path in folder.glob(f"{name}-*.kernel")]
    return bool(found) and any(file.startswith(f"{name}-{_made_by()[:16]}-") for file in found)


def _paths(name: str, key: str) -> Iterator[Path]:
    """Where a kernel may be kept, best first."""
    file = f"{name}-{_made_by()[:16]}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.kernel"
    return (folder / file for folder in _folders())


def _folders() -> Iterator[Path]:
    if not Path(__file__).is_file():  # in a zip
        return
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen)
        return
    yield from (place.parent for place in places(__spec__, "kernels"))


def _thin_out(folder: Path, name: str) -> None:
    """Remove the oldest files of a kernel above MOST: of sources, releases and processors that are gone."""
    files = sorted(folder.glob(f"{name}-*.kernel"), key=lambda path: path.stat().st_mtime)
    for path in files[:-MOST]:
        path.unlink()


@cache
def _made_by() -> str:
    """Digest of all that decides what a kernel is compiled to, beside its arguments."""
    import llvmlite
    import llvmlite.binding as llvm

    told = [
        sys.version,
        str(HEAD),
        np.__version__,
        _release_of_numba(),
        llvmlite.__version__,
        llvm.get_process_triple(),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        *(os.environ.get(name, "") for name in OF_PROCESSOR),
        sources(),
    ]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()


def _release_of_numba() -> str:
    """What numba says of its release, read without importing it; nothing where it is not there."""
    found = importlib.util.find_spec("numba")
    if found is None or not found.origin:
        return ""
    return (Path(found.origin).parent / "_version.py").read_text()


@cache
def sources() -> str:
    """Digest of the sources of all kernels: one is compiled with those that it calls."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
