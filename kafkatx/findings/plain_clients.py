"""Failures of clients that have nothing to do with transactions, as far as their text shows.

A timeout, a lost connection or a refused topic befalls every client (`OF_ANY`). Where people say that there are no
transactions, or describe their case without a word of them and no line shows an id, such a failure is told for
information. Lines alone, and logs too long for a page, are never taken for plain by what they lack.
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.told_failures import FATAL, ToldFailure, told_failures
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.text.events import FOREIGN
from kafkatx.text.logs.calls import TRANSACTIONAL
from kafkatx.text.whole_pages import LARGEST_PAGE

OF_ANY = frozenset({
    "REQUEST_TIMED_OUT", "_TIMED_OUT", "_MSG_TIMED_OUT", "TimeoutException", "BatchExpiredException",
    "KafkaTimeoutError", "NETWORK_EXCEPTION", "DisconnectException", "_TRANSPORT", "_ALL_BROKERS_DOWN",
    "_RESOLVE", "_FAIL",
    "KafkaJSConnectionError", "KafkaJSRequestTimeoutError", "KafkaConnectionError", "NoBrokersAvailable",
    "NOT_LEADER_OR_FOLLOWER", "LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION", "_UNKNOWN_TOPIC",
    "_UNKNOWN_PARTITION", "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "INVALID_TOPIC_EXCEPTION",
    "InvalidTopicException",
    "TOPIC_AUTHORIZATION_FAILED", "SASL_AUTHENTICATION_FAILED", "_AUTHENTICATION", "_SSL", "MESSAGE_TOO_LARGE",
    "RECORD_LIST_TOO_LARGE", "BufferExhaustedException", "_QUEUE_FULL",
})  # fmt: skip
"""Errors that clients with and without transactions meet alike."""
OF_ANY_LEADER = frozenset({"NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"})
"""Refusals of a leader that befall whatever is written to it."""
ENDS_ANY_SENDER = "KafkaError"
"""How aiokafka ends the task that sends, after whatever it did not foresee: with an id or without."""
PLAIN = "plain_producer"
"""The statement of who says that there are no transactions."""


def is_plain(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether nothing shows that a transaction or an idempotent producer met a failure."""
    if told.transactional_id is not None or told.producer_id is not None or told.call in TRANSACTIONAL:
        return False
    logs, row = model.logs, told.rows[0]
    if told.is_brokers and _name(told) not in OF_ANY_LEADER:
        return False
    if PLAIN in _said(logs, row) and not told.is_brokers:
        return told.category != FATAL
    return is_foreign(model, row) and all(
        _befalls_any(one) for one in told_failures(model) if _shares_source(logs, one, told)
    )


def is_foreign(model: CaptureModel, row: int) -> bool:
    """Whether somebody describes the case of a line without a word of transactions, and nothing else has an id."""
    return FOREIGN in _said(model.logs, row) and _is_page_without_ids(model, model.logs, row)


def _said(logs: LogModel, row: int) -> set[str]:
    return {one.name for one in statements_of(logs, logs.path(row))}


def _befalls_any(told: ToldFailure) -> bool:
    """Whether any client meets an error: it is none of producer ids, and none after which a producer is dead."""
    return told.error == ENDS_ANY_SENDER or (told.category != FATAL and _name(told) in OF_ANY)


def _name(told: ToldFailure) -> str:
    """The protocol's name of an error, else its own."""
    return told.known.name if told.known is not None else told.error


def _shares_source(logs: LogModel, one: ToldFailure, other: ToldFailure) -> bool:
    source = logs.events["source"]
    return int(source[one.rows[0]]) == int(source[other.rows[0]])


def _is_page_without_ids(model: CaptureModel, logs: LogModel, row: int) -> bool:
    """Whether the text of a line is short, and neither it nor any other evidence names an id."""
    e = logs.events
    source = logs.facts.sources[int(e["source"][row])]
    has_ids = bool(np.any((e["transactional_id_code"] >= 0) | (e["producer_id"] >= 0)))
    return source.bytes <= LARGEST_PAGE and not has_ids and not len(model.latest) and not len(model.spans)
