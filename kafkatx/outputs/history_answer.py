"""What became of a transactional.id, in one line: the answer that stands before its timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import LogLine
from kafkatx.histories.overview import Overview
from kafkatx.histories.timeline import Timeline
from kafkatx.histories.timeline_rows import LEFTOVER, LINE
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, LOST_END, OPEN
from kafkatx.kernels.transactions import PREPARE_ABORT, TOMBSTONE
from kafkatx.outputs.history_words import ENDERS, PERHAPS, capital
from kafkatx.terms.catalogue.loading import event_words
from kafkatx.terms.events import Level
from kafkatx.terms.times import clock, duration, iso
from kafkatx.terms.topics import UNNAMED
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.log_refs import failure_phrase
from kafkatx.words.plurals import plural

MOST_NAMED = 3
"""Partitions without a marker that one line names."""


def became(timeline: Timeline, found: Overview, evidence_end: int) -> str:
    """Say in one line what became of an id: what is not ended first, then the counts; by logs alone the last failure.

    `2 transactions committed, 1 aborted by the start of a new instance`.
    """
    latest = timeline.latest
    parts = [*_unmarked(timeline), *_open(timeline, evidence_end)]
    if found.unended:
        parts.append(f"{plural(found.unended, 'transaction')} decided and not complete")
    parts += _ended(timeline, found)
    parts += _without_end(timeline)
    if latest is not None and latest["state"] == TOMBSTONE:
        parts.append("expired by the coordinator")
    if parts:
        return ", ".join(parts)
    return "no transaction" if np.any(timeline.items["kind"] != LINE) else _by_logs(timeline)


def _open(timeline: Timeline, evidence_end: int) -> Iterator[str]:
    """Transactions that nothing has decided; of a single one since when."""
    rows = timeline.open_transactions.tolist()
    started = int(timeline.model.transactions["started_at"][rows[0]]) if rows else -1
    if len(rows) == 1 and iso(started) is not None:
        age = evidence_end - started
        yield f"1 transaction open since {clock(started)}" + (f" ({duration(age)})" if age > 0 else "")
    elif rows:
        yield f"{plural(len(rows), 'transaction')} open"


def _unmarked(timeline: Timeline) -> Iterator[str]:
    """Partitions in which data have no marker though nothing is missing there and no transaction is open."""
    model, items = timeline.model, timeline.items
    places = [
        int(span["partition_code"])
        for span in model.spans[items["row"][items["kind"] == LEFTOVER]]
        if span["flags"] & OPEN and not span["flags"] & LOST_END
    ]
    rows = timeline.transactions
    complete = model.transactions["completion_offset"][rows] >= 0
    for number in rows[complete & ~timeline.book.sums.is_marked[rows]].tolist():
        parts = model.parts.of(number)
        places += parts["partition_code"][parts["status"] == Status.UNMARKED].tolist()
    names = ["-".join(map(str, model.topic_partition(place))) for place in dict.fromkeys(places)]
    named = [name for name in names if not name.startswith(UNNAMED)][:MOST_NAMED]
    if names:
        rest = f" and {len(names) - len(named):,} more" if named and len(names) > len(named) else ""
        yield f"no marker in {', '.join(named) or plural(len(names), 'partition')}{rest}"


def _ended(timeline: Timeline, found: Overview) -> Iterator[str]:
    """Counts of what was committed and aborted, by whom; of a producer without a name by its markers."""
    committed, aborted = found.committed, found.aborted
    enders = Counter({EndedBy[name]: count for name, count in found.ended_by.items()})
    if not found.transactions:
        spans = timeline.model.spans[timeline.items["row"][timeline.items["kind"] == LEFTOVER]]
        aborted, committed, enders = _marked(spans, ABORT), _marked(spans, COMMIT), Counter()
    if committed:
        yield f"{plural(committed, 'transaction')} committed"
    if aborted:
        what = f"{aborted:,}" if committed else plural(aborted, "transaction")
        yield f"{what} aborted{_enders(timeline, enders)}"


def _without_end(timeline: Timeline) -> Iterator[str]:
    """Data whose marker is among offsets that are missing."""
    spans = timeline.model.spans[timeline.items["row"][timeline.items["kind"] == LEFTOVER]]
    lost = int(np.count_nonzero(((spans["flags"] & LOST_END) != 0) & (spans["marker_offset"] < 0)))
    if lost:
        yield f"{plural(lost, 'transaction')} without its end in what was read"


def _marked(spans: Array, kind: int) -> int:
    """How many transactions spans with a marker of a kind stand for: as many as one partition has."""
    marked = spans["partition_code"][(spans["marker_offset"] >= 0) & (spans["marker_kind"] == kind)]
    return int(np.unique(marked, return_counts=True)[1].max(initial=0))


def _enders(timeline: Timeline, enders: Counter[EndedBy]) -> str:
    """` by its own client`, or how many by whom; as sure as the least sure of them."""
    enders.pop(EndedBy.open, None)
    if not enders:
        return ""
    ends, rows = timeline.model.ends, timeline.transactions
    known = (timeline.model.transactions["decision"][rows] == PREPARE_ABORT) & (ends.ended_by[rows] != EndedBy.unknown)
    perhaps = PERHAPS[Verdict(int(ends.verdict[rows][known].min()))] if known.any() else ""
    if len(enders) == 1:
        (by,) = enders
        return f"{',' if perhaps or by is EndedBy.unknown else ''} {perhaps}{ENDERS[by]}"
    return f" ({perhaps}{', '.join(f'{count:,} {ENDERS[by]}' for by, count in enders.most_common())})"


def _by_logs(timeline: Timeline) -> str:
    """What logs alone show last: a failure if there is one, else a line at warning or above, else the last one."""
    lines, last = [entry for entry in timeline.events() if isinstance(entry, LogLine)], None
    for entry in lines:
        if entry.failure is not None or last is None or (last.failure is None and entry.level >= Level.warn):
            last = entry
    if last is None:
        return "no transaction"
    if last.failure is None:
        return capital(event_words()[last.kind].phrase)
    return failure_phrase(last.failure).removeprefix("its log shows ")
