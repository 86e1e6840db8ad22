"""Damage as rows: bytes that are no legal batch or entry."""

from __future__ import annotations

from dataclasses import replace

from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """One stretch of unreadable bytes.

    `kind` is one of crc, header, torn, hidden, entry, diverged, unreadable; positions and lengths are bytes of the
    file.
    """

    kind: str
    path: str
    position: int
    bytes: int
    expected: str
    found: str

    def sentence(self) -> str:
        """One line for a person."""
        if self.kind == "diverged":
            return f"set aside from position {self.position:,} of {self.path}: {self.found}; {self.expected} differ"
        return (
            f"unreadable {self.bytes:,} bytes at position {self.position:,} of {self.path}: expected "
            f"{self.expected}, found {self.found}"
        )


MOST_DAMAGE = 10_000
"""Stretches of damage kept for a file; the last one is stretched over all that follow."""


def noted(damage: list[Damage], more: Damage) -> None:
    """Add a stretch behind those that are known."""
    if len(damage) < MOST_DAMAGE:
        damage.append(more)
    else:
        last = damage[-1]
        damage[-1] = replace(last, bytes=more.position + more.bytes - last.position)
