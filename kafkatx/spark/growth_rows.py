"""The rows of a task that reads what is new, where it runs: of whatever files hold them by then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
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
from kafkatx.stages.table_growth import new_events, new_rows, sure


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
                is_still = partial(_is_as_known, grown.known, source)
                yield from sure(new_rows(table, source, part), is_still, source.item.path)
                left = left.within(part.stop, left.stop)
            return
        except OSError:
            if attempt == ATTEMPTS - 1:
                raise


def _is_as_known(known: Mark | None, source: Source) -> bool:
    """Whether a segment that is read from a place on is the one that has it; a cleaner may have written it anew."""
    return known is None or source.extent is WHOLE or is_there(known, Segments.of([source.item]))


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
    """Read a text, whatever it is called by now; none where it is gone.

    Logs may be rolled while they are looked through: it is gone where it is found nowhere again and again.
    """
    for _ in range(ATTEMPTS):
        for file in (grown.source.item, *listed(places.parent(grown.source.item.path))):
            if file.kind is not Kind.TEXT or not _is(file, grown.name):
                continue
            here = replace(grown.source, item=replace(grown.source.item, path=file.path, size=file.size))
            rows = new_events(here, grown.begin, grown.end, partial(_is, file, grown.name))
            try:
                some = [*islice(rows, 1)]
            except OSError:
                break
            yield from some
            yield from rows
            return


def _is(item: Item, name: str) -> bool:
    try:
        with OpenFile(item.path) as file:
            return known_by(file) == name
    except OSError:
        return False
