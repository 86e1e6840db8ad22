"""What an export says of itself at its end: for a person, and as one JSON document."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import PurePath
from typing import Any, Protocol

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from kafkatx.outputs.json_document import error_row, to_text
from kafkatx.outputs.text_lines import print_trimmed, shown
from kafkatx.stages.export_manifest import Manifest, Run
from kafkatx.tables.facts import FACTS
from kafkatx.tables.findings import NOT_CHECKABLE
from kafkatx.terms.errors import EngineError
from kafkatx.terms.printable import printable
from kafkatx.words.plurals import plural

SCHEMA = 1

UNITS = ("bytes", "kB", "MB", "GB", "TB")


class Exported(Protocol):
    """A finished export, whoever wrote it: its runs, this one, whether it is new, and the tables there before."""

    @property
    def manifest(self) -> Manifest:
        """All runs."""

    @property
    def run(self) -> Run:
        """This one."""

    @property
    def taken_over(self) -> tuple[str, ...]:
        """Tables that an interrupted run had written."""

    @property
    def is_new(self) -> bool:
        """Whether anything was written."""


def print_summary(console: Console, found: Exported, out: str) -> None:
    """Print the tables with rows, files and bytes, and how to read them; `out` is the folder as the user named it."""
    tables = found.run.summary()
    rows, size = (sum(table[field] for table in tables) for field in ("rows", "bytes"))
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    grid.add_column("table")
    for name in ("rows", "files", "size"):
        grid.add_column(name, justify="right")
    for table in tables:
        grid.add_row(table["name"], f"{table['rows']:,}", f"{table['files']:,}", size_in_words(table["bytes"]))
    print_trimmed(
        console,
        shown(f"{_what_was_done(found, out)}: {plural(rows, 'row')}, {size_in_words(size)}.", "bold"),
        *_taken_over(found),
        Text(""),
        grid,
        Text(""),
        shown("To read a table (docs/tables.md explains the columns):"),
    )
    largest = _largest(tables)
    for line in examples(out, largest, is_divided=any("/" in part.name for part in found.run.tables[largest])):
        console.print(Text(f"  {printable(line)}"), soft_wrap=True)  # to be copied: never broken


def examples(out: str, table: str, *, is_divided: bool = False) -> list[str]:
    """Return lines that read a table back, for a shell, for Python and for Spark; its files may lie in folders."""
    folder = f"{out}/{table}" if "://" in out else str(PurePath(out, table))
    query = f"""FROM '{folder.replace("'", "''")}/{"**/" if is_divided else ""}*.parquet' LIMIT 9"""
    quoted = shlex.quote(query) if re.search(r'["$`\\!]', query) else f'"{query}"'
    return [
        f"duckdb -c {quoted}",
        f"pandas.read_parquet({folder!r}, dtype_backend='pyarrow')",
        f"spark.read.parquet({folder!r})",
    ]


def _what_was_done(found: Exported, out: str) -> str:
    """The first words of a summary."""
    runs, what = len(found.manifest.runs), plural(len(found.run.tables), "table")
    if not found.is_new:
        return f"Wrote nothing: {out} has the same evidence already, as run {found.run.run_id}, {what}"
    return f"Wrote {what} to {out}" if runs == 1 else f"Added run {found.run.run_id}, the {_th(runs)}, to {out}, {what}"


def _th(number: int) -> str:
    """An ordinal: 2nd, 11th."""
    teens = number % 100 in (11, 12, 13)
    return f"{number:,}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def to_json(found: Exported, out: str, changed: list[str], version: str) -> str:
    """Render the summary; `changed` are input files that were written to meanwhile."""
    run = found.run
    told = {"run_id": run.run_id, "is_new": found.is_new, "runs": [one.run_id for one in found.manifest.runs]}
    return _rendered(version, out, told, run.summary(), found.taken_over, changed)


def nothing_to_json(version: str) -> str:
    """Render the summary of an export that found nothing to read, and wrote nothing."""
    return _rendered(version, None, {"run_id": None, "is_new": False, "runs": []}, [], (), [])


def failed_to_json(error: EngineError, version: str) -> str:
    """Render the summary of an export that an engine did not come to the end of; what was written stays."""
    document = json.loads(nothing_to_json(version))
    return to_text({**document, "error": error_row(error)})


def _rendered(
    version: str,
    out: str | None,
    run: dict[str, Any],
    tables: list[dict[str, Any]],
    taken_over: tuple[str, ...],
    changed: list[str],
) -> str:
    document = {"kafkatx": version, "schema": SCHEMA, "out": out, **run, "tables": tables}
    return to_text({**document, "taken_over": list(taken_over), "changed_inputs": changed})


def size_in_words(size: int) -> str:
    """Bytes as people say them: 812 bytes, 4.5 MB."""
    value, unit = float(size), 0
    while value >= 1000 and unit + 1 < len(UNITS):
        value, unit = value / 1000, unit + 1
    return f"{size:,} bytes" if unit == 0 else f"{value:,.1f} {UNITS[unit]}"


def _largest(tables: list[dict[str, Any]]) -> str:
    """The table to show how to read: `transactions` where it has rows, else the one with most that is of evidence."""
    readable = [table for table in tables if table["name"] not in (FACTS.name, NOT_CHECKABLE.name)] or tables
    best = max(readable, key=lambda table: (table["name"] == "transactions" and table["rows"] > 0, table["rows"]))
    return str(best["name"])


def _taken_over(found: Exported) -> list[Text]:
    """A word on an interrupted run that this one went on with."""
    if not found.taken_over:
        return []
    return [shown(f"{plural(len(found.taken_over), 'table')} had been written by a run that was interrupted.", "dim")]
