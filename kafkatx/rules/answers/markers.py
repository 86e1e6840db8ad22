"""Markers that a coordinator could not write, by its own lines: the transaction is decided, and goes on waiting.

retried    the leader refused the marker for now (too few replicas in sync, no leader, storage). The coordinator sends
           it again at once, for ever.
given up   the leader refused it for good, for the epoch in it. The coordinator stops sending the markers of this
           transaction, and takes them up again only when it loads its partition of `__transaction_state` anew.
Careful    a marker that a leader refused for the coordinator's epoch is another coordinator's matter; a retry or two
           belong to every change of leaders; where the id is granted again afterwards its transaction was completed.
Source     TransactionMarkerRequestCompletionHandler (0.11 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import times_of, topic_partition
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, TopicPartition, facts

STUCK_MS = 10_000
"""Leaders change faster than that."""
TOO_FEW = (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
Subject = tuple[str | None, str | None, int | None]
"""Transactional id, topic, partition."""


@facts
class MarkerFacts:
    """Markers of one transaction for one partition that its leader refused; `refusals` are the leader's own lines."""

    id: str | None
    place: TopicPartition | None
    error: str
    is_given_up: bool
    count: Count
    lines: Refs
    refusals: Refs


def refused_markers(model: CaptureModel) -> Iterator[Case]:
    """One case for each id and partition whose marker was given up, or is sent again without end."""
    logs = model.logs
    groups: dict[Subject, list[int]] = {}
    for row in logs.of_kind(EventKind.marker_retry, EventKind.marker_given_up).tolist():
        if logs.error(row) is not ErrorCode.TRANSACTION_COORDINATOR_FENCED and topic_partition(logs, row) is not None:
            groups.setdefault(_subject(logs, row), []).append(row)
    for (name, topic, partition), rows in groups.items():
        refusals = _refusals(logs, topic, partition)
        is_given_up = any(logs.kind(row) is EventKind.marker_given_up for row in rows)
        if (is_given_up or _goes_on(logs, rows, refusals)) and not _was_completed(logs, name, rows[-1]):
            yield _case(model, (name, topic, partition), rows, refusals, is_given_up)


def _subject(logs: LogModel, row: int) -> Subject:
    return logs.string(row, "transactional_id"), logs.string(row, "topic"), logs.number(row, "partition")


def _refusals(logs: LogModel, topic: str | None, partition: int | None) -> list[int]:
    """Lines in which the leader of a partition refused to append anything for want of replicas."""
    rows = logs.of_kind(EventKind.append_refused).tolist()
    mine = (row for row in rows if (topic, partition) == (logs.string(row, "topic"), logs.number(row, "partition")))
    return [row for row in mine if logs.error(row) in TOO_FEW]


def _goes_on(logs: LogModel, rows: list[int], refusals: list[int]) -> bool:
    """Whether it was refused again and again: for longer than leaders change, or for want of replicas."""
    often = sum(1 + max(0, int(logs.events["repeats"][row])) for row in rows)
    lasted = logs.lasted(rows[0], rows[-1])
    is_short_of_replicas = bool(refusals) or all(logs.error(row) in TOO_FEW for row in rows)
    return often > 1 and (is_short_of_replicas or (lasted is not None and lasted > STUCK_MS))


def _was_completed(logs: LogModel, name: str | None, last: int) -> bool:
    """Whether the id was granted after the last refusal: its transaction had been completed before."""
    granted = logs.about(name, EventKind.initialized).tolist() if name is not None else []
    return any(logs.is_before(last, row) for row in granted)


def _case(model: CaptureModel, subject: Subject, rows: list[int], refusals: list[int], is_given_up: bool) -> Case:
    logs, (name, topic, partition) = model.logs, subject
    since, until = times_of(logs, rows)
    return Case(
        facts=MarkerFacts(
            id=name,
            place=TopicPartition(topic, partition) if topic is not None and partition is not None else None,
            error=logs.error(rows[-1]).name,
            is_given_up=is_given_up,
            count=Count(sum(1 + max(0, int(logs.events["repeats"][row])) for row in rows)),
            lines=event_refs(model, rows, 4),
            refusals=event_refs(model, refusals, 2),
        ),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        topic=topic,
        partition=partition,
        since=since,
        until=until,
        count=len(rows),
    )


MARKER_WORDS = Words(
    MarkerFacts,
    title=pick("is_given_up", {True: "a marker was given up"}, "a marker can't be written"),
    summary=(
        pick("id", {None: "A transaction"}, "A transaction of {id}"),
        " is decided, but its marker for {place} was refused ({error})",
        pick(
            "is_given_up",
            {True: " for good, and the coordinator stopped sending its markers. It[ {perhaps}] waits in Prepare"},
            " {count:time}. It[ {perhaps}] waits in Prepare until that partition takes writes again",
        ),
        "; new instances of the id are answered CONCURRENT_TRANSACTIONS.",
    ),
    steps=(
        step("The leader took no writes: too few replicas in sync", cites="refusals", needs="refusals"),
        step(
            pick(
                "is_given_up",
                {True: "The coordinator gave the marker up after {error}"},
                "The coordinator sends the marker again and again, and is refused with {error}",
            ),
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("open_transaction", "markers are sent only when the outcome is decided"),
        left_open(
            "a transaction that has completed since",
            "the lines end with the refusal",
            decided_by="kafka-transactions.sh describe of the id",
        ),
    ),
    remedies=(
        remedy(
            "Bring {place} back (leader, in-sync replicas, min.insync.replicas): the marker follows by itself. Do not "
            "abort by hand",
            "operator",
            unless="is_given_up",
        ),
        remedy(
            "Move the leadership of the id's partition of __transaction_state: the coordinator that loads it sends the "
            "markers again. If they are refused again, upgrade the brokers. Do not abort by hand",
            "operator",
            needs="is_given_up",
        ),
    ),
)
