"""Calls in a state that does not allow them, as the client libraries word it.

Every library refuses such a call by itself, without asking a broker, and names the state or the method. Its words are
read here to one kind; what follows from an error before (a fatal or an abortable state, a commit without an answer) is
no misuse of its own and is left to other rules.

Source  TransactionManager, KafkaProducer (0.11 to 4.3); rdkafka_txnmgr.c, rd_kafka_txn_state2str; KafkaJS
        transactionStateMachine.js, eosManager; aiokafka TransactionManager, AIOKafkaProducer; kafka-python
        transaction_manager.py; sarama transaction_manager.go; franz-go errors.go; spring-kafka KafkaTemplate;
        @platformatic/kafka producer.ts, transaction.ts (2.9); confluent-kafka-javascript _producer.js (1.9).
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex


class MisuseKind(Enum):
    """What was wrong with a call."""

    begun_inside = "a transaction was begun inside another one"
    not_begun = "no transaction had been begun"
    ended_before = "the transaction had already been ended"
    not_initialised = "initTransactions had not been completed"
    initialised_twice = "initTransactions had been called before"
    closed = "the producer had been closed"
    at_once = "another transactional call was still running"
    unfinished = "another transactional call had not been finished"
    while_ending = "the transaction was being committed or aborted"
    prepared = "the transaction had been prepared for two-phase commit"
    not_polled = "delivery reports were not taken from the event queue"
    other = "the producer was in another state"
    unnamed = "the producer was in a state that the library does not name"


@dataclass(frozen=True, slots=True)
class Misuse:
    """A call in a wrong state: `state` is the one that it met, as the library names it, None where it doesn't."""

    kind: MisuseKind
    state: str | None = None


_JAVA = regex(
    r"Invalid (?:state )?transition(?: attempted from state)? (?:TransactionState\.)?([A-Z_]+)"
    r" (?:to state|->) (?:TransactionState\.)?([A-Z_]+)"
)
_LIBRDKAFKA = regex(r"(?:Operation not valid in|Producing not allowed in transactional) state (\w+)")
_KAFKAJS = regex(r'Transaction state exception: Cannot call \\?"(\w+)\\?" in state \\?"(\w+)\\?"')
_IN_STATE = regex(
    r"Cannot call send in state (\w+)|transaction is not in progress \(currentState= ?(\w+)|while in state +(\w+)"
)
_TEXTS = (
    (MisuseKind.not_initialised, regex(r"before completing a call to init_?[tT]ransactions")),
    (
        MisuseKind.begun_inside,
        regex(
            r"already an ongoing transaction for this producer|Transaction already in progress"
            r"|A transaction is already in progress for channel|There is already an active transaction"
            r"|Can only start one transaction at a time|Nested calls to 'executeInTransaction' are not allowed"
        ),
    ),
    (
        MisuseKind.not_begun,
        regex(
            r"not in an active transaction|No transaction (?:is in process; possible solutions|in process(?!\w))"
            "|Can't send messages while not in transaction|Not in the middle of a transaction"
            "|cannot produce record transactionally if not in a transaction"
            "|transaction manager: transaction is not ready|Transaction not started. Call beginTransaction"
            r"|Cannot (?:commit|abort|sendOffsets), no transaction ongoing"
        ),
    ),
    (MisuseKind.ended_before, regex("Cannot continue to use transaction once ended|an already completed transaction")),
    (
        MisuseKind.closed,
        regex(
            "Cannot perform operation after producer has been closed"
            "|producer is disconnecting; therefore, it can't safely accept messages|Pooled producer is closed"
            "|The producer is disconnected|KafkaProducer already closed!|kafka: tried to use a client that was closed"
            r"|kafka: message received by producer in process of shutting down|\bProducerClosed\b"
        ),
    ),
    (MisuseKind.unfinished, regex("API call is already in progress")),
    (MisuseKind.at_once, regex(r"Simultaneous \S+ API calls not allowed")),
    (MisuseKind.prepared, regex("while the transaction is in a prepared state")),
    (MisuseKind.not_polled, regex("the event queue must be polled for delivery report events")),
    (
        MisuseKind.other,
        regex(
            "transaction manager: invalid transition attempted|The producer is in use by an?(?:other)? transaction"
            r"|Cannot (?:start transaction|commit|abort|sendOffsets) without awaiting connect\(\)"
        ),
    ),
)
_PRODUCE = regex(r"(?:[Pp]roduce|transaction)\b.*(?:Local: Erroneous state|\b_STATE\b)", re.DOTALL)
"""librdkafka's bare code stands for calls of consumers as well: only beside a call of a producer it means that.

It says no state: a produce is refused so without a begin, and after an error within the transaction.
"""

_UNINITIALISED = frozenset({"UNINITIALIZED", "INITIALIZING", "Init", "WaitPID", "ReadyNotAcked"})
_READY = frozenset({"READY", "Ready"})
_INSIDE = frozenset({"IN_TRANSACTION", "TRANSACTING", "InTransaction"})
_ENDS = ("COMMITTING", "ABORTING")
_BY_ITSELF = frozenset({"ABORTABLE_ERROR", "FATAL_ERROR"})
"""States that no call of an application asks for: the client goes there by itself (KAFKA-14830).

An end while INITIALIZING is the error path of an initTransactions that had failed: no misuse of its own either.
"""


@lru_cache(maxsize=4096)
def misuse_in(text: str) -> Misuse | None:
    """Return what a text says about a call in a wrong state, None where it says nothing of the kind."""
    if found := _JAVA.search(text):
        return _transition(found[1], found[2])
    if found := _LIBRDKAFKA.search(text):
        return _in_state(found[1], text)
    if found := _KAFKAJS.search(text):
        is_ending = found[2] in ("COMMITTING", "ABORTING")
        return Misuse(MisuseKind.at_once, found[2]) if is_ending else _in_state(found[2], found[1])
    if (kind := next((kind for kind, pattern in _TEXTS if pattern.search(text)), None)) is not None:
        return Misuse(kind)
    if found := _IN_STATE.search(text):
        state = found[1] or found[2] or found[3]
        return Misuse(MisuseKind.while_ending, state) if state.startswith(_ENDS) else _in_state(state, "send")
    return Misuse(MisuseKind.unnamed) if _PRODUCE.search(text) else None


def _transition(before: str, asked: str) -> Misuse | None:
    """A transition that the state machine of Java, kafka-python and aiokafka refuses, by its pair of states.

    An end from INITIALIZING follows an initTransactions that failed: an error path calls abortTransaction for it.
    """
    if asked in _BY_ITSELF or (before == "INITIALIZING" and asked.startswith(_ENDS)):
        return None
    if before in _INSIDE and asked in _INSIDE:
        return Misuse(MisuseKind.begun_inside, before)
    if before == "INITIALIZING" and asked.startswith(_ENDS):
        return None
    if before in _UNINITIALISED:
        return Misuse(MisuseKind.not_initialised, before)
    if asked == "INITIALIZING" and before in _READY | _INSIDE:
        return Misuse(MisuseKind.initialised_twice, before)
    if before in _READY and asked.startswith(_ENDS):
        return Misuse(MisuseKind.not_begun, before)
    return None


def _in_state(state: str, call: str) -> Misuse | None:
    """A call that a state refuses; states after an error, and those of a call that owes its answer, are no misuse."""
    if state in _INSIDE:
        is_init = "init" in call.lower()
        return Misuse(MisuseKind.initialised_twice if is_init else MisuseKind.begun_inside, state)
    if state in _UNINITIALISED:
        return Misuse(MisuseKind.not_initialised, state)
    if state in _READY:
        is_init = "init" in call.lower()
        return Misuse(MisuseKind.initialised_twice if is_init else MisuseKind.not_begun, state)
    return None
