"""Streams of the tables of two internal topics: what groups committed, and what the controllers noted.

A row tells what its record says and no more: the name of a topic that a record gives the id of stands in another file,
perhaps, and a stretch of a file is read without the one before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.evidence.item import Kind
from kafkatx.formats.file_names import parse_metadata_snapshot_file
from kafkatx.formats.uuid_text import UUID_SIZE, text_of_uuid
from kafkatx.segments.metadata_columns import columns_of, fields_text
from kafkatx.segments.metadata_log import MetadataWalk, Said
from kafkatx.segments.offset_commits import CommitChunk, CommitWalk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Batches, Source, Wanted, not_before, opened, packed, strings, walk_options
from kafkatx.stages.table_texts import printed_commits, printed_metadata
from kafkatx.tables.cluster_events import CLUSTER_EVENTS, SAID, cluster_events
from kafkatx.tables.columns import STRING
from kafkatx.tables.offset_commits import OFFSET_COMMITS, offset_commits

PRINTED_AT_ONCE = 4096
ZERO_UUID = text_of_uuid(bytes(UUID_SIZE))


def commit_table(found: Iterable[Source]) -> Batches:
    """Stream `offset_commits`."""
    for source in found:
        if source.has_commits:
            with opened(source) as file:
                if file and source.item.part is not None:
                    yield from _printed(source, file)
                elif file:
                    yield from _commits(source, commit_walk(source, file))


def commit_walk(source: Source, file: OpenFile) -> CommitWalk:
    """Return a walk over the offset commits in a segment."""
    return CommitWalk(file, **walk_options(source, True))


def _printed(source: Source, file: OpenFile) -> Batches:
    assert source.item.part is not None
    rows, common = printed_commits(source, file, source.item.part), _common(source)
    while some := list(islice(rows, PRINTED_AT_ONCE)):
        yield OFFSET_COMMITS.rows([{**common, **row} for row in some])


def _common(source: Source) -> dict[str, Any]:
    """The columns that all commits of a file share: topic and partition are those that were consumed."""
    columns = source.common()
    del columns["topic"], columns["partition"]
    return {**columns, "offsets_partition": source.partition if source.wanted.column("offsets_partition") else None}


def _commits(source: Source, walk: CommitWalk) -> Batches:
    for chunk in walk.chunks():
        for part in walk.commits_of(not_before(chunk, source.wanted.since)):
            if len(part.rows):
                records = part.of.records[part.rows["record_row"]]
                batches = part.of.batches[records["batch_row"]]
                columns = {**_common(source), **_texts(part, source)}
                yield offset_commits(part.rows, records, batches, columns)


def _texts(part: CommitChunk, source: Source) -> dict[str, Any]:
    """The columns that lie in the records' bytes, where they are wanted."""
    rows, data, wanted = part.rows, part.of.data, source.wanted
    given = {name: rows[f"{name}_length"] for name in ("group", "topic")}
    given["metadata"] = np.where(rows["metadata_length"] > 0, rows["metadata_length"], -1)
    columns = {
        name: strings(packed(data, rows[f"{name}_start"], lengths))
        for name, lengths in given.items()
        if wanted.column(name)
    }
    return columns | ({"topic_id": _topic_ids(rows["topic_id_start"], data)} if wanted.column("topic_id") else {})


def _topic_ids(starts: Any, data: memoryview) -> Any:
    """Ids that lie in a buffer as text, each distinct one written once; null for a start of -1, and for zeros."""
    ids = packed(data, starts, np.where(starts >= 0, UUID_SIZE, -1)).dictionary_encode()
    words = [text_of_uuid(value) for value in ids.dictionary.to_pylist()]
    return pa.array([word if word != ZERO_UUID else None for word in words], STRING).take(ids.indices)


def event_table(found: Iterable[Source]) -> Batches:
    """Stream `cluster_events`."""
    for source in found:
        if source.has_metadata:
            with opened(source) as file:
                if file and source.item.part is not None:
                    yield from _printed_events(source, file)
                elif file:
                    yield from _events(source, metadata_walk(source, file))


def metadata_walk(source: Source, file: OpenFile) -> MetadataWalk:
    """Return a walk over the records of a segment or snapshot of the metadata log."""
    return MetadataWalk(file, **walk_options(source, True))


def _events(source: Source, walk: MetadataWalk) -> Batches:
    common = _of_file(source)
    for chunk in walk.chunks():
        for part in walk.records_of(not_before(chunk, source.wanted.since)):
            if len(part.records):
                batches = part.batches[part.records["batch_row"]]
                yield cluster_events(part.records, batches, part.codes, _columns(part.said, source.wanted), common)


def _printed_events(source: Source, file: OpenFile) -> Batches:
    assert source.item.part is not None
    rows, common = printed_metadata(file, source.item.part), _of_file(source)
    while some := list(islice(rows, PRINTED_AT_ONCE)):
        said = [one for _, one in some]
        told = _columns(said, source.wanted)
        rows_of = (dict(zip(told, values, strict=True)) for values in zip(*told.values(), strict=True))
        yield CLUSTER_EVENTS.rows([{**common, **place, **row} for (place, _), row in zip(some, rows_of, strict=True)])


def _of_file(source: Source) -> dict[str, Any]:
    """The columns that all records of a file share: topic and partition are those that a record names."""
    columns = source.common()
    del columns["topic"], columns["partition"]
    named = parse_metadata_snapshot_file(places.name(source.item.path))
    return {
        **columns,
        "is_snapshot": source.item.kind is Kind.METADATA_SNAPSHOT,
        "snapshot_offset": named.end_offset if named else None,
    }


def _columns(said: list[Said], wanted: Wanted) -> dict[str, list[Any]]:
    """What records say, by column, where it is wanted."""
    told = [columns_of(one) for one in said]
    columns = {column.name: [one.get(column.name) for one in told] for column in SAID if wanted.column(column.name)}
    columns["kind"] = [one.kind for one in said]
    columns["record_version"] = [one.version for one in said]
    return columns | ({"fields": list(map(fields_text, said))} if wanted.column("fields") else {})
