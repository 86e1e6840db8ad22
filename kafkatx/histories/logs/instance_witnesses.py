"""Which client instance ran each transaction, and which was given the epoch that follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.corroboration import EvidenceMatcher
from kafkatx.histories.logs.ends import name_codes
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, CLIENT_TOLERANCE_MS, RETRY_WINDOW_MS
from kafkatx.terms.events import EventKind


def instances(matcher: EvidenceMatcher) -> None:
    """The instance that ran a transaction was given its producer id, at its epoch or the nearest one below."""
    ends = matcher.ends
    given = [
        (one.producer_id * 65_536 + one.producer_epoch, client.number, one.at if one.at is not None else -1)
        for client in matcher.logs.clients
        for one in client.initialisations
    ]
    if given:
        keys, numbers, times = (np.array(column, np.int64) for column in zip(*sorted(given), strict=True))
        wanted = ends.producer_id.astype(np.int64) * 65_536 + ends.epoch
        at = np.searchsorted(keys, wanted, "right") - 1
        same = (at >= 0) & (keys[at] // 65_536 == ends.producer_id) & (ends.epoch >= 0)
        same &= _is_name_of(matcher, numbers[at]) & (
            times[at] <= matcher.reached + CLIENT_TOLERANCE_MS + _off(matcher, numbers[at])
        )
        matcher.found.instance[same] = numbers[at][same]
    _instances_without_grants(matcher)


def _is_name_of(matcher: EvidenceMatcher, numbers: Array) -> Any:
    """Whether an instance's transactional.id is that of the end beside it, as far as both are known."""
    logs = matcher.logs
    names = name_codes(logs, [client.transactional_id or "" for client in logs.clients])
    trusted = np.array([client.owns_producer_ids for client in logs.clients], bool)
    return (names[numbers] == matcher.ends.name) | (names[numbers] < 0) | (matcher.ends.name < 0) | ~trusted[numbers]


def _off(matcher: EvidenceMatcher, numbers: Array) -> Any:
    return np.abs(matcher.skew)[np.array([client.source for client in matcher.logs.clients], np.int64)[numbers]]


def _instances_without_grants(matcher: EvidenceMatcher) -> None:
    """Clients that never print their producer id (aiokafka, a log that begins later): the only one alive then."""
    for name, clients in _silent_clients(matcher).items():
        ends = np.flatnonzero(
            (matcher.ends.name == name) & (matcher.found.instance < 0) & (matcher.ends.decided_at >= 0)
        )
        alive = np.array([_is_alive(matcher, client, matcher.ends.decided_at[ends]) for client in clients]).reshape(
            len(clients), len(ends)
        )
        only = alive.sum(axis=0) == 1
        numbers = np.array([client.number for client in clients], np.int64)
        matcher.found.instance[ends[only]] = numbers[np.argmax(alive[:, only], axis=0)] if only.any() else -1


def _silent_clients(matcher: EvidenceMatcher) -> dict[int, list[ClientInstance]]:
    logs = matcher.logs
    found: dict[int, list[ClientInstance]] = {}
    codes = name_codes(logs, [client.transactional_id or "" for client in logs.clients])
    for client, code in zip(logs.clients, codes.tolist(), strict=False):
        if code >= 0 and not client.initialisations and not client.is_consumer and client.owns_producer_ids:
            found.setdefault(code, []).append(client)
    return found


def _is_alive(matcher: EvidenceMatcher, client: ClientInstance, times: Array) -> Any:
    if client.since is None or client.until is None:
        return np.zeros(len(times), bool)
    slack = int(matcher.client_tolerance[client.source]) + abs(int(matcher.skew[client.source]))
    return (client.since - slack <= times) & (times <= client.until + slack)


def grants(matcher: EvidenceMatcher) -> None:
    """The epoch that follows: what a broker granted, and which other instance shows that it has it."""
    logs, found = matcher.logs, matcher.found
    latest = matcher.reached + RETRY_WINDOW_MS
    rows, times = matcher.rows(EventKind.initialized)
    e = logs.events
    late = latest + BROKERS_TOLERANCE_MS
    _follow(matcher, found.granted, e["producer_id"][rows], e["producer_epoch"][rows], rows, times, late)
    clients = [(one, client) for client in logs.clients for one in client.initialisations if one.at is not None]
    if not clients:
        return
    columns = [(one.producer_id, one.producer_epoch, one.row, client.number) for one, client in clients]
    producer_ids, epochs, rows, numbers = (np.array(column, np.int64) for column in zip(*columns, strict=True))
    times = logs.times[rows] - matcher.skew[e["source"][rows]]
    _follow(matcher, found.taken_over, producer_ids, epochs, rows, times, latest + CLIENT_TOLERANCE_MS)
    of_row = dict(zip(rows.tolist(), numbers.tolist(), strict=True))
    new = np.array([of_row.get(row, -1) for row in found.taken_over.tolist()], np.int64)
    own = (new == found.instance) & (new >= 0)
    found.renewed[own] = found.taken_over[own]
    found.new_instance[:] = np.where(own, -1, new)
    found.taken_over[own] = -1


def _follow(
    matcher: EvidenceMatcher,
    column: Array,
    producer_ids: Array,
    epochs: Array,
    rows: Array,
    times: Array,
    latest: Array,
) -> None:
    """Note for each abort the first event that gives the producer id and epoch that follow it, in time."""
    ends = matcher.ends
    wanted = ends.next_producer_id.astype(np.int64) * 65_536 + ends.next_epoch
    order = np.lexsort((rows, producer_ids * 65_536 + epochs))
    keys = (producer_ids.astype(np.int64) * 65_536 + epochs)[order]
    if not len(keys):
        return
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    fits = (keys[at] == wanted) & (ends.next_epoch >= 0) & (ends.next_producer_id >= 0) & ends.is_abort
    early = ends.decided_at - CLIENT_TOLERANCE_MS
    fits &= (times[order][at] <= latest) & (times[order][at] >= early)
    column[fits] = rows[order][at][fits]
