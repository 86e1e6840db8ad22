"""Rows to events: the objects of a timeline, made one by one of the model's tables.

Grain: one row of a capture's transactions, initialisations or spans.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.events import Expiry, Initialisation, Leftover, LogLine, Marker, Outcome, Part, Transaction
from kafkatx.histories.initialisations import Initialisations, Why
from kafkatx.histories.logs.client_instance import Failure
from kafkatx.histories.sums import Sums
from kafkatx.histories.transaction_partitions import DISPUTED, Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import BEFORE_LOG, LOST_END
from kafkatx.kernels.transactions import AFTER_HOLE, NOTHING, PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.events import Level, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict

MARKER_KINDS = ("ABORT", "COMMIT", None)


@dataclass(frozen=True)
class TimelineEvents:
    """Makes events of one capture's rows."""

    model: CaptureModel
    judged: Initialisations
    amounts: Sums

    def initialisation(self, number: int, instance: int) -> Initialisation | Expiry:
        """Return the event of a row of model.initialisations."""
        row = self.model.initialisations[number]
        why = Why(int(self.judged.why[number]))
        seen = row["previous_state"] >= 0
        at, previous = known(row["timestamp"]), known(row["previous_producer_id"]) if seen else None
        epoch = known(row["previous_epoch"]) if seen else None
        before = int(row["previous_updated_at"]) if seen else -1
        idle = int(row["timestamp"]) - before if before >= 0 else None
        if why is Why.expired:
            return Expiry(at, int(row["offset"]), previous, epoch, idle)
        return Initialisation(
            at,
            int(row["offset"]),
            why,
            Verdict(int(self.judged.verdict[number])),
            instance,
            int(row["producer_id"]),
            int(row["producer_epoch"]),
            int(row["timeout_ms"]),
            previous,
            epoch,
            idle,
            bool(row["previous_state"] != NOTHING and not row["is_contiguous"]),
        )

    def transaction(self, number: int, instance: int) -> Transaction:
        """Return the event of a row of model.transactions."""
        t, ended, amount = self.model.transactions[number], self.model.ends, self.amounts
        epoch = int(ended.data_epoch[number])
        return Transaction(
            row=number,
            instance=instance,
            producer_id=int(t["producer_id"]),
            producer_epoch=known(epoch),
            decision_epoch=known(t["decision_epoch"]),
            completed_producer_id=known(t["completed_producer_id"]),
            completed_epoch=known(t["completion_epoch"]),
            protocol=Protocol(int(ended.protocol[number])),
            outcome=outcome(t),
            ended_by=EndedBy(int(ended.ended_by[number])),
            verdict=Verdict(int(ended.verdict[number])),
            reason=Reason(int(ended.reason[number])),
            started_at=known(t["started_at"]),
            decided_at=known(t["decided_at"]),
            completed_at=known(t["completion_timestamp"]),
            last_marker_at=known(amount.last_marker_at[number]),
            duration_ms=known(ended.duration_ms[number]),
            timeout_ms=known(t["timeout_ms"]),
            begin_offset=known(t["begin_offset"]),
            decision_offset=known(t["decision_offset"]),
            completion_offset=known(t["completion_offset"]),
            rows_missing=bool(rows_missing(t)),
            records=int(amount.records[number]),
            bytes=int(amount.bytes[number]),
            parts=tuple(self._part(part) for part in self.model.parts.of(number)),
        )

    def _part(self, row: Array) -> Part:
        topic, partition = self.model.topic_partition(int(row["partition_code"]))
        data = self.model.spans[int(row["span"])] if row["span"] >= 0 else None
        marker = self.model.spans[int(row["marker"])] if row["marker"] >= 0 else None
        return _part_of(topic, partition, Status(int(row["status"])), data, marker)

    def leftover(self, number: int) -> Leftover:
        """Return the event of a span that no transaction owns."""
        span = self.model.spans[number]
        topic, partition = self.model.topic_partition(int(span["partition_code"]))
        data, marker = span if span["first_offset"] >= 0 else None, span if span["marker_offset"] >= 0 else None
        lost = Status.LOST if span["flags"] & LOST_END else Status.UNMARKED
        status = Status.MARKED if marker is not None else lost
        epoch = span["producer_epoch"] if data is not None else span["marker_epoch"]
        at = known(span["marker_timestamp"]) if marker is not None else known(span["first_timestamp"])
        part = _part_of(topic, partition, status, data, marker)
        return Leftover(
            at, int(span["producer_id"]), known(epoch), bool(self.model.parts.owner[number] == DISPUTED), part
        )

    def line(self, row: int, lines: int) -> LogLine:
        """Return the event of a line of a log."""
        logs = self.model.logs
        event = logs.events[row]
        side, level = Side(int(event["side"])), Level(int(event["level"]))
        return LogLine(
            logs.at(row), logs.path(row), int(event["line"]), logs.kind(row), level, side,
            logs.string(row, "client_id"), lines, self._failures.get(row), row, logs,
        )  # fmt: skip

    @cached_property
    def _failures(self) -> dict[int, Failure]:
        """Failures by the first of their lines."""
        return {failure.row: failure for client in self.model.logs.clients for failure in client.failures}


def _marker_of(span: Array | None) -> Marker | None:
    if span is None or span["marker_offset"] < 0:
        return None
    return Marker(
        int(span["marker_offset"]),
        known(span["marker_timestamp"]),
        MARKER_KINDS[int(span["marker_kind"])],
        int(span["marker_epoch"]),
        known(span["coordinator_epoch"]),
    )


def _part_of(topic: str, partition: int, status: Status, data: Array | None, marker: Array | None) -> Part:
    ended, first = _marker_of(marker), _marker_of(data)
    if data is None:
        return Part(topic, partition, status, None, None, 0, 0, False, ended)
    return Part(
        topic,
        partition,
        status,
        int(data["first_offset"]),
        int(data["last_offset"]),
        int(data["records"]),
        int(data["bytes"]),
        bool(data["flags"] & BEFORE_LOG),
        ended,
        first if first != ended else None,
    )


def outcome(transaction: Array) -> Outcome:
    """What became of a transaction (a row of dtype TRANSACTION)."""
    complete = transaction["completion_offset"] >= 0
    if transaction["decision"] == PREPARE_COMMIT:
        return Outcome.committed if complete else Outcome.committing
    if transaction["decision"] == PREPARE_ABORT:
        return Outcome.aborted if complete else Outcome.aborting
    return Outcome.open if transaction["next_state"] == NOTHING else Outcome.lost


def rows_missing(transactions: Array) -> Any:
    """Whether rows of a transaction are not at hand: one row or many of dtype TRANSACTION.

    Offsets are missing between its rows, or it has no beginning though it wrote, or it ended without a decision.
    """
    t = transactions
    headless = (t["begin_offset"] < 0) & ((t["decision_offset"] < 0) | (t["decision_version"] != 2))
    undecided = (t["decision_offset"] < 0) & ((t["completion_offset"] >= 0) | (t["next_state"] != NOTHING))
    return ((t["flags"] & AFTER_HOLE) != 0) | headless | undecided
