"""Whether evidence covers a finding that was made of other evidence: whether its absence there says anything.

Absence proves little. What happened at a time can't be undone, so an event that a diagnosis of later evidence no longer
tells was either judged otherwise or is no longer in the files; "the fix held" follows from neither. It follows only for
what lasts until somebody ends it (`Rule.is_lasting`, and what that caused), where the later evidence has the same
segments of its partitions, still with the place where it stood, whole, and with more behind it (the marker or row that
ended it can only be appended), reads the coordinators' log at least as far, and finds nothing else about the same.
Everything that can't be told so is not covered, or unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from kafkatx.findings.diagnosis import Examined
from kafkatx.outputs.answer import AnswerState
from kafkatx.outputs.comparing.document import CitedPlace, DiagnosisDocument, DocumentFinding
from kafkatx.outputs.comparing.held_evidence import HeldEvidence, Partition, kept, partition_of
from kafkatx.outputs.comparing.named_findings import NamedFindings, is_lasting
from kafkatx.outputs.comparing.pairs import lies_apart
from kafkatx.rules.registry import MOST_GUESSES
from kafkatx.sources.places import name as name_of
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import span
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Verdict


class Covers(StrEnum):
    """Whether the absence of a finding says anything."""

    covered = "covered"
    not_covered = "not_covered"
    unknown = "unknown"


class Reason(StrEnum):
    """Why it does, or why not."""

    ended = "ended"
    same_files = "same_files"
    nothing_judged = "nothing_judged"
    not_checkable = "not_checkable"
    other_cluster = "other_cluster"
    begins_late = "begins_late"
    ends_early = "ends_early"
    place_missing = "place_missing"
    filtered = "filtered"
    told_otherwise = "told_otherwise"
    files_differ = "files_differ"


COVERED = frozenset({Reason.ended, Reason.same_files})
UNKNOWN = frozenset({Reason.filtered, Reason.told_otherwise, Reason.files_differ})


@dataclass(frozen=True, slots=True)
class Absence:
    """What the absence of a finding says, for which reason, in a sentence; ids of what is told instead."""

    reason: Reason
    why: str
    instead: tuple[str, ...] = ()

    @property
    def covers(self) -> Covers:
        """Whether the absence says anything."""
        if self.reason in COVERED:
            return Covers.covered
        return Covers.unknown if self.reason in UNKNOWN else Covers.not_covered


class Side:
    """A diagnosis and its evidence, to be asked about findings of another one; `name` is "earlier" or "later"."""

    def __init__(self, name: str, document: DiagnosisDocument) -> None:
        self.name = name
        self.document = document
        self.files = HeldEvidence(document)
        self.gaps = {gap.rule: gap for _, gap in reversed(document.not_checkable)}
        self.guesses = NamedFindings(one for one in document.findings if one.finding.verdict is Verdict.possible)
        self._whole: dict[str, bool] = {}

    def has_all_of(self, other: Side, capture: str) -> bool:
        """Whether every file of a capture of the other side is on this one."""
        if capture not in self._whole:
            self._whole[capture] = self.files.has_all_of(other.files, capture)
        return self._whole[capture]


def absence(missing: DocumentFinding, here: Side, there: Side) -> Absence:
    """Say what it means that `there` lacks a finding of `here`."""
    finding, document, it = missing.finding, there.document, f"the {there.name} evidence"
    if document.state is AnswerState.nothing_to_judge and not document.findings and not document.is_filtered:
        return Absence(Reason.nothing_judged, f"in {it} there was nothing to judge")
    if document.is_filtered:
        return Absence(Reason.filtered, f"the {there.name} diagnosis was limited by options, which may hide it")
    if gap := there.gaps.get(finding.rule):
        return Absence(Reason.not_checkable, f"its rule could not look at {gap.scope} in {it}; missing: {gap.missing}")
    if missing.cluster_id is not None and missing.cluster_id not in there.files.clusters:
        return Absence(Reason.other_cluster, f"{it} is not of its cluster, {missing.cluster_id}")
    if told := _outside(missing, there, it):
        return told
    if there.has_all_of(here, missing.capture):
        return Absence(Reason.same_files, f"{it} holds the same files, and by them it is not found")
    return Absence(
        Reason.files_differ, f"{it} has other files of that time: nothing tells whether what it rests on is still there"
    )


def ended(
    missing: DocumentFinding, here: Side, there: Side, new: NamedFindings, ends: frozenset[str]
) -> Absence | None:
    """Return that a finding of the earlier side has ended, or is told otherwise, by what the later side shows.

    `new` is what the later side finds anew and may be the same under another name, `ends` are ids of findings that have
    ended: what one of them caused ends with it. None where neither can be said.
    """
    others = new.about(missing)
    touching = [one.id for one in others if not lies_apart(missing, one)]
    partitions = _where_ended(missing, here, there, ends)
    if touching or (others and partitions):
        told = touching or [one.id for one in others]
        return Absence(Reason.told_otherwise, "the later diagnosis tells something else of the same", tuple(told))
    if not partitions:
        return None
    named = ", ".join(f"{topic}-{partition}" for topic, partition in partitions)
    verb = "goes" if len(partitions) == 1 else "go"
    return Absence(Reason.ended, f"{named} {verb} on in the later evidence, and there it has ended")


def _where_ended(missing: DocumentFinding, here: Side, there: Side, ends: frozenset[str]) -> list[Partition]:
    """The partitions that show the end of what lasted; none where they don't, or it is of no such kind."""
    is_open_to_it = missing.finding.rule not in there.gaps and not there.document.is_filtered
    if not (is_open_to_it and _can_end(missing, ends) and _goes_on(here.document.examined, there.document.examined)):
        return []
    may_be_dropped = len(there.guesses.about(missing)) >= MOST_GUESSES
    return [] if may_be_dropped else _read_on(missing, here, there)


def _can_end(missing: DocumentFinding, ends: frozenset[str]) -> bool:
    """Whether it is one that lasts, or the effect on partitions of one that has ended: a client's failure happened."""
    if is_lasting(missing):
        return True
    return missing.caused_by in ends and all(partition_of(place) is not None for place in missing.places)


def _outside(missing: DocumentFinding, there: Side, it: str) -> Absence | None:
    """That evidence does not reach over the time of a finding, or lacks what it rests on; None where neither is so."""
    finding, examined = missing.finding, there.document.examined
    since, until = (finding.since, finding.until) if finding.has_zone else (None, None)
    if since is not None and examined.since is not None and since < examined.since:
        return Absence(Reason.begins_late, f"it began before {it} does ({span(examined.since, None)})")
    if until is not None and examined.until is not None and until > examined.until:
        verb = "happened after" if since is not None and since > examined.until else "went on behind"
        return Absence(Reason.ends_early, f"it {verb} the end of {it} ({span(examined.until, None)})")
    if place := there.files.lacks(missing.cluster_id, missing.places):
        return Absence(Reason.place_missing, f"{it} lacks {_named(place)}, which it rests on")
    return None


def _named(place: CitedPlace) -> str:
    if place.topic is not None and place.partition is not None and place.offset is not None:
        return f"{place.topic}-{place.partition} @ {place.offset}"
    return name_of(place.source or "")


def _goes_on(before: Examined, after: Examined) -> bool:
    return before.until is not None and after.until is not None and after.until > before.until


def _read_on(missing: DocumentFinding, here: Side, there: Side) -> list[Partition]:
    """The partitions that must show that it has ended, where all of them do; else none."""
    cluster = missing.cluster_id
    cited = [(partition, place) for place in missing.places if (partition := partition_of(place)) is not None]
    data = [(partition, place) for partition, place in cited if partition[0] != TRANSACTION_STATE]
    deciding = sorted({partition for partition, _ in data or cited})
    states = here.files.state_partitions(cluster)
    is_read_on = (
        all(there.files.is_whole(cluster, one) for one in {*deciding, *states})
        and all(there.files.end(cluster, one) > here.files.end(cluster, one) >= 0 for one in deciding)
        and all(there.files.end(cluster, one) >= here.files.end(cluster, one) for one in states)
        and all(_is_kept(cluster, partition, place, here, there) for partition, place in data)
        and _is_among(missing, deciding)
    )
    return deciding if is_read_on else []


def _is_kept(cluster: str | None, partition: Partition, place: CitedPlace, here: Side, there: Side) -> bool:
    if place.offset is None:
        return False
    segments = here.files.segment_of(cluster, partition, place.offset)
    return any(kept(row, there.files.segment_of(cluster, partition, place.offset)) for row in segments)


def _is_among(missing: DocumentFinding, partitions: Sequence[Partition]) -> bool:
    """Whether the partition that a finding is about is one of those that are looked at."""
    topic, partition = missing.finding.topic, missing.finding.partition
    return topic is None or partition is None or topic == TRANSACTION_STATE or (topic, partition) in partitions
