"""What a rule is: what it finds, the words for it, and how it stands to other rules.

A rule is a module of `rules/` with a docstring (its page), one or more classes of facts, `find`, words and `RULE`.
The registry finds it there; nothing else is edited to add one.

Facts     frozen dataclasses of typed values (words/values.py), without a sentence; fields of places (`Refs`) are cited.
find      yields a `Case` for each finding and a bound `gap` for what it could not look at; it alone looks at the model.
words     templates over the facts; of several kinds of facts a rule has words for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kafkatx.findings.abridged import is_abridged
from kafkatx.findings.accounts import Accounted
from kafkatx.findings.brokers_release import with_release
from kafkatx.findings.failed_tasks import with_failed_tasks
from kafkatx.findings.finding import About, Finding, NotCheckable
from kafkatx.findings.open_no_more import is_nothing_open
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Bound, GapWords, Words, explain
from kafkatx.words.template import render
from kafkatx.words.values import as_json, as_name

Condition = Callable[[CaptureModel, Finding, Finding], bool]
"""What must be visible, beside the order of time, for one finding to be the cause of another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(About):
    """One thing that a rule found: its facts, how sure and how bad it is, and whom it is about."""

    facts: object
    verdict: Verdict
    severity: Severity


Found = Iterator[Case | Bound[GapWords]]
"""What `find` yields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule.

    `depth` is how deep its facts lie: 0 is outside, 7 what an application sees last; a cause lies deeper than its
    effect. `caused_by` are the rules that can have caused it, `causes` those that it can cause, each with its
    condition, and `eased_by` those that make it possible without causing it; `absorbed_by` the wider rule of which its
    findings are steps. `decided_by` are the sides whose logs decide it: without any of them it can't look. `find_rest`
    looks once all others have said what they found: at what they leave. `is_lasting` says that what it finds stands at
    the end of the evidence until somebody ends it, which the same partitions then show: a later copy of them without
    the finding is proof (`outputs/comparing`).
    """

    find: Callable[[CaptureModel], Found]
    words: tuple[Words[Any], ...]
    depth: int
    caused_by: tuple[tuple[str, Condition], ...] = ()
    causes: tuple[tuple[str, Condition], ...] = ()
    eased_by: tuple[tuple[str, Condition], ...] = ()
    absorbed_by: str | None = None
    decided_by: tuple[Side, ...] = ()
    find_rest: Callable[[CaptureModel, Sequence[Accounted], Sequence[Finding]], Found] | None = None
    is_lasting: bool = False


def findings_of(name: str, rule: Rule, model: CaptureModel) -> Iterator[Finding | NotCheckable]:
    """Run a rule over a model and say what it found."""
    yield from _said(name, rule, model, rule.find(model))


def rest_of(
    name: str, rule: Rule, model: CaptureModel, failures: Sequence[Accounted], findings: Sequence[Finding]
) -> Iterator[Finding | NotCheckable]:
    """Say what a rule finds in what the findings of all others leave of the failures that were told."""
    if rule.find_rest is not None:
        yield from _said(name, rule, model, rule.find_rest(model, failures, findings))


def _said(name: str, rule: Rule, model: CaptureModel, cases: Found) -> Iterator[Finding | NotCheckable]:
    words = {one.facts: one for one in rule.words}
    for found in cases:
        if isinstance(found, Bound):
            yield _not_checkable(name, found)
        else:
            yield _finding(model, name, words[type(found.facts)], found)


def _not_checkable(name: str, found: Bound[GapWords]) -> NotCheckable:
    scope, missing = render(found.words.scope, found.facts), render(found.words.missing, found.facts)
    return NotCheckable(name, scope or "", missing or "")


def _finding(model: CaptureModel, name: str, words: Words[Any], case: Case) -> Finding:
    said = explain(words, case.facts, case.verdict)
    places = [place for step in said.steps for place in step.places]
    known = {"nothing_open": is_nothing_open(model, case, places), "is_abridged": is_abridged(model, places)}
    if any(known.values()):
        said = explain(words, case.facts, case.verdict, **known)
    said = with_release(model, said)
    found = Finding(
        name,
        case.verdict,
        case.severity,
        said.title,
        said.summary,
        said.who or _who(case),
        said.actors,
        said.steps,
        said.considered,
        said.remedies,
        as_json(case.facts),
        **_columns(case),
    )
    found = with_failed_tasks(model, found)
    return replace(found, has_zone=False) if _lacks_zone(model, found) else found


def _columns(case: Case) -> dict[str, Any]:
    """The columns of a case; a producer id that a text lacks is absent (-1 is one of Kafka's own values)."""
    columns = case.columns()
    number = columns["producer_id"]
    return {**columns, "producer_id": number if number is None or number >= 0 else None}


def _lacks_zone(model: CaptureModel, finding: Finding) -> bool:
    """Whether its times are those of logs of which nothing tells the zone."""
    places = finding.places()
    return bool(places) and all(place.source in model.logs.without_zone for place in places)


def _who(about: About) -> str | None:
    """Whom an index names: the transactional.id, else the partition or topic, the brokers, or the producer id."""
    if about.transactional_id is not None:
        return as_name(about.transactional_id)
    if about.topic is not None:
        place = about.topic if about.partition is None else f"{about.topic}-{about.partition}"
        return f"{'topic' if about.partition is None else 'partition'} {as_name(place)}"
    if about.nodes:
        return f"broker{'' if len(about.nodes) == 1 else 's'} {', '.join(map(str, about.nodes))}"
    return None if about.producer_id is None else f"producer id {about.producer_id}"
