"""The catalogue's texts of events as arrays, as kernels/templates.py reads them; rows in the order of `patterns()`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kafkatx.kernels.held_texts import HeldTexts, held_texts
from kafkatx.kernels.templates import MOST_FIELDS
from kafkatx.terms.events import EventKind, Side
from kafkatx.text.logs.defect_texts import all_texts
from kafkatx.text.logs.matching import HEAD, PLACES, Pattern, patterns, texts_of
from kafkatx.text.logs.meaning import VAGUE

_SLOW_KINDS = frozenset({EventKind.config_values, EventKind.failure})


@cache
def texts() -> tuple[Any, ...]:
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
    """Whether the columns of a text are for the slow path; the last row stands for none."""
    return np.array([*(_is_slow(pattern) for pattern in patterns()), False], np.bool_)


@cache
def kinds() -> Any:
    """Kind of each text; the last row stands for none."""
    return np.array([*(pattern.entry.kind for pattern in patterns()), EventKind.failure], np.int16)


@cache
def sides() -> Any:
    """Side of each text; the last row stands for none."""
    return np.array([*(pattern.entry.side for pattern in patterns()), Side.unknown], np.int8)


@cache
def vague() -> Any:
    """Whether an exception under the line says more than the text; the last row stands for none."""
    return np.array([*(pattern.entry.kind in VAGUE for pattern in patterns()), True], np.bool_)


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
