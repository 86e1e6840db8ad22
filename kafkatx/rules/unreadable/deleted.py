"""Committed records below the log start: the log was deleted into a transaction that was still open.

What retention deletes some time after it was committed is every day's and no finding: readers had their time, and the
log of a busy partition begins inside some transaction at any moment. Here the log begins inside a transaction that a
producer snapshot shows open when the log had come that far already, and between its marker and the deletion, or the end
of the evidence, is less time than a broker takes to look for what retention lets it delete. Whether a reader got the
records in between is open, unless the broker's log says that the start moved before.

All this is said of the copies at hand. Replicas delete by themselves, and how many there are no directory tells: that
nobody got the records is said only where the leader's start moved, by DeleteRecords or as it told a follower, or where
the controller registered one replica, which then is the leader's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case, Found
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import BEFORE_LOG, COMMIT, NO_DATA
from kafkatx.rules.unreadable.retention import (
    ANOTHER_REPLICA,
    KEEP,
    Retention,
    deleted_up_to,
    expired_by,
    moved_at_of,
    moves,
    sole_replica,
)
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import is_leaders_deletion
from kafkatx.words.evidence_refs import data_ref, marker_ref, time_or_none
from kafkatx.words.explanation import Phrase, Words, gap, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import (
    Count,
    Duration,
    Instant,
    NameList,
    OffsetRange,
    Refs,
    TopicPartition,
    facts,
    producer_name,
)

MOST_TOLD = 5
LOOKS_EVERY_MS = 300_000
"""log.retention.check.interval.ms, in all releases."""


@facts
class CutTransaction:
    """A committed transaction that began below the log start; `left` are its records from there on, None without."""

    id: str | None
    producer_id: int
    begun: OffsetRange
    left: Count | None
    marker_offset: int
    committed_at: Instant | None
    opened: Refs
    ended: Refs

    @property
    def name(self) -> str:
        """Its id, else its number."""
        return producer_name(self.id, self.producer_id)


@facts
class Deleted:
    """Committed transactions that began below the start of a partition's log; the first ones, at most five.

    `moved_at` is when a broker moved the log start there, None where no line of its log tells; `is_early`: that was
    before all of their markers (None: not known). `is_unseen`: and surely so by the clocks of any two brokers, and the
    leader did it, so that no read_committed reader can have got the records. `sole` is what shows that the partition
    has no other replica, `retention` what deleted them, `after` how long after the last of their markers.
    """

    partition: TopicPartition
    log_start: int
    transactions: tuple[CutTransaction, ...]
    count: Count
    moved_at: Instant | None
    is_early: bool | None
    is_unseen: bool
    after: Duration | None
    retention: Retention | None
    moved: Refs
    sole: Refs

    @property
    def is_sole(self) -> bool:
        """Whether the partition is known to have one replica."""
        return bool(self.sole)

    @property
    def is_dated_back(self) -> bool:
        """Whether records were deleted by timestamps that are older than the time at which they were written."""
        limit = self.retention.time if self.retention is not None and self.retention.by_records else None
        return limit is not None and self.after is not None and self.after < limit

    @property
    def may_be_unseen(self) -> bool:
        """Whether the log at hand had lost them before the commit, and another replica may still have had them."""
        return bool(self.is_early) and not self.is_unseen

    @property
    def names(self) -> NameList:
        """Whose they are."""
        return NameList(one.name for one in self.transactions)

    @property
    def first(self) -> CutTransaction:
        """The one that began first."""
        return self.transactions[0]

    @property
    def committed_at(self) -> Instant | None:
        """When the first of those that are told was committed."""
        return min((one.committed_at for one in self.transactions if one.committed_at is not None), default=None)

    @property
    def last_offset(self) -> int:
        """The last offset at which its records may have been deleted."""
        return max(self.first.begun.first_offset, self.log_start - 1)


@facts
class Unknown:
    """A committed transaction of which nobody can say whether its records were deleted."""

    name: str
    partition: TopicPartition
    log_start: int
    marker_offset: int


NO_START = Phrase(
    Unknown,
    gap(
        "committed records of {name} in {partition}",
        "the leader-epoch-checkpoint of {partition}, or the broker's log: whether the log begins at {log_start}, or "
        "only this evidence does",
    ),
)
NO_SNAPSHOT = Phrase(
    Unknown,
    gap(
        "committed records of {name} in {partition}",
        "the producer snapshot of the log start of {partition}: what the COMMIT marker at {marker_offset} ended lies "
        "below {log_start}, or was never written",
    ),
)


def deleted(model: CaptureModel) -> Found:
    """One case for each partition whose log begins inside transactions that were committed."""
    spans = model.spans
    committed = spans["marker_kind"] == COMMIT
    codes = distinct(spans["partition_code"][committed & (spans["flags"] & (BEFORE_LOG | NO_DATA) != 0)])
    for code in codes.tolist():
        log_extent = model.log_extents[code]
        if log_extent.topic not in INTERNAL and log_extent.log_start > 0:
            yield from _of_partition(model, log_extent)


def _of_partition(model: CaptureModel, log_extent: LogExtent) -> Found:
    rows = model.spans_of(log_extent.partition_code)
    spans = model.spans[rows]
    cut = spans[(spans["marker_kind"] == COMMIT) & (spans["flags"] & BEFORE_LOG != 0)]
    lines = moves(model, log_extent)
    start = deleted_up_to(model, log_extent)
    moved = next((row for offset, row in lines if offset >= log_extent.log_start), None)
    gone_at = model.logs.at(moved) if moved is not None else None
    recent = (model.facts.evidence_end if gone_at is None else gone_at) - LOOKS_EVERY_MS
    cut = cut[cut["marker_timestamp"] > recent]
    told = cut[cut["first_offset"] < start]
    if len(told):
        yield _case(model, log_extent, np.sort(told, order="first_offset"), moved)
    for span in cut[cut["first_offset"] >= start]:
        yield NO_START.of(_unknown(model, log_extent, span))
    if start > 0 and log_extent.is_whole and not log_extent.is_compacted:
        for span in _begun_before(model, log_extent, rows[spans["marker_timestamp"] > recent]):
            yield NO_SNAPSHOT.of(_unknown(model, log_extent, span))


def _begun_before(model: CaptureModel, log_extent: LogExtent, rows: Array) -> Iterator[Array]:
    """Markers without data of transactions that the coordinator began before the first batch at hand was written."""
    spans, parts, t = model.spans, model.parts.rows, model.transactions
    alone = rows[(spans["marker_kind"][rows] == COMMIT) & (spans["flags"][rows] & NO_DATA != 0)]
    of_markers = parts[np.isin(parts["marker"], alone)]
    started = t["started_at"][of_markers["transaction"]]
    for part in of_markers[(started >= 0) & (started < log_extent.first_timestamp)]:
        yield spans[int(part["marker"])]


def _case(model: CaptureModel, log_extent: LogExtent, cut: Array, moved: int | None) -> Case:
    """Lost for all who wait for the commit where the leader deleted before it; where only a replica is known to, maybe.

    That the log of the copies at hand begins there is proved in any case, and retention's ordinary work.
    """
    told = _facts(model, log_extent, cut, moved)
    only = told.first if told.count == 1 else None
    return Case(
        facts=told,
        verdict=Verdict.proved,
        severity=_severity(told),
        transactional_id=only.id if only is not None else None,
        producer_id=only.producer_id if only is not None else None,
        topic=told.partition.topic,
        partition=told.partition.partition,
        first_offset=told.first.begun.first_offset,
        last_offset=told.last_offset,
        since=time_or_none(int(cut["marker_timestamp"].min())),
        until=time_or_none(int(cut["marker_timestamp"].max())),
        count=len(cut),
        subjects=() if only is not None else tuple(_subject(one) for one in told.transactions),
    )


def _severity(told: Deleted) -> Severity:
    if told.is_unseen:
        return Severity.error
    return Severity.warning if told.is_early else Severity.info


def _facts(model: CaptureModel, log_extent: LogExtent, cut: Array, moved: int | None) -> Deleted:
    marked, last = int(cut["marker_timestamp"].min()), int(cut["marker_timestamp"].max())
    sole = sole_replica(model, log_extent)
    is_leaders = moved is not None and is_leaders_deletion(model.logs.string(moved, "detail") or "")
    slack = 0 if sole else BROKERS_TOLERANCE_MS
    moved_at = moved_at_of(model, moved)
    return Deleted(
        partition=TopicPartition(log_extent.topic, log_extent.partition),
        log_start=log_extent.log_start,
        transactions=tuple(_transaction(model, span) for span in cut[:MOST_TOLD]),
        count=Count(len(cut)),
        moved_at=instant(model.logs.at(moved)) if moved is not None else None,
        is_early=None if moved_at is None else moved_at < marked,
        is_unseen=moved_at is not None and (is_leaders or bool(sole)) and moved_at < marked - slack,
        after=None if moved_at is None or moved_at < last else Duration(moved_at - last),
        retention=expired_by(model, moved),
        moved=event_refs(model, [moved]) if moved is not None else (),
        sole=sole,
    )


def _transaction(model: CaptureModel, span: Array) -> CutTransaction:
    topic, partition = model.topic_partition(int(span["partition_code"]))
    producer_id, first = int(span["producer_id"]), int(span["first_offset"])
    return CutTransaction(
        id=_id(model, producer_id),
        producer_id=producer_id,
        begun=OffsetRange(topic, partition, first, first, Count(0)),
        left=Count(span["records"]) or None,
        marker_offset=int(span["marker_offset"]),
        committed_at=instant(int(span["marker_timestamp"])),
        opened=(data_ref(model, span),),
        ended=(marker_ref(model, span),),
    )


def _id(model: CaptureModel, producer_id: int) -> str | None:
    code = model.owner_of_producer(producer_id)
    return model.transactional_id(code) if code >= 0 else None


def _unknown(model: CaptureModel, log_extent: LogExtent, span: Array) -> Unknown:
    producer_id = int(span["producer_id"])
    return Unknown(
        name=producer_name(_id(model, producer_id), producer_id),
        partition=TopicPartition(log_extent.topic, log_extent.partition),
        log_start=log_extent.log_start,
        marker_offset=int(span["marker_offset"]),
    )


def _subject(one: CutTransaction) -> Subject:
    place = one.begun
    return Subject(one.id, one.producer_id, place.topic, place.partition, place.first_offset)


DELETED_WORDS = Words(
    Deleted,
    title=pick(
        "is_unseen",
        {True: "committed records deleted before anybody could read them"},
        pick(
            "is_early",
            {True: "committed records deleted from this log before their commit"},
            pick(
                "after",
                {None: "committed records lie below log start offset {log_start}"},
                "committed records deleted {after} after their commit",
            ),
        ),
    ),
    summary=(
        "Committed records of {names:3} in {partition}, from offset {first.begun:offsets} on, lie below log start "
        "offset {log_start}: no reader gets them ",
        pick("is_sole", {True: "any more. "}, "from this log any more. "),
        pick(
            "is_early",
            {
                True: (
                    "They were deleted[ at {moved_at}], before the ",
                    pick("count", {1: "commit"}, "first commit"),
                    "[ at {committed_at}]",
                    pick(
                        "is_unseen",
                        {True: ": no read_committed reader ever got them."},
                        ". Readers got them only if another replica kept them for longer and led the partition.",
                    ),
                )
            },
            pick(
                "after",
                {None: "Whether they were deleted before or after {count:its|the last} commit is not shown."},
                "They were deleted at {moved_at}, {after} after the {count:commit|last commit}.",
            ),
        ),
    ),
    steps=(
        step(
            "The transaction of {each.name} was open in {partition} since offset {each.begun:offsets}",
            "a producer snapshot of an offset at or above {log_start} shows it",
            cites="each.opened",
            each="transactions",
        ),
        step(
            "The broker moved the log start offset to {log_start}[ at {moved_at}]",
            "{retention.setting}={retention.value:plain} deleted the segments below it",
            cites="retention.rows moved",
            needs="moved retention",
        ),
        step(
            "The broker moved the log start offset to {log_start}[ at {moved_at}]",
            cites="moved",
            needs="moved",
            unless="retention",
        ),
        step("The partition has no other replica", "the controller registered one", cites="sole", needs="sole"),
        step(
            "The transaction of {each.name} was committed by the marker at offset {each.marker_offset}[, "
            "{each.committed_at}][; "
            "{each.left:record} of it {each.left:is|are} still there]",
            cites="each.ended",
            each="transactions",
        ),
    ),
    considered=(
        ruled_out("aborted_by_client", "the marker is a COMMIT"),
        left_open(
            "whether readers got them before they were deleted",
            pick("after", {None: "between the commit and the deletion they could"}, "they had {after} for it"),
            decided_by=pick(
                "after",
                {None: "the broker's log: when it incremented the log start offset of {partition}"},
                "the readers' positions in {partition} at {moved_at}: their logs, or the offsets that they committed",
            ),
            unless="is_early",
        ),
        ANOTHER_REPLICA,
    ),
    remedies=(
        remedy(
            "Send what the transactions of {names:3} wrote to {partition} below offset {log_start} again, if readers "
            "need it, and nothing else: records of others at these offsets may have been read",
            "application",
            needs="is_unseen",
        ),
        remedy(
            "First look whether the partition has another replica, and whether readers got these records. Only where "
            "neither is so, send what the transactions of {names:3} wrote to {partition} below offset {log_start} "
            "again",
            "application",
            command="kafka-topics.sh --bootstrap-server HOST:PORT --describe --topic {partition.topic}",
            needs="may_be_unseen",
        ),
        remedy(
            "Nothing, if readers had got them. Else send what these transactions wrote below offset {log_start} again",
            "application",
            unless="is_early",
        ),
        KEEP,
    ),
)
