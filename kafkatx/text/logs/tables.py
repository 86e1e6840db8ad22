"""The catalogue's texts of events as arrays, as kernels/templates.py reads them; rows in the order of `patterns()`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kafkatx.kernels.event_columns import NUMBER, PARTITION, SKIP, WIDE_NUMBER, WORD
from kafkatx.kernels.held_texts import HeldTexts, held_texts
from kafkatx.kernels.rows import EVENT
from kafkatx.kernels.templates import MOST_FIELDS
from kafkatx.terms.events import EventKind, Side
from kafkatx.text.logs.defect_texts import all_texts
from kafkatx.text.logs.filling import COLUMNS, LARGEST, NUMBERS
from kafkatx.text.logs.matching import HEAD, PLACES, Pattern, patterns, texts_of
from kafkatx.text.logs.meaning import VAGUE

OFFSETS = {name: field[1] for name, field in (EVENT.fields or {}).items()}
"""Byte of each column in an event."""
Texts = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]
_SLOW_KINDS = frozenset({EventKind.config_values, EventKind.failure})


@cache
def texts() -> Texts:
    """Pieces and loggers of all texts, and the texts by place and first bytes of a message."""
    pieces, piece_bounds, first_piece = _packed([pattern.template.pieces for pattern in patterns()])
    names, name_bounds, first_name = _packed([tuple(sorted(pattern.loggers)) for pattern in patterns()])
    groups: dict[int, list[int]] = {}
    rest: list[list[int]] = []
    for place, where in enumerate(PLACES):
        heads, others = texts_of(where)
        for head, found in heads.items():
            groups[_key(head, place)] = [number for _, number in found]
        rest.append([number for _, number in others])
    ordered = [*(groups[key] for key in sorted(groups)), *rest]
    first_candidate = np.cumsum([0, *map(len, ordered)]).astype(np.int64)
    candidates = np.array([number for group in ordered for number in group], np.int64)
    keys = np.array(sorted(groups), np.int64)
    return pieces, piece_bounds, first_piece, names, name_bounds, first_name, keys, first_candidate, candidates


@cache
def slow_texts() -> Any:
    """Whether the columns of a text are for the slow path."""
    return np.array([_is_slow(pattern) for pattern in patterns()], np.bool_)


@cache
def told_by_texts() -> Any:
    """Of each text: kind, side, whether an exception below says more, whether it says more itself than a line above.

    The last row stands for none.
    """
    entries = [pattern.entry for pattern in patterns()]
    rows = [(one.kind, one.side, one.kind in VAGUE, one.kind == EventKind.storage_failed) for one in entries]
    return np.array([*rows, (EventKind.failure, Side.unknown, True, False)], np.int64)


@cache
def steps() -> tuple[Any, Any]:
    """The first step of each text, and what is read at each (kernels/event_columns.py); slow texts have none."""
    rows = [[] if _is_slow(pattern) else [step_of(name) for name in pattern.entry.fields] for pattern in patterns()]
    flat = [step for row in rows for step in row]
    return _firsts(rows), np.array(flat, np.int64).reshape(-1, 3)


def step_of(name: str) -> tuple[int, int, int]:
    """How the value of a field is read, the column that it is written to (by words), and the largest it takes."""
    if name == "topic_partition":
        return PARTITION, 0, LARGEST["partition"]
    column = name if name in NUMBERS else f"{name}_code"
    if column not in COLUMNS:
        return SKIP, 0, 0
    is_wide = EVENT[column].itemsize == 8
    place = int(OFFSETS[column]) // EVENT[column].itemsize
    return (WIDE_NUMBER if is_wide else NUMBER if name in NUMBERS else WORD), place, LARGEST.get(name, 0)


@cache
def constants() -> tuple[Any, Any]:
    """The first constant of each text, and how, where and what it is; what has a code is -1 until a reader says it."""
    rows = [[(*step_of(name)[:2], -1) for name, _ in pattern.entry.constants] for pattern in patterns()]
    return _firsts(rows), np.array([one for row in rows for one in row], np.int64).reshape(-1, 3)


@cache
def partitions() -> Any:
    """Place of the partition among the fields of each text, -1 where there is none."""
    fields = (pattern.entry.fields for pattern in patterns())
    return np.array([one.index("topic_partition") if "topic_partition" in one else -1 for one in fields], np.int64)


def _firsts(rows: list[Any]) -> Any:
    return np.cumsum([0, *map(len, rows)]).astype(np.int64)


@cache
def signs() -> tuple[tuple[str, ...], HeldTexts]:
    """Texts of known defects in order, and what finds them in lines."""
    texts = all_texts()
    return texts, held_texts(tuple(text.encode() for text in texts))


def _is_slow(pattern: Pattern) -> bool:
    entry = pattern.entry
    return (
        entry.side is Side.client
        or entry.kind in _SLOW_KINDS
        or "exception" in entry.fields
        or len(pattern.template.names) > MOST_FIELDS
    )


def _packed(rows: list[tuple[str, ...]]) -> tuple[Any, Any, Any]:
    """Texts of all rows as bytes, where each text begins, and the number of each row's first."""
    flat = [text.encode() for row in rows for text in row]
    data = np.frombuffer(b"".join(flat) or b"\0", np.uint8)
    return data, np.cumsum([0, *map(len, flat)]).astype(np.int64), np.cumsum([0, *map(len, rows)]).astype(np.int64)


def _key(head: str, place: int) -> int:
    return int.from_bytes(head.encode()[:HEAD], "big") + (place << 32)
