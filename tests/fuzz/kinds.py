"""The kinds of trials by name: how a seed is drawn, and what is wrong with a trial."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import directories, exports, mutations, subsets, texts
from tests.fuzz.oracle import Trial, failed


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of trials."""

    drawn: Callable[[int, bool], Trial | None]
    faults: Callable[[Trial, Path], Iterator[str]]


KINDS = {
    "files": Kind(mutations.drawn, mutations.faults),
    "directories": Kind(directories.drawn, directories.faults),
    "texts": Kind(texts.drawn, texts.faults),
    "subsets": Kind(subsets.drawn, subsets.faults),
    "exports": Kind(exports.drawn, exports.faults),
}
_MEMORY = Path("/dev/shm")


def tried(kind: str, trial: Trial) -> list[str]:
    """Run a trial in a folder of its own; an exception is a fault like any other."""
    _ended_on_purpose(trial)
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
        try:
            return list(KINDS[kind].faults(trial, Path(folder)))
        except Exception as error:
            return [failed(error)]


def _ended_on_purpose(trial: Trial) -> None:
    """What a test of the watch asks for: a trial that hangs, one that kills its process."""
    if "sleeps" in trial:
        time.sleep(trial["sleeps"])
    if "kills" in trial:
        os.kill(os.getpid(), trial["kills"])
