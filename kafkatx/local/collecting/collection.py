"""Collects what would decide: diagnoses the evidence, takes what its findings are about, and checks that it suffices.

What is taken is laid into a folder and diagnosed by itself. Where the same findings don't come out (a rule looked
at more than the id's own files), more is taken, at last all that a diagnosis reads.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafkatx.findings.diagnosis import Diagnosed, NextEvidence, Selection
from kafkatx.findings.next_evidence import STATE_PARTITIONS
from kafkatx.local.collecting.bundle import write_bundle, write_private
from kafkatx.local.collecting.picking import WIDENED, Pick, Reach, picks
from kafkatx.local.collecting.staging import clear, stage
from kafkatx.local.collecting.subject import Subject, about, asked_of_id, subject_of
from kafkatx.local.diagnosis import diagnose
from kafkatx.local.redacting.folder import Redaction, is_of_records, stand_ins
from kafkatx.local.redacting.names_met import met
from kafkatx.local.redacting.stand_ins import StandIns
from kafkatx.sources import places
from kafkatx.stages.collected import Collected, Taken
from kafkatx.stages.export_folders import exports_among
from kafkatx.stages.judging import NothingToDiagnoseError, diagnosed, united
from kafkatx.stages.models import JudgedCapture, build_models, open_evidence
from kafkatx.terms.errors import UsageError
from kafkatx.terms.progress import Progress
from kafkatx.terms.times import iso
from kafkatx.words.plurals import plural

MOST_BYTES = 1 << 30
NO_CLUSTER = (
    "No cluster.id is in the evidence, so findings are numbered after all its files: a bundle gives other ids. "
    "Rules, verdicts and keys are the same."
)


def collect(
    paths: Iterable[str | Path],
    *,
    transactional_id: str | None = None,
    out: Path | None = None,
    redact: bool = False,
    most_bytes: int = MOST_BYTES,
    as_of: int | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
) -> Collected:
    """Pick what decides about an id (default: about every finding that is worth a look); pack it into `out`.

    `out` is outside of the evidence; with None nothing is written. `redact` replaces names and payloads by stand-ins.
    Raises UsageError where there is more than `most_bytes`, and what `diagnose` raises.
    """
    given = places.admitted(paths)
    if exports_among(given):
        raise UsageError("collect takes files of brokers, logs and texts; give what the export was made of")
    work = _Collecting(given, transactional_id, most_bytes, as_of, release, log_zone_ms)
    work.read(verify_all, captures, progress)
    with tempfile.TemporaryDirectory(prefix="kafkatx-collect-") as folder:
        found = work.stage(Path(folder))
        if out is not None and found.taken:
            with tempfile.TemporaryDirectory(prefix="kafkatx-redact-") as redacted:
                packed = Path(redacted) if redact else Path(folder)
                if redact:
                    mapping = out.with_name(f"{out.name}.mapping.json")
                    write_private(mapping, work.redact(Path(folder), packed, found))
                    found.mapping = str(mapping)
                write_bundle(packed, out, manifest_head(found))
            found.out = str(out)
    return found


def manifest_head(found: Collected) -> Iterable[str]:
    """What the bundle says of itself."""
    yield "Evidence of Kafka transactions, packed by kafkatx collect; below: SHA-256 of each file."
    if found.as_of is not None:
        yield f"Ages count to the end of the evidence: kafkatx diagnose --as-of {iso(found.as_of)} THIS_FILE"


class _Collecting:
    """One collection: the evidence as a whole, judged, and what is taken of it."""

    def __init__(
        self,
        given: list[str],
        transactional_id: str | None,
        most_bytes: int,
        as_of: int | None,
        release: tuple[int, ...],
        log_zone_ms: int | None,
    ) -> None:
        self.given, self.transactional_id, self.most_bytes = given, transactional_id, most_bytes
        self.as_of, self.release, self.log_zone_ms = as_of, release, log_zone_ms
        self.told: list[JudgedCapture] = []
        self.subjects: list[Subject] = []
        self.findings: list[Diagnosed] = []
        self.missing: list[NextEvidence] = []
        self.picked: dict[str, Pick] = {}

    def read(self, verify_all: bool, captures: dict[str, str] | None, progress: Progress | None) -> None:
        """Diagnose the evidence; raises NothingToDiagnoseError where nothing is readable."""
        evidence, selection = open_evidence(self.given, captures), Selection(transactional_id=self.transactional_id)
        parts = []
        for told in build_models(
            evidence.captures, verify_all=verify_all, as_of=self.as_of, progress=progress,
            release=self.release, log_zone_ms=self.log_zone_ms, log=evidence.log,
        ):  # fmt: skip
            parts.append(diagnosed(told, selection))
            self.told.append(told)
        self.findings = about([found for part in parts for found in part.findings], self.transactional_id)
        self.missing = [one for part in parts for one in _asked(part.next, self.findings)]
        for told, part in zip(self.told, parts, strict=True):
            chosen = [found for found in part.findings if found in self.findings]
            self.subjects.append(subject_of(told.model, chosen, self.transactional_id))
        united(parts, ())
        if self.transactional_id is not None:
            self._require(self.transactional_id)
        ends = [t.model.facts.evidence_end for t, s in zip(self.told, self.subjects, strict=True) if not s.is_empty]
        if self.as_of is None and len(ends) == 1 and ends[0] >= 0:
            self.as_of = ends[0]

    def _require(self, name: str) -> None:
        """Look whether an id occurs, and ask for what is not there of it; raises UsageError."""
        owners = [t for t, s in zip(self.told, self.subjects, strict=True) if name in s.ids]
        if not owners:
            names = sorted({one for told in self.told for one in told.model.labels.transactional_ids})
            known = f"; it holds {', '.join(names[:3])}" if names else ""
            raise UsageError(f"--id {name}: there is no such transactional.id in the evidence{known}")
        there = {one.asked for one in self.missing}
        for told in owners:
            self.missing += [one for one in asked_of_id(told.model, name) if one.asked not in there]

    def stage(self, folder: Path) -> Collected:
        """Take as little as gives the same findings; raises UsageError where that is too much."""
        found = Collected(
            tuple(sorted({name for subject in self.subjects for name in subject.ids})),
            tuple(one.id for one in self.findings),
            missing=self.missing,
            as_of=self.as_of,
        )
        for reach in Reach:
            clear(folder)
            found.taken = self._staged(folder, reach)
            self._limit(found.taken)
            found.widened = WIDENED.get(reach)
            found.is_alike = not found.taken or self._is_alike(folder)
            if found.is_alike:
                break
        if any(one.cluster_id is None for one in self.findings):
            found.notes.append(NO_CLUSTER)
        return found

    def _staged(self, folder: Path, reach: Reach) -> list[Taken]:
        chosen = [
            (pick, subject)
            for told, subject in zip(self.told, self.subjects, strict=True)
            for pick in picks(told.capture, told.model, subject, reach)
        ]
        self.picked = {pick.path: pick for pick, _ in chosen}
        return stage(sorted(chosen, key=lambda pair: pair[0].path), folder)

    def _limit(self, taken: list[Taken]) -> None:
        size = sum(one.bytes for one in taken)
        if size > self.most_bytes:
            largest = max(taken, key=lambda one: one.bytes)
            raise UsageError(
                f"what is asked for has {size:,} bytes, more than --max-bytes {self.most_bytes:,}; the largest is "
                f"{largest.path} ({largest.bytes:,} bytes): choose one transactional.id with --id, or allow more"
            )

    def _is_alike(self, folder: Path) -> bool:
        """Whether what is taken gives the findings of the whole evidence by itself."""
        try:
            alone = diagnose(
                [str(folder)],
                selection=Selection(transactional_id=self.transactional_id),
                as_of=self.as_of,
                release=self.release,
                log_zone_ms=self.log_zone_ms,
            )
        except NothingToDiagnoseError:
            return not self.findings
        return self._told(about(alone.findings, self.transactional_id)) == self._told(self.findings)

    def _told(self, findings: list[Diagnosed]) -> set[Any]:
        """What has to be the same: rule and verdict, and the id, which rests on all files where no cluster has one."""
        return {
            (one.finding.rule, one.finding.verdict, one.id if one.cluster_id is not None else one.key)
            for one in findings
        }

    def redact(self, folder: Path, target: Path, found: Collected) -> str:
        """Write what is in a folder with stand-ins into another one; returns which name is which."""
        taken = [one for one in found.taken if not is_of_records(self.picked[one.path])]
        texts = [folder / one.name for one in taken if self.picked[one.path].is_text]
        names = stand_ins(met(((told.capture, told.model) for told in self.told), texts), self._partitions())
        redaction = Redaction(names)
        left = len(found.taken) - len(taken)
        found.taken = [self._redacted(redaction, one, folder, target) for one in taken]
        found.is_alike = self._is_alike_redacted(target, names)
        found.notes += redaction_notes(redaction, left)
        mapping = names.mapping() | {"kept_in_free_text": redaction.texts.kept}
        return json.dumps(mapping, indent=1) + "\n"

    def _redacted(self, redaction: Redaction, one: Taken, folder: Path, target: Path) -> Taken:
        name = redaction.name(one.name)
        while (target / name).exists():
            name = f"{name}-2"
        redaction.write(self.picked[one.path], folder / one.name, target / name)
        return replace(one, name=name, bytes=(target / name).stat().st_size)

    def _partitions(self) -> int:
        """Partitions of `__transaction_state`, where the evidence tells; else as many as are the default."""
        counts = (told.model.state_partition_count for told in self.told)
        return next((count for count in counts if count is not None), STATE_PARTITIONS)

    def _is_alike_redacted(self, folder: Path, names: StandIns) -> bool:
        """Whether the same is found about the stand-ins."""
        name = self.transactional_id
        try:
            alone = diagnose(
                [str(folder)],
                selection=Selection(transactional_id=None if name is None else names.id_of(name)),
                as_of=self.as_of,
                release=self.release,
                log_zone_ms=self.log_zone_ms,
            )
        except NothingToDiagnoseError:
            return not self.findings
        found = sorted(map(_facts, about(alone.findings, name)))
        return found == sorted(_facts(one, names) for one in self.findings)


def _facts(found: Diagnosed, names: StandIns | None = None) -> tuple[str, ...]:
    """What a finding says, its names by their stand-ins."""
    one = found.finding
    id_, topic = one.transactional_id, one.topic
    if names is not None:
        id_, topic = id_ and names.id_of(id_), topic and names.topic_of(topic)
    values = (
        one.rule, one.verdict, one.severity, one.count, one.producer_id, one.producer_epoch, one.partition,
        one.first_offset, one.last_offset, one.since, one.until, id_, topic,
    )  # fmt: skip
    return tuple(map(str, values))


def redaction_notes(redaction: Redaction, left_out: int) -> list[str]:
    """What a redacted bundle can't hide, and what is not as it was."""
    found = []
    if redaction.texts.kept:
        shown = ", ".join(redaction.texts.kept[:5])
        found.append(
            f"Names that are words of programs stay in free text (replaced where they stand as names): {shown}."
        )
    if redaction.names.moved:
        shown = ", ".join(sorted(redaction.names.moved)[:5])
        found.append(f"Stand-ins of these ids belong to other partitions of __transaction_state: {shown}.")
    if left_out:
        found.append(f"{plural(left_out, 'file')} left out: what a consumer printed of records is payload.")
    return found


def _asked(asked: list[NextEvidence], findings: list[Diagnosed]) -> Iterable[NextEvidence]:
    """What is asked for to decide some findings."""
    chosen = {one.id for one in findings}
    return (one for one in asked if not chosen.isdisjoint(one.decides))
