"""Lays what is taken into a folder of its own: links to whole files, texts with their secrets hidden, cut logs.

So what will be packed can be diagnosed before it is, and the evidence is only read.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from kafkatx.local.collecting.hiding import without_secrets
from kafkatx.local.collecting.log_lines import Cut, cut_log
from kafkatx.local.collecting.naming import bundle_names, is_packed
from kafkatx.local.collecting.picking import Pick, names_pattern
from kafkatx.local.collecting.subject import Subject
from kafkatx.sources import places
from kafkatx.sources.archives import real_path
from kafkatx.sources.files import OpenFile
from kafkatx.stages.collected import Taken

STEP = 4 << 20
"""Bytes of a text that are held at once."""


def stage(chosen: Iterable[tuple[Pick, Subject]], folder: Path) -> list[Taken]:
    """Lay files into a folder that is empty; returns what lies there. A log without a wanted line is left out."""
    pairs = list(chosen)
    names = bundle_names(pick for pick, _ in pairs)
    found = (_staged(pick, subject, folder / names[pick.path], names[pick.path]) for pick, subject in pairs)
    return [taken for taken in found if taken is not None]


def _staged(pick: Pick, subject: Subject, target: Path, name: str) -> Taken | None:
    target.parent.mkdir(parents=True, exist_ok=True)
    part = None
    if pick.is_cut:
        cut = cut_log(pick.path, _cut_of(pick, subject))
        if not cut.lines:
            return None
        part = cut.part
        target.write_bytes(without_secrets(cut.content))
    elif pick.is_text:
        write_text(pick.path, target, without_secrets)
    else:
        _link(pick.path, target)
    return Taken(pick.why, pick.path, name, target.stat().st_size, part)


def _cut_of(pick: Pick, subject: Subject) -> Cut:
    windows = tuple((since + pick.zone_ms, until + pick.zone_ms) for since, until in subject.windows)
    return Cut(windows, names_pattern(subject.ids), frozenset(subject.cited.get(pick.path, ())))


def _link(path: str, target: Path) -> None:
    """A link to a file of this machine; of others a copy."""
    real = real_path(path)
    if not places.is_url(real) and not is_packed(path):
        target.symlink_to(Path(real).resolve())
        return
    with OpenFile(path) as file, target.open("wb") as copy:
        for at in range(0, file.size, STEP):
            copy.write(file.read(at, STEP))


def write_text(path: str, target: Path, change: Callable[[bytes], bytes]) -> None:
    """Write a text changed, some whole lines at a time; one of two bytes a character is turned into UTF-8."""
    with target.open("wb") as out:
        for piece in _pieces(path):
            out.write(change(piece))


def _pieces(path: str) -> Iterator[bytes]:
    with OpenFile(path) as file:
        if file.read(0, 2) in (b"\xff\xfe", b"\xfe\xff"):
            yield file.read(0, file.size).decode("utf-16", "replace").encode()
            return
        kept = b""
        for at in range(0, file.size, STEP):
            block = kept + file.read(at, STEP)
            end = block.rfind(b"\n") + 1
            yield block[:end]
            kept = block[end:]
        yield kept


def clear(folder: Path) -> None:
    """Take everything out of a folder again."""
    for inner in folder.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner)
        else:
            inner.unlink()
