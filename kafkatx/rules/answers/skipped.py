"""Markers that a coordinator left out since it knew no leader of their partition: harmless where the topic is deleted.

The coordinator can't tell a deleted topic from one whose brokers are away, and completes the transaction without that
marker. Where the topic still exists, what the transaction wrote there stays open for ever.
Source     TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue (0.11 to 4.3); KAFKA-20734.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.open_spans import SAID_TO_WAIT, refs_of, waiting_told
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.transactions import PREPARE_COMMIT
from kafkatx.rules.atomicity.lost_markers import skipped_partitions, transaction_of
from kafkatx.rules.atomicity.reach import missing_for
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import parts_of
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.facts import topic_partition
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, NameList, Refs, facts


@facts
class SkippedFacts:
    """Lines that tell of markers left out, of the partitions that they name.

    `decision` is what the coordinator had decided, None where its rows don't tell. `said_to_wait` are words of people
    whose readers of that topic wait.
    """

    id: str | None
    partitions: NameList
    decision: str | None
    count: Count
    lines: Refs
    said_to_wait: Refs


def skipped_markers(model: CaptureModel, hanging: set[str]) -> Iterator[Case]:
    """One case for each id whose coordinator left markers out; none where the data show what became of it.

    `hanging` are the partitions in which a finding tells an open end already; of a committed transaction it is
    atomicity_violation that does.
    """
    logs = model.logs
    groups: dict[str | None, list[int]] = {}
    for row in logs.of_kind(EventKind.marker_skipped).tolist():
        if any(place not in hanging and not _is_torn(model, row, place) for place in _places(model, row)):
            groups.setdefault(logs.string(row, "transactional_id"), []).append(row)
    for name, rows in groups.items():
        since, until = times_of(logs, rows)
        named = dict.fromkeys(place for row in rows for place in _places(model, row))
        topics = [place.rpartition("-")[0] for place in named]
        decisions = {_decision(model, row) for row in rows}
        told = refs_of(one for one in waiting_told(model) if any(topic in one[1].text for topic in topics))
        yield Case(
            facts=SkippedFacts(
                name,
                NameList(named),
                decisions.pop() if len(decisions) == 1 else None,
                Count(len(rows)),
                event_refs(model, rows, 3),
                told,
            ),
            verdict=Verdict.likely if told else Verdict.possible,
            severity=Severity.error if told else Severity.info,
            transactional_id=name,
            topic=only(topics),
            partition=int(next(iter(named)).rpartition("-")[2]) if len(named) == 1 else None,
            since=since,
            until=until,
            count=len(rows),
        )


def _places(model: CaptureModel, row: int) -> list[str]:
    return skipped_partitions(model.logs.string(row, "detail") or "")


def _decision(model: CaptureModel, row: int) -> str | None:
    """What was decided of the transaction whose marker a line left out."""
    number = transaction_of(model, row)
    if number is None:
        return None
    return "COMMIT" if model.transactions["decision"][number] == PREPARE_COMMIT else "ABORT"


def _is_torn(model: CaptureModel, row: int, place: str) -> bool:
    """Whether the data show that a committed transaction lacks the marker in a partition: that is told by itself."""
    number = transaction_of(model, row)
    if number is None or _decision(model, row) != "COMMIT":
        return False
    return any(
        part["status"] == Status.UNMARKED
        and format(topic_partition(model, int(part["partition_code"])), "") == place
        and missing_for(model, number, part) is None
        for part in parts_of(model, number)
    )


SKIPPED_WORDS = Words(
    SkippedFacts,
    title="a marker was left out",
    summary="The coordinator[ of {id}] knew no leader of {partitions:3}, took it for deleted and left its marker out. "
    "If the topic still exists, what the transaction wrote there[ {perhaps}] hangs: read_committed readers wait.",
    steps=(step("The coordinator left the marker out", cites="lines"), SAID_TO_WAIT),
    considered=(
        left_open(
            "a topic that was deleted",
            pick(
                "said_to_wait",
                {(): "the coordinator prints the same for it, and then nothing is wrong"},
                "the coordinator prints the same for it; but readers wait there",
            ),
            decided_by="kafka-topics.sh --describe, and kafka-transactions.sh find-hanging, of the partition",
        ),
    ),
    remedies=(
        remedy(
            pick(
                "decision",
                {
                    "ABORT": "Look whether the topic exists. If it does, find and end the transaction that hangs there "
                    "(kafka-transactions.sh find-hanging, then abort)",
                    "COMMIT": "Look whether the topic exists. If it does, do not abort yet what hangs there: the "
                    "coordinator committed it, and an abort makes the loss of its records final. First send them again "
                    "or compensate for them",
                },
                "Look whether the topic exists. If it does, look up what was decided before you abort what hangs there "
                "(kafka-dump-log.sh --transaction-log-decoder on __transaction_state). PrepareCommit: first send its "
                "records again or compensate for them, since an abort makes their loss final. PrepareAbort: abort it",
            ),
            "operator",
        ),
    ),
)
