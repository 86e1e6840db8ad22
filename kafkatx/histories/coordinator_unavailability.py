"""When a transaction coordinator could not do its work: it was loading, could not write, or was not to be found.

Grain: partitions of `__transaction_state` that were away at the same time (none where lines name only ids or clients).
What brokers tell:

loading      the new leader replays the partition: its election to "Finished loading"; where the old leader was lost
             before, from that moment on.
not writing  a row could not be appended (too few in-sync replicas): first failure to the line or the row that shows
             one written.
answers      requests refused with COORDINATOR_NOT_AVAILABLE or COORDINATOR_LOAD_IN_PROGRESS.

What clients tell: FindCoordinator answered over and over, the same errors by name, InitProducerId that ran into
max.block.ms. The last alone proves nothing: an id in Prepare* keeps its owner waiting while the coordinator answers
every time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.broker_outages import BrokerOutage
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.terms.transaction_states import PREPARED

SHORTEST_MS = 1_000
"""Loads below this happen at every start."""
AGAIN_MS = 60_000
"""Failures further apart than this are two absences."""
NEAR = 16
"""Absences that a further one is laid beside: the last ones by time."""
MANY_LOOKUPS, LOOKUPS_MS = 20, 60_000
"""FindCoordinator answered that often within that time is a coordinator that is named and does not serve."""
AWAY = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
NOT_WRITTEN = (
    *AWAY,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)
_WRITING = (
    EventKind.state_append_failed, EventKind.timeout_rollback_failed, EventKind.append_refused, EventKind.expiry_failed,
)  # fmt: skip
_ANSWERS = (EventKind.init_refused, EventKind.add_refused, EventKind.end_refused, EventKind.failure)
_WRITTEN = (EventKind.initialized, EventKind.timeout_rollback)


@dataclass(frozen=True, slots=True)
class Absence:
    """A stretch in which coordinators did not serve, in milliseconds; `rows` are its lines.

    `partitions` are those of `__transaction_state` that lines name: several, where they were away at the same time.
    `told_by` is loading, begun (a load whose end no line tells), writing, answers, lookups or waiting (InitProducerId
    that gave up, nothing else); `names` the transactional.ids that met it; `is_over` whether its end was seen.
    """

    partitions: frozenset[int]
    since: int
    until: int
    told_by: frozenset[str]
    rows: tuple[int, ...]
    names: tuple[str, ...] = ()
    is_over: bool = False

    @property
    def partition(self) -> int | None:
        """The partition that it is about, None where lines name none or several."""
        return next(iter(self.partitions)) if len(self.partitions) == 1 else None

    @property
    def duration_ms(self) -> int:
        """How long it lasted at least."""
        return self.until - self.since


class _Leader(NamedTuple):
    """Who loaded a partition, in which epoch (-1: no line tells) and when; a restart loads again in the same epoch."""

    node: int | None
    epoch: int
    loaded: int


def absences(model: CaptureModel, outages: Iterable[BrokerOutage]) -> list[Absence]:
    """Every absence that logs tell of, by time; those of one kind that overlap are one, whatever partitions it met."""
    homes, outages = _homes(model), list(outages)
    loads = [load for load in _loading(model.logs, outages) if load.duration_ms >= SHORTEST_MS]
    found = _merged([*loads, *_not_writing(model, homes), *_answers(model, homes), *_lookups(model)])
    for wait in _waiting(model):
        known = [absence for absence in found if _explains(absence, wait)]
        if known:
            found[found.index(known[0])] = _together(known[0], wait)
        else:
            found.append(wait)
    return sorted(found, key=lambda absence: (absence.since, absence.until))


def _merged(found: list[Absence]) -> list[Absence]:
    merged: list[Absence] = []
    for absence in sorted(found, key=lambda absence: (absence.since, absence.until)):
        near = range(len(merged) - 1, max(len(merged) - NEAR, 0) - 1, -1)
        same = next((number for number in near if _are_one(merged[number], absence)), None)
        if same is None:
            merged.append(absence)
        else:
            merged[same] = _together(merged[same], absence)
    return merged


def _are_one(one: Absence, other: Absence) -> bool:
    """Whether two that overlap are one: of one partition, of the same kind, or one of them of no named partition.

    A coordinator that was loaded elsewhere is not one that could not write.
    """
    if other.since > one.until + CLIENT_TOLERANCE_MS:
        return False
    is_alike = one.told_by == other.told_by or not (one.partitions and other.partitions)
    return is_alike or bool(one.partitions & other.partitions)


def _explains(absence: Absence, wait: Absence) -> bool:
    """Whether somebody who waited did so for the most part in a known absence."""
    shared = min(absence.until, wait.until) - max(absence.since, wait.since)
    return 2 * shared >= wait.duration_ms > 0


def _together(one: Absence, other: Absence) -> Absence:
    return Absence(
        one.partitions | other.partitions,
        min(one.since, other.since), max(one.until, other.until), one.told_by | other.told_by,
        tuple(dict.fromkeys((*one.rows, *other.rows))), tuple(dict.fromkeys((*one.names, *other.names))),
        one.is_over if one.until >= other.until else other.is_over,
    )  # fmt: skip


def _loading(logs: LogModel, outages: list[BrokerOutage]) -> Iterator[Absence]:
    """Elections and loads: from the loss of the old leader, else from the election, to the end of the load."""
    begun: dict[tuple[int, int], int] = {}
    leaders: dict[int, _Leader] = {}
    for row in _about_loads(logs):
        source, partition = where = int(logs.events["source"][row]), int(logs.events["partition"][row])
        if logs.kind(row) is not EventKind.coordinator_loaded:
            known = begun.get(where)
            if known is None or not _is_load(logs, row) or _is_load(logs, known):
                begun[where] = row
            continue
        first = begun.pop(where, row)
        took = int(logs.times[first]) - (max(0, int(logs.events["number"][row])) if first == row else 0)
        old, epoch = leaders.get(partition), int(logs.events["other_epoch"][first])
        new = _Leader(logs.facts.sources[source].broker_id, epoch, int(logs.times[row]))
        since = took if old is None else _lost_at(outages, old, new, took)
        if old is None or epoch < 0 or (old.node, old.epoch) != (new.node, epoch):
            leaders[partition] = new
        yield Absence(
            frozenset({partition}), since, int(logs.times[row]), frozenset({"loading"}), (first, row), is_over=True
        )
    yield from _unfinished(logs, begun)


def _about_loads(logs: LogModel) -> list[int]:
    """Lines about the loading of a partition, by time."""
    rows = logs.of_kind(EventKind.coordinator_elected, EventKind.coordinator_loading, EventKind.coordinator_loaded)
    rows = rows[(logs.events["partition"][rows] >= 0) & (logs.times[rows] >= 0)]
    found: list[int] = rows[np.argsort(logs.times[rows], kind="stable")].tolist()
    return found


def _lost_at(outages: list[BrokerOutage], old: _Leader, new: _Leader, took: int) -> int:
    """When an old leader was lost that another one took over from; `took` where nothing tells of it.

    One that was away before it had loaded the partition was there again when it did.
    """
    if old.node is None or old.node == new.node:
        return took
    lost = (outage.since for outage in outages if outage.node == old.node and outage.since >= old.loaded)
    return min((since for since in lost if since <= took <= since + AGAIN_MS), default=took)


def _unfinished(logs: LogModel, begun: dict[tuple[int, int], int]) -> Iterator[Absence]:
    """Loads of which no end is told, by brokers of a release that tells it: to the end of the log.

    Where the coordinator is seen at work behind it, the line of the end is what is missing, and nothing is known of
    how long it took.
    """
    for (source, partition), row in begun.items():
        end = logs.facts.sources[source].last_at - logs.clocks[source].zone_ms
        says_its_end = logs.events["other_epoch"][row] >= 0
        if (
            _is_load(logs, row)
            and says_its_end
            and end > logs.times[row]
            and not _at_work(logs, source, partition, row)
        ):
            yield Absence(frozenset({partition}), int(logs.times[row]), end, frozenset({"begun"}), (row,))


def _at_work(logs: LogModel, source: int, partition: int, row: int) -> bool:
    """Whether a broker gave an id of a partition its epoch behind a line."""
    given = logs.of_kind(EventKind.initialized)
    of_it = (logs.events["source"][given] == source) & (logs.events["partition"][given] == partition)
    return bool((logs.times[given[of_it]] >= logs.times[row]).any())


def _is_load(logs: LogModel, row: int) -> bool:
    return logs.kind(row) is EventKind.coordinator_loading


def _not_writing(model: CaptureModel, homes: dict[str, int]) -> Iterator[Absence]:
    """Appends to `__transaction_state` that failed, until one is seen to succeed."""
    logs = model.logs
    groups: dict[int | None, list[int]] = {}
    for row in logs.of_kind(*_WRITING).tolist():
        partition = _state_partition(model, homes, row)
        is_about = logs.kind(row) is not EventKind.append_refused or logs.string(row, "topic") == TRANSACTION_STATE
        if is_about and logs.times[row] >= 0 and logs.error(row) in NOT_WRITTEN:
            groups.setdefault(partition, []).append(row)
    written = _written(model) if groups else {}
    for partition, rows in groups.items():
        for chain in _chains(logs.times, rows):
            yield _until_written(_absence(model, partition, chain, "writing"), written)


def _until_written(absence: Absence, written: dict[str, Array]) -> Absence:
    """Extend an absence to the first sign that a row of its ids was written."""
    ends = []
    for name in absence.names:
        times = written.get(name)
        at = int(np.searchsorted(times, absence.until)) if times is not None else 0
        if times is not None and at < len(times):
            ends.append(int(times[at]))
    near = [end for end in ends if end <= absence.until + AGAIN_MS]
    return replace(absence, until=min(near), is_over=True) if near else absence


def _written(model: CaptureModel) -> dict[str, Array]:
    """When rows of each id were written, sorted: as the coordinator's lines tell it, and the rows themselves."""
    logs, strings, t = model.logs, model.logs.facts.strings, model.transactions
    rows = logs.of_kind(*_WRITTEN)
    codes, times = [logs.events["transactional_id_code"][rows]], [logs.times[rows]]
    known = {name: code for code, name in enumerate(strings)}
    of_ids = np.array([known.get(name, -1) for name in model.labels.transactional_ids] or [-1], np.int64)
    for column in ("decision_timestamp", "completion_timestamp"):
        codes.append(of_ids[t["id_code"]] if len(t) else t["id_code"])
        times.append(t[column])
    code, time = np.concatenate(codes).astype(np.int64), np.concatenate(times).astype(np.int64)
    order = np.lexsort((time, code))
    order = order[(code[order] >= 0) & (time[order] >= 0)]
    found, starts = np.unique(code[order], return_index=True)
    return dict(zip((strings[one] for one in found.tolist()), np.split(time[order], starts[1:]), strict=False))


def held_over(model: CaptureModel, absence: Absence) -> Array:
    """Transactions that were decided before a coordinator was first refused a write and complete only after the last.

    A decision that is not on the replicas in sync is not carried out: it waited while nothing was refused yet, since a
    leader counts replicas as in sync until they lag (replica.lag.time.max.ms).
    """
    t = model.transactions
    here = np.isin(t["state_partition"], sorted(absence.partitions)) & (t["decided_at"] >= 0)
    before = (t["decided_at"] < absence.since) & (t["decided_at"] >= absence.since - AGAIN_MS)
    after = t["completion_timestamp"] >= absence.until - CLIENT_TOLERANCE_MS
    found: Array = t[here & before & after & (t["completion_timestamp"] <= absence.until + AGAIN_MS)]
    return found[np.argsort(found["decided_at"], kind="stable")]


def _answers(model: CaptureModel, homes: dict[str, int]) -> Iterator[Absence]:
    logs = model.logs
    rows = [
        row for row in logs.of_kind(*_ANSWERS).tolist()
        if logs.times[row] >= 0 and logs.error(row) in AWAY
    ]  # fmt: skip
    groups: dict[int | None, list[int]] = {}
    for row in rows:
        groups.setdefault(_state_partition(model, homes, row), []).append(row)
    for partition, found in groups.items():
        for chain in _chains(logs.times, found):
            if len(chain) > 1 or not _is_tried_again(logs, chain[0]):
                yield _absence(model, partition, chain, "answers")


def _is_tried_again(logs: LogModel, row: int) -> bool:
    """Whether a line is a client's about an answer that it only warns of, since it asks again: one tells no absence."""
    level = int(logs.events["level"][row])
    return logs.kind(row) is EventKind.failure and Level.unknown < level <= Level.warn


def _lookups(model: CaptureModel) -> Iterator[Absence]:
    """A client that finds its coordinator again and again within a minute."""
    logs = model.logs
    groups: dict[tuple[int, str | None], list[int]] = {}
    for row in logs.of_kind(EventKind.coordinator_found).tolist():
        if logs.times[row] >= 0 and (logs.string(row, "api") or "transaction").casefold() == "transaction":
            who = logs.string(row, "transactional_id") or logs.string(row, "client_id")
            groups.setdefault((int(logs.events["source"][row]), who), []).append(row)
    for found in groups.values():
        bridges = frozenset(row for row in found if logs.events["repeats"][row] > 0)
        for chain in _chains(logs.times, found, CLIENT_TOLERANCE_MS, bridges):
            often = sum(1 + max(0, int(logs.events["repeats"][row])) for row in chain)
            took = max(1, int(logs.times[chain[-1]] - logs.times[chain[0]]))
            if often >= MANY_LOOKUPS and often * LOOKUPS_MS >= MANY_LOOKUPS * took:
                yield _absence(model, None, chain, "lookups")


def _waiting(model: CaptureModel) -> Iterator[Absence]:
    """InitProducerId that nobody answered in time, unless the id is known to wait for its own markers."""
    logs = model.logs
    for row in logs.of_kind(EventKind.await_timeout).tolist():
        name = logs.transactional_id(row)
        waited = max(0, int(logs.events["number"][row]))
        is_init = (logs.string(row, "api") or "").startswith("InitProducerId")
        if is_init and logs.times[row] >= 0 and not _is_prepared(model, name):
            at = int(logs.times[row])
            yield Absence(frozenset(), at - waited, at, frozenset({"waiting"}), (row,), (name,) if name else ())


def _is_prepared(model: CaptureModel, name: str | None) -> bool:
    latest = model.latest_of(model.id_code(name))
    return latest is not None and int(latest["state"]) in PREPARED


def _absence(model: CaptureModel, partition: int | None, chain: list[int], told_by: str) -> Absence:
    logs = model.logs
    names = dict.fromkeys(name for row in chain if (name := logs.string(row, "transactional_id")))
    return Absence(
        frozenset() if partition is None else frozenset({partition}),
        int(logs.times[chain[0]]),
        int(logs.times[chain[-1]]),
        frozenset({told_by}),
        tuple(chain),
        tuple(names),
    )


def _chains(
    times: Array, rows: list[int], pause_ms: int = AGAIN_MS, bridges: frozenset[int] = frozenset()
) -> Iterator[list[int]]:
    """Cut where the pause is longer, unless lines were left out behind a line (`bridges`)."""
    chain: list[int] = []
    for row in sorted(rows, key=lambda row: (times[row], row)):
        if chain and times[row] - times[chain[-1]] > pause_ms and chain[-1] not in bridges:
            yield chain
            chain = []
        chain.append(row)
    if chain:
        yield chain


def _homes(model: CaptureModel) -> dict[str, int]:
    """Partition of `__transaction_state` of each id that logs name, as the coordinator's own lines tell it."""
    logs = model.logs
    granted = logs.of_kind(EventKind.initialized)
    codes, first = np.unique(logs.events["transactional_id_code"][granted], return_index=True)
    return {
        logs.facts.strings[code]: int(logs.events["partition"][granted[at]])
        for code, at in zip(codes.tolist(), first.tolist(), strict=True)
        if code >= 0
    }


def _state_partition(model: CaptureModel, homes: dict[str, int], row: int) -> int | None:
    """Partition of `__transaction_state` that a line is about: named, or that of its transactional.id."""
    if model.logs.kind(row) is EventKind.append_refused:
        return model.logs.number(row, "partition")
    name = model.logs.string(row, "transactional_id")
    if name is None or name in homes:
        return homes.get(name or "")
    count = model.state_partition_count
    return None if count is None else partition_for(name, count)
