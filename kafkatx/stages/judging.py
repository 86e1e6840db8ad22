"""A capture's model judged, and captures united: findings with ids, places opened and checked, what was not checkable.

Grain: one capture; `united` is what is left to do once for all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from kafkatx.evidence.coverage import Coverage, nothing_read
from kafkatx.evidence.item import Kind
from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined, FailureCounts, NextEvidence, Selected, Selection
from kafkatx.findings.examined import examined, nameable, occurs
from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.findings.next_evidence import next_evidence
from kafkatx.rules.registry import Judgement, judge
from kafkatx.segments.damage import Damage
from kafkatx.stages.models import JudgedCapture
from kafkatx.stages.opening import Opener
from kafkatx.stages.placed import Files, FilesAtHand
from kafkatx.terms.errors import NothingReadableError
from kafkatx.terms.records import dataclass

AT_HAND = FilesAtHand()


class NothingToDiagnoseError(NothingReadableError):
    """Nothing that was given could be read; `diagnosis` says what was met instead."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__(nothing_read(diagnosis.coverage))
        self.diagnosis = diagnosis


@dataclass(frozen=True, slots=True)
class CaptureDiagnosis:
    """What a diagnosis says of one capture, and how much it looked at; it travels between processes."""

    capture: str
    coverage: list[Coverage]
    damage: list[Damage]
    examined: Examined
    selected: Selected | None
    findings: list[Diagnosed] = field(default_factory=list)
    not_checkable: list[NotCheckable] = field(default_factory=list)
    failures: FailureCounts = field(default_factory=FailureCounts)
    next: list[NextEvidence] = field(default_factory=list)


Show = Callable[[JudgedCapture, CaptureDiagnosis], None]
"""What looks at each capture, and at what is said of it."""


def diagnosed(told: JudgedCapture, selection: Selection, files: Files = AT_HAND) -> CaptureDiagnosis:
    """Judge one capture: the findings that are wanted, with their places opened, and what could not be checked.

    `files` is where what findings cite is read.
    """
    judgement, at_hand = judge(told.model, selection.rules), examined(told.model)
    wanted = [number for number, finding in enumerate(judgement.findings) if selection.wants(finding)]
    findings = list(_opened(told, judgement, wanted, files))
    return CaptureDiagnosis(
        told.capture.name,
        told.coverage,
        told.damage,
        at_hand,
        _selected(told, selection, judgement, len(wanted), at_hand),
        findings,
        [*judgement.not_checkable, *files.hidden_records(told.capture)],
        judgement.failures,
        next_evidence(told.model, findings),
    )


def shown(told: JudgedCapture, part: CaptureDiagnosis, show: Show | None) -> CaptureDiagnosis:
    """Return what is said of a capture, shown to who asked for it while the capture's model is there."""
    if show is not None:
        show(told, part)
    return part


def _selected(
    told: JudgedCapture, selection: Selection, judgement: Judgement, wanted: int, at_hand: Examined
) -> Selected | None:
    """What the limits left of a capture; None where there are none."""
    if selection == Selection():
        return None
    about = sum(selection.is_about(finding) for finding in judgement.findings)
    is_named = about > 0 or occurs(told.model, at_hand, selection)
    may_hide = selection.rules is not None or about > wanted
    names = () if is_named else nameable(told.model)
    return Selected(wanted, len(judgement.findings), is_named, may_hide, *names)


def united(parts: Iterable[CaptureDiagnosis], others: Iterable[Coverage]) -> Diagnosis:
    """Unite the captures, in the order given, with the files that belong to none.

    Raises NothingToDiagnoseError where nothing in the captures is evidence.
    """
    result, readable = Diagnosis(), False
    for part in parts:
        readable = readable or any(entry.is_evidence for entry in part.coverage)
        result.coverage.extend(part.coverage)
        result.damage.extend(part.damage)
        result.findings.extend(part.findings)
        result.not_checkable.extend((part.capture, entry) for entry in part.not_checkable)
        result.examined += part.examined
        result.failures += part.failures
        result.next.extend(part.next)
        if part.selected is not None:
            result.selected = part.selected if result.selected is None else result.selected + part.selected
    result.coverage.extend(others)
    if not readable:
        raise NothingToDiagnoseError(result)
    result.findings.sort(key=worst_first)
    return result


def _opened(told: JudgedCapture, judgement: Judgement, wanted: list[int], files: Files) -> Iterator[Diagnosed]:
    """The findings that are wanted, by number, with their ids and what they cite."""
    set_aside = {(path, int(row["position"])) for _, path, _, row in told.diverged}
    ids = list(_ids(told, judgement.findings))
    places = (place for number in wanted for place in judgement.findings[number].places())
    opener = Opener(told.segments, told.capture.entries(Kind.SNAPSHOT), set_aside, places, files)
    capture = told.capture
    for number in wanted:
        finding, causes = judgement.findings[number], judgement.causes[number]
        caused_by = ids[causes.primary] if causes.primary is not None else None
        contributing = tuple(ids[other] for other in causes.contributing)
        evidence = opener.open(finding.places())
        yield Diagnosed(ids[number], capture.name, capture.cluster_id, finding, evidence, caused_by, contributing)


def _ids(told: JudgedCapture, findings: list[Finding]) -> Iterator[str]:
    """Ids from what a finding is about, never from where its evidence lies.

    A repeated subject gets a running number.
    """
    seen: dict[str, int] = {}
    for finding in findings:
        about = (
            told.capture.fingerprint, finding.rule,
            finding.transactional_id, finding.producer_id, finding.producer_epoch,
            finding.topic, finding.partition, finding.first_offset, finding.since,
        )  # fmt: skip
        key = hashlib.sha256(repr(about).encode()).hexdigest()[:12]
        seen[key] = seen.get(key, 0) + 1
        yield key if seen[key] == 1 else f"{key}-{seen[key]}"


def worst_first(found: Diagnosed) -> tuple[int, int, int, str]:
    """Return by what findings are sorted: the worst, then the surest, then the first to happen come first."""
    finding = found.finding
    return -finding.severity, -finding.verdict, finding.since if finding.since is not None else 1 << 62, found.id
