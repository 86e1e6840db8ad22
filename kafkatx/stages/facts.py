"""What travels between the stages: facts of a capture as rows of one shape, and their order.

Stage one reads: plans, snapshots, what stretches of files told, blocks of rows, logs. Stage two folds partitions, so
that stories come of them. Stage three judges captures. Rows are few and large, since each costs the way from the JVM to
Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import Any

import pyarrow as pa

from kafkatx.tables.facts import FACTS as TABLE

FACTS = TABLE.schema
"""`capture` and `number` say what a fact is about: a partition or a log of a capture, by its place in the plan."""
ORDER = TABLE.order.columns
"""Facts lie in this order within a partition of Spark, and in a file."""
DDL = "capture int, number int, rank int, at bigint, file int, begin bigint, piece int, payload binary"
LARGEST_PIECE = 2 << 20
"""A payload is cut into pieces of this many bytes: a row must fit the heap of a JVM several times."""
FULL_BATCH = 4 << 20
OF_CAPTURE, NO_CAPTURE = -1, -1
"""`number` of what is about a capture as a whole; `capture` of what is about all of them."""
LARGEST_FACT = 1 << 30
"""Bytes of a payload with all its pieces."""


class Rank(IntEnum):
    """What a fact is; of one partition or capture they come in this order.

    PLAN: what is known before reading: a Head, a Capture, or a PartitionPlan. SNAPSHOT: the entries of a .snapshot.
    TOLD: what a stretch, or a text, told beside its rows. BLOCK: rows. STORY: what a partition, or a capture, comes to.
    LOG: a log or a file of settings. INTERVALS, JOINED: what stages/joining.py is given, and makes of it.
    PLACED, HIDDEN: what is read of files in the end (stages/placed.py).
    """

    PLAN = 0
    SNAPSHOT = 1
    TOLD = 2
    BLOCK = 3
    STORY = 4
    LOG = 5
    INTERVALS = 6
    JOINED = 7
    PLACED = 8
    HIDDEN = 9


MADE = frozenset({Rank.STORY, Rank.INTERVALS, Rank.JOINED})
"""What later stages make: pickled, on its way in one run, and never read from a file."""
READ = frozenset(Rank) - MADE
"""What stage one reads: encoded by stages/codec.py, so that it may lie in a file."""
FOLDED = READ - {Rank.PLACED, Rank.HIDDEN}
"""What stages two and three are given of it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: what it is about, what it is, and its content.

    `at` is the offset that a block begins at; `file` and `begin` say of which stretch of which file it is.
    """

    capture: int
    number: int
    rank: Rank
    payload: bytes
    at: int = 0
    file: int = 0
    begin: int = 0

    @property
    def subject(self) -> tuple[int, int]:
        """Which partition or log of which capture."""
        return self.capture, self.number


def record_batches(facts: Iterable[Fact]) -> Iterator[Any]:
    """Lay facts into RecordBatches of FACTS, some megabytes each."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    for fact in facts:
        for piece, first in enumerate(range(0, max(len(fact.payload), 1), LARGEST_PIECE)):
            data = fact.payload[first : first + LARGEST_PIECE]
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


def facts_of(batches: Iterable[Any], order: Sequence[str] = ORDER) -> Iterator[Fact]:
    """Return the facts of RecordBatches that come in an order, pieces joined.

    Raises RuntimeError where they do not: nothing may be concluded of what is out of order.
    """
    for key, pieces in groupby(_rows(batches, order), key=lambda row: row[:-2]):
        named = dict(zip(order, key, strict=False))
        rank = Rank(named.pop("rank"))
        yield Fact(rank=rank, payload=_joined(row[-1] for row in pieces), **named)


def _joined(pieces: Iterable[bytes]) -> bytes:
    parts: list[bytes] = []
    left = LARGEST_FACT
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise RuntimeError(f"a fact of more than {LARGEST_FACT:,} bytes")
        parts.append(piece)
    return b"".join(parts)


def _rows(batches: Iterable[Any], order: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    last: tuple[Any, ...] = ()
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in (*order, "payload")]
        for row in zip(*columns, strict=True):
            if row[:-1] <= last:
                raise RuntimeError(f"facts out of order: {row[:-1]} behind {last}")
            last = row[:-1]
            yield row
