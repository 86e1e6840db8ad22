"""Views over the tables of an export, shipped as SQL files that DuckDB and Spark both take.

`TABLE_once`  each fact of a table once: of all copies and runs the row that stands (Table.identity); made of the
              declarations by `once_sql`, and held to them by a test
others        questions that a platform team asks, over these; the first lines of a file say what it answers

The files are written as Spark spells functions; `FUNCTIONS` are those that DuckDB spells otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path

from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.columns import Table
from kafkatx.tables.exported import EXPORTED_AT, IS_CANONICAL, RUN_ID
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

ONCE = "_once"
FUNCTIONS = (
    "CREATE OR REPLACE TEMPORARY MACRO unix_millis(t) AS epoch_ms(t)",
    "CREATE OR REPLACE TEMPORARY MACRO explode(members) AS unnest(members)",
)
"""What DuckDB needs to take the files."""
_ASKED = regex(r"\b(?:FROM|JOIN)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class View:
    """A view: its name, what it answers, its SELECT, and the views and tables that it asks."""

    name: str
    answers: str
    sql: str
    asks: frozenset[str]

    @property
    def is_once(self) -> bool:
        """Whether it has each fact of a table once."""
        return self.name.endswith(ONCE)


@cache
def all_views() -> dict[str, View]:
    """Return all views by name, each behind those that it asks."""
    files = sorted(resources.files("kafkatx.tables.views").iterdir(), key=lambda file: file.name)
    left = [_view(file.name, file.read_text("utf-8")) for file in files if file.name.endswith(".sql")]
    found: dict[str, View] = {}
    while left:
        ready = [view for view in left if view.asks <= {*TABLES, *found}]
        found |= {view.name: view for view in ready}
        left = [view for view in left if view.name not in found]
    return found


def _view(name: str, text: str) -> View:
    comments = [line.removeprefix("--").strip() for line in text.splitlines() if line.startswith("--")]
    sql = "\n".join(line for line in text.splitlines() if not line.startswith("--")).strip()
    return View(name.removesuffix(".sql"), " ".join(comments), sql, frozenset(_ASKED.findall(sql)))


def views(folder: str | Path, engine: str = "duckdb") -> Iterator[str]:
    """Yield SQL statements that make the tables of an export, and the views over them, known to an engine.

    Each is for `connection.execute` of DuckDB, or `spark.sql`. Tables that the export has not are left out, and so are
    views that ask them.

    Args:
        folder: the export: a folder, for Spark also the URL of one.
        engine: duckdb or spark.

    Raises:
        UsageError: there is no such engine.
    """
    if engine not in ("duckdb", "spark"):
        raise UsageError(f"no views for {engine!r}: the engines are duckdb and spark")
    yield from FUNCTIONS if engine == "duckdb" else ()
    known = [name for name in TABLES if "://" in str(folder) or Path(folder, name).is_dir()]
    yield from (_table(str(folder), name, engine) for name in known)
    there = set(known)
    for view in all_views().values():
        if view.asks <= there:
            there.add(view.name)
            yield f"CREATE OR REPLACE TEMPORARY VIEW {view.name} AS\n{view.sql}"


def _table(folder: str, name: str, engine: str) -> str:
    if engine == "duckdb":
        path = f"{folder}/{name}/**/*.parquet".replace("'", "''")
        return f"CREATE OR REPLACE TEMPORARY VIEW {name} AS FROM read_parquet('{path}')"
    path = folder if "://" in folder else Path(folder).resolve().as_uri()
    quoted = f"{path}/{name}".replace("\\", "\\\\").replace("'", "\\'")
    return f"CREATE OR REPLACE TEMPORARY VIEW {name} USING parquet OPTIONS (path '{quoted}')"


def once_sql(table: Table) -> str:
    """Return the file of the view that has each fact of a table once."""
    columns = [*(column.name for column in table.columns), RUN_ID, EXPORTED_AT]
    best = [f"{name} DESC NULLS LAST" for name in table.identity.best]
    order = ", ".join([*best, f"{EXPORTED_AT} DESC", f"{RUN_ID} DESC"])
    return "\n".join(
        [
            f"-- Each fact of `{table.name}` once: of all copies and runs the row that stands.",
            f"SELECT {_wrapped(columns)}",
            "FROM (",
            "    SELECT *, rank() OVER (",
            f"        PARTITION BY {', '.join(table.key)}",
            f"        ORDER BY {order}",
            "    ) AS place_among_runs",
            f"    FROM {table.name}",
            f"    WHERE {IS_CANONICAL}",
            ") AS ranked",
            "WHERE place_among_runs = 1",
            "",
        ]
    )


def _wrapped(columns: Iterable[str], width: int = 110) -> str:
    lines = [""]
    for name in columns:
        if len(lines[-1]) + len(name) > width:
            lines.append("       ")
        lines[-1] += f"{name}, "
    return "\n".join(line.rstrip() for line in lines).rstrip(",")
