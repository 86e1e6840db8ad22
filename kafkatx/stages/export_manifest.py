"""What an export says of itself in `_kafkatx.json`: its runs, what each was made of, and which files each consists of.

Unlike what stands in the tables' files, times of the input files are in it: a person sees by them what lies there.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafkatx.stages.export_folders import FORMAT, MANIFEST, SUCCESS
from kafkatx.stages.facts import LAYOUT
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass

__all__ = ["FORMAT", "MANIFEST", "SUCCESS", "Manifest", "Recipe", "Run", "TableFile", "parse_manifest", "read_manifest"]
SCHEMA = 2
"""Version of the manifest and of the layout of the folder."""
DIGITS_OF_RUN = 16
"""Hexadecimal digits of the digest that a run is known by."""
FIXED_TIME = "SOURCE_DATE_EPOCH"
"""Variable that fixes the time of a run, in seconds, so that the same evidence gives the same bytes."""


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file: its name in the folder of its table, rows, bytes, SHA-256 in hexadecimal."""

    name: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that the rows of a run follow from. `options`, `inputs` and `captures` hold only what JSON has.

    `captures` tells them again in a later run (stages/run_names.py).
    """

    kafkatx: str
    pyarrow: str
    tables: tuple[str, ...]
    options: dict[str, Any]
    inputs: list[dict[str, Any]]
    captures: list[dict[str, Any]] = field(default_factory=list)

    @property
    def run_id(self) -> str:
        """A digest of release, tables, options and files; a file counts by its sum, without one by its time."""
        inputs = [{name: one[name] for name in one if name != "mtime_ns" or "sha256" not in one} for one in self.inputs]
        told = [FORMAT, self.kafkatx, LAYOUT, self.tables, self.options, inputs]
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:DIGITS_OF_RUN]

    def document(self) -> dict[str, Any]:
        """The recipe as a manifest has it."""
        return {
            "run_id": self.run_id,
            "kafkatx": self.kafkatx,
            "facts_layout": LAYOUT,
            "pyarrow": self.pyarrow,
            "wanted": list(self.tables),
            "options": self.options,
            "inputs": self.inputs,
            "captures": self.captures,
        }


@dataclass(slots=True)
class Run:
    """A run of an export, finished or not: its recipe, when it began (milliseconds), the tables that are written."""

    recipe: dict[str, Any]
    exported_at: int
    tables: dict[str, list[TableFile]] = field(default_factory=dict)

    @classmethod
    def begun(cls, recipe: Recipe) -> Run:
        """Return a run that begins now, or at the time that the environment fixes; raises UsageError for no time."""
        return cls(recipe.document(), _now())

    @property
    def run_id(self) -> str:
        """What its rows and files are known by."""
        return str(self.recipe["run_id"])

    @property
    def is_complete(self) -> bool:
        """Whether all tables that were wanted are there."""
        return set(self.recipe["wanted"]) == set(self.tables)

    def files(self) -> Iterator[str]:
        """Yield names of its files, from the folder of the export."""
        return (f"{name}/{part.name}" for name, parts in self.tables.items() for part in parts)

    def summary(self) -> list[dict[str, Any]]:
        """One row for each table: its name, rows, bytes, number of files."""
        return [
            {
                "name": name,
                "rows": sum(part.rows for part in self.tables[name]),
                "bytes": sum(part.bytes for part in self.tables[name]),
                "files": len(self.tables[name]),
            }
            for name in self.recipe["wanted"]
        ]

    def document(self) -> dict[str, Any]:
        """The run as it is written."""
        tables = {name: _of_table(name, self.tables[name]) for name in self.recipe["wanted"] if name in self.tables}
        when = datetime.fromtimestamp(self.exported_at / 1000, UTC).isoformat(timespec="milliseconds")
        return {**self.recipe, "exported_at": when.replace("+00:00", "Z"), "tables": tables}


@dataclass(slots=True)
class Manifest:
    """An export: its runs, the oldest first."""

    runs: list[Run] = field(default_factory=list)

    def run(self, run_id: str) -> Run | None:
        """Return a run by its id, if it is there."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    @property
    def is_complete(self) -> bool:
        """Whether all tables of all runs are there."""
        return all(run.is_complete for run in self.runs)

    def files(self) -> Iterable[str]:
        """Names of the tables' files, from the folder of the export."""
        return (name for run in self.runs for name in run.files())

    def to_json(self) -> bytes:
        """The manifest as it is written; the same for the same export."""
        told = {"format": FORMAT, "schema": SCHEMA, "runs": [run.document() for run in self.runs]}
        return (json.dumps(told, indent=1) + "\n").encode()


def _now() -> int:
    fixed = os.environ.get(FIXED_TIME)
    if not fixed:
        return time.time_ns() // 1_000_000
    if not fixed.isdecimal():
        raise UsageError(f"{FIXED_TIME}={fixed!r} is no time: write seconds since 1970, or unset it")
    return int(fixed) * 1000


def _of_table(name: str, parts: list[TableFile]) -> dict[str, Any]:
    files = [
        {"path": f"{name}/{part.name}", "rows": part.rows, "bytes": part.bytes, "sha256": part.sha256} for part in parts
    ]
    return {"rows": sum(part.rows for part in parts), "bytes": sum(part.bytes for part in parts), "files": files}


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None where it has none of ours."""
    try:
        return parse_manifest((folder / MANIFEST).read_bytes())
    except OSError:
        return None


def parse_manifest(data: bytes) -> Manifest | None:
    """Read a manifest; None for what is none of ours."""
    try:
        found = json.loads(data)
        if found["format"] != FORMAT or found["schema"] != SCHEMA:
            return None
        return Manifest([_run(run) for run in found["runs"]])
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _run(found: dict[str, Any]) -> Run:
    """A run as a manifest has it; raises ValueError and others where it is none."""
    tables = {name: [_part(file) for file in table["files"]] for name, table in found.pop("tables").items()}
    exported_at = datetime.fromisoformat(found.pop("exported_at"))
    if not isinstance(found["wanted"], list) or not isinstance(found["run_id"], str):
        raise TypeError("no recipe")
    return Run(found, round(exported_at.timestamp() * 1000), tables)


def _part(file: dict[str, Any]) -> TableFile:
    """A file as a manifest has it; the manifest may be anybody's, so no name leads out of the table's folder."""
    inside = [part for part in str(file["path"]).split("/")[1:] if part not in ("", ".", "..")]
    return TableFile("/".join(inside), int(file["rows"]), int(file["bytes"]), str(file["sha256"]))
