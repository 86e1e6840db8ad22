"""Files of a dump that are no logs: aborted transactions, producer states, offset and time indexes.

Shape   the lines of kafka-dump-log 4.3.1, and the same entries as objects for JSON.
Source  DumpLogSegments.dumpTxnIndex, dumpProducerIdSnapshot (Kafka 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafkatx.formats.record_batch import sequence_before
from kafkatx.outputs.dump_lines import optional_long
from kafkatx.outputs.dump_objects import present
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import aborted_transactions, producer_states
from kafkatx.sources.files import OpenFile

Entry = tuple[str, dict[str, Any]]
"""An entry as a line of text and as fields of an object."""

LARGEST_FILE = 256 << 20
"""Bytes of such a file that are read: an index has 10 MiB, entries of millions of producers still fit."""


def aborted_entries(path: str) -> tuple[Iterator[Entry], list[Damage]]:
    """Return the entries of a .txnindex and what of it is none; raises OSError."""
    entries, damage = aborted_transactions(path, _content(path))
    return map(_aborted, entries.tolist()), damage


def producer_entries(path: str) -> tuple[Iterator[Entry], list[Damage]]:
    """Return the entries of a .snapshot and what of it is none; raises OSError."""
    entries, damage = producer_states(path, _content(path))
    return map(_producer, entries.tolist()), damage


READERS: dict[str, Callable[[str], tuple[Iterator[Entry], list[Damage]]]] = {
    "txnindex": aborted_entries,
    "snapshot": producer_entries,
}


def _content(path: str) -> bytes:
    with OpenFile(path) as file:
        return file.read(0, LARGEST_FILE)


def _aborted(entry: tuple[int, ...]) -> Entry:
    version, producer_id, first_offset, last_offset, last_stable_offset = entry
    line = (
        f"version: {version} producerId: {producer_id} firstOffset: {first_offset} lastOffset: {last_offset} "
        f"lastStableOffset: {last_stable_offset}\n"
    )
    return line, {
        "version": version,
        "producer_id": producer_id,
        "first_offset": first_offset,
        "last_offset": last_offset,
        "last_stable_offset": last_stable_offset,
    }


def _producer(entry: tuple[int, ...]) -> Entry:
    producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, coordinator_epoch, open_since = entry
    first_sequence = sequence_before(last_sequence, offset_delta)
    line = (
        f"producerId: {producer_id} producerEpoch: {epoch} coordinatorEpoch: {coordinator_epoch} "
        f"currentTxnFirstOffset: {optional_long(None if open_since < 0 else open_since)} lastTimestamp: {timestamp}"
    )
    if last_offset >= 0:
        line += (
            f" firstSequence: {first_sequence} lastSequence: {last_sequence} lastOffset: {last_offset} "
            f"offsetDelta: {offset_delta} timestamp: {timestamp}"
        )
    return f"{line}\n", {
        "producer_id": producer_id,
        "producer_epoch": epoch,
        "first_sequence": present(first_sequence),
        "last_sequence": present(last_sequence),
        "last_offset": present(last_offset),
        "timestamp_ms": timestamp,
        "coordinator_epoch": present(coordinator_epoch),
        "open_since_offset": present(open_since),
    }
