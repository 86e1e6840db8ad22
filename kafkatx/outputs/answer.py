"""The answer of a diagnosis, before all details: what state the evidence is in, and which findings are the roots."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.evidence_refs import plural


class AnswerState(StrEnum):
    """The three answers that are never said one for another."""

    findings = "findings"
    """Something is wrong: a finding at warning or above."""
    clear = "clear"
    """Transactions, producers or groups were looked at, and none of them is wrong."""
    nothing_to_judge = "nothing_to_judge"
    """Nothing of transactions, producers or groups was at hand, or filters left nothing that could be said."""


@dataclass(frozen=True, slots=True)
class DiagnosisAnswer:
    """What a diagnosis amounts to.

    `worst` is the greatest severity of a finding, None where there is none; `counts` the findings of each severity;
    `root_causes` ids of the findings at warning or above that no other one at warning or above caused, worst first.
    """

    state: AnswerState
    headline: str
    worst: Severity | None
    counts: dict[Severity, int]
    root_causes: tuple[str, ...]


def answer(diagnosis: Diagnosis) -> DiagnosisAnswer:
    """Say what a diagnosis amounts to."""
    counts = Counter(found.finding.severity for found in diagnosis.findings)
    roots = root_causes(diagnosis.findings)
    state = _state(diagnosis, bool(roots))
    return DiagnosisAnswer(
        state,
        _headline(diagnosis, state, Counter(found.finding.severity for found in roots)),
        max(counts, default=None),
        {severity: counts[severity] for severity in reversed(Severity)},
        tuple(found.id for found in roots),
    )


def root_causes(findings: list[Diagnosed]) -> list[Diagnosed]:
    """Findings at warning or above which no other one at warning or above, at hand, stands behind.

    A cause that is only worth knowing is no root: it is told with what it caused.
    """
    by_id = {found.id: found for found in findings}
    return [found for found in findings if _is_wrong(found) and not _has_wrong_cause(found, by_id)]


def _is_wrong(found: Diagnosed) -> bool:
    return found.finding.severity >= Severity.warning


def _has_wrong_cause(found: Diagnosed, by_id: dict[str, Diagnosed]) -> bool:
    """Whether a finding at warning or above is in the chain of causes behind one."""
    seen = {found.id}
    cause = by_id.get(found.caused_by or "")
    while cause is not None and cause.id not in seen:
        if _is_wrong(cause):
            return True
        seen.add(cause.id)
        cause = by_id.get(cause.caused_by or "")
    return False


def _state(diagnosis: Diagnosis, is_wrong: bool) -> AnswerState:
    if is_wrong:
        return AnswerState.findings
    selected = diagnosis.selected
    is_open = selected is not None and (selected.may_hide or not selected.occurs)
    return AnswerState.nothing_to_judge if is_open or diagnosis.examined.is_empty else AnswerState.clear


def _headline(diagnosis: Diagnosis, state: AnswerState, roots: Counter[Severity]) -> str:
    """One sentence."""
    if state is AnswerState.findings:
        kinds = [plural(roots[severity], severity.name) for severity in reversed(Severity) if roots[severity]]
        return f"Found {plural(roots.total(), 'root cause')}: {' and '.join(kinds)}."
    if state is AnswerState.nothing_to_judge:
        return _nothing(diagnosis)
    about = _amount(diagnosis.examined) if diagnosis.selected is None else "what the filters name"
    return f"No error and no warning about {about}."


def _nothing(diagnosis: Diagnosis) -> str:
    """Why there is nothing to judge."""
    selected = diagnosis.selected
    if diagnosis.examined.is_empty or selected is None:
        return "No transaction, producer or consumer group in what could be read."
    if not selected.occurs:
        return "What the filters name does not occur in what could be read."
    return "No error and no warning is left, but the filters leave findings out by rule or severity."


def _amount(examined: Examined) -> str:
    """`412 transactions, 6 transactional ids between 2026-11-21T10:02:00.000Z and ...`."""
    counted = [
        (examined.transactions, "transaction"),
        (examined.transactional_ids, "transactional id"),
        (examined.producers, "producer"),
        (examined.groups, "group"),
    ]
    told = ", ".join(plural(number, name) for number, name in counted if number)
    since, until = iso(examined.since), iso(examined.until)
    return told if since is None or until is None else f"{told}, from {since} to {until}"
