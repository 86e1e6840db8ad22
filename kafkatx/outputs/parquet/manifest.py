"""What an export says of itself in `_kafkatx.json`: what it was made of, and which files it consists of.

Unlike what stands in the tables' files, times of the input files are in it: by them a second run knows whether what
lies there is still of the same evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafkatx.outputs.parquet.parts import TableFile
from kafkatx.stages.export_folders import FORMAT, MANIFEST, SUCCESS
from kafkatx.stages.facts import LAYOUT

__all__ = ["FORMAT", "MANIFEST", "SUCCESS", "Manifest", "Recipe", "read_manifest"]
SCHEMA = 1
"""Version of the manifest and of the layout of the folder."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that an export follows from: equal recipes give equal bytes.

    `options` and `inputs` hold only what JSON has.
    """

    kafkatx: str
    pyarrow: str
    tables: tuple[str, ...]
    options: dict[str, Any]
    inputs: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        """The fields of the manifest that don't follow from the others."""
        return {
            "format": FORMAT,
            "schema": SCHEMA,
            "kafkatx": self.kafkatx,
            "facts_layout": LAYOUT,
            "pyarrow": self.pyarrow,
            "wanted": list(self.tables),
            "options": self.options,
            "inputs": self.inputs,
        }


@dataclass(slots=True)
class Manifest:
    """An export, finished or not: its recipe, and the tables that are written."""

    recipe: dict[str, Any]
    tables: dict[str, list[TableFile]] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether all tables that were wanted are there."""
        return set(self.recipe["wanted"]) == set(self.tables)

    def files(self) -> Iterable[str]:
        """Names of the tables' files, from the folder of the export."""
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

    def to_json(self) -> bytes:
        """The manifest as it is written; the same for the same export."""
        tables = {name: _of_table(name, self.tables[name]) for name in self.recipe["wanted"] if name in self.tables}
        return (json.dumps({**self.recipe, "tables": tables}, indent=1) + "\n").encode()


def _of_table(name: str, parts: list[TableFile]) -> dict[str, Any]:
    files = [
        {"path": f"{name}/{part.name}", "rows": part.rows, "bytes": part.bytes, "sha256": part.sha256} for part in parts
    ]
    return {"rows": sum(part.rows for part in parts), "bytes": sum(part.bytes for part in parts), "files": files}


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of a folder; None where it has none of ours."""
    try:
        found = json.loads((folder / MANIFEST).read_bytes())
        if found["format"] != FORMAT or found["schema"] != SCHEMA:
            return None
        tables = {name: [_part(file) for file in table["files"]] for name, table in found.pop("tables").items()}
        return Manifest(found, tables) if isinstance(found["wanted"], list) else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _part(file: dict[str, Any]) -> TableFile:
    return TableFile(str(file["path"]).rpartition("/")[2], int(file["rows"]), int(file["bytes"]), str(file["sha256"]))
