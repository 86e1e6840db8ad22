"""Requests that a client makes again and again for longer than a call waits: no answer that it could use came.

Grain    one a client (else source), request and error. Each line alone is nothing that failed, since the client tries
         again; that it still does so after `LONG_MS` says that the call did not come through in that time.
Limits   without times nothing is told, and CONCURRENT_TRANSACTIONS has its own rule.
Source   rdkafka_idempotence.c, aiokafka's sender.py and ruby-kafka's cluster.rb repeat without a limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import MAX_BLOCK_MS
from kafkatx.terms.events import EventKind

LONG_MS = MAX_BLOCK_MS
FEWEST = 2
"""Lines that make a repetition: texts show the first and the last of many."""
CALLS = {
    "InitProducerId": "initTransactions",
    "AddPartitionsToTxn": "send",
    "AddOffsetsToTxn": "sendOffsetsToTransaction",
    "TxnOffsetCommit": "sendOffsetsToTransaction",
    "EndTxn": "commitTransaction",
    "EndTxn(true)": "commitTransaction",
    "EndTxn(false)": "abortTransaction",
}
"""The call that waits for a request. A search for the coordinator is any call's."""


def endless_retries(logs: LogModel) -> Iterator[list[int]]:
    """Yield the lines of each request that was repeated for so long."""
    groups: dict[tuple[int, int, str | None, str], list[int]] = {}
    for row in logs.of_kind(EventKind.request_enqueued).tolist():
        error = logs.string(row, "error")
        if error and logs.times[row] >= 0:
            key = (int(logs.events["source"][row]), int(logs.owners[row]), logs.string(row, "api"), error)
            groups.setdefault(key, []).append(row)
    for rows in groups.values():
        if len(rows) >= FEWEST and int(logs.times[rows[-1]]) - int(logs.times[rows[0]]) >= LONG_MS:
            yield rows


def waiting_call(api: str | None) -> str | None:
    """Return the call that waits for a request, None where the request does not tell it."""
    return CALLS.get(api or "")
