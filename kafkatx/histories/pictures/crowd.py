"""All ids of a capture at a glance: how much each did, how long it took, which share was aborted or is open, and when.

Grain: one capture; an id is a row, however many transactions it ran.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.overview import Overview, overview
from kafkatx.histories.timeline import Book, Timeline
from kafkatx.histories.timeline_rows import FOREVER, LEFTOVER, TRANSACTION
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, OPEN
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.records import dataclass

PARTS = 40
"""Parts of the time of a capture over which the share of aborts is shown."""


@dataclass(frozen=True, slots=True)
class Member:
    """An id, or a producer id without one.

    `begun` and `aborted` count transactions by the part of the capture's time in which they began, `open` those that
    had not ended in each part: from the one in which they began to the last. `oldest_open` is when the oldest of them
    began, in milliseconds of the brokers' clocks.
    """

    transactional_id: str | None
    producer_ids: tuple[int, ...]
    overview: Overview
    begun: tuple[int, ...]
    aborted: tuple[int, ...]
    open: tuple[int, ...]
    oldest_open: int | None


@dataclass(frozen=True, slots=True)
class Crowd:
    """The ids of a capture; `since` and `until` are the ends of the time that is parted (None: no time is known).

    It ends with the evidence where a transaction is open, for that one goes on until then.
    """

    members: tuple[Member, ...]
    since: int | None
    until: int | None


def crowd(book: Book) -> Crowd:
    """Look at every id of a capture."""
    items, model = book.items.rows, book.model
    told = items[np.isin(items["kind"], (TRANSACTION, LEFTOVER)) & (items["at"] >= 0)]
    since, until = (int(told["at"].min()), int(told["at"].max())) if len(told) else (None, None)
    if until is not None and np.any(told["until"] == FOREVER):
        until = max(until, model.facts.evidence_end)
    is_abort = {
        TRANSACTION: model.transactions["decision"] == PREPARE_ABORT,
        LEFTOVER: (model.spans["marker_offset"] >= 0) & (model.spans["marker_kind"] == ABORT),
    }
    is_open = {
        TRANSACTION: model.transactions["completion_offset"] < 0,
        LEFTOVER: (model.spans["flags"] & OPEN) != 0,
    }
    return Crowd(tuple(_member(one, is_abort, is_open, since, until) for one in book.timelines()), since, until)


def _member(
    timeline: Timeline,
    is_abort: dict[int, Array],
    is_unmarked: dict[int, Array],
    since: int | None,
    until: int | None,
) -> Member:
    """An id by its rows, a producer without one by its data."""
    begun, aborted, still_open = np.zeros((3, PARTS), np.int64)
    oldest = None
    if since is not None and until is not None:
        kind = TRANSACTION if len(timeline.transactions) else LEFTOVER
        items = timeline.items[(timeline.items["kind"] == kind) & (timeline.items["at"] >= 0)]
        parts = (items["at"] - since) * PARTS // (until - since + 1)
        np.add.at(begun, parts, 1)
        is_open = (items["until"] == FOREVER) & is_unmarked[kind][items["row"]]
        np.add.at(still_open, parts[is_open], 1)
        oldest = int(items["at"][is_open].min()) if is_open.any() else None
        np.add.at(aborted, parts[is_abort[kind][items["row"]]], 1)
    return Member(
        timeline.transactional_id,
        tuple(timeline.producer_ids),
        overview(timeline),
        tuple(begun.tolist()),
        tuple(aborted.tolist()),
        tuple(np.cumsum(still_open).tolist()),
        oldest,
    )
