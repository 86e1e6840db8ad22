"""What logs tell, interpreted: events by kind, the clients behind them, whose clock wrote what.

The facts are those of text/events.py; nothing here opens a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property

import numpy as np

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.settings import Settings, release_of
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, DAY_MS
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.events import KINDS, EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import (
    EndGivenUp,
    ExpiredBatch,
    Saying,
    end_given_up_in,
    expiry_in,
    said_in,
    wrong_state_in,
)
from kafkatx.text.events import LogFacts, Trace

ASSUMED = "assumed UTC"
"""Where the zone of a log comes from that nothing tells."""
CLOSE_MS = 500
"""Lines of different logs that are this close are not put in order by their clocks."""
KNOWN_CLOCK_MS = 500
"""What a clock of known skew may still be off: what hosts that follow one time server differ by at most."""


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
    zone_from: str = ASSUMED

    @property
    def tolerance_ms(self) -> int:
        """How far a client's time may lie from a broker's when the skew is taken off.

        What few pairs show as skew may be a slow answer.
        """
        if self.skew_ms is None:
            return CLIENT_TOLERANCE_MS
        return min(CLIENT_TOLERANCE_MS, KNOWN_CLOCK_MS + 4 * (self.spread_ms or 0) + abs(self.skew_ms))

    def to_brokers(self, at: int) -> int:
        """A time of the source by the brokers' clock, where shared events tell how far the two are apart."""
        return at - (self.skew_ms or 0)


def _together(found: Iterable[Array]) -> Array:
    """Rows of several groups, in order."""
    groups = list(found)
    if len(groups) == 1:
        return groups[0]
    return np.sort(np.concatenate(groups)) if groups else np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class LogModel:
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
    def _columns(self) -> dict[str, Array]:
        """Views of the events by column: asking an array for one costs more than what is read of it."""
        return {name: self.events[name] for name in self.events.dtype.names or ()}

    @cached_property
    def kind_numbers(self) -> list[int]:
        """Kind of every event: of a client's few lines a list tells it in less time than an array."""
        kinds: list[int] = self.events["kind"].tolist()
        return kinds

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
        return _together(self._by_kind[kind] for kind in kinds if kind in self._by_kind)

    def of_client(self, number: int, *kinds: EventKind) -> Array:
        """Row numbers of events of these kinds that a client instance wrote, in order."""
        return _together(self._by_owner[number, kind] for kind in kinds if (number, kind) in self._by_owner)

    @cached_property
    def _by_owner(self) -> dict[tuple[int, int], Array]:
        owners, kinds = self.owners, self.events["kind"]
        order = np.lexsort((kinds, owners))
        is_other = (np.diff(owners[order]) != 0) | (np.diff(kinds[order]) != 0)
        groups = np.split(order, np.flatnonzero(is_other) + 1) if len(order) else []
        return {(owners.item(rows[0]), kinds.item(rows[0])): rows for rows in groups}

    def string(self, row: int, column: str) -> str | None:
        """The string behind a code of an event (`transactional_id`, `client_id`, `error`, `detail`, ...), or None."""
        code = self._columns[f"{column}_code"].item(row)
        return self.facts.strings[code] if code >= 0 else None

    def number(self, row: int, column: str) -> int | None:
        """A number of an event (`producer_id`, `node`, `partition`, `number`, ...), None where the line has none."""
        value: int = self._columns[column].item(row)
        return value if value >= 0 else None

    def trace(self, row: int) -> Trace | None:
        """The stack trace under an event."""
        code = self._columns["trace_code"].item(row)
        return self.facts.traces[code] if code >= 0 else None

    def words(self, row: int) -> str:
        """What an event says of an exception: class and detail, then the chain of its trace."""
        known = self._words.get(row)
        if known is None:
            columns = self._columns
            codes = columns["error_code"].item(row), columns["detail_code"].item(row), columns["trace_code"].item(row)
            if codes not in self._words_of_codes:
                self._words_of_codes[codes] = self._said(row)
            known = self._words[row] = self._words_of_codes[codes]
        return known

    def _said(self, row: int) -> str:
        trace = self.trace(row)
        said = [self.string(row, "error") or "", self.string(row, "detail") or ""]
        said += [f"{thrown.exception}: {thrown.message}" for thrown in trace.chain] if trace is not None else []
        return " ".join(part for part in said if part)

    @cached_property
    def _words(self) -> dict[int, str]:
        return {}

    @cached_property
    def _words_of_codes(self) -> dict[tuple[int, int, int], str]:
        """Each text once, however many events say it."""
        return {}

    def at(self, row: int) -> int | None:
        """Time of an event, None where none is printed."""
        time: int = self.times.item(row)
        return time if time >= 0 else None

    def brokers_time(self, row: int) -> int | None:
        """The time of an event by the brokers' clock, as far as shared events tell how far its log is off."""
        at = self.at(row)
        return None if at is None else self.clocks[int(self.events["source"][row])].to_brokers(at)

    def in_order(self, rows: Iterable[int]) -> list[int]:
        """Events of several logs by the brokers' clock; those that are close keep the order in which they come."""
        given = list(rows)
        times = {row: at for row in given if (at := self.brokers_time(row)) is not None}
        return sorted(given, key=lambda row: times[row] // CLOSE_MS) if len(times) == len(given) else given

    def lasted(self, first: int, second: int) -> int | None:
        """Milliseconds from one event to another; None where nothing tells.

        Within one file times of day tell it where no date is printed: the second is taken to be the later one where
        that makes the step less than half a day.
        """
        times = self.at(first), self.at(second)
        if times[0] is not None and times[1] is not None:
            return times[1] - times[0]
        begin, end = self.number(first, "of_day"), self.number(second, "of_day")
        if begin is None or end is None or self.path(first) != self.path(second):
            return None
        return (end - begin + DAY_MS // 2) % DAY_MS - DAY_MS // 2

    def is_before(self, first: int, second: int) -> bool:
        """Whether an event came before another: by their times, else by their lines where they stand in one file."""
        took = self.lasted(first, second)
        if took is not None and took != 0:
            return took > 0
        if self.path(first) != self.path(second):
            return took == 0 and first < second
        return bool(self._columns["line"][first] < self._columns["line"][second])

    def kind(self, row: int) -> EventKind:
        """Kind of an event."""
        return KINDS[self.kind_numbers[row]]

    def path(self, row: int) -> str:
        """Path of the source an event stands in."""
        source: int = self._columns["source"].item(row)
        return self.facts.sources[source].path

    @cached_property
    def short_paths(self) -> list[str]:
        """Name of each source: that of its file, with as many folders as it takes to tell it from the others."""
        parts = [tuple(source.path.replace("\\", "/").split("/")) for source in self.facts.sources]
        files = set(parts)  # one file may be several sources
        found = []
        for mine in parts:
            depth = 1
            while depth < len(mine) and sum(other[-depth:] == mine[-depth:] for other in files) > 1:
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

    def about(self, transactional_id: str, kind: EventKind) -> Array:
        """Row numbers of the events of a kind that name a transactional.id, in order."""
        if kind not in self._about:
            rows = self.of_kind(kind)
            codes = self.events["transactional_id_code"][rows]
            order = np.argsort(codes, kind="stable")
            found, starts = np.unique(codes[order], return_index=True)
            names = (self.facts.strings[code] if code >= 0 else "" for code in found.tolist())
            self._about[kind] = dict(zip(names, np.split(rows[order], starts[1:]), strict=False))
        return self._about[kind].get(transactional_id, np.zeros(0, np.int64))

    @cached_property
    def _about(self) -> dict[EventKind, dict[str, Array]]:
        return {}

    def transactional_id(self, row: int) -> str | None:
        """Transactional id that an event names, or the client instance that wrote it."""
        client = self.client(int(self.owners[row]))
        return self.string(row, "transactional_id") or (client.transactional_id if client is not None else None)

    def named_by(self, rows: Iterable[int]) -> set[str]:
        """Transactional ids that these events name, or the client instances that wrote them."""
        return {name for row in rows if (name := self.transactional_id(row)) is not None}

    def error(self, row: int) -> ErrorCode:
        """The error that an event names itself; what is under it its trace tells."""
        return error_code(self.string(row, "error") or "")

    @cached_property
    def said(self) -> Array:
        """What the words of each event say (Saying): of its error and detail, and of the exceptions of its trace."""
        strings, e = self._said_by_strings, self.events
        traces = [trace.said for trace in self.facts.traces]
        found: Array = strings[e["error_code"]] | strings[e["detail_code"]]
        found |= np.array([*traces, 0], np.int32)[e["trace_code"]]
        return found

    @cached_property
    def _said_by_strings(self) -> Array:
        """What each string says; the last entry, which the code -1 finds, is that of no string."""
        return np.array([*map(said_in, self.facts.strings), 0], np.int32)

    def says(self, row: int, saying: Saying) -> bool:
        """Whether the words of an event say something."""
        return bool(self.said.item(row) & saying.value)

    def says_itself(self, row: int) -> Saying:
        """What the detail of an event says, without the exceptions under it."""
        return Saying(int(self._said_by_strings[self.events["detail_code"][row]]))

    def saying(self, saying: Saying, side: Side | None = Side.client) -> Array:
        """Row numbers of events whose words say something, in order; those of the other side are left out."""
        rows: Array = np.flatnonzero(self.said & saying)
        sides = self.events["side"][rows]
        return rows if side is None else rows[(sides == side) | (sides == Side.unknown)]

    def expiry(self, row: int) -> ExpiredBatch | None:
        """Records whose time was over, as the words of an event name them."""
        return expiry_in(self.words(row))

    def end_given_up(self, row: int) -> EndGivenUp | None:
        """Commit or abort that was given up, as the words of an event name it."""
        return end_given_up_in(self.words(row))

    def wrong_state(self, row: int) -> str | None:
        """State of a producer that a call met, in the words of an event."""
        return wrong_state_in(self.words(row))

    @cached_property
    def without_zone(self) -> frozenset[str]:
        """Paths of the logs of whose times nothing tells the zone."""
        pairs = zip(self.facts.sources, self.clocks, strict=True)
        return frozenset(source.path for source, clock in pairs if clock.zone_from == ASSUMED)

    def has_side(self, side: Side) -> bool:
        """Whether a log of this side was given."""
        return any(source.side == side for source in self.facts.sources)

    def covers(self, source: int, since: int, until: int) -> bool:
        """Whether a source's lines reach from `since` to `until`, so that absence in it can mean something."""
        entry, shift = self.facts.sources[source], self.clocks[source].zone_ms
        return entry.first_at >= 0 and entry.first_at - shift <= since and until <= entry.last_at - shift
