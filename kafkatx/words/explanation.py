"""What a rule says, as templates over its facts: title, summary, actors, steps, what else it may be, what to do.

The title is what an index says of whom the finding is about ("fenced by a second instance"), the summary one sentence.
Both claim no more than the verdict carries: `[{perhaps} ]` in them reads "probably " under likely, "possibly " under
possible, and is left out where it is proved. `ruled_out` is an explanation that this evidence refutes; `left_open` one
that it can't, with what would decide. A step says what happened, and beside it the grounds: evidence, never a cause.

A part is said where the facts that it names are there; `needs` names further ones that must be (present, not empty,
not false), `unless` such that must not be. `cites` names fields of places (`Refs`). A part with `each` is said once for
every item of that field, which its templates call `each`. Shared parts come with facts of their own: a `Phrase` binds
them, the facts of a rule hold what was bound, and `included("field")` says it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import partial
from typing import Any, Generic, TypeVar

from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.explained import Actor, Considered, EvidenceRef, Remedy, Step
from kafkatx.words.template import Text, names_in, render, value_of
from kafkatx.words.values import EXPLAINED, AtLeast, Count

Facts = TypeVar("Facts")
Part = TypeVar("Part", bound="SpokenPart")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenPart:
    """When a part is said, and what it cites."""

    cites: str = ""
    needs: str = ""
    unless: str = ""
    each: str = ""

    def is_said(self, facts: object) -> bool:
        """Whether its conditions hold."""
        return all(value_of(facts, name) for name in self.needs.split()) and not any(
            value_of(facts, name) for name in self.unless.split()
        )

    def places(self, facts: object) -> tuple[EvidenceRef, ...]:
        """Return what it cites, in the order in which the fields are named."""
        found: list[EvidenceRef] = []
        for name in self.cites.split():
            found.extend(_items(facts, name))
        return tuple(found)

    def texts(self) -> Iterator[tuple[str, Text]]:
        """Yield its templates by name."""
        shared = {field.name for field in fields(SpokenPart)}
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in shared and value is not None and not isinstance(value, bool):
                yield field.name, value

    def names(self) -> set[str]:
        """Names of all facts that it asks for."""
        told = {*self.cites.split(), *self.needs.split(), *self.unless.split(), *self.each.split()}
        return told.union(*(names_in(text) for _, text in self.texts()))


@dataclass(frozen=True, slots=True)
class ActorWords(SpokenPart):
    """Somebody the steps speak of."""

    name: Text
    what: Text

    def said(self, facts: object) -> Actor | None:
        """Return the actor, None where a fact is absent."""
        name, what = render(self.name, facts), render(self.what, facts)
        return None if name is None or what is None else Actor(name, what)


@dataclass(frozen=True, slots=True)
class StepWords(SpokenPart):
    """One step of the explanation: what happened and, where it does not speak for itself, the grounds for it."""

    text: Text
    because: Text | None = None

    def said(self, facts: object) -> Step | None:
        """Return the step, None where a fact is absent."""
        text, because = render(self.text, facts), render(self.because, facts)
        is_absent = text is None or (because is None and self.because is not None)
        return None if is_absent else Step(text or "", because, self.places(facts))


@dataclass(frozen=True, slots=True)
class ConsideredWords(SpokenPart):
    """Another explanation, and why it is refuted or can't be; of one that is left open, what would decide.

    `against` is what speaks against one that is left open all the same.
    """

    rule: Text
    because: Text
    decided_by: Text | None = None
    against: Text | None = None
    refuted: bool = True

    def said(self, facts: object) -> Considered | None:
        """Return it, None where a fact is absent."""
        rule, because = render(self.rule, facts), render(self.because, facts)
        if rule is None or because is None:
            return None
        return Considered(
            rule,
            because,
            self.places(facts),
            refuted=self.refuted,
            decided_by=render(self.decided_by, facts),
            against=render(self.against, facts),
        )


@dataclass(frozen=True, slots=True)
class RemedyWords(SpokenPart):
    """What to do; all but text and where may drop out alone."""

    text: Text
    where: Text
    config: Text | None = None
    current: Text | None = None
    proposed: Text | None = None
    derived_from: Text | None = None
    command: Text | None = None
    cost: Text | None = None
    restart_needed: bool | None = None

    def said(self, facts: object) -> Remedy | None:
        """Return the remedy, None where a fact of its text is absent."""
        text, where = render(self.text, facts), render(self.where, facts)
        if text is None or where is None:
            return None
        others = (self.config, self.current, self.proposed, self.derived_from, self.command, self.cost)
        config, current, proposed, derived_from, command, cost = (render(one, facts) for one in others)
        return Remedy(
            text, where, config, current, proposed, derived_from, command, cost, restart_needed=self.restart_needed
        )


@dataclass(frozen=True, slots=True)
class MeasureWords(SpokenPart):
    """What the number of a remedy was made from."""

    text: Text


@dataclass(frozen=True, slots=True)
class GapWords(SpokenPart):
    """A rule could not look: at what, and what is missing for it."""

    scope: Text
    missing: Text


actor, step, remedy = ActorWords, StepWords, RemedyWords
ruled_out, left_open = ConsideredWords, partial(ConsideredWords, refuted=False)
measure, gap = MeasureWords, GapWords
"""How rules write them."""


@dataclass(frozen=True, slots=True)
class Bound(Generic[Part]):
    """Words together with the facts that they are said over."""

    words: Part
    facts: object


EXPLAINED.add(Bound)


@dataclass(frozen=True, slots=True)
class Phrase(Generic[Facts, Part]):
    """Words that several rules share, with the type of the facts that they are said over."""

    facts: type[Facts]
    words: Part

    def of(self, facts: Facts) -> Bound[Part]:
        """Bind the words to facts."""
        return Bound(self.words, facts)


@dataclass(frozen=True, slots=True)
class Included:
    """The bound parts that a field of the facts holds: one of them, a tuple of them, or None."""

    field: str


included = Included


@dataclass(frozen=True, slots=True)
class Words(Generic[Facts]):
    """All that a rule says of one kind of facts.

    `who` is whom an index names, where that is not the finding's transactional.id, partition, broker or producer id.
    """

    facts: type[Facts]
    title: Text
    summary: Text
    who: Text | None = None
    actors: tuple[ActorWords | Included, ...] = ()
    steps: tuple[StepWords | Included, ...] = ()
    considered: tuple[ConsideredWords | Included, ...] = ()
    remedies: tuple[RemedyWords | Included, ...] = ()

    def parts(self) -> Iterator[SpokenPart | Included]:
        """Yield everything beside title and summary."""
        yield from (*self.actors, *self.steps, *self.considered, *self.remedies)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What was said."""

    title: str
    summary: str
    who: str | None
    actors: tuple[Actor, ...]
    steps: tuple[Step, ...]
    considered: tuple[Considered, ...]
    remedies: tuple[Remedy, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """Facts with the verdict that they are told under.

    `nothing_open`: no transaction is left to abort; `is_abridged`: lines of the text were left out, so that what was
    counted of them is the least.
    """

    facts: object
    verdict: Verdict
    nothing_open: bool = False
    is_abridged: bool = False

    @property
    def perhaps(self) -> str | None:
        """How sure a sentence sounds; None where it is proved."""
        return _PERHAPS.get(self.verdict)

    def __getattr__(self, name: str) -> object:
        value: object = getattr(self.facts, name)
        return AtLeast(value) if self.is_abridged and name in OF_LINES and type(value) is Count else value


OF_LINES = frozenset({"count", "lines", "failures", "refused", "retries"})
"""Facts that are counted by lines."""
_PERHAPS = {Verdict.likely: "probably", Verdict.possible: "possibly"}


def explain(words: Words[Any], facts: object, verdict: Verdict, **known: bool) -> Spoken:
    """Say it: every part over the facts; `known` as of `Judged`.

    Raises ValueError where a fact of the title or the summary is absent.
    """
    judged = Judged(facts, verdict, **known)
    title, summary = render(words.title, judged), render(words.summary, judged)
    if title is None or summary is None:
        raise ValueError(f"a fact of the title or the summary is absent: {facts!r}")
    return Spoken(
        title,
        summary,
        render(words.who, judged),
        *(tuple(_said(parts, judged)) for parts in (words.actors, words.steps, words.considered, words.remedies)),
    )


@dataclass(frozen=True, slots=True)
class _WithItem:
    """Facts with one item of a field, called `each`."""

    facts: object
    each: object

    def __getattr__(self, name: str) -> object:
        return getattr(self.facts, name)


def _said(parts: Iterable[Any], facts: object) -> Iterator[Any]:
    """Say some parts, each where its conditions hold and its facts are there."""
    for part in parts:
        if isinstance(part, Included):
            for bound in _bound(value_of(facts, part.field)):
                yield from _said((bound.words,), bound.facts)
            continue
        scopes = [_WithItem(facts, item) for item in _items(facts, part.each)] if part.each else [facts]
        for scope in scopes:
            if part.is_said(scope) and (said := part.said(scope)) is not None:
                yield said


def _items(facts: object, name: str) -> tuple[Any, ...]:
    """Items of a field; none where it is absent."""
    value: Any = value_of(facts, name)
    return () if value is None else tuple(value)


def _bound(value: Any) -> tuple[Any, ...]:
    """Return the bound parts of a field: none, one or several."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)
