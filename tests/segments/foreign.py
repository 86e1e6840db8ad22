"""Random legal segments of the three formats, written and read by kafka-python: a reader that is not of this project.

Batches come one behind the other as a broker that was upgraded leaves them, every format in every codec that it has.
kafka-python's writer makes most of them; what it never writes (log append time, holes of the cleaner between and inside
batches, empty batches, markers, headers without a value) is made of our declarations and only read by it. Offsets are
given as a broker does: messages of magic 0 and 1 and headers of magic 2 have them outside of what their CRC covers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

from tests.building import batch, marker
from tests.building import record as record_bytes

CODECS = {0: (0, 1, 2, 3), 1: (0, 1, 2, 3), 2: (0, 1, 2, 3, 4)}
"""Codecs of each magic: none, gzip, snappy, lz4 (magic 0 with the frame of KAFKA-3160), zstd."""
ROOM = 1 << 20
START_MS = 1_700_000_000_000
Read = tuple[int, int | None, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""Offset, timestamp in milliseconds (magic 0 has none), key, value and headers of a record."""


@dataclass(slots=True)
class Maker:
    """Writes a segment from `offset` on."""

    dice: random.Random
    offset: int

    def segment(self, batches: int, magics: tuple[int, ...] = (0, 1, 2)) -> bytes:
        """Return batches of growing magic, as the upgrades of a cluster leave them."""
        chosen = sorted(self.dice.choice(magics) for _ in range(batches))
        return b"".join(
            self._declared() if magic == 2 and self.dice.random() < 0.4 else self._foreign(magic) for magic in chosen
        )

    def _foreign(self, magic: int) -> bytes:
        """A batch that kafka-python wrote."""
        codec, at = self.dice.choice(CODECS[magic]), self.offset
        is_absolute = magic == 0 or (magic == 1 and codec == 0)
        builder = MemoryRecordsBuilder(magic, codec, ROOM, offset=at if is_absolute else 0)
        for number in range(self.dice.randint(1, 5)):
            if number and magic < 2:
                builder.skip(self.dice.choice([0, 0, 0, 1, 7]))
            headers = self._headers() if magic == 2 else []
            timestamp = self._timestamp() if magic else None
            assert builder.append(timestamp, self._bytes(), self._bytes(), headers) is not None
        last = builder.next_offset() - 1 if is_absolute else at + builder.next_offset() - 1
        builder.close()
        self._go_on(last)
        data = bytes(builder.buffer())
        if magic == 2:
            return at.to_bytes(8, "big") + data[8:]
        return last.to_bytes(8, "big") + data[8:] if codec else data

    def _declared(self) -> bytes:
        """A batch that only a broker or its cleaner leaves behind."""
        at, dice = self.offset, self.dice
        if dice.random() < 0.2:
            self._go_on(at)
            return marker(at, 7, epoch=1, commit=dice.random() < 0.5)
        deltas = sorted(dice.sample(range(9), dice.randint(0, 4)))
        last = (deltas[-1] if deltas else 0) + dice.choice([0, 0, 3])
        content = b"".join(
            record_bytes(delta, self._bytes(), self._bytes(), timestamp_delta=dice.randint(-5, 500),
                         headers=[{"key": key, "value": value} for key, value in self._headers(nulls=True)])
            for delta in deltas
        )  # fmt: skip
        producer = {"producer_id": 7, "producer_epoch": 1, "base_sequence": 3} if dice.random() < 0.5 else {
            "producer_id": -1, "producer_epoch": -1, "base_sequence": -1}  # fmt: skip
        attributes = dice.choice([0, 8]) | (16 if producer["producer_id"] >= 0 and dice.random() < 0.7 else 0)
        header = {"last_offset_delta": last, "attributes": attributes, "base_timestamp": START_MS,
                  "max_timestamp": START_MS + 500, "records_count": len(deltas), **producer}  # fmt: skip
        self._go_on(at + last)
        return batch(at, content=content, **header)

    def _go_on(self, last: int) -> None:
        """The next batch follows, or stands behind a hole that the cleaner left."""
        self.offset = last + 1 + self.dice.choice([0, 0, 0, 1, 40])

    def _timestamp(self) -> int:
        return START_MS + self.dice.randint(-100_000, 100_000)

    def _bytes(self) -> bytes | None:
        return self.dice.choice([None, b"", b"v", b"again " * 90, self.dice.randbytes(self.dice.choice([3, 60, 400]))])

    def _headers(self, nulls: bool = False) -> list[tuple[str, bytes | None]]:
        values = (b"", b"h", None) if nulls else (b"", b"h")
        return [
            (self.dice.choice(["", "a", "ü"]), self.dice.choice(values)) for _ in range(self.dice.choice([0, 0, 2]))
        ]


def read_by_kafka_python(data: bytes) -> Iterator[Read]:
    """Yield every record of a segment, those of control batches left out; each batch's CRC holds."""
    batches = MemoryRecords(data)
    while (found := batches.next_batch()) is not None:
        assert found.validate_crc()
        if found.magic == 2 and found.is_control_batch:
            continue
        for record in found:
            headers = tuple((key, None if value is None else bytes(value)) for key, value in record.headers)
            yield record.offset, record.timestamp, record.key, record.value, headers
    assert batches.valid_bytes() == len(data)
