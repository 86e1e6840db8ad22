"""Facts that are worked out of a model once, however many ask, and are kept as long as the model is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Whole = TypeVar("Whole")
Fact = TypeVar("Fact")


def once(work_out: Callable[[Whole], Fact]) -> Callable[[Whole], Fact]:
    """Keep what a function of one model returns. It must not hold the model itself; nobody may change it."""
    known: WeakKeyDictionary[Whole, Fact] = WeakKeyDictionary()

    @wraps(work_out)
    def kept(whole: Whole) -> Fact:
        if whole not in known:
            known[whole] = work_out(whole)
        return known[whole]

    return kept
