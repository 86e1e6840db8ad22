"""Records as views: columns that a kernel wrote, as Arrow arrays over the same memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.tables.columns import INT32, INT64, TIME

ABSENT = -1
"""What a kernel writes for a time that no column holds."""


@cache
def schema() -> Any:
    """The pyarrow.Schema of records as views."""
    header = pa.struct([pa.field("key", pa.binary_view()), pa.field("value", pa.binary_view())])
    return pa.schema(
        [
            ("record_offset", INT64),
            ("timestamp", TIME),
            ("key", pa.binary_view()),
            ("value", pa.binary_view()),
            ("headers", pa.list_(header)),
        ]
    )


def numbers(words: Any, type_: Any, has_absent: bool = False) -> Any:
    """Words as integers or times; with `has_absent` those that are ABSENT are null."""
    validity = _bits(words != ABSENT) if has_absent else None
    return pa.Array.from_buffers(type_, len(words), [validity, pa.py_buffer(words)])


def views(words: Any, data: Any, has_null: bool) -> Any:
    """Views into `data`; with `has_null` those with a length of -1 are null."""
    valid = words.view(np.int32)[::4] >= 0 if has_null else None
    buffers = [None if valid is None else _bits(valid), pa.py_buffer(words), data]
    return pa.Array.from_buffers(pa.binary_view(), len(words) // 2, buffers)


def no_headers(rows: int) -> Any:
    """Lists of headers of records that have none."""
    type_, offsets, inner = _nothing(1 << rows.bit_length())
    return pa.Array.from_buffers(type_, rows, [None, offsets], children=[inner])


@cache
def _nothing(rows: int) -> tuple[Any, Any, Any]:
    """A type of lists, offsets of so many empty ones, and what they are lists of: the same for all."""
    type_ = schema().field("headers").type
    return type_, pa.py_buffer(bytes(4 * (rows + 1))), pa.array([], type_.value_type)


def headers(counts: Any, key_views: Any, value_views: Any) -> Any:
    """Lists of headers: so many for each record, taken in order."""
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    inner = pa.StructArray.from_arrays([key_views, value_views], ["key", "value"])
    return pa.ListArray.from_arrays(pa.array(offsets, INT32), inner)


def _bits(flags: Any) -> Any:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
