"""The rows of a task that reads what is new, where it runs: of whatever files hold them by then."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from kafkatx.evidence.extents import WHOLE, Extent
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.log_marks import Mark, Newer, is_there
from kafkatx.evidence.log_tails import Segments, listed
from kafkatx.evidence.text_ends import known_by
from kafkatx.segments.resync import ExpectedNext
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.spark.conform import conform
from kafkatx.spark.growing import ATTEMPTS, GrownLog, GrownText, Growth, GrowthTask
from kafkatx.spark.rows import check, in_size
from kafkatx.stages.table_files import Source
from kafkatx.stages.table_growth import new_events, new_rows


def rows_of_growth(task: GrowthTask) -> Iterator[Any]:
    """Yield the rows of a task as RecordBatches of its schema.

    Raises UsageError where this machine lacks a path that was given, OSError where a file that is there can't be read.
    """
    for root in {one.source.item.root for one in task.grown}:
        check(root)
    schema, chosen, table = task.request.schema, task.request.chosen, task.request.table
    found = (batch for one in task.grown for batch in _rows(table, one))
    yield from in_size(conform(chosen(batch), schema) for batch in found)


def _rows(table: str, grown: Growth) -> Iterator[Any]:
    return _of_text(grown) if isinstance(grown, GrownText) else _of_log(table, grown)


def _of_log(table: str, grown: GrownLog) -> Iterator[Any]:
    """Read a range of offsets; files that go meanwhile are looked for anew, for the offsets that are left."""
    left = grown.newer
    for attempt in range(ATTEMPTS):
        try:
            for source, part in _parts(grown, left):
                yield from _sure(grown.known, source, new_rows(table, source, part))
                left = left.within(part.stop, left.stop)
            return
        except OSError:
            if attempt == ATTEMPTS - 1:
                raise


def _sure(known: Mark | None, source: Source, rows: Iterator[Any]) -> Iterator[Any]:
    """Rows of a segment; raises OSError where one that is read from a place on was cleaned before it was opened."""
    some = [*islice(rows, 1)]
    if known is not None and source.extent is not WHOLE and not is_there(known, Segments.of([source.item])):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), source.item.path)
    yield from some
    yield from rows


def _parts(grown: GrownLog, newer: Newer) -> Iterator[tuple[Source, Newer]]:
    """The segments that may hold some offsets as they lie now, each with its range."""
    folder = places.parent(grown.source.item.path)
    segments = Segments.of(listed(folder))
    begins = segments.bases
    for number, (base, stop) in enumerate(zip(begins, [*begins[1:], newer.stop], strict=True)):
        part = newer.within(base if number else 0, max(base, stop))
        if part.first < min(part.stop, newer.end.end):
            limit = segments.limit(base)
            extent = _behind(grown.known, base, segments, limit)
            yield replace(grown.source, item=segments.items[base], limit=limit, extent=extent), part


def _behind(known: Mark | None, base: int, segments: Segments, limit: int) -> Extent:
    """Where a segment is to be read from: behind what is known, if that is there still."""
    if known is None or known.base != base or not is_there(known, segments):
        return WHOLE
    return Extent(start=known.position, fit=ExpectedNext(known.noted[-1][1], limit, known.epoch))


def _of_text(grown: GrownText) -> Iterator[Any]:
    """Read a text, whatever it is called by now; none where it is gone."""
    item = grown.source.item
    for file in (item, *listed(places.parent(item.path))):
        if file.kind is Kind.TEXT and _is(file, grown.name):
            here = replace(item, path=file.path, size=file.size)
            yield from new_events(replace(grown.source, item=here), grown.begin, grown.end)
            return


def _is(item: Item, name: str) -> bool:
    try:
        with OpenFile(item.path) as file:
            return known_by(file) == name
    except OSError:
        return False
