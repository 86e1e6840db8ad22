"""Parts of a text that kafka-dump-log printed, as the rows that the dumped files give."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile
from kafkatx.text.dump.batches import batch_rows
from kafkatx.text.dump.records import LogText
from kafkatx.text.dump.rows import TextRows
from kafkatx.text.dump.states import state_rows
from kafkatx.text.lines import lines
from kafkatx.text.pages import Part


def batch_chunks(file: OpenFile, part: Part) -> Iterator[TextRows]:
    """Yield the batches (kernels.rows.BATCH) of a dumped log in chunks, at least one."""
    yield from batch_rows(_log_text(file, part))


def state_chunks(file: OpenFile, part: Part, names: Names) -> Iterator[tuple[TextRows, TextRows]]:
    """Yield the batches and the coordinator's rows (kernels.rows.STATE) of a dumped `__transaction_state` in chunks."""
    yield from state_rows(_log_text(file, part), names)


def _log_text(file: OpenFile, part: Part) -> LogText:
    source = lines(file, part.position, part.end, part.line)
    return LogText(source, file.path, part.topic, part.end - part.position)
