"""Where an export by Spark is written: a folder of this machine that all workers reach, or one of an object store.

What the driver does there itself is little: a manifest is read and written, files are listed, moved and removed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafkatx.sources import places, stores
from kafkatx.terms.errors import OutputError
from kafkatx.terms.records import dataclass

SPARKS = {"s3": "s3a"}
"""Schemes that Hadoop's file systems have another name for."""


@dataclass(frozen=True, slots=True)
class ExportStore:
    """A folder, by the path that is shown. Methods take paths in it, and raise OutputError."""

    path: str

    @classmethod
    def at(cls, url: str) -> ExportStore:
        """Return the folder that a path or a URL means; raises UsageError for one that can't be."""
        return cls(places.normal(places.admitted([url])[0]))

    def for_spark(self, name: str = "") -> str:
        """Return how Spark is given a path: Hadoop takes it letter by letter, and decodes nothing."""
        path = self.shown(name)
        if not places.is_url(path):
            return f"file://{path}"
        scheme, _, rest = path.partition("://")
        return f"{SPARKS.get(scheme, scheme)}://{rest}"

    def shown(self, name: str = "") -> str:
        """Return a path as it is shown, and as this program opens it."""
        return places.joined(self.path, name) if name else self.path

    def read(self, name: str) -> bytes | None:
        """Return what a small file holds, None where there is none."""
        from pyarrow.fs import FileType

        with self._touching(name) as (system, path):
            if system.get_file_info(path).type is not FileType.File:
                return None
            with system.open_input_file(path) as file:
                return bytes(file.read())

    def write(self, name: str, data: bytes) -> None:
        """Write a small file, whole or not at all."""
        draft = f"{name}.new"
        is_here = not places.is_url(self.path)
        with self._touching(draft if is_here else name) as (system, path):
            if is_here:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            with system.open_output_stream(path) as file:
                file.write(data)
        if is_here:
            self.move(draft, name)

    def write_new(self, name: str, data: bytes) -> bool:
        """Write a small file unless there is one; whether it was written. In a store it is looked for, then written."""
        if not places.is_url(self.path):
            with self._touching(name) as (_, path):
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                try:
                    with Path(path).open("xb") as file:
                        file.write(data)
                except FileExistsError:
                    return False
            return True
        if self.has(name):
            return False
        self.write(name, data)
        return True

    def note(self, name: str, value: Any) -> None:
        """Write down what JSON has."""
        self.write(name, json.dumps(value).encode())

    def noted(self, name: str) -> Any:
        """Return what was written down, None where nothing was."""
        data = self.read(name)
        return None if data is None else json.loads(data)

    def files(self, name: str = "") -> dict[str, int]:
        """Return the files below a folder, by their paths in it, with their bytes; none where it is not there."""
        from pyarrow.fs import FileSelector, FileType

        with self._touching(name) as (system, path):
            found = system.get_file_info(FileSelector(path, allow_not_found=True, recursive=True))
        begin = len(path.rstrip("/")) + 1
        return {one.path[begin:]: one.size for one in found if one.type is FileType.File}

    def has(self, name: str) -> bool:
        """Whether there is such a file."""
        from pyarrow.fs import FileType

        with self._touching(name) as (system, path):
            return bool(system.get_file_info(path).type is FileType.File)

    def move(self, name: str, to: str) -> None:
        """Give a file another name; what has it is replaced."""
        with self._touching(to) as (system, path):
            if not places.is_url(self.path):
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            system.move(self._opened(name)[1], path)

    def remove(self, name: str) -> None:
        """Remove a folder with all that it holds, if it is there."""
        from pyarrow.fs import FileType

        with self._touching(name) as (system, path):
            if system.get_file_info(path).type is FileType.Directory:
                system.delete_dir(path)

    def remove_file(self, name: str) -> None:
        """Remove a file."""
        with self._touching(name) as (system, path):
            system.delete_file(path)

    def _opened(self, name: str) -> tuple[Any, str]:
        from pyarrow.fs import LocalFileSystem

        path = self.shown(name)
        return stores.opened(path) if places.is_url(path) else (LocalFileSystem(), path)

    @contextlib.contextmanager
    def _touching(self, name: str) -> Iterator[tuple[Any, str]]:
        try:
            yield self._opened(name)
        except OSError as error:
            raise OutputError(f"{self.shown(name)} could not be written: {error.strerror or error}") from error
