"""A stream of batches in order, however long it is: sorted runs on disk, merged. Rows that are equal keep their order.

Memory  some times `SortRoom.held` while a run is sorted, `SortRoom.merged` and a block while runs are merged; a row or
        a batch that is larger than that is held all the same, with one other.
Disk    the rows once, compressed, in `folder`; nothing where they fit into `SortRoom.held`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafkatx.outputs.parquet.ordering import Key, Keys, RowOrder, pieces
from kafkatx.outputs.parquet.runs import SortedRun, SortedRuns, SortRoom
from kafkatx.stages.disk import writing

DEFAULT_ROOM = SortRoom()


def in_order(
    batches: Iterable[Any], schema: Any, order: RowOrder, folder: Path, room: SortRoom = DEFAULT_ROOM
) -> Iterator[Any]:
    """Yield the rows of `batches` in order, as tables of at most a block.

    Args:
        batches: RecordBatches of the schema.
        schema: their schema.
        order: how to sort.
        folder: where runs may be written; those that are read are removed.
        room: how much memory to use.

    Raises:
        OutputError: the disk does not take the runs.
    """
    runs = SortedRuns(folder, schema, order, room)
    held: list[Any] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        if held and size + batch.nbytes > room.held:
            runs.add(_sorted(held, schema, order))
            size = 0
        held.append(batch)
        size += batch.nbytes
    rest = _sorted(held, schema, order)
    if runs.is_empty:
        yield from pieces(rest, room.block_rows, room.block)
        return
    runs.add(rest)
    del rest
    for table in _merged(_few(runs, order, room), order):
        yield from pieces(table, room.block_rows, room.block)


def _sorted(held: list[Any], schema: Any, order: RowOrder) -> Any:
    """Sort what is held, and let go of it."""
    table = pa.Table.from_batches(held, schema)
    held.clear()
    return order.sort(table)


def _few(runs: SortedRuns, order: RowOrder, room: SortRoom) -> list[SortedRun]:
    """Merge neighbouring runs until the blocks of all that are left fit into the room."""
    left = runs.closed()
    while len(left) > 2 and sum(run.largest for run in left) > room.merged:
        left = [
            runs.written(_merged(group, order)) if len(group) > 1 else group[0] for group in _groups(left, room.merged)
        ]
    return left


def _groups(runs: list[SortedRun], size: int) -> Iterator[list[SortedRun]]:
    """Neighbours whose blocks fit into `size` bytes together, at least two of them where there are two."""
    group: list[SortedRun] = []
    for run in runs:
        if len(group) > 1 and sum(one.largest for one in group) + run.largest > size:
            yield group
            group = []
        group.append(run)
    yield group


def _merged(runs: list[SortedRun], order: RowOrder) -> Iterator[Any]:
    """Yield the rows of several runs in order, and remove the runs.

    Of each block all rows are taken that nothing still unread can come before: up to the least of the blocks' last
    rows. Of rows equal to that one, those of later runs wait, since more of an earlier run may follow.
    """
    heads = [_Head(run, order) for run in runs]
    while heads:
        bound = min(((head.last, number) for number, head in enumerate(heads) if head.has_more), default=None)
        parts = [head.taken(bound, number) for number, head in enumerate(heads)]
        parts = [part for part in parts if part.num_rows]
        yield parts[0] if len(parts) == 1 else order.sort(pa.concat_tables(parts))
        heads = [head for head in heads if not head.is_done]
    for run in runs:
        run.remove()


class _Head:
    """A run that is being merged: its current block, without the rows that were taken."""

    _block: Any
    _keys: Keys
    last: Key

    def __init__(self, run: SortedRun, order: RowOrder) -> None:
        self._run, self._blocks, self._left, self._order = run, run.read(), run.blocks, order
        self._load()

    @property
    def has_more(self) -> bool:
        """Whether blocks follow the current one."""
        return self._left > 0

    @property
    def is_done(self) -> bool:
        """Whether all rows were taken."""
        return self._left == 0 and self._block.num_rows == 0

    def taken(self, bound: tuple[Key, int] | None, number: int) -> Any:
        """Take the rows that come before the rest of all runs; this is the run `number`, `bound` the last to take."""
        rows = len(self._keys)
        if bound is not None:
            rows = self._keys.rows_below(bound[0], inclusive=number <= bound[1])
        part, self._block = self._block.slice(0, rows), self._block.slice(rows)
        if self._block.num_rows == 0 and self.has_more:
            self._load()
        elif rows:
            self._keys = self._order.keys(self._block)
        return part

    def _load(self) -> None:
        with writing(self._run.path):
            self._block = next(self._blocks)
        self._left -= 1
        self._keys = self._order.keys(self._block)
        self.last = self._keys[len(self._keys) - 1]
