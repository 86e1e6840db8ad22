"""A former transaction coordinator sent a marker when another broker had taken over: it was refused, or written.

Mechanism    A broker that lost the leadership of a partition of `__transaction_state` may still have markers to send. A
             partition's leader compares their coordinator epoch with the newest that it saw for that producer and
             refuses older ones. The new coordinator sends the markers itself. A leader that lost what it knew of the
             producer takes such a marker, and it ends a transaction that nobody had asked to end.
Evidence     the leader's line "Invalid coordinator epoch for producerId ...: 3 (zombie), 5 (current)"; in data, a
             marker with a lower coordinator epoch than an earlier one of the same producer id in the same partition.
Against      an abort by an operator, whose coordinator epoch is 0 or -1; markers of different producer ids.
Look-alikes  inconsistent_transaction_state (a refusal that failed); an ordinary change of coordinators.
Remedy       refused: none for the data, the fence worked. Written: compare with the rows of the id, and send aborted
             records again. Many of them: look for a split network or sessions that expire.
Source       ProducerAppendInfo.checkCoordinatorEpoch (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.grouping import columns_of
from kafkatx.findings.refused_writes import owner_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.data_endings import is_of_former_coordinator
from kafkatx.histories.ended import known
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import data_ref, marker_ref, time_or_none
from kafkatx.words.explanation import Words, remedy, ruled_out, step
from kafkatx.words.facts import offsets
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, OffsetRange, Producer, Refs, TopicPartition, facts


@facts
class Facts:
    """Markers of former coordinators that leaders refused; epochs and place of the first."""

    producer_id: int | None
    place: TopicPartition | None
    old: int | None
    new: int | None
    count: Count
    lines: Refs


@facts
class Written:
    """A marker of a former coordinator that a partition holds; `data` are what it ended, `new` the epoch before it."""

    id: str | None
    producer: Producer
    data: OffsetRange
    is_abort: bool
    old: int
    new: int
    markers: Refs
    ended: Refs


def find(model: CaptureModel) -> Found:
    """One case for each producer id that leaders tell of; then each marker that data show."""
    yield from _refused(model)
    spans = model.spans
    for number in np.flatnonzero(is_of_former_coordinator(spans) & (spans["coordinator_epoch"] > 0)).tolist():
        span = spans[number]
        before = spans[spans["marker_offset"] == span["previous_marker_offset"]]
        before = before[before["partition_code"] == span["partition_code"]]
        is_known = len(before) == 1 and span["first_offset"] >= 0
        if is_known and span["marker_epoch"] >= before["marker_epoch"][0]:  # else another producer got the id anew
            yield _in_data(model, span, before[0])


def _in_data(model: CaptureModel, span: Array, before: Array) -> Case:
    told = Written(
        id=owner_of(model, int(span["producer_id"])),
        producer=Producer(int(span["producer_id"]), known(span["producer_epoch"])),
        data=offsets(model, span),
        is_abort=bool(span["marker_kind"] == ABORT),
        old=int(span["coordinator_epoch"]),
        new=int(before["coordinator_epoch"]),
        markers=(marker_ref(model, before), marker_ref(model, span)),
        ended=(data_ref(model, span),),
    )
    return Case(
        facts=told,
        verdict=Verdict.likely,
        severity=Severity.error if told.is_abort else Severity.warning,
        transactional_id=told.id,
        producer_id=told.producer.id,
        producer_epoch=told.producer.epoch,
        since=time_or_none(int(before["marker_timestamp"])),
        until=time_or_none(int(span["marker_timestamp"])),
        **columns_of(told.data),
    )


def _refused(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    producers: dict[int | None, list[int]] = {}
    for row in logs.of_kind(EventKind.zombie_coordinator).tolist():
        producers.setdefault(logs.number(row, "producer_id"), []).append(row)
    for producer_id, rows in producers.items():
        yield _case(model, producer_id, rows)


def _case(model: CaptureModel, producer_id: int | None, rows: list[int]) -> Case:
    logs, first = model.logs, rows[0]
    topic, number = logs.string(first, "topic"), logs.number(first, "partition")
    since, until = times_of(logs, rows)
    return Case(
        facts=Facts(
            producer_id=producer_id,
            place=TopicPartition(topic, number) if topic is not None and number is not None else None,
            old=logs.number(first, "producer_epoch"),
            new=logs.number(first, "other_epoch"),
            count=Count(len(rows)),
            lines=event_refs(model, rows, 4),
        ),
        verdict=Verdict.proved,
        severity=Severity.info,
        producer_id=producer_id,
        topic=only(logs.string(row, "topic") for row in rows),
        partition=only(logs.number(row, "partition") for row in rows),
        since=since,
        until=until,
        count=len(rows),
    )


WORDS = Words(
    Facts,
    title="a marker of a former coordinator was refused",
    summary="The leader[ of {place}] refused {count:marker}[ for producer {producer_id}] of a broker that was no "
    "longer the coordinator. No data are harmed: the new coordinator sends its own.",
    steps=(
        step(
            "The marker carried coordinator epoch {old}, the leader had seen {new}",
            "the line names both epochs",
            needs="lines",
        ),
        step("The leader refused it", cites="lines"),
    ),
    considered=(ruled_out("atomicity_violation", "the marker was not written"),),
    remedies=(
        remedy(
            "Nothing to do for the data. If it comes often, find out why brokers lose leadership without noticing",
            "operator",
        ),
    ),
)

WORDS_OF_DATA = Words(
    Written,
    title="a former coordinator ended a transaction",
    summary=(
        "A broker that was no longer the coordinator[ of {id}][ {perhaps}] ",
        pick("is_abort", {True: "aborted"}, "committed"),
        " {data} of {producer}: its marker carries coordinator epoch {old}, an earlier one {new}.",
    ),
    steps=(
        step("A marker of the producer had carried coordinator epoch {new}", cites="markers"),
        step("The producer wrote {data} after that", cites="ended"),
        step(
            "The marker behind it carries coordinator epoch {old}",
            "coordinator epochs of one producer never fall",
            cites="markers",
        ),
    ),
    considered=(
        ruled_out("aborted_by_client", "its coordinator would have sent the newer epoch", needs="is_abort"),
        ruled_out("an operator's abort", "it carries the epoch that the partition knows, or 0"),
    ),
    remedies=(
        remedy(
            "See what __transaction_state says of that transaction. If it was committed, send its records again",
            "application",
            needs="is_abort",
        ),
        remedy("Find out why the former coordinator did not notice that it had lost its partition", "operator"),
    ),
)

RULE = Rule(find=find, words=(WORDS, WORDS_OF_DATA), depth=2, decided_by=(Side.broker,))
