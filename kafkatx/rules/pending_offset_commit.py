"""Consumers of a group wait: offsets of the group were committed in a transaction that has not ended.

Mechanism    Offsets that a transaction sends stay pending until its marker is written to `__consumer_offsets`. A
             consumer that fetches committed offsets with requireStable is answered UNSTABLE_OFFSET_COMMIT meanwhile and
             asks again; the group can't start on those partitions until the transaction is committed or aborted, at the
             latest when its transaction.timeout.ms is over (a two-phase transaction, KIP-939, has none).
Evidence     on disk: transactional batches in `__consumer_offsets` without a marker behind them. In logs: "The
             following partitions still have unstable offsets which are not cleared on the broker side",
             UNSTABLE_OFFSET_COMMIT (88), "There are unstable offsets that need to be cleared".
Against      a wait of a few seconds, as each commit has one; replicas of `__consumer_offsets` that are out of sync.
Look-alikes  offsets that wait for their followers (the same answer, for a moment); read_committed_blocked (records, not
             offsets); fenced_by_group_generation (the commit of the offsets was refused).
Remedy       end the transaction: start its producer again under the same transactional.id; a transaction.timeout.ms not
             longer than a group may wait.
Source       ConsumerCoordinator.fetchCommittedOffsets, GroupMetadataManager, GroupCoordinatorService (2.5 to 4.4);
             KIP-447.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.client_lines import is_cut_out, only, partitions_named, place_of, times_of
from kafkatx.findings.conditions import same_time
from kafkatx.findings.finding import Subject
from kafkatx.findings.open_spans import OpenSpan
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import MADE_RANDOM, statements_of
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.spans import OPEN
from kafkatx.rules.answers.open_asked import told_of
from kafkatx.rules.read_committed_blocked import doubt_of, since_of, verdict_of
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.topics import CONSUMER_OFFSETS, OFFSETS_PARTITIONS, partition_for
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, NameList, OffsetRange, Refs, TopicPartition, facts

SHORT_MS, LONG_MS = 10_000, 60_000
"""Waits below the first are every day's; above the second something is wrong."""
AUTOMATIC = ("", "null", "none")
"""Values of group.id that name no group."""
UNSTABLE = ("UNSTABLE_OFFSET_COMMIT", "UnstableOffsetCommit", "unstable offsets", "unstable_offset_commit")


@facts
class Holder:
    """A transaction that the leader of the group's partition has open, by its answer."""

    partition: TopicPartition
    offset: int
    producer_id: int
    told: Refs


@facts
class Facts:
    """A group that waited: for how long lines show it, where they have times; of which partitions.

    `has_new_ids`: somebody says that the application takes another transactional.id at each start (`said`).
    """

    group: str | None
    partitions: NameList | None
    lasted: Duration | None
    count: Count
    lines: Refs
    holder: Holder | None
    has_new_ids: bool
    said: Refs

    @property
    def is_open(self) -> bool:
        """Whether no leader told which transaction holds them."""
        return self.holder is None


@facts
class OnDisk:
    """Offsets in `__consumer_offsets` whose transaction has no marker there; `id` is None where no row names it.

    `is_two_phase`: its coordinator never ends it by itself. `groups` are those that logs and settings name and whose
    offsets lie in this partition.
    """

    id: str | None
    producer_id: int
    data: OffsetRange
    age: Duration | None
    is_two_phase: bool
    groups: NameList
    held: Refs


def find(model: CaptureModel) -> Found:
    """One case for each group; lines that name none together. Then one for each transaction that holds offsets."""
    yield from _in_logs(model)
    for number in np.flatnonzero((model.spans["flags"] & OPEN) != 0).tolist():
        one = OpenSpan(model, number)
        if one.log_extent.topic == CONSUMER_OFFSETS:
            yield _on_disk(one)


def _on_disk(one: OpenSpan) -> Case:
    since = since_of(one)
    age = one.model.age_ms(since) if since is not None else None
    verdict = verdict_of(doubt_of(one))
    return Case(
        facts=OnDisk(
            id=one.id or None,
            producer_id=one.producer_id,
            data=one.data,
            age=lasting(age),
            is_two_phase=one.is_two_phase,
            groups=_groups_of(one.model, one.data.partition),
            held=tuple(dict.fromkeys((*one.written, *one.latest_row))),
        ),
        verdict=verdict,
        severity=Severity.info if (age or 0) <= LONG_MS or verdict is Verdict.possible else Severity.warning,
        transactional_id=one.id,
        since=since,
        until=time_or_none(one.model.facts.evidence_end),
        **one.columns(),
    )


def _groups_of(model: CaptureModel, partition: int) -> NameList:
    """Groups that logs and settings name and whose offsets lie in a partition of `__consumer_offsets`."""
    logs = model.logs
    codes = {int(code) for code in distinct(logs.events["group_code"]) if code >= 0}
    names = {logs.facts.strings[code] for code in codes}
    names |= {
        one.value for one in logs.facts.settings if one.name == "group.id" and one.value not in AUTOMATIC and one.value
    }
    count = logs.settings.value("broker", "offsets.topic.num.partitions").number or OFFSETS_PARTITIONS
    return NameList(sorted(name for name in names if partition_for(name, count) == partition))


def _in_logs(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    groups: dict[str | None, list[int]] = {}
    for row in _rows(logs):
        groups.setdefault(logs.string(row, "group"), []).append(row)
    if len(groups) == 2 and None in groups:  # some lines of a client name its group, others don't
        (named,) = set(groups) - {None}
        groups = {named: sorted(groups[named] + groups[None])}
    for group, rows in groups.items():
        yield _case(model, group, rows)


def _rows(logs: LogModel) -> list[int]:
    failed = logs.of_kind(EventKind.failure, EventKind.produce_failed, EventKind.await_timeout).tolist()
    told = [row for row in failed if any(text in logs.words(row) for text in UNSTABLE)]
    return sorted({*logs.of_kind(EventKind.unstable_offsets).tolist(), *told})


def _case(model: CaptureModel, group: str | None, rows: list[int]) -> Case:
    logs = model.logs
    since, until = times_of(logs, rows)
    lasted = until - since if since is not None and until is not None and len(rows) > 1 else None
    pairs = [(logs.string(row, "topic"), logs.number(row, "partition")) for row in rows]
    names = partitions_named(logs, rows)
    said = [one for one in statements_of(logs, logs.path(rows[0])) if one.name == MADE_RANDOM]
    holder = _holder(model, group)
    is_failed = any(logs.kind(row) is not EventKind.unstable_offsets for row in rows)
    verdict = Verdict.proved if holder is not None else Verdict.possible if _lacks_replicas(logs) else Verdict.likely
    severity = _severity(lasted, is_failed=is_failed, is_shown=since is None or is_cut_out(logs, rows))
    return Case(
        facts=Facts(
            group=group,
            partitions=names or None,
            lasted=lasting(lasted or None),
            count=Count(len(rows) + sum(max(0, int(logs.events["repeats"][row])) for row in rows)),
            lines=event_refs(model, rows, 4),
            holder=holder,
            has_new_ids=bool(said),
            said=testimony_refs(logs.path(rows[0]), said[:1]),
        ),
        verdict=verdict,
        producer_id=None if holder is None else holder.producer_id,
        severity=min(severity, Severity.warning) if verdict is Verdict.possible else severity,
        topic=only(topic for topic, _ in pairs),
        partition=only(number for _, number in pairs),
        since=since,
        until=until,
        count=1,
        subjects=tuple(Subject(None, None, topic, number) for topic, number in pairs[:3]) if len(names) > 1 else (),
    )


def _lacks_replicas(logs: LogModel) -> bool:
    """Whether replicas of the groups' offsets are out of sync: what waits for them is answered the same way."""
    short = logs.of_kind(EventKind.isr_shrunk, EventKind.replicas_missing, EventKind.append_refused).tolist()
    return any(logs.string(row, "topic") == CONSUMER_OFFSETS for row in short)


def _holder(model: CaptureModel, group: str | None) -> Holder | None:
    """The oldest transaction that the leader of the group's partition told to be open there."""
    if group is None:
        return None
    place = TopicPartition(CONSUMER_OFFSETS, partition_for(group, OFFSETS_PARTITIONS))
    told = [row for row in told_of(model, place.topic, place.partition) if place_of(model.logs, row) == place]
    numbers = sorted((model.logs.number(row, "offset") or 0, row) for row in told)
    if not numbers:
        return None
    offset, row = numbers[0]
    return Holder(place, offset, model.logs.number(row, "producer_id") or 0, event_refs(model, [row]))


def _severity(lasted: int | None, *, is_failed: bool, is_shown: bool) -> Severity:
    """A wait of a moment is every day's; one that somebody shows was longer than that."""
    if lasted is not None and lasted >= LONG_MS:
        return Severity.error
    if is_failed or is_shown or (lasted or 0) >= SHORT_MS:
        return Severity.warning
    return Severity.info


WORDS = Words(
    Facts,
    who="group {group}",
    title="a group waits for offsets of an open transaction",
    summary="Consumers[ of group {group}] could not read committed offsets[ of {partitions:3}]: a transaction that has "
    "not ended[ {perhaps}] holds them[ (for {lasted} at least)].",
    steps=(
        step(
            "The broker answered that offsets are not stable yet, {count:time}",
            "UNSTABLE_OFFSET_COMMIT: pending offsets of a transaction, or such that are not replicated yet",
            cites="lines",
        ),
        step("The ids are new ones at each start", "somebody says so", cites="said", needs="said"),
        step(
            "Producer id {holder.producer_id} had a transaction open in {holder.partition} from offset "
            "{holder.offset} on",
            "the leader's producer state of the group's partition",
            cites="holder.told",
        ),
    ),
    considered=(
        left_open(
            "which transaction holds them",
            "the answer names no producer",
            decided_by="kafka-transactions.sh describe-producers for the group's partition of __consumer_offsets",
            needs="is_open",
        ),
        left_open(
            "offsets that wait for replication",
            "they are answered the same way for a moment",
            decided_by="the in-sync replicas of the group's partition of __consumer_offsets",
            needs="is_open",
        ),
    ),
    remedies=(
        remedy(
            "Wait until its transaction.timeout.ms is over, or end it with kafka-transactions.sh abort. Nobody else "
            "does: "
            "an application that takes a new transactional.id at each start never ends the transaction of the one "
            "before",
            "operator",
            needs="has_new_ids",
        ),
        remedy(
            "Give each instance one transactional.id that it keeps over restarts: its initTransactions then ends what "
            "it "
            "had left open",
            "application",
            needs="has_new_ids",
        ),
        remedy(
            "Start the producer that sent the offsets again under the same transactional.id: its initTransactions ends "
            "the transaction at once. Else it ends when its transaction.timeout.ms is over",
            "application",
            unless="has_new_ids",
        ),
        remedy(
            text="Keep transaction.timeout.ms below what consumers may wait after a crash",
            where="client",
            config="transaction.timeout.ms",
        ),
    ),
)

DISK_WORDS = Words(
    OnDisk,
    title="offsets wait in an open transaction",
    summary=(
        "Offsets that a transaction[ of {id}] committed for a consumer group, in {data}, have no transaction marker[ "
        "after {age}]. They are[ {perhaps}] pending: consumers of the group",
        pick("groups", {(): ""}, " (of those that are named here {groups:3} keeps its offsets there)"),
        " can't start from them until the transaction ends.",
    ),
    steps=(
        step(
            "The offsets were written in a transaction of producer {producer_id}",
            "no marker follows them up to the log end",
            cites="held",
        ),
    ),
    remedies=(
        remedy(
            pick(
                "is_two_phase",
                {
                    True: "Commit or abort it as its other half was decided. It is a two-phase transaction: the "
                    "coordinator never aborts it, and initTransactions without keepPreparedTxn undoes what was "
                    "prepared",
                },
                "Let the producer end its transaction, or start it again under the same transactional.id: its "
                "initTransactions ends the transaction at once. Else it ends when its transaction.timeout.ms is over",
            ),
            "application",
        ),
        remedy(
            "See which group and which position it is",
            "operator",
            command="kafka-dump-log.sh --offsets-decoder --files LOG_DIR/{data.topic}-{data.partition}/SEGMENT.log",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, DISK_WORDS),
    depth=6,
    caused_by=tuple((rule, same_time) for rule in ("hanging_transaction", "stuck_prepare", "open_transaction")),
    decided_by=(Side.client,),
    is_lasting=True,
)
