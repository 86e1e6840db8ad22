"""Counts in sentences."""

from __future__ import annotations


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 record`, `2 records`; `many` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"
