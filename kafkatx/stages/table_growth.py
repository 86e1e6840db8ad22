"""Rows of tables that grow: of a log what is new since a mark, of a text what stands between two places."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Kind
from kafkatx.evidence.log_marks import Newer
from kafkatx.evidence.text_items import text_items
from kafkatx.segments.names import Names
from kafkatx.stages.table_files import Batches, Source
from kafkatx.stages.table_logs import events_of
from kafkatx.stages.table_segments import state_columns
from kafkatx.tables import logs, transactions

BUILDERS: dict[str, Any] = {"batches": logs.batches, "markers": logs.markers}
OF_LOGS = (*BUILDERS, "transaction_states")
"""Tables of what a partition's log has grown by."""
OF_TEXTS = ("log_events",)
GROWING = (*OF_LOGS, *OF_TEXTS)


def new_rows(table: str, source: Source, newer: Newer) -> Batches:
    """Stream the rows of a segment that are new; raises OSError where it can't be opened."""
    reading = source.reading()
    yield from _states(source, reading, newer) if table not in BUILDERS else _batches(table, source, reading, newer)
    if reading.entry.status == "unreadable":
        raise OSError(errno.EIO, reading.entry.note or "can't be read", source.item.path)


def _batches(table: str, source: Source, reading: FileReading, newer: Newer) -> Batches:
    build, common = BUILDERS[table], source.common()
    for rows, _ in reading.batches(source.extent):
        new = newer.of(rows)
        if len(new) and (batch := build(new, common)).num_rows:
            yield batch


def _states(source: Source, reading: FileReading, newer: Newer) -> Batches:
    names = Names()
    for _, rows in reading.states(names, source.extent):
        new = newer.of(rows)
        if len(new):
            yield transactions.transaction_states(new, state_columns(new, names, source))


def new_events(source: Source, begin: int, end: int, is_still: Callable[[], bool]) -> Batches:
    """Stream the events of a text that begin between two places of it; raises OSError where it is another one by now.

    `is_still` says whether the file holds the text: a log that is rolled while it is looked at has another name.
    """
    for item in text_items(replace(source.item, left_out=None)):
        if item.kind is Kind.TEXT_LOG:
            yield from sure(events_of(replace(source, item=item), begin, end), is_still, item.path)


def sure(rows: Iterable[Any], is_still: Callable[[], bool], path: str) -> Batches:
    """Rows of a file that was the right one before it was opened; raises OSError where it is not after that.

    Files are looked at by their names, and a broker gives those to others. Nothing was yielded then.
    """
    found = iter(rows)
    some = [*islice(found, 1)]  # the file is open now, or was
    if not is_still():
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)
    yield from some
    yield from found
