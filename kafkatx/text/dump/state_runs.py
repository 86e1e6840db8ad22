"""States in runs of a long dump of `__transaction_state`: rows by a kernel, each name interned once for its text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kafkatx.kernels.dumped_batches import NUMBERS
from kafkatx.kernels.dumped_states import read_states
from kafkatx.kernels.rows import NOT_PRINTED, STATE
from kafkatx.segments.batches import Rows
from kafkatx.segments.interning import Interner
from kafkatx.segments.names import Names
from kafkatx.text.dump.printed_sets import partitions_of
from kafkatx.text.dump.starts import Starts
from kafkatx.text.printed.runs import FEWEST, Run

ROWS = 1 << 15
REMEMBERED = 100_000
"""Texts of lists of partitions whose codes are remembered."""


class FoundStates(NamedTuple):
    """States (kernels.rows.STATE) of a run; the line of each from the first of the run, and the byte of the file.

    `is_old`: an older decoder printed it, which tells less; `is_started`: its started_at is known all the same.
    """

    rows: Rows
    lines: Rows
    positions: Rows
    is_old: Rows
    is_started: Rows


class StateRuns:
    """Reads the states of runs."""

    def __init__(self, names: Names, starts: Starts) -> None:
        """Read states whose names get codes of `names`, and whose starts `starts` carries where none is told."""
        self._names, self._starts = names, starts
        self._lists, self._list_of_text, self._sizes = Interner(), list[int](), list[int]()
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
        texts = self._texts(data, spans[:, 2], spans[:, 3])
        rows["partitions_code"] = _looked_up(self._list_of_text, texts)
        is_old = (rows["value_version"] < 0) & (rows["is_tombstone"] == 0)
        is_started = self._start(rows, _looked_up(self._sizes, texts), is_old)
        return count, FoundStates(rows, spans[:, 4].copy(), spans[:, 5] + run.begin, is_old, is_started)

    def _start(self, rows: Rows, sizes: Rows, is_old: Rows) -> Rows:
        """Fill in when the transactions of old rows began; returns whether that is known."""
        is_started, old = ~is_old, rows[is_old]
        if not len(old):
            return is_started
        ids = {code: self._names.transactional_id(code) for code in np.unique(old["id_code"]).tolist()}
        columns = (old[name].tolist() for name in ("offset", "id_code", "state", "updated_at"))
        found = [
            self._starts.of_row(offset, ids[code], state, size, updated_at)
            for offset, code, state, updated_at, size in zip(*columns, sizes[is_old].clip(0).tolist(), strict=True)
        ]
        is_started[is_old] = [is_known for _, is_known in found]
        rows["started_at"][is_old] = [start if is_known else NOT_PRINTED for start, is_known in found]
        return is_started

    def _texts(self, data: memoryview, starts: Rows, lengths: Rows) -> Rows:
        """Codes of lists of partitions as they are printed, -1 for null; what each new one says is noted."""
        if len(self._list_of_text) > REMEMBERED:
            self._lists, self._list_of_text, self._sizes = Interner(), [], []
        codes: Rows = self._lists.codes(data, starts, lengths)
        for text in self._lists.values[len(self._list_of_text) :]:
            pairs = _pairs_of(text)
            members = {self._names.partition_code(*pair) for pair in pairs}
            self._list_of_text.append(self._names.list_code(tuple(sorted(members))))
            self._sizes.append(len(pairs))
        return codes


def _looked_up(known: list[int], codes: Rows) -> Rows:
    """What stands for codes; -1 for that of nothing, which is the last."""
    found: Rows = np.array([*known, -1], np.int32)[codes]
    return found


def _pairs_of(text: bytes) -> Sequence[tuple[str, int]]:
    if text.startswith(b'[{"') or text == b"[]":
        return [(topic["topic"], number) for topic in json.loads(text) for number in topic["partitionIds"]]
    return partitions_of(text.decode())
