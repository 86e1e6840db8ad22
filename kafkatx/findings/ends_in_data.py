"""Aborted data of which the coordinator has no row: the facts and words that the rules about ends share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafkatx.findings.ends import WITNESSED, EndGroup, Witness, witnesses
from kafkatx.findings.grouping import MOST_NAMED
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import TRANSACTION_TIMEOUT_MS
from kafkatx.terms.times import duration
from kafkatx.words.evidence_refs import data_ref, latest_row, marker_ref
from kafkatx.words.explanation import considered, step
from kafkatx.words.facts import data, lasting
from kafkatx.words.values import Count, Data, Duration, Refs

LONG_IDLE_MS = 86_400_000
"""From a day on people suspect an expiry."""
NOT_EXPIRED = considered(
    "transactional_id_expired",
    "refuted: after {idle} the same producer id goes on; an expired id would have got a new one",
    cites="before_idle",
    needs="is_long_idle",
)
"""The popular explanation for what fails after idle days, refuted where the same producer id goes on."""


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Aborted data without a row: pieces of one producer id, of which the first is explained."""

    id: str | None
    producer_id: int
    epoch: int
    count: Count
    data: Data
    took: Duration | None
    later_epoch: int | None
    idle: Duration | None
    rolled_back: bool
    was_refused: bool
    witnesses: tuple[Witness, ...]
    begin: Refs
    marker: Refs
    latest: Refs
    later: Refs
    before_idle: Refs

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
        id=group.transactional_id,
        producer_id=int(span["producer_id"]),
        epoch=int(span["producer_epoch"]),
        count=group.count,
        data=data(model, list(spans[:MOST_NAMED])),
        took=lasting(end.took_ms),
        later_epoch=int(later["producer_epoch"]) if later is not None else None,
        idle=lasting(int(span["first_timestamp"] - before["last_timestamp"])) if before is not None else None,
        rolled_back="rollback" in end.witnesses,
        was_refused=end.was_alive,
        witnesses=witnesses(end),
        begin=(data_ref(model, span),),
        marker=(marker_ref(model, span),),
        latest=(latest_row(latest),) if latest is not None else (),
        later=(data_ref(model, later),) if later is not None else (),
        before_idle=(data_ref(model, before),) if before is not None else (),
    )


def _somebody_came(group: EndGroup) -> Array | None:
    """Without times, what shows that somebody initialised: data two epochs on."""
    span, spans = group.spans[0], group.model.spans
    mine = spans[(spans["producer_id"] == span["producer_id"]) & (spans["records"] > 0)]
    later = mine[mine["producer_epoch"] >= span["producer_epoch"] + 2]
    return later[0] if group.first.took_ms is None and len(later) else None


def _before(group: EndGroup) -> Array | None:
    """The producer id's data before the first piece."""
    span, spans = group.spans[0], group.model.spans
    mine = spans[spans["producer_id"] == span["producer_id"]]
    before = mine[(mine["last_timestamp"] >= 0) & (mine["last_timestamp"] < span["first_timestamp"])]
    return before[np.argmax(before["last_timestamp"])] if len(before) else None


ABORTED_DATA = "{count:piece} of data of producer id {producer_id} ({data}) {count:was|were} aborted "
WROTE_DATA = step("the producer wrote in a transaction", "transactional batches", cites="begin")
UNDER_NEXT_EPOCH = (
    WROTE_DATA,
    step(
        "[{took} later ]an ABORT under the next epoch ended them",
        "the epoch was raised: the coordinator did it, since the protocol is classic (COMMIT markers have the data's "
        "epoch)",
        cites="marker",
    ),
    step(
        "later data have epoch {later_epoch}: epoch {epoch} is fenced",
        "two epochs on means that somebody initialised the id; whether a timeout came first is not in the text",
        cites="later",
    ),
    WITNESSED,
)
"""The coordinator's abort, as markers show it."""
ONLY_TIMES = (
    f"not refuted: the client's own time and its default timeout ({duration(TRANSACTION_TIMEOUT_MS)}) are all there is"
)
OWN_KEEPS_EPOCH = considered(
    "aborted_by_client", "a client's own abort keeps the epoch under the classic protocol", unless="rolled_back"
)
