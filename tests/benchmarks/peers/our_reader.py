"""Reads a segment with kafkatx.records, as the readers beside it do with their libraries.

    python -m tests.benchmarks.peers.our_reader FILE PASSES [file]

A line a pass over the file's bytes in memory (with `file`: over the file): CPU seconds, records, a sum. The sum is over
fields of the records; it is taken by Arrow, once, since the columns are what a pass makes.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import kafkatx


def checksum(batches: Iterator[Any]) -> int:
    """What the others sum up: offsets, times in milliseconds, lengths and last bytes of keys and values, headers."""
    total = 0
    for batch in batches:
        total += int(batch["record_offset"].to_numpy().sum())
        total += int((batch["timestamp"].cast(pa.int64()).to_numpy() // 1000).sum())
        for name in ("key", "value"):
            field = batch[name].cast(pa.binary())
            last = pc.binary_slice(field, -1).drop_null()
            total += pc.sum(pc.binary_length(field)).as_py() or 0
            total += int(np.frombuffer(b"".join(last.to_pylist()), np.uint8).sum(dtype=np.int64))
        for header in pc.list_flatten(batch["headers"]).to_pylist():
            total += len(header["key"]) + len(header["value"] or b"")
    return (total + 2**63) % 2**64 - 2**63


def main(path: str, passes: int, source: str = "memory") -> None:
    """Print a line a pass, after one that loads what is compiled."""
    segment = path if source == "file" else np.frombuffer(Path(path).read_bytes(), np.uint8)
    total = checksum(kafkatx.records(segment))
    for _ in range(passes):
        begun = time.process_time()
        records = sum(batch.num_rows for batch in kafkatx.records(segment))
        print(f"{time.process_time() - begun:.6f} {records} {total}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
