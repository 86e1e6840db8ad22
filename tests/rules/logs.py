"""Partitions as bytes: batches built by the declarations of `kafkatx.formats`, and what a broker keeps beside them on
disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import google_crc32c

from kafkatx.formats.aborted_txn import AbortedTxn
from kafkatx.formats.control_record import ControlRecordKey, EndTxnMarker
from kafkatx.formats.record import Record
from kafkatx.formats.record_batch import CRC_COVERS_FROM, HEADER_SIZE, LOG_OVERHEAD, Attributes, RecordBatchHeader
from tests.declared import build_snapshot

NO_PRODUCER = (-1, -1)
TOPIC_ID = "topic_id: AAAAAAAAAAAAAAAAAAAAAQ"


@dataclass(slots=True)
class Batch:
    """A batch as it stands in the log; `next_offset` is the offset behind it."""

    base_offset: int
    next_offset: int
    data: bytes


@dataclass(slots=True)
class ProducerState:
    """What a partition knows of a producer: the entry of a snapshot."""

    epoch: int
    last_offset: int
    last_sequence: int
    timestamp: int
    coordinator_epoch: int = -1
    open_since: int = -1


@dataclass(slots=True)
class Log:
    """One partition. `ends` maps a broker to the offset at which its copy ends (None: it has everything); brokers
    that are not in it
    have no copy. `tail` is what stands behind the last whole batch, `rolled` what snapshots of earlier offsets hold."""

    topic: str
    partition: int
    ends: dict[int, int | None]
    batches: list[Batch] = field(default_factory=list)
    aborted: list[bytes] = field(default_factory=list)
    producers: dict[int, ProducerState] = field(default_factory=dict)
    next_offset: int = 0
    leader_epoch: int = 0
    log_start: int = 0
    first_dirty: int = -1
    tail: bytes = b""
    high_watermark: int = -1
    rolled: dict[int, bytes] = field(default_factory=dict)

    def data(
        self, producer: tuple[int, int], times: list[int], *, transactional: bool = True, broker_time: bool = False
    ) -> int:
        """Append a batch of one record for each time; returns its base offset."""
        attributes = (Attributes.IS_TRANSACTIONAL if transactional else 0) | (
            Attributes.LOG_APPEND_TIME if broker_time else 0
        )
        known = self.producers.get(producer[0])
        sequence = known.last_sequence + 1 if known and known.epoch == producer[1] else 0
        records = [(time, b"key-%d" % number, b"value") for number, time in enumerate(times)]
        base = self._append(records, attributes, producer, sequence if producer[0] >= 0 else -1)
        if producer[0] >= 0:
            since = known.open_since if known and known.open_since >= 0 else base if transactional else -1
            self.producers[producer[0]] = ProducerState(
                producer[1],
                self.next_offset - 1,
                sequence + len(times) - 1,
                times[-1],
                known.coordinator_epoch if known else -1,
                since,
            )
        return base

    def marker(self, producer: tuple[int, int], is_commit: bool, coordinator_epoch: int, time: int) -> int:
        """Append a transaction marker; an ABORT of open data gets its entry in the .txnindex.

        A marker of a higher epoch clears what was known of the producer's batches: its sequences begin at 0 again.
        """
        key = ControlRecordKey.build({"version": 0, "type": int(is_commit)})
        value = EndTxnMarker.build({"version": 0, "coordinator_epoch": coordinator_epoch})
        offset = self._append([(time, key, value)], Attributes.IS_TRANSACTIONAL | Attributes.IS_CONTROL, producer, -1)
        known = self.producers.get(producer[0]) or ProducerState(producer[1], -1, -1, time)
        if known.open_since >= 0 and not is_commit:
            self.aborted.append(self._aborted_txn(producer[0], known.open_since, offset))
        is_raised = known.epoch != producer[1]
        last = (-1, -1) if is_raised else (known.last_offset, known.last_sequence)
        self.producers[producer[0]] = ProducerState(producer[1], *last, time, coordinator_epoch)
        return offset

    def row(self, key: bytes, value: bytes | None, time: int) -> int:
        """Append a record without a producer, as coordinators do."""
        return self._append([(time, key, value)], 0, NO_PRODUCER, -1)

    def _aborted_txn(self, producer_id: int, first: int, last: int) -> bytes:
        others = [
            state.open_since for who, state in self.producers.items() if who != producer_id and state.open_since >= 0
        ]
        fields = {"version": 0, "producer_id": producer_id, "first_offset": first, "last_offset": last}
        return AbortedTxn.build({**fields, "last_stable_offset": min([*others, last + 1])})

    def _append(
        self, records: list[tuple[int, bytes, bytes | None]], attributes: int, producer: tuple[int, int], sequence: int
    ) -> int:
        base, first_time = self.next_offset, records[0][0]
        body = b"".join(
            Record.build(
                {
                    "attributes": 0,
                    "timestamp_delta": time - first_time,
                    "offset_delta": number,
                    "key": key,
                    "value": value,
                    "headers": (),
                }
            )
            for number, (time, key, value) in enumerate(records)
        )
        header = {
            "base_offset": base,
            "batch_length": HEADER_SIZE - LOG_OVERHEAD + len(body),
            "partition_leader_epoch": self.leader_epoch,
            "magic": 2,
            "crc": 0,
            "attributes": attributes,
            "last_offset_delta": len(records) - 1,
            "base_timestamp": first_time,
            "max_timestamp": max(record[0] for record in records),
            "producer_id": producer[0],
            "producer_epoch": producer[1],
            "base_sequence": sequence,
            "records_count": len(records),
        }
        unsealed = RecordBatchHeader.build(header) + body
        header["crc"] = google_crc32c.value(unsealed[CRC_COVERS_FROM:])
        self.next_offset = base + len(records)
        self.batches.append(Batch(base, self.next_offset, RecordBatchHeader.build(header) + body))
        return base

    def roll(self) -> None:
        """Take a snapshot of the producers here, as a new segment does."""
        self.rolled[self.next_offset] = build_snapshot(self._entries())

    def list_aborted(self, producer_id: int, first: int, last: int) -> None:
        """Add an entry to the .txnindex that no marker made."""
        self.aborted.append(self._aborted_txn(producer_id, first, last))

    def tear(self) -> None:
        """Let the file break off in the middle of one more batch."""
        self.tail = self.next_offset.to_bytes(8, "big") + self.batches[-1].data[8:60]

    def keep(self, wanted: Callable[[Batch], bool]) -> None:
        """Leave out the other batches, as a cleaner, retention or a disk does."""
        self.batches = [batch for batch in self.batches if wanted(batch)]

    def delete_before(self, offset: int) -> None:
        """Delete what lies below an offset, as retention does: the log starts there."""
        self.keep(lambda batch: batch.base_offset >= offset)
        self.log_start = offset

    def watermark_of(self, broker: int) -> int:
        """Return the high watermark that this broker's checkpoint names: its end, unless an older one was set."""
        end = self.ends[broker]
        return self.high_watermark if self.high_watermark >= 0 else self.next_offset if end is None else end

    def write(self, broker: int, directory: Path, with_metadata: bool) -> None:
        """Write this broker's copy: segment, .txnindex, .snapshot (of a whole copy), leader epochs,
        partition.metadata.
        """
        folder = directory / f"{self.topic}-{self.partition}"
        folder.mkdir(parents=True)
        end = self.ends[broker]
        kept = [batch for batch in self.batches if end is None or batch.next_offset <= end]
        base = kept[0].base_offset if kept else self.log_start
        (folder / f"{base:020d}.log").write_bytes(b"".join(batch.data for batch in kept) + self.tail)
        whole = end is None
        entries = b"".join(entry for entry in self.aborted if whole or AbortedTxn.parse(entry).last_offset < end)
        (folder / f"{base:020d}.txnindex").write_bytes(entries)
        if whole and self.producers:
            for offset, snapshot in {**self.rolled, self.next_offset: build_snapshot(self._entries())}.items():
                (folder / f"{offset:020d}.snapshot").write_bytes(snapshot)
        (folder / "leader-epoch-checkpoint").write_text(f"0\n1\n{self.leader_epoch} {self.log_start}\n")
        if with_metadata:
            (folder / "partition.metadata").write_text(f"version: 0\n{TOPIC_ID}")

    def _entries(self) -> list[dict[str, int]]:
        return [
            {
                "producer_id": producer_id,
                "producer_epoch": state.epoch,
                "last_sequence": state.last_sequence,
                "last_offset": state.last_offset,
                "offset_delta": 0,
                "timestamp": state.timestamp,
                "coordinator_epoch": state.coordinator_epoch,
                "current_txn_first_offset": state.open_since,
            }
            for producer_id, state in sorted(self.producers.items())
        ]


def checkpoint(entries: Iterable[tuple[str, int, int]]) -> str:
    """Return the text of a checkpoint file of a data directory."""
    lines = [f"{topic} {partition} {offset}" for topic, partition, offset in sorted(entries)]
    return "\n".join(["0", str(len(lines)), *lines]) + "\n"
