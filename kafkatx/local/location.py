"""What is at an offset of this machine's evidence: record, batch, writer, transaction, and who sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.directories import Partition
from kafkatx.evidence.item import Item, Kind
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.events import Leftover, Transaction
from kafkatx.histories.location import Location, Locations, RecordFacts, StateFacts
from kafkatx.histories.timeline import book_of
from kafkatx.histories.timeline_rows import TRANSACTION
from kafkatx.histories.visibility import Sight, Visibility, span_at, visibility
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.local.batch_at import MAGIC, Held, batch_at, batch_facts, record_at, unlisted_in
from kafkatx.local.state_row import state_row
from kafkatx.stages.models import JudgedCapture, build_models, open_evidence
from kafkatx.terms.errors import NothingReadableError, UsageError
from kafkatx.terms.progress import Progress
from kafkatx.terms.regex import regex
from kafkatx.terms.topics import TRANSACTION_STATE, UNNAMED

PLACE = regex(r"(?P<topic>.+)-(?P<partition>\d{1,10})[:@](?P<offset>\d{1,19})", re.DOTALL)


class NoSuchPartitionError(NothingReadableError):
    """The partition asked for is not in the evidence; `locations` has what was covered."""

    def __init__(self, text: str, locations: Locations) -> None:
        super().__init__(text)
        self.locations = locations


def parse_place(text: str) -> tuple[str, int, int]:
    """Return topic, partition and offset of `orders-0:118` or `orders-0@118`; raises UsageError for another form."""
    place = PLACE.fullmatch(text)
    if place is None:
        raise UsageError(f"{text!r} names no offset; write it as TOPIC-PARTITION:OFFSET, like orders-0:118")
    return place["topic"], int(place["partition"]), int(place["offset"])


def locate(
    paths: str | Path | Iterable[str | Path],
    place: str | tuple[str, int, int],
    *,
    show_payloads: bool = False,
    as_of: int | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
) -> Locations:
    """Say what is at an offset: `place` is `orders-0:118` (or a tuple of topic, partition, offset).

    Keys and values are only returned with `show_payloads`; the other options are those of `diagnose`. Raises UsageError
    for a path that does not exist or a place of another form, and NoSuchPartitionError (a NothingReadableError) where
    the evidence has no segment of it.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    topic, partition, offset = parse_place(place) if isinstance(place, str) else place
    result = Locations(topic, partition, offset)
    evidence = open_evidence(paths, captures)
    reading: dict[str, Any] = {"as_of": as_of, "verify_all": verify_all, "progress": progress, "release": release}
    reading |= {"log_zone_ms": log_zone_ms, "log": cache(evidence.log)}
    for capture in evidence.captures:
        segments = capture.segments()
        if (topic, partition) in segments:
            told = _told(capture, (topic, partition), offset, reading)
            result.coverage.extend(told.coverage)
            items = [item for _, item in segments[topic, partition]]
            result.found.append(_Place(told, items, (topic, partition), offset, show_payloads).location())
    if not result.found:
        result.coverage.extend(coverage_of(None, item, None) for item in evidence.others)
        raise NoSuchPartitionError(_unknown(evidence.captures, topic, partition), result)
    return result


def _unknown(captures: list[Capture], topic: str, partition: int) -> str:
    known = sorted({key for capture in captures for key in capture.segments()})
    named = [key for key in known if key[0] != UNNAMED]
    near = [f"{name}-{number}" for name, number in [key for key in named if key[0] == topic] or named]
    nothing = "it holds a log, but nothing names its topic" if known else "it holds no log segment"
    held = f"it holds {', '.join(near[:8])}{' and more' if len(near) > 8 else ''}" if near else nothing
    return f"no segment of {topic}-{partition} is in the evidence; {held}"


def _told(capture: Capture, key: Partition, offset: int, reading: dict[str, Any]) -> JudgedCapture:
    """The model of the partition and the coordinator's log; then once more with all partitions of the transaction."""
    wanted = {key, *(other for other in capture.segments() if other[0] == TRANSACTION_STATE)}
    (told,) = build_models([_restricted(capture, wanted)], **reading)
    others = _partitions_of_transaction(told.model, key, offset) & set(capture.segments())
    if others <= wanted:
        return told
    (told,) = build_models([_restricted(capture, wanted | others)], **reading)
    return told


def _restricted(capture: Capture, wanted: set[Partition]) -> Capture:
    """The capture with these partitions' files only (and the files of the directories themselves)."""

    def is_wanted(item: Item) -> bool:
        return item.folder is None or (item.folder.topic, item.folder.partition) in wanted

    directories = [
        replace(found, items=[item for item in found.items if is_wanted(item)]) for found in capture.directories
    ]
    return replace(capture, directories=directories)


def _partitions_of_transaction(model: CaptureModel, key: Partition, offset: int) -> set[Partition]:
    """Partitions of the transactions whose row, data or marker stand at an offset."""
    numbers = (
        _transactions_with_row(model, key[1], offset) if key[0] == TRANSACTION_STATE else _owners(model, key, offset)
    )
    parts = model.parts.rows
    return {
        model.topic_partition(int(code))
        for code in distinct(parts["partition_code"][np.isin(parts["transaction"], numbers)])
    }


def _owners(model: CaptureModel, key: Partition, offset: int) -> list[int]:
    """Rows of the transactions that own the data or the marker at an offset."""
    codes = [code for code, log_extent in model.log_extents.items() if (log_extent.topic, log_extent.partition) == key]
    rows = model.spans_of(codes[0]) if codes else np.zeros(0, np.int64)
    spans = model.spans[rows]
    inside = (spans["first_offset"] <= offset) & (spans["last_offset"] >= offset)
    owners = model.parts.owner[rows[inside | (spans["marker_offset"] == offset)]]
    return [int(owner) for owner in distinct(owners) if owner >= 0]


def _transactions_with_row(model: CaptureModel, state_partition: int, offset: int) -> list[int]:
    """Rows of the transactions between whose first and last coordinator row an offset lies (of any id)."""
    t = model.transactions
    first = np.where(t["begin_offset"] >= 0, t["begin_offset"], t["decision_offset"])
    first = np.where(first >= 0, first, t["completion_offset"])
    followed = np.where(t["next_offset"] >= 0, t["next_offset"] - 1, offset)
    last = np.where(t["completion_offset"] >= 0, t["completion_offset"], followed)
    inside = (t["state_partition"] == state_partition) & (first <= offset) & (offset <= last)
    return [int(number) for number in np.flatnonzero(inside)]


class _Place:
    """An offset of one capture in work."""

    def __init__(
        self, told: JudgedCapture, items: list[Item], key: Partition, offset: int, show_payloads: bool
    ) -> None:
        self.told, self.model, self.items = told, told.model, items
        self.key, self.offset, self.show_payloads = key, offset, show_payloads
        self.log_extent = self._horizon()
        self.book = book_of(told.model)

    def location(self) -> Location:
        """Put together what the files and the model say."""
        held = batch_at(self.items, self.offset)
        record = self._record(held)
        row = held.row if held.row is not None and (record is not None or held.row["magic"] == MAGIC) else None
        is_there = record is not None or (row is not None and (bool(held.problems) or held.is_printed))
        seen = visibility(self.model, self.log_extent, self.offset, row, is_there)
        decoded = state_row(record) if record is not None and self.key[0] == TRANSACTION_STATE else None
        name, transaction, leftover = self._writer(row, decoded)
        holder, holder_name = self._holder(seen)
        return Location(
            capture=self.told.capture.name,
            cluster_id=self.told.capture.cluster_id,
            topic=self.key[0],
            partition=self.key[1],
            offset=self.offset,
            log_start=self.log_extent.log_start,
            log_end=self.log_extent.log_end,
            high_watermark=self.log_extent.high_watermark if self.log_extent.high_watermark >= 0 else None,
            copies=() if row is None else tuple(held.copies),
            batch=None if row is None else batch_facts(row),
            record=self._without_payload(record),
            state_row=decoded,
            transactional_id=name,
            transaction=transaction,
            leftover=leftover,
            visibility=seen,
            holder=holder,
            holder_name=holder_name,
            before=held.before,
            behind=held.behind,
            unlisted_in=self._unlisted_in(seen),
            problems=tuple(held.problems),
        )

    def _holder(self, seen: Visibility) -> tuple[Leftover | None, str | None]:
        """The open transaction that holds an offset back, and its transactional.id."""
        if seen.holder is None:
            return None, None
        holder = self.book.teller.leftover(seen.holder)
        return holder, self._name(holder.producer_id)

    def _record(self, held: Held) -> RecordFacts | None:
        """The record, with its payload only where it is needed to decode it or asked for."""
        payload = self.show_payloads or self.key[0] == TRANSACTION_STATE
        return record_at(held.copies[0], self.offset, payload, held.problems) if held.copies else None

    def _without_payload(self, record: RecordFacts | None) -> RecordFacts | None:
        if record is None or self.show_payloads:
            return record
        return replace(record, key=None, value=None, headers=None)

    def _writer(
        self, row: Array | None, decoded: StateFacts | None
    ) -> tuple[str | None, Transaction | None, Leftover | None]:
        """The writer's transactional.id, and the transaction that the record belongs to (else what is left over)."""
        if decoded is not None:
            return decoded.transactional_id, self._transaction_of_row(decoded.transactional_id), None
        if row is None or row["producer_id"] < 0:
            return None, None, None
        span = span_at(self.model, self.log_extent.partition_code, self.offset, row)
        transaction, leftover = self._event(span) if span is not None else (None, None)
        if transaction is None:
            return self._name(int(row["producer_id"])), None, leftover
        return self.model.transactional_id(int(self.model.transactions["id_code"][transaction.row])), transaction, None

    def _transaction_of_row(self, name: str | None) -> Transaction | None:
        """The transaction that a row of the coordinator's log is part of."""
        for number in _transactions_with_row(self.model, self.key[1], self.offset):
            if self.model.transactional_id(int(self.model.transactions["id_code"][number])) == name:
                return self._told_transaction(number)
        return None

    def _event(self, span: int) -> tuple[Transaction | None, Leftover | None]:
        """The transaction that owns a span, else the span itself."""
        owner = int(self.model.parts.owner[span])
        return (self._told_transaction(owner), None) if owner >= 0 else (None, self.book.teller.leftover(span))

    def _told_transaction(self, number: int) -> Transaction:
        items = self.book.items.rows
        mine = items[(items["kind"] == TRANSACTION) & (items["row"] == number)]
        return self.book.teller.transaction(number, int(mine["instance"][0]))

    def _name(self, producer_id: int) -> str | None:
        code = self.model.owner_of_producer(producer_id)
        return self.model.transactional_id(code) if code >= 0 else None

    def _unlisted_in(self, seen: Visibility) -> tuple[str, ...]:
        """Indexes of aborted transactions that should list the abort and don't: brokers go by them."""
        if seen.sight is not Sight.aborted:
            return ()
        items = self.told.capture.entries(Kind.TXNINDEX).get(self.key, [])
        return tuple(unlisted_in(items, self.offset, -1 if seen.marker_offset is None else seen.marker_offset))

    def _horizon(self) -> LogExtent:
        """How far the partition reaches; that of a coordinator's log is put together of what is known of it."""
        for log_extent in self.model.log_extents.values():
            if (log_extent.topic, log_extent.partition) == self.key:
                return log_extent
        state = self.model.state_log_extents.get(self.key[1])
        start = min((max(0, item.base_offset) for item in self.items), default=0)
        end = state.log_end if state is not None and state.log_end >= 0 else start
        newest = state.newest if state is not None else -1
        return LogExtent(
            partition_code=-1,
            topic=self.key[0],
            partition=self.key[1],
            log_start=start,
            log_end=end,
            high_watermark=-1,
            first_dirty=state.first_dirty if state is not None else -1,
            copies=1,
            is_compacted=True,
            has_gaps=False,
            is_torn=bool(state and state.is_torn),
            first_timestamp=-1,
            newest=newest,
            broker_time=newest,
            plain_records=0,
            highest_epoch=-1,
            highest_epoch_producer=-1,
            highest_epoch_offset=-1,
        )
