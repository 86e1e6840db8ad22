"""An export: every table that is wanted, one after the other, into a folder that is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kafkatx.outputs.parquet.draft import ExportDraft, drafted, finish_last
from kafkatx.outputs.parquet.manifest import Manifest, Recipe, read_manifest
from kafkatx.outputs.parquet.ordering import RowOrder
from kafkatx.outputs.parquet.parts import DEFAULT_SIZES, Sizes, write_parts
from kafkatx.outputs.parquet.runs import SortRoom
from kafkatx.outputs.parquet.sorting import DEFAULT_ROOM, in_order
from kafkatx.outputs.parquet.target import TargetState, look_at
from kafkatx.tables.columns import Table
from kafkatx.terms.errors import OutputError

Stream = Callable[[str], Iterator[Any]]
"""Yields the RecordBatches of a table, by its name."""


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
    """A finished export: where it lies, what is in it, and the tables that an interrupted run had already written."""

    target: Path
    manifest: Manifest
    taken_over: tuple[str, ...]


def export(
    target: Path,
    tables: Iterable[Table],
    stream: Stream,
    recipe: Recipe,
    *,
    overwrite: bool = False,
    watch: Watch | None = None,
    room: SortRoom = DEFAULT_ROOM,
    sizes: Sizes = DEFAULT_SIZES,
) -> Exported:
    """Write tables as Parquet files to the folder `target`, each to a folder of its name.

    Args:
        target: a folder that does not exist, is empty, or (with `overwrite`) is an export.
        tables: what to write.
        stream: yields the RecordBatches of a table, by its name; not called for a table that was taken over.
        recipe: all that the rows follow from. An interrupted export of the same recipe is gone on with.
        overwrite: replace an export.
        watch: is told how far it is.
        room: memory for sorting.
        sizes: of row groups and files.

    Raises:
        UsageError: the target is something else.
        OutputError: it can't be written; what was written stays, and the next call goes on from there.
    """
    document = recipe.document()
    found = read_manifest(target)
    if look_at(target, document, overwrite) is TargetState.almost_finished and found is not None:
        finish_last(target)
        return Exported(target, found, tuple(found.tables))
    with drafted(target, document) as draft:
        taken_over = tuple(draft.manifest.tables)
        try:
            for table in tables:
                if table.name not in taken_over:
                    _write(draft, table, stream, watch or _Nobody(), room, sizes)
            draft.finish(overwrite)
        except OutputError as error:
            raise OutputError(
                f"{error}; finished tables stay in {draft.folder}, the same command goes on there"
            ) from error
    return Exported(target, draft.manifest, taken_over)


def _write(draft: ExportDraft, table: Table, stream: Stream, watch: Watch, room: SortRoom, sizes: Sizes) -> None:
    """Write one table, and note that it is there."""
    watch.begin(table.name)
    folder, runs = draft.table(table.name)
    blocks = in_order(_counted(stream(table.name), watch), table.schema, RowOrder(table.order.columns), runs, room)
    draft.note(table.name, write_parts(blocks, table, folder, sizes, watch.wrote))


def _counted(batches: Iterator[Any], watch: Watch) -> Iterator[Any]:
    for batch in batches:
        yield batch
        watch.read(batch.num_rows)
