"""Rows of which each is the only one of its fact: of partitions that lie in one folder, in ascending offsets.

Where the files lie is known before they are read, so that tells for which tables this is to be expected; that rows
ascend strictly is seen while they are read, and only that makes it so. Such rows need not be sorted nor meet others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow.compute as pc

from kafkatx.evidence.item import Item
from kafkatx.sources import places
from kafkatx.stages.table_files import Source

TOLD_IN_ORDER = ("batches", "records")
"""Tables whose rows come as they lie in the log, and of which there may be many."""


class Ascent:
    """Rows as long as each comes behind all before it by some columns, of which none is null."""

    def __init__(self, *columns: str) -> None:
        self._columns = columns
        self._first: tuple[Any, ...] | None = None
        self._last: tuple[Any, ...] | None = None

    def goes_on_with(self, rows: Any) -> bool:
        """Whether some more rows, a RecordBatch or a table of one piece, go on ascending."""
        columns = [rows.column(name) for name in self._columns]
        if not rows.num_rows:
            return True
        if any(column.null_count for column in columns):
            return False
        first, last = (tuple(column[at].as_py() for column in columns) for at in (0, rows.num_rows - 1))
        is_behind = self._last is None or first > self._last
        self._first, self._last = self._first or first, last
        return is_behind and _ascends(columns, rows.num_rows)

    def ends(self) -> tuple[Any, Any]:
        """Return what the last column has in the first and the last row; -1 where there were none."""
        return (self._first[-1], self._last[-1]) if self._first is not None and self._last is not None else (-1, -1)


def _ascends(columns: list[Any], rows: int) -> bool:
    """Whether each row comes behind the one above it."""
    behind = np.zeros(rows - 1, bool)
    for column in reversed(columns):
        upper, lower = column.slice(0, rows - 1), column.slice(1)
        same = pc.equal(upper, lower).to_numpy(zero_copy_only=False)
        if not same.all():
            behind = pc.less(upper, lower).to_numpy(zero_copy_only=False) | (same & behind)
    return bool(behind.all())


def partition_of(source: Source | None) -> str | None:
    """The partition of a capture that a log is of; None of another file, and of a log that no folder names."""
    if source is None or not source.is_log or source.capture is None or source.partition is None:
        return None
    return f"{source.capture.name}/{source.item.topic}-{source.partition}"


def are_alone(items: Iterable[Item]) -> bool:
    """Whether the logs of a partition lie in one folder, as files."""
    of_partition = [*items]
    folders = {places.parent(item.path) for item in of_partition}
    return len(folders) == 1 and all(item.part is None for item in of_partition)


def logs_in_order(table: str, found: Iterable[Source]) -> list[Source] | None:
    """Return all logs in the order of a table that is told in theirs; None of other tables, and where copies may be."""
    if table not in TOLD_IN_ORDER:
        return None
    logs = [source for source in found if source.is_log]
    of: dict[str, list[Item]] = {}
    for source in logs:
        if (partition := partition_of(source)) is None:
            return None
        of.setdefault(partition, []).append(source.item)
    if not all(map(are_alone, of.values())):
        return None
    return sorted(logs, key=_place)


def _place(source: Source) -> tuple[str, int, str, int, str]:
    capture = source.capture.name if source.capture else ""
    return source.item.topic or "", source.partition or 0, capture, source.item.base_offset, source.item.path
