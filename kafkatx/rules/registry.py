"""The rules, and what all of them say of a capture: suppression, what could not be looked at, and causes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from importlib import import_module
from pkgutil import iter_modules

import kafkatx.rules
from kafkatx.findings.accounts import accounts, counted
from kafkatx.findings.causes import Causes, causes
from kafkatx.findings.diagnosis import FailureCounts
from kafkatx.findings.finding import EVERYWHERE, Finding, NotCheckable
from kafkatx.findings.one_value import with_one_value
from kafkatx.findings.rule import Rule, findings_of, rest_of
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict


def _discovered() -> dict[str, Rule]:
    """The rules: modules of this folder that have a `RULE`, by name."""
    names = sorted(module.name for module in iter_modules(kafkatx.rules.__path__) if not module.ispkg)
    modules = {name: import_module(f"kafkatx.rules.{name}") for name in names if f"kafkatx.rules.{name}" != __name__}
    return {name: module.RULE for name, module in modules.items() if hasattr(module, "RULE")}


RULES = _discovered()
MOST_GUESSES = 2
"""Findings of verdict `possible` about one id: more of them are not worth a reader's time (contract, section 3)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What all rules say of a capture; `causes` are parallel to the findings and number them.

    `failures` counts the failures that were told, and what became of them.
    """

    findings: list[Finding]
    not_checkable: list[NotCheckable]
    causes: list[Causes] = field(default_factory=list)
    failures: FailureCounts = field(default_factory=FailureCounts)


def judge(model: CaptureModel, only: frozenset[str] | None = None) -> Judgement:
    """Run the rules over a model. `only` limits what is reported; causes are still found among all."""
    results = [result for name, rule in RULES.items() for result in findings_of(name, rule, model)]
    findings = _worth_reading(_not_absorbed([result for result in results if isinstance(result, Finding)]))
    failures = accounts(model, findings)
    rest = [result for name, rule in RULES.items() for result in rest_of(name, rule, model, failures, findings)]
    findings += [result for result in rest if isinstance(result, Finding)]
    findings = with_one_value(model, findings)
    found = causes(model, findings, RULES)
    kept = [number for number, finding in enumerate(findings) if only is None or finding.rule in only]
    place = {number: at for at, number in enumerate(kept)}
    missing = [result for result in results if isinstance(result, NotCheckable)]
    missing += _without_logs(model, {result.rule for result in results})
    return Judgement(
        [findings[number] for number in kept],
        [entry for entry in dict.fromkeys(missing) if only is None or entry.rule in only],
        [_numbered(found[number], place) for number in kept],
        counted(failures),
    )


def _numbered(found: Causes, place: dict[int, int]) -> Causes:
    """Causes by the numbers of the findings that are kept."""
    primary = place.get(found.primary) if found.primary is not None else None
    return Causes(primary, tuple(place[number] for number in found.contributing if number in place))


def _not_absorbed(findings: list[Finding]) -> list[Finding]:
    """Leave out what a wider finding tells as one of its steps, with no less certainty."""
    return [finding for finding in findings if not any(_holds(wider, finding) for wider in findings)]


def _holds(wider: Finding, finding: Finding) -> bool:
    """Whether a finding is a step of a wider one: of the same id, or of no id with lines that the wider one cites."""
    if wider.rule != RULES[finding.rule].absorbed_by or wider.verdict < finding.verdict:
        return False
    if finding.transactional_id is not None:
        return wider.transactional_id == finding.transactional_id
    mine, its = ({(place.source, place.line) for place in one.places() if place.line} for one in (finding, wider))
    return bool(mine & its)


def _worth_reading(findings: list[Finding]) -> list[Finding]:
    """At most two guesses about an id, the most severe ones."""
    guesses: dict[str | int, list[Finding]] = {}
    for finding in findings:
        who = finding.transactional_id if finding.transactional_id is not None else finding.producer_id
        if finding.verdict is Verdict.possible and who is not None:
            guesses.setdefault(who, []).append(finding)
    dropped = [
        id(finding)
        for group in guesses.values()
        for finding in sorted(group, key=lambda finding: -finding.severity)[MOST_GUESSES:]
    ]
    return [finding for finding in findings if id(finding) not in dropped]


def _without_logs(model: CaptureModel, spoken: set[str]) -> Iterator[NotCheckable]:
    """One entry for each rule that logs decide, where there are none of the kind and the rule had nothing to say."""
    for name, rule in RULES.items():
        sides = rule.decided_by
        if sides and name not in spoken and not any(model.logs.has_side(side) for side in sides):
            yield NotCheckable(name, EVERYWHERE, f"logs of {' or '.join(f'{side.name}s' for side in sides)}")
