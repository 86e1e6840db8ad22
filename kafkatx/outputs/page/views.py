"""A finding as the template of the page takes it: the sentences of the text output, escaped, in their places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, OpenedRef
from kafkatx.outputs.answer import named
from kafkatx.outputs.diagnosis_order import folded, stories
from kafkatx.outputs.diagnosis_words import BECAUSE, how_sure, in_words, left_as, placed, when_of
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Considered, Remedy

MOST_STEPS = 4
"""Remedies of the worst finding of a chain in the answer, and about as many of the others."""


@dataclass(frozen=True, slots=True)
class Link:
    """Another finding: its number, its id, and what is said of it."""

    number: int
    id: str
    says: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where evidence stands: the file, the place in it, the time, what stands there."""

    source: str
    where: str
    at: str
    text: str


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of the proof."""

    text: str
    because: str
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Left:
    """Another explanation: what it is, why it is left or ruled out, what would decide."""

    name: str
    because: str
    against: str
    decided_by: str


@dataclass(frozen=True, slots=True)
class RemedyView:
    """What to do: where, the setting with what it is and what it should be, why, the command, what it costs.

    `answers` is what each answer to it means.
    """

    text: str
    answers: tuple[str, ...]
    where: str
    config: str
    current: str
    proposed: str
    why: str
    command: str
    cost: str


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding; `cause` and `others` lead to what caused it and what else did."""

    number: int
    id: str
    key: str
    severity: str
    verdict: str
    headline: str
    who: str
    title: str
    when: str
    summary: str
    placed: str
    cause: Link | None
    because: str
    others: tuple[Link, ...]
    sure: str
    left_as: str
    left: tuple[Left, ...]
    ruled_out: tuple[Left, ...]
    remedies: tuple[RemedyView, ...]
    actors: tuple[tuple[str, str], ...]
    steps: tuple[StepView, ...]


@dataclass(frozen=True, slots=True)
class StoryView:
    """A chain of causes and effects, the worst first; `is_wrong`: it is more than worth knowing."""

    findings: tuple[FindingView, ...]
    is_wrong: bool

    @property
    def worst(self) -> FindingView:
        """The one that stands for the chain."""
        return self.findings[0]

    @property
    def advice(self) -> tuple[tuple[RemedyView, FindingView], ...]:
        """What to do about the chain: the worst whole, then the first step for each that is wrong or is its cause."""
        worst, cause = self.worst, self.worst.cause
        told = [(remedy, worst) for remedy in worst.remedies[:MOST_STEPS]]
        for other in self.findings[1:]:
            if other.remedies and (other.severity != Severity.info.name or (cause and cause.id == other.id)):
                told += [(other.remedies[0], other)]
        distinct = {remedy.text: finding for remedy, finding in reversed(told)}
        return tuple(one for one in told if distinct[one[0].text] is one[1])[: 2 * MOST_STEPS]

    @property
    def beside(self) -> tuple[tuple[RemedyView, FindingView], ...]:
        """Of that the first steps for the others, which have no order among the worst one's."""
        return tuple((remedy, finding) for remedy, finding in self.advice if finding is not self.worst)


@dataclass(frozen=True, slots=True)
class Card:
    """A chain in the answer, and the worst findings of other chains of which the same is said."""

    story: StoryView
    alike: tuple[FindingView, ...]


def cards(diagnosis: Diagnosis, views: Iterable[StoryView]) -> tuple[Card, ...]:
    """Return the chains as the answer shows them: alike ones together, as in the index of the text output."""
    by_id = {view.worst.id: view for view in views}
    lines = folded(stories(diagnosis.findings), set(by_id))
    found = [[by_id[one.id] for one in line if one.id in by_id] for line in lines]
    return tuple(Card(line[0], tuple(view.worst for view in line[1:])) for line in found if line)


def story_views(diagnosis: Diagnosis) -> tuple[StoryView, ...]:
    """Return the chains of a diagnosis in the order of the text output."""
    told = stories(diagnosis.findings)
    findings = [found for story in told for found in story.findings]
    numbers = {found.id: number for number, found in enumerate(findings, 1)}
    captures = len({found.capture for found in findings}) > 1
    by_id = {found.id: found for found in findings}
    return tuple(
        StoryView(
            tuple(_finding(found, by_id, numbers, captures) for found in story.findings),
            story.worst.finding.severity >= Severity.warning,
        )
        for story in told
    )


def _finding(found: Diagnosed, by_id: dict[str, Diagnosed], numbers: dict[str, int], captures: bool) -> FindingView:
    finding, cause = found.finding, by_id.get(found.caused_by or "")
    considered = [(other.refuted, _left(other)) for other in finding.considered]
    return FindingView(
        number=numbers[found.id],
        id=found.id,
        key=printable(found.key),
        severity=finding.severity.name,
        verdict="" if finding.is_unexplained else finding.verdict.name,
        headline=printable(named(finding)),
        who=printable(finding.who or finding.title),
        title=printable(f"{finding.who}: {finding.title}" if finding.who else finding.title),
        when=when_of(finding),
        summary=printable(finding.summary),
        placed=printable(placed(found, captures=captures)),
        cause=None if cause is None else _link(cause, numbers),
        because="" if cause is None else BECAUSE[cause.finding.verdict],
        others=tuple(_link(by_id[name], numbers) for name in found.contributing if name in by_id),
        sure=how_sure(finding),
        left_as=left_as(finding),
        left=tuple(other for refuted, other in considered if not refuted),
        ruled_out=tuple(other for refuted, other in considered if refuted),
        remedies=tuple(map(_remedy, finding.remedies)),
        actors=tuple((printable(actor.name), printable(actor.what)) for actor in finding.actors),
        steps=tuple(_steps(found)),
    )


def _link(found: Diagnosed, numbers: dict[str, int]) -> Link:
    return Link(numbers[found.id], found.id, printable(named(found.finding)))


def _left(other: Considered) -> Left:
    because, against, decided_by = (printable(text or "") for text in (other.because, other.against, other.decided_by))
    return Left(in_words(other), because, against, decided_by)


def _remedy(remedy: Remedy) -> RemedyView:
    said = (remedy.config, remedy.current, remedy.proposed, remedy.derived_from, remedy.command, remedy.cost)
    config, current, proposed, why, command, cost = (printable(text or "") for text in said)
    text, *answers = map(printable, remedy.lines)
    return RemedyView(text, tuple(answers), remedy.where, config, current, proposed, why, command, cost)


def _steps(found: Diagnosed) -> Iterator[StepView]:
    opened = {one.place: one for one in found.evidence}
    for step in found.finding.steps:
        places = tuple(_places(opened[place] for place in step.places))
        yield StepView(printable(step.text), printable(step.because or ""), places)


def _places(opened: Iterable[OpenedRef]) -> Iterator[Place]:
    for one in opened:
        place = one.place
        standing = f"{place.topic}-{place.partition} @ {place.offset}: " if one.line is None else ""
        where = f"line {one.line}" if one.line is not None else f"byte {one.position}" if one.source is not None else ""
        source = "in no file any more" if one.source is None else one.source
        at = (iso(place.at) or "")[:23].replace("T", " ")
        yield Place(printable(source), where, at, printable(f"{standing}{place.text}"))
