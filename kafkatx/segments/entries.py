"""Entries of .txnindex, .snapshot and leader-epoch-checkpoint files as arrays.

They are declared in formats/aborted_txn.py, formats/producer_snapshot.py and formats/checkpoints.py.
"""

from __future__ import annotations

from typing import Any

import google_crc32c
import numpy as np

from kafkatx.formats.checkpoints import parse_leader_epochs
from kafkatx.segments.damage import Damage

ABORTED = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)
PRODUCER = np.dtype(
    [
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("last_sequence", ">i4"),
        ("last_offset", ">i8"),
        ("offset_delta", ">i4"),
        ("timestamp", ">i8"),
        ("coordinator_epoch", ">i4"),
        ("open_since_offset", ">i8"),
    ]
)
EPOCH_START = np.dtype([("epoch", ">i4"), ("start_offset", ">i8")])
SNAPSHOT_HEADER_SIZE = 10


def aborted_transactions(path: str, data: bytes) -> tuple[Any, list[Damage]]:
    """Entries (dtype ABORTED) of a .txnindex, and what of it is none: a partial last entry, a version that is not 0."""
    whole = len(data) // ABORTED.itemsize
    entries = np.frombuffer(data, ABORTED, whole)
    damage = [
        Damage(
            "entry",
            path,
            int(number) * ABORTED.itemsize,
            ABORTED.itemsize,
            "an entry of version 0",
            f"version {int(entries['version'][number])}",
        )
        for number in np.flatnonzero(entries["version"] != 0)[:100]
    ]
    if len(data) % ABORTED.itemsize:
        found = f"{len(data) % ABORTED.itemsize} bytes, then the end of the file"
        damage.append(
            Damage("torn", path, whole * ABORTED.itemsize, len(data) % ABORTED.itemsize, "an entry of 34 bytes", found)
        )
    return entries[entries["version"] == 0], damage


def producer_states(path: str, data: bytes) -> tuple[Any, list[Damage]]:
    """Entries (dtype PRODUCER) of a .snapshot; none where version, CRC or length is wrong."""
    empty = np.zeros(0, PRODUCER)
    if len(data) < SNAPSHOT_HEADER_SIZE:
        return empty, [Damage("torn", path, 0, len(data), "a snapshot header of 10 bytes", f"{len(data)} bytes")]
    version, crc = int.from_bytes(data[:2], "big", signed=True), int.from_bytes(data[2:6], "big")
    count = int.from_bytes(data[6:10], "big", signed=True)
    if version != 1:
        return empty, [Damage("header", path, 0, len(data), "a snapshot of version 1", f"version {version}")]
    if google_crc32c.value(data[6:]) != crc:
        return empty, [Damage("crc", path, 0, len(data), "the CRC the header states", "another CRC")]
    if count < 0 or SNAPSHOT_HEADER_SIZE + count * PRODUCER.itemsize != len(data):
        return empty, [
            Damage("entry", path, 6, len(data) - 6, f"{count} entries of 46 bytes", f"{len(data) - 10} bytes")
        ]
    return np.frombuffer(data, PRODUCER, count, SNAPSHOT_HEADER_SIZE), []


def leader_epochs(data: bytes) -> Any:
    """Entries (dtype EPOCH_START) of a leader-epoch-checkpoint; what of it is none is told by `verify`."""
    read = parse_leader_epochs(data.decode("utf-8", "replace"))
    return np.array([(entry.epoch, entry.start_offset) for entry in read.entries], EPOCH_START)
