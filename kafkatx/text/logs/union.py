"""What logs say, read one by one, as if one reader had read them: sources, strings and traces numbered through.

Any cut of the same sequence of logs gives the same: unions of neighbours can be united again. Events are counted
instead of kept while a log is read (thinning.py), never here, so what stays of a log does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.text.events import LogFacts, LogSource, Setting, Trace
from kafkatx.text.logs.strings import CODE_COLUMNS


class LogUnion:
    """Takes the facts of logs in their order, and is all of them together."""

    def __init__(self) -> None:
        self._sources: list[LogSource] = []
        self._events: list[Any] = []
        self._settings: list[Setting] = []
        self._strings: dict[str, int] = {}
        self._traces: dict[Trace, int] = {}

    def add(self, facts: LogFacts) -> None:
        """Take the facts of one more log (or of several); they stay as they are."""
        first = len(self._sources)
        self._sources += facts.sources
        self._settings += [replace(setting, source=first + setting.source) for setting in facts.settings]
        events = facts.events.copy()
        events["source"] += first
        strings = _codes(facts.strings, self._strings)
        for column in CODE_COLUMNS:
            events[column] = _moved(events[column], strings)
        events["trace_code"] = _moved(events["trace_code"], _codes(facts.traces, self._traces))
        self._events.append(events)

    def facts(self) -> LogFacts:
        """Return what was taken so far."""
        events = np.concatenate([np.zeros(0, EVENT), *self._events])
        return LogFacts(list(self._sources), events, list(self._strings), list(self._traces), list(self._settings))


def _codes(values: Iterable[Any], known: dict[Any, int]) -> Any:
    """Code of each value among those known, which grow by the others; behind them one code of nothing."""
    return np.array([*(known.setdefault(value, len(known)) for value in values), -1], np.int32)


def _moved(codes: Any, moved: Any) -> Any:
    return np.where(codes >= 0, moved[codes], codes)
