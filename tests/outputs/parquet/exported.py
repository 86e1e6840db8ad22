"""Recorded cases as Parquet, with the Arrow tables that they came from, each read once."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

import kafkatx
from kafkatx.outputs.parquet.export import export
from kafkatx.outputs.parquet.ordering import RowOrder
from kafkatx.tables.catalogue import TABLES
from tests.evidence import fixtures
from tests.outputs.parquet.small import recipe

TELLING = ("k39-fenced", "k28-sequence", "k20-expired", "k39-eos-groups", "k39-hanging")
"""Cases that have rows for every table together."""


def telling() -> list[Path]:
    """Return the folders of those cases."""
    return [fixtures() / name for name in TELLING]


def write_cases(paths: Iterable[Path], target: Path) -> dict[str, Any]:
    """Write every table of some evidence to a folder; returns the tables as the library gives them."""
    evidence = kafkatx.open(list(paths))
    batches = whole_tables(evidence)
    export(target, TABLES.values(), lambda name: iter(batches[name]), recipe(*TABLES.values()))
    return {name: pa.Table.from_batches(rows, evidence.schema(name)) for name, rows in batches.items()}


def whole_tables(evidence: kafkatx.Evidence) -> dict[str, list[Any]]:
    """Read every table; each of its batches is whole, of the table's schema, and of a capture unless it is of files."""
    batches = {name: list(evidence.table(name)) for name in evidence.tables}
    for name, parts in batches.items():
        for part in parts:
            part.validate(full=True)
            assert part.schema == evidence.schema(name)
            assert name == "files" or part.column("capture").null_count == 0
    return batches


def in_order(table: Any, name: str) -> Any:
    """Return a table in the order that is declared for its name, as an export must have it."""
    return RowOrder(TABLES[name].order.columns).sort(table)
