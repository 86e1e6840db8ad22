"""The tables whose rows stand in one file each: which files have rows of a table, and what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from kafkatx.evidence.item import Kind
from kafkatx.stages import table_damage, table_internal, table_logs, table_segments
from kafkatx.stages.table_files import Batches, Source
from kafkatx.tables import logs
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class FileTable:
    """Whether a file may have rows of the table, and the stream of them, in memory bounded by one chunk."""

    has_rows: Callable[[Source], bool]
    rows: Callable[[Source], Batches]


def _is_log(source: Source) -> bool:
    return source.is_log


FILE_TABLES: dict[str, FileTable] = {
    "files": FileTable(lambda source: True, table_damage.files_of),
    "batches": FileTable(_is_log, partial(table_segments.batches_of, build=logs.batches)),
    "records": FileTable(_is_log, table_segments.records_of),
    "markers": FileTable(_is_log, partial(table_segments.batches_of, build=logs.markers)),
    "transaction_states": FileTable(lambda source: source.is_state_log, table_segments.states_of),
    "aborted_transactions": FileTable(lambda source: source.is_of(Kind.TXNINDEX), table_damage.aborted_of),
    "producer_states": FileTable(lambda source: source.is_of(Kind.SNAPSHOT), table_damage.producers_of),
    "offset_commits": FileTable(lambda source: source.has_commits, table_internal.commits_of),
    "cluster_events": FileTable(lambda source: source.has_metadata, table_internal.metadata_of),
    "log_events": FileTable(lambda source: source.is_of(Kind.TEXT_LOG), table_logs.events_of),
    "damage": FileTable(table_damage.has_damage, table_damage.damage_of),
}


def file_rows(table: str, found: Iterable[Source]) -> Batches:
    """Stream a table of FILE_TABLES, file by file."""
    of_file = FILE_TABLES[table]
    for source in found:
        if of_file.has_rows(source):
            yield from of_file.rows(source)
