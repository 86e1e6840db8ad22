"""Which row of a fact counts: of copies that lie side by side in the table's order, one is canonical.

Rows of a fact may lie in two blocks, so the rows of the last fact wait for the block behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkatx.tables.columns import Table

NO_VALUE = -(1 << 63)
"""Stands for null where numbers are compared: below all of them."""


def with_canonical(blocks: Iterable[Any], table: Table) -> Iterator[tuple[Any, Any]]:
    """Yield blocks of rows, which come in the table's order, each with a boolean array: whether a row counts."""
    if not table.identity.copies:
        yield from ((block, pa.array(np.ones(block.num_rows, bool))) for block in blocks)
        return
    waiting: list[Any] = []
    for block in blocks:
        whole = pa.concat_tables([*waiting, block]).combine_chunks()
        ready = _last_fact(whole, table)
        waiting = [whole.slice(ready)] if ready < whole.num_rows else []
        if ready:
            yield _judged(whole.slice(0, ready), table)
    for rest in waiting:
        yield _judged(rest, table)


def _judged(block: Any, table: Table) -> tuple[Any, Any]:
    return block, pa.array(canonical_rows(block, table))


def _last_fact(block: Any, table: Table) -> int:
    """Where the rows begin that may have copies in the next block."""
    if not block.num_rows or not block.column(table.key[-1])[-1].is_valid:
        return int(block.num_rows)
    together = [name for name, _ in _side_by_side(table)]
    return int(_changes([_codes(block.column(name)) for name in together])[-1])


def _side_by_side(table: Table) -> Iterator[tuple[str, int]]:
    """The columns by which rows of a fact lie together: those of the key that the order begins with."""
    for at, name in enumerate(table.order.columns):
        if name not in table.key:
            return
        yield name, at


def canonical_rows(block: Any, table: Table) -> Any:
    """Say of each row of sorted rows whether it is the canonical one of its fact; all rows of a fact are there."""
    facts = _facts(block, table)
    if facts.max(initial=0) == len(facts) - 1:  # each row is a fact of its own
        return np.ones(len(facts), bool)
    own = block.column(table.key[-1]).is_null().to_numpy()
    best = [_ranked(block.column(name)) for name in reversed(table.identity.best)]
    order = np.lexsort((np.arange(len(facts)), *(-one for one in best), facts))
    first = np.ones(len(facts), bool)
    first[1:] = facts[order][1:] != facts[order][:-1]
    found = np.zeros(len(facts), bool)
    found[order[first]] = True
    return found | own


def _facts(block: Any, table: Table) -> Any:
    """A number for each row, the same for rows of one fact."""
    codes = [_codes(block.column(name)) for name in table.key]
    if len([*_side_by_side(table)]) == len(table.key):
        numbers = np.zeros(block.num_rows, np.int64)
        numbers[_changes(codes)[1:]] = 1
        return np.cumsum(numbers)
    return np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)[1].reshape(-1)


def _changes(codes: list[Any]) -> Any:
    """The rows that differ from the one before; the first is one."""
    differs = np.logical_or.reduce([one[1:] != one[:-1] for one in codes])
    return np.concatenate([[0], np.flatnonzero(differs) + 1])


def _codes(column: Any) -> Any:
    """Numbers that are equal where values are; null is equal to null."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_integer(values.type) or pa.types.is_timestamp(values.type):
        return _ranked(values)
    return pc.dictionary_encode(values, null_encoding="encode").indices.to_numpy(zero_copy_only=False)


def _ranked(column: Any) -> Any:
    """Numbers by which values are compared, null lowest."""
    return pc.fill_null(column.cast(pa.int64()), NO_VALUE + 1).to_numpy()
