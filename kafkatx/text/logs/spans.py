"""Places of values in the bytes of a log, gathered from many lines and turned into columns of events at once."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from kafkatx.kernels.templates import numbers_of, split_partitions
from kafkatx.segments.interning import Interner
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.filling import LARGEST, NUMBERS
from kafkatx.text.logs.strings import LONGEST_STRING, Strings


@dataclass(slots=True)
class _Gathered:
    """Rows of events and the spans (start, length) of one kind of values, with the column that each batch fills."""

    rows: list[Any] = field(default_factory=list)
    spans: list[Any] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)

    def add(self, column: str, rows: Any, spans: Any) -> None:
        self.rows.append(rows)
        self.spans.append(spans)
        self.columns.append(column)

    def joined(self) -> tuple[Any, Any]:
        spans = np.concatenate(self.spans) if self.spans else np.zeros((0, 2), np.int32)
        return np.ascontiguousarray(spans[:, 0], np.int64), np.ascontiguousarray(spans[:, 1], np.int64)

    def write(self, events: Any, values: Any) -> None:
        """Write values, in the order that their spans were added in; later ones win."""
        at = 0
        for column, rows in zip(self.columns, self.rows, strict=True):
            part = values[at : at + len(rows)]
            events[column][rows] = np.where(part <= LARGEST[column], part, -1) if column in LARGEST else part
            at += len(rows)


class Spans:
    """Takes spans by the names of fields (text/logs/filling.py) and writes their values."""

    def __init__(self) -> None:
        self._words, self._numbers, self._partitions = _Gathered(), _Gathered(), _Gathered()

    def add(self, name: str, rows: Any, spans: Any) -> None:
        """Take the spans of a field for some rows of the events."""
        if name in NUMBERS:
            self._numbers.add(name, rows, spans)
        elif name == "topic_partition":
            self._partitions.add("partition", rows, spans)
        elif name != "-":
            self._words.add(f"{name}_code", rows, spans)

    def write(self, data: bytes, events: Any, strings: Strings) -> None:
        """Write all values."""
        starts, lengths = self._numbers.joined()
        values = np.empty(len(starts), np.int64)
        numbers_of(numbers_of.view(data), starts, lengths, values)
        self._numbers.write(events, values)
        starts, lengths = self._partitions.joined()
        values = np.empty(len(starts), np.int64)
        split_partitions(split_partitions.view(data), starts, lengths, values)
        self._partitions.write(events, values)
        topics = _split(self._partitions.rows, starts, lengths)
        for rows, spans in zip(self._partitions.rows, topics, strict=True):
            self._words.add("topic_code", rows, spans)
        self._words.write(events, codes(strings.interner, data, *self._words.joined()))


def codes(interner: Interner, data: bytes, starts: Any, lengths: Any) -> Any:
    """Codes of the texts that stand in spans; -1 of empty ones."""
    lengths = np.where(lengths > 0, np.minimum(lengths, LONGEST_STRING), -1)
    return interner.codes(memoryview(data), np.ascontiguousarray(starts, np.int64), lengths.astype(np.int64))


def _split(rows: list[Any], starts: Any, lengths: Any) -> list[Any]:
    if not rows:
        return []
    return np.split(np.stack([starts, lengths], axis=1), np.cumsum([len(part) for part in rows])[:-1])
