"""The folder that an export becomes: what may lie there, and what of it may be added to or replaced.

Only what an export wrote is ever moved: a folder with anything else in it is refused, whatever the options say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path

from kafkatx.stages.disk import writing
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS, Manifest, read_manifest
from kafkatx.terms.errors import UsageError


class TargetState(Enum):
    """What lies at the target: nothing, an export to add to or to replace, one that has this run, whole or nearly."""

    nothing = auto()
    appendable = auto()
    replaceable = auto()
    known = auto()
    almost_finished = auto()


def look_at(target: Path, run_id: str, overwrite: bool) -> TargetState:
    """Say what lies at the target; raises UsageError where it is nothing that this export may take the place of."""
    if not os.path.lexists(target):
        return TargetState.nothing
    if not target.is_dir():
        raise UsageError(f"{target} is no folder; give --out a folder that does not exist yet")
    with writing(target):
        is_empty = next(target.iterdir(), None) is None
    if is_empty:
        return TargetState.nothing
    manifest = read_manifest(target)
    if manifest is None:
        raise UsageError(f"{target} exists and is no export of kafkatx; give --out a folder that does not exist yet")
    if any(run.recipe.get("options", {}).get("format") is not None for run in manifest.runs):
        raise UsageError(
            f"{target} was exported by Spark, which lays tables by cluster and day: add to it with --engine spark, "
            "or give --out a folder that does not exist yet"
        )
    is_known = manifest.is_complete and manifest.run(run_id) is not None
    if is_known and not (target / SUCCESS).exists():
        return TargetState.almost_finished
    if is_known and not overwrite:
        return TargetState.known
    strange = next(strange_files(target, manifest), None)
    if strange is not None:
        aim = "overwrite" if overwrite else "add to it"
        raise UsageError(f"{target} holds what is not of the export, like {strange}; move it away to {aim}")
    return TargetState.replaceable if overwrite else TargetState.appendable


def strange_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield names of what lies in a folder and is not of the export whose manifest it holds."""
    own = {MANIFEST, SUCCESS, *manifest.files()}
    folders = {name.partition("/")[0] for name in manifest.files()}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if name not in (folders if is_folder else own):
            yield name
