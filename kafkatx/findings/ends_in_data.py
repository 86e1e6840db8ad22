"""Aborted data of which the coordinator has no record: the facts and words that the rules about ends share."""

from __future__ import annotations

from enum import Enum

import numpy as np

from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends import WITNESSED, WROTE, RecordedEnd, end_facts, named, refused_in, witnesses
from kafkatx.findings.grouping import MOST_NAMED
from kafkatx.histories.ended import TransactionEnd, known
from kafkatx.histories.endings import Protocol
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import DAY_MS, TRANSACTION_TIMEOUT_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration
from kafkatx.words.evidence_refs import data_ref, latest_row, marker_ref
from kafkatx.words.explanation import left_open, ruled_out, step
from kafkatx.words.facts import data, instant, lasting
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Producer, Refs

LONG_IDLE_MS = DAY_MS
"""From a day on people suspect an expiry."""
NOT_EXPIRED = ruled_out(
    "transactional_id_expired",
    "the same producer id went on after {idle} without a transaction; an expired id gets a new one",
    cites="before_idle",
    needs="is_long_idle",
)
"""The popular explanation for what fails after idle days, refuted where the same producer id goes on."""


class MarkerEpoch(Enum):
    """The epoch of an ABORT marker beside that of the data, and what COMMIT markers of the producer id show."""

    left_out = 0
    kept = 1
    raised = 2
    raised_in_classic = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFacts(RecordedEnd):
    """Aborted data without a record of the coordinator: those of one producer id."""

    everything: Data
    lost: Count | None
    later_epoch: int | None
    idle: Duration | None
    rolled_back: bool
    epoch: MarkerEpoch
    latest: Refs
    later: Refs
    before_idle: Refs

    @property
    def affected(self) -> Data | None:
        """Data that the summary names: of all of them."""
        return named(self.everything)

    @property
    def took_by_default(self) -> Duration | None:
        """How long it took where only the default timeout can be held against it."""
        return self.took if self.timeout is None else None

    @property
    def shows_epoch(self) -> bool:
        """Whether the markers' epochs were printed."""
        return self.epoch is not MarkerEpoch.left_out

    @property
    def keeps_epoch(self) -> bool:
        """Whether the marker has the epoch of the data."""
        return self.epoch is MarkerEpoch.kept

    @property
    def only_coordinator_raises(self) -> bool:
        """Whether the classic protocol shows itself, under which a client's own abort keeps the epoch."""
        return self.epoch is MarkerEpoch.raised_in_classic

    @property
    def may_be_own(self) -> bool:
        """Whether it may have been run under transactions v2, where every end raises the epoch."""
        return self.epoch is MarkerEpoch.raised and not self.rolled_back and not self.was_alive

    @property
    def needs_length(self) -> bool:
        """Whether only its client can tell how long a transaction needs."""
        return not self.is_possible

    @property
    def is_long_idle(self) -> bool:
        """Whether people would suspect an expiry."""
        return self.idle is not None and self.idle >= LONG_IDLE_MS


def data_facts(group: EndGroup) -> DataFacts:
    """Return the facts of ends that data tell."""
    end, model, spans = group.first, group.model, group.spans
    span, later, before = spans[0], _somebody_came(group), _before(group)
    latest = model.latest_of(model.owner_of_producer(int(span["producer_id"])))
    return DataFacts(
        **end_facts(group),
        at=instant(span["marker_timestamp"]),
        by_data=True,
        producer=Producer(int(span["producer_id"]), known(span["producer_epoch"])),
        data=data(model, [span]),
        began_at=None,
        took=lasting(end.took_ms),
        timeout=lasting(end.client.transaction_timeout_ms if end.client is not None else None),
        was_alive=end.was_alive,
        old_log=refused_in(end),
        witnesses=witnesses(end),
        everything=data(model, list(spans[:MOST_NAMED])),
        lost=Count(spans["records"].sum()) or None,
        later_epoch=int(later["producer_epoch"]) if later is not None else None,
        idle=lasting(int(span["first_timestamp"] - before["last_timestamp"])) if before is not None else None,
        rolled_back="rollback" in end.witnesses,
        epoch=_epoch_of(end, span),
        begin=(),
        written=(data_ref(model, span),),
        markers=(marker_ref(model, span),),
        latest=(latest_row(latest),) if latest is not None else (),
        later=(data_ref(model, later),) if later is not None else (),
        before_idle=(data_ref(model, before),) if before is not None else (),
    )


def _epoch_of(end: TransactionEnd, span: Array) -> MarkerEpoch:
    if span["marker_epoch"] < 0:
        return MarkerEpoch.left_out
    if span["marker_epoch"] == span["producer_epoch"]:
        return MarkerEpoch.kept
    return MarkerEpoch.raised_in_classic if end.protocol is Protocol.classic else MarkerEpoch.raised


def _somebody_came(group: EndGroup) -> Array | None:
    """Without times, what shows that somebody initialised: data two epochs on."""
    span, spans = group.spans[0], group.model.spans
    mine = spans[(spans["producer_id"] == span["producer_id"]) & (spans["records"] > 0)]
    later = mine[mine["producer_epoch"] >= int(span["producer_epoch"]) + 2]
    return later[0] if group.first.took_ms is None and len(later) else None


def _before(group: EndGroup) -> Array | None:
    """The producer id's data before the first of the group."""
    span, spans = group.spans[0], group.model.spans
    mine = spans[spans["producer_id"] == span["producer_id"]]
    before = mine[(mine["last_timestamp"] >= 0) & (mine["last_timestamp"] < span["first_timestamp"])]
    return before[np.argmax(before["last_timestamp"])] if len(before) else None


UNDER_NEXT_EPOCH = (
    WROTE,
    step(
        "The coordinator aborted it[ {took} after its start]",
        pick(
            "epoch",
            {
                MarkerEpoch.left_out: "an ABORT marker follows; its epoch was left out",
                MarkerEpoch.kept: "an ABORT marker with the epoch of the data",
                MarkerEpoch.raised: "its ABORT marker carries the next epoch",
            },
            "its ABORT marker carries the next epoch; COMMIT markers carry the data's own (classic protocol)",
        ),
        cites="markers",
    ),
    step(
        "The id was initialised again later: the epoch of T1 is fenced",
        "data with epoch {later_epoch}",
        cites="later",
    ),
    WITNESSED,
)
"""The coordinator's abort, as markers show it."""
ONLY_TIMES = (
    "the ABORT marker is the same",
    "[; {took} by the client's clock is held against its timeout, {timeout}]",
    f"[; {{took_by_default}} by the client's clock is held against the default timeout, "
    f"{duration(TRANSACTION_TIMEOUT_MS)}]",
)
"""What is left open between a timeout and a new instance."""
OWN_KEEPS_EPOCH = ruled_out(
    "aborted_by_client",
    "a client's own abort keeps the epoch (classic protocol)",
    unless="rolled_back",
    needs="only_coordinator_raises",
)
PERHAPS_OWN = left_open(
    "aborted_by_client",
    "under transactions v2 a client's own abort raises the epoch as well",
    needs="may_be_own perhaps",
    decided_by="the log of the client of {whom} (it logs its own abort since 2.6)",
)
EPOCH_LEFT_OUT = left_open(
    "aborted_by_client",
    "a client's own abort looks the same where the marker's epoch was left out",
    unless="shows_epoch",
    decided_by="the whole line of the ABORT marker",
)
