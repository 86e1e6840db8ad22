"""Reads a segment with aiokafka: every record's key, value, timestamp, offset and headers, and each batch's CRC.

    aiokafka_reader FILE PASSES     a line a pass over the file's bytes in memory: CPU seconds, records, a sum

The sum is over fields of the records, as the other readers make it.
"""

import sys
import time
from pathlib import Path

from aiokafka.record.memory_records import MemoryRecords

PIECE, OVERHEAD = 1 << 20, 12


def pieces(data: bytes) -> list[bytes]:
    """Whole batches, about a MiB at a time."""
    found, begin, at = [], 0, 0
    while at + OVERHEAD <= len(data):
        at += OVERHEAD + int.from_bytes(data[at + 8 : at + 12], "big")
        if at - begin >= PIECE:
            found.append(data[begin:at])
            begin = at
    return [*found, data[begin:at]]


def read(parts: list[bytes]) -> tuple[int, int]:
    """Number of records, and the sum."""
    records = total = 0
    for part in parts:
        batches = MemoryRecords(part)
        while (batch := batches.next_batch()) is not None:
            if not batch.validate_crc():
                raise ValueError("a CRC is wrong")
            for record in batch:
                records += 1
                total += record.offset + record.timestamp
                for field in (record.key, record.value):
                    if field:
                        total += len(field) + field[-1]
                for name, value in record.headers:
                    total += len(name) + len(value or b"")
    return records, total


if __name__ == "__main__":
    parts = pieces(Path(sys.argv[1]).read_bytes())
    for _ in range(int(sys.argv[2])):
        begun = time.process_time()
        records, total = read(parts)
        print(f"{time.process_time() - begun:.6f} {records} {(total + 2**63) % 2**64 - 2**63}", flush=True)
