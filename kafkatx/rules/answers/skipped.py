"""Markers that a coordinator left out since it knew no leader of their partition: harmless where the topic is deleted.

The coordinator can't tell a deleted topic from one whose brokers are away, and completes the transaction without that
marker. Where the topic still exists, what the transaction wrote there stays open for ever.
Source     TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue (0.11 to 4.3); KAFKA-20734.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, NameList, Refs, facts


@facts
class SkippedFacts:
    """Lines that tell of markers left out, of the partitions that they name."""

    id: str | None
    partitions: NameList
    count: Count
    lines: Refs


def skipped_markers(model: CaptureModel) -> Iterator[Case]:
    """One case for each id whose coordinator left markers out."""
    logs = model.logs
    groups: dict[str | None, list[int]] = {}
    for row in logs.of_kind(EventKind.marker_skipped).tolist():
        if not _partitions(logs.string(row, "detail") or ""):
            continue
        groups.setdefault(logs.string(row, "transactional_id"), []).append(row)
    for name, rows in groups.items():
        since, until = times_of(logs, rows)
        named = dict.fromkeys(place for row in rows for place in _partitions(logs.string(row, "detail") or ""))
        topics = [place.rpartition("-")[0] for place in named]
        yield Case(
            facts=SkippedFacts(name, NameList(named), Count(len(rows)), event_refs(model, rows, 3)),
            verdict=Verdict.possible,
            severity=Severity.info,
            transactional_id=name,
            topic=only(topics),
            partition=int(next(iter(named)).rpartition("-")[2]) if len(named) == 1 else None,
            since=since,
            until=until,
            count=len(rows),
        )


def _partitions(detail: str) -> list[str]:
    """Partitions in a set as Scala or Java prints one."""
    places = detail.removeprefix("Set(").removeprefix("HashSet(").strip("[]() ").split(", ")
    return [place for place in places if place.rpartition("-")[2].isdecimal()]


SKIPPED_WORDS = Words(
    SkippedFacts,
    title="a marker was left out",
    summary="The coordinator[ of {id}] knew no leader of {partitions:3}, took it for deleted and left its marker out. "
    "If the topic still exists, what the transaction wrote there[ {perhaps}] hangs: read_committed readers wait.",
    steps=(step("The coordinator left the marker out", cites="lines"),),
    considered=(
        left_open(
            "a topic that was deleted",
            "the coordinator prints the same for it, and then nothing is wrong",
            decided_by="kafka-topics.sh --describe, and kafka-transactions.sh find-hanging, of the partition",
        ),
    ),
    remedies=(
        remedy(
            "Look whether the topic exists. If it does, find and end the transaction that hangs there "
            "(kafka-transactions.sh find-hanging, then abort)",
            "operator",
        ),
    ),
)
