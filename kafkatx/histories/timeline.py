"""Timelines: what each transactional.id did, as events in order. Endings and participations are taken as decided.

Grain: one capture. A timeline makes its objects when it is walked, so a summary of a million ids makes none.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.histories.endings import Protocol
from kafkatx.histories.events import Event, Idle, ProtocolChange, RowsMissing
from kafkatx.histories.initialisations import Initialisations, initialisations
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.sums import Sums, sums
from kafkatx.histories.timeline_events import TimelineEvents
from kafkatx.histories.timeline_rows import (
    FOREVER,
    INITIALISATION,
    LEFTOVER,
    LINE,
    TRANSACTION,
    Items,
    Wanted,
    items_of,
)
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import NOTHING
from kafkatx.terms.records import dataclass

IDLE_WORTH_TELLING_MS = 10_000
IDLE_TIMES_MEDIAN = 10
"""A pause is told when it is this long, and this many times the usual pause of the id."""


@dataclass(frozen=True, slots=True)
class Book:
    """All timelines of a capture: one for each transactional.id, then one for each producer id that no row names."""

    model: CaptureModel
    initialisations: Initialisations
    sums: Sums
    items: Items
    teller: TimelineEvents

    def timelines(self) -> Iterator[Timeline]:
        """Yield them by name, then the nameless by producer id."""
        groups, first = np.unique(self.items.rows["group"], return_index=True)
        bounds = np.append(first, len(self.items.rows)).tolist()
        names = [self._name(int(group)) for group in groups]
        order = sorted(range(len(groups)), key=lambda at: (names[at] is None, names[at] or "", int(groups[at])))
        for at in order:
            yield Timeline(self, int(groups[at]), names[at], self.items.rows[bounds[at] : bounds[at + 1]])

    def _name(self, group: int) -> str | None:
        return self.model.transactional_id(group) if group < self.items.ids else self.items.name(group)

    def __len__(self) -> int:
        return len(distinct(self.items.rows["group"]))


def book_of(model: CaptureModel, wanted: Wanted | None = None) -> Book:
    """Put everything that happened in a capture in order, by transactional.id."""
    judged, amounts = initialisations(model), sums(model)
    items = items_of(model, judged.why, wanted or Wanted())
    return Book(model, judged, amounts, items, TimelineEvents(model, judged, amounts))


class Timeline:
    """What one transactional.id did (None: a producer id of which no row tells the transactional.id)."""

    def __init__(self, book: Book, group: int, transactional_id: str | None, items: Array) -> None:
        self.book, self.items, self.transactional_id = book, items, transactional_id
        self.model, self._group = book.model, group

    @cached_property
    def transactions(self) -> Any:
        """Rows of its transactions in the model's table."""
        return self.items["row"][self.items["kind"] == TRANSACTION]

    @cached_property
    def open_transactions(self) -> Any:
        """Rows of its transactions that are not decided, and that no row of the id follows."""
        t = self.model.transactions[self.transactions]
        return self.transactions[(t["decision"] < 0) & (t["next_state"] == NOTHING)]

    @cached_property
    def latest(self) -> Array | None:
        """The latest row of the id (dtype LATEST), whatever was asked for."""
        return self.model.latest_of(self._group) if self.transactional_id is not None else None

    @cached_property
    def producer_ids(self) -> list[int]:
        """Producer ids it had, in order."""
        if self.transactional_id is None:
            return [int(self.book.items.strangers[self._group - self.book.items.ids])]
        if self.book.items.name(self._group) is not None:
            clients = self.model.logs.clients_of(self.transactional_id)
            return sorted(set().union(*(client.producer_ids for client in clients)))
        rows = self.items["row"][self.items["kind"] == INITIALISATION]
        t, inits, latest = self.model.transactions[self.transactions], self.model.initialisations[rows], self.latest
        last = [] if latest is None else [int(latest["producer_id"])]
        found = [
            *inits["producer_id"].tolist(),
            *t["producer_id"].tolist(),
            *t["completed_producer_id"].tolist(),
            *last,
        ]
        return sorted({producer for producer in found if producer >= 0})

    @cached_property
    def clocks(self) -> list[tuple[int, Clock]]:
        """Sources of its lines, by number, with how their clocks lie to the brokers'."""
        logs = self.model.logs
        rows = self.items["row"][self.items["kind"] == LINE]
        return [(source, logs.clocks[source]) for source in distinct(logs.events["source"][rows]).tolist()]

    @property
    def state_partition(self) -> int | None:
        """The partition of `__transaction_state` that holds its rows."""
        return None if self.latest is None else int(self.latest["state_partition"])

    def events(self) -> Iterator[Event]:
        """Yield everything in order, one by one."""
        for at in range(len(self.items)):
            yield from self.notes(at)
            yield self.event(at)

    def notes(self, at: int) -> Iterator[Event]:
        """Yield what is to be said before item `at`: rows that are missing, a pause, another protocol."""
        item, before = self.items[at], int(self.idle_since[at])
        if self.transactional_id is not None and item["is_headless"]:
            yield self._missing_before()
        if before >= 0:
            yield Idle(before, int(item["at"]))
        if self.protocol_before[at] != Protocol.unknown:
            now = self.model.ends.protocol[item["row"]]
            yield ProtocolChange(known(item["at"]), Protocol(int(self.protocol_before[at])), Protocol(int(now)))

    def event(self, at: int) -> Event:
        """Return the event behind item `at`."""
        row, instance = int(self.items["row"][at]), int(self.items["instance"][at])
        if self.items["kind"][at] == TRANSACTION:
            return self.book.teller.transaction(row, instance)
        if self.items["kind"][at] == LINE:
            return self.book.teller.line(row, int(self.items["lines"][at]))
        return (
            self.book.teller.leftover(row)
            if self.items["kind"][at] == LEFTOVER
            else self.book.teller.initialisation(row, instance)
        )

    @cached_property
    def idle_since(self) -> Array:
        """For each item the time since when nothing had happened before it, -1 where that is not worth telling."""
        begins, ends = self.items["at"], self.items["until"]
        before = np.maximum.accumulate(np.where(ends == FOREVER, begins, ends))[:-1]
        length = begins[1:] - before
        usual = np.median(length[length > 0]) if np.count_nonzero(length > 0) > 4 else 0
        told = (length >= IDLE_WORTH_TELLING_MS) & (length >= IDLE_TIMES_MEDIAN * usual) & (before >= 0)
        return np.concatenate(([-1], np.where(told, before, -1)))

    @cached_property
    def protocol_before(self) -> Array:
        """For each item at which the protocol changes the one before it, Protocol.unknown for all others."""
        is_transaction = self.items["kind"] == TRANSACTION
        protocol = np.full(len(self.items), int(Protocol.unknown))
        protocol[is_transaction] = self.model.ends.protocol[self.transactions]
        known = np.flatnonzero(protocol != Protocol.unknown)
        changed = np.flatnonzero(np.diff(protocol[known])) + 1
        before = np.full(len(self.items), int(Protocol.unknown))
        before[known[changed]] = protocol[known[changed - 1]]
        return before

    def _missing_before(self) -> RowsMissing:
        log_extent = self.model.state_log_extents.get(self.state_partition if self.state_partition is not None else -1)
        return RowsMissing(
            known(self.items["at"][0]), bool(log_extent and (log_extent.first_dirty > 0 or log_extent.first_offset > 0))
        )
