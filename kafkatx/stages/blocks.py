"""Rows on their way from one place to another: packed column by column, with the names that their codes stand for.

A block is bytes that only the process's own kin read (the same release, in one run); it is no format of a file.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import zstandard

from kafkatx.segments.batches import Rows
from kafkatx.segments.names import Names

LEVEL = 1
"""zstd: columns of headers shrink to a tenth at any level, so the fastest is taken."""


def packed(value: Any) -> bytes:
    """Pack plain data (dataclasses, lists, arrays); arrays of rows are laid out column by column first."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return zstandard.ZstdCompressor(LEVEL).compress(buffer.getbuffer())


def unpacked(data: bytes) -> Any:
    """Return what was packed."""
    return pickle.loads(zstandard.ZstdDecompressor().decompress(data))


def packed_states(rows: Rows, names: Names) -> bytes:
    """Pack coordinator rows (kernels.rows.STATE) with the names that they use, and no others."""
    rows = rows.copy()
    ids, rows["id_code"] = _used(rows["id_code"])
    lists, rows["partitions_code"] = _used(rows["partitions_code"])
    tags, rows["unknown_tags_code"] = _used(rows["unknown_tags_code"])
    named = (
        [names.transactional_ids.values[code] for code in ids],
        [[names.topic_partitions[member] for member in names.partition_lists[code]] for code in lists],
        [names.unknown_tags.values[code] for code in tags],
    )
    return packed((rows, named))


def unpacked_states(data: bytes, names: Names) -> Rows:
    """Return coordinator rows whose codes are those of `names`, which gets the names that are new to it."""
    rows, (ids, lists, tags) = unpacked(data)
    new_ids = [names.transactional_ids.code(value) for value in ids]
    new_lists = [names.list_code(tuple(sorted(names.partition_code(*one) for one in members))) for members in lists]
    new_tags = [names.unknown_tags.code(value) for value in tags]
    for name, codes in (("id_code", new_ids), ("partitions_code", new_lists), ("unknown_tags_code", new_tags)):
        rows[name] = np.array([*codes, -1], np.int32)[rows[name]]
    found: Rows = rows
    return found


def _used(codes: Any) -> tuple[list[int], Any]:
    """The codes that occur, and the rows' codes as places among them; -1 stays."""
    distinct, at = np.unique(codes, return_inverse=True)
    absent = int(np.searchsorted(distinct, 0))
    return distinct[absent:].tolist(), np.maximum(at - absent, -1)


class _Pickler(pickle.Pickler):
    """Lays arrays of rows out by columns: neighbours are alike there, so they shrink."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.names and value.ndim == 1:
            names = value.dtype.names
            return _rows_of, (value.dtype, len(value), [value[name].tobytes() for name in names])
        return NotImplemented


def _rows_of(dtype: Any, length: int, columns: list[bytes]) -> Any:
    rows = np.zeros(length, dtype)
    for name, data in zip(dtype.names, columns, strict=True):
        rows[name] = np.frombuffer(data, dtype[name])
    return rows
