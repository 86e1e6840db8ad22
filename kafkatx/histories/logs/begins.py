"""Lines in which a client says that a transaction of its own has begun: the call, or its state after it.

Source  TransactionManager.transitionTo (0.11 to 4.3), rdkafka_txnmgr.c (1.4 to 2.12), sarama transaction_manager.go
        (1.37+).
"""

from __future__ import annotations

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind

STATES = ("-> InTransaction", " IN_TRANSACTION", "StateInTransaction", "TRANSACTING")
"""How the state within a transaction is called, at the end of what a client says of it."""


def has_begun(logs: LogModel, row: int) -> bool:
    """Whether an event is the begin of a transaction."""
    kind = logs.kind(row)
    if kind is EventKind.client_state:
        return (logs.string(row, "detail") or "").endswith(STATES)
    return kind is EventKind.begin_called


def begins(logs: LogModel) -> list[int]:
    """Row numbers of all such events, in order."""
    rows = logs.of_kind(EventKind.begin_called, EventKind.client_state).tolist()
    return [row for row in rows if has_begun(logs, row)]
