"""Calls that librdkafka refused since an end before them had timed out and was not called again.

A commit or abort whose time is over goes on in the background, and only the same call resumes it: any other one is
refused with _CONFLICT. In an error path that call is a consequence of the timeout. Alone the refusal tells no more than
that two calls met: in two threads, or one behind a timeout that nothing shows.

Source  rdkafka_txnmgr.c, rd_kafka_txn_curr_api_begin (1.4 to 2.8).
"""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.failures import call_of
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.text.error_messages.misuses import MisuseKind, misuse_in
from kafkatx.text.error_messages.sayings import Saying

ENDS = frozenset({"commitTransaction", "abortTransaction"})
ANSWERED = (EventKind.producer_id_set, EventKind.begin_called, EventKind.client_started)
"""What a client does only when its last call is over."""


def refused_behind(model: CaptureModel) -> dict[int, int]:
    """Return the rows of such refused calls, each with that of the end which had timed out before it."""
    logs = model.logs
    refused = [row for row in logs.of_kind(EventKind.failure).tolist() if _is_refused(logs, row)]
    ends = [row for row in logs.saying(Saying.TIMED_OUT).tolist() if call_of(logs, row) in ENDS] if refused else []
    found = ((row, _latest(logs, ends, row)) for row in refused)
    return {row: end for row, end in found if end is not None}


def _is_refused(logs: LogModel, row: int) -> bool:
    misuse = misuse_in(logs.words(row))
    return misuse is not None and misuse.kind is MisuseKind.unfinished


def _latest(logs: LogModel, ends: list[int], refused: int) -> int | None:
    """The last end on the same page that timed out before a call, unless the client went on in between."""
    page = logs.path(refused)
    before = [row for row in ends if logs.path(row) == page and row != refused and logs.is_before(row, refused)]
    if not before:
        return None
    went_on = (row for row in logs.of_kind(*ANSWERED).tolist() if logs.path(row) == page)
    is_over = any(logs.is_before(before[-1], row) and logs.is_before(row, refused) for row in went_on)
    return None if is_over else before[-1]
