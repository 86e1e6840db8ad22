"""Payloads of compressed batches, one behind the other in memory that is used again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from kafkatx.formats.record_batch import CODEC_MASK
from kafkatx.kernels.batches import HEADER_SIZE
from kafkatx.kernels.codec_libraries import ADDRESSES, LZ4_CONTEXT, ZSTD_CONTEXT, Addresses, addresses
from kafkatx.kernels.engine import Kernel
from kafkatx.kernels.payloads import LZ4, ZSTD, lay_payloads
from kafkatx.kernels.records import SMALLEST_RECORD
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.free_arrays import lent
from kafkatx.terms.records import dataclass

R = TypeVar("R")
WithCare = Callable[[Chunk, Any], bytes | None]
"""Gives the payload of a batch of a chunk that can't be had at once, None where it can't be had at all."""
LAID, LAST = 4 << 20, 1 << 20
"""Bytes of payloads that lie together, and room for the last one's that go beyond."""


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive batches whose records lie in one buffer, those of each at a start of their own (-1: not readable)."""

    first: int
    behind: int
    data: memoryview
    starts: Rows
    ends: Rows

    def most_records(self, batches: Rows) -> int:
        """How many records there are at most: as many as the chunk's `batches` say, or have bytes for."""
        counts = batches["record_count"][self.first : self.behind].clip(0)
        room = np.where(self.starts < 0, 0, self.ends - self.starts) // SMALLEST_RECORD
        return int(np.minimum(counts, room).sum())


class LaidPayloads:
    """Decompresses batches into buffers. Whoever holds a view of one keeps it; others are filled again."""

    def __init__(self, limit: int) -> None:
        """Prepare to read batches whose records have at most `limit` bytes."""
        self._limit = limit

    def groups(self, chunk: Chunk, first: int, behind: int, with_care: WithCare) -> Iterator[Group]:
        """Lay payloads of batches[first:behind] one behind the other, LAID bytes at a time.

        What the kernel leaves is read `with_care` when its turn comes, so that hostile batches have no more memory;
        where it needs more than there is room for, it lies apart.
        """
        codecs, starts, ends = compressed(chunk, first, behind)
        data = lay_payloads.view(chunk.data)
        number = 0
        while number < len(codecs):
            sizes, begun, at, apart = np.empty(len(codecs), np.int64), number, 0, None
            out = lent(LAID + LAST)
            while number < len(codecs) and at < LAID and apart is None:
                number, at = self._at_once(data, starts, ends, codecs, number, out, at, sizes)
                if number < len(codecs) and at < LAID:
                    payload = with_care(chunk, chunk.rows[first + number])
                    if payload is not None and len(payload) > len(out) - at:
                        apart = payload
                    else:
                        at += _put(payload or b"", out, at)
                        sizes[number] = -1 if payload is None else len(payload)
                        number += 1
            if number > begun:
                filled = out[:at].data
                del out
                yield _group(first + begun, sizes[begun:number], filled)
            if apart is not None:
                yield _group(first + number, np.array([len(apart)], np.int64), memoryview(apart))
                number += 1

    def _at_once(
        self, data: Any, starts: Rows, ends: Rows, codecs: Rows, number: int, out: Rows, at: int, sizes: Rows
    ) -> tuple[int, int]:
        """Let the kernel go on; through Python where it can't call the library of a codec."""
        calls, lay = form_for(lay_payloads, codecs)
        return lay(data, starts, ends, codecs, number, self._limit, calls, out, at, LAID, sizes)


def form_for(kernel: Kernel[Any, R], codecs: Rows) -> tuple[Addresses, Callable[..., R]]:
    """What a kernel that decompresses is given to call, and its form: plain where a codec's library can't be called."""
    calls = addresses() if kernel.is_compiled else _NONE
    is_missing = kernel.is_compiled and (
        (not calls[LZ4_CONTEXT] and LZ4 in codecs) or (not calls[ZSTD_CONTEXT] and ZSTD in codecs)
    )
    return calls, kernel.plain if is_missing else kernel


def compressed(chunk: Chunk, first: int, behind: int) -> tuple[Rows, Rows, Rows]:
    """Codecs of batches[first:behind], and where in the chunk their payloads begin and end; 0: not all is there."""
    rows = chunk.rows[first:behind]
    at = rows["position"] - chunk.data_position
    ends = at + rows["size"]
    codecs = np.where(ends <= len(chunk.data), rows["attributes"] & CODEC_MASK, 0).astype(np.int64)
    return codecs, at + HEADER_SIZE, ends


def _group(first: int, sizes: Rows, data: memoryview) -> Group:
    """Batches from `first` on, of these sizes (-1: none), one behind the other."""
    ends = sizes.clip(0).cumsum()
    return Group(first, first + len(sizes), data, np.where(sizes < 0, -1, ends - sizes), ends)


def _put(payload: bytes, out: Rows, at: int) -> int:
    out.data[at : at + len(payload)] = payload
    return len(payload)


_NONE = np.zeros(ADDRESSES, np.int64)
