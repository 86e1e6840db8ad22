"""What logs tell, interpreted: events by kind, the clients behind them, whose clock wrote what.

The facts are those of text/events.py; nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kafkatx.histories.growing import Array
from kafkatx.histories.logs.settings import Settings, release_of
from kafkatx.terms.events import EventKind, Side
from kafkatx.text.events import LogFacts, Setting, Trace


@dataclass(frozen=True, slots=True)
class Clock:
    """How a source's printed times lie to the brokers' clock.

    `zone_ms` is subtracted from printed times (a multiple of 15 minutes; 0 where times name their zone or nothing tells
    otherwise); `skew_ms` is the median of source minus broker after that, None where no event is shared; `spread_ms`
    its spread, `pairs` how many events it rests on; `zone_from` says where the zone comes from (printed, --log-zone,
    estimated, assumed UTC).
    """

    zone_ms: int = 0
    skew_ms: int | None = None
    spread_ms: int | None = None
    pairs: int = 0
    zone_from: str = "assumed UTC"


@dataclass(frozen=True, slots=True)
class Initialised:
    """A client was given (or told of) a producer id; `row` is the event."""

    row: int
    at: int | None
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong as a client's log shows it; lines that repeat one exception are one failure.

    `exception` and `message` are the root cause's, `outer` the class the application saw; `call` the client method that
    threw (commitTransaction, abortTransaction, beginTransaction, initTransactions, sendOffsetsToTransaction, send,
    flush, poll, commitSync), None where nothing tells; `category` what the cause means for the client's release
    (fatal, abortable, retriable, refresh, config, unknown: terms/catalogue/exceptions.tsv); `level` the most severe
    level of its lines.
    """

    row: int
    at: int | None
    level: int
    exception: str
    message: str
    outer: str
    call: str | None
    category: str
    rows: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClientInstance:
    """One life of one client object in one source: from its start (or first line) to its close (or last line).

    `implementation` is java, librdkafka, kafka-python, aiokafka, franz-go or unknown; `release` that of the library
    ((), if unknown); `rows` all its events in order; `since` and `until` span them; `has_start` whether its making was
    logged, `closed_at` when close() was called; `settings` is what its configuration block or file says;
    `owns_producer_ids` is false where the context names another id than the one that was given them (Flink's sink).
    """

    number: int
    source: int
    client_id: str | None
    transactional_id: str | None
    implementation: str
    release: tuple[int, ...]
    rows: tuple[int, ...]
    since: int | None
    until: int | None
    has_start: bool
    closed_at: int | None
    initialisations: tuple[Initialised, ...]
    failures: tuple[Failure, ...]
    settings: tuple[Setting, ...] = ()
    is_consumer: bool = False
    owns_producer_ids: bool = True

    @property
    def producer_ids(self) -> set[int]:
        """Producer ids that it was given."""
        return {given.producer_id for given in self.initialisations}


@dataclass(frozen=True)
class LogStory:
    """Everything that rules may ask of logs. Row numbers index `events`; times are milliseconds UTC, zones applied."""

    facts: LogFacts = field(default_factory=LogFacts)
    clocks: tuple[Clock, ...] = ()
    clients: tuple[ClientInstance, ...] = ()

    @property
    def events(self) -> Array:
        """All events, by source and line."""
        events: Array = self.facts.events
        return events

    @cached_property
    def times(self) -> Array:
        """Time of every event by the brokers' zone, -1 where none is printed."""
        at, shift = self.events["at"], np.array([clock.zone_ms for clock in self.clocks] or [0], np.int64)
        return np.where(at >= 0, at - shift[self.events["source"]], -1)

    @cached_property
    def _by_kind(self) -> dict[int, Array]:
        if not len(self.events):
            return {}
        order = np.argsort(self.events["kind"], kind="stable")
        kinds, starts = np.unique(self.events["kind"][order], return_index=True)
        return dict(zip(kinds.tolist(), np.split(order, starts[1:]), strict=False))

    @cached_property
    def settings(self) -> Settings:
        """Settings in force, of clients and of brokers; brokers' defaults follow the release that they log."""
        rows = self.of_kind(EventKind.broker_release)
        said = [self.string(int(row), "detail") for row in rows[-1:]]
        return Settings(self.facts.settings, self.facts.sources, release_of(self.facts.settings, said))

    @cached_property
    def owners(self) -> Array:
        """Number of the client instance that wrote each event, -1 for none."""
        found = np.full(len(self.events), -1, np.int64)
        for client in self.clients:
            found[np.asarray(client.rows, np.int64)] = client.number
        return found

    def of_kind(self, *kinds: EventKind) -> Array:
        """Row numbers of events of these kinds, in order."""
        found = [self._by_kind[kind] for kind in kinds if kind in self._by_kind]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def string(self, row: int, column: str) -> str | None:
        """The string behind a code of an event (`transactional_id`, `client_id`, `error`, `detail`, ...), or None."""
        code = int(self.events[f"{column}_code"][row])
        return self.facts.strings[code] if code >= 0 else None

    def number(self, row: int, column: str) -> int | None:
        """A number of an event (`producer_id`, `node`, `partition`, `number`, ...), None where the line has none."""
        value = int(self.events[column][row])
        return value if value >= 0 else None

    def trace(self, row: int) -> Trace | None:
        """The stack trace under an event."""
        code = int(self.events["trace_code"][row])
        return self.facts.traces[code] if code >= 0 else None

    def at(self, row: int) -> int | None:
        """Time of an event, None where none is printed."""
        time = int(self.times[row])
        return time if time >= 0 else None

    def kind(self, row: int) -> EventKind:
        """Kind of an event."""
        return EventKind(int(self.events["kind"][row]))

    def path(self, row: int) -> str:
        """Path of the source an event stands in."""
        return self.facts.sources[int(self.events["source"][row])].path

    @cached_property
    def short_paths(self) -> list[str]:
        """Name of each source: that of its file, with as many folders as it takes to tell it from the others."""
        parts = [source.path.replace("\\", "/").split("/") for source in self.facts.sources]
        found = []
        for mine in parts:
            depth = 1
            while depth < len(mine) and sum(other[-depth:] == mine[-depth:] for other in parts) > 1:
                depth += 1
            found.append("/".join(mine[-depth:]))
        return found

    def clients_of(self, transactional_id: str) -> Iterator[ClientInstance]:
        """Client instances with a transactional.id, by time."""
        return iter(self._by_id.get(transactional_id, ()))

    @cached_property
    def _by_id(self) -> dict[str, list[ClientInstance]]:
        found: dict[str, list[ClientInstance]] = {}
        for client in self.clients:
            if client.transactional_id is not None:
                found.setdefault(client.transactional_id, []).append(client)
        return found

    def client(self, number: int) -> ClientInstance | None:
        """The client instance of a number, None where there is none (-1)."""
        return self._by_number.get(number)

    @cached_property
    def _by_number(self) -> dict[int, ClientInstance]:
        return {client.number: client for client in self.clients}

    @cached_property
    def memo(self) -> dict[str, object]:
        """What histories work out of these logs once and several rules ask for, by name; empty in a replaced story."""
        return {}

    def named_by(self, rows: Iterable[int]) -> set[str]:
        """Transactional ids that these events name, or the client instances that wrote them."""
        writers = [(row, self.client(int(self.owners[row]))) for row in rows]
        names = {
            self.string(row, "transactional_id") or (client.transactional_id if client is not None else None)
            for row, client in writers
        }
        return {name for name in names if name is not None}

    def has_side(self, side: Side) -> bool:
        """Whether a log of this side was given."""
        return any(source.side == side for source in self.facts.sources)

    def covers(self, source: int, since: int, until: int) -> bool:
        """Whether a source's lines reach from `since` to `until`, so that absence in it can mean something."""
        entry, shift = self.facts.sources[source], self.clocks[source].zone_ms
        return entry.first_at >= 0 and entry.first_at - shift <= since and until <= entry.last_at - shift
