"""The diagnosis of this machine's evidence: stories, judgements, and the places behind them opened and checked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.item import Kind
from kafkatx.local.listings import hidden_records
from kafkatx.local.opening import Opener
from kafkatx.local.stories import CaptureStory, Progress, build_stories, open_evidence
from kafkatx.rules.diagnosis import Diagnosed, Diagnosis, Selection
from kafkatx.rules.finding import Finding, NotCheckable
from kafkatx.rules.registry import judge
from kafkatx.terms.errors import NothingReadableError


class NothingToDiagnoseError(NothingReadableError):
    """Nothing that was given could be read; `diagnosis` says what was met instead."""

    def __init__(self, diagnosis: Diagnosis) -> None:
        super().__init__(_nothing(diagnosis))
        self.diagnosis = diagnosis


def diagnose(
    paths: Iterable[str | Path],
    *,
    selection: Selection | None = None,
    as_of: int | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
) -> Diagnosis:
    """Say what went wrong in the evidence under `paths`.

    `as_of` is "now" for ages in milliseconds (default: the newest time a broker wrote); `verify_all` checks the CRC
    of every batch; `captures` maps paths to the names of captures they are forced into; `release` is that of the
    brokers, e.g. (2, 5, 1), where the evidence does not tell; `log_zone_ms` what is to be taken from times of logs that
    name no zone (default: estimated from what logs and coordinator both tell). Raises UsageError for a path that does
    not exist and NothingToDiagnoseError (a NothingReadableError) where nothing in it is evidence.
    """
    chosen = selection or Selection()
    result = Diagnosis()
    readable = False
    evidence = open_evidence(paths, captures)
    told_of = build_stories(
        evidence.captures, verify_all=verify_all, as_of=as_of, progress=progress, release=release,
        log_zone_ms=log_zone_ms,
    )  # fmt: skip
    for told in told_of:
        readable = readable or any(entry.is_evidence for entry in told.coverage)
        result.coverage.extend(told.coverage)
        result.damage.extend(told.damage)
        findings, missing = judged(told, chosen)
        result.findings.extend(findings)
        result.not_checkable.extend((told.capture.name, entry) for entry in missing)
    result.coverage.extend(coverage_of(None, item, None) for item in evidence.others)
    if not readable:
        raise NothingToDiagnoseError(result)
    result.findings.sort(key=_order)
    return result


def _nothing(result: Diagnosis) -> str:
    if not result.coverage:
        return "there is no file under the paths given"
    first = result.coverage[0]
    return (
        f"none of {len(result.coverage)} files could be read as evidence (first: "
        f"{first.path}: {first.note or first.kind})"
    )


def judged(told: CaptureStory, selection: Selection) -> tuple[list[Diagnosed], list[NotCheckable]]:
    """Judge one capture: the findings that are wanted, with their places opened, and what could not be checked."""
    judgement = judge(told.story, selection.rules)
    set_aside = {(path, int(row["position"])) for _, path, _, row in told.diverged}
    ids = list(_ids(told, judgement.findings))
    wanted = [number for number, finding in enumerate(judgement.findings) if selection.wants(finding)]
    places = (place for number in wanted for place in judgement.findings[number].places())
    opener = Opener(told.segments, told.capture.entries(Kind.SNAPSHOT), set_aside, places)
    found = []
    for number in wanted:
        finding, causes = judgement.findings[number], judgement.causes[number]
        caused_by = ids[causes.primary] if causes.primary is not None else None
        contributing = tuple(ids[other] for other in causes.contributing)
        capture, evidence = told.capture, opener.open(finding.places())
        found.append(
            Diagnosed(ids[number], capture.name, capture.cluster_id, finding, evidence, caused_by, contributing)
        )
    return found, [*judgement.not_checkable, *hidden_records(told.capture)]


def _ids(told: CaptureStory, findings: list[Finding]) -> Iterator[str]:
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


def _order(found: Diagnosed) -> tuple[int, int, int, str]:
    finding = found.finding
    return -finding.severity, -finding.verdict, finding.since if finding.since is not None else 1 << 62, found.id
