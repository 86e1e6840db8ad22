"""The folder that an export becomes: what may lie there, and what of it may be replaced.

Only what an export wrote is ever replaced: a folder with anything else in it is refused, whatever the options say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from typing import Any

from kafkatx.outputs.parquet.disk import writing
from kafkatx.outputs.parquet.manifest import MANIFEST, SUCCESS, Manifest, read_manifest
from kafkatx.terms.errors import UsageError


class TargetState(Enum):
    """What lies at the target: nothing, an export to replace, or all of this export but its last file."""

    nothing = auto()
    replaceable = auto()
    almost_finished = auto()


def look_at(target: Path, recipe: dict[str, Any], overwrite: bool) -> TargetState:
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
    if not (target / SUCCESS).exists() and manifest.recipe == recipe and manifest.is_complete:
        return TargetState.almost_finished
    if not overwrite:
        raise UsageError(f"{target} is an export already; --overwrite replaces it, or give --out another folder")
    strange = next(strange_files(target, manifest), None)
    if strange is not None:
        raise UsageError(f"{target} holds what is not of the export, like {strange}; move it away to overwrite")
    return TargetState.replaceable


def strange_files(folder: Path, manifest: Manifest) -> Iterator[str]:
    """Yield names of what lies in a folder and is not of the export whose manifest it holds."""
    own = {MANIFEST, SUCCESS, *manifest.files()}
    folders = {name.partition("/")[0] for name in manifest.files()}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_folder = path.is_dir() and not path.is_symlink()
        if name not in (folders if is_folder else own):
            yield name
