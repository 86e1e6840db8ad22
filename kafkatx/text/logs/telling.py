"""Lines of short texts that are asked what they say, whether or not they hold a literal of the prefilter."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.literals import ENTRY_COLUMNS, LiteralSearch, begins_entry
from kafkatx.text.lines import LONGEST_LINE
from kafkatx.text.logs.around import SETTING
from kafkatx.text.logs.calls import speaks_of_call
from kafkatx.text.logs.defect_texts import is_evidence, signs_in
from kafkatx.text.logs.fragments import best_in
from kafkatx.text.logs.spoken import speaks_of_failure
from kafkatx.text.logs.traces import is_thrown_frame

LOUD = (b"] ERROR ", b"] WARN ", b"] FATAL ")
"""Levels of the brokers' layout at which a line may speak of a failure."""
LEVEL_ENDS = 40
"""Bytes of a line of the brokers' that its time and level fit in."""


def telling_lines(data: bytes, search: LiteralSearch) -> Any:
    """Lines of a short text that hold a literal, a piece of a text without its literal, or speak of a failure."""
    rows: list[tuple[int, int, int, int]] = []
    at = 0
    texts = data.split(b"\n")
    held = set(search.held(data, np.cumsum([0, *(len(line) + 1 for line in texts)])))
    for number, line in enumerate(texts):
        if number in held or (not SETTING.match(_text(line)) and _tells(_text(line))):
            rows.append((at, at + len(line), min(at + len(line) + 1, len(data)), number))
        at += len(line) + 1
    return _rows(rows)


def with_speaking_entries(data: bytes, found: Any) -> Any:
    """Entries of a short log in the brokers' layout: those that hold a literal, and those that speak of a failure."""
    known = {int(row[0]) for row in found}
    lines = data.split(b"\n")
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)]).tolist()
    heads = [number for number, line in enumerate(lines) if line and begins_entry.plain(line, 0, len(line))]
    rows = []
    for number, following in zip(heads, [*heads[1:], len(lines)], strict=True):
        line = lines[number]
        is_loud = any(level in line[:LEVEL_ENDS] for level in LOUD)
        if starts[number] not in known and is_loud and speaks_of_failure(_text(line)):
            rows.append((starts[number], starts[number] + len(line), min(starts[following], len(data)), number))
    if not rows:
        return found
    both = np.concatenate([found, _rows(rows)])
    return both[np.argsort(both[:, 0], kind="stable")]


def _tells(text: str) -> bool:
    is_told = best_in(text) is not None or is_thrown_frame(text) or speaks_of_call(text)
    return is_told or speaks_of_failure(text) or is_evidence(signs_in(text))


def _rows(rows: list[tuple[int, int, int, int]]) -> Any:
    return np.array(rows, np.int64).reshape(-1, ENTRY_COLUMNS)


def _text(line: bytes) -> str:
    return line[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")
