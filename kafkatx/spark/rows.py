"""The rows of a task, where it runs: decoded, chosen, cut to what Spark is handed at once."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkatx.sources import places
from kafkatx.spark.conform import conform
from kafkatx.spark.missing import MissingFile, lacks
from kafkatx.spark.planning import Task
from kafkatx.spark.request import OF_ALL_FILES
from kafkatx.spark.trail import worker_name
from kafkatx.stages.file_tables import file_rows
from kafkatx.stages.seams import begun
from kafkatx.stages.table_settings import settings_table
from kafkatx.tables.settings import SETTINGS

ROWS_AT_ONCE = 32_768
BYTES_AT_ONCE = 8 << 20
"""What one RecordBatch holds at most, a single row aside."""


def rows_of(task: Task) -> Iterator[Any]:
    """Yield the rows of a task as RecordBatches of its schema, in order of the files and within each.

    Raises WorkerLacksFileError where this machine lacks the paths; a file that is gone or damaged is no error.
    """
    for root in task.roots:
        check(root)
    schema, chosen = task.request.schema, task.request.chosen
    yield from in_size(conform(chosen(batch), schema) for batch in _read(task))


def _read(task: Task) -> Iterator[Any]:
    table = task.request.table
    if table == SETTINGS.name:
        return settings_table(task.captures)
    if table in OF_ALL_FILES:
        from kafkatx.spark.judging import told_rows  # loaded here: workers that decode have no use for rules

        return told_rows(table, task.captures, task.request.verify_all)
    return file_rows(table, begun(task.sources))


def check(root: str) -> None:
    """Look whether this machine has a path, or reaches the store; raises WorkerLacksFileError where it does not."""
    try:
        why = None if places.is_there(root) else os.strerror(errno.ENOENT)
    except OSError as error:
        why = str(error.strerror)
    if why is not None:
        raise lacks(MissingFile(root, worker_name(), why, has_folder=False))


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
