"""The records of one segment as Arrow columns, as fast as they can be read: for programs that have segments."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from kafkatx.segments.record_columns import VIEW_WORDS, ColumnChunk, ColumnWalk
from kafkatx.sources.files import OpenFile
from kafkatx.sources.held import HeldFile
from kafkatx.terms.errors import NothingReadableError, UsageError


def records(segment: str | Path | bytes | bytearray | memoryview | Any) -> Iterator[Any]:
    """Stream the records of a segment as pyarrow.RecordBatch: offset, timestamp, key, value, headers.

    Keys, values and headers are views (binary_view) into the bytes that were read: nothing is copied, and a batch keeps
    what it points to. Memory that no batch holds any more is used again, so to take a batch and drop it is fastest. The
    CRC of every batch is checked. Control records are there, as in the table `records`; the timestamp is null where no
    calendar has it. Keys of headers are bytes, UTF-8 as a rule.

    Args:
        segment: the path of a segment (.log), or its bytes: whatever has the buffer protocol, a mapped file, too.
            What is mapped nobody may cut short meanwhile: that ends the process.

    Raises:
        UsageError: the path does not exist.
        NothingReadableError: some of the bytes are no batch or record; all that could be read came before.
    """
    import pyarrow as pa

    from kafkatx.tables.record_columns import schema

    columns = schema()
    with closing(_opened(segment)) as file:
        walk = ColumnWalk(file)
        for chunk in walk.column_chunks():
            made = pa.RecordBatch.from_arrays(_columns(chunk, columns), schema=columns) if chunk.rows else None
            del chunk  # who drops the batch drops all that it lies in
            if made is not None:
                yield made
                del made
        if walk.damage:
            raise NothingReadableError(_told(walk))


def _opened(segment: Any) -> OpenFile:
    if not isinstance(segment, str | Path):
        return HeldFile(segment)
    try:
        return OpenFile(str(segment))
    except OSError as error:
        raise UsageError(f"{segment}: {error.strerror}") from None


def _told(walk: ColumnWalk) -> str:
    first = min(walk.damage, key=lambda damage: damage.position)
    return (
        f"{walk.file.path} has {len(walk.damage)} stretches that are no records; the first one at position "
        f"{first.position:,}: {first.expected} was expected, found {first.found}"
    )


def _columns(chunk: ColumnChunk, schema: Any) -> list[Any]:
    import pyarrow as pa

    from kafkatx.tables import record_columns as arrow

    data = pa.py_buffer(chunk.data)
    return [
        arrow.numbers(chunk.column(0), schema.field(0).type),
        arrow.numbers(chunk.column(1), schema.field(1).type, chunk.has_absent),
        arrow.views(chunk.column(2, VIEW_WORDS), data, chunk.has_null),
        arrow.views(chunk.column(4, VIEW_WORDS), data, chunk.has_null),
        _headers(chunk, data),
    ]


def _headers(chunk: ColumnChunk, data: Any) -> Any:
    from kafkatx.tables import record_columns as arrow

    if not chunk.headers:
        return arrow.no_headers(chunk.rows)
    views, has_null = chunk.header_views()
    half = len(views) // 2
    keys = arrow.views(views[:half], data, False)
    return arrow.headers(chunk.column(6) >> 32, keys, arrow.views(views[half:], data, has_null))
