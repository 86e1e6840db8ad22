"""Which segments of data deserve a look, by what a first pass has read: coordinator rows, logs, and small files.

The first pass reads everything but the segments of data, and judges that. Suspect is

finding     what a finding speaks of: its partitions, and those of its ids' transactions of that time. What is merely
            worth knowing opens small segments only
open        a transaction that the newest snapshot has open and that was no longer young then, was open a snapshot
            before as well, or that no row of the coordinator goes on from; all behind its first offset
aborted     more data that an index says were aborted than rows know aborts of the producer id for, in a time that they
            reach back to
ongoing     what a transaction that is open for longer than the default timeout has written
damage      small files that are none

A partition of few bytes is read anyway, and so is a short end of a log, of which no snapshot speaks yet: that costs
what opening it does. So is what small files can't speak of: rolled segments without any snapshot beside them, and all
data where no rows of the coordinator are at hand. What is left over is no clean bill: it is told as not read.

Grain: one capture. Nothing here reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kafkatx.evidence.directories import Partition
from kafkatx.findings.finding import Finding, Subject
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import ONGOING, PREPARE_ABORT
from kafkatx.stages.log_marks import UNKNOWN, AbortedMark, LogCopy, LogMarks, OpenMark, Times
from kafkatx.terms.clocks import (
    CLIENT_TOLERANCE_MS,
    LATE_TRANSACTION_BUFFER_MS,
    MAX_TRANSACTION_TIMEOUT_MS,
    OLD_CLEANUP_INTERVAL_MS,
    TRANSACTION_TIMEOUT_MS,
)
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity

SMALL = 16 << 20
"""Bytes of a partition's log, or of its end, that are read whatever speaks of them."""
NO_END = (1 << 63) - 1
MOST_RANGES = 256
"""Ranges of time that are kept of a partition; the last one is stretched over all that follow."""
MOST_TRANSACTIONS = 10_000
"""Transactions of one finding whose data are looked for: the first and the last of them."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A stretch of a partition, by offsets or, where these are not known, by times (milliseconds).

    `is_serious`: it is worth a look whatever that costs.
    """

    key: Partition
    first_offset: int | None = None
    last_offset: int = NO_END
    since: int = 0
    until: int = NO_END
    is_serious: bool = True


def suspects(
    model: CaptureModel, findings: Iterable[Finding], marks: Iterable[tuple[Partition, LogMarks]]
) -> set[Suspect]:
    """Name what deserves a look: by a model without data, what rules find in it, and what small files say."""
    found = {suspect for finding in findings for suspect in _of_finding(model, finding)}
    found.update(_of_ongoing(model))
    rows = _Rows(model)
    for key, told in marks:
        found.update(_of_marks(rows, key, told))
    return _merged(found)


def _of_finding(model: CaptureModel, finding: Finding) -> Iterator[Suspect]:
    is_serious = finding.severity >= Severity.warning
    since, until = _times(finding)
    abouts: list[Finding | Subject] = [finding, *finding.subjects]
    for about in abouts:
        if about.topic is not None and about.partition is not None and about.topic not in INTERNAL:
            key = (about.topic, about.partition)
            if about.first_offset is not None:
                last = about.last_offset if about.last_offset is not None else about.first_offset
                yield Suspect(key, about.first_offset, last, is_serious=is_serious)
            else:
                yield Suspect(key, None, NO_END, since, until, is_serious)
        yield from _of_transactions(model, _transactions(model, about, since, until), is_serious)
        yield from _of_counted(model, about, since, until, is_serious)


def _of_counted(
    model: CaptureModel, about: Finding | Subject, since: int, until: int, is_serious: bool
) -> Iterator[Suspect]:
    """The partitions that transactions list of which only the number is known: at any time that the finding spans."""
    rows = model.counted.rows
    is_meant = rows["producer_id"] == (-1 if about.producer_id is None else about.producer_id)
    if about.transactional_id is not None:
        is_meant = rows["id_code"] == model.id_code(about.transactional_id)
    for member in {
        code for id_code in set(rows["id_code"][is_meant].tolist()) for code in model.counted.listed_by(id_code)
    }:
        key = model.topic_partition(member)
        if key[0] not in INTERNAL:
            yield Suspect(key, None, NO_END, max(0, since - CLIENT_TOLERANCE_MS), until, is_serious)


def _of_ongoing(model: CaptureModel) -> Iterator[Suspect]:
    """What transactions wrote that are open for so long that readers may wait."""
    latest = model.latest[model.latest["state"] == ONGOING]
    since = np.where(latest["started_at"] >= 0, latest["started_at"], latest["updated_at"])
    rows = latest["transaction_row"][(model.facts.evidence_end - since > TRANSACTION_TIMEOUT_MS)]
    yield from _of_transactions(model, rows[rows >= 0], is_serious=True)


def _times(finding: Finding) -> tuple[int, int]:
    since = 0 if finding.since is None else finding.since - LATE_TRANSACTION_BUFFER_MS
    until = NO_END if finding.until is None else finding.until + LATE_TRANSACTION_BUFFER_MS
    return since, until


def _transactions(model: CaptureModel, about: Finding | Subject, since: int, until: int) -> Array:
    """Rows of the transactions of an id, or of a producer id, that were open in a time."""
    t = model.transactions
    if about.transactional_id is not None:
        rows = model.transactions_of(model.id_code(about.transactional_id))
    elif about.producer_id is not None:
        rows = np.flatnonzero(t["producer_id"] == about.producer_id)
    else:
        return np.zeros(0, np.int64)
    begun, ended = _spans(t[rows])
    rows = rows[(begun <= until) & (ended >= since)]
    half = MOST_TRANSACTIONS // 2
    return rows if len(rows) <= MOST_TRANSACTIONS else np.concatenate((rows[:half], rows[-half:]))


def _spans(t: Array) -> tuple[Array, Array]:
    """When transactions began, and were over for certain."""
    begun = np.where(t["started_at"] >= 0, t["started_at"], t["begin_timestamp"])
    ended = np.where(t["completion_timestamp"] >= 0, t["completion_timestamp"], NO_END)
    return begun, ended


def _of_transactions(model: CaptureModel, rows: Array, is_serious: bool) -> Iterator[Suspect]:
    """The partitions that transactions list, from their begin until a late write must have come."""
    t = model.transactions[rows]
    begun, ended = _spans(t)
    for code, since, until in set(zip(t["partitions_code"].tolist(), begun.tolist(), ended.tolist(), strict=True)):
        for member in model.labels.partition_lists[code] if code >= 0 else ():
            key = model.topic_partition(member)
            if key[0] not in INTERNAL:
                late = until if until == NO_END else until + LATE_TRANSACTION_BUFFER_MS
                yield Suspect(key, None, NO_END, max(0, since - CLIENT_TOLERANCE_MS), late, is_serious)


class _Rows:
    """What the coordinator's rows know of producer ids."""

    def __init__(self, model: CaptureModel) -> None:
        self.model, t = model, model.transactions
        tables = (model.transactions, model.initialisations, model.latest)
        self.knows_all = model.has_all_state_partitions
        self.known = distinct(np.concatenate([table["producer_id"] for table in tables]))
        order = np.argsort(model.latest["timestamp"], kind="stable")
        latest = model.latest[order]
        self.newest = dict(zip(latest["producer_id"].tolist(), latest["timestamp"].tolist(), strict=True))
        self.timeouts = dict(zip(latest["producer_id"].tolist(), latest["timeout_ms"].tolist(), strict=True))
        self.aborts = np.sort(t[t["decision"] == PREPARE_ABORT], order="producer_id")
        self.is_whole = all(extent.is_whole for extent in model.state_log_extents.values())

    def knows(self, producer_id: int) -> bool:
        """Whether a row names a producer id."""
        at = int(np.searchsorted(self.known, producer_id))
        return at < len(self.known) and int(self.known[at]) == producer_id

    def aborts_of(self, key: Partition, producer_id: int, since: int, until: int) -> int:
        """How many transactions of a producer id that list a partition were aborted in a time."""
        ids = self.aborts["producer_id"]
        mine = self.aborts[np.searchsorted(ids, producer_id) : np.searchsorted(ids, producer_id, "right")]
        begun, ended = _spans(mine)
        lists = mine["partitions_code"][(begun <= until) & (ended >= since)]
        members = self.model.labels.partition_lists
        return sum(key in map(self.model.topic_partition, members[code]) for code in lists[lists >= 0].tolist())

    def covers(self, producer_id: int, since: int) -> bool:
        """Whether rows of a producer id go back to a time, or to its first use: compaction leaves its last alone."""
        t, initialisations = self.model.transactions, self.model.initialisations
        times = t["begin_timestamp"][t["producer_id"] == producer_id]
        firsts = initialisations["producer_epoch"][initialisations["producer_id"] == producer_id]
        reaches = bool(len(times)) and 0 <= int(times.min()) <= since
        return self.is_whole and (reaches or bool((firsts == 0).any()))


def _of_marks(rows: _Rows, key: Partition, told: LogMarks) -> Iterator[Suspect]:
    for mark in told.open:
        if _is_suspect(rows, told, mark):
            yield Suspect(key, mark.since_offset)
    for entries in told.aborted:
        if any(_is_unknown_abort(rows, key, entries, *of_producer) for of_producer in entries.producers):
            yield Suspect(key, entries.base_offset, entries.end_offset)
    for base in told.damaged:
        yield Suspect(key, max(0, base - 1), base)


def _is_suspect(rows: _Rows, told: LogMarks, mark: OpenMark) -> bool:
    """Whether a transaction that a snapshot has open is more than one that was on its way when the log was rolled."""
    timeout = max(rows.timeouts.get(mark.producer_id, MAX_TRANSACTION_TIMEOUT_MS), 0)
    was_old = told.rolled_at - mark.timestamp > timeout + OLD_CLEANUP_INTERVAL_MS
    newest = rows.newest.get(mark.producer_id, UNKNOWN)
    is_behind = UNKNOWN < newest < mark.timestamp - CLIENT_TOLERANCE_MS
    return mark.lasted or was_old or is_behind or (rows.knows_all and not rows.knows(mark.producer_id))


def _is_unknown_abort(rows: _Rows, key: Partition, entries: AbortedMark, producer_id: int, count: int) -> bool:
    """Whether rows that reach back to aborted transactions know of fewer in their time."""
    since = entries.since - CLIENT_TOLERANCE_MS if entries.since >= 0 else UNKNOWN
    until = entries.until + LATE_TRANSACTION_BUFFER_MS if entries.until >= 0 else NO_END
    return rows.covers(producer_id, since) and rows.aborts_of(key, producer_id, since, until) < count


def _merged(found: set[Suspect]) -> set[Suspect]:
    """Stretches of time of one partition that overlap as one."""
    result = {suspect for suspect in found if suspect.first_offset is not None}
    of_times: dict[tuple[Partition, bool], list[Suspect]] = {}
    for suspect in found - result:
        of_times.setdefault((suspect.key, suspect.is_serious), []).append(suspect)
    for (key, is_serious), members in of_times.items():
        ranges: list[tuple[int, int]] = []
        for since, until in sorted((one.since, one.until) for one in members):
            if ranges and (since <= ranges[-1][1] or len(ranges) == MOST_RANGES):
                ranges[-1] = (ranges[-1][0], max(until, ranges[-1][1]))
            else:
                ranges.append((since, until))
        result.update(Suspect(key, None, NO_END, since, until, is_serious) for since, until in ranges)
    return result


def read_anyway(copy: LogCopy, small: int = SMALL) -> set[str]:
    """Keys of the segments that are read whatever speaks of them, or because nothing can speak of them."""
    if copy.bytes <= small or (len(copy.segments) > 1 and not copy.snapshots):
        return {item.key for item in copy.segments}
    tail = copy.tail
    short = tail if sum(item.size for item in tail) <= small else ()
    empty = (item for item in copy.segments[:-1] if not item.size)
    return {item.key for item in (*short, *empty)}


def chosen(copy: LogCopy, of_copy: Iterable[Suspect], times: list[Times] | None, small: int = SMALL) -> set[str]:
    """Keys of the segments of a copy that hold what is suspect; `times` are those of its segments, where asked for."""
    bases = [item.base_offset for item in copy.segments]
    ends = [*bases[1:], NO_END]
    found: set[str] = set()
    for suspect in of_copy:
        for number, item in enumerate(copy.segments):
            if suspect.first_offset is not None:
                is_in = suspect.first_offset < ends[number] and suspect.last_offset >= bases[number]
            else:
                is_in = times is None or _is_in_time(times, number, suspect)
            if is_in and (suspect.is_serious or item.size <= small):
                found.add(item.key)
    return found


def _is_in_time(times: list[Times], number: int, suspect: Suspect) -> bool:
    """Whether a segment may hold something of a time: not where it ended before, or where it began behind.

    A segment begins behind a time where the one before it reached beyond, and so did what its own index says first.
    """
    first, newest = times[number]
    is_last = number == len(times) - 1
    if newest >= 0 and newest < suspect.since and not is_last:
        return False
    before = times[number - 1][1] if number else UNKNOWN
    return not (before > suspect.until and first > suspect.until)
