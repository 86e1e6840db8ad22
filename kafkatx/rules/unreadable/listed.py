"""Committed records that an index of aborted transactions lists as aborted: consumers drop them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.hiding_entries import is_committed
from kafkatx.kernels.growing import Array
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import data_ref, marker_ref, time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant
from kafkatx.words.values import Count, Instant, OffsetRange, Refs, TopicPartition, facts


@facts
class Listed:
    """Committed data of one producer under entries of a .txnindex; the first entry. `id` None where no row names it."""

    id: str | None
    producer_id: int
    partition: TopicPartition
    hidden: OffsetRange
    transactions: Count
    index: str
    first_listed: int
    last_listed: int
    entries: Count
    committed_at: Instant | None
    written: Refs
    markers: Refs


def listed(model: CaptureModel) -> Iterator[Case]:
    """One case for each producer whose committed data in a partition lie under entries of an index."""
    entries = model.hiding_entries
    for code, producer_id in sorted({(int(row["partition_code"]), int(row["producer_id"])) for row in entries}):
        mine = entries[(entries["partition_code"] == code) & (entries["producer_id"] == producer_id)]
        spans = model.spans[model.spans_of(code)]
        spans = spans[is_committed(spans) & (spans["producer_id"] == producer_id)]
        under = (spans["first_offset"][:, None] <= mine["last_offset"]) & (
            spans["last_offset"][:, None] >= mine["first_offset"]
        )
        yield _case(model, mine, spans[under.any(axis=1)])


def _case(model: CaptureModel, entries: Array, spans: Array) -> Case:
    told = _facts(model, entries, spans)
    return Case(
        facts=told,
        verdict=Verdict.proved,
        severity=Severity.error,
        transactional_id=told.id,
        producer_id=told.producer_id,
        topic=told.partition.topic,
        partition=told.partition.partition,
        first_offset=told.hidden.first_offset,
        last_offset=told.hidden.last_offset,
        since=time_or_none(int(spans["marker_timestamp"].min())),
        until=time_or_none(int(spans["marker_timestamp"].max())),
        count=len(spans),
    )


def _facts(model: CaptureModel, entries: Array, spans: Array) -> Listed:
    topic, partition = model.topic_partition(int(spans["partition_code"][0]))
    code, entry = model.owner_of_producer(int(spans["producer_id"][0])), entries[np.argmin(entries["first_offset"])]
    first, last = int(spans["first_offset"].min()), int(spans["last_offset"].max())
    return Listed(
        id=model.transactional_id(code) if code >= 0 else None,
        producer_id=int(spans["producer_id"][0]),
        partition=TopicPartition(topic, partition),
        hidden=OffsetRange(topic, partition, first, last, Count(spans["records"].sum())),
        transactions=Count(len(spans)),
        index=f"{int(entry['base_offset']):020d}.txnindex",
        first_listed=int(entry["first_offset"]),
        last_listed=int(entry["last_offset"]),
        entries=Count(len(entries)),
        committed_at=instant(int(spans["marker_timestamp"].max())),
        written=tuple(data_ref(model, row) for row in spans[:2]),
        markers=tuple(marker_ref(model, row) for row in spans[:2]),
    )


LISTED_WORDS = Words(
    Listed,
    title="{hidden.records:committed record} hidden by a wrong index entry",
    summary="{hidden.records:committed record} in {hidden}[ of {id}] {hidden.records:is|are} hidden from "
    "read_committed readers of this copy: {index} lists producer id {producer_id} as aborted from {first_listed} to "
    "{last_listed}, but the log has a COMMIT marker for {hidden.records:it|them}.",
    steps=(
        step("Producer id {producer_id} wrote {hidden}", cites="written"),
        step(
            "{transactions:transaction} of it {transactions:was|were} committed[, the last at {committed_at}]",
            cites="markers",
        ),
        step(
            "{index} has {entries:wrong entry|wrong entries}: from {first_listed} to {last_listed} aborted",
            "consumers drop what such an entry covers, and take no notice of COMMIT markers",
        ),
    ),
    considered=(
        ruled_out("aborted_by_client", "the marker behind them is a COMMIT", cites="markers"),
        left_open(
            "other replicas, whose index may be right",
            "each broker keeps its own",
            decided_by="kafkatx verify on the directory of {partition} of each replica",
        ),
    ),
    remedies=(
        remedy(
            "Stop the broker, move the .txnindex and the .index of the segment away, and start it: it rebuilds both. "
            "Never do that while it runs. Or let this replica fetch the partition anew from a healthy leader",
            "operator",
            cost="this broker is away for the time of the restart and recovery",
            restart_needed=True,
        ),
        remedy(
            "Then let consumers that passed these offsets read them again: their positions lie behind them",
            "operator",
        ),
    ),
)
