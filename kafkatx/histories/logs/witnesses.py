"""What logs saw of the end of each transaction: rows of events laid beside transactions, before endings are decided.

Grain: ended transactions (of rows, or aborted data of which no row is at hand); vectorised over all at once, with loops
only over instances' failures. Nothing is decided here: a witness is a line that belongs to this end and no other, by
producer id and epoch, or by the id and the time.
Clocks  brokers' lines and rows are compared with the brokers' tolerance, clients' lines with the clients', less the
        skew that shared events show (histories/logs/clocks.py); a clock known to be far off widens its tolerance.
Source  TransactionCoordinator.onEndTransactionComplete ("Completed rollback ...", all releases), KafkaProducer
        .abortTransaction ("Aborting incomplete transaction", 2.6+), TransactionManager (KIP-360), RequestChannel.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kafkatx.histories.growing import Array
from kafkatx.histories.logs.story import ClientInstance, Clock, Failure, LogStory
from kafkatx.kernels.transactions import EMPTY, PREPARE_ABORT
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, CLIENT_TOLERANCE_MS, RETRY_WINDOW_MS
from kafkatx.terms.events import EventKind, Side

FENCED = (
    "ProducerFencedException", "InvalidProducerEpochException", "ProducerFencedError", "InvalidProducerEpochError",
    "ProducerFenced", "InvalidProducerEpoch", "_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH",
)  # fmt: skip
"""How clients name the refusal of an old epoch; none of them tells a newer instance from a timeout."""
STATE_REFUSED = ("InvalidTxnStateException", "InvalidTxnState", "INVALID_TXN_STATE")
ROLLBACK_SLACK_MS = 1_000
"""How long before the row its own line can be dated: both are the coordinator's clock."""
COMMITS = 1
"""`number` of an EndTxn request that commits."""
KNOWN_CLOCK_MS = 500
"""What a client's clock of known skew may still be off."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends to lay events beside: arrays of equal length, -1 where not known.

    `name` is the code of the transactional.id among the strings of the logs; `epoch` that of the data, `next_*` what
    the producer that comes next is given; `is_abort` whether it ended so. Times are milliseconds.
    """

    producer_id: Any
    epoch: Any
    name: Any
    started_at: Any
    decided_at: Any
    completed_at: Any
    next_producer_id: Any
    next_epoch: Any
    is_abort: Any


def ends_of(transactions: Array, data_epoch: Array, names: Array) -> Ends:
    """Return the ends of transactions that rows show; `names` are the codes of the ids in logs (see name_codes).

    Where the rows stop at the end, the epoch above it is what the next producer would be given.
    """
    t = transactions
    last = np.where(t["completion_epoch"] >= 0, t["completion_epoch"], t["decision_epoch"]).astype(np.int64)
    owner = np.where(t["completed_producer_id"] >= 0, t["completed_producer_id"], t["producer_id"])
    is_known = t["next_state"] == EMPTY
    return Ends(
        producer_id=t["producer_id"],
        epoch=data_epoch.astype(np.int64),
        name=names[t["id_code"]],
        started_at=np.where(t["started_at"] >= 0, t["started_at"], t["begin_timestamp"]),
        decided_at=np.select([t["decided_at"] >= 0, t["decision_timestamp"] >= 0],
                             [t["decided_at"], t["decision_timestamp"]], t["completion_timestamp"]),
        completed_at=np.maximum(t["decision_timestamp"], t["completion_timestamp"]),
        next_producer_id=np.where(is_known, t["next_producer_id"], owner),
        next_epoch=np.where(is_known, t["next_epoch"], np.where(last >= 0, last + 1, -1)),
        is_abort=t["decision"] == PREPARE_ABORT,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Witnesses:
    """Rows of events parallel to the ends they witness, -1 for none; instances are numbers of LogStory.clients.

    `rollback`: the coordinator's line that it rolled the transaction back; `granted`: a broker gave the epoch that
    follows within the time in which a new instance asks again; `taken_over`: another instance's log shows that it got
    it, `renewed`: its own instance did; `refusal`: the transaction's own instance (or the broker) shows that its old
    epoch was refused afterwards, so it was alive; `state_refused`: a call of it was refused with INVALID_TXN_STATE;
    `client_abort`: its own abort just before the end, with no refusal after it; `own_bump`: it asked for a new epoch of
    its own producer id (KIP-360); `end_request`, `init_request`: the request log's EndTxn and InitProducerId at that
    time. `instance` ran the transaction, `new_instance` took the id over. `is_silent`: the coordinator's log covers the
    end and has no rollback line, `goes_on`: the log of its instance goes on beyond the end, `is_init_alone`: the
    request log, which shows other EndTxn of the id, shows none there beside InitProducerId.
    """

    rollback: Any
    granted: Any
    taken_over: Any
    renewed: Any
    refusal: Any
    state_refused: Any
    client_abort: Any
    own_bump: Any
    end_request: Any
    init_request: Any
    instance: Any
    new_instance: Any
    is_silent: Any
    goes_on: Any
    is_init_alone: Any

    @property
    def is_taken_over(self) -> Any:
        """Whether logs show two living instances: another got the next epoch, and the old one was refused after."""
        return (self.taken_over >= 0) & (self.refusal >= 0)

    @property
    def is_granted(self) -> Any:
        """Whether a log shows that the epoch that follows was given, and not to the transaction's own instance."""
        return ((self.granted >= 0) | (self.taken_over >= 0)) & (self.renewed < 0)

    def rows_of(self, number: int) -> dict[str, int]:
        """Rows of the events beside one end, by name of the witness."""
        kinds = ("rollback", "granted", "taken_over", "renewed", "refusal", "state_refused", "client_abort", "own_bump",
                 "end_request", "init_request")  # fmt: skip
        return {kind: row for kind in kinds if (row := int(getattr(self, kind)[number])) >= 0}


def nobody(count: int) -> Witnesses:
    """Return the witnesses of `count` ends where no log is at hand."""
    rows = {field.name: np.full(count, -1, np.int64) for field in fields(Witnesses)}
    flags = {name: np.zeros(count, bool) for name in ("is_silent", "goes_on", "is_init_alone")}
    return Witnesses(**(rows | flags))


def name_codes(logs: LogStory, names: list[str]) -> Array:
    """Code among the strings of the logs of each name, -1 for names that no line has; one more -1 behind."""
    codes = {text: code for code, text in enumerate(logs.facts.strings)}
    return np.array([*(codes.get(name, -1) for name in names), -1], np.int64)


def witnesses(logs: LogStory, ends: Ends) -> Witnesses:
    """Lay the events of logs beside ends."""
    found = nobody(len(ends.decided_at))
    if not len(logs.events) or not len(ends.decided_at):
        return found
    work = _Work(logs, ends, found)
    work.rollbacks()
    work.instances()
    work.grants()
    work.refusals()
    work.client_aborts()
    work.own_bumps()
    work.requests()
    return found


def _tolerance(clock: Clock) -> int:
    """How far a client's time may lie from a broker's when the skew is taken off.

    What few pairs show as skew may be a slow answer.
    """
    if clock.skew_ms is None:
        return CLIENT_TOLERANCE_MS
    return min(CLIENT_TOLERANCE_MS, KNOWN_CLOCK_MS + 4 * (clock.spread_ms or 0) + abs(clock.skew_ms))


class _Work:
    def __init__(self, logs: LogStory, ends: Ends, found: Witnesses) -> None:
        self.logs, self.ends, self.found = logs, ends, found
        self.reached = np.maximum(ends.decided_at, ends.completed_at)
        self.names = self._timed(ends.name)
        known = (ends.producer_id >= 0) & (ends.epoch >= 0)
        self.keys = self._timed(np.where(known, ends.producer_id.astype(np.int64) * 65_536 + ends.epoch, -1))
        skews = [abs(clock.skew_ms or 0) for clock in logs.clocks]
        self.skew = np.array([clock.skew_ms or 0 for clock in logs.clocks], np.int64)
        self.client_tolerance = np.array([_tolerance(clock) for clock in logs.clocks], np.int64)
        self.broker_tolerance = np.array([BROKERS_TOLERANCE_MS + skew for skew in skews], np.int64)

    def _timed(self, keys: Array) -> Array:
        """Keys of ends whose time is known, -1 for the others."""
        known: Array = np.where(self.ends.decided_at >= 0, keys, -1)
        return known

    def _rows(self, *kinds: EventKind) -> tuple[Array, Array]:
        """Timed events of these kinds, and their times with the skew of their source taken off where it is known."""
        rows = self.logs.of_kind(*kinds)
        rows = rows[self.logs.times[rows] >= 0]
        return rows, self.logs.times[rows] - self.skew[self.logs.events["source"][rows]]

    def rollbacks(self) -> None:
        """A line belongs to the last abort of its id that was decided before it and is not long over.

        Whoever takes the id over at once may have committed again within the slack.
        """
        rows, times = self._rows(EventKind.timeout_rollback)
        names = self.logs.events["transactional_id_code"][rows]
        tolerance = self.broker_tolerance[self.logs.events["source"][rows]]
        aborts = np.where(self.ends.is_abort, self.names, -1)
        last, _ = _looked_up(aborts, names, self.ends.decided_at, times + ROLLBACK_SLACK_MS)
        fits = (last >= 0) & (times <= self.reached[last] + tolerance)
        self._note(self.found.rollback, last[fits], rows[fits])
        self._silence()

    def _silence(self) -> None:
        """Ends within the coordinator's own log without a line: a broker that gave this id its epochs, and goes on.

        Where brokers are several, the one that granted the id before the end and after it is taken for its coordinator.
        """
        rows, times = self._rows(EventKind.initialized)
        brokers = [number for number, source in enumerate(self.logs.facts.sources) if source.side == Side.broker]
        told = set(np.unique(self.logs.events["source"][rows]).tolist())
        coordinators = [number for number in brokers if number in told]
        for number in coordinators:
            mine = self.logs.events["source"][rows] == number
            covered = self._covered(number)
            if len(coordinators) > 1:
                names, at = self.logs.events["transactional_id_code"][rows[mine]], times[mine]
                covered &= self._named_around(names, at)
            self.found.is_silent[covered & (self.found.rollback < 0) & self.ends.is_abort] = True

    def _covered(self, number: int) -> Any:
        source, shift = self.logs.facts.sources[number], self.logs.clocks[number].zone_ms + int(self.skew[number])
        first, last = source.first_at - shift, source.last_at - shift
        known = (source.first_at >= 0) & (self.ends.decided_at >= 0)
        return known & (first < self.ends.decided_at) & (self.reached + RETRY_WINDOW_MS < last)

    def _named_around(self, names: Array, times: Array) -> Any:
        """Whether a broker granted the id of each end before it, and again after it."""
        before, after = _looked_up(names, self.names, times, self.ends.decided_at)
        return (before >= 0) & (after >= 0)

    def instances(self) -> None:
        """The instance that ran a transaction was given its producer id, at its epoch or the nearest one below."""
        given = [
            (one.producer_id * 65_536 + one.producer_epoch, client.number, one.at if one.at is not None else -1)
            for client in self.logs.clients
            for one in client.initialisations
        ]
        if given:
            keys, numbers, times = (np.array(column, np.int64) for column in zip(*sorted(given), strict=True))
            wanted = self.ends.producer_id.astype(np.int64) * 65_536 + self.ends.epoch
            at = np.searchsorted(keys, wanted, "right") - 1
            same = (at >= 0) & (keys[at] // 65_536 == self.ends.producer_id) & (self.ends.epoch >= 0)
            same &= self._is_name_of(numbers[at]) & (
                times[at] <= self.reached + CLIENT_TOLERANCE_MS + self._off(numbers[at])
            )
            self.found.instance[same] = numbers[at][same]
        self._instances_without_grants()

    def _is_name_of(self, numbers: Array) -> Any:
        """Whether an instance's transactional.id is that of the end beside it, as far as both are known."""
        names = name_codes(self.logs, [client.transactional_id or "" for client in self.logs.clients])
        trusted = np.array([client.owns_producer_ids for client in self.logs.clients], bool)
        return (names[numbers] == self.ends.name) | (names[numbers] < 0) | (self.ends.name < 0) | ~trusted[numbers]

    def _off(self, numbers: Array) -> Any:
        return np.abs(self.skew)[np.array([client.source for client in self.logs.clients], np.int64)[numbers]]

    def _instances_without_grants(self) -> None:
        """Clients that never print their producer id (aiokafka, a log that begins later): the only one alive then."""
        for name, clients in self._silent_clients().items():
            ends = np.flatnonzero((self.ends.name == name) & (self.found.instance < 0) & (self.ends.decided_at >= 0))
            alive = np.array([self._is_alive(client, self.ends.decided_at[ends]) for client in clients]).reshape(
                len(clients), len(ends)
            )
            only = alive.sum(axis=0) == 1
            numbers = np.array([client.number for client in clients], np.int64)
            self.found.instance[ends[only]] = numbers[np.argmax(alive[:, only], axis=0)] if only.any() else -1

    def _silent_clients(self) -> dict[int, list[ClientInstance]]:
        found: dict[int, list[ClientInstance]] = {}
        codes = name_codes(self.logs, [client.transactional_id or "" for client in self.logs.clients])
        for client, code in zip(self.logs.clients, codes.tolist(), strict=False):
            if code >= 0 and not client.initialisations and not client.is_consumer and client.owns_producer_ids:
                found.setdefault(code, []).append(client)
        return found

    def _is_alive(self, client: ClientInstance, times: Array) -> Any:
        if client.since is None or client.until is None:
            return np.zeros(len(times), bool)
        slack = int(self.client_tolerance[client.source]) + abs(int(self.skew[client.source]))
        return (client.since - slack <= times) & (times <= client.until + slack)

    def grants(self) -> None:
        """The epoch that follows: what a broker granted, and which other instance shows that it has it."""
        latest = self.reached + RETRY_WINDOW_MS
        rows, times = self._rows(EventKind.initialized)
        e = self.logs.events
        late = latest + BROKERS_TOLERANCE_MS
        self._follow(self.found.granted, e["producer_id"][rows], e["producer_epoch"][rows], rows, times, late)
        clients = [
            (one, client) for client in self.logs.clients for one in client.initialisations if one.at is not None
        ]
        if not clients:
            return
        columns = [(one.producer_id, one.producer_epoch, one.row, client.number) for one, client in clients]
        producer_ids, epochs, rows, numbers = (np.array(column, np.int64) for column in zip(*columns, strict=True))
        times = self.logs.times[rows] - self.skew[e["source"][rows]]
        self._follow(self.found.taken_over, producer_ids, epochs, rows, times, latest + CLIENT_TOLERANCE_MS)
        of_row = dict(zip(rows.tolist(), numbers.tolist(), strict=True))
        new = np.array([of_row.get(row, -1) for row in self.found.taken_over.tolist()], np.int64)
        own = (new == self.found.instance) & (new >= 0)
        self.found.renewed[own] = self.found.taken_over[own]
        self.found.new_instance[:] = np.where(own, -1, new)
        self.found.taken_over[own] = -1

    def _follow(
        self, column: Array, producer_ids: Array, epochs: Array, rows: Array, times: Array, latest: Array
    ) -> None:
        """Note for each abort the first event that gives the producer id and epoch that follow it, in time."""
        wanted = self.ends.next_producer_id.astype(np.int64) * 65_536 + self.ends.next_epoch
        order = np.lexsort((rows, producer_ids * 65_536 + epochs))
        keys = (producer_ids.astype(np.int64) * 65_536 + epochs)[order]
        if not len(keys):
            return
        at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
        fits = (
            (keys[at] == wanted) & (self.ends.next_epoch >= 0) & (self.ends.next_producer_id >= 0) & self.ends.is_abort
        )
        early = self.ends.decided_at - CLIENT_TOLERANCE_MS
        fits &= (times[order][at] <= latest) & (times[order][at] >= early)
        column[fits] = rows[order][at][fits]

    def refusals(self) -> None:
        """What the instance of a transaction was answered afterwards belongs to its last one that began before."""
        for client in self.logs.clients:
            ends = np.flatnonzero(self.found.instance == client.number)
            if not len(ends):
                continue
            ends = ends[np.argsort(self.ends.started_at[ends], kind="stable")]
            self._go_on(client, ends)
            started = self.ends.started_at[ends]
            for failure in client.failures:
                self._refusal(client, failure, ends, started)
        self._refused_by_brokers()

    def _go_on(self, client: ClientInstance, ends: Array) -> None:
        if client.until is not None:
            until = client.until - int(self.skew[client.source])
            self.found.goes_on[ends] = until > self.reached[ends] + self.client_tolerance[client.source]

    def _refusal(self, client: ClientInstance, failure: Failure, ends: Array, started: Array) -> None:
        name = failure.exception.rpartition(".")[2]
        column = self.found.refusal if name in FENCED else self.found.state_refused if name in STATE_REFUSED else None
        if column is None or failure.at is None:
            return
        at, slack = failure.at - int(self.skew[client.source]), int(self.client_tolerance[client.source])
        last = int(np.searchsorted(started, at + slack, "right")) - 1
        if last >= 0 and at >= self.ends.decided_at[ends[last]] - slack:
            self._note(column, ends[last : last + 1], np.array([failure.row]))

    def _refused_by_brokers(self) -> None:
        """Writes with an epoch that is over, as partition leaders log them."""
        rows, times = self._rows(EventKind.stale_epoch, EventKind.init_fenced)
        e = self.logs.events
        wanted = e["producer_id"][rows] * 65_536 + e["producer_epoch"][rows]
        known = (e["producer_id"][rows] >= 0) & (e["producer_epoch"][rows] >= 0)
        wanted = np.where(known, wanted, -1)
        last, _ = _looked_up(self.keys, wanted, self.ends.decided_at, times + BROKERS_TOLERANCE_MS)
        self._note(self.found.refusal, last[last >= 0], rows[last >= 0])

    def client_aborts(self) -> None:
        """A client's own abort is the next end of its transactions, unless it was refused."""
        rows, times = self._rows(EventKind.abort_called, EventKind.abort_on_close)
        owners = self._owners()[rows]
        slack = self.client_tolerance[self.logs.events["source"][rows]]
        near = _nearest(self._timed(self.found.instance), owners, self.ends.decided_at, times)
        fits = (near >= 0) & self.ends.is_abort[near] & (np.abs(times - self.ends.decided_at[near]) <= slack)
        refused = self.logs.times[self.found.refusal[near]]
        fits &= (self.found.refusal[near] < 0) | (refused + slack < times)
        fits &= (self.found.state_refused[near] < 0) & (self.found.rollback[near] < 0)
        self._note(self.found.client_abort, near[fits], rows[fits])

    def own_bumps(self) -> None:
        """A client that asks for a new epoch names the old one."""
        rows, times = self._rows(EventKind.init_bump)
        e = self.logs.events
        slack = self.client_tolerance[e["source"][rows]]
        wanted = e["producer_id"][rows] * 65_536 + e["producer_epoch"][rows]
        last, _ = _looked_up(self.keys, wanted, self.ends.decided_at, times + slack)
        self._note(self.found.own_bump, last[last >= 0], rows[last >= 0])

    def requests(self) -> None:
        """The request log prints a request when it was answered: just after the row it made."""
        rows, times = self._rows(EventKind.request_seen)
        if not len(rows):
            return
        e = self.logs.events[rows]
        names = e["transactional_id_code"]
        apis = np.array([self.logs.string(row, "api") or "" for row in rows.tolist()])
        granted = np.array([self.logs.string(row, "error") in (None, "NONE") for row in rows.tolist()])
        ends, begins = apis == "EndTxn", apis == "InitProducerId"
        near, of_abort = (
            _nearest(keys, names, self.ends.decided_at, times)
            for keys in (self.names, np.where(self.ends.is_abort, self.names, -1))
        )
        ended = self._is_abort_at(near, times) & ends & granted & (e["number"] != COMMITS)
        begun = self._is_abort_at(of_abort, times) & begins
        self._note(self.found.end_request, near[ended], rows[ended])
        self._note(self.found.init_request, of_abort[begun], rows[begun])
        alone = (self.found.init_request >= 0) & (self.found.end_request < 0)
        self.found.is_init_alone[alone & np.isin(self.ends.name, names[ends & (names >= 0)])] = True

    def _is_abort_at(self, ends: Array, times: Array) -> Any:
        """Whether an end is there, an abort, and of that time."""
        near = np.abs(times - self.ends.decided_at[ends]) <= BROKERS_TOLERANCE_MS
        return (ends >= 0) & self.ends.is_abort[ends] & near

    def _owners(self) -> Array:
        """Number of the instance that each event belongs to, -1 for none."""
        owners = np.full(len(self.logs.events), -1, np.int64)
        for client in self.logs.clients:
            owners[list(client.rows)] = client.number
        return owners

    def _note(self, column: Array, ends: Array, rows: Array) -> None:
        """Write rows beside ends; the first row of an end stays."""
        for end, row in zip(ends.tolist(), rows.tolist(), strict=True):
            if column[end] < 0:
                column[end] = row


def _nearest(keys: Array, wanted: Array, times: Array, limits: Array) -> Array:
    """Number of the one of `keys` that equals each wanted one and is nearest to its time, else -1."""
    before, after = _looked_up(keys, wanted, times, limits)
    far = np.iinfo(np.int64).max
    back = np.where(before >= 0, limits - times[before], far)
    ahead = np.where(after >= 0, times[after] - limits, far)
    return np.where(ahead < back, after, before)


def _looked_up(keys: Array, wanted: Array, times: Array, limits: Array) -> tuple[Array, Array]:
    """For each wanted key and limit the numbers of the last of `keys` not after it, and of the first one after it.

    Keys below 0 are nobody's; -1 where there is none.
    """
    all_keys = np.concatenate([keys, wanted]).astype(np.int64)
    all_times = np.concatenate([times, limits]).astype(np.int64)
    is_wanted = np.arange(len(all_keys)) >= len(keys)
    order = np.lexsort((is_wanted, all_times, all_keys))
    places = np.arange(len(order))
    before = np.maximum.accumulate(np.where(is_wanted[order], -1, places))
    after = np.minimum.accumulate(np.where(is_wanted[order], len(order), places)[::-1])[::-1]
    asked = np.empty(len(wanted), np.int64)
    asked[order[is_wanted[order]] - len(keys)] = places[is_wanted[order]]
    return _number(order, all_keys, wanted, before[asked]), _number(order, all_keys, wanted, after[asked])


def _number(order: Array, keys: Array, wanted: Array, places: Array) -> Array:
    """Numbers behind places in the order, -1 where there is none or its key is another."""
    inside = (places >= 0) & (places < len(order))
    numbers = order[places.clip(0, max(len(order) - 1, 0))] if len(order) else places
    found: Array = np.where(inside & (wanted >= 0) & (keys[numbers] == wanted), numbers, -1) if len(order) else places
    return found
