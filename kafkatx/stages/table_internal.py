"""Streams of the tables of two internal topics: what groups committed, and what the controllers noted.

A row tells what its record says and no more: the name of a topic that a record gives the id of stands in another file,
perhaps, and a stretch of a file is read without the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.evidence.item import Kind
from kafkatx.formats.file_names import parse_metadata_snapshot_file
from kafkatx.formats.uuid_text import UUID_SIZE, text_of_uuid
from kafkatx.segments.metadata_columns import columns_of, fields_text
from kafkatx.segments.metadata_log import Said
from kafkatx.segments.offset_commits import CommitChunk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Batches, Source, printed
from kafkatx.stages.table_segments import packed, strings
from kafkatx.tables.cluster_events import CLUSTER_EVENTS, SAID, cluster_events
from kafkatx.tables.columns import STRING, microseconds
from kafkatx.tables.offset_commits import OFFSET_COMMITS, offset_commits
from kafkatx.text.dump.metadata import metadata_said
from kafkatx.text.dump.offsets import offset_rows
from kafkatx.text.dump.table import TextRecord, record_rows
from kafkatx.text.pages.part import TextPart
from kafkatx.text.tools.console import offset_commits as told_commits

ZERO_UUID = text_of_uuid(bytes(UUID_SIZE))


def commits_of(source: Source) -> Batches:
    """Stream `offset_commits` of a file: of a segment, of a print of one, of what a console consumer printed."""
    common = source.common("topic", "partition")  # a commit's own are those that were consumed
    common["offsets_partition"] = source.partition if source.wants("offsets_partition") else None
    if source.item.part is not None:
        for some in printed(source, told_commits if source.item.kind is Kind.OFFSETS else offset_rows):
            yield OFFSET_COMMITS.of_objects(some, {**common, "metadata": [one.metadata or None for one in some]})
        return
    for _, parts in source.reading().commits(source.extent):
        for part in parts:
            if len(part.rows):
                records = part.of.records[part.rows["record_row"]]
                batches = part.of.batches[records["batch_row"]]
                yield offset_commits(part.rows, records, batches, {**common, **_texts(part, source)})


def _texts(part: CommitChunk, source: Source) -> dict[str, Any]:
    """The columns that lie in the records' bytes, where they are wanted."""
    rows, data = part.rows, part.of.data
    metadata = np.where(rows["metadata_length"] > 0, rows["metadata_length"], -1)
    given = {
        "group_id": (rows["group_start"], rows["group_length"]),
        "topic": (rows["topic_start"], rows["topic_length"]),
        "metadata": (rows["metadata_start"], metadata),
    }
    columns = {name: strings(packed(data, *place)) for name, place in given.items() if source.wants(name)}
    return columns | ({"topic_id": _topic_ids(rows["topic_id_start"], data)} if source.wants("topic_id") else {})


def _topic_ids(starts: Any, data: memoryview) -> Any:
    """Ids that lie in a buffer as text, each distinct one written once; null for a start of -1, and for zeros."""
    ids = packed(data, starts, np.where(starts >= 0, UUID_SIZE, -1)).dictionary_encode()
    words = [text_of_uuid(value) for value in ids.dictionary.to_pylist()]
    return pa.array([word if word != ZERO_UUID else None for word in words], STRING).take(ids.indices)


def metadata_of(source: Source) -> Batches:
    """Stream `cluster_events` of a file: of a segment or snapshot of the metadata log, or of a print of one."""
    common = _of_file(source)
    if source.item.part is not None:
        for some in printed(source, _printed_metadata):
            records, said = [record for record, _ in some], [one for _, one in some]
            times = {"event_time": [microseconds(record.timestamp) for record in records]}
            yield CLUSTER_EVENTS.of_objects(records, {**common, **times, **_columns(said, source)})
        return
    for _, parts in source.reading().metadata(source.extent):
        for part in parts:
            if len(part.records):
                batches = part.batches[part.records["batch_row"]]
                yield cluster_events(part.records, batches, part.codes, _columns(part.said, source), common)


def _printed_metadata(file: OpenFile, part: TextPart) -> Iterator[tuple[TextRecord, Said]]:
    """Each record that a dump of the metadata log, or of a snapshot, shows, and what it says."""
    said = ((record, metadata_said(record)) for record in record_rows(file, part))
    return ((record, one) for record, one in said if one is not None)


def _of_file(source: Source) -> dict[str, Any]:
    """The columns that all records of a file share: topic and partition are those that a record names."""
    named = parse_metadata_snapshot_file(places.name(source.item.path))
    return {
        **source.common("topic", "partition"),
        "is_snapshot": source.item.kind is Kind.METADATA_SNAPSHOT,
        "snapshot_offset": named.end_offset if named else None,
    }


def _columns(said: list[Said], source: Source) -> dict[str, list[Any]]:
    """What records say, by column, where it is wanted."""
    told = [columns_of(one) for one in said]
    columns = {column.name: [one.get(column.name) for one in told] for column in SAID if source.wants(column.name)}
    columns["kind"] = [one.kind for one in said]
    columns["record_version"] = [one.version for one in said]
    return columns | ({"fields": list(map(fields_text, said))} if source.wants("fields") else {})
