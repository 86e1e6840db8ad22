"""Committed records at or above the last stable offset: whose they are, and behind which open transaction they wait.

That readers wait is read_committed_blocked's; here stands what they are not given. Of an ordinary transaction that is
younger than transactions commonly last nobody asks: its readers get all of it in a moment.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.findings.open_spans import OpenSpan
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.rules.read_committed_blocked import (
    WHY,
    Doubt,
    committed_behind,
    doubt_of,
    holders,
    severity_of,
    since_of,
    stands_at,
    verdict_of,
)
from kafkatx.terms.verdicts import Severity
from kafkatx.words.evidence_refs import data_ref, marker_ref, time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Instant, NameList, OffsetRange, Refs, TopicPartition, facts, producer_name

MOST_WRITERS = 5


@facts
class Writer:
    """One producer whose committed records wait: from its first to its last one; `id` None where no row names it."""

    id: str | None
    producer_id: int
    data: OffsetRange
    transactions: Count
    committed_at: Instant | None
    places: Refs

    @property
    def name(self) -> str:
        """Its id, else its number."""
        return producer_name(self.id, self.producer_id)


@facts
class Waiting:
    """Committed records of a partition at or above its last stable offset; `holder_id` None where no row names it.

    `writers` are those with the most records, at most five of them, in order of offsets; `doubt` why the holder may
    have ended all the same.
    """

    partition: TopicPartition
    last_stable_offset: int
    holder_id: str | None
    holder_producer_id: int
    hidden: OffsetRange
    transactions: Count
    writers: tuple[Writer, ...]
    producers: Count
    evidence_end: Instant | None
    doubt: Doubt | None
    held: Refs
    markers: Refs

    @property
    def names(self) -> NameList:
        """Whose records they are."""
        return NameList(writer.name for writer in self.writers)

    @property
    def more(self) -> Count | None:
        """How many producers are not named."""
        return Count(self.producers - len(self.writers)) or None


def waiting(model: CaptureModel) -> Iterator[Case]:
    """One case for each partition whose last stable offset hides committed records for longer than is common."""
    for one in holders(model):
        spans = committed_behind(one, stands_at(one))
        spans = spans[spans["records"] > 0]
        if len(spans) and (since_of(one) is None or severity_of(one) > Severity.info):
            yield _case(one, spans)


def _case(one: OpenSpan, spans: Array) -> Case:
    told = _facts(one, spans)
    only = told.writers[0] if told.producers == 1 else None
    return Case(
        facts=told,
        verdict=verdict_of(told.doubt),
        severity=min(severity_of(one), Severity.warning),
        transactional_id=only.id if only is not None else None,
        producer_id=only.producer_id if only is not None else None,
        topic=told.partition.topic if told.partition.partition >= 0 else None,
        partition=told.partition.partition if told.partition.partition >= 0 else None,
        first_offset=told.hidden.first_offset,
        last_offset=told.hidden.last_offset,
        since=time_or_none(int(spans["marker_timestamp"].min())),
        until=time_or_none(one.model.facts.evidence_end),
        subjects=() if only is not None else tuple(_subject(writer) for writer in told.writers),
    )


def _facts(one: OpenSpan, spans: Array) -> Waiting:
    model, by_writer = one.model, _by_producer(spans)
    largest = sorted(by_writer, key=lambda rows: -int(rows["records"].sum()))[:MOST_WRITERS]
    writers = sorted((_writer(model, rows) for rows in largest), key=lambda writer: writer.data.first_offset)
    return Waiting(
        partition=one.data.place,
        last_stable_offset=stands_at(one),
        holder_id=one.id,
        holder_producer_id=one.producer_id,
        hidden=_range(model, spans),
        transactions=Count(len(spans)),
        writers=tuple(writers),
        producers=Count(len(by_writer)),
        evidence_end=instant(model.facts.evidence_end),
        doubt=doubt_of(one),
        held=tuple(dict.fromkeys((*one.written, *one.latest_row))),
        markers=tuple(marker_ref(model, row) for row in spans[:2]),
    )


def _by_producer(spans: Array) -> list[Array]:
    """Spans of each producer, in the order of their markers."""
    ordered = spans[np.argsort(spans["producer_id"], kind="stable")]
    return np.split(ordered, np.flatnonzero(np.diff(ordered["producer_id"])) + 1)


def _writer(model: CaptureModel, rows: Array) -> Writer:
    producer_id = int(rows["producer_id"][0])
    code = model.owner_of_producer(producer_id)
    return Writer(
        id=model.transactional_id(code) if code >= 0 else None,
        producer_id=producer_id,
        data=_range(model, rows),
        transactions=Count(len(rows)),
        committed_at=instant(int(rows["marker_timestamp"].max())),
        places=tuple(dict.fromkeys((data_ref(model, rows[0]), marker_ref(model, rows[-1])))),
    )


def _range(model: CaptureModel, rows: Array) -> OffsetRange:
    topic, partition = model.topic_partition(int(rows["partition_code"][0]))
    first, last = int(rows["first_offset"].min()), int(rows["last_offset"].max())
    return OffsetRange(topic, partition, first, last, Count(rows["records"].sum()))


def _subject(writer: Writer) -> Subject:
    data = writer.data
    is_named = data.partition >= 0
    return Subject(
        writer.id,
        writer.producer_id,
        data.topic if is_named else None,
        data.partition if is_named else None,
        data.first_offset,
        data.last_offset,
    )


HOLDER = pick("holder_id", {None: "producer id {holder_producer_id}"}, "{holder_id}")
WAITING_WORDS = Words(
    Waiting,
    title="{hidden.records:committed record} not readable yet: {partition} @ {hidden.first_offset} on",
    summary=(
        "{hidden.records:committed record} of {names:3} in {hidden} {hidden.records:was|were}[ {perhaps}] still hidden "
        "from read_committed readers when the evidence ended[ at {evidence_end}]: "
        "{hidden.records:it lies|they lie} above the last stable offset, {last_stable_offset}, which the transaction "
        "of ",
        HOLDER,
        " holds.",
    ),
    steps=(
        step(
            ("The transaction of ", HOLDER, " holds the last stable offset of {partition} at {last_stable_offset}"),
            cites="held",
        ),
        step(
            "Above it: {each.data.records:record} of {each.name}, {each.data}, of "
            "{each.transactions:committed transaction}[, the last of {each.committed_at}]",
            cites="each.places",
            each="writers",
        ),
        step("And records of {more:other producer}", needs="more"),
    ),
    considered=(
        ruled_out(
            "aborted_by_client",
            "their transactions were committed: COMMIT markers stand behind them",
            cites="markers",
        ),
        ruled_out("lost records", "they are in the log, in order"),
        left_open(
            "a marker that is not in this evidence",
            pick("doubt", WHY),
            decided_by="the leader's whole log of {partition}, and __transaction_state",
            needs="doubt",
        ),
    ),
    remedies=(
        remedy(
            "Do not send the records of {names:3} again: readers get each of them once, in order, as soon as the "
            "transaction that holds the offset ends",
            "application",
        ),
        remedy(
            ("To let readers pass, do what is said of the transaction of ", HOLDER, " for the readers of {partition}"),
            "operator",
        ),
    ),
)
