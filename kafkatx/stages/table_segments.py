"""The rows of a segment, or of what a tool printed of one, as tables: batches, markers, records, coordinator's rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.kernels.packing import pack_ranges
from kafkatx.segments.names import Names
from kafkatx.segments.records import RecordChunk
from kafkatx.stages.table_files import Batches, Source, printed
from kafkatx.tables import logs, transactions
from kafkatx.tables.columns import BINARY, INT32, STRING, named, structs
from kafkatx.text.dump.table import record_rows


def batches_of(source: Source, build: Callable[[Any, dict[str, Any]], Any]) -> Batches:
    """Stream `batches` (or, by another `build`, `markers`) of a file."""
    for rows, _ in source.reading().batches(source.extent):
        batch = build(rows, source.common())
        if batch.num_rows:
            yield batch


def records_of(source: Source) -> Batches:
    """Stream `records` of a file, whatever their codec; contents that a decoder printed are not the record's bytes."""
    if source.item.part is not None:
        yield from (logs.RECORDS.of_objects(some, source.common()) for some in printed(source, record_rows))
        return
    for _, chunks in source.reading().records(source.extent):
        for chunk in chunks:
            if len(chunk.records):
                yield records_in(chunk, source)


def records_in(chunk: RecordChunk, source: Source) -> Any:
    """Return a RecordBatch of `records`: those of some batches of a file."""
    return logs.records(chunk.records, chunk.batches, _payload(chunk, source), source.common())


def _payload(chunk: RecordChunk, source: Source) -> dict[str, Any]:
    """Columns key, value and headers where they are wanted: copied out of the buffer, without an object a record."""
    columns = {}
    for name in ("key", "value"):
        if source.wants(name):
            columns[name] = packed(chunk.data, chunk.records[f"{name}_start"], chunk.records[f"{name}_length"])
    if source.wants("headers"):
        columns["headers"] = _headers(chunk)
    return columns


def _headers(chunk: RecordChunk) -> Any:
    headers = chunk.headers()
    fields = {
        "key": strings(packed(chunk.data, headers["key_start"], headers["key_length"])),
        "value": packed(chunk.data, headers["value_start"], headers["value_length"]),
    }
    return structs(chunk.records["header_count"].clip(0), fields)


def packed(data: memoryview, starts: Any, lengths: Any) -> Any:
    """Byte strings that lie in a buffer, copied without an object for each; a length of -1 is null."""
    starts, lengths = np.ascontiguousarray(starts), np.ascontiguousarray(lengths)
    content = np.empty(max(1, int(lengths.clip(0).sum(dtype=np.int64))), np.uint8)
    offsets = np.empty(len(starts) + 1, np.int32)
    pack_ranges.count(len(starts))
    pack_ranges(pack_ranges.view(data), starts, lengths, content, offsets)
    return logs.binaries(content, offsets, lengths)


def strings(values: Any) -> Any:
    """Byte strings as text; those that are no UTF-8 are decoded one by one."""
    try:
        return values.cast(STRING)
    except pa.ArrowInvalid:
        return pa.array(
            [None if value is None else value.decode("utf-8", "replace") for value in values.to_pylist()], STRING
        )


def states_of(source: Source) -> Batches:
    """Stream `transaction_states` of a file."""
    names = Names()
    for _, rows in source.reading().states(names, source.extent):
        if len(rows):
            yield transactions.transaction_states(rows, state_columns(rows, names, source))


def state_columns(rows: Any, names: Names, source: Source) -> dict[str, Any]:
    """Return the columns that need names, where they are wanted, and those that all rows of the file share."""
    columns = source.common("topic")
    if source.wants("transactional_id"):
        columns["transactional_id"] = named(rows["id_code"], names.transactional_id)
    if source.wants("topic_partitions"):
        columns["topic_partitions"] = _partition_lists(rows["partitions_code"], names)
    if source.wants("unknown_tagged_fields"):
        tags = [names.unknown_tags.values[code] if code >= 0 else None for code in rows["unknown_tags_code"].tolist()]
        columns["unknown_tagged_fields"] = pa.array(tags, BINARY) if any(tags) else None
    return columns


def _partition_lists(codes: Any, names: Names) -> Any:
    """Lists of topic-partitions by their codes, each in order: built once for each list that occurs."""
    distinct, at = np.unique(codes, return_inverse=True)
    lists = [
        sorted(names.topic_partitions[member] for member in names.partition_lists[int(code)]) if code >= 0 else ()
        for code in distinct
    ]
    pairs = [pair for members in lists for pair in members]
    inner = {
        "topic": pa.array([topic for topic, _ in pairs], STRING),
        "partition": pa.array([n for _, n in pairs], INT32),
    }
    return structs(np.array([len(members) for members in lists], np.int64), inner).take(pa.array(at, mask=codes < 0))
