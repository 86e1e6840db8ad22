"""What every exported row has more than a row of a table, and the schema of an exported table with what it means.

Readers   the schema is the same for a file that this machine writes and for one that Spark writes. Meanings are in each
          field (`comment`, where Arrow and what is built on it look) and in the key of the file's metadata that Spark
          reads its own schema from; `PARQUET:field_id` is what Iceberg knows a column by.
Facts     the table `facts` is for kafkatx itself: its rows are as they are, the name of a file says which run it is of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import pyarrow as pa

from kafkatx.tables.columns import BOOL, STRING, TIME, Column, Table
from kafkatx.tables.facts import FACTS

RUN_ID, EXPORTED_AT, IS_CANONICAL = "run_id", "exported_at", "is_canonical"
ADDED = (
    Column(RUN_ID, STRING, "the run of the export that wrote the row: a digest of what was exported, and how"),
    Column(EXPORTED_AT, TIME, "when that run began"),
    Column(
        IS_CANONICAL,
        BOOL,
        "one row of each fact in a run has it: count these, and replicas and files given twice count once",
    ),
)
"""Columns that every exported row has behind those of its table."""
COMMENT, UNIT, FIELD_ID = b"comment", b"unit", b"PARQUET:field_id"
"""Keys of the metadata of a field."""
VERSION, TABLE, SPARK = b"kafkatx.version", b"kafkatx.table", b"org.apache.spark.sql.parquet.row.metadata"
"""Keys of the metadata of a file."""
NOT_KNOWN = "not known"
"""What null says where a column says nothing else of it."""
_SPARK_TYPES = {
    pa.int16(): "short",
    pa.int32(): "integer",
    pa.int64(): "long",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "binary",
    TIME: "timestamp",
}


def exported_columns(table: Table) -> tuple[Column, ...]:
    """Return the columns of an exported table, in order."""
    return table.columns if table.name == FACTS.name else (*table.columns, *ADDED)


def plain_schema(table: Table) -> Any:
    """Return the names and types of an exported table, without what they mean."""
    return pa.schema([pa.field(column.name, column.type) for column in exported_columns(table)])


@cache
def exported_schema(table: Table, version: str) -> Any:
    """Return the schema with which a table is written: meanings, units and ids of columns, and of the file a word.

    `version` is the release of kafkatx that writes.
    """
    ids = field_ids(table.name)
    fields = [
        _field(pa.field(column.name, column.type), column.name, ids, column) for column in exported_columns(table)
    ]
    of_file = {VERSION: version.encode(), TABLE: table.name.encode(), SPARK: spark_schema_json(table).encode()}
    return pa.schema(fields, of_file)


def comment_of(column: Column) -> str:
    """Return what a column means in one line: its meaning, unit, and what null says."""
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.meaning}{unit}; null: {column.null or NOT_KNOWN}"


def _field(field: Any, path: str, ids: dict[str, int], column: Column | None = None) -> Any:
    """A field with its id, and with those of its members; `column` is what it means, at the top."""
    metadata = {FIELD_ID: str(ids[path]).encode()} if path in ids else {}
    if column is not None:
        metadata |= {COMMENT: comment_of(column).encode()}
        metadata |= {UNIT: column.unit.encode()} if column.unit else {}
    return pa.field(field.name, _nested(field.type, path, ids), metadata=metadata)


def _nested(type_: Any, path: str, ids: dict[str, int]) -> Any:
    if pa.types.is_list(type_):
        return pa.list_(_field(type_.value_field, f"{path}.element", ids))
    if pa.types.is_struct(type_):
        return pa.struct([_field(member, f"{path}.{member.name}", ids) for member in type_])
    return type_


@cache
def _declared() -> dict[str, dict[str, int]]:
    """Ids of columns by table and path, as field_ids.tsv declares them."""
    found: dict[str, dict[str, int]] = {}
    text = resources.files("kafkatx.tables").joinpath("field_ids.tsv").read_text("utf-8")
    for line in text.splitlines()[1:]:
        table, path, number = line.split("\t")
        found.setdefault(table, {})[path] = int(number)
    return found


def field_ids(table: str) -> dict[str, int]:
    """Return the ids of the columns of an exported table; `.element` is the members of a list, `.x` that of a struct.

    A number is declared once and never given to another column; a column that is taken away keeps its line.
    """
    return _declared().get(table, {})


def paths_of(table: Table) -> Iterator[str]:
    """Yield the paths that an exported table needs ids for."""
    for field in plain_schema(table):
        yield from _paths(field.name, field.type)


def _paths(path: str, type_: Any) -> Iterator[str]:
    yield path
    if pa.types.is_list(type_):
        yield from _paths(f"{path}.element", type_.value_type)
    elif pa.types.is_struct(type_):
        for member in type_:
            yield from _paths(f"{path}.{member.name}", member.type)


def spark_schema_json(table: Table) -> str:
    """Return the schema as Spark writes it down, with a comment for each column."""
    fields = [
        {**_spark_field(column.name, column.type), "metadata": {"comment": comment_of(column)}}
        for column in exported_columns(table)
    ]
    return json.dumps({"type": "struct", "fields": fields})


def _spark_field(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": _spark_type(type_), "nullable": True, "metadata": {}}


def _spark_type(type_: Any) -> Any:
    if pa.types.is_list(type_):
        return {"type": "array", "elementType": _spark_type(type_.value_type), "containsNull": True}
    if pa.types.is_struct(type_):
        return {"type": "struct", "fields": [_spark_field(member.name, member.type) for member in type_]}
    return _SPARK_TYPES[type_]
