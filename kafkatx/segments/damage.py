"""Damage as rows: bytes that are no legal batch or entry."""

from __future__ import annotations

from dataclasses import dataclass


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
