"""One line about each timeline: counts and spans of time, by array expressions.

Grain: one timeline.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.timeline import Timeline
from kafkatx.histories.timeline_rows import FOREVER, INITIALISATION, LEFTOVER, LINE, TRANSACTION
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.spans import OPEN
from kafkatx.kernels.transactions import PREPARE_ABORT, PREPARE_COMMIT, TOMBSTONE
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Overview:
    """What a timeline amounts to. Times in milliseconds, None where unknown; `ended_by` counts aborts by ender.

    `unended`: decided, and not complete; `open`: not decided and nothing follows (for a nameless producer: data without
    a marker).
    """

    instances: int
    transactions: int
    committed: int
    aborted: int
    unended: int
    open: int
    leftovers: int
    ended_by: dict[str, int]
    protocols: tuple[Protocol, ...]
    records: int
    bytes: int
    shortest_ms: int | None
    median_ms: int | None
    longest_ms: int | None
    first_epoch: int | None
    last_epoch: int | None
    first_at: int | None
    last_at: int | None


def overview(timeline: Timeline) -> Overview:
    """Count what a timeline holds."""
    items, rows = timeline.items, timeline.transactions
    model, amount = timeline.model, timeline.book.sums
    t, ended_by = model.transactions[rows], model.ends.ended_by[rows]
    spans = model.spans[items["row"][items["kind"] == LEFTOVER]]
    complete = t["completion_offset"] >= 0
    aborts = ended_by[t["decision"] == PREPARE_ABORT]
    duration = model.ends.duration_ms[rows]
    duration = np.sort(duration[duration >= 0])
    first_epoch, last_epoch = _epochs(timeline)
    first_at, last_at = _times(timeline)
    named = timeline.transactional_id is not None
    told = items["instance"][items["kind"] != LINE]
    return Overview(
        instances=int(told.max() - told.min()) + 1 if named and len(told) else 0,
        transactions=len(rows),
        committed=int(np.count_nonzero(complete & (t["decision"] == PREPARE_COMMIT))),
        aborted=int(np.count_nonzero(complete & (t["decision"] == PREPARE_ABORT))),
        unended=int(np.count_nonzero(~complete & (t["decision"] >= 0))),
        open=len(timeline.open_transactions) + (0 if named else int(np.count_nonzero(spans["flags"] & OPEN))),
        leftovers=len(spans),
        ended_by={EndedBy(by).name: int(np.count_nonzero(aborts == by)) for by in distinct(aborts).tolist()},
        protocols=tuple(
            Protocol(value) for value in distinct(model.ends.protocol[rows]).tolist() if value != Protocol.unknown
        ),
        records=int(amount.records[rows].sum()) + int(spans["records"].sum()),
        bytes=int(amount.bytes[rows].sum()) + int(spans["bytes"].sum()),
        shortest_ms=int(duration[0]) if len(duration) else None,
        median_ms=int(duration[len(duration) // 2]) if len(duration) else None,
        longest_ms=int(duration[-1]) if len(duration) else None,
        first_epoch=first_epoch,
        last_epoch=last_epoch,
        first_at=first_at,
        last_at=last_at,
    )


def _epochs(timeline: Timeline) -> tuple[int | None, int | None]:
    """Epoch of the first item that has one, and of the id's latest row (of the last item where there is none)."""
    items, model, latest = timeline.items, timeline.model, timeline.latest
    epochs = np.full(len(items), -1, np.int64)
    of_init, of_span = items["kind"] == INITIALISATION, items["kind"] == LEFTOVER
    epochs[of_init] = model.initialisations["producer_epoch"][items["row"][of_init]]
    epochs[of_span] = model.spans["producer_epoch"][items["row"][of_span]]
    epochs[items["kind"] == TRANSACTION] = model.ends.data_epoch[timeline.transactions]
    known = epochs[epochs >= 0]
    first = int(known[0]) if len(known) else None
    if latest is not None and latest["state"] != TOMBSTONE:
        return first, int(latest["producer_epoch"])
    return first, int(known[-1]) if len(known) else None


def _times(timeline: Timeline) -> tuple[int | None, int | None]:
    begins, ends = timeline.items["at"], timeline.items["until"]
    known = begins[begins >= 0]
    newest = np.where(ends == FOREVER, begins, ends).max()
    return (int(known.min()) if len(known) else None), (int(newest) if newest >= 0 else None)
