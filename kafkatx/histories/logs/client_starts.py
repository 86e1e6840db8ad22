"""What clients print before their first connection: a client that starts has lost nothing yet.

librdkafka says that no broker is there for its first request while the connection is being made, Java clients when the
first of several bootstrap servers refuses. That counts where it lasts, or where the client gives up without having been
connected.
"""

from __future__ import annotations

from itertools import takewhile

import numpy as np

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind, Level

LONGEST_START_MS = 5_000
"""A client that has no connection after so long waits for brokers that are not there."""
STARTS = {EventKind.client_started, EventKind.client_release, EventKind.init_called}
FAILS = {EventKind.connection_failed, EventKind.bootstrap_disconnected, EventKind.node_disconnected}
CONNECTED = {
    EventKind.coordinator_found, EventKind.producer_id_set, EventKind.begin_called, EventKind.commit_called,
}  # fmt: skip
"""What no client prints before a broker has answered it."""


def is_of_start(logs: LogModel, rows: Array) -> Array:
    """Which lines are failures to connect, of clients that were connecting for the first time and soon did."""
    starting = [row for client in logs.clients for row in _lost_nothing(logs, client)]
    return np.isin(rows, np.array(starting, np.int64))


def was_connecting(logs: LogModel, client: ClientInstance, rows: tuple[int, ...]) -> bool:
    """Whether lines for debugging are of a client before its first connection, which it soon had."""
    if any(int(logs.events["level"][row]) != Level.debug for row in rows):
        return False
    before = _before_connection(logs, client)
    behind = next((row for row in client.rows if logs.kind(row) in CONNECTED), None)
    if behind is None or not set(rows) <= set(before):
        return False
    lasted = logs.lasted(before[0], behind)
    return lasted is not None and lasted < LONGEST_START_MS


def _before_connection(logs: LogModel, client: ClientInstance) -> list[int]:
    """Lines of a client that was seen to start, up to its first connection."""
    before = list(takewhile(lambda row: logs.kind(row) not in CONNECTED, client.rows))
    begun = next((at for at, row in enumerate(before) if logs.kind(row) in STARTS), len(before))
    return before[begun:]


def _lost_nothing(logs: LogModel, client: ClientInstance) -> list[int]:
    """Failures to connect to nobody in particular between a client's start and its first connection."""
    before = _before_connection(logs, client)
    failed = [row for row in before if logs.kind(row) in FAILS and logs.number(row, "node") is None]
    if not failed:
        return []
    lasted, is_connected = logs.lasted(before[0], failed[-1]), before[-1] != client.rows[-1]
    gave_up = not is_connected and any(failure.row > failed[-1] for failure in client.failures)
    return failed if lasted is not None and lasted < LONGEST_START_MS and not gave_up else []
