"""Fills events from the spans of lines (kernels/event_columns.py), with the strings that one log has shown so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.event_columns import UNTOLD, fill_events
from kafkatx.kernels.rows import EVENT
from kafkatx.kernels.templates import PATTERN, THROWN
from kafkatx.text.logs.filling import COLUMNS, NUMBERS, empty_row, fill_field
from kafkatx.text.logs.matching import patterns
from kafkatx.text.logs.strings import LONGEST_STRING, Strings
from kafkatx.text.logs.tables import constants, steps, told_by_texts

EMPTY = np.array([tuple(empty_row())], EVENT)
"""An event that tells nothing."""


class Filled:
    """What is known of texts and strings while events of one log are filled; strings that are others are told anew."""

    def __init__(self) -> None:
        self._strings: Strings | None = None
        self._constants = self._is_told = self._lasts = np.zeros(0, np.int64)

    def events(self, data: bytes, entries: Any, times: Any, out: Any, rows: Any, shown: Any, strings: Strings) -> Any:
        """Events of the recognised entries that `rows` name: all but what their contexts say."""
        self._begin(strings)
        events = np.empty(len(rows), EVENT)
        view, empty = fill_events.view(data), words_of(EMPTY)[0]
        (first_step, read), first_constant = steps(), constants()[0]
        named = np.zeros(3, np.int64)
        texts, words, wide = told_by_texts(), words_of(events), events.view(np.int64).reshape(len(events), -1)

        def step(first: int, slots: Any, known: Any, ends: Any, count: int) -> tuple[int, int, int]:
            return fill_events(
                view, entries, times, out, rows, shown, first, texts, first_step, read, first_constant,
                self._constants, self._is_told, empty, LONGEST_STRING, self._lasts, named, slots,
                fill_events.room(known), ends, count, events, words, wide,
            )  # fmt: skip

        why, number = UNTOLD, 0
        while why == UNTOLD:
            why, number = strings.interner.taken_by(step, number, LONGEST_STRING)
            if why == UNTOLD:
                self._tell(out[rows[number], [PATTERN, THROWN]].tolist(), strings)
        return events

    def _begin(self, strings: Strings) -> None:
        if strings is not self._strings:
            self._strings, self._constants = strings, constants()[1].copy()
            self._is_told = np.zeros(len(patterns()), np.bool_)
            self._lasts = np.full(len(steps()[1]) + 3 * len(told_by_texts()), -1, np.int64)

    def _tell(self, numbers: list[int], strings: Strings) -> None:
        """Say what texts say by themselves."""
        first = constants()[0]
        for number in numbers:
            if number >= 0:
                for at, (name, value) in enumerate(patterns()[number].entry.constants, int(first[number])):
                    row = empty_row()
                    fill_field(row, name, value, strings)
                    self._constants[at, 2] = row[COLUMNS[name if name in NUMBERS else f"{name}_code"]]
                self._is_told[number] = True


def words_of(events: Any) -> Any:
    """Events as their words of four bytes."""
    return events.view(np.int32).reshape(len(events), -1)
