"""Parts of a text that kafka-dump-log printed, as the rows that the dumped files give."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.batches import batch_rows
from kafkatx.text.dump.entries import aborted_rows, producer_rows
from kafkatx.text.dump.offsets import GroupRecord, OffsetCommit, offset_records
from kafkatx.text.dump.records import LogText
from kafkatx.text.dump.rows import TextRows
from kafkatx.text.dump.states import state_rows
from kafkatx.text.dump.table import TextRecord, text_records
from kafkatx.text.lines import Line, lines
from kafkatx.text.pages.part import TextPart


def batch_chunks(file: OpenFile, part: TextPart) -> Iterator[TextRows]:
    """Yield the batches (kernels.rows.BATCH) of a dumped log in chunks, at least one."""
    yield from batch_rows(_log_text(file, part))


def state_chunks(file: OpenFile, part: TextPart, names: Names) -> Iterator[tuple[TextRows, TextRows]]:
    """Yield the batches and the coordinator's rows (kernels.rows.STATE) of a dumped `__transaction_state` in chunks."""
    yield from state_rows(_log_text(file, part), names)


def record_rows(file: OpenFile, part: TextPart) -> Iterator[TextRecord]:
    """Yield the records of a dumped log that was dumped with its records."""
    yield from text_records(_log_text(file, part))


def offset_rows(file: OpenFile, part: TextPart) -> Iterator[OffsetCommit | GroupRecord]:
    """Yield the offset commits and group records of a dumped `__consumer_offsets`."""
    yield from offset_records(_log_text(file, part))


def aborted_entries(file: OpenFile, part: TextPart) -> TextRows:
    """Return the entries (columns of segments.entries.ABORTED) of a dumped .txnindex."""
    return aborted_rows(_lines(file, part), file.path)


def producer_entries(file: OpenFile, part: TextPart) -> TextRows:
    """Return the entries (columns of segments.entries.PRODUCER) of a dumped .snapshot."""
    return producer_rows(_lines(file, part), file.path)


def _log_text(file: OpenFile, part: TextPart) -> LogText:
    return LogText(_lines(file, part), file.path, part.topic, part.end - part.position)


def _lines(file: OpenFile, part: TextPart) -> Iterator[Line]:
    return lines(file, part.position, part.end, part.line)
