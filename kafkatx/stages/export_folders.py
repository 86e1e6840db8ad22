"""Folders that `kafkatx export` wrote: told by their manifest, and which of their files hold facts.

It is looked for in every path of a diagnosis, so nothing heavy is imported here.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafkatx.sources import places
from kafkatx.stages.facts import LAYOUT
from kafkatx.terms.errors import UsageError

MANIFEST, SUCCESS = "_kafkatx.json", "_SUCCESS"
"""Names that Spark takes for no data; DuckDB and Polars take only what their pattern asks for, `*.parquet`."""
FORMAT = "kafkatx export"
FACTS_TABLE = "facts"
FIRST_LAYOUT = 1
"""That of facts whose manifest names none."""
_FILE = re.compile(rf"{FACTS_TABLE}/part-\d+\.parquet")


def release() -> str:
    """Return the release of kafkatx that runs."""
    found: str = importlib.import_module("kafkatx").__version__  # by name: the package itself knows all floors
    return found


def exports_among(paths: Iterable[str | Path]) -> list[Path]:
    """Return the paths if they are exports, nothing if none is; raises UsageError for exports beside other paths."""
    given = places.admitted(paths)
    found = [Path(path) for path in given if not places.is_url(path) and _manifest(Path(path)) is not None]
    if found and len(found) < len(given):
        other = next(path for path in given if places.is_url(path) or Path(path) not in found)
        raise UsageError(
            f"{found[0]} is an export and {other} is none; give either exports or what they were made of, in one call"
        )
    return found


OF_ANOTHER_RELEASE = "{} was written by kafkatx {}; this is {}, which reads files otherwise: export them again"


def of_another_layout(path: Path, kafkatx: object, layout: object) -> str:
    """Say that the facts of an export are laid otherwise than this release reads them."""
    return (
        f"{path} holds facts of layout {layout}, of kafkatx {kafkatx}; this is kafkatx {release()}, which reads layout "
        f"{LAYOUT}: export them again"
    )


def fact_files(path: Path) -> list[str]:
    """Names of the files of an export's facts; raises UsageError where it has none that can be used."""
    manifest: Any = _manifest(path)
    if not (path / SUCCESS).exists():
        raise UsageError(f"{path} is an export that is not finished; the command that began it goes on with it")
    layout = manifest.get("facts_layout", FIRST_LAYOUT)
    if layout != LAYOUT:
        raise UsageError(of_another_layout(path, manifest.get("kafkatx"), layout))
    if manifest.get("kafkatx") != release():
        raise UsageError(OF_ANOTHER_RELEASE.format(path, manifest.get("kafkatx"), release()))
    try:
        names = [str(file["path"]) for file in manifest["tables"][FACTS_TABLE]["files"]]
    except (LookupError, TypeError):
        raise UsageError(
            f"{path} was exported without the table {FACTS_TABLE}, which a diagnosis needs; export it as well"
        ) from None
    if not names or not all(map(_FILE.fullmatch, names)):
        raise UsageError(f"{path}/{MANIFEST} names no files of facts")
    return names


def _manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of an export; None where there is none."""
    try:
        found = json.loads((path / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None
