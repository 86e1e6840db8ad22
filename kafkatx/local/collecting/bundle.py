"""Packs a folder into a .tgz: the same bytes for the same files, whole or not at all, with a list of their hashes."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
from collections.abc import Iterable
from pathlib import Path

from kafkatx.terms.errors import OutputError

TOP = "evidence"
"""The folder that everything lies in when the bundle is unpacked."""
MANIFEST = "MANIFEST"
FIXED_TIME = 315_532_800
"""Time of all files in a bundle: 1980-01-01, the first that every tool takes."""


def write_bundle(folder: Path, target: Path, about: Iterable[str]) -> None:
    """Pack what lies below a folder; raises OutputError.

    `about` are the first lines of the MANIFEST; a line for each file follows, as `sha256sum --check` reads them.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=FIXED_TIME) as packed:
            _pack(folder, packed, about)
        draft.replace(target)
    except OSError as error:
        raise OutputError(f"{target} could not be written: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _pack(folder: Path, packed: gzip.GzipFile, about: Iterable[str]) -> None:
    files = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT, dereference=True) as archive:
        lines = [f"# {line}" for line in about]
        for name, path in files:
            with path.open("rb") as content:
                lines.append(f"{hashlib.file_digest(content, 'sha256').hexdigest()}  {name}")
        _add_bytes(archive, MANIFEST, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))
        for name, path in files:
            entry = _entry(name, path.stat().st_size)
            with path.open("rb") as content:
                archive.addfile(entry, content)


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    import io

    archive.addfile(_entry(name, len(content)), io.BytesIO(content))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(f"{TOP}/{name}")
    entry.size, entry.mode, entry.mtime = size, 0o644, FIXED_TIME
    return entry


def write_private(target: Path, content: str) -> None:
    """Write a file that only its owner may read, whole or not at all; raises OutputError."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(content)
        draft.replace(target)
    except OSError as error:
        raise OutputError(f"{target} could not be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
