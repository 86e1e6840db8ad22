"""How tables are declared, and how arrays become their columns. Any column may be null; absent is null, never -1.

Types   only those that Arrow, Parquet, Spark, DuckDB and Polars agree on: signed integers, bool, string, binary,
        timestamp[us, UTC], list and struct of these; never unsigned, dictionary, or naive times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

INT16, INT32, INT64 = pa.int16(), pa.int32(), pa.int64()
BOOL, STRING, BINARY = pa.bool_(), pa.string(), pa.binary()
TIME = pa.timestamp("us", tz="UTC")
FIRST_MS, LAST_MS = 0, 253_402_300_799_999
"""Times that a calendar has: 1970 to 9999. Others (-1 is none; damage, hostile clients) are null."""
_UNDECODED = regex("[\ud800-\udfff]")
"""What Python makes of bytes in names of files that are no UTF-8; no table can hold it."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what it means, its unit where it has one, and what null says where it is not just "not known".

    `field` is what rows of kernels and objects call it, where that is a word of SQL and so no name of a column.
    """

    name: str
    type: Any
    meaning: str
    unit: str | None = None
    null: str | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class SortOrder:
    """How the rows of a table are sorted where it is written as a whole: ascending by these columns, null last.

    The first columns are those that the commonest filter names, so that a reader skips what it doesn't ask for;
    `because` says so. The last ones tell equal rows apart, so that the order is the same each time.
    """

    columns: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes rows of a table the same fact, in one run of an export and over its runs.

    key     columns that are alike, null equal to null; where the last one is null in a row, its run alone tells
    copies  whether files of one run may hold the fact more than once (replicas, a file given twice): one is canonical
    best    columns whose highest value stands among copies, null last: of compacted and whole versions the fuller
    day     times, of which the first that is not null says to which UTC day a row belongs; none: `unknown`

    Equal rows lie side by side as the table is sorted, up to the columns of `key` that its order begins with.
    """

    key: tuple[str, ...]
    copies: bool = False
    best: tuple[str, ...] = ()
    day: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """A question that the table answers, and the query that asks it, in SQL that DuckDB and Spark both take."""

    question: str
    sql: str


@dataclass(frozen=True)
class Table:
    """One table: its name, what one row is, its columns in order, how it is sorted, an example, what a fact is."""

    name: str
    row: str
    columns: tuple[Column, ...]
    order: SortOrder
    example: Example
    identity: Identity

    @property
    def key(self) -> tuple[str, ...]:
        """Columns that name a fact, over copies and over the runs of an export."""
        return self.identity.key

    @property
    def day(self) -> tuple[str, ...]:
        """Columns of which the first that is not null gives the UTC day of a row."""
        return self.identity.day

    @cached_property
    def schema(self) -> Any:
        """The Arrow schema."""
        return pa.schema([pa.field(column.name, column.type) for column in self.columns])

    def batch(self, length: int, columns: Mapping[str, Any]) -> Any:
        """Return a RecordBatch of `length` rows.

        `columns` maps names to arrays of Arrow or numpy (see `column_of`), to lists of values, or to one value that all
        rows have; what is not named is null. Raises KeyError for a name that the table has not, and Arrow's own errors
        for a value of another type.
        """
        unknown = columns.keys() - self._types.keys()
        if unknown:
            raise KeyError(f"{self.name} has no column {', '.join(sorted(unknown))}")
        arrays = [_column(type_, columns.get(name), length) for name, type_ in self._types.items()]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def of_arrays(self, arrays: Sequence[Any], columns: Mapping[str, Any]) -> Any:
        """Return a RecordBatch of structured arrays that lie side by side: of one length, a row in each for a row here.

        A column is what `columns` gives (as of `batch`), else the field of its name in the first array that has one,
        else null.
        """
        fields = {
            name: rows[field]
            for rows in reversed(arrays)
            for name, field in self._fields.items()
            if field in rows.dtype.names
        }
        return self.batch(len(arrays[0]), {**fields, **columns})

    def of_objects(self, objects: Sequence[Any], columns: Mapping[str, Any]) -> Any:
        """Return a RecordBatch of a few objects.

        A column is what `columns` gives (as of `batch`), else the attribute of its name (times are milliseconds, a
        negative number is absent, members of a list have the attributes of its structs), else null.
        """
        makers = {name: _value_of(type_) for name, type_ in self._types.items() if name not in columns}
        told = {
            name: [make(getattr(one, self._fields[name], None)) for one in objects] for name, make in makers.items()
        }
        return self.batch(len(objects), {**told, **columns})

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Return a RecordBatch of a few rows given as mappings; for tables that have an object a row anyway."""
        return self.batch(len(rows), {name: [row.get(name) for row in rows] for name in self._types})

    @cached_property
    def _types(self) -> dict[str, Any]:
        return {column.name: column.type for column in self.columns}

    @cached_property
    def _fields(self) -> dict[str, str]:
        return {column.name: column.field or column.name for column in self.columns}


def _column(type_: Any, value: Any, length: int) -> Any:
    if isinstance(value, pa.Array | pa.ChunkedArray):
        array = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
        return array if array.type == type_ else array.cast(type_)
    if isinstance(value, np.ndarray):
        return column_of(value, type_)
    if isinstance(value, list):
        return _array(value, type_)
    if value is None:
        return pa.nulls(length, type_)
    return pa.repeat(_array([value], type_)[0], length)


def _value_of(type_: Any) -> Callable[[Any], Any]:
    """Return what makes a value of a column of an attribute."""
    if type_ == TIME:
        return microseconds
    if pa.types.is_integer(type_):
        return _present
    if pa.types.is_list(type_) and pa.types.is_struct(type_.value_type):
        return partial(_members, [field.name for field in type_.value_type])
    return lambda value: value


def _present(number: int | None) -> int | None:
    return number if number is not None and number >= 0 else None


def _members(names: Sequence[str], members: Iterable[Any] | None) -> list[dict[str, Any]] | None:
    return None if members is None else [{name: getattr(one, name) for name in names} for one in members]


def _array(values: list[Any], type_: Any) -> Any:
    """Values as an array; bytes of file names that are no UTF-8 become U+FFFD."""
    try:
        return pa.array(values, type_)
    except UnicodeEncodeError:
        return pa.array([_well_formed(value) for value in values], type_)


def _well_formed(value: Any) -> Any:
    if isinstance(value, str):
        return _UNDECODED.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {name: _well_formed(field) for name, field in value.items()}
    if isinstance(value, list | tuple):
        return [_well_formed(member) for member in value]
    return value


def column_of(values: Any, type_: Any) -> Any:
    """Numbers of an array as a column: integers, times (of milliseconds) or booleans (what is not 0), as its type says.

    What is negative is null, and so is a time that no calendar has: offsets, ids and epochs are never negative, and
    kernels write -1 for what is absent.
    """
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if type_ == TIME:
        return times(values)
    absent = values < 0
    if type_ == BOOL:
        return pa.array(values != 0, mask=absent)
    if not pa.types.is_integer(type_):
        raise TypeError(f"numbers are no {type_}")
    return pa.array(values, mask=absent).cast(type_)


def times(milliseconds: Any) -> Any:
    """Times of an array of milliseconds."""
    values = np.ascontiguousarray(milliseconds).astype(np.int64)
    bad = (values < FIRST_MS) | (values > LAST_MS)
    return pa.array(np.where(bad, 0, values) * 1_000, TIME, mask=bad)


def microseconds(milliseconds: int | None) -> int | None:
    """A single time for a row given as a mapping; None where no calendar has it."""
    return milliseconds * 1_000 if milliseconds is not None and FIRST_MS <= milliseconds <= LAST_MS else None


def names(codes: Any, words: Sequence[str | None]) -> Any:
    """Words by the codes of an array; a code that has none is null."""
    codes = np.ascontiguousarray(codes).astype(np.int64)
    bad = (codes < 0) | (codes >= len(words))
    indices = pa.array(np.where(bad, 0, codes), pa.int64(), mask=bad)
    return _array(list(words) or [None], STRING).take(indices)


def named(codes: Any, word_of: Any) -> Any:
    """Words by codes, few of many: `word_of` is asked once for each distinct code; negative is null."""
    distinct, at = np.unique(np.ascontiguousarray(codes), return_inverse=True)
    words = [word_of(int(code)) if code >= 0 else None for code in distinct]
    return _array(words, STRING).take(pa.array(at))


def structs(counts: Any, fields: Mapping[str, Any]) -> Any:
    """Lists of structs: `counts[n]` of them for row n, taken in order from the arrays in `fields`."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    inner = pa.StructArray.from_arrays(list(fields.values()), list(fields.keys()))
    return pa.ListArray.from_arrays(pa.array(offsets, INT32), inner)


def struct_list(**fields: Any) -> Any:
    """Type of a list of structs."""
    return pa.list_(pa.struct([pa.field(name, type_) for name, type_ in fields.items()]))


COMMON = (
    Column("capture", STRING, "name of the capture (one cluster's evidence)", null="nothing says which it belongs to"),
    Column("cluster_id", STRING, "cluster.id", null="brokers without one, or no meta.properties at hand"),
    Column(
        "broker_id", INT32, "broker.id or node.id of the data directory", null="no meta.properties, or of no one broker"
    ),
    Column("path", STRING, "the file, as given", null="put together of several files"),
)
"""What all rows start with."""
PLACED = (*COMMON, Column("position", INT64, "where in the file it begins", "bytes"))
"""The same for rows that have a place in a file."""
IN_BATCH = (*COMMON, Column("position", INT64, "where in the file its batch begins", "bytes"))
"""The same for records, whose place is that of their batch."""
IN_BATCH_OR_LINE = (
    *COMMON,
    Column("position", INT64, "where in the file its batch begins; in a text its line", "bytes"),
)
"""The same for records that are often printed."""
PARTITION = (
    Column("topic", STRING, "topic"),
    Column("partition", INT32, "partition"),
)
