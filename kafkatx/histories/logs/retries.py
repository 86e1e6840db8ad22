"""Retries of produce requests, which name the partition and not the node: stretches without an answer.

A leader's own answer (REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS) makes it the observer: its followers were away. A
client's NETWORK_EXCEPTION is its own. What a line with the node tells too is left to that line.

Only what had to wait moves a start back: REQUEST_TIMED_OUT comes when request.timeout.ms is over, NOT_ENOUGH_REPLICAS
at once (the leader counts its replicas in sync before it appends), and between these any time at all may have passed
before NOT_ENOUGH_REPLICAS_AFTER_APPEND, or before a connection was lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.observers import QUIET_MS, ConnectionFailure, Observer, Weight, observer_of
from kafkatx.terms.clocks import DELIVERY_TIMEOUT_MS, REQUEST_TIMEOUT_MS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.text.error_messages.sayings import Saying

ANSWER_SLACK_MS = 1_000
"""What an answer may take beyond request.timeout.ms until the client's line of it: its poll, and other requests."""
LEADER_WAITS = {
    ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
}  # fmt: skip
AT_ONCE = frozenset({ErrorCode.NOT_ENOUGH_REPLICAS})
"""Answers of a leader that had waited for nobody."""
FAILURES = (
    EventKind.produce_retry, EventKind.node_disconnected, EventKind.connection_failed, EventKind.request_timed_out,
    EventKind.request_cancelled, EventKind.bootstrap_disconnected, EventKind.fetch_failed,
)  # fmt: skip
"""Lines that are no answer."""


def retries(logs: LogModel) -> Iterator[ConnectionFailure]:
    """Retries of produce requests, which name the partition and not the node."""
    cancelled = _cancelled(logs)
    groups: dict[tuple[Observer, str | None], list[int]] = {}
    for row in logs.of_kind(EventKind.produce_retry).tolist():
        observer = _who_waited(logs, row, cancelled)
        if observer is not None and logs.times[row] >= 0:
            groups.setdefault((observer, _topic_partition(logs, row)), []).append(row)
    for (observer, topic_partition), rows in groups.items():
        for chain in _chains(logs, rows):
            yield _retried(logs, observer, topic_partition, chain, logs.client(int(logs.owners[chain[-1]])))


def _who_waited(logs: LogModel, row: int, cancelled: set[tuple[int, int, int]]) -> Observer | None:
    """The leader where its answer is the evidence, else the client's log; None where a line with the node says it.

    None as well where the leader had no replica to wait for: it could not ask the coordinator (KIP-890).
    """
    source, second = int(logs.events["source"][row]), int(logs.times[row]) // 1000
    request = int(logs.events["correlation_id"][row])
    if any((source, request, second + shift) in cancelled for shift in (-1, 0, 1)):
        return None
    error = logs.error(row)
    if logs.says(row, Saying.UNABLE_TO_VERIFY):
        return None
    if error in LEADER_WAITS:
        place = _topic_partition(logs, row)
        return Observer("leader", place) if place is not None else None
    return observer_of(logs, source, int(logs.events["side"][row])) if error is ErrorCode.NETWORK_EXCEPTION else None


def _cancelled(logs: LogModel) -> set[tuple[int, int, int]]:
    rows = logs.of_kind(EventKind.request_cancelled)
    events, seconds = logs.events[rows], logs.times[rows] // 1000
    return set(zip(events["source"].tolist(), events["correlation_id"].tolist(), seconds.tolist(), strict=True))


def _topic_partition(logs: LogModel, row: int) -> str | None:
    """The partition that a line names."""
    topic, number = logs.string(row, "topic"), logs.number(row, "partition")
    return None if topic is None or number is None else f"{topic}-{number}"


def _chains(logs: LogModel, rows: list[int]) -> Iterator[list[int]]:
    """Cut at long pauses, unless the attempts left show that one batch is retried."""
    chain: list[int] = []
    for row in sorted(rows, key=lambda row: (logs.times[row], row)):
        if chain:
            pause = int(logs.times[row] - logs.times[chain[-1]])
            is_same = logs.events["number"][row] <= logs.events["number"][chain[-1]] and pause <= DELIVERY_TIMEOUT_MS
            if pause > QUIET_MS and not is_same:
                yield chain
                chain = []
        chain.append(row)
    yield chain


def _retried(
    logs: LogModel, observer: Observer, topic_partition: str | None, chain: list[int], client: ClientInstance | None
) -> ConnectionFailure:
    first, last = int(logs.times[chain[0]]), int(logs.times[chain[-1]])
    waited, at_most = _waited(logs, chain, client)
    weight = Weight.indirect if observer.kind == "leader" else Weight.soft
    perhaps = first - at_most if at_most > waited else None
    found = ConnectionFailure(observer, None, first - waited, last, tuple(chain), weight, topic_partition, perhaps)
    answer = _answered(logs, client, chain[-1], last) if client is not None else None
    return found if answer is None else replace(found, until=answer)


def _waited(logs: LogModel, chain: list[int], client: ClientInstance | None) -> tuple[int, int]:
    """How long the first request had waited as far as lines show it, and how long at most."""
    error, limit = logs.error(chain[0]), _request_timeout(client)
    if error in AT_ONCE:
        return 0, 0
    pause = int(logs.times[chain[1]] - logs.times[chain[0]]) if len(chain) > 1 else None
    at_most = REQUEST_TIMEOUT_MS if limit is None else limit
    if error is ErrorCode.REQUEST_TIMED_OUT:
        waited = pause if limit is None else limit
        return (0, at_most) if waited is None else (waited, waited)
    is_timeout = pause is not None and at_most <= pause <= at_most + ANSWER_SLACK_MS
    return (at_most, at_most) if is_timeout else (0, at_most)


def _request_timeout(client: ClientInstance | None) -> int | None:
    values = [entry.value for entry in client.settings if entry.name == "request.timeout.ms"] if client else []
    return int(values[-1]) if values and values[-1] and values[-1].isdecimal() else None


def _answered(logs: LogModel, client: ClientInstance, row: int, at: int) -> int | None:
    """Time of the client's next line that is no further failure: until then it had no answer."""
    for other in islice(client.rows, bisect_right(client.rows, row), None):
        time = int(logs.times[other])
        if time > at and logs.kind(other) not in FAILURES:
            return time if time - at <= (_request_timeout(client) or REQUEST_TIMEOUT_MS) + ANSWER_SLACK_MS else None
    return None
