"""An explanation as it is read: places, actors, steps, what was considered, what to do. Data only."""

from __future__ import annotations

from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class EvidenceRef:
    """A batch, an entry or a line that one can open; `at` in milliseconds (None: unknown), `text` what stands there.

    Batches and entries are named by topic, partition and offset (`local/` finds the file); lines by source and line
    number.
    """

    topic: str | None
    partition: int | None
    offset: int | None
    at: int | None
    text: str
    source: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody the steps speak of."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the explanation; `because` are its grounds (never its cause), `places` what they rest on."""

    text: str
    because: str | None = None
    places: tuple[EvidenceRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Considered:
    """Another explanation: refuted, and by what, or left open, why, what speaks against it, and what would decide."""

    rule: str
    because: str
    places: tuple[EvidenceRef, ...] = ()
    refuted: bool = True
    decided_by: str | None = None
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do. `where` is client, broker, topic, application or operator; numbers name what they derive from.

    `text` may have several lines: what to do, then what each answer to it means.
    """

    text: str
    where: str
    config: str | None = None
    current: str | None = None
    proposed: str | None = None
    derived_from: str | None = None
    command: str | None = None
    cost: str | None = None
    restart_needed: bool | None = None

    @property
    def lines(self) -> list[str]:
        """The lines of its text."""
        return self.text.split("\n")

    @property
    def first_sentence(self) -> str:
        """What an index has room for."""
        return self.lines[0].partition(". ")[0]
