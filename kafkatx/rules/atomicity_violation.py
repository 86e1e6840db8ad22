"""One transaction, two outcomes: committed in one partition, aborted or left without its end in another.

Mechanism    An operator aborts one partition by hand and the client commits afterwards; the end of a log was lost
             (unclean election, disk, restore) together with the marker; a coordinator skipped a partition without a
             leader (4.x, KAFKA-20734).
Evidence     the coordinator's decision and completion for a list of partitions, and what ended the data in each of
             them.
Against      a log that ends before the completion, has gaps, or was compacted; a match of markers that is not certain.
Look-alikes  stuck_prepare (not completed yet); repeated markers after a failover (harmless); markers without data.
Remedy       list the records on both sides, publish them again or compensate in the application. No tool writes a
             COMMIT, and an abort would make the loss final.
Source       KIP-98, KIP-664; TransactionMarkerChannelManager, UnifiedLog (0.11 to 4.4); KAFKA-20734.
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.grouping import DataColumns, columns_of_part
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.ended import known
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import AFTER_HOLE, PREPARE_COMMIT
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import completion_row, data_ref, decision_row, marker_ref, parts_of
from kafkatx.words.explanation import GapWords, Phrase, Words, considered, gap, remedy, step
from kafkatx.words.facts import data, offsets, topic_partition
from kafkatx.words.template import pick, render
from kafkatx.words.values import Count, Data, Instant, JoinedValues, OffsetRange, Refs, TopicPartition, facts

KINDS = ("ABORT", "COMMIT", "an emptied")
MOST_SUMMED_UP, MOST_TOLD = 3, 5


@facts
class Fate:
    """How a transaction ended in one partition: by which marker, None without one; `data` is None without records."""

    partition: TopicPartition
    data: OffsetRange | None
    ended_by: str | None
    ended_at: int | None
    has_own_marker: bool
    log_end: int
    last_written: Instant
    places: Refs

    @property
    def last_offset(self) -> int:
        """The last offset of the partition's log."""
        return self.log_end - 1

    def __format__(self, spec: str) -> str:
        return render(FATE.summary, self) or ""


@facts
class Facts:
    """A completed transaction with partitions that ended otherwise; `as_decided` counts those that did not."""

    id: str
    decision: str
    decided_at: Instant
    partitions: JoinedValues[TopicPartition]
    fates: tuple[Fate, ...]
    as_decided: Count
    told: Count
    data: Data
    decided: Refs
    completed: Refs
    markers: Refs

    @property
    def summed_up(self) -> JoinedValues[Fate]:
        """The fates that the summary tells."""
        return JoinedValues(self.fates[:MOST_SUMMED_UP])


@facts
class OnePartition:
    """A partition of a transaction that could not be judged."""

    id: str
    partition: TopicPartition


def find(model: CaptureModel) -> Found:
    """One case for each completed transaction with a partition that ended otherwise, or not at all."""
    rows, spans, t = model.parts.rows, model.spans, model.transactions
    completed = t["completion_offset"][rows["transaction"]] >= 0
    ended_otherwise = (rows["span"] >= 0) & (rows["span"] != rows["marker"])
    ended_otherwise[ended_otherwise] &= spans["marker_offset"][rows["span"][ended_otherwise]] >= 0
    ended_otherwise[ended_otherwise] &= (
        spans["marker_kind"][rows["span"][ended_otherwise]] != 3 - t["decision"][rows["transaction"][ended_otherwise]]
    )
    whole = (t["flags"][rows["transaction"]] & AFTER_HOLE) == 0
    unmarked = (rows["status"] == Status.UNMARKED) & (t["decision"][rows["transaction"]] == PREPARE_COMMIT) & whole
    candidates = np.flatnonzero(completed & (ended_otherwise | unmarked))
    transactions, begins = np.unique(rows["transaction"][candidates], return_index=True)
    for transaction, numbers in zip(transactions.tolist(), np.split(candidates, begins[1:]), strict=False):
        yield from _judged(model, transaction, [rows[number] for number in numbers])


def _judged(model: CaptureModel, transaction: int, parts: list[Array]) -> Found:
    proved = [part for part in parts if part["status"] != Status.UNMARKED]
    unmarked = [part for part in parts if part["status"] == Status.UNMARKED and not _is_compacted(model, part)]
    missing = [(part, _missing(model, transaction, part)) for part in unmarked]
    bad = [*proved, *(part for part, phrase in missing if phrase is None)]
    if bad:
        yield _case(model, transaction, bad, Verdict.proved if proved else Verdict.likely)
    name = model.transactional_id(int(model.transactions["id_code"][transaction]))
    for part, phrase in missing:
        if phrase is not None:
            yield phrase.of(OnePartition(name, topic_partition(model, int(part["partition_code"]))))


def _is_compacted(model: CaptureModel, part: Array) -> bool:
    """Whether the cleaner may have taken the marker, so that nothing can be missing."""
    log_extent = model.log_extents[int(part["partition_code"])]
    return log_extent.is_compacted or log_extent.topic in INTERNAL


def _missing(model: CaptureModel, transaction: int, part: Array) -> Phrase[OnePartition, GapWords] | None:
    """None where the partition's log covers the time in which the marker must have come."""
    log_extent, row = model.log_extents[int(part["partition_code"])], model.transactions[transaction]
    if not log_extent.is_whole:
        return NOT_WHOLE
    if not _goes_on(model, log_extent, int(row["completion_timestamp"])):
        return ENDS_EARLY
    if part["span"] < 0 and not _reaches_back(model, log_extent, int(row["decided_at"])):
        return BEGINS_LATE
    return None


def _goes_on(model: CaptureModel, log_extent: LogExtent, completed: int) -> bool:
    """Whether the log reaches beyond a time: by a broker's clock, or by data of a transaction that began later."""
    after = completed + (BROKERS_TOLERANCE_MS if model.facts.brokers > 1 else 0)
    if log_extent.broker_time > after:
        return True
    owners = model.parts.owner[model.spans_of(log_extent.partition_code)]
    return bool((model.transactions["started_at"][owners[owners >= 0]] > after).any())


def _reaches_back(model: CaptureModel, log_extent: LogExtent, time: int) -> bool:
    """Whether the log holds something from before a time: then what came later has not been deleted with it.

    A topic deleted and made again has the same name and a log that begins at 0.
    """
    spans = model.spans[model.spans_of(log_extent.partition_code)]
    times = spans["marker_timestamp"][spans["marker_offset"] >= 0]
    begins_before = log_extent.log_start == 0 and 0 <= log_extent.first_timestamp < time
    return begins_before or bool(len(times) and times.min() < time)


def _case(model: CaptureModel, transaction: int, bad: list[Array], verdict: Verdict) -> Case:
    row = model.transactions[transaction]
    facts = _facts(model, transaction, bad)
    place = columns_of_part(model, bad[0]) if len(bad) == 1 else DataColumns()
    return Case(
        facts=facts,
        verdict=verdict,
        severity=Severity.error,
        transactional_id=facts.id,
        producer_id=int(row["producer_id"]),
        producer_epoch=known(row["producer_epoch"]),
        since=known(row["started_at"]),
        until=int(row["completion_timestamp"]),
        **place,
    )


def _facts(model: CaptureModel, transaction: int, bad: list[Array]) -> Facts:
    row = model.transactions[transaction]
    odd = {int(part["partition_code"]) for part in bad}
    marked = [part for part in parts_of(model, transaction) if part["status"] == Status.MARKED]
    good = [part for part in marked if int(part["partition_code"]) not in odd]
    return Facts(
        id=model.transactional_id(int(row["id_code"])),
        decision="COMMIT" if row["decision"] == PREPARE_COMMIT else "ABORT",
        decided_at=Instant(row["decided_at"]),
        partitions=JoinedValues(topic_partition(model, int(part["partition_code"])) for part in bad),
        fates=tuple(_fate(model, part) for part in bad[:MOST_TOLD]),
        as_decided=Count(len(good)),
        told=Count(len(good) + len(bad)),
        data=data(model, (model.spans[int(part["span"])] for part in bad if part["span"] >= 0)),
        decided=tuple(decision_row(row)),
        completed=tuple(completion_row(row)),
        markers=tuple(marker_ref(model, model.spans[int(part["marker"])]) for part in good[:4]),
    )


def _fate(model: CaptureModel, part: Array) -> Fate:
    log_extent = model.log_extents[int(part["partition_code"])]
    span = model.spans[int(part["span"])] if part["span"] >= 0 else None
    own = model.spans[int(part["marker"])] if part["marker"] >= 0 else None
    ended_at = known(span["marker_offset"]) if span is not None else None
    written = (data_ref(model, span),) if span is not None else ()
    markers = [one for one in (span if ended_at is not None else None, own) if one is not None]
    return Fate(
        partition=topic_partition(model, int(part["partition_code"])),
        data=offsets(model, span) if span is not None else None,
        ended_by=KINDS[int(span["marker_kind"])] if span is not None and ended_at is not None else None,
        ended_at=ended_at,
        has_own_marker=own is not None,
        log_end=log_extent.log_end,
        last_written=Instant(log_extent.newest),
        places=(*written, *(marker_ref(model, one) for one in markers)),
    )


NOT_WHOLE, ENDS_EARLY, BEGINS_LATE = (
    Phrase(OnePartition, gap("{id} in {partition}", missing))
    for missing in (
        "the whole log: offsets are missing",
        "a log that goes on after the completion",
        "a log that begins before the transaction: its beginning, or the topic, was deleted",
    )
)
FATE = Words(
    Fate,
    summary=pick(
        "data",
        {None: "{partition} has neither its records nor its marker"},
        pick("ended_by", {None: "{data} has no marker"}, "{data} was ended by {ended_by} @ {ended_at}"),
    ),
)
WORDS = Words(
    Facts,
    summary="the transaction of {id} decided at {decided_at} is {decision} for the coordinator, but "
    "{partitions: and } ended otherwise: {summed_up:; }",
    steps=(
        step(
            "the coordinator decided {decision} for {told:partition} and completed it",
            "Prepare* lists them, Complete* says that all were told",
            cites="decided completed",
        ),
        step("{as_decided:partition} ended so", "their markers", cites="markers", needs="as_decided"),
        step(
            "{each}",
            (
                pick(
                    "each.ended_by",
                    {None: "the log goes on to offset {each.last_offset}, last written {each.last_written}"},
                    "that marker is not the coordinator's: it came before the decision, or has another kind",
                ),
                pick(
                    "each.has_own_marker",
                    {True: "; the coordinator's own marker came later and found nothing open"},
                    "",
                ),
            ),
            each="fates",
            cites="each.places",
        ),
    ),
    considered=(
        considered(
            "stuck_prepare",
            "the coordinator completed the transaction; it will send no more markers",
            cites="completed",
        ),
        considered(
            "hanging_transaction",
            "the data belong to a transaction that was decided; aborting them would make the loss final",
            cites="decided",
        ),
    ),
    remedies=(
        remedy(
            (
                pick(
                    "data",
                    {(): "the records concerned are gone from that partition"},
                    "the records concerned: {data}",
                ),
                ". Publish them again or compensate in the application; do not abort by hand, it would make the loss "
                "final",
            ),
            "application",
            derived_from="the outcome {decision} holds elsewhere",
            cost="whoever read the other partitions has already acted on them",
        ),
        remedy(
            "see whether an operator aborted a partition, an unclean election took place, or a disk was restored at "
            "that time; keep min.insync.replicas at 2 of 3 and unclean.leader.election.enable off for all topics of "
            "the transaction",
            "operator",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS,), depth=5)
