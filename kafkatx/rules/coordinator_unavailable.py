"""A transaction coordinator could not serve: it was loading, could not write its log, or was not to be found.

Mechanism    The leader of a partition of `__transaction_state` coordinates the ids of that partition. While it has no
             leader, is being loaded by a new one, or can't be appended to (fewer replicas in sync than min.insync),
             every transactional request of those ids is answered with COORDINATOR_NOT_AVAILABLE,
             COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR and tried again; commits time out, transactions become
             overdue.
Evidence     the broker's lines: elected and loading until finished loading, appends to `__transaction_state` that fail,
             a rollback that fails for that reason; clients that find the coordinator over and over, or name the error.
Against      the id stands in PrepareCommit or PrepareAbort: then its coordinator answers CONCURRENT_TRANSACTIONS, and
             only markers are missing.
Look-alikes  stuck_prepare and concurrent_transactions_storm (a client that waits for InitProducerId in vain prints the
             same text); a failover of a few seconds during a rolling restart (info); broker_unreachable, its usual
             cause.
Remedy       three replicas of `__transaction_state` with min.insync.replicas 2, a cleaner that works (load time grows
             with the log), max.block.ms above the failover that was measured.
Source       TransactionStateManager, TransactionCoordinator (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.absences import Absence, absences
from kafkatx.histories.logs.outages import outages
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, Subject
from kafkatx.terms.clocks import MAX_BLOCK_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.advised import advised
from kafkatx.words.explained import Actor, Considered, Remedy, Step
from kafkatx.words.log_places import event_places
from kafkatx.words.places import plural
from kafkatx.words.remedies import max_block, state_log_replication

RULE = "coordinator_unavailable"
SHORT_MS = 10_000
"""A failover below this is no harm (info)."""
OFTEN = 3
"""More absences of a partition than this are one finding."""
BY_BROKER = frozenset({"loading", "writing"})


def check(story: Story) -> Iterator[Finding]:
    """One finding for each time that a coordinator was away, one for partitions of which that happened often."""
    found = absences(story, outages(story.logs))
    groups: dict[tuple[int | None, Verdict], list[Absence]] = {}
    for absence in found:
        groups.setdefault((absence.partition, _verdict(absence)), []).append(absence)
    for alike in groups.values():
        if len(alike) > OFTEN:
            yield _finding(story, max(alike, key=lambda absence: absence.duration_ms), alike)
        else:
            yield from (_finding(story, absence, [absence]) for absence in alike)


def _finding(story: Story, absence: Absence, alike: list[Absence]) -> Finding:
    """Tell of an absence, the longest of those that are alike."""
    names = list(dict.fromkeys(name for one in alike for name in one.names))
    times = f", {len(alike):,} times in all" if len(alike) > 1 else ""
    return Finding(
        rule=RULE,
        verdict=_verdict(absence),
        severity=_severity(story, absence),
        summary=_summary(absence) + times,
        topic=TRANSACTION_STATE if absence.partition is not None else None,
        partition=absence.partition,
        since=min(one.since for one in alike),
        until=max(one.until for one in alike),
        count=len(alike),
        subjects=tuple(Subject(name) for name in names[:3]) if len(names) > 1 else (),
        actors=tuple(Actor(name, "waited for its coordinator") for name in names[:6]),
        steps=tuple(_steps(story, absence)),
        considered=tuple(_considered(absence)),
        remedies=_remedies(story, absence),
    )


def _verdict(absence: Absence) -> Verdict:
    """A broker's own line proves it; clients' lines make it likely; a wait alone has another reading."""
    if absence.told_by & BY_BROKER:
        return Verdict.proved
    return Verdict.possible if absence.told_by == {"waiting"} else Verdict.likely


def _severity(story: Story, absence: Absence) -> Severity:
    if absence.told_by == {"waiting"}:
        return Severity.warning
    limits = [_max_block(story), *story.transactions["timeout_ms"][story.transactions["timeout_ms"] > 0].tolist()]
    if absence.duration_ms > min(limits):
        return Severity.error
    return Severity.warning if absence.duration_ms > SHORT_MS else Severity.info


def _max_block(story: Story) -> int:
    return story.logs.settings.value("producer", "max.block.ms").number or MAX_BLOCK_MS


def _summary(absence: Absence) -> str:
    where = f" of {TRANSACTION_STATE}-{absence.partition}" if absence.partition is not None else ""
    took = f"for {duration(absence.duration_ms)} from {clock(absence.since)}"
    end = "" if absence.is_over else " at least"
    names = f" ({', '.join(absence.names[:3])}{' and more' if len(absence.names) > 3 else ''})" if absence.names else ""
    if absence.told_by == {"waiting"}:
        return f"initTransactions{names} got no answer {took}: its coordinator may have been away"
    how = "could not write its log" if "writing" in absence.told_by else "did not serve"
    return f"the transaction coordinator{where} {how}{names} {took}{end}"


_TOLD = (
    (
        (EventKind.coordinator_elected, EventKind.coordinator_loading, EventKind.coordinator_loaded),
        "a new leader loaded the coordinator's log",
        "until it is loaded requests are answered with COORDINATOR_LOAD_IN_PROGRESS",
    ),
    (
        (EventKind.state_append_failed, EventKind.timeout_rollback_failed, EventKind.append_refused),
        "rows could not be written to the coordinator's log",
        "the broker's own log says so",
    ),
    (
        (EventKind.init_refused, EventKind.add_refused, EventKind.end_refused, EventKind.failure),
        "requests were answered with the coordinator's absence",
        "the error is named",
    ),
    (
        (EventKind.coordinator_found,),
        "a client looked for its coordinator over and over",
        "each answer named a broker that did not serve",
    ),
    (
        (EventKind.await_timeout,),
        "initTransactions waited in vain",
        "no answer came within max.block.ms",
    ),
)


def _steps(story: Story, absence: Absence) -> Iterator[Step]:
    logs = story.logs
    for kinds, text, because in _TOLD:
        rows = sorted((row for row in absence.rows if logs.kind(row) in kinds), key=lambda row: (logs.times[row], row))
        if rows:
            lines = sum(1 + max(0, int(logs.events["repeats"][row])) for row in rows)
            at = clock(int(logs.times[rows[0]]))
            yield Step(f"from {at} {text} ({plural(lines, 'line')})", because, event_places(story, rows, 4))
    if absence.is_over:
        yield Step(f"it served again at {clock(absence.until)}", "the load ended, or a row was written")


def _considered(absence: Absence) -> Iterator[Considered]:
    if absence.told_by == {"waiting"}:
        why = "not refuted: an id in Prepare* keeps its owner waiting in the same words while its coordinator answers"
        yield Considered("stuck_prepare", why)
    elif absence.told_by & BY_BROKER:
        yield Considered("stuck_prepare", "the coordinator itself tells that it could not serve")


def _remedies(story: Story, absence: Absence) -> tuple[Remedy, ...]:
    measured = f"the coordinator was away for {duration(absence.duration_ms)}"
    whom = advised(story, absence.names[0] if absence.names else None)
    if absence.told_by == {"waiting"}:
        return ()
    replicas = state_log_replication(whom, story.facts.brokers, measured) if "writing" in absence.told_by else ()
    return (*replicas, *max_block(whom, absence.duration_ms, measured))
