"""Where this package keeps files of its own from one run to the next, and how: beside its bytecode, else in a cache.

Where      beside the bytecode of the module that keeps them (`PYTHONPYCACHEPREFIX` leads elsewhere), else in the
           user's cache. From a zip there is no folder of bytecode that can be written to.
How        in one step: whoever reads meanwhile has the old file or the new one, whole. Nobody else may write it.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import BinaryIO


def places(spec: ModuleSpec | None, name: str) -> Iterator[Path]:
    """Where a file may be kept, best first: beside the bytecode of a module, in the user's cache."""
    if spec is not None and spec.cached:
        yield Path(spec.cached).with_name(name)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    with suppress(RuntimeError):  # nobody's home is known
        cache = cache.expanduser()
    if cache.is_absolute():
        yield cache / "kafkatx" / name


def open_trusted(path: Path) -> BinaryIO:
    """Open a file that only those can have written whose code runs here anyway: what is kept in it is run.

    Raises:
        OSError: It is not there, can't be read, or somebody else may write it.
    """
    file = path.open("rb")
    found = os.fstat(file.fileno())
    owners = {0, os.geteuid(), Path(__file__).stat().st_uid}
    if found.st_uid not in owners or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        file.close()
        raise PermissionError(f"{path} may be written by others")
    return file


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in its place in one step; raises OSError where that can't be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident():x}")
    try:
        draft.write_bytes(content)
        draft.chmod(draft.stat().st_mode & ~(stat.S_IWGRP | stat.S_IWOTH))
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
        raise
