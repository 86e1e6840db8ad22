"""Where the batches of a log lie, and what else is read of files beside their rows: as they lie here, or elsewhere.

An engine that has the files reads of them only what findings cite (`FilesAtHand`). Where they may be gone, all of it
was read before (`placed_batches`), and something else takes the place of the files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.file_entries import snapshot_entries
from kafkatx.evidence.item import Item
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.findings.finding import NotCheckable
from kafkatx.kernels.batches import CHECK_ALL, CHECK_NONE, HEADER_SIZE
from kafkatx.kernels.rows import INVALID, UNCHECKED, VALID
from kafkatx.segments.batches import Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.resync import crc_matches
from kafkatx.sources.files import OpenFile
from kafkatx.stages.listings import hidden_records

PLACED = np.dtype(
    [
        ("position", "i8"),
        ("base_offset", "i8"),
        ("last_offset", "i8"),
        ("line", "i8"),
        ("leader_epoch", "i4"),
        ("record_count", "i4"),
        ("magic", "i1"),
        ("crc_valid", "i1"),
    ],
    align=True,
)
"""Where a batch lies: bytes of its file; `line` (from 1) in a text, else -1. `leader_epoch` and `record_count` decide
between copies. `crc_valid` as in kernels.rows."""
MODERN = 2


class Files(Protocol):
    """What is read of the files of a capture when its findings are known."""

    def batches(self, item: Item, offsets: list[int]) -> Iterator[Rows]:
        """Yield where batches of a log lie (PLACED), at least those that hold one of the offsets; may raise OSError."""

    def crc_valid(self, item: Item, row: Any) -> bool | None:
        """Whether the CRC of a batch is right, None where it can't be told."""

    def snapshot_entries(self, item: Item) -> tuple[Rows, list[Damage]]:
        """Return the entries of a .snapshot (segments.entries.PRODUCER), and what of it could not be read."""

    def hidden_records(self, capture: Capture) -> Iterable[NotCheckable]:
        """Say what listings of consumers leave open (stages/listings.py)."""


class FilesAtHand:
    """The files themselves: one that can hold a batch that is wanted is walked by its headers."""

    def batches(self, item: Item, offsets: list[int]) -> Iterator[Rows]:
        """Yield where batches lie, CRCs unchecked; raises OSError."""
        with OpenFile(item.path) as file:
            if item.part is not None:
                yield from _printed(TextWalk(file, item.part))
            else:
                yield from (_placed(chunk.rows) for chunk in SegmentWalk(file, check=CHECK_NONE).chunks())

    def crc_valid(self, item: Item, row: Any) -> bool | None:
        """Read the batch; raises OSError."""
        if row["magic"] != MODERN:
            return None
        with OpenFile(item.path) as file:
            return _is_right(file, row)

    def snapshot_entries(self, item: Item) -> tuple[Rows, list[Damage]]:
        """Read the file."""
        return snapshot_entries(item)

    def hidden_records(self, capture: Capture) -> Iterable[NotCheckable]:
        """Read the listings."""
        return hidden_records(capture)


def placed_batches(item: Item) -> Iterator[Rows]:
    """Yield where all batches of a log lie, each with whether its CRC is right; nothing of a file that can't be read.

    A walk that checks every CRC finds the same batches as one that checks none, unless one is wrong.
    """
    with contextlib.suppress(OSError), OpenFile(item.path) as file:
        if item.part is not None:
            yield from _printed(TextWalk(file, item.part))
            return
        walk = SegmentWalk(file, check=CHECK_ALL)
        found = [_placed(chunk.rows, chunk.rows["crc_valid"]) for chunk in walk.chunks()]
        if any(one.kind == "crc" for one in walk.damage):
            found = [_checked(file, chunk.rows) for chunk in SegmentWalk(file, check=CHECK_NONE).chunks()]
        yield from found


def _placed(rows: Rows, crc_valid: Any = UNCHECKED, line: Any = -1) -> Rows:
    placed = np.zeros(len(rows), PLACED)
    for name in ("position", "base_offset", "last_offset", "leader_epoch", "record_count", "magic"):
        placed[name] = rows[name]
    placed["crc_valid"], placed["line"] = crc_valid, line
    return placed


def _printed(walk: TextWalk) -> Iterator[Rows]:
    for chunk in walk.printed():
        if len(chunk.rows):
            placed = _placed(chunk.rows, line=chunk.lines)
            placed["position"] = chunk.positions
            yield placed


def _checked(file: OpenFile, rows: Rows) -> Rows:
    valid = [(VALID if _is_right(file, row) else INVALID) if row["magic"] == MODERN else UNCHECKED for row in rows]
    return _placed(rows, valid)


def _is_right(file: OpenFile, row: Any) -> bool:
    position = int(row["position"])
    return crc_matches(file, position, file.read(position, HEADER_SIZE))
