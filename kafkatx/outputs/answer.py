"""The answer of a diagnosis, before all details: what state the evidence is in, and which findings are the roots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined, Selected
from kafkatx.findings.finding import EVERYWHERE, Finding, Subject
from kafkatx.findings.named_errors import SPOKEN_OF
from kafkatx.outputs.diagnosis_order import Story, one_change, stories
from kafkatx.terms.catalogue.entries import OF_FRAMES
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import span
from kafkatx.terms.verdicts import Severity
from kafkatx.words.plurals import plural
from kafkatx.words.values import NameList

ABORTS = "aborted_by_client"
"""The rule that says so where it can't tell who aborted."""
BLOCKED = "read_committed_blocked"
MOST_OFFERED = 5
"""Names of each kind that a sentence offers where a filter names what does not occur."""

FILTERED = "what the filters name"


class AnswerState(StrEnum):
    """The answers that are never said one for another."""

    findings = "findings"
    """Something is wrong: a finding about a cause or an effect at warning or above, or a failure that one explains."""
    unexplained = "unexplained"
    """Something failed, and the evidence leaves open why."""
    clear = "clear"
    """Transactions, producers or groups were looked at, and none of them is wrong."""
    nothing_to_judge = "nothing_to_judge"
    """Nothing of transactions, producers or groups was there, or filters left nothing that could be said."""
    failed = "failed"
    """The engine failed, so nothing is said; exit code 5, and the document says why in `error`."""


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
    state = _state(diagnosis)
    return DiagnosisAnswer(
        state,
        _headline(diagnosis, state),
        max(counts, default=None),
        {severity: counts[severity] for severity in reversed(Severity)},
        tuple(found.id for found in roots),
    )


def root_causes(findings: list[Diagnosed]) -> list[Diagnosed]:
    """Findings at warning or above which no other one at warning or above, shown beside them, stands behind.

    A cause that is only worth knowing is no root: it is told with what it caused.
    """
    by_id = {found.id: found for found in findings}
    return [found for found in findings if _is_wrong(found) and not _has_wrong_cause(found, by_id)]


def named(finding: Finding, others: str = "", short: Mapping[str, str] = MappingProxyType({})) -> str:
    """`payments-eu-1: fenced by a second instance (proved)`: whom a finding is about, what of them, how sure.

    `others` is said of those of whom the same is told, `short` are names by which long ones are told there.
    That a failure happened is not in doubt; its title says that the cause is.
    """
    who = "" if finding.who is None else f"{short.get(finding.who, finding.who)}{others}: "
    return f"{who}{finding.title}" if finding.is_unexplained else f"{who}{finding.title} ({finding.verdict.name})"


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


def _state(diagnosis: Diagnosis) -> AnswerState:
    wrong = [found.finding for found in diagnosis.findings if _is_wrong(found)]
    if any(not finding.is_unexplained for finding in wrong):
        return AnswerState.findings
    if wrong:
        return AnswerState.unexplained
    if _speaks_of_failure(diagnosis):
        return AnswerState.unexplained
    if diagnosis.failures.explained and diagnosis.findings:
        return AnswerState.findings
    if _foreign(diagnosis) is not None:
        return AnswerState.nothing_to_judge
    selected = diagnosis.selected
    is_open = selected is not None and (selected.may_hide or not selected.occurs)
    return AnswerState.nothing_to_judge if is_open or diagnosis.examined.is_empty else AnswerState.clear


def _speaks_of_failure(diagnosis: Diagnosis) -> bool:
    """Whether lines say that something failed, in unknown words or in people's: no clean bill, and no diagnosis.

    So does a request that was refused and made again to the end of a text.
    """
    told = [found.finding.facts for found in diagnosis.findings if found.finding.is_unexplained]
    return any(facts.get("is_retry") or ("said" in facts and facts.get("named") != SPOKEN_OF) for facts in told)


def _foreign(diagnosis: Diagnosis) -> Finding | None:
    """A failure, or an error that is spoken of, of which nothing shows that a transaction met it."""
    return next((found.finding for found in diagnosis.findings if found.finding.is_unexplained), None)


def _headline(diagnosis: Diagnosis, state: AnswerState) -> str:
    """One sentence; what it does not cover is part of it wherever it says that nothing is wrong."""
    told = _told(diagnosis, state)
    if any(_is_wrong(found) for found in diagnosis.findings) or not diagnosis.examined.unread_segments:
        return told
    end = "." if told.endswith(".") else ""
    return f"{told.removesuffix('.')}; {unread(diagnosis.examined)}{end}"


def unread(examined: Examined) -> str:
    """`3,400 segments of data were not read (nothing made them suspect; --thorough reads them)`; "" where all were."""
    if not examined.unread_segments:
        return ""
    were = "was" if examined.unread_segments == 1 else "were"
    segments = plural(examined.unread_segments, "segment")
    it = "it" if examined.unread_segments == 1 else "them"
    return f"{segments} of data {were} not read (nothing made {it} suspect; --thorough reads {it})"


def _told(diagnosis: Diagnosis, state: AnswerState) -> str:
    """The same, of what was read."""
    if any(_is_wrong(found) for found in diagnosis.findings):
        return _wrong(diagnosis.findings)
    if state is AnswerState.unexplained:
        return _open(diagnosis)
    if state is AnswerState.nothing_to_judge:
        return _nothing(diagnosis)
    return _clear(diagnosis)


def _open(diagnosis: Diagnosis) -> str:
    """What the text says that no line of a program, or none that is known, shows."""
    named = [found.finding for found in diagnosis.findings if "named" in found.finding.facts]
    if named:
        is_cut = str(named[0].facts.get("error", "")).startswith(OF_FRAMES)
        return f"No diagnosis yet: {named[0].title}{'' if is_cut else '; no line of a program shows it'}."
    again = [found.finding for found in diagnosis.findings if found.finding.facts.get("is_retry")]
    if again:
        return f"No diagnosis yet: {again[0].title}; whether it got through does not stand here."
    return "No diagnosis yet: the text speaks of a failure that kafkatx does not know."


def _clear(diagnosis: Diagnosis) -> str:
    """That nothing is wrong; what is worth knowing first, else in what that is."""
    if diagnosis.failures.explained and diagnosis.findings and not _waiting(diagnosis):
        return _only_told(diagnosis)
    about = "" if diagnosis.selected is None else f" in {FILTERED}"
    if waiting := _waiting(diagnosis):
        return f"No error and no warning{about}. For information: {waiting}"
    if diagnosis.findings:
        return f"No error and no warning{about}. For information: {_first(diagnosis)}"
    examined = _in_what(diagnosis)
    about = f" in {examined}" if examined else ""
    if aborted := _of_nobody(diagnosis):
        return f"No error and no warning{about}; who aborted is not shown: {aborted}."
    return f"Clear: no error and no warning{about}."


def _in_what(diagnosis: Diagnosis) -> str:
    """How much was looked at; of what filters left out nothing is said."""
    return amount(diagnosis.examined) if diagnosis.selected is None else FILTERED


def _of_nobody(diagnosis: Diagnosis) -> str:
    """`1 aborted transaction in orders-0 of producer id 7`: work that was thrown away, nothing tells by whom; or ""."""
    gaps = (gap for _, gap in diagnosis.not_checkable if gap.rule == ABORTS and gap.scope != EVERYWHERE)
    return next((gap.scope for gap in gaps), "")


def _first(diagnosis: Diagnosis) -> str:
    """`payments-1: 2 of 15 transactions aborted by its own client (proved) and 1 more`: what is worth knowing."""
    first = stories(diagnosis.findings)[0].worst.finding
    more = len(diagnosis.findings) - 1
    return f"{named(first)}{f' and {more} more' if more else ''}"


def _only_told(diagnosis: Diagnosis) -> str:
    """What failed is told for information alone: good news is about nobody whom it is about."""
    others = _others(diagnosis)
    return f"For information only: {_first(diagnosis)}{f'; no error and no warning in {others}' if others else ''}"


def _others(diagnosis: Diagnosis) -> str:
    """`3 other transactional ids, 5 other producers`: those that no finding names; "" where filters chose, too."""
    if diagnosis.selected is not None:
        return ""
    about = [
        (one.transactional_id, one.producer_id) for found in diagnosis.findings for one in _named_in(found.finding)
    ]
    ids, producers = {name for name, _ in about} - {None}, {number for _, number in about} - {None}
    left = [
        (diagnosis.examined.transactional_ids - len(ids), "other transactional id"),
        (diagnosis.examined.producers - max(len(ids), len(producers)), "other producer id"),
    ]
    return ", ".join(plural(number, name) for number, name in left if number > 0)


def _named_in(finding: Finding) -> list[Finding | Subject]:
    """Whom a finding is about, each with an id or a producer id."""
    return [finding, *finding.subjects]


def totals(diagnosis: Diagnosis) -> str:
    """`2 root causes; findings: 1 error, 3 warnings, 1 info.`; without root causes what was examined instead.

    Failures whose cause is open are no root causes that anybody found: they are counted as what they are.
    """
    told = [story for story in stories(diagnosis.findings) if _is_wrong(story.worst)]
    counts = Counter(found.finding.severity for found in diagnosis.findings)
    kinds = [(counts[Severity.error], "error"), (counts[Severity.warning], "warning")]
    said = [plural(number, name) for number, name in kinds if number]
    said += [f"{counts[Severity.info]} info"] if counts[Severity.info] else []
    if told:
        return f"{_roots(told)}; findings: {', '.join(said)}."
    waiting = _waiting(diagnosis)
    begin = f"{waiting[0].upper()}{waiting[1:]}; no error" if waiting else "No error"
    has_failed = bool(diagnosis.failures.explained) and not waiting
    about = _others(diagnosis) if has_failed else _in_what(diagnosis)
    left = f"; {unread(diagnosis.examined)}" if diagnosis.examined.unread_segments else ""
    if has_failed and not about:
        return f"For information only{left}."
    return f"{begin} and no warning in {about}{left}." if about else f"{begin} and no warning{left}."


def _roots(told: list[Story]) -> str:
    """`2 root causes and 1 failure with its cause open`; what one change of a setting mends has one cause.

    What only contributed to something that is told is no cause of its own.
    """
    unknown = sum(story.worst.finding.is_unexplained for story in told)
    parts = {name for story in told for found in story.findings for name in found.contributing}
    known_ones = [story for story in told if not story.worst.finding.is_unexplained]
    own = [story for story in known_ones if story.root.id not in parts] or known_ones
    causes = {one_change(story.worst) for story in own}
    known = [plural(len(causes), "root cause")] if causes else []
    left = "its cause" if unknown == 1 else "their causes"
    return " and ".join([*known, *([f"{plural(unknown, 'failure')} with {left} open"] if unknown else [])])


def _waiting(diagnosis: Diagnosis) -> str:
    """`readers of orders-0 wait at offset 4`: what is no fault yet, and not fine either."""
    told = (found.finding for found in diagnosis.findings if found.finding.rule == BLOCKED)
    blocked = [finding for finding in told if "last_stable_offset" in finding.facts]
    if not blocked:
        return ""
    more = f" (and {len(blocked) - 1} more)" if len(blocked) > 1 else ""
    return f"{blocked[0].who} wait at offset {blocked[0].facts['last_stable_offset']}{more}"


def _wrong(findings: list[Diagnosed]) -> str:
    """The one incident whole; of several the worst, and how many more there are."""
    told = [story for story in stories(findings) if _is_wrong(story.worst)]
    if len(told) == 1:
        return _incident(told[0])
    worst = told[0].worst.finding
    counts = Counter(story.worst.finding.severity for story in told[1:])
    kinds = [plural(counts[severity], severity.name) for severity in reversed(Severity) if counts[severity]]
    return f"{worst.severity.name}: {named(worst)}; and {plural(len(told) - 1, 'more', 'more')} ({', '.join(kinds)})"


def _incident(story: Story) -> str:
    """The worst of a chain, how many more warnings and errors there are in it, and what is behind them."""
    worst, root = story.worst.finding, story.root.finding
    others = [found for found in story.findings if found not in (story.worst, story.root)]
    more = sum(_is_wrong(found) or not _is_wrong(story.worst) for found in others)
    told = f"{worst.severity.name}: {named(worst)}{f' and {more} more' if more else ''}"
    return told if root is worst else f"{told}, because of {named(root)}"


def _nothing(diagnosis: Diagnosis) -> str:
    """Why there is nothing to judge."""
    selected, foreign = diagnosis.selected, _foreign(diagnosis)
    if foreign is not None:
        return f"Nothing to judge: {foreign.title}; nothing shows that a transaction met it."
    if diagnosis.examined.is_empty and diagnosis.examined.clients:
        who = plural(diagnosis.examined.clients, "producer")
        return f"Nothing to judge: lines of {who} without an id, and no call in them that failed for good."
    if diagnosis.examined.is_empty or selected is None:
        failed = "no failure that has to do with one" if diagnosis.failures.excused else "nothing that failed"
        return f"Nothing to judge: what could be read tells of no transaction, and of {failed}."
    if not selected.occurs:
        return f"Nothing to judge: what the filters name does not occur. {_offered(selected, diagnosis.examined)}"
    return "No answer: the filters leave out findings by rule or severity, and no error or warning is left."


def _offered(selected: Selected, examined: Examined) -> str:
    """What filters could have named."""
    kinds = (
        ("transactional ids", selected.transactional_ids),
        ("producer ids", tuple(map(str, selected.producer_ids))),
        ("topics", selected.topics),
    )
    told = [f"{kind} {format(NameList(names), str(MOST_OFFERED))}" for kind, names in kinds if names]
    time = span(examined.since, examined.until)
    return f"There are {'; '.join([*told, *([time] if time else [])])}."


def examined_in(diagnosis: Diagnosis) -> str:
    """`Examined: 412 transactions, 6 transactional ids, ... .`; "" where it is nothing, or the headline says it.

    Nor is it said where filters chose: what they left out was examined as well, and nothing is told of it.
    """
    if diagnosis.selected is not None or diagnosis.examined.is_empty:
        return ""
    has_zone = all(found.finding.has_zone for found in diagnosis.findings)
    told = amount(diagnosis.examined, has_zone=has_zone)
    return "" if not told or told in answer(diagnosis).headline else f"Examined: {told}."


def amount(examined: Examined, *, has_zone: bool = True) -> str:
    """`412 transactions, 6 transactional ids, 2026-11-21 10:02:00.000 to 11:40:00.000 UTC`."""
    counted = [
        (examined.transactions, "transaction"),
        (examined.transactional_ids, "transactional id"),
        (examined.producers, "producer id"),
        (examined.groups, "group"),
    ]
    told = [plural(number, name) for number, name in counted if number]
    time = span(examined.since, examined.until, has_zone=has_zone and examined.has_zone)
    return ", ".join([*told, *([time] if time else [])])
