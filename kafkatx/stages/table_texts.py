"""Rows of tables out of what tools printed: entries of small files, records, damage. `position` is that of the line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from kafkatx.evidence.item import Kind
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.metadata_log import Said
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Source
from kafkatx.tables import entries as entry_tables
from kafkatx.tables.columns import microseconds
from kafkatx.tables.logs import RECORDS
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.text.dump.metadata import metadata_said
from kafkatx.text.dump.offsets import OffsetCommit
from kafkatx.text.dump.reading import aborted_entries, offset_rows, producer_entries, record_rows
from kafkatx.text.dump.table import TextRecord
from kafkatx.text.pages.part import TextPart
from kafkatx.text.tools.console import offset_commits as told_commits

RECORDS_AT_ONCE = 4096


def printed_entries(source: Source, file: OpenFile, part: TextPart) -> Any:
    """A RecordBatch of what a dump of a .txnindex or a .snapshot shows."""
    if source.item.kind is Kind.TXNINDEX:
        read = aborted_entries(file, part)
        return entry_tables.aborted_transactions(read.rows, read.positions, source.common())
    read = producer_entries(file, part)
    offset = source.item.base_offset if source.item.base_offset >= 0 else None
    return entry_tables.producer_states(read.rows, read.positions, {**source.common(), "snapshot_offset": offset})


def printed_records(source: Source, file: OpenFile, part: TextPart) -> Iterator[Any]:
    """RecordBatches of what a dump shows of records; contents that a decoder printed are not the record's bytes."""
    common, records = source.common(), record_rows(file, part)
    while some := list(islice(records, RECORDS_AT_ONCE)):
        yield RECORDS.rows([{**common, **_fields(record)} for record in some])


def _fields(record: TextRecord) -> dict[str, Any]:
    return {
        "position": record.position,
        "offset": record.offset,
        "timestamp": microseconds(record.timestamp) if record.timestamp >= 0 else None,
        "key": record.key,
        "value": record.value,
        "producer_id": record.producer_id,
        "producer_epoch": record.producer_epoch,
        "sequence": _present(record.sequence),
        "is_transactional": record.is_transactional,
        "is_control": record.is_control,
    }


def printed_commits(source: Source, file: OpenFile, part: TextPart) -> Iterator[dict[str, Any]]:
    """Rows of `offset_commits`, all but their file, out of a dump of `__consumer_offsets` or a console consumer's."""
    read = told_commits if source.item.kind is Kind.OFFSETS else offset_rows
    return (_commit(record) for record in read(file, part) if isinstance(record, OffsetCommit))


def _commit(commit: OffsetCommit) -> dict[str, Any]:
    return {
        "position": commit.position,
        "group": commit.group,
        "topic": commit.topic,
        "partition": commit.partition,
        "is_tombstone": commit.is_tombstone,
        "committed_offset": _present(commit.committed_offset),
        "leader_epoch": _present(commit.leader_epoch),
        "metadata": commit.metadata or None,
        "committed_at": microseconds(commit.committed_at),
        "is_transactional": commit.is_transactional,
        "producer_id": _present(commit.producer_id),
        "producer_epoch": _present(commit.producer_epoch),
        "offset": _present(commit.offset),
        "timestamp": microseconds(commit.timestamp),
    }


def printed_metadata(file: OpenFile, part: TextPart) -> Iterator[tuple[dict[str, Any], Said]]:
    """Place of each record that a dump of the metadata log, or of a snapshot, shows; and what it says."""
    for record in record_rows(file, part):
        said = metadata_said(record)
        if said is not None:
            at = microseconds(record.timestamp)
            yield {"position": record.position, "at": at, "offset": record.offset}, said


def _present(number: int | None) -> int | None:
    return number if number is not None and number >= 0 else None


def printed_damage(source: Source, file: OpenFile, part: TextPart) -> list[Damage]:
    """What of a print could not be read."""
    if source.item.kind is Kind.TXNINDEX:
        return aborted_entries(file, part).damage
    if source.item.kind is Kind.SNAPSHOT:
        return producer_entries(file, part).damage
    walk = TextWalk(file, part)
    for _ in walk.states(Names()) if source.item.topic == TRANSACTION_STATE else walk.batches():
        pass
    return walk.damage
