"""The last step of whatever hands rows to Spark: exactly the columns, the order and the types that were declared.

Spark 4.0 and 4.1 read a data source's columns by position, every release those of mapInArrow: two of one type in the
wrong order are swapped without a word, fields of a struct as well, and an int64 for a timestamp is taken as
microseconds. So columns are chosen by name, only conversions that keep the meaning are made, and all else is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types


def conform(batch: Any, schema: Any) -> Any:
    """Return the rows of a RecordBatch as one of `schema`, whose fields may all be null.

    Columns that the schema does not name are left out. Raises TypeError for a column that is missing, twice there, or
    of a type that does not fit, ValueError for a number or a time that the type can't hold.
    """
    arrays = [_fitted(_column(batch, field.name), field.type, field.name) for field in schema]
    if not arrays:
        raise TypeError("a schema without columns")
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(batch: Any, name: str) -> Any:
    at = batch.schema.get_all_field_indices(name)
    if len(at) != 1:
        raise TypeError(f"column {name}: {len(at)} of that name among {', '.join(batch.schema.names)}")
    return batch.column(at[0])


def _fitted(array: Any, type_: Any, name: str) -> Any:
    """An array as one of another type that means the same."""
    if array.type == type_:
        return array
    if types.is_null(array.type):
        return pa.nulls(len(array), type_)
    if types.is_dictionary(array.type):
        return _fitted(array.dictionary_decode(), type_, name)
    if types.is_struct(array.type) and types.is_struct(type_):
        return _struct(array, type_, name)
    if _is_list(array.type) and types.is_list(type_):
        return _list(array, type_, name)
    if any(fits(array.type) and fits(type_) for fits in KINDS):
        try:
            return array.cast(type_)
        except pa.ArrowInvalid as error:
            raise ValueError(f"column {name}: {error}") from error
    raise TypeError(f"column {name} is {array.type}, where {type_} is declared")


def _struct(array: Any, type_: Any, name: str) -> Any:
    """A struct with its fields by name."""
    given = [field.name for field in array.type]
    for field in type_:
        if given.count(field.name) != 1:
            raise TypeError(f"column {name}.{field.name}: {given.count(field.name)} of that name")
    children = [_fitted(array.field(given.index(one.name)), one.type, f"{name}.{one.name}") for one in type_]
    return pa.StructArray.from_arrays(children, fields=list(type_), mask=array.is_null())


def _list(array: Any, type_: Any, name: str) -> Any:
    """A list with its members fitted; what lies behind null lists, or outside of a slice, is left behind."""
    lengths = array.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths, dtype=np.int64)
    if len(ends) and ends[-1] > np.iinfo(np.int32).max:
        raise ValueError(f"column {name}: {ends[-1]:,} members in one batch")
    offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
    members = _fitted(array.flatten(), type_.value_type, f"{name}[]")
    return pa.ListArray.from_arrays(offsets, members, type=type_, mask=array.is_null())


def _is_list(type_: Any) -> bool:
    return bool(types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_))


def _is_text(type_: Any) -> bool:
    return bool(types.is_string(type_) or types.is_large_string(type_) or str(type_) == "string_view")


def _is_bytes(type_: Any) -> bool:
    sized = types.is_fixed_size_binary(type_) and not types.is_decimal(type_)
    return bool(types.is_binary(type_) or types.is_large_binary(type_) or sized or str(type_) == "binary_view")


def _is_instant(type_: Any) -> bool:
    """Whether it is a time with a zone; what one without means depends on who reads it."""
    return bool(types.is_timestamp(type_) and type_.tz is not None)


KINDS: tuple[Callable[[Any], bool], ...] = (types.is_integer, _is_text, _is_bytes, _is_instant)
"""Types within which a safe cast changes nothing but the width or the unit."""
