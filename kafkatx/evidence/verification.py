"""What `verify` found: plain values between the runner and the outputs."""

from __future__ import annotations

from dataclasses import field

from kafkatx.evidence.coverage import Coverage
from kafkatx.segments.damage import Damage
from kafkatx.terms.records import dataclass

WHOLE, TORN, DAMAGED, EMPTY, UNREADABLE = "read", "torn", "damaged", "empty", "unreadable"
"""Values of `Coverage.status` of a file that was verified."""


@dataclass(slots=True)
class Verification:
    """Every file with what was checked of it.

    `ordinary` are the ends that a kill or a copy of a running broker leaves: bytes that are no batch, and no damage.
    """

    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    ordinary: list[Damage] = field(default_factory=list)

    @property
    def has_read(self) -> bool:
        """Whether anything could be read at all."""
        return any(entry.status in (WHOLE, TORN, DAMAGED, EMPTY) for entry in self.coverage)
