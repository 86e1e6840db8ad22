"""Holds what kafkatx says of a copy against what was done in the cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.findings.finding import Finding
from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.verdicts import Severity, Verdict
from tests.simulated.copies import Copy, choose, taken
from tests.simulated.faults import Fault, inject
from tests.simulated.scenarios import Scenario, prepared
from tests.simulated.truth import End, EndedBy

RULE_OF = {EndedBy.timeout: "transaction_timed_out", EndedBy.new_instance: "fenced_by_new_instance"}
STARTS_OF_A_LOOP = 20
"""Who starts so often takes an epoch each time."""
PROMPT_MS = 1_100
"""A start this soon after an abort may have asked for it."""
SAFE_MARGIN_MS = 2_500
"""Tolerance between two brokers, and a bit."""


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster, the evidence of it, and what was broken in it, if anything."""

    made: Scenario
    copy: Copy
    fault: Fault | None


@dataclass(slots=True)
class Judged:
    """What a cluster's diagnosis is worth: accusations that are false, faults by kind and what became of them."""

    seed: int
    release: str
    false: list[str] = field(default_factory=list)
    faults: list[tuple[str, str]] = field(default_factory=list)

    def to_row(self) -> dict[str, object]:
        return {"seed": self.seed, "release": self.release, "false": self.false, "faults": self.faults}


def judged(seed: int) -> Judged:
    """Make the cluster of a number, take its evidence, and hold what is said against what was done."""
    made = prepared(seed)
    fault = inject(made)
    made.cluster.clockwork.run(made.end)
    fault = fault if fault is not None and fault.is_done else None
    copy = choose(made)
    with TemporaryDirectory() as folder:
        told = diagnose(taken(made, copy, Path(folder)))
    return _judged(Case(made, copy, fault), told)


def _judged(case: Case, told: Diagnosis) -> Judged:
    findings = [one.finding for one in told.findings]
    result = Judged(case.made.seed, case.made.release.name)
    result.false = [described(one) for one in findings if is_accusation(one) and not is_true(case, one)]
    result.false += [f"damage: {one}" for one in told.damage]
    if case.copy.is_compacted:
        result.faults = [(f"{kind}, compacted", became) for kind, became in natural_faults(case.made, findings, told)]
    if case.copy.is_whole:
        result.faults = list(natural_faults(case.made, findings, told))
        if case.fault is not None:
            result.faults.append((case.fault.kind, of_fault(case, findings, told)))
    return result


def is_accusation(finding: Finding) -> bool:
    return finding.severity > Severity.info and finding.verdict >= Verdict.likely


def described(finding: Finding) -> str:
    return (
        f"{finding.rule} ({finding.verdict.name}, {finding.severity.name}) {finding.transactional_id or ''} "
        f"{finding.topic or ''}: {finding.summary}"
    )


def named(made: Scenario, finding: Finding) -> set[str]:
    """The ids that a finding names, also by their producer ids."""
    ids = {finding.transactional_id, *(one.transactional_id for one in finding.subjects)}
    producers = {finding.producer_id, *(one.producer_id for one in finding.subjects)}
    ids |= {made.truth.producer_ids.get(one) for one in producers if one is not None}
    return {one for one in ids if one is not None}


def is_true(case: Case, finding: Finding) -> bool:
    """Whether what a finding says of everybody whom it names is so."""
    ids, made = named(case.made, finding), case.made
    if case.fault is not None and _is_of_fault(case.fault, finding, ids):
        return True
    if finding.rule == "committed_but_unreadable":
        return is_held(case, f"{finding.topic}-{finding.partition}")
    if finding.rule in ("read_committed_blocked", "open_transaction"):
        return bool(ids) and all(is_open(case, name) for name in ids)
    return bool(ids) and all(finding.rule in allowed(made, name, finding.verdict) for name in ids)


def _is_of_fault(fault: Fault, finding: Finding, ids: set[str]) -> bool:
    place = f"{finding.topic}-{finding.partition}"
    concerned = ids <= fault.names and (ids or place in fault.partitions)
    return bool(concerned) and finding.rule in fault.rules | fault.also


def is_held(case: Case, partition: str) -> bool:
    """Whether readers of a partition were held back when its copy was taken."""
    if case.fault is not None and partition in case.fault.partitions:
        return True
    return any(is_open(case, name) for name in case.made.coordinator.held)


def is_open(case: Case, name: str) -> bool:
    """Whether a transaction was open when the copy of its coordinator's log was taken."""
    time = case.copy.taken_at[case.made.cluster.home(name).name]
    ended = {(end.name, end.started) for end in case.made.truth.ends if end.at <= time}
    return any(began <= time and key not in ended for key, began in case.made.truth.began.items() if key[0] == name)


def allowed(made: Scenario, name: str, verdict: Verdict) -> set[str]:
    """The rules that may speak of an id so surely."""
    ends = [end for end in made.truth.ends if end.name == name and not end.is_commit]
    rules = {RULE_OF[end.by] for end in ends if end.by in RULE_OF} | {"aborted_by_client"}
    starts = sum(one == name for one, _ in made.truth.initialised)
    if sum(end.by is EndedBy.new_instance for end in ends) > 1:
        rules.add("shared_producer")
    if name in made.truth.expired:
        rules.add("transactional_id_expired")
    if name in made.truth.exhausted or starts >= STARTS_OF_A_LOOP:
        rules.add("producer_epoch_exhausted")
    if any(is_recorded_as_timeout(made, end) for end in ends):
        rules.add(RULE_OF[EndedBy.timeout])
    if verdict < Verdict.proved:
        rules |= {rule for end in ends for rule in also_likely(made, end)}
    return rules


def is_recorded_as_timeout(made: Scenario, end: End) -> bool:
    """Whether a client aborted by itself past its timeout under transactions v2, and another start came later.

    Rows can't tell it from a timeout; recorded cases (k4-tv2-fenced, k4-librdkafka) hold that they prove one.
    """
    is_own = end.by is EndedBy.client and end.is_raised and end.lasted > end.known.timeout_ms
    return is_own and any(name == end.name and at > end.at for name, at in made.truth.initialised)


def also_likely(made: Scenario, end: End) -> Iterable[str]:
    """What rows alone can't tell from an end: past its timeout a new instance looks like the coordinator's abort and a
    prompt restart, and under transactions v2 a client's own abort looks like either.
    """
    is_over = end.lasted > end.known.timeout_ms
    if is_over and (end.by is EndedBy.new_instance or end.is_raised):
        yield "transaction_timed_out"
    restarted = [at - end.at for name, at in made.truth.initialised if name == end.name and at > end.at]
    if end.by is EndedBy.client and end.is_raised and restarted and 60 <= min(restarted) <= 1_100:
        yield "fenced_by_new_instance"


def is_open_question(made: Scenario, end: End) -> bool:
    """Whether rows leave two authors, so that who did it is a guess with the others left open.

    Past the timeout nothing behind an end tells a client's own abort, a takeover and the coordinator's abort apart.
    """
    starts = [at - end.at for name, at in made.truth.initialised if name == end.name and at > end.at]
    return end.lasted > end.known.timeout_ms and (end.is_raised or (bool(starts) and min(starts) <= PROMPT_MS))


def natural_faults(made: Scenario, findings: list[Finding], told: Diagnosis) -> Iterable[tuple[str, str]]:
    """What happened to whom, and whether it was told: by its rule, or by one that takes it in."""
    for by, rule in RULE_OF.items():
        ends = [end for end in made.truth.ends if end.by is by]
        for name in sorted({end.name for end in ends}):
            is_guess = any(is_open_question(made, end) for end in ends if end.name == name)
            least = Verdict.possible if is_guess else Verdict.likely
            rules = {one.rule for one in findings if name in named(made, one) and one.verdict >= least}
            accepted = {rule} | ({"shared_producer"} if by is EndedBy.new_instance else set())
            if all(end.lasted > end.known.timeout_ms - SAFE_MARGIN_MS for end in ends if end.name == name):
                accepted.add("transaction_timed_out")
            yield rule, "found" if rules & accepted else excused(made, told, rule, name)


def of_fault(case: Case, findings: list[Finding], told: Diagnosis) -> str:
    """What became of a fault that was made."""
    assert case.fault is not None
    made = case.made
    for finding in findings:
        is_his = _is_of_fault(case.fault, finding, named(made, finding))
        if is_his and finding.rule in case.fault.rules and finding.verdict >= Verdict.likely:
            return "found"
    answers = {excused(made, told, rule, name) for rule in case.fault.rules for name in case.fault.names}
    return "not checkable" if "not checkable" in answers else "missed"


def excused(made: Scenario, told: Diagnosis, rule: str, name: str) -> str:
    """Whether it is at least said that this could not be checked, of the id or of its producer id.

    Of an abort whose author is not known it is said once, by the rule about the first of the three that it may be.
    """
    authors = {*RULE_OF.values(), "aborted_by_client"}
    wanted = authors if rule in authors else {rule}
    told_of = [one.scope for _, one in told.not_checkable if one.rule in wanted]
    ids = {name, *(f"producer id {producer}" for producer, owner in made.truth.producer_ids.items() if owner == name)}
    return "not checkable" if any(one in scope for scope in told_of for one in ids) else "missed"
