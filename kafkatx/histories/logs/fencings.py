"""Who took a transactional.id over, by logs alone: grants of epochs, and what the former owner was answered after.

Grain: one transactional.id. A grant is an epoch that a client's log says it was given, or that a broker's log says it
gave ("Initialized transactionalId"); two of them in turn with a higher epoch, by another client object, are a restart
or a fence. It is a fence where the former owner was alive (refused afterwards), or where a transaction of his was open
(classic: the epoch rose by two, one of them by the coordinator's abort). A timeout leaves the same words at the client:
it is excluded where the grants lie closer together than transaction.timeout.ms, or where the coordinator's own log goes
through that time without a rollback line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Set
from enum import StrEnum
from itertools import islice, pairwise
from operator import itemgetter

import numpy as np

from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.log_model import KNOWN_CLOCK_MS, LogModel
from kafkatx.kernels.distinct import distinct
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, TRANSACTION_TIMEOUT_MS
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict

RETRY_MS = 1_000
"""How long before its grant a newcomer's first request can have come."""
AT_ONCE_MS = 10_000
"""A refusal this soon after the next grant is likelier its consequence than that of a timeout before."""
FIRST_RELEASES = (0, 11, 0, 1)
"""To this release a timeout left the epoch as it was (KAFKA-6119)."""
NAMING = ("transactional.id", "transaction-id-prefix")
V2_SINCE = (4, 0)
"""From this release on an epoch may rise with every transaction."""


class Excluded(StrEnum):
    """What excludes a timeout; the default of an unknown one makes it unlikely, no more."""

    NOTHING = ""
    BY_TIME = "the new instance came before any transaction of the old one could time out"
    BY_DEFAULT = "it was refused at work, long before the default timeout; its own is not known"
    BY_LOG = "the coordinator's log goes through that time without a rollback"
    BY_USE = "its transactions hold one write each and are committed at once: none is open for long"
    BY_EPOCH = "the epoch rose by one only: no transaction was aborted in between"


@dataclass(frozen=True, slots=True)
class Grant:
    """An epoch that somebody was given; `client` is None where only a broker tells."""

    at: int
    producer_id: int
    producer_epoch: int
    row: int
    source: int
    client: ClientInstance | None


@dataclass(frozen=True, slots=True)
class Fencing:
    """A grant (`new`) that ended the ownership of the one before (`old`).

    `old_client` is the former owner's log if it is at hand; `refusals` are the lines that show that it was alive and
    refused; `was_open` whether the epochs say that a transaction was aborted.
    """

    old: Grant
    new: Grant
    old_client: ClientInstance | None
    refusals: tuple[int, ...]
    verdict: Verdict
    excluded: Excluded
    was_open: bool

    @property
    def was_alive(self) -> bool:
        """Whether the former owner was."""
        return bool(self.refusals)


def fencings(logs: LogModel, name: str) -> list[Fencing]:
    """Every takeover of an id that logs show, by time."""
    granted = grants(logs, name)
    found = [
        taken
        for old, new in pairwise(granted)
        if old.producer_id == new.producer_id and old.producer_epoch < new.producer_epoch
        if (taken := _takeover(logs, name, old, new)) is not None
    ]
    printed = {grant.client.number for grant in granted if grant.client is not None}
    return found or list(_without_grants(logs, name, printed))


def grants(logs: LogModel, name: str) -> list[Grant]:
    """Epochs that an id was given, by time; what a broker and a client tell of one grant is one, the client's."""
    found = [
        Grant(one.at, one.producer_id, one.producer_epoch, one.row, client.source, client)
        for client in logs.clients_of(name)
        if client.owns_producer_ids
        for one in client.initialisations
        if one.at is not None and one.producer_id >= 0
    ]
    known = {(grant.producer_id, grant.producer_epoch) for grant in found}
    for row in logs.about(name, EventKind.initialized).tolist():
        who = int(logs.events["producer_id"][row]), int(logs.events["producer_epoch"][row])
        if who not in known and logs.times[row] >= 0:
            found.append(Grant(int(logs.times[row]), *who, row, int(logs.events["source"][row]), None))
    return sorted(found, key=lambda grant: (grant.producer_id, grant.producer_epoch, grant.at))


def _takeover(logs: LogModel, name: str, old: Grant, new: Grant) -> Fencing | None:
    if _is_own(old, new) or _bumped_itself(logs, old) or _rolled_back(logs, name, old.at, new.at):
        return None
    earliest = _earliest(old, new)
    owner = old.client if old.client is not None else _silent_owner(logs, name, old, earliest)
    if any(old.at <= _at(failure) < earliest for failure in _failures(owner) if failure.error in FENCED):
        return None
    refusals = (
        *_refusals(owner, earliest),
        *_refused_by_brokers(logs, old, new.at),
        *_of_namesake(logs, name, old, new),
    )
    excluded = _excluded(logs, name, old, new)
    if not refusals:
        return _unheard(logs, old, new, excluded)
    verdict = _verdict(logs, old, new, refusals, excluded)
    return Fencing(old, new, owner, refusals, verdict, excluded, bool(_step(old, new) == 2 and _is_classic(logs, new)))


def _is_own(old: Grant, new: Grant) -> bool:
    """Whether one client was given both."""
    return old.client is not None and new.client is not None and old.client.number == new.client.number


def _step(old: Grant, new: Grant) -> int:
    return new.producer_epoch - old.producer_epoch


def _unheard(logs: LogModel, old: Grant, new: Grant, excluded: Excluded) -> Fencing | None:
    """A takeover that the epochs alone tell: two steps are the coordinator's abort and the newcomer's grant."""
    was_closed = old.client is not None and old.client.closed_at is not None
    is_classic = _is_classic(logs, new)
    if _step(old, new) != 2 or was_closed or is_classic is False or excluded is Excluded.NOTHING:
        return None
    verdict = Verdict.likely if is_classic and _same_coordinator(logs, old, new) else Verdict.possible
    return Fencing(old, new, old.client, (), verdict, excluded, True)


def _verdict(logs: LogModel, old: Grant, new: Grant, refusals: tuple[int, ...], excluded: Excluded) -> Verdict:
    """Proved by the logs of both, where nothing leaves room for a timeout; an operator's InitProducerId has no log."""
    if excluded is not Excluded.NOTHING:
        both = old.client is not None and new.client is not None and _names_the_old_one(logs, old, refusals)
        return Verdict.proved if both else Verdict.likely
    soon = _is_soon(logs, refusals, new.at)
    two_logs = old.client is not None and (new.client is not None or new.source != old.source)
    return Verdict.likely if soon and two_logs else Verdict.possible


def _is_soon(logs: LogModel, refusals: tuple[int, ...], since: int) -> bool:
    """Whether the first refusal came at once."""
    return min(int(logs.times[row]) for row in refusals) - since <= AT_ONCE_MS


def _names_the_old_one(logs: LogModel, old: Grant, refusals: tuple[int, ...]) -> bool:
    """Whether a refusal is certainly the former owner's: of its own log, or with its producer id."""
    own = set(old.client.rows) if old.client is not None else set()
    return any(row in own or int(logs.events["producer_id"][row]) == old.producer_id for row in refusals)


def _excluded(logs: LogModel, name: str, old: Grant, new: Grant) -> Excluded:
    timeout, is_known = timeout_of(logs, name, old.client)
    if is_known and new.at - old.at < timeout:
        return Excluded.BY_TIME
    if _coordinator_is_silent(logs, name, old.at, new.at):
        return Excluded.BY_LOG
    raises_epoch = logs.settings.release > FIRST_RELEASES
    return Excluded.BY_EPOCH if _step(old, new) == 1 and raises_epoch else Excluded.NOTHING


def timeout_of(logs: LogModel, name: str, client: ClientInstance | None) -> tuple[int, bool]:
    """transaction.timeout.ms of an id, and whether that is known: said, or left out by its producer's configuration."""
    found = logs.settings.value("producer", "transaction.timeout.ms", client or name)
    own = client.settings if client is not None else ()
    own = (*own, *logs.settings.of_id(name))
    # A block that a client printed has every setting; one without this was cut, and says nothing of it.
    is_producers = any(setting.name in NAMING and not setting.is_printed for setting in own)
    return found.number or TRANSACTION_TIMEOUT_MS, found.is_known or is_producers


def _coordinator_is_silent(logs: LogModel, name: str, since: int, until: int) -> bool:
    """Whether the broker that granted the id before and after wrote all the time between, and of no rollback."""
    rows = logs.about(name, EventKind.initialized)
    for source in distinct(logs.events["source"][rows]).tolist():
        times = logs.times[rows[logs.events["source"][rows] == source]]
        tolerance = CLIENT_TOLERANCE_MS
        around = (np.abs(times - since) <= tolerance).any() and (np.abs(times - until) <= tolerance).any()
        if around and logs.covers(source, since, until):
            return not _rolled_back(logs, name, since, until)
    return False


def _rolled_back(logs: LogModel, name: str, since: int, until: int) -> bool:
    times = logs.times[logs.about(name, EventKind.timeout_rollback)]
    return bool(((times >= since - CLIENT_TOLERANCE_MS) & (times <= until + CLIENT_TOLERANCE_MS)).any())


def _bumped_itself(logs: LogModel, old: Grant) -> bool:
    """Whether a client asked for a new epoch of its own (KIP-360)."""
    e = logs.events[logs.of_kind(EventKind.init_bump)]
    return bool(((e["producer_id"] == old.producer_id) & (e["producer_epoch"] == old.producer_epoch)).any())


def _earliest(old: Grant, new: Grant) -> int:
    """From when on a refusal can be the newcomer's doing: not before it began, and not long before its grant.

    The coordinator refuses the old epoch from the newcomer's first request on, which is answered on its retry only.
    """
    if new.client is None or new.client.since is None:
        return new.at - RETRY_MS
    began = new.client.since if new.client.has_start else new.at
    return max(new.at - CLIENT_TOLERANCE_MS, began - _apart(old, new))


def _refusals(client: ClientInstance | None, since: int) -> Iterator[int]:
    """Refusals of an old epoch in a client's log, from when somebody else had the id on."""
    yield from (failure.row for failure in _failures(client) if failure.error in FENCED and _at(failure) >= since)


def _silent_owner(logs: LogModel, name: str, old: Grant, earliest: int) -> ClientInstance | None:
    """The client behind a grant that only a broker tells: it prints no epochs, began then and was refused later."""
    for client in logs.clients_of(name):
        is_silent = not client.is_consumer and not client.initialisations and client.since is not None
        if is_silent and abs((client.since or 0) - old.at) <= CLIENT_TOLERANCE_MS and any(_refusals(client, earliest)):
            return client
    return None


def _of_namesake(logs: LogModel, name: str, old: Grant, new: Grant) -> Iterator[int]:
    """Refusals behind a newcomer's grant in a log that two instances of one client.id share.

    Their lines can't be told apart. Who was given the newest epoch a moment ago is not refused as too old, though: such
    a refusal is the former owner's.
    """
    if old.client is None or new.client is None or old.client.closed_at is not None:
        return
    if (old.source, old.client.client_id) != (new.source, new.client.client_id):
        return
    until = new.at + min(AT_ONCE_MS, timeout_of(logs, name, new.client)[0])
    later = [row for row in logs.about(name, EventKind.initialized).tolist() if _is_newer(logs, row, new)]
    until = min([until, *(int(logs.times[row]) - RETRY_MS for row in later)])
    yield from (
        failure.row for failure in new.client.failures if failure.error in FENCED and new.at <= _at(failure) < until
    )


def _is_newer(logs: LogModel, row: int, grant: Grant) -> bool:
    e = logs.events[row]
    return bool(logs.times[row] >= 0 and e["producer_epoch"] > grant.producer_epoch)


def _failures(client: ClientInstance | None) -> tuple[Failure, ...]:
    return client.failures if client is not None else ()


def _at(failure: Failure) -> int:
    return failure.at if failure.at is not None else -1


def _refused_by_brokers(logs: LogModel, old: Grant, since: int) -> Iterator[int]:
    """Writes and requests with the old epoch that brokers refused afterwards; old releases don't name the producer."""
    for row in logs.of_kind(EventKind.stale_epoch, EventKind.init_fenced).tolist():
        e = logs.events[row]
        same_producer = e["producer_id"] == old.producer_id or (
            e["producer_id"] < 0 and 0 <= logs.times[row] - since <= AT_ONCE_MS
        )
        if same_producer and e["producer_epoch"] == old.producer_epoch and logs.times[row] >= since - 1_000:
            yield row


def _is_classic(logs: LogModel, new: Grant) -> bool | None:
    """Whether the epoch stays over transactions: the brokers or the new client are older than transactions v2."""
    releases = [logs.settings.release, new.client.release if new.client is not None else ()]
    known = [release for release in releases if release]
    if any(release[:2] < V2_SINCE for release in known):
        return True
    return False if known else None


def _same_coordinator(logs: LogModel, old: Grant, new: Grant) -> bool:
    """Whether one broker's log holds both grants and covers the time between: then none is missing."""
    is_brokers = old.client is None and new.client is None
    return not is_brokers or (old.source == new.source and logs.covers(old.source, old.at, new.at))


def _without_grants(logs: LogModel, name: str, printed: Set[int]) -> Iterator[Fencing]:
    """Clients that never print their epochs: another instance began, and the one before was refused after that.

    Of two that do (`printed`) their grants have told.
    """
    clients = [client for client in logs.clients_of(name) if not client.is_consumer and client.since is not None]
    starts = sorted((client.since or 0, at) for at, client in enumerate(clients) if client.has_start)
    for old in clients:
        later = (clients[at] for at in _began_while(old, starts))
        others = [new for new in later if new is not old and not {old.number, new.number} <= printed]
        found = (_refused_since(logs, name, _beginning(old), _beginning(new)) for new in others)
        yield from islice((taken for taken in found if taken is not None), 1)


def _beginning(client: ClientInstance) -> Grant:
    """The beginning of a client in place of a grant that it doesn't print."""
    return Grant(client.since or 0, -1, -1, client.rows[0], client.source, client)


def _began_while(old: ClientInstance, starts: list[tuple[int, int]]) -> list[int]:
    """Which clients began after a client did and before its last line, in order; `starts` are times with numbers."""
    begin, end = (bisect_right(starts, time or 0, key=itemgetter(0)) for time in (old.since, old.until))
    return sorted(at for _, at in starts[begin:end])


def _refused_since(logs: LogModel, name: str, old: Grant, new: Grant) -> Fencing | None:
    """The takeover by an instance since whose beginning the one before was refused; None if a timeout explains it."""
    refusals = tuple(_refusals(old.client, new.at - _apart(old, new)))
    if not refusals or _rolled_back(logs, name, old.at, new.at):
        return None
    timeout, is_known = timeout_of(logs, name, old.client)
    is_in_time = new.at - old.at < timeout
    verdict = Verdict.likely if is_in_time or _is_soon(logs, refusals, new.at) else Verdict.possible
    excluded = Excluded.BY_TIME if is_in_time and is_known else Excluded.NOTHING
    return Fencing(old, new, old.client, refusals, verdict, excluded, False)


def _apart(old: Grant, new: Grant) -> int:
    """How far the clocks of two logs may differ."""
    return 0 if old.source == new.source else KNOWN_CLOCK_MS
