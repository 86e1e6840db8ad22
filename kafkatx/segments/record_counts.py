"""How many records a segment holds, and which of its bytes are none, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.kernels.payloads import MOST_TIMES
from kafkatx.kernels.record_counts import count_compressed, count_records
from kafkatx.kernels.records import PROBLEM, SMALLEST_RECORD
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.free_arrays import lent
from kafkatx.segments.laid import LAID, LAST, Group, compressed, form_for
from kafkatx.segments.records import LEGACY, PLAIN, PROBLEMS_PER_CALL, RecordWalk


class CountWalk(RecordWalk):
    """One pass over the records of a file that tells no more of them than how many there are.

    Damage and ends as in RecordWalk: the same bytes are read as records, or are none.
    """

    def count_of(self, chunk: Chunk) -> int:
        """How many records there are in some batches that a walk has found."""
        return sum(self._counts(chunk))

    def _counts(self, chunk: Chunk) -> Iterator[int]:
        for source, first, behind in self.stretches(chunk):
            if source == LEGACY:
                yield from (len(part.records) for part in self.messages(chunk, first, behind))
            elif source == PLAIN:
                yield from (self._count_group(chunk.rows, group) for group in self.groups(chunk, source, first, behind))
            else:
                yield self._count_compressed(chunk, first, behind)

    def _count_group(self, batches: Rows, group: Group) -> int:
        """Count the records of batches that lie in a buffer without compression."""
        count_records.count(0, group.most_records(batches))  # what a kernel is loaded for is told before it is called
        rows, problems = batches[group.first : group.behind], np.empty(PROBLEMS_PER_CALL, PROBLEM)
        data = count_records.view(group.data)
        records = number = 0
        while number < len(rows):
            number, found, bad = count_records(data, rows, group.starts, group.ends, number, problems)
            self.note_problems(rows, problems[:bad])
            records += found
        count_records.count(records)
        return records

    def _count_compressed(self, chunk: Chunk, first: int, behind: int) -> int:
        """Count the records of batches[first:behind]; what the kernel leaves is read with care, a batch at a time."""
        codecs, starts, ends = compressed(chunk, first, behind)
        rows, problems = chunk.rows[first:behind], np.empty(PROBLEMS_PER_CALL, PROBLEM)
        most = np.minimum(rows["record_count"].clip(0), MOST_TIMES * (ends - starts) // SMALLEST_RECORD)
        count_compressed.count(0, int(most.sum()))
        data = count_compressed.view(chunk.data)
        calls, count = form_for(count_compressed, codecs)
        out: Any = lent(LAID + LAST)
        if count is not count_compressed or isinstance(data, memoryview):
            data, out = memoryview(data), out.data
        records = number = 0
        while number < len(rows):
            begun = number
            number, found, bad = count(
                data, rows, starts, ends, codecs, number, self.largest_payload, calls, out, problems
            )
            self.note_problems(rows, problems[:bad])
            if number == begun:
                payload = self._payload(chunk, rows[number])
                if payload is not None:
                    found = self._count_group(chunk.rows, _alone(first + number, payload))
                number += 1
            records += found
        count_compressed.count(records)
        return records


def _alone(number: int, payload: bytes) -> Group:
    """A batch whose records lie in a buffer of their own."""
    start, end = np.zeros(1, np.int64), np.array([len(payload)], np.int64)
    return Group(number, number + 1, memoryview(payload), start, end)
