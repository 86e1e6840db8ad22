"""Which client wrote each line: by the client.id and transactional.id that it names, else by what stands around it.

Grain: the lines of clients, one source at a time. Most lines carry both names in a bracket (since 1.0); 0.11 names the
transactional.id alone, and an application's own lines name nothing. Those are given to a client in this order: an id in
the text of the exception, the producer's network thread, a thread that only one client uses, the only producer of the
source, the one client that tells of the same exception within a second, the only producer that writes to the topic.
What fits several is left out; where no client is known at all, the source's lines are one nameless client's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.owner_candidates import Fitting, NamedOwner
from kafkatx.kernels.distinct import distinct, distinct_rows
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

SAME_EXCEPTION_MS = 1_000
"""Lines of one exception follow each other within this time."""
OPENING = (EventKind.config_values, EventKind.client_started, EventKind.client_release)
CONSUMERS = (EventKind.unstable_offsets, EventKind.poll_timeout, EventKind.group_lost, EventKind.rebalance)
CONSUMERS_CALLS = ("poll", "commitSync", "commitAsync")
TRANSACTIONAL_CALLS = (
    "initTransactions", "beginTransaction", "commitTransaction", "abortTransaction", "sendOffsetsToTransaction",
)  # fmt: skip
ABOUT_CLIENTS = EventKind.config_values
"""Kinds up to this one are told by clients, of themselves."""

DEFAULT = "producer-"
"""What Kafka puts before the transactional.id of a producer that has no client.id."""
NETWORK_THREAD = regex(r"kafka-producer-network-thread \| (.+)")
NETWORK_THREADS = "kafka-producer-network-thread"
STREAM_THREAD = regex(r".+-StreamThread-[0-9]+")
NAMED_ID = regex(r"transactionalId '([^']+)'|^TransactionalId (\S+): |transactional_id: ([^\s,;]+)")


def is_network_thread(name: str) -> bool:
    """Whether a thread is a Java producer's own, not one of the application's."""
    return name.startswith(NETWORK_THREADS)


@dataclass(frozen=True, slots=True)
class Client:
    """A client object by name, as far as it has one; codes are the model's strings', -1 where there is none."""

    source: int
    client_id: int
    transactional_id: int
    is_consumer: bool = False

    @property
    def is_named(self) -> bool:
        """Whether any line says who it is."""
        return self.client_id >= 0 or self.transactional_id >= 0


@dataclass(frozen=True, slots=True)
class Attributions:
    """Clients and, parallel to the events, the number of the one that each line belongs to (-1: none or not known).

    `names` are the strings of the facts, and those that threads' names add.
    """

    clients: list[Client]
    owners: Array
    names: list[str]


def attributions(model: LogModel) -> Attributions:
    """Give every line of a client to the client that wrote it."""
    work = _Work(model)
    work.by_context()
    work.by_default_names()
    work.openings()
    work.by_surroundings()
    return Attributions(work.clients, work.owners, work.names)


class _Work:
    def __init__(self, model: LogModel) -> None:
        self.model, self.names, self.clients = model, list(model.facts.strings), list[Client]()
        self.codes = {name: code for code, name in enumerate(self.names)}
        self.numbers: dict[Client, int] = {}
        e = model.events
        self.owners = np.full(len(e), -1, np.int64)
        unsure = (e["side"] == Side.unknown) & (e["kind"] <= ABOUT_CLIENTS)
        self.mine = np.flatnonzero((e["side"] == Side.client) | unsure)
        self.of_thread = self._clients_of_threads()
        self._fits: dict[tuple[int, bool], Fitting] = {}

    def _clients_of_threads(self) -> Array:
        """Code of the client.id that the name of each thread holds, -1 for none; by the thread's code, one behind."""
        codes = np.full(len(self.names) + 1, -1, np.int64)
        for code in distinct(self.model.events["thread_code"][self.mine]).tolist():
            if code < 0:
                continue
            name = self.names[code]
            if match := NETWORK_THREAD.fullmatch(name):
                codes[code] = self._code(match[1])
            elif STREAM_THREAD.fullmatch(name) and f"{name}-producer" in self.codes:
                codes[code] = self.codes[f"{name}-producer"]
        return codes

    def _code(self, name: str) -> int:
        if name not in self.codes:
            self.codes[name] = len(self.names)
            self.names.append(name)
        return self.codes[name]

    def _number(self, client: Client) -> int:
        if client not in self.numbers:
            self.numbers[client] = len(self.clients)
            self.clients.append(client)
        return self.numbers[client]

    def by_context(self) -> None:
        """Give lines that name a client.id or a transactional.id."""
        e = self.model.events[self.mine]
        client = np.where(e["client_id_code"] >= 0, e["client_id_code"], self.of_thread[e["thread_code"]])
        is_consumer = (e["transactional_id_code"] < 0) & self._consumerish(e)
        client = np.where(is_consumer, e["client_id_code"], client)
        combos, place = np.unique(
            np.stack([e["source"], client, e["transactional_id_code"], is_consumer], axis=1),
            axis=0,
            return_inverse=True,
        )
        whole, ambiguous = self._resolved(combos.tolist())
        self.owners[self.mine] = np.array(whole, np.int64)[place.reshape(-1)] if len(whole) else -1
        self._latest(place.reshape(-1), combos.tolist(), ambiguous)

    def _consumerish(self, events: Array) -> Array:
        loggers = np.array([".consumer." in name for name in self.names] + [False])
        is_consumer: Array = (
            (events["group_code"] >= 0) | np.isin(events["kind"], CONSUMERS) | loggers[events["logger_code"]]
        )
        return is_consumer

    def _resolved(self, combos: list[list[int]]) -> tuple[list[int], dict[int, list[int]]]:
        """Number of the client of each combination of names, and the candidates of those that several clients fit."""
        named = [Client(source, client, name, bool(is_consumer)) for source, client, name, is_consumer in combos]
        found = [[self._number(one) for one in candidates] for candidates in _candidates(named)]
        whole = [numbers[0] if len(numbers) == 1 else -1 for numbers in found]
        return whole, {at: numbers for at, numbers in enumerate(found) if len(numbers) > 1}

    def _latest(self, place: Array, combos: list[list[int]], ambiguous: dict[int, list[int]]) -> None:
        """Give a line that fits several clients to the one of them that wrote last before it."""
        for at, numbers in ambiguous.items():
            lines = self.mine[place == at]
            theirs = self.mine[np.isin(self.owners[self.mine], numbers)]
            before = np.searchsorted(theirs, lines) - 1
            known = before >= 0
            self.owners[lines[known]] = self.owners[theirs[before[known]]]

    def by_default_names(self) -> None:
        """Take the id out of `producer-<transactional.id>`, which Kafka calls a producer without a client.id.

        A log at WARN holds nothing else: in the names of its threads. The id has to be known from elsewhere.
        """
        codes = distinct(self.model.events["transactional_id_code"]).tolist()
        ids = {self.names[code] for code in codes if code >= 0}
        ids |= {one.value for one in self.model.facts.settings if one.name == "transactional.id" and one.value}
        for number, client in enumerate(self.clients):
            if client.client_id >= 0:
                name = self.names[client.client_id].removeprefix(DEFAULT)
                if name in ids and not name.isdigit():
                    self._is_called(number, name)

    def _is_called(self, number: int, name: str) -> bool:
        """Give a producer of Kafka's default name its id, if it has none; tells whether it did."""
        client = self.clients[number]
        nameless = client.client_id >= 0 > client.transactional_id and not client.is_consumer
        if not nameless or self.names[client.client_id] != DEFAULT + name:
            return False
        known = replace(client, transactional_id=self._code(name))
        if known in self.numbers:
            return False
        del self.numbers[client]
        self.numbers[known], self.clients[number] = number, known
        return True

    def openings(self) -> None:
        """Give nameless lines of a client's making to the client that is made there.

        Configuration, "Instantiated" and release are printed in this order by the thread that makes a client; a
        configuration block names it in its values.
        """
        e, blocks = self.model.events, self._names_in_blocks()
        waiting: dict[tuple[int, int], list[int]] = defaultdict(list)
        making: dict[tuple[int, int], int] = {}
        for row in self.mine[np.isin(e["kind"][self.mine], OPENING)].tolist():
            kind, where = EventKind(int(e["kind"][row])), (int(e["source"][row]), int(e["thread_code"][row]))
            if kind is EventKind.config_values and self.owners[row] < 0:
                self.owners[row] = self._named_by(blocks.get(row, {}), where[0], self.model.string(row, "detail"))
            if self.owners[row] >= 0:
                making[where] = int(self.owners[row])
                for earlier in waiting.pop(where, []):
                    self.owners[earlier] = self.owners[row]
            elif kind is EventKind.config_values:
                making.pop(where, None)
                waiting[where] = [row]
            elif where in making:
                self.owners[row] = making[where]
            elif kind is EventKind.client_started:
                waiting[where].append(row)
            if kind is EventKind.client_release:
                making.pop(where, None)

    def _names_in_blocks(self) -> dict[int, dict[str, str]]:
        """client.id and transactional.id of the settings that follow each line that begins a block."""
        e, found = self.model.events, dict[int, dict[str, str]]()
        rows = self.mine[e["kind"][self.mine] == EventKind.config_values]
        for setting in self.model.facts.settings:
            if setting.name in ("client.id", "transactional.id") and setting.value not in (None, "", "null"):
                row = block_row(e, rows, setting.source, setting.line)
                if row >= 0:
                    found.setdefault(row, {}).setdefault(setting.name, setting.value or "")
        return found

    def _named_by(self, names: dict[str, str], source: int, detail: str | None) -> int:
        """The client that the names of a configuration lead to, -1 where they don't."""
        client, name = (self.codes.get(names.get(key, ""), -1) for key in ("client.id", "transactional.id"))
        is_consumer = "Consumer" in (detail or "")
        of_client, of_id = (source, "client", client), (source, "id", name)
        fits = [
            number
            for one, number in {**self._called.get(of_client, {}), **self._called.get(of_id, {})}.items()
            if one.is_consumer == is_consumer
            and (one.client_id == client or client < 0 or one.client_id < 0)
            and (one.transactional_id == name or (name < 0 and "transactional.id" not in names))
        ]
        return fits[0] if len(fits) == 1 else -1

    @cached_property
    def _called(self) -> dict[tuple[int, str, int], dict[Client, int]]:
        """Clients with their numbers by source and client.id, and by source and transactional.id; none changes then."""
        found: dict[tuple[int, str, int], dict[Client, int]] = defaultdict(dict)
        for one, number in self.numbers.items():
            if one.client_id >= 0:
                found[one.source, "client", one.client_id][one] = number
            if one.transactional_id >= 0:
                found[one.source, "id", one.transactional_id][one] = number
        return found

    def by_surroundings(self) -> None:
        """Give nameless lines by thread, by exception, by topic, or since only one client is there."""
        known: dict[tuple[int, bool, int], int] = {}
        for row in self._nameless():
            source, trace = (int(self.model.events[column][row]) for column in ("source", "trace_code"))
            of = source, self._is_consumers(row), trace  # what one trace says is looked up once in a source
            if of not in known:
                named = self._named_in_text(row, self._fitting(*of[:2]).numbers)
                known[of] = -1 if named is None else named
            self.owners[row] = known[of]
        self.__dict__.pop("_of_source", None)
        self._fits.clear()
        for row in self._nameless():
            self.owners[row] = self._surrounded(row, int(self.model.events["source"][row]))

    def _nameless(self) -> list[int]:
        rows: list[int] = self.mine[self.owners[self.mine] < 0].tolist()
        return [row for row in rows if self.model.kind(row) not in OPENING]

    def _fitting(self, source: int, is_consumers: bool) -> Fitting:
        if (source, is_consumers) not in self._fits:
            here = self._of_source.get(source, [])
            numbers = [number for number in here if self.clients[number].is_consumer == is_consumers]
            transactional = [number for number in numbers if self.clients[number].transactional_id >= 0]
            self._fits[source, is_consumers] = Fitting(numbers, frozenset(numbers), transactional)
        return self._fits[source, is_consumers]

    def _surrounded(self, row: int, source: int) -> int:
        is_consumers = self._is_consumers(row)
        fitting = self._fitting(source, is_consumers)
        if not fitting.numbers:
            return self._number(Client(source, -1, -1, is_consumers))
        thread = self._of_thread.get((source, int(self.model.events["thread_code"][row])), set())
        chosen: Iterable[Collection[int]] = (
            thread & fitting.set,
            fitting.numbers,
            fitting.transactional if self._is_transactional(row) else (),
            self._telling_the_same(row, is_consumers),
            self._writing_to(row, source),
        )
        return next((next(iter(candidates)) for candidates in chosen if len(candidates) == 1), -1)

    def _named_in_text(self, row: int, fitting: list[int]) -> int | None:
        trace = self.model.trace(row)
        for link in trace.chain if trace is not None else ():
            if match := NAMED_ID.search(link.message):
                name = match[1] or match[2] or match[3]
                code = self.codes.get(name, -1)
                found = [number for number in fitting if code >= 0 and self.clients[number].transactional_id == code]
                if len(found) == 1:
                    return found[0]
                if called := [number for number in fitting if self._is_called(number, name)]:
                    return called[0]
                if not found:
                    return self._number(Client(int(self.model.events["source"][row]), -1, self._code(name)))
        return None

    def _is_consumers(self, row: int) -> bool:
        trace = self.model.trace(row)
        calls = trace.calls if trace is not None else ()
        api = self.model.string(row, "api")
        if set(calls) & set(TRANSACTIONAL_CALLS) or api in TRANSACTIONAL_CALLS:
            return False
        return self.model.kind(row) in CONSUMERS or any(call in CONSUMERS_CALLS for call in (*calls, api))

    def _is_transactional(self, row: int) -> bool:
        trace = self.model.trace(row)
        calls = trace.calls if trace is not None else ()
        return any(call in TRANSACTIONAL_CALLS for call in (*calls, self.model.string(row, "api")))

    @cached_property
    def _of_source(self) -> dict[int, list[int]]:
        """Producers and consumers of each source (tools that ask brokers for other things are neither)."""
        found = defaultdict(list)
        for client, number in self.numbers.items():
            if client.client_id < 0 or not self.names[client.client_id].startswith("adminclient"):
                found[client.source].append(number)
        return found

    @cached_property
    def _of_thread(self) -> dict[tuple[int, int], set[int]]:
        """Clients that lines of each thread name; a line without a thread tells nothing."""
        e, found = self.model.events, defaultdict(set)
        rows = self.mine[(self.owners[self.mine] >= 0) & (e["thread_code"][self.mine] >= 0)]
        combos = distinct_rows(np.stack([e["source"][rows], e["thread_code"][rows], self.owners[rows]], axis=1))
        for source, thread, owner in combos.tolist():
            found[source, thread].add(owner)
        return found

    def _telling_the_same(self, row: int, is_consumers: bool) -> tuple[int, ...]:
        """The only client of a kind with a line of the same exception within a second; none where there are several."""
        name, at, source = self._exception(row), int(self.model.times[row]), int(self.model.events["source"][row])
        told = self._exceptions.get((source, name, is_consumers))
        if told is None or at < 0:
            return ()
        first = int(np.searchsorted(told.times, at - SAME_EXCEPTION_MS))
        end = int(np.searchsorted(told.times, at + SAME_EXCEPTION_MS, "right"))
        return (int(told.owners[first]),) if first < end and told.changes[first] == told.changes[end - 1] else ()

    @cached_property
    def _exceptions(self) -> dict[tuple[int, str, bool], NamedOwner]:
        """Exceptions that are somebody's, by source, class, and whether their clients are consumers."""
        e, found = self.model.events, defaultdict(list)
        rows = self.mine[(self.owners[self.mine] >= 0) & ((e["trace_code"] >= 0) | (e["error_code"] >= 0))[self.mine]]
        for row in rows.tolist():
            if (name := self._exception(row)) and self.model.times[row] >= 0:
                source, owner = int(e["source"][row]), int(self.owners[row])
                is_consumer = self.clients[owner].is_consumer
                if owner in self._fitting(source, is_consumer).set:
                    found[source, name, is_consumer].append((int(self.model.times[row]), owner))
        return {key: NamedOwner.of(told) for key, told in found.items()}

    def _exception(self, row: int) -> str:
        trace = self.model.trace(row)
        return trace.root.name if trace is not None else (self.model.string(row, "error") or "").rpartition(".")[2]

    def _writing_to(self, row: int, source: int) -> set[int]:
        topic = int(self.model.events["topic_code"][row])
        return self._writers.get((source, topic), set()) if topic >= 0 else set()

    @cached_property
    def _writers(self) -> dict[tuple[int, int], set[int]]:
        e, found = self.model.events, defaultdict(set)
        rows = self.mine[(self.owners[self.mine] >= 0) & (e["topic_code"][self.mine] >= 0)]
        combos = distinct_rows(np.stack([e["source"][rows], e["topic_code"][rows], self.owners[rows]], axis=1))
        for source, topic, owner in combos.tolist():
            if not self.clients[owner].is_consumer:
                found[source, topic].add(owner)
        return found


def _candidates(named: list[Client]) -> Iterator[list[Client]]:
    """For each combination of names the clients that it fits: one name stands for all that have it with another."""
    whole: dict[Client, set[Client]] = defaultdict(set)
    for one in named:
        if one.client_id >= 0 and one.transactional_id >= 0:
            whole[replace(one, client_id=-1)].add(one)
            whole[replace(one, transactional_id=-1)].add(one)
    for one in named:
        fits = whole.get(one, {one}) if one.is_named else ()
        yield sorted(fits, key=lambda client: (client.client_id, client.transactional_id))


def block_row(events: Array, rows: Array, source: int, line: int) -> int:
    """Row of the line that a block of settings begins with, among `rows` (in order), for a setting of the block."""
    mine = rows[events["source"][rows] == source]
    at = int(np.searchsorted(events["line"][mine], line, "right")) - 1
    return int(mine[at]) if at >= 0 else -1
