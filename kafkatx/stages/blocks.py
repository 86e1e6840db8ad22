"""Rows on their way from one place to another: packed column by column, or with the names that their codes stand for.

What is `packed` only the process's own kin unpack (the same release, in one run): it is pickled, and no format of a
file. What may lie in a file goes by stages/codec.py.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import numpy as np
import zstandard

from kafkatx.segments.batches import Rows
from kafkatx.segments.names import Names
from kafkatx.stages.fact_types import States
from kafkatx.stages.facts import FactsError

LEVEL = 1
"""zstd: columns of headers shrink to a tenth at any level, so the fastest is taken."""


def packed(value: Any) -> bytes:
    """Pack plain data (dataclasses, lists, arrays).

    Arrays of rows come first, column by column, then what holds them: of the largest only a column is ever copied.
    """
    rest, out = io.BytesIO(), io.BytesIO()
    pickler = _Pickler(rest)
    pickler.dump(value)
    with zstandard.ZstdCompressor(LEVEL).stream_writer(out, closefd=False) as stream:
        pickle.dump([(rows.dtype, len(rows)) for rows in pickler.tables], stream)
        for rows in pickler.tables:
            for name in rows.dtype.names or ():
                stream.write(rows[name].tobytes())
        stream.write(rest.getbuffer())
    return out.getvalue()


def unpacked(data: bytes) -> Any:
    """Return what was packed."""
    with zstandard.ZstdDecompressor().stream_reader(data) as stream:
        reader: Any = io.BufferedReader(stream)
        tables = [_table(reader, dtype, length) for dtype, length in pickle.load(reader)]
        return _Unpickler(reader, tables).load()


def states_of(rows: Rows, names: Names) -> States:
    """Take coordinator rows (kernels.rows.STATE) with the names that they use, and no others."""
    rows = rows.copy()
    ids, rows["id_code"] = _used(rows["id_code"])
    lists, rows["partitions_code"] = _used(rows["partitions_code"])
    tags, rows["unknown_tags_code"] = _used(rows["unknown_tags_code"])
    return States(
        rows,
        [names.transactional_ids.values[code] for code in ids],
        [[names.topic_partitions[member] for member in names.partition_lists[code]] for code in lists],
        [names.unknown_tags.values[code] for code in tags],
    )


def named_anew(found: States, names: Names) -> Rows:
    """Give coordinator rows, in place, the codes of `names`, which gets the names that are new to it.

    Raises FactsError for codes of no name.
    """
    lists = [tuple(sorted({names.partition_code(*one) for one in members})) for members in found.lists]
    for name, lowest, codes in (
        ("id_code", 0, [names.transactional_ids.code(value) for value in found.ids]),
        ("partitions_code", -1, [names.list_code(members) for members in lists]),
        ("unknown_tags_code", -1, [names.unknown_tags.code(value) for value in found.tags]),
    ):
        given = found.rows[name]
        if len(given) and not lowest <= int(given.min()) <= int(given.max()) < len(codes):
            raise FactsError(f"not a fact: {name} is none of {len(codes)}")
        found.rows[name] = np.array([*codes, -1], np.int32)[given]
    rows: Rows = found.rows
    return rows


def _used(codes: Any) -> tuple[list[int], Any]:
    """The codes that occur, and the rows' codes as places among them; -1 stays."""
    distinct, at = np.unique(codes, return_inverse=True)
    absent = int(np.searchsorted(distinct, 0))
    return distinct[absent:].tolist(), np.maximum(at - absent, -1)


class _Pickler(pickle.Pickler):
    """Leaves arrays of rows aside, as `tables`, and only says where they were."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.tables: list[Rows] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, value: Any) -> int | None:
        """Return the number of an array of rows; None for all else, which is pickled where it stands."""
        if not (isinstance(value, np.ndarray) and value.dtype.names and value.ndim == 1):
            return None
        number = self._numbers.setdefault(id(value), len(self.tables))
        if number == len(self.tables):
            self.tables.append(value)
        return number


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, tables: list[Rows]) -> None:
        super().__init__(file)
        self._tables = tables

    def persistent_load(self, number: int) -> Rows:
        return self._tables[number]


def _table(reader: Any, dtype: np.dtype[Any], length: int) -> Rows:
    rows = np.zeros(length, dtype)
    for name in dtype.names or ():
        column = dtype[name]
        rows[name] = np.frombuffer(reader.read(length * column.itemsize), column)
    return rows
