"""Stretches in which somebody could not reach a broker: failed connections and requests per observer and broker.

Grain: one observer (a broker, or the log of clients of one process) and one target. Kinds of evidence, by what else can
explain a line:

hard     a connection that could not be made; a request without answer that waits for nobody else (ApiVersions,
         Metadata, Fetch); a controller that gave the broker up.
soft     a request without answer that waits for followers (Produce with acks=all, EndTxn, ...): its broker may only be
         waiting for another one.
lost     a connection that was lost: so are idle and orderly closed ones.
indirect a leader's answer REQUEST_TIMED_OUT or NOT_ENOUGH_REPLICAS: it is there, its followers are not
         (ProducePurgatory; clients 0.11 to 4.4). Clients of 3.3 and later print the same name for their own timeout,
         then with the cancelled request beside it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice
from typing import NamedTuple

import numpy as np

from kafkatx.histories.growing import Array
from kafkatx.histories.logs import ClientInstance, LogStory
from kafkatx.terms.clocks import REQUEST_TIMEOUT_MS
from kafkatx.terms.events import EventKind, Side

QUIET_MS = 15_000
"""Two failures further apart than this (without a request that waited in between) are two stretches: reconnects are
tried at least once in reconnect.backoff.max.ms (1 s), by fetchers and heartbeats within some seconds."""
BURST_MS, PAUSE_MS = 2_000, 5_000
"""Failures closer than the first come at once; after a wait shorter than the second nobody need have stood still."""
BEFORE_START_MS, LONGEST_START_MS = 60_000, 600_000
"""Raft and the like begin before a broker says that it starts; recovery may take minutes."""
SAME_BATCH_MS = 600_000
"""Retries of one batch belong together however far apart they are, up to this."""
ANSWER_MS = 31_000
"""How long after a retry its answer can come: request.timeout.ms (30 s unless set) and a little."""
COORDINATOR_NODES = 1 << 30
"""Consumers number the connection to their group coordinator 2147483647 - node id."""
WAITING_REQUESTS = {
    "PRODUCE", "ENDTXN", "ADDPARTITIONSTOTXN", "ADDOFFSETSTOTXN", "TXNOFFSETCOMMIT", "OFFSETCOMMIT",
    "INITPRODUCERID", "WRITETXNMARKERS", "JOINGROUP", "SYNCGROUP",
}  # fmt: skip
"""Requests that a broker answers only after others did something."""
DISCONNECTS = ("DisconnectException", "NetworkException")
LEADER_WAITS = {"REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"}
_ROTATED = re.compile(r"(\.(gz|zst|\d+)|[.-]\d{4}-\d\d-\d\d(-\d+)?)+$")
_BY_NODE = (
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.request_timed_out,
    EventKind.request_cancelled,
    EventKind.bootstrap_disconnected,
    EventKind.broker_fenced,
    EventKind.fetch_failed,
    EventKind.failure,
)


_HARD = (
    EventKind.connection_failed, EventKind.broker_fenced, EventKind.bootstrap_disconnected, EventKind.fetch_failed,
)  # fmt: skip
LONG_MS = 1_000
"""A request given up sooner was lost with its connection; it had not waited."""


class Weight(IntEnum):
    """How much a line says about its target."""

    lost = 0
    indirect = 1
    soft = 2
    hard = 3


class Observer(NamedTuple):
    """Who saw it: `kind` is broker, client (a log of a process) or leader (of a partition, told by its answers)."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Down:
    """A stretch of failures of one observer against one target; times in milliseconds.

    `node` is None where the lines name none (bootstrap addresses, retries that name only a partition); `since` is when
    the first unanswered request was sent, `until` the last failure (or the answer that came in the end); `rows` are the
    lines; `perhaps_since` is where it began if the first request waited for the default of request.timeout.ms, where
    nothing tells how long it did.
    """

    observer: Observer
    node: int | None
    since: int
    until: int
    rows: tuple[int, ...]
    weight: Weight
    topic_partition: str | None = None
    perhaps_since: int | None = None

    def overlaps(self, since: int, until: int, tolerance: int = 0) -> bool:
        """Whether it shares time with another stretch."""
        return self.earliest <= until + tolerance and since <= self.until + tolerance

    @property
    def earliest(self) -> int:
        """When it can have begun."""
        return self.since if self.perhaps_since is None else self.perhaps_since


@dataclass(frozen=True, slots=True)
class Downs:
    """`seen`: stretches by time; `pauses`: those in which the observer himself stood still, as the other side shows."""

    seen: list[Down]
    pauses: list[Down]


def observer_of(logs: LogStory, source: int, side: int = Side.unknown) -> Observer:
    """The broker that wrote a line, else the log itself without what rotation added to its name.

    In a page that quotes logs of both sides `side` is that of the line.
    """
    entry = logs.facts.sources[source]
    wrote = side if side != Side.unknown else entry.side
    if wrote == Side.broker and entry.broker_id is not None:
        return Observer("broker", f"broker {entry.broker_id}")
    return Observer("broker" if wrote == Side.broker else "client", _ROTATED.sub("", entry.path))


def downs(logs: LogStory) -> Downs:
    """Every stretch that logs tell of; brokers' lines about themselves and of their own start are left out."""
    known = logs.memo.get("downs")
    if not isinstance(known, Downs):
        bursts = list(_bursts(logs))
        pauses = _pauses(logs, bursts)
        found = [
            *_joined([burst for burst in bursts if burst not in pauses] if pauses else bursts),
            *_by_partition(logs),
        ]
        known = logs.memo["downs"] = Downs(sorted(found, key=_order), sorted(pauses, key=_order))
    return known


def _order(down: Down) -> tuple[int, int, Observer, int]:
    return down.since, down.until, down.observer, -1 if down.node is None else down.node


def _bursts(logs: LogStory) -> Iterator[Down]:
    """Failures of one observer against one target that come at once, with what had waited for them."""
    rows = logs.of_kind(*_BY_NODE)
    rows = rows[logs.times[rows] >= 0]
    rows = rows[_is_about_a_connection(logs, logs.events[rows]) & ~_is_at_start(logs, rows)]
    events = logs.events[rows]
    writers = list(zip(events["source"].tolist(), events["side"].tolist(), strict=True))
    names = {writer: observer_of(logs, *writer) for writer in dict.fromkeys(writers)}
    codes = {name: code for code, name in enumerate(dict.fromkeys(names.values()))}
    observers = np.array([codes[names[writer]] for writer in writers], np.int64)
    nodes = np.where(events["node"] > COORDINATOR_NODES, (1 << 31) - 1 - events["node"], events["node"])
    at = logs.times[rows]
    order = np.lexsort((at, nodes, observers))
    rows, events, at, nodes, observers = rows[order], events[order], at[order], nodes[order], observers[order]
    began = at - _waited(events)
    behind = (np.diff(observers) != 0) | (np.diff(nodes) != 0) | (np.diff(at) > BURST_MS)
    starts = np.concatenate([[0], np.flatnonzero(behind) + 1]) if len(rows) else np.zeros(0, np.int64)
    if not len(starts):
        return
    ends, by_code = np.append(starts[1:], len(rows)), list(codes)
    since, until = np.minimum.reduceat(began, starts), np.maximum.reduceat(at, starts)
    weights = np.maximum.reduceat(_weights(logs, events), starts)
    columns = (starts, ends, observers[starts], nodes[starts], since, until, weights)
    for start, end, code, node, first, last, weight in zip(*(column.tolist() for column in columns), strict=True):
        if by_code[code] != ("broker", f"broker {node}"):
            lines = tuple(rows[start:end].tolist())
            yield Down(by_code[code], node if node >= 0 else None, first, last, lines, Weight(weight))


def _joined(bursts: list[Down]) -> Iterator[Down]:
    """Bursts of one observer and target that follow each other without a long pause."""
    last: dict[tuple[Observer, int | None], Down] = {}
    for burst in sorted(bursts, key=lambda burst: (burst.until, burst.since)):
        key = burst.observer, burst.node
        known = last.get(key)
        if known is not None and burst.since - known.until <= QUIET_MS:
            since, weight = min(known.since, burst.since), max(known.weight, burst.weight)
            last[key] = replace(known, since=since, until=burst.until, rows=known.rows + burst.rows, weight=weight)
            continue
        if known is not None:
            yield known
        last[key] = burst
    yield from last.values()


def _is_at_start(logs: LogStory, rows: Array) -> Array:
    """Whether lines are of a broker that is starting: it meets others that are not there yet, or not for it."""
    starting, started = logs.of_kind(EventKind.broker_starting), logs.of_kind(EventKind.broker_started)
    sources, at = logs.events["source"][rows], logs.times[rows]
    found = np.zeros(len(rows), bool)
    for row in starting.tolist():
        source, begin = logs.events["source"][row], int(logs.times[row])
        ends = logs.times[started][logs.events["source"][started] == source]
        ends = ends[(ends >= begin) & (ends <= begin + LONGEST_START_MS)]
        end = int(ends.min()) if len(ends) else begin + BEFORE_START_MS
        found |= (sources == source) & (at >= begin - BEFORE_START_MS) & (at <= end + BURST_MS)
    return found


def _pauses(logs: LogStory, bursts: list[Down]) -> set[Down]:
    """What an observer claims who stood still himself: the other side went on, or others missed him too."""
    heard = _Heard(logs)
    paused = [burst for burst in bursts if _is_of_a_pause(heard, burst)]
    refuted = {
        burst
        for burst in paused
        if burst.node is not None and not heard.is_silent(heard.of_broker(burst.node), burst.since, burst.until)
    }
    claims: dict[str, list[Down]] = {}
    for burst in bursts if paused else ():
        if burst not in refuted and burst.weight is Weight.hard:
            claims.setdefault(f"broker {burst.node}", []).append(burst)
    missed = {
        burst
        for burst in paused
        if any(other.overlaps(burst.since, burst.until) for other in claims.get(burst.observer.name, ()))
    }
    return refuted | missed


class _Heard:
    """When sources and brokers told anything, each laid out once."""

    def __init__(self, logs: LogStory) -> None:
        self.logs = logs
        self.known: dict[tuple[int, ...], Array] = {}

    def is_silent(self, sources: tuple[int, ...], since: int, until: int) -> bool:
        """Whether these sources tell of nothing strictly inside a stretch."""
        if sources not in self.known:
            mine = np.isin(self.logs.events["source"], sources)
            self.known[sources] = np.sort(self.logs.times[mine])
        times = self.known[sources]
        inside = np.searchsorted(times, [since + LONG_MS, until - LONG_MS], "right")
        return bool(inside[0] >= inside[1])

    def of_broker(self, node: int) -> tuple[int, ...]:
        """The sources that a broker wrote."""
        return tuple(number for number, entry in enumerate(self.logs.facts.sources) if entry.broker_id == node)


def _is_of_a_pause(heard: _Heard, burst: Down) -> bool:
    """Whether requests had waited for long when they were given up, and the observer told nothing meanwhile."""
    first = int(heard.logs.times[list(burst.rows)].min())
    source = int(heard.logs.events["source"][burst.rows[0]])
    return first - burst.since >= PAUSE_MS and heard.is_silent((source,), burst.since, first)


def _is_about_a_connection(logs: LogStory, events: Array) -> Array:
    """Leave out what these kinds tell besides: other exceptions, refused passwords, a broker's word about itself."""
    lost = [code for code, text in enumerate(logs.facts.strings) if text.endswith(DISCONNECTS)]
    kinds, is_named = events["kind"], events["node"] >= 0
    is_failure, is_refused = (
        kinds == EventKind.failure,
        (kinds == EventKind.connection_failed) & (events["error_code"] >= 0),
    )
    by_controller = np.isin(kinds, (EventKind.broker_fenced, EventKind.fetch_failed))
    about: Array = np.where(is_failure, is_named & np.isin(events["error_code"], lost), ~is_refused)
    return about & (is_named | ~by_controller)


def _waited(events: Array) -> Array:
    """How long a request had waited when it was given up."""
    kinds = (EventKind.request_timed_out, EventKind.request_cancelled, EventKind.connection_failed)
    return np.where(np.isin(events["kind"], kinds), events["number"], 0).clip(min=0)


def _weights(logs: LogStory, events: Array) -> Array:
    """How much each line says about its target."""
    kinds = events["kind"]
    apis = np.unique(events["api_code"])
    free = [code for code in apis.tolist() if code >= 0 and _bare(logs.facts.strings[code]) not in WAITING_REQUESTS]
    unanswered = (kinds == EventKind.request_timed_out) | (kinds == EventKind.request_cancelled)
    waited = unanswered & ((events["number"] >= LONG_MS) | (kinds == EventKind.request_timed_out))
    hard = np.isin(kinds, _HARD) | (waited & np.isin(events["api_code"], free))
    weights: Array = np.where(hard, int(Weight.hard), np.where(waited, int(Weight.soft), int(Weight.lost)))
    return weights


def _bare(api: str) -> str:
    return api.upper().replace("_", "").removesuffix("REQUEST")


def _by_partition(logs: LogStory) -> Iterator[Down]:
    """Retries of produce requests, which name the partition and not the node."""
    clients = {row: client for client in logs.clients for row in client.rows}
    cancelled = _cancelled(logs)
    groups: dict[tuple[Observer, str], list[int]] = {}
    for row in logs.of_kind(EventKind.produce_retry).tolist():
        observer = _who_waited(logs, row, cancelled)
        if observer is not None and logs.times[row] >= 0:
            groups.setdefault((observer, _topic_partition(logs, row)), []).append(row)
    for (observer, topic_partition), rows in groups.items():
        for chain in _chains(logs, rows):
            yield _retried(logs, observer, topic_partition, chain, clients.get(chain[-1]))


def _who_waited(logs: LogStory, row: int, cancelled: set[tuple[int, int, int]]) -> Observer | None:
    """The leader where its answer is the evidence, else the client's log; None where a line with the node says it."""
    source, second = int(logs.events["source"][row]), int(logs.times[row]) // 1000
    request = int(logs.events["correlation_id"][row])
    if any((source, request, second + shift) in cancelled for shift in (-1, 0, 1)):
        return None
    error = (logs.string(row, "error") or "").rpartition(".")[2]
    if error in LEADER_WAITS:
        return Observer("leader", _topic_partition(logs, row))
    return (
        observer_of(logs, source, int(logs.events["side"][row]))
        if error in ("NETWORK_EXCEPTION", "NetworkException")
        else None
    )


def _cancelled(logs: LogStory) -> set[tuple[int, int, int]]:
    rows = logs.of_kind(EventKind.request_cancelled)
    events, seconds = logs.events[rows], logs.times[rows] // 1000
    return set(zip(events["source"].tolist(), events["correlation_id"].tolist(), seconds.tolist(), strict=True))


def _topic_partition(logs: LogStory, row: int) -> str:
    return f"{logs.string(row, 'topic')}-{logs.number(row, 'partition')}"


def _chains(logs: LogStory, rows: list[int]) -> Iterator[list[int]]:
    """Cut at long pauses, unless the attempts left show that one batch is retried."""
    chain: list[int] = []
    for row in sorted(rows, key=lambda row: (logs.times[row], row)):
        if chain:
            pause = int(logs.times[row] - logs.times[chain[-1]])
            is_same = logs.events["number"][row] <= logs.events["number"][chain[-1]] and pause <= SAME_BATCH_MS
            if pause > QUIET_MS and not is_same:
                yield chain
                chain = []
        chain.append(row)
    yield chain


def _retried(
    logs: LogStory, observer: Observer, topic_partition: str, chain: list[int], client: ClientInstance | None
) -> Down:
    first, last = int(logs.times[chain[0]]), int(logs.times[chain[-1]])
    waited = _request_timeout(client)
    if waited is None and len(chain) > 1:
        waited = int(logs.times[chain[1]]) - first
    weight = Weight.indirect if observer.kind == "leader" else Weight.soft
    perhaps = first - REQUEST_TIMEOUT_MS if waited is None else None
    found = Down(observer, None, first - (waited or 0), last, tuple(chain), weight, topic_partition, perhaps)
    answer = _answered(logs, client, chain[-1], last) if client is not None else None
    return found if answer is None else replace(found, until=answer)


def _request_timeout(client: ClientInstance | None) -> int | None:
    values = [entry.value for entry in client.settings if entry.name == "request.timeout.ms"] if client else []
    return int(values[-1]) if values and values[-1] and values[-1].isdecimal() else None


def _answered(logs: LogStory, client: ClientInstance, row: int, at: int) -> int | None:
    """Time of the client's next line that is no further failure: until then it had no answer."""
    for other in islice(client.rows, bisect_right(client.rows, row), None):
        time = int(logs.times[other])
        if time > at and logs.kind(other) not in (EventKind.produce_retry, *_BY_NODE[:-1]):
            return time if time - at <= (_request_timeout(client) or ANSWER_MS) + 1_000 else None
    return None
