"""Mechanisms that explain what words of people tell of a failure, where no symptom and no error is named.

Possible at most: nobody's words prove a mechanism. A row of the table (terms/catalogue/spoken_causes.tsv) fits where
all the traits that it needs are told (text/prose/spoken_traits.py), or statements of the page (statements.tsv), and
none that speaks against it. The more a row needs, the more of the words it explains, so the higher its mechanism
stands; of those that explain equally much the commoner comes first, which is the order of the table.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkatx.terms.catalogue.entries import SpokenCause, SpokenTrait
from kafkatx.terms.catalogue.loading import spoken_causes, spoken_traits
from kafkatx.terms.records import dataclass
from kafkatx.text.events import TRAIT, Statement

LONGEST = 40
"""Characters of the words of a trait that are quoted."""
FEWEST_TRAITS = 3
"""What a row must need to move a cause before those of a symptom that is known, what the symptom tells included."""


@dataclass(frozen=True, slots=True)
class FittingCause:
    """A mechanism that fits what is told: why, and the statements that speak for it, one for each that it needs."""

    rule: str
    because: str
    said: tuple[Statement, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words that speak for it, cut where they are long."""
        texts = (one.text if len(one.text) <= LONGEST else one.text[: LONGEST - 3] + "..." for one in self.said)
        return tuple(dict.fromkeys(texts))


def fitting_causes(said: Sequence[Statement], symptom: str = "") -> tuple[FittingCause, ...]:
    """Return the mechanisms that explain what a page tells, the one that explains most of it first.

    Of a `symptom` that is known those which explain it, and FEWEST_TRAITS with it.
    """
    told, own = _told(said, symptom), _traits_of(symptom)
    best: dict[str, tuple[int, int, SpokenCause]] = {}
    for number, row in enumerate(spoken_causes()):
        if _needs_met(row, told) and not _is_denied(row, told) and (not symptom or _is_about(row, own)):
            fit = (-len(row.needs), number, row)
            best[row.rule] = min(best.get(row.rule, fit), fit, key=lambda one: one[:2])
    ordered = sorted(best.values(), key=lambda one: one[:2])
    return tuple(FittingCause(row.rule, row.because, _said_for(row, told)) for _, _, row in ordered)


def denied_causes(said: Sequence[Statement], symptom: str) -> frozenset[str]:
    """Return the mechanisms of a symptom that something on the page speaks against, and that nothing else explains."""
    told, own = _told(said, symptom), _traits_of(symptom)
    met = [row for row in spoken_causes() if _needs_met(row, told) and not own.isdisjoint(_names(row))]
    fitting = {row.rule for row in met if not _is_denied(row, told)}
    return frozenset(row.rule for row in met if row.rule not in fitting)


def told_traits(said: Sequence[Statement]) -> tuple[SpokenTrait, ...]:
    """Return what a page tells of its failure, in the order of who, what, when and how it ends."""
    told = {one.error for one in said if one.name == TRAIT}
    return tuple(trait for trait in spoken_traits() if trait.name in told)


def _told(said: Sequence[Statement], symptom: str) -> dict[str, Statement]:
    """Traits, and statements by their names, each where it is told first; those of a symptom where that is."""
    told: dict[str, Statement] = {}
    for one in said:
        told.setdefault(one.error if one.name == TRAIT else one.name, one)
        if symptom and one.error == symptom:
            told.update((name, one) for name in _traits_of(symptom) - told.keys())
    return told


def _traits_of(symptom: str) -> frozenset[str]:
    """What a symptom tells by itself."""
    return frozenset(trait.name for trait in spoken_traits() if symptom in trait.symptoms)


def _names(row: SpokenCause) -> frozenset[str]:
    return frozenset(name for group in row.needs for name in group)


def _is_about(row: SpokenCause, own: frozenset[str]) -> bool:
    """Whether a row explains what a symptom tells, and enough besides."""
    return len(row.needs) >= FEWEST_TRAITS and not own.isdisjoint(_names(row))


def _is_denied(row: SpokenCause, told: dict[str, Statement]) -> bool:
    return any(told.keys() >= set(all_of) for all_of in row.unless)


def _needs_met(row: SpokenCause, told: dict[str, Statement]) -> bool:
    return all(not told.keys().isdisjoint(group) for group in row.needs)


def _said_for(row: SpokenCause, told: dict[str, Statement]) -> tuple[Statement, ...]:
    """What is told of each group that a row needs."""
    return tuple(told[next(name for name in group if name in told)] for group in row.needs)
