"""Two diagnoses compared: what is new, gone, changed and as before, and whether it shows that a fix held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from kafkatx.outputs.answer import AnswerState, named
from kafkatx.outputs.comparing.covered import Absence, Covers, Reason, Side, absence, ended
from kafkatx.outputs.comparing.document import DiagnosisDocument, DocumentFinding
from kafkatx.outputs.comparing.named_findings import NamedFindings, speaks_against
from kafkatx.outputs.comparing.pairs import is_later, pairs
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.plurals import plural

LONGEST_CHAIN = 9
"""Causes behind each other, at most: rules lie so deep."""


class ComparisonState(StrEnum):
    """What a comparison amounts to; of several that hold the first one."""

    worse = "worse"
    """An error or a warning is new, has happened again, or became so severe."""
    remains = "remains"
    """An error or a warning is still there."""
    nothing_to_judge = "nothing_to_judge"
    """One of the two diagnoses had nothing to judge."""
    held = "held"
    """All errors and warnings of the earlier diagnosis have ended, and the later evidence proves it."""
    unknown = "unknown"
    """No error or warning is left, but that they are over is not proved."""
    clear = "clear"
    """Neither diagnosis has an error or a warning."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A finding that one diagnosis has alone, and what its absence in the other one says."""

    found: DocumentFinding
    absence: Absence

    @property
    def has_ended(self) -> bool:
        """Whether the later evidence proves that it is over."""
        return self.absence.reason is Reason.ended


@dataclass(frozen=True, slots=True)
class Change:
    """One value of a finding, before and after."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Matched:
    """A finding of both diagnoses; `has_recurred` says that it happened again, or more often, after the earlier one."""

    before: DocumentFinding
    after: DocumentFinding
    changes: tuple[Change, ...]
    has_recurred: bool

    @property
    def is_worse(self) -> bool:
        """Whether it happened again, or became more severe."""
        return self.has_recurred or self.after.finding.severity > self.before.finding.severity


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two diagnoses have alone and in common, the worst first."""

    before: DiagnosisDocument
    after: DiagnosisDocument
    new: tuple[Missing, ...]
    gone: tuple[Missing, ...]
    changed: tuple[Matched, ...]
    same: tuple[Matched, ...]

    @property
    def worsened(self) -> list[DocumentFinding]:
        """Findings of the later diagnosis that are new, came back, or became more severe."""
        again = [one.after for one in self.changed if one.is_worse]
        return sorted([*(one.found for one in self.new), *again], key=_worst_first)

    @property
    def state(self) -> ComparisonState:
        """What it amounts to."""
        left = [one for one in (*self.changed, *self.same) if _is_wrong(one.after)]
        gone = [one for one in self.gone if _is_wrong(one.found)]
        if any(map(_is_wrong, self.worsened)):
            return ComparisonState.worse
        if left:
            return ComparisonState.remains
        if any(one.state is AnswerState.nothing_to_judge for one in (self.before, self.after)):
            return ComparisonState.nothing_to_judge
        if not gone and not any(_is_wrong(one.before) for one in self.changed):
            return ComparisonState.clear
        is_proved = all(one.has_ended for one in gone) and not any(_is_wrong(one.before) for one in self.changed)
        return ComparisonState.held if is_proved else ComparisonState.unknown

    @property
    def headline(self) -> str:
        """One sentence; that a fix held only where that is proved."""
        counts = ", ".join(self._counts())
        if self.state is ComparisonState.held:
            ended = _first_of([one.found for one in self.gone])
            return f"The fix held, and no error and no warning is new. Ended: {ended}."
        if self.state is ComparisonState.clear and not counts:
            return "No finding in either diagnosis."
        if self.state is ComparisonState.remains:
            return f"{counts}. Still found: {_first_of([one.after for one in (*self.changed, *self.same)])}."
        if self.state is ComparisonState.unknown:
            return f"{counts}. Whether a fix held can't be told."
        if self.state is ComparisonState.nothing_to_judge:
            whose = "earlier" if self.before.state is AnswerState.nothing_to_judge else "later"
            return f"No answer: the {whose} diagnosis had nothing to judge{f'; {counts}' if counts else ''}."
        return f"{counts}."

    def _counts(self) -> Iterable[str]:
        """`1 new error`, `1 error again`, `2 gone (1 not covered)`, `1 changed`, `3 as before`."""
        yield from _of_severities((one.found for one in self.new), "new {}", "new {}s", "new info")
        again = [one.after for one in self.changed if one.has_recurred]
        yield from _of_severities(again, "{} again", "{}s again", "info again")
        if self.gone:
            yield f"{len(self.gone)} gone ({', '.join(self._why_gone())})"
        if rest := len(self.changed) - len(again):
            yield f"{rest} changed"
        if self.same:
            yield f"{len(self.same)} as before"

    def _why_gone(self) -> Iterable[str]:
        counted = Counter(_gone_as(one) for one in self.gone)
        return (name if count == len(self.gone) else f"{count} {name}" for name, count in sorted(counted.items()))


def compare(before: DiagnosisDocument, after: DiagnosisDocument) -> Comparison:
    """Compare two diagnoses. Neither order of findings changes anything."""
    matched = pairs(before.findings, after.findings)
    taken = {id(one) for pair in matched for one in pair}
    gone = sorted((one for one in before.findings if id(one) not in taken), key=_worst_first)
    new = sorted((one for one in after.findings if id(one) not in taken), key=_worst_first)
    earlier, later = Side("earlier", before), Side("later", after)
    both = _matched(matched, before)
    anew = [*new, *(one.after for one in both if one.is_worse)]
    return Comparison(
        before,
        after,
        tuple(Missing(one, absence(one, later, earlier)) for one in new),
        tuple(_gone(gone, NamedFindings(filter(speaks_against, anew)), earlier, later)),
        tuple(one for one in both if one.changes),
        tuple(one for one in both if not one.changes),
    )


def _gone(gone: list[DocumentFinding], new: NamedFindings, earlier: Side, later: Side) -> list[Missing]:
    """What became of findings; an effect is asked again once its cause has ended."""
    said: dict[int, Absence] = {}
    asked, ends = gone, frozenset[str]()
    for _ in range(LONGEST_CHAIN):
        found = {id(one): told for one in asked if (told := ended(one, earlier, later, new, ends)) is not None}
        said |= found
        ends = frozenset(one.id for one in asked if id(one) in found and found[id(one)].reason is Reason.ended)
        asked = [one for one in asked if id(one) not in found and one.caused_by in ends]
    return [Missing(one, said.get(id(one)) or absence(one, earlier, later)) for one in gone]


def _matched(found: list[tuple[DocumentFinding, DocumentFinding]], before: DiagnosisDocument) -> list[Matched]:
    ids = {one.id: other.id for one, other in found}
    told = [
        Matched(one, other, tuple(_changes(one, other, ids)), _has_recurred(one, other, before)) for one, other in found
    ]
    return sorted(told, key=lambda one: _worst_first(one.after))


def _changes(one: DocumentFinding, other: DocumentFinding, ids: dict[str, str]) -> Iterable[Change]:
    """What differs; a cause that is in both diagnoses is the same one, whatever its ids."""
    mine, its = one.finding, other.finding
    values: tuple[tuple[str, Any, Any], ...] = (
        ("verdict", mine.verdict.name, its.verdict.name),
        ("severity", mine.severity.name, its.severity.name),
        ("count", mine.count, its.count),
        ("from", iso(mine.since), iso(its.since)),
        ("to", iso(mine.until), iso(its.until)),
    )
    yield from (Change(*value) for value in values if value[1] != value[2])
    if ids.get(one.caused_by or "", one.caused_by) != other.caused_by:
        yield Change("caused_by", one.caused_by, other.caused_by)
    if mine.remedies != its.remedies:
        yield Change("remedies", mine.remedies, its.remedies)


def _has_recurred(one: DocumentFinding, other: DocumentFinding, before: DiagnosisDocument) -> bool:
    """Whether it happened anew after it had ended, or more often and behind the earlier evidence."""
    mine, its = one.finding, other.finding
    end = before.examined.until if before.examined.until is not None else mine.until
    is_behind = its.until is not None and end is not None and its.until > end
    return is_later(other, one) or (its.count > mine.count and is_behind)


def _first_of(findings: Iterable[DocumentFinding]) -> str:
    """The worst error or warning, and how many more there are."""
    wrong = sorted(filter(_is_wrong, findings), key=_worst_first)
    return f"{named(wrong[0].finding)}{f' and {len(wrong) - 1} more' if len(wrong) > 1 else ''}"


def _of_severities(found: Iterable[DocumentFinding], one: str, several: str, info: str) -> Iterable[str]:
    counted = Counter(each.finding.severity for each in found)
    for severity in (Severity.error, Severity.warning):
        if counted[severity]:
            yield plural(counted[severity], one.format(severity.name), several.format(severity.name))
    if counted[Severity.info]:
        yield f"{counted[Severity.info]} {info}"


def _gone_as(one: Missing) -> str:
    if one.has_ended:
        return "ended"
    covers = one.absence.covers
    return {Covers.covered: "not found again", Covers.not_covered: "not covered", Covers.unknown: "unproved"}[covers]


def _is_wrong(one: DocumentFinding) -> bool:
    return one.finding.severity >= Severity.warning


def _worst_first(one: DocumentFinding) -> tuple[object, ...]:
    return -one.finding.severity, -one.finding.verdict, *one.order
