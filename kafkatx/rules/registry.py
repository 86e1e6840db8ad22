"""The rules, and what one finding means for another: suppression and causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kafkatx.histories.story import Story
from kafkatx.rules import (
    aborted_by_client,
    atomicity_violation,
    fenced_by_new_instance,
    hanging_transaction,
    inconsistent_transaction_state,
    open_transaction,
    producer_epoch_exhausted,
    read_committed_blocked,
    stuck_prepare,
    transaction_timed_out,
    transactional_id_expired,
    unstable_transactional_id,
)
from kafkatx.rules.finding import Finding, NotCheckable

RULES: dict[str, Callable[[Story], Iterator[Finding | NotCheckable]]] = {
    module.RULE: module.check
    for module in (
        aborted_by_client,
        atomicity_violation,
        fenced_by_new_instance,
        hanging_transaction,
        inconsistent_transaction_state,
        open_transaction,
        producer_epoch_exhausted,
        read_committed_blocked,
        stuck_prepare,
        transaction_timed_out,
        transactional_id_expired,
        unstable_transactional_id,
    )
}

CAUSES = {
    "read_committed_blocked": ("atomicity_violation", "hanging_transaction", "stuck_prepare", "open_transaction"),
    "open_transaction": ("unstable_transactional_id",),
}
"""What can cause a finding, the likeliest mechanism first; edges only go from lower to higher rank, so there are no
cycles.
"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What all rules say of a capture. `caused_by[n]` is the number of the finding that caused findings[n]."""

    findings: list[Finding]
    caused_by: list[int | None]
    not_checkable: list[NotCheckable]


def judge(story: Story, only: frozenset[str] | None = None) -> Judgement:
    """Run the rules over a story. `only` limits what is reported; causes are still found among all."""
    results = [result for check in RULES.values() for result in check(story)]
    findings = [result for result in results if isinstance(result, Finding)]
    caused_by = [_cause(finding, findings) for finding in findings]
    kept = [number for number, finding in enumerate(findings) if only is None or finding.rule in only]
    place = {number: at for at, number in enumerate(kept)}
    missing = dict.fromkeys(
        result for result in results if isinstance(result, NotCheckable) and (only is None or result.rule in only)
    )
    return Judgement(
        [findings[number] for number in kept],
        [place.get(cause) if (cause := caused_by[number]) is not None else None for number in kept],
        list(missing),
    )


def _cause(finding: Finding, findings: list[Finding]) -> int | None:
    """Number of the finding that caused this one: same partition where both have one, else the same id."""
    for rule in CAUSES.get(finding.rule, ()):
        for number, other in enumerate(findings):
            if other.rule == rule and _is_about(other, finding):
                return number
    return None


def _is_about(cause: Finding, effect: Finding) -> bool:
    if cause.transactional_id is not None and cause.transactional_id != effect.transactional_id:
        return False
    if cause.topic is not None and (cause.topic, cause.partition) not in (
        (effect.topic, effect.partition),
        (effect.topic, None),
    ):
        return False
    if cause.transactional_id is None:
        names = {subject.transactional_id for subject in cause.subjects}
        return (
            effect.transactional_id in names
            if names
            else cause.producer_id == effect.producer_id and cause.first_offset == effect.first_offset
        )
    return True
