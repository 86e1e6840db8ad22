"""Small tables for tests of what writes them: a declaration, batches of it, and bytes of a folder."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafkatx.stages.export_manifest import Recipe
from kafkatx.tables.columns import BINARY, INT64, STRING, TIME, Column, Example, Identity, SortOrder, Table

LETTERS = Table(
    "letters",
    "a letter",
    (
        Column("word", STRING, "its word"),
        Column("at", TIME, "its time"),
        Column("number", INT64, "its number", null="it has none"),
        Column("payload", BINARY, "what it carries"),
    ),
    SortOrder(("word", "number"), "a word is asked for"),
    Example("Which?", "SELECT 1 FROM letters l"),
    Identity(("word", "number"), copies=True, best=("at",)),
)
COUNTS = Table(
    "counts",
    "a count",
    (Column("number", INT64, "the number"),),
    SortOrder(("number",), "it is the only column"),
    Example("How many?", "SELECT 1 FROM counts c"),
    Identity(("number",)),
)


def letters(*rows: tuple[str | None, int | None], payload: bytes = b"") -> Any:
    """Return a batch of letters: word and number; `at` is the place of the row, so that equal rows can be told."""
    return LETTERS.rows(
        [{"word": word, "number": number, "at": at, "payload": payload} for at, (word, number) in enumerate(rows)]
    )


def counts(numbers: Iterable[int]) -> Any:
    """Return a batch of counts."""
    return COUNTS.batch(len(values := list(numbers)), {"number": pa.array(values, INT64)})


def recipe(*tables: Table, **options: Any) -> Recipe:
    """Return a recipe of an export of some tables."""
    return Recipe("0", pa.__version__, tuple(table.name for table in tables), options, [])


def content(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder by its name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
