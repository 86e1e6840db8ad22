"""What a reader of dump text yields: rows as the bytes give them, where each stands, which columns the text told."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from typing import Any

import numpy as np

from kafkatx.kernels.rows import BATCH, STATE
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import ABORTED, PRODUCER
from kafkatx.terms.records import dataclass

ATTRIBUTES = ("is_transactional", "is_control", "codec", "timestamp_type", "delete_horizon")
"""What the one column `attributes` of a batch says; each can be known alone."""


def columns_of(dtype: np.dtype[Any]) -> tuple[str, ...]:
    """Return what a row of a dtype tells: its columns, `attributes` as its parts."""
    names = dtype.names or ()
    return tuple(part for name in names for part in (ATTRIBUTES if name == "attributes" else (name,)))


def mask_of(columns: tuple[str, ...], known: Collection[str]) -> int:
    """Return the bits of some columns."""
    return sum(1 << number for number, name in enumerate(columns) if name in known)


@dataclass(frozen=True, slots=True)
class TextRows:
    """Rows out of a text, in order of offset where they have one.

    `lines` and `positions` say where each row's line begins (line from 1, byte of the file); bit n of `known` whether
    the text carried `columns[n]` of the row, or whether it follows from what it carried: a column that is not known is
    -1 (0 where its type has no sign), and that means nothing. `left_out` are stretches of offsets (first, behind) whose
    lines were taken out of the text, as the positions and counts of batches prove; `is_elided`: so were lines or
    fields, no matter where; `is_assumed`: some are taken for transactional though no line says so
    (text/dump/abridged.py).
    """

    columns: tuple[str, ...]
    rows: Rows
    lines: Rows
    positions: Rows
    known: Rows
    damage: list[Damage] = field(default_factory=list)
    left_out: list[tuple[int, int]] = field(default_factory=list)
    is_elided: bool = False
    is_assumed: bool = False

    def knows(self, column: str) -> Rows:
        """Which rows carry a column."""
        bit: Rows = self.known & (1 << self.columns.index(column)) != 0
        return bit

    @property
    def is_telling(self) -> Rows:
        """Which batches tell enough to be laid into the model of a partition.

        Whether they are data or a marker, of a transaction or not, and whose. Of the others only the offsets count.
        """
        needed = mask_of(self.columns, ("producer_id", "is_transactional", "is_control"))
        found: Rows = self.known & needed == needed
        return found

    def __len__(self) -> int:
        return len(self.rows)


BATCH_COLUMNS = columns_of(BATCH)
STATE_COLUMNS = columns_of(STATE)


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return a dtype of a file's entries with the byte order of this machine."""
    return dtype.newbyteorder("=")


ABORTED_ENTRY = native(ABORTED)
PRODUCER_ENTRY = native(PRODUCER)
