"""A finding as the template of the page takes it: the sentences of the text output, escaped, in their places.

Once    a sentence stands where a reader needs it first: of the worst finding of a chain in the answer, of all else in
        the evidence. What the answer has told the evidence leaves out, and links to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, OpenedRef
from kafkatx.outputs.answer import named
from kafkatx.outputs.diagnosis_order import folded, stories
from kafkatx.outputs.diagnosis_words import BECAUSE, how_sure, in_words, left_as, placed, when_of
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Considered, Remedy

MOST_BESIDE = 4
"""Findings of a chain beside its worst of which the answer has the first step."""
MOST_CARDS = 10
"""Chains that the answer tells."""
ALIKE = 0.6
"""Share of the words of the shorter of two clauses from which on they advise the same."""
_WORDS = regex(r"[\w.-]*\w")


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
    rule: str
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
        """What to do about the chain, in order: all of the worst one, then first steps for its cause and for others.

        Of others only what is wrong counts, and what is not advised already. What is left out stands in the evidence.
        """
        worst = self.worst
        told = [(remedy, worst) for remedy in worst.remedies]
        cause = worst.cause.id if worst.cause else None
        others = [one for one in self.findings[1:] if one.severity != Severity.info.name or one.id == cause]
        others.sort(key=lambda one: one.id != cause)
        for other in others[:MOST_BESIDE]:
            first = other.remedies[:1]
            said = [remedy.text for remedy, _ in told]
            told += [(one, other) for one in first if not any(advises_the_same(one.text, text) for text in said)]
        return tuple(told)


def advises_the_same(one: str, other: str) -> bool:
    """Whether two pieces of advice begin with one clause in other words, as those for a cause and its effect do."""
    first, second = _clause(one), _clause(other)
    if ("not" in first) != ("not" in second):
        return False
    return len(first & second) >= ALIKE * min(len(first), len(second))


def _clause(text: str) -> set[str]:
    """The words of the first clause, without their endings."""
    clause = re.split(r"[.:;](?:\s|$)", text, maxsplit=1)[0]
    return {word.lower().rstrip("s") for word in _WORDS.findall(clause)}


@dataclass(frozen=True, slots=True)
class Card:
    """A chain in the answer, and the worst findings of other chains of which the same is said."""

    story: StoryView
    alike: tuple[FindingView, ...]


def cards(diagnosis: Diagnosis, views: Iterable[StoryView]) -> tuple[Card, ...]:
    """Return the chains as the answer shows them: alike ones together, as in the index of the text output.

    What is only worth knowing is left to the evidence, where there is anything worse.
    """
    by_id = {view.worst.id: view for view in views}
    lines = folded(stories(diagnosis.findings), set(by_id))
    found = [[by_id[one.id] for one in line if one.id in by_id] for line in lines]
    told = [Card(line[0], tuple(view.worst for view in line[1:])) for line in _same_advice(found)]
    return tuple([card for card in told if card.story.is_wrong] or told)


def _same_advice(lines: Iterable[list[StoryView]]) -> list[list[StoryView]]:
    """Put lines together that tell the same with other numbers: of the same rules, as sure, and to be mended alike."""
    alike: dict[object, list[StoryView]] = {}
    for line in filter(None, lines):
        kinds = tuple((finding.rule, finding.severity, finding.verdict) for finding in line[0].findings)
        alike.setdefault((kinds, tuple(remedy for remedy, _ in line[0].advice)), []).extend(line)
    return list(alike.values())


@dataclass(frozen=True, slots=True)
class Told:
    """What the answer has told: the worst findings of its cards whole, and remedies."""

    findings: frozenset[str]
    remedies: frozenset[RemedyView]

    def left(self, finding: FindingView) -> tuple[RemedyView, ...]:
        """Return the remedies of a finding that are still to be told."""
        return tuple(remedy for remedy in finding.remedies if remedy not in self.remedies)


def told_by(shown: Iterable[Card]) -> Told:
    """Return what the cards of an answer tell."""
    listed = list(shown)
    remedies = frozenset(remedy for card in listed for remedy, _ in card.story.advice)
    return Told(frozenset(card.story.worst.id for card in listed), remedies)


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
        key=printable(found.key) if _is_named(found) else "",
        rule=finding.rule,
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


def _is_named(found: Diagnosed) -> bool:
    """Whether the key of its incident names a cluster, and who it is about."""
    cluster, _, who, *_ = found.key.split("/")
    return bool(cluster and who)


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
