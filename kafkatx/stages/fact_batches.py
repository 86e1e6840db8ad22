"""Facts as rows of one shape, and their order: so they travel between processes, and lie in files.

Rows are few and large, since each costs the way from the JVM to Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.tables.facts import FACTS as TABLE

FACTS = TABLE.schema
"""`capture` and `number` say what a fact is about: a partition or a log of a capture, by its place in the plan."""
ORDER = TABLE.order.columns
"""Facts lie in this order within a partition of Spark, and in a file."""
ORDER_OF_CAPTURES = ("capture", "rank", "number", "first_offset", "file", "begin", "piece")
"""Facts that are told come in this order: first the capture, then all partitions, then all logs."""
DDL = "capture int, number int, rank int, first_offset bigint, file int, begin bigint, piece int, payload binary"
LARGEST_PIECE = 2 << 20
"""A payload is cut into pieces of this many bytes: a row must fit the heap of a JVM several times."""
FULL_BATCH = 4 << 20
LARGEST_FACT = 1 << 30
"""Bytes of a payload with all its pieces."""


def record_batches(facts: Iterable[CaptureFact]) -> Iterator[Any]:
    """Lay facts into RecordBatches of FACTS, some megabytes each."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for fact in facts:
        payload = fact.payload
        for piece, first in enumerate(range(0, max(len(payload), 1), LARGEST_PIECE)):
            data = payload[first : first + LARGEST_PIECE]
            rows.append((fact.capture, fact.number, int(fact.rank), fact.at, fact.file, fact.begin, piece, data))
            size += len(data)
            if size >= FULL_BATCH:
                yield _record_batch(rows)
                rows, size = [], 0
    if rows:
        yield _record_batch(rows)


def _record_batch(rows: list[tuple[Any, ...]]) -> Any:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, FACTS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=FACTS)


def facts_of(
    batches: Iterable[Any], order: Sequence[str] = ORDER, error: type[Exception] = RuntimeError
) -> Iterator[CaptureFact]:
    """Return the facts of RecordBatches that come in an order, pieces joined.

    Raises `error` where they do not: nothing may be concluded of what is out of order. Of facts in a file that is
    FactsError: somebody changed them; of facts on their way in a run it is our own bug.
    """
    for key, pieces in groupby(_rows(batches, order, error), key=lambda row: row[:-2]):
        named = dict(zip(order, key, strict=False))
        rank, at = FactKind(named.pop("rank")), named.pop("first_offset")
        yield CaptureFact(rank=rank, at=at, content=_joined((row[-1] for row in pieces), error), **named)


def _joined(pieces: Iterable[bytes], error: type[Exception]) -> bytes:
    parts: list[bytes] = []
    left = LARGEST_FACT
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise error(f"a fact of more than {LARGEST_FACT:,} bytes")
        parts.append(piece)
    return b"".join(parts)


def _rows(batches: Iterable[Any], order: Sequence[str], error: type[Exception]) -> Iterator[tuple[Any, ...]]:
    last: tuple[Any, ...] = ()
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in (*order, "payload")]
        for row in zip(*columns, strict=True):
            if row[:-1] <= last:
                raise error(f"facts out of order: {row[:-1]} behind {last}")
            last = row[:-1]
            yield row
