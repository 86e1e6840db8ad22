"""What `collect` takes of the evidence, why, and what is not at hand. Data only; outputs render it."""

from __future__ import annotations

from dataclasses import field

from kafkatx.findings.diagnosis import NextEvidence
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Taken:
    """A file that is taken: why, its path as given, its name in the bundle, and how many bytes of it.

    `part` says which of its lines were taken, None where it is whole.
    """

    why: str
    path: str
    name: str
    bytes: int
    part: str | None = None


@dataclass(slots=True)
class Collected:
    """What is taken for some transactional.ids, and what is asked for and not at hand, with the command that gets it.

    `findings` are the ids of the findings that it is about. `is_alike` says whether the bundle by itself gives the same
    findings; `widened` what had to be taken beside what was asked for so that it does. `as_of` is the end of the
    evidence in milliseconds, from which ages count. `out` is the bundle, `mapping` where the stand-ins' originals are.
    """

    transactional_ids: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    taken: list[Taken] = field(default_factory=list)
    missing: list[NextEvidence] = field(default_factory=list)
    widened: str | None = None
    is_alike: bool = True
    as_of: int | None = None
    out: str | None = None
    mapping: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Bytes of all that is taken, unpacked."""
        return sum(one.bytes for one in self.taken)
