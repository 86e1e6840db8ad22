"""Facts in Parquet files: a row group is read whole and alone, so that groups can be read anywhere.

The files may be anybody's: what is no row of facts, or more than a row group of ours holds, is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kafkatx.sources import places
from kafkatx.stages.fact_batches import FACTS, record_batches
from kafkatx.stages.facts import FOLDED, OF_CAPTURE, READ, FactKind, FactsError
from kafkatx.stages.uniting import Renumbering, UnitedCapture
from kafkatx.terms.records import dataclass

KEYS = FACTS.names[:-1]
ROWS_AT_ONCE = 8
LARGEST_GROUP = 1 << 30
"""Bytes of a row group before it is compressed: kafkatx closes one at a small part of that."""


@dataclass(frozen=True, slots=True)
class FactGroup:
    """A row group of a file; `numbers` lead from the number of a capture in the file to that among all captures.

    `united` says, by the number of a capture in the file, where its facts belong that other runs have as well. Of these
    either strays are read (snapshots whose partition has a log in another run), or all others, or both (None).
    `without` are captures, by their numbers in the file, that are not asked for. Where there are `plans` it is no row
    group: it stands for the plans of united captures, by their numbers among all.
    """

    path: str
    group: int
    numbers: tuple[int, ...]
    united: tuple[tuple[int, Renumbering], ...] = ()
    strays: bool | None = None
    without: frozenset[int] = frozenset()
    plans: tuple[tuple[int, UnitedCapture], ...] = ()


@contextlib.contextmanager
def opened(path: str) -> Iterator[Any]:
    """Open a file of facts as a ParquetFile; raises FactsError where it is none, or can't be read."""
    try:
        with pq.ParquetFile(places.stream(path) if places.is_url(path) else path, pre_buffer=False) as file:
            if [(one.name, one.type) for one in file.schema_arrow] != [(one.name, one.type) for one in FACTS]:
                raise FactsError(f"{path} has other columns than facts")
            largest = max((file.metadata.row_group(at).total_byte_size for at in groups(file)), default=0)
            if largest > LARGEST_GROUP:
                raise FactsError(f"{path} holds a row group of {largest:,} bytes")
            yield file
    except (OSError, pa.ArrowException) as error:
        raise FactsError(f"{path} can't be read: {error}") from error


def groups(file: Any) -> range:
    """Return the numbers of the row groups of a file."""
    return range(file.metadata.num_row_groups)


def loaded(source: FactGroup) -> Iterator[Any]:
    """Yield what stages two and three are given of a row group, as RecordBatches of FACTS; raises FactsError."""
    if source.plans:
        yield from record_batches(fact for number, capture in source.plans for fact in capture.plan_facts(number))
        return
    with opened(source.path) as file:
        for batch in file.iter_batches(ROWS_AT_ONCE, row_groups=[source.group], use_threads=False):
            found = _chosen(batch, source)
            if found.num_rows:
                yield found


def _chosen(batch: Any, source: FactGroup) -> Any:
    if any(column.null_count for column in batch.columns):
        raise FactsError(f"{source.path} holds null")
    captures, ranks = (batch.column(name).to_numpy() for name in ("capture", "rank"))
    if not np.isin(ranks, [*READ]).all() or (captures >= len(source.numbers)).any():
        raise FactsError(f"{source.path} holds what is no fact of an export")
    wanted = np.isin(ranks, [*FOLDED]) & (captures >= 0) & ~np.isin(captures, [*source.without])
    rows = batch.filter(pa.array(wanted))
    if source.united or source.strays is not None:
        rows = _renumbered(rows, source)
    renumbered = np.array(source.numbers, np.int32)[rows.column("capture").to_numpy()]
    columns = [pa.array(renumbered), *rows.columns[1:]]
    return pa.RecordBatch.from_arrays(columns, schema=FACTS)


def _renumbered(rows: Any, source: FactGroup) -> Any:
    """The rows of captures that other runs have as well, with their places in the united plan; others as they are."""
    belongs, kept = dict(source.united), []
    numbers, files = rows.column("number").to_numpy().copy(), rows.column("file").to_numpy().copy()
    for at, keys in enumerate(zip(*(rows.column(name).to_pylist() for name in KEYS[:5]), strict=True)):
        capture, number, rank, _, file = keys
        part = belongs.get(capture)
        if part is None or number == OF_CAPTURE:
            kept.append(part is None and not source.strays)
            continue
        place = part.place(FactKind(rank), number, file)
        kept.append(place is not None and source.strays in (None, number in part.strays))
        if place is not None:
            numbers[at], files[at] = place
    columns = [rows.column(0), pa.array(numbers), *rows.columns[2:4], pa.array(files), *rows.columns[5:]]
    return pa.RecordBatch.from_arrays(columns, schema=FACTS).filter(pa.array(kept, pa.bool_()))


@dataclass(frozen=True, slots=True)
class FoundRow:
    """Where a row of facts lies, and its keys: those of FACTS without the payload."""

    path: str
    group: int
    row: int
    at: int
    file: int
    begin: int
    piece: int


def find(paths: tuple[str, ...], capture: int, number: int, rank: int) -> list[FoundRow]:
    """Find the rows of a subject that are of a rank; their payloads are not read. Raises FactsError."""
    wanted = {"capture": capture, "number": number, "rank": rank}
    found: list[FoundRow] = []
    for path in paths:
        with opened(path) as file:
            for group in groups(file):
                if _may_hold(file.metadata.row_group(group), wanted):
                    found += _rows_found(path, group, file.read_row_group(group, KEYS, use_threads=False), wanted)
    return found


def payloads(path: str, group: int) -> Any:
    """Return the payloads of a row group as an Arrow column; raises FactsError."""
    with opened(path) as file:
        return file.read_row_group(group, ["payload"], use_threads=False).column(0)


def _may_hold(metadata: Any, wanted: dict[str, int]) -> bool:
    """Whether a row group can hold a row, by its statistics."""
    for column in range(metadata.num_columns):
        one = metadata.column(column)
        known = one.statistics if one.path_in_schema in wanted else None
        if known is not None and known.has_min_max and not known.min <= wanted[one.path_in_schema] <= known.max:
            return False
    return True


def _rows_found(path: str, group: int, table: Any, wanted: dict[str, int]) -> Iterator[FoundRow]:
    if any(column.null_count for column in table.columns):
        raise FactsError(f"{path} holds null")
    chosen = np.logical_and.reduce([table.column(name).to_numpy() == value for name, value in wanted.items()])
    rows = np.flatnonzero(chosen)
    keys = (table.column(name).to_numpy()[rows].tolist() for name in ("first_offset", "file", "begin", "piece"))
    for row, *key in zip(rows.tolist(), *keys, strict=True):
        yield FoundRow(path, group, row, *key)
