"""Folders that `kafkatx export` wrote: told by their manifest, their runs, and which of their files hold facts.

It is looked for in every path of a diagnosis, so nothing heavy is imported here.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafkatx.sources import places
from kafkatx.stages.facts import LAYOUT, READABLE
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

MANIFEST, SUCCESS = "_kafkatx.json", "_SUCCESS"
"""Names that Spark takes for no data; DuckDB and Polars take only what their pattern asks for, `*.parquet`."""
FORMAT = "kafkatx export"
FACTS_TABLE = "facts"
FILES_AT_ONCE = 4
"""Files whose SHA-256 is taken at a time."""
FIRST_LAYOUT = 1
"""That of facts whose manifest names none."""
_FILE = regex(rf"{FACTS_TABLE}/part-[0-9a-f]+-\d+\.parquet")


def release() -> str:
    """Return the release of kafkatx that runs."""
    found: str = importlib.import_module("kafkatx").__version__  # by name: the package itself knows all floors
    return found


def exports_among(paths: Iterable[str | Path]) -> list[str]:
    """Return the paths if they are exports, nothing if none is; raises UsageError for exports beside other paths."""
    given = places.admitted(paths)
    found = [path for path in given if _manifest(path) is not None]
    if found and len(found) < len(given):
        other = next(path for path in given if path not in found)
        raise UsageError(
            f"{found[0]} is an export and {other} is none; give either exports or what they were made of, in one call"
        )
    return found


def of_another_layout(path: str, kafkatx: object, layout: object) -> str:
    """Say that the facts of an export are laid otherwise than this release reads them."""
    return (
        f"{path} holds facts of layout {layout}, of kafkatx {kafkatx}; this is kafkatx {release()}, which reads layout "
        f"{LAYOUT}: export them again"
    )


@dataclass(frozen=True, slots=True)
class RunOfExport:
    """A run of an export: when it was, its id, the files of its facts, the sums of the files that it is of.

    `captures` are what its manifest keeps of them, by name.
    """

    exported_at: str
    run_id: str
    files: tuple[str, ...]
    sums: dict[str, str]
    captures: dict[str, dict[str, Any]]


def runs_of(path: str | Path) -> list[RunOfExport]:
    """Return the runs of an export, the oldest first; raises UsageError where one has no facts, or they changed."""
    path = str(path)
    manifest: Any = _manifest(path)
    if not _is_finished(path):
        raise UsageError(f"{path} is an export that is not finished; the command that began it goes on with it")
    runs = manifest.get("runs")
    if not isinstance(runs, list):
        raise UsageError(of_another_layout(path, manifest.get("kafkatx"), manifest.get("facts_layout", FIRST_LAYOUT)))
    return [_run(path, run) for run in runs if isinstance(run, dict)]


def _is_finished(path: str) -> bool:
    try:
        return places.is_there(places.joined(path, SUCCESS))
    except OSError:
        return False


def _run(path: str, run: dict[str, Any]) -> RunOfExport:
    layout = run.get("facts_layout")
    if layout not in READABLE:
        raise UsageError(of_another_layout(path, run.get("kafkatx"), layout))
    try:
        files = {str(file["path"]): file for file in run["tables"][FACTS_TABLE]["files"]}
    except (LookupError, TypeError):
        raise UsageError(
            f"{path} was exported without the table {FACTS_TABLE}, which a diagnosis needs; export it as well"
        ) from None
    if not files or not all(map(_FILE.fullmatch, files)):
        raise UsageError(f"{path}/{MANIFEST} names no files of facts")
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
        list(pool.map(lambda name: _check_unchanged(places.joined(path, name), files[name].get("sha256")), files))
    captures = {str(one["name"]): one for one in run.get("captures", ())}
    return RunOfExport(
        str(run.get("exported_at")), str(run.get("run_id")), (*files,), _sums(run.get("inputs")), captures
    )


def _sums(inputs: object) -> dict[str, str]:
    """SHA-256 of the input files of a run, by path, where it is known."""
    found = [one for one in inputs if isinstance(one, dict)] if isinstance(inputs, list) else []
    return {str(one.get("path")): str(one["sha256"]) for one in found if one.get("sha256")}


def _check_unchanged(path: str, sha256: object) -> None:
    """Raise UsageError for a file that is not as it was written: a changed bit may tell another story, or crash Arrow.

    Whoever changes it on purpose writes another digest as well: what is read is checked again (stages/codec.py).
    """
    try:
        with places.stream(path) as stream:
            file: Any = stream
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error}") from error
    if found != sha256:
        raise UsageError(
            f"{path} is not as it was exported: its SHA-256 is not the manifest's; copy or export it again"
        )


def manifest_of(path: str | Path) -> dict[str, Any] | None:
    """Return the manifest of an export as it is written; None where there is none."""
    return _manifest(str(path))


def _manifest(path: str) -> dict[str, Any] | None:
    """The manifest of an export; None where there is none."""
    try:
        with places.stream(places.joined(path, MANIFEST)) as file:
            found = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("format") == FORMAT else None
