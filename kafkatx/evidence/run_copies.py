"""Which run of an export a data directory is a copy of.

A directory that was exported day by day is, in a diagnosis of all days, as many copies of its partitions; each has a
path of its own, of which `original` is what all have in common.
"""

from __future__ import annotations

SEPARATOR = "\0"
"""Stands in no path."""


def copy_of(path: str, number: int) -> str:
    """Return the path of a copy; number 0 is that of the newest run and has the path itself."""
    return f"{path}{SEPARATOR}{number}" if number else path


def original(path: str) -> str:
    """Return the path that all copies of a directory have in common."""
    return path.partition(SEPARATOR)[0]
