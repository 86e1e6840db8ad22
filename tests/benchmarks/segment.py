"""One growing segment: .log, .index, .timeindex and .txnindex, as a broker that appends batch by batch writes them.

Blocks are arrays of one dtype whose rows hold the same batches at the same places, so positions are found once a block.
Source: LogSegment.append, OffsetIndex, TimeIndex, TransactionIndex (Kafka 3.9).
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks.layouts import HEADER, LENGTH_FROM, OFFSET_INDEX, TIME_INDEX, Array

INDEX_INTERVAL_BYTES = 4096
"""log.index.interval.bytes: an index entry about once in so many bytes."""


class Segment:
    """The files that share one base offset."""

    def __init__(self, folder: Path, base_offset: int) -> None:
        self.folder = folder
        self.base_offset = base_offset
        self.size = 0
        self._last_position = 0
        self._newest = (-1, -1)
        self._indexed_time = -1
        for suffix in ("log", "index", "timeindex"):
            self._add(suffix, np.zeros(0, dtype="u1"))

    def append(self, blocks: Array) -> tuple[int, int]:
        """Append blocks and index them; returns the first and the last offset in them."""
        return self._append(blocks, *_batches(blocks))

    def append_batches(self, raw: Array, starts: Array) -> tuple[int, int]:
        """Append bytes whose batches begin at `starts`; returns the first and the last offset in them."""
        return self._append(raw, starts, _headers(raw, starts))

    def _append(self, blocks: Array, positions: Array, headers: Array) -> tuple[int, int]:
        last_offsets = (headers["base_offset"] + headers["last_offset_delta"]).astype("i8")
        self._add("log", blocks)
        self._index(positions + self.size, last_offsets, headers["max_timestamp"].astype("i8"))
        self.size += blocks.nbytes
        return int(headers["base_offset"][0]), int(last_offsets[-1])

    def append_aborted(self, entries: Array) -> None:
        """Append .txnindex entries; the file exists only if there are any."""
        if len(entries):
            self._add("txnindex", entries)

    def close(self) -> None:
        """Write the time index entry that a roll or a clean stop adds."""
        time, offset = self._newest
        if time > self._indexed_time:
            self._add_times(np.array([time]), np.array([offset]))

    def _index(self, positions: Array, last_offsets: Array, times: Array) -> None:
        interval = np.concatenate([[self._last_position], positions]) // INDEX_INTERVAL_BYTES
        chosen = np.flatnonzero(np.diff(interval))
        entries = np.zeros(len(chosen), dtype=OFFSET_INDEX)
        entries["relative_offset"] = last_offsets[chosen] - self.base_offset
        entries["position"] = positions[chosen]
        self._add("index", entries)
        self._last_position = int(positions[-1])
        self._index_times(times, last_offsets, chosen)

    def _index_times(self, times: Array, offsets: Array, chosen: Array) -> None:
        time, offset = self._newest
        highest = np.maximum.accumulate(np.maximum(times, time))
        rises = np.diff(highest, prepend=time) > 0
        holder = np.maximum.accumulate(np.where(rises, offsets, offset))
        self._newest = (int(highest[-1]), int(holder[-1]))
        kept = chosen[np.diff(highest[chosen], prepend=self._indexed_time) > 0]
        self._add_times(highest[kept], holder[kept])

    def _add_times(self, times: Array, offsets: Array) -> None:
        entries = np.zeros(len(times), dtype=TIME_INDEX)
        entries["timestamp"] = times
        entries["relative_offset"] = offsets - self.base_offset
        self._add("timeindex", entries)
        if len(times):
            self._indexed_time = int(times[-1])

    def _add(self, suffix: str, rows: Array) -> None:
        with (self.folder / f"{self.base_offset:020d}.{suffix}").open("ab") as file:
            rows.tofile(file)


def _batches(blocks: Array) -> tuple[Array, Array]:
    """Positions (from the first block's start) and headers of all batches in blocks."""
    raw = np.ascontiguousarray(blocks).view("u1").reshape(-1)
    inside = np.fromiter(_walk(raw[: blocks.dtype.itemsize]), dtype="i8")
    starts = np.arange(len(blocks), dtype="i8") * blocks.dtype.itemsize
    positions = (starts[:, None] + inside).reshape(-1)
    return positions, _headers(raw, positions)


def _headers(raw: Array, positions: Array) -> Array:
    headers: Array = raw[positions[:, None] + np.arange(HEADER.itemsize)].view(HEADER).reshape(-1)
    return headers


def _walk(block: Array) -> Iterator[int]:
    position, length_at = 0, HEADER.fields["batch_length"][1]  # type: ignore[index]
    while position < len(block):
        yield position
        length = block[position + length_at : position + LENGTH_FROM].view(">i4")[0]
        position += LENGTH_FROM + int(length)
