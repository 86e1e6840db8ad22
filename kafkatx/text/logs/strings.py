"""Strings of events as small integers, and traces likewise: many lines share few of them.

A file's strings are interned for themselves and move to the common table when it has been read: only those that a kept
event points to, so that a log with a new text in every line costs no more memory than its kept events do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.segments.interning import Interner
from kafkatx.terms.secrets import without_secrets
from kafkatx.text.events import Trace

LONGEST_STRING = 2_000
"""Bytes of a string that are kept."""
CODE_COLUMNS = tuple(name for name in EVENT.names or () if name.endswith("_code") and name != "trace_code")
"""Columns of events that index the strings."""


class Strings:
    """Strings and traces with a code each, in order of first sight."""

    def __init__(self) -> None:
        self.interner = Interner()
        self.traces: list[Trace] = []
        self._trace_codes: dict[Trace, int] = {}

    def code(self, text: str) -> int:
        """Code of a string without its secrets, -1 of an empty one."""
        if not text:
            return -1
        return self.clean_code(without_secrets(text[:LONGEST_STRING]))

    def clean_code(self, text: str) -> int:
        """Code of a string that has no secrets."""
        return self.interner.code(text.encode("utf-8", "replace")[:LONGEST_STRING])

    def trace_code(self, trace: Trace | None) -> int:
        """Code of a trace without its secrets; equal ones share it."""
        if trace is None:
            return -1
        return self.clean_trace_code(
            replace(
                trace, chain=tuple(replace(thrown, message=without_secrets(thrown.message)) for thrown in trace.chain)
            )
        )

    def clean_trace_code(self, trace: Trace) -> int:
        """Code of a trace that has no secrets."""
        code = self._trace_codes.setdefault(trace, len(self.traces))
        if code == len(self.traces):
            self.traces.append(trace)
        return code

    @property
    def size(self) -> int:
        """How many strings and traces are held."""
        return len(self.interner.values) + len(self.traces)

    def texts(self) -> list[str]:
        """All strings, by code."""
        return [value.decode("utf-8", "replace") for value in self.interner.values]

    def move(self, events: Any, other: Strings) -> None:
        """Turn the codes of events, in place, into those of another table, which takes what they point to.

        It takes them in the order in which the events have them: so equal events get equal codes, whoever read them.
        """
        for column in CODE_COLUMNS:
            events[column] = _moved(events[column], lambda code: other.interner.code(self.interner.values[code]))
        events["trace_code"] = _moved(events["trace_code"], lambda code: other.clean_trace_code(self.traces[code]))


def _moved(codes: Any, code_of: Any) -> Any:
    known, first, places = np.unique(codes, return_index=True, return_inverse=True)
    moved = np.empty(len(known), np.int32)
    for place in np.argsort(first).tolist():
        code = int(known[place])
        moved[place] = code_of(code) if code >= 0 else code
    return moved[places]
