"""An export: every table that is wanted, one after the other, into a folder that is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from kafkatx.outputs.parquet.draft import ExportDraft, drafted, finish_last, forget_empty, recover
from kafkatx.outputs.parquet.ordering import RowOrder, pieces
from kafkatx.outputs.parquet.runs import SortRoom
from kafkatx.outputs.parquet.sorting import DEFAULT_ROOM, in_order
from kafkatx.outputs.parquet.target import TargetState, look_at
from kafkatx.stages.export_manifest import Manifest, Recipe, Run, read_manifest
from kafkatx.stages.lone_copies import Ascent
from kafkatx.stages.parquet_parts import DEFAULT_SIZES, Sizes, write_parts
from kafkatx.stages.stamp import Stamp
from kafkatx.tables.columns import Table
from kafkatx.terms.errors import OutputError
from kafkatx.terms.records import dataclass

Stream = Callable[[str], Iterator[Any]]
"""Yields the RecordBatches of a table, by its name."""
InOrder = Callable[[str], Iterator[Any] | None]
"""Yields them as the table is sorted, each fact once; None where that is not to be expected."""


class Watch(Protocol):
    """Is told how far an export is."""

    def begin(self, table: str) -> None:
        """A table is begun."""

    def read(self, rows: int) -> None:
        """Some more rows of it were read."""

    def wrote(self, rows: int) -> None:
        """Some more rows of it were written."""


class _Nobody:
    """Watches nothing."""

    def begin(self, table: str) -> None: ...

    def read(self, rows: int) -> None: ...

    def wrote(self, rows: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Exported:
    """A finished export: where it lies, its runs, this one, and the tables that had already been written of it.

    `is_new` says whether anything was written: the same recipe twice is one run.
    """

    target: Path
    manifest: Manifest
    run: Run
    taken_over: tuple[str, ...]
    is_new: bool = True


def export(
    target: Path,
    tables: Iterable[Table],
    stream: Stream,
    recipe: Recipe,
    *,
    told_in_order: InOrder = lambda name: None,
    overwrite: bool = False,
    watch: Watch | None = None,
    room: SortRoom = DEFAULT_ROOM,
    sizes: Sizes = DEFAULT_SIZES,
) -> Exported:
    """Write tables as Parquet files to the folder `target`, each to a folder of its name; an export gets a run more.

    Args:
        target: a folder that does not exist, is empty, or is an export.
        tables: what to write.
        stream: yields the RecordBatches of a table, by its name; not called for a table that was taken over.
        told_in_order: the same where it comes sorted. It is asked first; where the rows do not ascend, so is `stream`.
        recipe: all that the rows follow from. An interrupted export of the same recipe is gone on with.
        overwrite: replace an export with all its runs.
        watch: is told how far it is.
        room: memory for sorting.
        sizes: of row groups and files.

    Raises:
        UsageError: the target is something else.
        OutputError: it can't be written; what was written stays, and the next call goes on from there.
    """
    recover(target)
    known = _known(target, recipe.run_id, overwrite)
    if known is not None:
        return known
    with drafted(target, Run.begun(recipe)) as draft:
        taken_over = tuple(draft.run.tables)
        try:
            for table in tables:
                if table.name not in taken_over:
                    _Writing(draft, table, watch or _Nobody(), room, sizes).written(told_in_order, stream)
            manifest = draft.finish(overwrite)
        except OutputError as error:
            raise OutputError(
                f"{error}; finished tables stay in {draft.folder}, the same command goes on there"
            ) from error
    return Exported(target, manifest, draft.run, taken_over)


def _known(target: Path, run_id: str, overwrite: bool) -> Exported | None:
    """What lies at the target where it has this very run; its last file is written if it lacks that."""
    state, manifest = look_at(target, run_id, overwrite), read_manifest(target)
    run = manifest.run(run_id) if manifest else None
    if manifest is None or run is None or state not in (TargetState.known, TargetState.almost_finished):
        return None
    if state is TargetState.almost_finished:
        finish_last(target)
        return Exported(target, manifest, run, tuple(run.tables))
    forget_empty(target)
    return Exported(target, manifest, run, (), is_new=False)


class _NotInOrderError(Exception):
    """Rows that were to come sorted do not."""


@dataclass(frozen=True, slots=True)
class _Writing:
    """A table that is being written."""

    draft: ExportDraft
    table: Table
    watch: Watch
    room: SortRoom
    sizes: Sizes

    def written(self, told_in_order: InOrder, stream: Stream) -> None:
        """Write the table, and note that it is there."""
        rows = told_in_order(self.table.name)
        if rows is None or not self._is_written_straight(rows):
            self._note(lambda runs: self._sorted(stream(self.table.name), runs))

    def _is_written_straight(self, rows: Iterator[Any]) -> bool:
        """Write rows that come sorted; False where they did not, and nothing is noted."""
        try:
            self._note(lambda runs: self._straight(rows))
        except _NotInOrderError:
            return False
        return True

    def _note(self, blocks: Callable[[Path], Iterator[Any]]) -> None:
        self.watch.begin(self.table.name)
        folder, runs = self.draft.table(self.table.name)
        parts = write_parts(blocks(runs), self.table, folder, self.sizes, self.watch.wrote, self._stamp)
        self.draft.note(self.table.name, parts)

    @property
    def _stamp(self) -> Stamp:
        run = self.draft.run
        return Stamp(run.run_id, run.exported_at, str(run.recipe["kafkatx"]))

    def _sorted(self, batches: Iterator[Any], runs: Path) -> Iterator[Any]:
        """Rows that come in any order, of which copies are compared."""
        order = RowOrder(self.table.order.columns)
        blocks = in_order(_counted(batches, self.watch), self.table.schema, order, runs, self.room)
        yield from self._stamp.stamped(blocks, self.table)

    def _straight(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Rows that come sorted, each the only one of its fact; raises _NotInOrderError where they don't."""
        ascent = Ascent(*self.table.key)
        for batch in _counted(batches, self.watch):
            if not ascent.goes_on_with(batch):
                raise _NotInOrderError
            rows = pa.Table.from_batches([batch], self.table.schema)
            each = pa.array(np.ones(batch.num_rows, bool))
            yield from pieces(self._stamp.added(rows, self.table, each), self.room.block_rows, self.room.block)


def _counted(batches: Iterator[Any], watch: Watch) -> Iterator[Any]:
    for batch in batches:
        yield batch
        watch.read(batch.num_rows)
