"""Stretches in which somebody could not reach a broker: failed connections and requests per observer and broker.

Grain: one observer (a broker, or the log of clients of one process) and one target. Failures that come at once are a
burst; bursts without a long pause between them are a stretch. Left out is what brokers say of themselves, what they
meet at their own start, what clients print before they are connected (histories/logs/client_starts.py), and what an
observer claims who stood still himself (histories/logs/observer_stalls.py).

A stretch begins with the first failure, or with a request that lacked its answer before: from then on when the answer
was due. A fetch is answered when there is something, or after fetch.max.wait.ms; a write when others have done their
part, so that one which was lost with its connection may have waited for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kafkatx.histories.logs.client_starts import is_of_start
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.observer_stalls import pauses
from kafkatx.histories.logs.observers import QUIET_MS, ConnectionFailure, Observer, Weight, observer_of
from kafkatx.histories.logs.once import once
from kafkatx.histories.logs.retries import retries
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import REQUEST_TIMEOUT_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

BURST_MS = 2_000
"""Failures closer than this come at once."""
BEFORE_START_MS, LONGEST_START_MS = 60_000, 600_000
"""Raft and the like begin before a broker says that it starts; recovery may take minutes."""
COORDINATOR_NODES = 1 << 30
"""Consumers number the connection to their group coordinator 2147483647 - node id."""
WAITING_REQUESTS = {
    "PRODUCE", "ENDTXN", "ADDPARTITIONSTOTXN", "ADDOFFSETSTOTXN", "TXNOFFSETCOMMIT", "OFFSETCOMMIT",
    "INITPRODUCERID", "WRITETXNMARKERS", "JOINGROUP", "SYNCGROUP",
}  # fmt: skip
"""Requests that a broker answers only after others did something."""
LONG_POLLS = {"FETCH", "SHAREFETCH"}
LONGEST_POLL = ("replica.fetch.wait.max.ms", "fetch.max.wait.ms")
LONGEST_POLL_MS = 500
"""The default of both, and what the quorum of KRaft waits."""
DISCONNECTS = ("DisconnectException", "NetworkException")
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


_NUMBER = regex(r"\b[0-9]{1,9}\b")
_HARD = (
    EventKind.broker_failed,
    EventKind.connection_failed, EventKind.broker_fenced, EventKind.bootstrap_disconnected, EventKind.fetch_failed,
)  # fmt: skip
LONG_MS = 1_000
"""A request given up sooner was lost with its connection; it had not waited."""


@dataclass(frozen=True, slots=True)
class ConnectionFailures:
    """`seen`: stretches by time; `pauses`: those in which the observer himself stood still, as the other side shows."""

    seen: list[ConnectionFailure]
    pauses: list[ConnectionFailure]


@once
def downs(logs: LogModel) -> ConnectionFailures:
    """Every stretch that logs tell of; brokers' lines about themselves and of their own start are left out."""
    bursts = list(_bursts(logs))
    still = pauses(logs, bursts)
    found = [*_joined([burst for burst in bursts if burst not in still] if still else bursts), *retries(logs)]
    return ConnectionFailures(sorted(found, key=_order), sorted(still, key=_order))


def _order(down: ConnectionFailure) -> tuple[int, int, Observer, int]:
    return down.since, down.until, down.observer, -1 if down.node is None else down.node


def _bursts(logs: LogModel) -> Iterator[ConnectionFailure]:
    """Failures of one observer against one target that come at once, with what had waited for them."""
    rows = logs.of_kind(*_BY_NODE)
    rows = rows[logs.times[rows] >= 0]
    rows = rows[_is_about_a_connection(logs, logs.events[rows]) & ~_is_at_start(logs, rows)]
    rows = rows[~is_of_start(logs, rows)]
    rows, nodes = _with_failed_brokers(logs, rows)
    events = logs.events[rows]
    writers = list(zip(events["source"].tolist(), events["side"].tolist(), strict=True))
    names = {writer: observer_of(logs, *writer) for writer in dict.fromkeys(writers)}
    codes = {name: code for code, name in enumerate(dict.fromkeys(names.values()))}
    observers = np.array([codes[names[writer]] for writer in writers], np.int64)
    at = logs.times[rows]
    order = np.lexsort((at, nodes, observers))
    rows, events, at, nodes, observers = rows[order], events[order], at[order], nodes[order], observers[order]
    behind = (np.diff(observers) != 0) | (np.diff(nodes) != 0) | (np.diff(at) > BURST_MS)
    starts = np.concatenate([[0], np.flatnonzero(behind) + 1]) if len(rows) else np.zeros(0, np.int64)
    if not len(starts):
        return
    ends, by_code = np.append(starts[1:], len(rows)), list(codes)
    lacked, until = _lacked(logs, events), np.maximum.reduceat(at, starts)
    earliest = np.minimum.reduceat(at - lacked, starts)
    since = np.minimum.reduceat(at - np.where(_is_shown(logs, events, starts), lacked, 0), starts)
    weights = np.maximum.reduceat(_weights(logs, events), starts)
    columns = (starts, ends, observers[starts], nodes[starts], since, until, weights, earliest)
    for start, end, code, node, first, last, weight, early in zip(*(each.tolist() for each in columns), strict=True):
        if by_code[code] != ("broker", f"broker {node}"):
            lines, perhaps = tuple(rows[start:end].tolist()), early if early < first else None
            target = node if node >= 0 else None
            yield ConnectionFailure(by_code[code], target, first, last, lines, Weight(weight), perhaps_since=perhaps)


def _with_failed_brokers(logs: LogModel, rows: Array) -> tuple[Array, Array]:
    """Rows with the broker that each is about; a controller's line may name several (with ZooKeeper)."""
    nodes = logs.events["node"][rows]
    nodes = np.where(nodes > COORDINATOR_NODES, (1 << 31) - 1 - nodes, nodes)
    failed = [
        (row, int(node))
        for row in logs.of_kind(EventKind.broker_failed).tolist()
        for node in _NUMBER.findall(logs.string(row, "detail") or "")
        if logs.times[row] >= 0
    ]
    if not failed:
        return rows, nodes
    more = np.array(failed, np.int64)
    return np.concatenate([rows, more[:, 0]]), np.concatenate([nodes, more[:, 1]])


def _joined(bursts: list[ConnectionFailure]) -> Iterator[ConnectionFailure]:
    """Bursts of one observer and target that follow each other without a long pause."""
    last: dict[tuple[Observer, int | None], ConnectionFailure] = {}
    for burst in sorted(bursts, key=lambda burst: (burst.until, burst.since)):
        key = burst.observer, burst.node
        known = last.get(key)
        if known is not None and burst.earliest - known.until <= QUIET_MS:
            last[key] = _laid_together(known, burst)
            continue
        if known is not None:
            yield known
        last[key] = burst
    yield from last.values()


def _laid_together(one: ConnectionFailure, other: ConnectionFailure) -> ConnectionFailure:
    since, earliest = min(one.since, other.since), min(one.earliest, other.earliest)
    weight, perhaps = max(one.weight, other.weight), earliest if earliest < since else None
    return replace(
        one, since=since, until=other.until, rows=one.rows + other.rows, weight=weight, perhaps_since=perhaps
    )


def _is_at_start(logs: LogModel, rows: Array) -> Array:
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


def _is_about_a_connection(logs: LogModel, events: Array) -> Array:
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
    """How long a request had waited when it was given up, or lost with its connection."""
    kinds = (EventKind.request_timed_out, EventKind.request_cancelled, EventKind.connection_failed)
    return np.where(np.isin(events["kind"], kinds), events["number"], 0).clip(min=0)


def _lacked(logs: LogModel, events: Array) -> Array:
    """How long its answer had been due at most; one that was lost within a second had not waited."""
    polls = np.isin(events["api_code"], [code for code, api in _apis(logs, events) if api in LONG_POLLS])
    due: Array = _waited(events) - np.where(polls, _longest_poll(logs), 0)
    return np.where(due < LONG_MS, 0, due)


def _is_shown(logs: LogModel, events: Array, starts: Array) -> Array:
    """Whether a wait is the broker's: nobody else need have been waited for, or the request ran out of its time."""
    timed_out = events["kind"] == EventKind.request_timed_out
    sizes = np.diff(np.append(starts, len(events)))
    in_time = np.repeat(np.logical_or.reduceat(timed_out, starts), sizes) | (_waited(events) >= _request_timeout(logs))
    free = [code for code, api in _apis(logs, events) if api not in WAITING_REQUESTS]
    shown: Array = in_time | np.isin(events["api_code"], free) | (events["kind"] == EventKind.connection_failed)
    return shown


def _request_timeout(logs: LogModel) -> int:
    """The shortest request.timeout.ms that any program says it has, or the default."""
    return min([REQUEST_TIMEOUT_MS, *_settings(logs, "request.timeout.ms")])


def _longest_poll(logs: LogModel) -> int:
    """How long a fetch may wait for something to fetch."""
    return max([LONGEST_POLL_MS, *_settings(logs, *LONGEST_POLL)])


def _settings(logs: LogModel, *names: str) -> list[int]:
    values = [entry.value or "" for entry in logs.facts.settings if entry.name in names]
    return [int(value) for value in values if value.isdecimal()]


def _weights(logs: LogModel, events: Array) -> Array:
    """How much each line says about its target."""
    kinds = events["kind"]
    free = [code for code, api in _apis(logs, events) if api not in WAITING_REQUESTS]
    unanswered = (kinds == EventKind.request_timed_out) | (kinds == EventKind.request_cancelled)
    waited = unanswered & ((events["number"] >= LONG_MS) | (kinds == EventKind.request_timed_out))
    hard = np.isin(kinds, _HARD) | (waited & np.isin(events["api_code"], free))
    weights: Array = np.where(hard, int(Weight.hard), np.where(waited, int(Weight.soft), int(Weight.lost)))
    return weights


def _apis(logs: LogModel, events: Array) -> list[tuple[int, str]]:
    """The requests that lines name, by the code of their names."""
    codes = distinct(events["api_code"]).tolist()
    return [(code, _bare(logs.facts.strings[code])) for code in codes if code >= 0]


def _bare(api: str) -> str:
    return api.upper().replace("_", "").removesuffix("REQUEST")
