"""Byte strings of many rows as small integers, by Arrow's dictionary encoding.

One Python object a distinct value, none a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.packing import pack_ranges


class Interner:
    """Gives every distinct byte string a code, in order of first sight."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self._codes: dict[bytes, int] = {}

    def code(self, value: bytes) -> int:
        """Return the code of one value."""
        code = self._codes.setdefault(value, len(self.values))
        if code == len(self.values):
            self.values.append(value)
        return code

    def codes(self, data: memoryview, starts: Any, lengths: Any) -> Any:
        """Codes (int32 array) of the ranges data[start : start + length]; -1 for a length of -1."""
        if not len(starts):
            return np.empty(0, np.int32)
        pack_ranges.count(len(starts))
        if lengths.max() < 0:
            return np.full(len(starts), -1, np.int32)
        if not pack_ranges.is_compiled:
            return self._one_by_one(data, starts, lengths)
        import pyarrow as pa

        packed = np.empty(max(1, int(lengths.clip(0).sum())), np.uint8)
        offsets = np.empty(len(starts) + 1, np.int32)
        pack_ranges(
            pack_ranges.view(data), np.ascontiguousarray(starts), np.ascontiguousarray(lengths), packed, offsets
        )
        array = pa.Array.from_buffers(pa.binary(), len(starts), [None, pa.py_buffer(offsets), pa.py_buffer(packed)])
        encoded = array.dictionary_encode()
        ours = np.array([self.code(value) for value in encoded.dictionary.to_pylist()], np.int32)
        codes = ours[encoded.indices.to_numpy()]
        return np.where(lengths < 0, np.int32(-1), codes)

    def _one_by_one(self, data: memoryview, starts: Any, lengths: Any) -> Any:
        ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
        return np.array([self.code(bytes(data[at : at + size])) if size >= 0 else -1 for at, size in ranges], np.int32)
