"""Entries of the small files beside a log (.txnindex, .snapshot, leader epochs), of bytes or of what a tool printed."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from kafkatx.evidence.extents import WHOLE, Extent
from kafkatx.evidence.item import Item, Kind
from kafkatx.segments import entries
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

POSITIONS = np.zeros(0, np.int64)
ROWS_OF = {Kind.TXNINDEX: entries.ABORTED, Kind.SNAPSHOT: entries.PRODUCER, Kind.LEADER_EPOCHS: entries.EPOCH_START}
"""Row types by kinds of files."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries of a file (dtype segments.entries.ABORTED, PRODUCER or EPOCH_START), with what of it is none.

    `positions` are the bytes of the file that they begin at, or their lines.
    """

    rows: Rows
    damage: list[Damage]
    positions: Rows = field(default_factory=POSITIONS.copy)


def file_entries(item: Item, extent: Extent = WHOLE) -> Entries:
    """Read such a file; no entries where it is damaged or can't be read."""
    read = READERS[item.kind]
    try:
        with OpenFile(item.path) as file:
            extent.cut_off(file)
            if item.part is None:
                return read(item.path, file.read(0, file.size))
            from kafkatx.text.dump.entries import aborted_entries, producer_entries

            printed = (aborted_entries if item.kind is Kind.TXNINDEX else producer_entries)(file, item.part)
            return Entries(printed.rows, printed.damage, printed.positions)
    except OSError as error:
        return Entries(read(item.path, b"").rows, [unreadable(item, str(error.strerror))])


def snapshot_entries(item: Item) -> tuple[Rows, list[Damage]]:
    """Entries (segments.entries.PRODUCER) of a .snapshot, none where it is damaged or can't be read; its damage."""
    return small_file(item)


def small_file(item: Item) -> tuple[Rows, list[Damage]]:
    """Entries (ROWS_OF its kind) of a small file, none where it is damaged or can't be read; its damage."""
    found = file_entries(item)
    return found.rows.astype(ROWS_OF[item.kind]), found.damage


def unreadable(item: Item, problem: str) -> Damage:
    """The damage of a file that can't be read."""
    return Damage("unreadable", item.path, 0, item.size, "a readable file", problem)


def _aborted(path: str, data: bytes) -> Entries:
    whole = np.frombuffer(data, entries.ABORTED, len(data) // entries.ABORTED.itemsize)
    positions = np.flatnonzero(whole["version"] == 0) * entries.ABORTED.itemsize
    return Entries(*entries.aborted_transactions(path, data), positions)


def _producers(path: str, data: bytes) -> Entries:
    rows, damage = entries.producer_states(path, data)
    return Entries(rows, damage, entries.SNAPSHOT_HEADER_SIZE + np.arange(len(rows)) * entries.PRODUCER.itemsize)


def _leader_epochs(path: str, data: bytes) -> Entries:
    return Entries(entries.leader_epochs(data), [])


READERS = {Kind.TXNINDEX: _aborted, Kind.SNAPSHOT: _producers, Kind.LEADER_EPOCHS: _leader_epochs}
