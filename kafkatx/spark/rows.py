"""The rows of a task, where it runs: decoded, chosen, cut to what Spark is handed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkatx.segments.names import Names
from kafkatx.sources import places
from kafkatx.sources.archives import unpacked_places
from kafkatx.sources.stores import take
from kafkatx.spark.conform import conform
from kafkatx.spark.planning import Task
from kafkatx.stages import table_damage as beside
from kafkatx.stages import table_files as files
from kafkatx.stages import table_internal as internal
from kafkatx.stages.table_logs import event_table
from kafkatx.stages.table_settings import settings_table
from kafkatx.stages.table_texts import printed_records
from kafkatx.tables import logs
from kafkatx.terms.errors import UsageError

ROWS_AT_ONCE = 32_768
BYTES_AT_ONCE = 8 << 20
"""What one RecordBatch holds at most, a single row aside."""

STREAMS: dict[str, Callable[[Task], Iterator[Any]]] = {
    "files": lambda task: beside.file_table(task.sources),
    "batches": lambda task: files.batch_table(task.sources, task.request.verify_all, logs.batches),
    "markers": lambda task: files.batch_table(task.sources, task.request.verify_all, logs.markers),
    "records": lambda task: files.record_table(task.sources, task.request.verify_all, printed_records),
    "transaction_states": lambda task: files.state_table(task.sources, lambda source: Names()),
    "aborted_transactions": lambda task: beside.aborted_table(task.sources),
    "producer_states": lambda task: beside.producer_table(task.sources),
    "offset_commits": lambda task: internal.commit_table(task.sources),
    "cluster_events": lambda task: internal.event_table(task.sources),
    "log_events": lambda task: event_table(task.sources),
    "settings": lambda task: settings_table(task.captures),
    "damage": lambda task: beside.damage_table(task.sources, task.request.verify_all),
}
"""How each table is read of its files."""


def decoded(task: Task) -> Iterator[Any]:
    """Yield the rows of a task in a Python worker of Spark, which has one thread and leaves nothing behind."""
    pa.set_cpu_count(1)
    take(task.ways)
    with unpacked_places():
        yield from rows_of(task)


def rows_of(task: Task) -> Iterator[Any]:
    """Yield the rows of a task as RecordBatches of its schema, in order of the files and within each.

    Raises UsageError where this machine does not have the paths at all; a file that is gone or damaged is no error.
    """
    for root in task.roots:
        _check(root)
    schema, chosen = task.request.schema, task.request.chosen
    yield from in_size(conform(chosen(read), schema) for read in STREAMS[task.request.table](task))


def _check(root: str) -> None:
    """Look whether this machine has a path, or reaches the store; raises UsageError where it does not."""
    try:
        why = None if places.is_there(root) else "put it where all machines find it"
    except OSError as error:
        why = str(error.strerror)
    if why is not None:
        raise UsageError(f"{root}: a worker of Spark does not have it; {why}")


def in_size(batches: Iterable[Any]) -> Iterator[Any]:
    """Join small RecordBatches and cut large ones, so that none has more than ROWS_AT_ONCE and BYTES_AT_ONCE."""
    held: list[Any] = []
    rows = size = 0
    for piece in (piece for batch in batches for piece in _cut(batch)):
        if held and (rows + piece.num_rows > ROWS_AT_ONCE or size + piece.nbytes > BYTES_AT_ONCE):
            yield _joined(held)
            held, rows, size = [], 0, 0
        held.append(piece)
        rows, size = rows + piece.num_rows, size + piece.nbytes
    if held:
        yield _joined(held)


def _cut(batch: Any) -> Iterator[Any]:
    """Halves of a batch, and of these, until they are small enough; none of an empty one."""
    rows = batch.num_rows
    if rows <= 1 or (rows <= ROWS_AT_ONCE and batch.nbytes <= BYTES_AT_ONCE):
        if rows:
            yield batch
        return
    yield from _cut(batch.slice(0, rows // 2))
    yield from _cut(batch.slice(rows // 2))


def _joined(batches: list[Any]) -> Any:
    return batches[0] if len(batches) == 1 else pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
