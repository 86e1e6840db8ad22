"""Requests that a client makes again and again for longer than a call waits: no answer that it could use came.

Grain    one a client (else source), request and error, up to where something was achieved: a producer id, a partition
         registered, a transaction that began or ended. Each line alone is nothing that failed, since the client tries
         again; that it still does so after `LONG_MS` says that the call did not come through in that time. What each
         transaction asks anew is another request where it was silent for so long: logs of hours have one of each.
Cut      a few lines that somebody took out of a log, or one that consists of little else, show a retry that came to
         nothing as far as they go, however long it took: what comes behind it, if anything, was left out.
Limits   without times nothing else is told, and CONCURRENT_TRANSACTIONS has its own rule.
Source   rdkafka_idempotence.c, aiokafka's sender.py and ruby-kafka's cluster.rb repeat without a limit; so does
         rdkafka_txnmgr.c (1.4 to 2.15) AddPartitionsToTxn every 500 ms, and EndTxn until its call's time is over.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from itertools import pairwise

from kafkatx.findings.client_lines import is_cut_out
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import MAX_BLOCK_MS
from kafkatx.terms.events import EventKind

LONG_MS = MAX_BLOCK_MS
FEWEST = 2
"""Lines that make a repetition: texts show the first and the last of many."""
MOST = 2
"""Of so many lines of a log one is the retry, where it consists of little else."""
ACHIEVED = (
    EventKind.producer_id_set, EventKind.init_returned, EventKind.begin_called, EventKind.commit_called,
    EventKind.abort_called,
)  # fmt: skip
"""What a client does once it was answered."""
ACHIEVED_STATES = ("NotAcked", "Ready", "InTransaction", "Assigned")
"""Where librdkafka's state goes once it was answered: CommitNotAcked, AbortNotAcked and ReadyNotAcked as well."""
REGISTERED = "partition registered"
"""What librdkafka tells of each partition that AddPartitionsToTxn was answered for."""
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
OF_ORDER = "OUT_OF_ORDER"
"""In the name of what a leader answers to a batch that does not follow the last."""
OF_TRANSACTIONS = frozenset(CALLS) - {"InitProducerId"}
"""What each transaction asks anew."""


def endless_retries(logs: LogModel) -> Iterator[list[int]]:
    """Yield the lines of each request that was repeated for so long."""
    groups: dict[tuple[int, int, str | None, str], list[int]] = {}
    for row in logs.of_kind(EventKind.request_enqueued).tolist():
        error, who = logs.string(row, "error"), (int(logs.events["source"][row]), int(logs.owners[row]))
        if error and logs.times[row] >= 0:
            groups.setdefault((*who, logs.string(row, "api"), error), []).append(row)
    found = {key: rows for key, rows in groups.items() if _is_long(logs, rows)}
    achieved = _achieved(logs) if found else []
    for (source, owner, api, _), rows in found.items():
        breaks = [row for row in achieved if logs.events["source"][row] == source and _may_be(logs, row, owner)]
        yield from (run for run in _runs(logs, rows, breaks, api in OF_TRANSACTIONS) if _is_long(logs, run))


def _runs(logs: LogModel, rows: list[int], breaks: list[int], ends_by_silence: bool) -> Iterator[list[int]]:
    """Split the lines of a request where something was achieved, or where it was another one's."""
    run = rows[:1]
    for before, row in pairwise(rows):
        is_other = ends_by_silence and int(logs.times[row]) - int(logs.times[before]) >= LONG_MS
        if is_other or bisect(breaks, before) < bisect(breaks, row):
            yield run
            run = []
        run.append(row)
    yield run


def _is_long(logs: LogModel, rows: list[int]) -> bool:
    return len(rows) >= FEWEST and int(logs.times[rows[-1]]) - int(logs.times[rows[0]]) >= LONG_MS


def _may_be(logs: LogModel, row: int, owner: int) -> bool:
    """Whether a line is of a client, or a request of nobody may be of its client."""
    return owner in (-1, int(logs.owners[row]))


def left_unanswered(logs: LogModel) -> Iterator[list[int]]:
    """Yield the lines of each request in a cut text that was repeated to its end, with nothing achieved behind.

    A batch is sent again wherever its partition's leader is another one now; of batches only those count that were
    refused for their sequence.
    """
    groups: dict[tuple[int, str | None, str], list[int]] = {}
    kinds = EventKind.request_enqueued, EventKind.concurrent_transactions, EventKind.produce_retry
    for row in logs.of_kind(*kinds).tolist():
        error = logs.string(row, "error")
        if error and (logs.kind(row) is not EventKind.produce_retry or OF_ORDER in error):
            groups.setdefault((int(logs.events["source"][row]), logs.string(row, "api"), error), []).append(row)
    achieved = _achieved(logs)
    for (source, *_), rows in groups.items():
        is_over = any(row > rows[-1] and int(logs.events["source"][row]) == source for row in achieved)
        if not is_over and (is_cut_out(logs, rows) or MOST * len(rows) >= logs.facts.sources[source].lines):
            yield rows


def _achieved(logs: LogModel) -> list[int]:
    """Lines that only a client which was answered writes, in order."""
    return sorted([*logs.of_kind(*ACHIEVED).tolist(), *_states_achieved(logs)])


def _states_achieved(logs: LogModel) -> Iterator[int]:
    """Lines by which a client of librdkafka went into a state that only an answer leads to, or had one."""
    for row in logs.of_kind(EventKind.client_state).tolist():
        detail = logs.string(row, "detail") or ""
        before, _, state = detail.rpartition(" -> ")
        if detail == REGISTERED or (before and state.strip().endswith(ACHIEVED_STATES)):
            yield row


def goes_on(logs: LogModel, rows: list[int]) -> bool:
    """Whether the log of a request has later lines than the last time it was refused."""
    at = int(logs.events["at"][rows[-1]])
    return 0 <= at < logs.facts.sources[int(logs.events["source"][rows[-1]])].last_at


def call_repeated(logs: LogModel, row: int) -> str | None:
    """Return the call whose request a line repeats."""
    return "send" if logs.kind(row) is EventKind.produce_retry else waiting_call(logs.string(row, "api"))


def waiting_call(api: str | None) -> str | None:
    """Return the call that waits for a request, None where the request does not tell it."""
    return CALLS.get(api or "")
