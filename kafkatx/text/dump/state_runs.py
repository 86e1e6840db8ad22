"""States in runs of a long dump of `__transaction_state`: rows by a kernel, each name interned once for its text."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from kafkatx.kernels.dumped_batches import NUMBERS
from kafkatx.kernels.dumped_states import read_states
from kafkatx.kernels.rows import STATE
from kafkatx.segments.batches import Rows
from kafkatx.segments.interning import Interner
from kafkatx.segments.names import Names
from kafkatx.text.printed.runs import FEWEST, Run

ROWS = 1 << 15
REMEMBERED = 100_000
"""Texts of lists of partitions whose codes are remembered."""


class FoundStates(NamedTuple):
    """States (kernels.rows.STATE) of a run; the line of each from the first of the run, and the byte of the file."""

    rows: Rows
    lines: Rows
    positions: Rows


class StateRuns:
    """Reads the states of runs."""

    def __init__(self, names: Names) -> None:
        """Read states whose names get codes of `names`."""
        self._names = names
        self._lists, self._list_of_text = Interner(), list[int]()
        self._rows, self._spans = np.zeros(ROWS, STATE), np.zeros((ROWS, 6), np.int64)
        self._numbers = np.zeros(NUMBERS, np.int64)

    def read(self, run: Run) -> tuple[Run, FoundStates] | None:
        """Return a run up to the first batch with a state for the reader of lines, and its states; None: too few."""
        count, found = self._states(run)
        if count < FEWEST:
            return None
        return (run if count == len(run.rows) else run.up_to(count)), found

    def _states(self, run: Run) -> tuple[int, FoundStates]:
        data, end = run.data, run.end - run.begin
        count, found = read_states(
            read_states.view(data), run.shape, run.rows, run.positions - run.begin, end, self._rows, self._spans,
            self._numbers,
        )  # fmt: skip
        if count < FEWEST:
            found = 0
        rows, spans = self._rows[:found].copy(), self._spans[:found]
        rows["id_code"] = self._names.transactional_ids.codes(data, spans[:, 0], spans[:, 1])
        rows["partitions_code"] = self._list_codes(data, spans[:, 2], spans[:, 3])
        return count, FoundStates(rows, spans[:, 4].copy(), spans[:, 5] + run.begin)

    def _list_codes(self, data: memoryview, starts: Rows, lengths: Rows) -> Rows:
        """Codes of lists of partitions as they are printed, -1 for null."""
        if len(self._list_of_text) > REMEMBERED:
            self._lists, self._list_of_text = Interner(), []
        codes, known = self._lists.codes(data, starts, lengths), self._list_of_text
        known += map(self._list_code, self._lists.values[len(known) :])
        found: Rows = np.append(np.array(known, np.int32), np.int32(-1))[codes]
        return found

    def _list_code(self, text: bytes) -> int:
        pairs = [(topic["topic"], number) for topic in json.loads(text) for number in topic["partitionIds"]]
        return self._names.list_code(tuple(sorted({self._names.partition_code(*pair) for pair in pairs})))
