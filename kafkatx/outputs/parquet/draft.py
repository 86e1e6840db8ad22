"""The folder in which an export grows, `.NAME.partial` beside the target, and how it becomes the target.

Killed   at whatever moment, the target is what it was, or whole; the folder stays, and the same command goes on in it.
Order    a table's files are on disk before the manifest names them, all tables before the folder gets its name, and
         `_SUCCESS` is the last file written.
Runs     files are never changed once written: those of earlier runs are in the new folder by their names (hard links;
         copies, where a file system has none), and the two folders change names in one step.
Alone    one process writes to it; the lock goes with the process.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from kafkatx.outputs.parquet.exchange import aside, exchange
from kafkatx.outputs.parquet.target import TargetState, look_at
from kafkatx.stages.disk import sync_folder, write_whole, writing
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS, Manifest, Run, TableFile, read_manifest
from kafkatx.terms.errors import OutputError, UsageError

RUNS = "_runs"
"""Folder of the runs of the table that is being sorted."""


class ExportDraft:
    """A run of an export that is being written. Use `drafted`."""

    def __init__(self, folder: Path, target: Path, run: Run) -> None:
        self.folder, self.target, self.run = folder, target, run

    @classmethod
    def begun(cls, folder: Path, target: Path, run: Run) -> Self:
        """Take over what lies in the folder if it is of the same run, else begin anew; raises OutputError."""
        found = read_manifest(folder)
        before = found.run(run.run_id) if found else None
        draft = cls(folder, target, run)
        with writing(folder):
            if before is not None:
                run.exported_at = before.exported_at
                run.tables |= {name: parts for name, parts in before.tables.items() if draft._has(name, parts)}
            elif found is None and any(path.name != f"{MANIFEST}.new" for path in folder.iterdir()):
                raise UsageError(f"{folder} is in the way and not of kafkatx; move it away")
            draft._write_manifest(Manifest([run]))
            draft._clear()
        return draft

    def table(self, name: str) -> tuple[Path, Path]:
        """Make room for a table; returns the folder of its files and the folder of its runs."""
        made = self.folder / name, self.folder / RUNS
        with writing(self.folder):
            for folder in made:
                _remove(folder)
                folder.mkdir()
        return made

    def note(self, name: str, parts: list[TableFile]) -> None:
        """Note that a table is written, its files on disk."""
        with writing(self.folder):
            _remove(self.folder / RUNS)
            sync_folder(self.folder)
            self.run.tables[name] = parts
            self._write_manifest(Manifest([self.run]))

    def finish(self, overwrite: bool) -> Manifest:
        """Give the folder its name, with the runs that lie there; raises UsageError where something else came there."""
        found = look_at(self.target, self.run.run_id, overwrite)
        manifest = Manifest([self.run])
        with writing(self.target):
            if found is TargetState.appendable:
                manifest = self._with_earlier(read_manifest(self.target) or Manifest())
            if found is TargetState.nothing:
                self.folder.rename(self.target)
            else:
                exchange(self.target, self.folder)
            sync_folder(self.target.parent)
            _succeed(self.target, self.folder)
        return manifest

    def _with_earlier(self, earlier: Manifest) -> Manifest:
        """Take in the files of earlier runs: from now on the folder is the whole export, finished."""
        for name in earlier.files():
            _link(self.target / name, self.folder / name)
        for folder in {(self.folder / name).parent for name in earlier.files()}:
            sync_folder(folder)
        manifest = Manifest([*earlier.runs, self.run])
        self._write_manifest(manifest)
        (self.folder / SUCCESS).touch()
        sync_folder(self.folder)
        return manifest

    def _has(self, name: str, parts: list[TableFile]) -> bool:
        """Whether the files of a table are there."""
        paths = [(self.folder / name / part.name, part.bytes) for part in parts]
        return all(path.is_file() and path.stat().st_size == size for path, size in paths)

    def _clear(self) -> None:
        """Remove what no finished table of this run owns."""
        own = {self.folder / name for name in self.run.files()}
        for path in self.folder.iterdir():
            if path.name in self.run.tables:
                for file in {*path.iterdir()} - own:
                    _remove(file)
            elif path.name != MANIFEST:
                _remove(path)

    def _write_manifest(self, manifest: Manifest) -> None:
        write_whole(self.folder / MANIFEST, manifest.to_json())


@contextlib.contextmanager
def drafted(target: Path, run: Run) -> Iterator[ExportDraft]:
    """Open the draft of a run, which no other process writes to meanwhile.

    Raises:
        OutputError: the folder can't be made, or another process writes to it.
        UsageError: something that is not ours has its name.
    """
    with _locked(_beside(target), target) as folder:
        yield ExportDraft.begun(folder, target, run)


def recover(target: Path) -> None:
    """Finish what a run that was killed left: what it replaced goes; what it was about to replace gets its name again.

    Raises OutputError.
    """
    before, beside = aside(_beside(target)), read_manifest(_beside(target))
    there = read_manifest(target) if beside is not None else None
    if there is not None and beside is not None and all(there.run(run.run_id) for run in beside.runs):
        with _locked(_beside(target), target) as folder, writing(target):
            _succeed(target, folder)
    elif not os.path.lexists(target) and read_manifest(before) is not None:
        with _locked(_beside(target), target), writing(target):
            before.rename(target)


def forget_empty(target: Path) -> None:
    """Remove the folder in which exports grow where a run was killed right before it did."""
    with contextlib.suppress(OSError):
        _beside(target).rmdir()


def finish_last(target: Path) -> None:
    """Finish an export of which only the last file is missing; raises OutputError."""
    with _locked(_beside(target), target) as folder, writing(target):
        _succeed(target, folder)


def _beside(target: Path) -> Path:
    return target.with_name(f".{target.name}.partial")


def _succeed(target: Path, replaced: Path) -> None:
    """Write the last file: from now on the export is finished. Then what it replaced goes."""
    (target / SUCCESS).touch()
    sync_folder(target)
    for folder in (replaced, aside(replaced)):
        if read_manifest(folder) or (folder.is_dir() and not any(folder.iterdir())):
            _remove_export(folder)


def _remove_export(folder: Path) -> None:
    """Remove an export, what says that it is one last: cut short, this can be done again."""
    (folder / SUCCESS).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name != MANIFEST:
            _remove(path)
    shutil.rmtree(folder)


@contextlib.contextmanager
def _locked(folder: Path, target: Path) -> Iterator[Path]:
    """Make a folder if need be, and keep other processes out of it."""
    if folder.is_symlink():
        raise UsageError(f"{folder} is in the way and not of kafkatx; move it away")
    with writing(target):
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor, folder)
        yield folder
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    """Lock the folder, if the file system has locks; raises OutputError where another process has it."""
    busy = OutputError(f"another export writes to {folder}; wait for its end, or give --out another folder")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise busy from error
    if _renamed(descriptor, folder):
        raise busy


def _renamed(descriptor: int, folder: Path) -> bool:
    """Whether the folder got another name before it was locked: the other process has just finished."""
    try:
        return not os.path.samestat(os.fstat(descriptor), folder.stat())
    except OSError:
        return True


def _link(path: Path, name: Path) -> None:
    """Give a file another name; where the file system can't, copy it."""
    name.parent.mkdir(exist_ok=True)
    name.unlink(missing_ok=True)
    try:
        name.hardlink_to(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EACCES, errno.EROFS, errno.ENOSPC):
            raise
        shutil.copyfile(path, name)


def _remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
