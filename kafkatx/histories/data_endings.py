"""Who ended data of which the coordinator has no row: by what the data partitions alone show.

Grain: one producer id in one partition; vectorised over all spans at once. Where a row names the producer id, only one
thing is said: an ABORT that the coordinator can't have written (WriteTxnMarkers of an operator, KIP-664). Where none
does, the protocol must show itself in a COMMIT of the same producer id (or be older than 4.0): under the classic one it
has the data's
epoch, under transactions v2 the next one, and there nothing tells who aborted. The start of a transaction is then the
time of its first batch, by the client's clock, and its timeout is not known: the client's default is taken, unless its
settings, or people on the page, say otherwise. Nothing is proved that way: an operator's abort has the data's epoch
too. Logs may prove more: the coordinator's line of a rollback, two living instances closer together than the timeout,
the client's own abort.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy, Endings, Protocol, Reason
from kafkatx.histories.logs.corroboration import Corroboration
from kafkatx.histories.logs.ends import Ends, name_codes
from kafkatx.histories.logs.testimony import told_timeout
from kafkatx.histories.logs.witnesses import witnesses
from kafkatx.histories.producers_clocks import behind_ms
from kafkatx.histories.transaction_ends import TransactionEnds, with_data
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, OVER_GAP
from kafkatx.kernels.transactions import COMPLETE_COMMIT, EMPTY
from kafkatx.terms.clocks import (
    CLIENT_TOLERANCE_MS,
    OLD_CLEANUP_INTERVAL_MS,
    RETRY_WINDOW_MS,
    TIMEOUT_SLACK_MS,
    TRANSACTION_TIMEOUT_MS,
    TRANSACTIONS_V2_SINCE_MS,
)
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Verdict

UNKNOWN_YET = np.iinfo(np.int64).max
"""Above every time."""


def with_data_endings(model: CaptureModel) -> TransactionEnds:
    """Return the model's ends with those of every aborted span that no transaction at hand owns."""
    spans, owner = model.spans, model.parts.owner
    numbers = np.flatnonzero((owner == -1) & (spans["first_offset"] >= 0) & (spans["marker_kind"] == ABORT))
    if not len(numbers):  # of most evidence all rows are at hand, and what follows looks at every span
        return model.ends
    chosen = spans[numbers]
    named = _is_named(model, chosen)
    former = is_of_former_coordinator(spans)[numbers]
    by_operator = named & ~former & _is_operators(model, chosen)
    named |= former
    firsts, places = _transactions(chosen)
    seen = witnesses(model.logs, _ends(model, chosen, firsts, places)).taken(places)
    timeout = _timeouts(model, seen)
    assumed = np.where(timeout >= 0, timeout, _usual_timeouts(model, chosen))
    ended_by, verdict, duration = _of_the_unnamed(model, chosen, assumed)
    ended = Endings(
        ended_by=np.where(by_operator, EndedBy.client, np.where(named, EndedBy.unknown, ended_by)),
        verdict=np.where(by_operator, Verdict.likely, np.where(named, Verdict.possible, verdict)),
        reason=np.full(len(numbers), int(Reason.rows_missing)),
        protocol=np.where(_is_classic(chosen, spans), Protocol.classic, Protocol.unknown),
        duration_ms=duration,
        data_epoch=chosen["producer_epoch"],
    )
    ended, by_operator = _testified(chosen, ended, by_operator, seen, timeout, assumed)
    came_later = (ended.ended_by == EndedBy.new_instance) & (timeout < 0) & _came_later(model, chosen, seen)
    verdict = np.where(came_later, np.minimum(ended.verdict, Verdict.possible), ended.verdict)
    ended = replace(ended, verdict=verdict)
    return with_data(model.ends, ended, by_operator, seen, numbers)


def is_of_former_coordinator(spans: Array) -> Any:
    """Whether a marker's coordinator epoch is below that of an earlier one of the same producer id and partition.

    A broker that was coordinator before wrote it: whoever asked for it, it was not the producer of the data.
    """
    found = np.zeros(len(spans), bool)
    if len(distinct(spans["coordinator_epoch"])) < 2:
        return found
    order = np.lexsort((spans["marker_offset"], spans["partition_code"], spans["producer_id"]))
    producer_ids, partitions, epochs = (
        spans[name][order] for name in ("producer_id", "partition_code", "coordinator_epoch")
    )
    same = (np.diff(producer_ids) == 0) & (np.diff(partitions) == 0)
    found[order[1:]] = same & (epochs[1:] >= 0) & (epochs[1:] < epochs[:-1])
    return found


def _transactions(chosen: Array) -> tuple[Any, Any]:
    """Row of the first span of each transaction, and for each span which one that is.

    Whoever raises an epoch at an end raises it once: spans whose markers carry the epoch above that of their data are
    of one transaction in all partitions. Under the data's own epoch there may be many: each span stands for itself.
    """
    raised = (chosen["producer_epoch"] >= 0) & (_step(chosen) == 1)
    alone = np.where(raised, -1, np.arange(len(chosen)))
    keys = np.stack((_key(chosen["producer_id"], chosen["producer_epoch"]), alone), axis=1)
    _, firsts, places = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return firsts, places.reshape(-1)


def _step(chosen: Array) -> Any:
    """By how much the epoch of each marker is above that of its data."""
    return chosen["marker_epoch"].astype(np.int64) - chosen["producer_epoch"]


def _ends(model: CaptureModel, chosen: Array, firsts: Any, places: Any) -> Ends:
    """The ends as logs may have seen them: by the time of the marker, and by the id that logs know the producer by."""
    one = chosen[firsts]
    return Ends(
        producer_id=one["producer_id"],
        epoch=one["producer_epoch"].astype(np.int64),
        name=_names(model, one["producer_id"]),
        started_at=_least(chosen["first_timestamp"], firsts, places),
        decided_at=_least(chosen["marker_timestamp"], firsts, places),
        completed_at=_most(chosen["marker_timestamp"], firsts, places),
        next_producer_id=one["producer_id"],
        next_epoch=one["marker_epoch"].astype(np.int64) + 1,
        is_abort=np.ones(len(one), bool),
    )


def _least(times: Array, firsts: Any, places: Any) -> Any:
    """The earliest known time of each transaction, -1 where none is."""
    found = np.full(len(firsts), UNKNOWN_YET)
    np.minimum.at(found, places, np.where(times >= 0, times, UNKNOWN_YET))
    return np.where(found == UNKNOWN_YET, -1, found)


def _most(times: Array, firsts: Any, places: Any) -> Any:
    """The latest time of each transaction, -1 where none is known."""
    found = np.full(len(firsts), -1, np.int64)
    np.maximum.at(found, places, times)
    return found


def _names(model: CaptureModel, producers: Array) -> Any:
    """Code among the logs' strings of the one id that lines give each producer id to, -1 for none."""
    logs, known = model.logs, dict[int, set[int]]()
    codes = name_codes(logs, [client.transactional_id or "" for client in logs.clients])
    for client, code in zip(logs.clients, codes.tolist(), strict=False):
        for producer in client.producer_ids if client.owns_producer_ids and code >= 0 else ():
            known.setdefault(producer, set()).add(code)
    rows = logs.events[logs.of_kind(EventKind.initialized)]
    for producer, code in zip(rows["producer_id"].tolist(), rows["transactional_id_code"].tolist(), strict=True):
        known.setdefault(producer, set()).add(code)
    only = {producer: next(iter(names)) for producer, names in known.items() if len(names) == 1}
    return np.array([only.get(producer, -1) for producer in producers.tolist()], np.int64)


def _testified(
    chosen: Array, base: Endings, by_operator: Any, seen: Corroboration, timeout: Any, assumed: Any
) -> tuple[Endings, Any]:
    """Let the logs speak; the first answer that holds stands.

    `timeout` is that of settings, -1 where none are at hand; `assumed` the same, else what people say, or the default.
    """
    raised = _step(chosen) == 1
    classic = base.protocol == Protocol.classic
    short = (base.duration_ms >= 0) & (base.duration_ms < assumed - CLIENT_TOLERANCE_MS)
    came, own = raised & seen.is_granted, (seen.client_abort >= 0) & ~by_operator
    both = came & seen.is_taken_over
    answers = [
        (seen.rollback >= 0, EndedBy.timeout, Verdict.proved, Reason.rollback_line),
        ((seen.end_request >= 0) & ~(raised & classic), EndedBy.client, Verdict.proved, Reason.end_request),
        (both & ((short & (timeout >= 0)) | seen.is_silent),
         EndedBy.new_instance, Verdict.proved, Reason.two_instances),
        (both & short, EndedBy.new_instance, Verdict.likely, Reason.two_instances),
        (came & classic & (short | seen.is_silent), EndedBy.new_instance, Verdict.likely, Reason.init_line),
        (own & ~raised, EndedBy.client, Verdict.proved, Reason.abort_line),
        (own & ~classic, EndedBy.client, Verdict.likely, Reason.abort_line),
    ]  # fmt: skip
    conditions = [answer[0] for answer in answers]
    told = replace(
        base,
        ended_by=np.select(conditions, [int(answer[1]) for answer in answers], base.ended_by),
        verdict=np.select(conditions, [int(answer[2]) for answer in answers], base.verdict),
        reason=np.select(conditions, [int(answer[3]) for answer in answers], base.reason),
    )
    return told, by_operator & ~np.any(conditions, axis=0)


def _came_later(model: CaptureModel, chosen: Array, seen: Corroboration) -> Any:
    """Whether a log shows the next epoch given later than to one whose request ended the transaction and came again.

    Who came then may have found nothing open, and the transaction had timed out before.
    """
    given = np.where(seen.granted >= 0, seen.granted, seen.taken_over)
    if not len(model.logs.times):
        return given >= 0
    sources = model.logs.events["source"][given]
    skews = np.array([clock.skew_ms or 0 for clock in model.logs.clocks], np.int64)
    gap = model.logs.times[given] - skews[sources] - chosen["marker_timestamp"]
    return (given >= 0) & (chosen["marker_timestamp"] >= 0) & (gap > RETRY_WINDOW_MS)


def _timeouts(model: CaptureModel, seen: Corroboration) -> Any:
    """transaction.timeout.ms of the client behind each end, -1 where its settings are not at hand."""
    told = {client.number: client.transaction_timeout_ms for client in model.logs.clients}
    found = [told.get(number) for number in seen.instance.tolist()]
    return np.array([-1 if timeout is None else timeout for timeout in found], np.int64)


def _said_timeout(model: CaptureModel) -> int:
    """The transaction.timeout.ms that people say beside the data, where they say one; else the client's default."""
    paths = {source.path for source in model.logs.facts.sources}
    said = {timeout for path in paths if (timeout := told_timeout(model.logs, path)) is not None}
    return said.pop() if len(said) == 1 else TRANSACTION_TIMEOUT_MS


def _is_named(model: CaptureModel, chosen: Array) -> Any:
    """Whether a row names the producer, and none of the time of its data was taken by the cleaner.

    It leaves the last row of an id: what ended before that has no rows for that reason alone.
    """
    idle = model.latest[model.latest["state"] == EMPTY]
    tables = (idle, model.transactions, model.initialisations)
    producers = np.concatenate([table["producer_id"] for table in tables])
    if not len(producers):
        return np.zeros(len(chosen), bool)
    times = np.concatenate([idle["timestamp"], _starts(model.transactions), model.initialisations["timestamp"]])
    order = np.lexsort((times, producers))
    at = np.searchsorted(producers[order], chosen["producer_id"]).clip(max=len(order) - 1)
    first = order[at]
    is_before = chosen["marker_timestamp"] <= times[first]
    return (producers[first] == chosen["producer_id"]) & ~(is_before & _is_cleaned(model, chosen))


def _starts(transactions: Array) -> Any:
    """When each transaction began, else the time of its first row at hand."""
    decided, completed = transactions["decision_timestamp"], transactions["completion_timestamp"]
    shown = np.where(decided >= 0, decided, completed)
    return np.where(transactions["started_at"] >= 0, transactions["started_at"], shown)


def _is_cleaned(model: CaptureModel, chosen: Array) -> Any:
    """Whether the partition of `__transaction_state` that knows the producer lacks rows that a cleaner may take."""
    cleaned = [extent.partition for extent in model.state_log_extents.values() if extent.first_dirty > 0]
    of_cleaned = model.latest["producer_id"][np.isin(model.latest["state_partition"], cleaned)]
    return np.isin(chosen["producer_id"], of_cleaned)


def _usual_timeouts(model: CaptureModel, chosen: Array) -> Any:
    """transaction.timeout.ms of the producer's latest row, else what people say, else the client's default."""
    latest = np.sort(model.latest, order=["producer_id", "timestamp"])
    at = np.searchsorted(latest["producer_id"], chosen["producer_id"], "right") - 1
    if not len(latest):
        return np.full(len(chosen), _said_timeout(model), np.int64)
    row = latest[at.clip(min=0)]
    is_known = (row["producer_id"] == chosen["producer_id"]) & (row["timeout_ms"] >= 0)
    return np.where(is_known, row["timeout_ms"], _said_timeout(model)).astype(np.int64)


def _is_operators(model: CaptureModel, chosen: Array) -> Any:
    """Whether the id's latest row (no cleaner takes it) is older than the data, and others younger than the marker."""
    if not len(model.latest) or not len(chosen):
        return np.zeros(len(chosen), bool)
    latest = np.sort(model.latest, order=["producer_id", "timestamp"])
    at = np.searchsorted(latest["producer_id"], chosen["producer_id"], "right") - 1
    row = latest[at.clip(min=0)]
    over = (row["state"] == EMPTY) | (row["state"] >= COMPLETE_COMMIT)
    own_epoch = (chosen["marker_epoch"] == chosen["producer_epoch"]) & (chosen["previous_marker_offset"] >= 0)
    older = (row["producer_id"] == chosen["producer_id"]) & over & (row["timestamp"] < chosen["first_timestamp"])
    return own_epoch & older & (_known_until(model, row) > chosen["marker_timestamp"])


def _known_until(model: CaptureModel, rows: Array) -> Any:
    """Time of the newest row in the partition of each row; -1 where a younger row of the id may be lost."""
    partitions, place = np.unique(rows["state_partition"], return_inverse=True)
    newest = np.array([model.state_log_extents[int(number)].newest for number in partitions], np.int64)
    lost = np.array([_lost_from(model, int(number)) for number in partitions], np.int64)
    return np.where(rows["offset"] >= lost[place], newest[place], -1)


def _lost_from(model: CaptureModel, partition: int) -> int:
    log_extent = model.state_log_extents[partition]
    return np.iinfo(np.int64).max if log_extent.is_torn else log_extent.last_loss


def _of_the_unnamed(model: CaptureModel, chosen: Array, timeout: Any) -> tuple[Any, Any, Any]:
    """EndedBy, Verdict and duration as if no row named any of the producer ids."""
    classic = _is_classic(chosen, model.spans)
    behind = np.array([behind_ms(model, producer) for producer in chosen["producer_id"].tolist()], np.int64)
    lasted = chosen["marker_timestamp"] - chosen["first_timestamp"] - behind
    times_known = (chosen["first_timestamp"] >= 0) & (chosen["marker_timestamp"] >= 0) & (lasted >= 0)
    duration = np.where(times_known, lasted, -1)
    step = _step(chosen)
    early = (chosen["marker_timestamp"] >= 0) & (chosen["marker_timestamp"] < TRANSACTIONS_V2_SINCE_MS)
    is_v2 = _is_v2(chosen, model.spans)
    own = (classic | early | ~is_v2) & (step == 0) & (chosen["marker_epoch"] >= 0)
    raised, perhaps_raised = (classic | early) & (step == 1), ~is_v2 & (step == 1)
    is_soon = ~times_known & (chosen["batches"] == 1) & (chosen["last_timestamp"] >= 0) & _is_soon(chosen, timeout)
    short = times_known & (duration < timeout - CLIENT_TOLERANCE_MS)
    came, came_soon = _somebody_came(model.spans, chosen), _came_soon(model.spans, chosen)
    taken_over = chosen["producer_id"][raised & short & came]  # the last one of those is no different from the others
    over = times_known & (duration >= timeout)
    unprinted = ~times_known & (chosen["marker_epoch"] < 0) & came
    is_one = chosen["flags"] & OVER_GAP == 0  # else the data before the hole may be of another transaction
    in_time = is_one & (duration <= timeout + OLD_CLEANUP_INTERVAL_MS + TIMEOUT_SLACK_MS + CLIENT_TOLERANCE_MS)
    answers = [
        (own & (model.facts.release_known_to_raise_epoch | short | is_soon), EndedBy.client, Verdict.likely),
        (own & times_known, EndedBy.client, Verdict.possible),
        (raised & ~times_known & came, EndedBy.new_instance, Verdict.likely),
        (raised & short & np.isin(chosen["producer_id"], taken_over), EndedBy.new_instance, Verdict.likely),
        (perhaps_raised & short & came_soon, EndedBy.new_instance, Verdict.likely),
        (raised & short, EndedBy.new_instance, Verdict.possible),
        (unprinted & is_one, EndedBy.new_instance, Verdict.possible),
        (raised & over & in_time, EndedBy.timeout, Verdict.likely),
        ((raised | perhaps_raised) & over, EndedBy.timeout, Verdict.possible),
    ]
    conditions = [answer[0] for answer in answers]
    ended_by = np.select(conditions, [int(answer[1]) for answer in answers], int(EndedBy.unknown))
    verdict = np.select(conditions, [int(answer[2]) for answer in answers], int(Verdict.possible))
    return ended_by, verdict, duration


def _is_soon(chosen: Array, timeout: Any) -> Any:
    """Whether the marker came within the timeout of the last record: all there is where the first one is not printed.

    Only 0.11.0.0 and 0.11.0.1 time out without a new epoch, and one batch of theirs would have to be a timeout long.
    """
    since_last = chosen["marker_timestamp"] - chosen["last_timestamp"]
    return (since_last >= -CLIENT_TOLERANCE_MS) & (since_last < timeout - CLIENT_TOLERANCE_MS)


def _is_classic(chosen: Array, spans: Array) -> Any:
    """Whether a COMMIT of the same producer id has the data's own epoch: no v2 transaction ends so."""
    committed = (spans["first_offset"] >= 0) & (spans["marker_kind"] == COMMIT)
    own = committed & (spans["marker_epoch"] == spans["producer_epoch"])
    return np.isin(chosen["producer_id"], distinct(spans["producer_id"][own]))


def _is_v2(chosen: Array, spans: Array) -> Any:
    """Whether a COMMIT of the same producer id has the epoch above the data's: no classic transaction ends so."""
    committed = (spans["first_offset"] >= 0) & (spans["marker_kind"] == COMMIT)
    raised = committed & (spans["marker_epoch"] == spans["producer_epoch"] + 1)
    return np.isin(chosen["producer_id"], distinct(spans["producer_id"][raised]))


def _came_soon(spans: Array, chosen: Array) -> Any:
    """Whether data two epochs above those of each came right behind its marker.

    Whatever the protocol, somebody initialised then: a client that aborted by itself goes on at the marker's epoch.
    """
    timed = spans[(spans["first_offset"] >= 0) & (spans["first_timestamp"] >= 0)]
    if not len(timed) or not len(chosen):
        return np.zeros(len(chosen), bool)
    keys, place = np.unique(_key(timed["producer_id"], timed["producer_epoch"]), return_inverse=True)
    first = np.full(len(keys), UNKNOWN_YET)
    np.minimum.at(first, place, timed["first_timestamp"])
    wanted = _key(chosen["producer_id"], chosen["producer_epoch"].astype(np.int64) + 2)
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    gap = first[at] - chosen["marker_timestamp"]
    return (keys[at] == wanted) & (chosen["marker_timestamp"] >= 0) & (np.abs(gap) <= RETRY_WINDOW_MS)


def _key(producer_ids: Any, epochs: Any) -> Any:
    """One number for each producer id and epoch."""
    return producer_ids.astype(np.int64) * (1 << 16) + epochs.astype(np.int64)


def _somebody_came(spans: Array, chosen: Array) -> Any:
    """Whether the producer id is seen at two epochs above the data, or more: then somebody initialised."""
    producers, place = np.unique(spans["producer_id"], return_inverse=True)
    highest = np.full(len(producers), -1, np.int64)
    np.maximum.at(highest, place, np.maximum(spans["producer_epoch"], spans["marker_epoch"]).astype(np.int64))
    found = np.searchsorted(producers, chosen["producer_id"])
    return highest[found] >= chosen["producer_epoch"].astype(np.int64) + 2 if len(chosen) else np.zeros(0, bool)
