"""What the words of clients and brokers say beside the name of an error: texts that stand inside messages of others.

A message is wrapped as often as it is handed on (an exception in an exception, in an application's own line), so a text
that decides a diagnosis is looked for anywhere in it. Everything here is read once for each distinct text.

Source  TransactionManager, Sender, RecordAccumulator, TransactionalRequestResult, KafkaProducer (0.11 to 4.3),
        AddPartitionsToTxnManager and UnifiedLog (3.6+); rdkafka_txnmgr.c; the clients' enums of errors.
"""

from __future__ import annotations

import re
from enum import IntFlag, auto
from functools import lru_cache

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex


class Saying(IntFlag):
    """What a text may say; it may say several things."""

    LOST_ACKNOWLEDGEMENT = auto()
    """A batch that had been sent was given up without an answer."""
    STAYS_ABORTABLE = auto()
    """An abort is enough to go on after that (clients 2.5+)."""
    EXPIRED = auto()
    """Records passed delivery.timeout.ms; see `expiry_in`."""
    END_GIVEN_UP = auto()
    """A commit or abort was not answered in time, or a call met that state; see `end_given_up_in`."""
    INTERRUPTED = auto()
    """The calling thread was interrupted while it waited."""
    TIMED_OUT = auto()
    """A client other than the Java one gave up waiting."""
    GROUP_MISMATCH = auto()
    """Offsets of a transaction were refused for the consumer's generation or member id."""
    MEMBER_LOST = auto()
    """A member of a group has lost its place."""
    TASK_MIGRATED = auto()
    """A thread of Kafka Streams lost its tasks to other members of its group."""
    OFFSETS_REFUSED = auto()
    """sendOffsetsToTransaction of librdkafka or sarama failed."""
    OUTSIDE_TRANSACTION = auto()
    """A leader knows that, or can't ask whether, the partition belongs to no open transaction (KIP-890)."""
    UNABLE_TO_VERIFY = auto()
    """It could not ask."""
    ABORTABLE = auto()
    """TRANSACTION_ABORTABLE."""
    OUT_OF_RETRIES = auto()
    """The client itself made an error abortable after its last retry (4.1+)."""
    INVALID_STATE = auto()
    """INVALID_TXN_STATE."""
    WRONG_STATE = auto()
    """A call met a state of the producer that another call had left; see `wrong_state_in`."""
    OLD_FORMAT = auto()
    """Transactional records for a log of message format 0 or 1."""
    WITHOUT_ID = auto()
    """A transactional call on a producer without a transactional.id."""
    NO_PRODUCER_STATE = auto()
    """A leader knows nothing of a producer id."""
    REPEATED_SEQUENCE = auto()
    """A sequence came that had been there before."""
    OF_ABORTED_INDEX = auto()
    """The index of aborted transactions does not fit."""
    OF_SNAPSHOT = auto()
    """A snapshot of producers can't be read."""
    OLD_COORDINATOR = auto()
    """TRANSACTION_COORDINATOR_FENCED."""
    NO_MAPPING = auto()
    """A coordinator has no, or another, producer id for a transactional.id."""
    UNSTABLE_OFFSETS = auto()
    """A group's offsets wait for the end of a transaction."""
    NEGATIVE_EPOCH = auto()
    """An epoch that librdkafka raised beyond 32767, whose number is negative then (-1 is that of no producer id)."""
    FATAL_ALREADY = auto()
    """What clients throw without asking anybody, since their state is fatal.

    `attempted to produce with an old epoch` is thrown so with the transactional.id in front; as the answer to a Produce
    it never comes out of abortTransaction.
    """


@dataclass(frozen=True, slots=True)
class ExpiredBatch:
    """Records that a client gave up: how many milliseconds after the batch was made, and of which partition."""

    topic: str
    partition: int
    age_ms: int


@dataclass(frozen=True, slots=True)
class EndGivenUp:
    """A commit (or abort) that was given up after `waited_ms`, or `is_refusal`: another call met that state.

    `is_named`: the text says which of both it was and that no answer came; else it is taken for a commit.
    """

    is_commit: bool
    is_refusal: bool
    waited_ms: int | None = None
    is_named: bool = True


_NEWER = regex(r"newer (?:instance|producer)", re.IGNORECASE)
_EXPIRY = regex(r"Expiring [0-9]{1,9} record\(s\) for (\S+)-([0-9]{1,9}): ?([0-9]{1,12}) ms has passed since batch")
_END_GIVEN_UP = regex(
    r"Timeout expired after ([0-9]+) ?(?:ms|milliseconds) while awaiting EndTxn\((?P<commit>[tT]rue|[fF]alse)\)"
    r"|(?P<refused>from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION)"
    r"|previous call to .?(?P<retry>commitTransaction|abortTransaction).? timed out and must be retried"
    r"|(?P<unnamed>Request EndTxn\(key: 26, version: \d+\) timed out)|(?P<unconfirmed>the commit is unconfirmed)"
)
_WRONG_STATE = regex(
    r"Invalid transition attempted from state (?!COMMITTING_TRANSACTION to state ABORTING|BUMPING|FATAL|ABORTABLE)"
    r"[A-Z_]+ to state [A-Z_]+|Cannot add partition \S+ to transaction while in state"
    r"|__?PREV_IN_PROGRESS\b|__?CONFLICT\b"
)
_UNITS = {"s": 1_000, "sec": 1_000, "min": 60_000}
_WAITED = regex(r"did not return within ([0-9]{1,8}) ?(millis\w*|ms|s(?:ec\w*)?|min\w*)\b")
_LOST = regex(
    r"^(?!.*unable to satisfy gap-less).*(?:hasn't received|[Gg]ap-?less (?:ordering|guarantee)|_GAPLESS_)", re.DOTALL
)
"""With enable.gapless.guarantee librdkafka stops after any failed batch, and names the broker's answer."""
_NAMES = (Saying.INTERRUPTED, Saying.MEMBER_LOST, Saying.ABORTABLE, Saying.INVALID_STATE)
"""Said by the name of an error, of which no longer word is a part."""
_TEXTS = {
    Saying.NEGATIVE_EPOCH: ("Epoch:-3",),
    Saying.LOST_ACKNOWLEDGEMENT: (
        "hasn't received acknowledgment for some previously sent messages", "less ordering", "less guarantee",
        "_GAPLESS_",
    ),
    Saying.STAYS_ABORTABLE: ("safe to abort the transaction and continue",),
    Saying.EXPIRED: ("ms has passed since batch",),
    Saying.END_GIVEN_UP: (
        "while awaiting EndTxn", "from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION",
        "timed out and must be retried", "Request EndTxn(key: 26", "the commit is unconfirmed",
    ),
    Saying.INTERRUPTED: ("InterruptException",),
    Saying.TIMED_OUT: (
        "_TIMED_OUT", "Local: Timed out", "TimeoutError", "context deadline exceeded", "did not return within",
    ),
    Saying.GROUP_MISMATCH: (
        "failed due to consumer group metadata mismatch", "Partition rebalance during exactly-once processing",
    ),
    Saying.MEMBER_LOST: (
        "FencedInstanceId", "IllegalGeneration", "UnknownMemberId", "StaleMemberEpoch", "CommitFailed",
        "FENCED_INSTANCE_ID", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "STALE_MEMBER_EPOCH", "RebalanceInProgress",
        "REBALANCE_IN_PROGRESS", "Group rebalance in progress", "generation id is not the current generation",
        "group generation id is not valid", "coordinator is not aware of this member",
        "member is not known in the current generation", "Unknown member", "rebalance for the group is in progress",
        "ErrUnknownMemberId", "ErrIllegalGeneration", "ErrRebalanceInProgress",
    ),
    Saying.TASK_MIGRATED: ("TaskMigratedException", "fenced due to a rebalance"),
    Saying.OFFSETS_REFUSED: ("Failed to commit offsets to transaction", "failed to send offsets to transaction"),
    Saying.OUTSIDE_TRANSACTION: (
        "Partition was not added to the transaction", "Record was not part of an ongoing transaction",
        "Unable to verify the partition has been added to the transaction",
    ),
    Saying.UNABLE_TO_VERIFY: ("Unable to verify",),
    Saying.ABORTABLE: ("TransactionAbortable", "TRANSACTION_ABORTABLE"),
    Saying.OUT_OF_RETRIES: ("after exhausting retries",),
    Saying.INVALID_STATE: ("InvalidTxnState", "INVALID_TXN_STATE"),
    Saying.WRONG_STATE: (
        "Invalid transition attempted from state", "Cannot add partition", "_PREV_IN_PROGRESS", "_CONFLICT",
    ),
    Saying.OLD_FORMAT: (
        "Transactional records are not supported for magic", "UnsupportedForMessageFormat",
        "UNSUPPORTED_FOR_MESSAGE_FORMAT",
    ),
    Saying.WITHOUT_ID: (
        "Cannot use transactional methods without enabling transactions",
        "Transactional method invoked on a non-transactional producer",
        "without setting a transactional_id", "You need to configure transaction_id to use transactions",
        "transactional.id to be configured", "you need to add TransactionalID to producer",
        "Must provide transactional id for transactional producer",
        "Cannot manage transactions without a transactionalId",
        "begin a transaction with a non-transactional client", "since transactions are not enabled",
        "The 'ProducerFactory' must support transactions", "Producer factory does not support transactions",
        "Template does not support transactions", "pooled-producer requires transactional.id to be set",
        "requires a transactionalIdPrefix to be set", "requires a transactionIdPrefix to be set",
    ),
    Saying.NO_PRODUCER_STATE: (
        "UnknownProducerId", "UNKNOWN_PRODUCER_ID", "Unknown Producer Id", "unknown producer id",
        "locate the producer metadata", "with no existing state", "Found no record of producerId",
    ),
    Saying.REPEATED_SEQUENCE: (
        "uplicate sequence number", "DuplicateSequenceNumber", "DUPLICATE_SEQUENCE_NUMBER",
    ),
    Saying.OF_ABORTED_INDEX: (
        ".txnindex", "offset of appended transactions must increase", "Unexpected aborted transaction version",
        "Last offset of aborted transaction",
    ),
    Saying.OF_SNAPSHOT: (
        "Snapshot is corrupt", "Snapshot failed schema validation", "Snapshot contained an unknown file version",
        "is corrupted (CRC is no longer valid)",
    ),
    Saying.OLD_COORDINATOR: ("TransactionCoordinatorFenced", "TRANSACTION_COORDINATOR_FENCED"),
    Saying.NO_MAPPING: (
        "InvalidPidMapping", "INVALID_PRODUCER_ID_MAPPING", "not currently assigned to its transactional id",
    ),
    Saying.UNSTABLE_OFFSETS: (
        "UNSTABLE_OFFSET_COMMIT", "UnstableOffsetCommit", "unstable offsets that need to be cleared",
    ),
    Saying.FATAL_ALREADY: (
        "Cannot execute transactional method because we are in an error state",
        "rejected from the broker because it tried to use an old epoch",
        "has been fenced by another producer with the same transactionalId",
        "attempted to produce with an old epoch",
        "cannot execute transactional method because of previous invalid state transition attempt",
        "from state FATAL_ERROR to state ABORTING",
        "FATAL_ERROR -> ABORTING", "FATAL_ERROR -> TransactionState.ABORTING",
        "not valid in state FatalError",
    ),
}  # fmt: skip
"""Literals of which a text that says something holds one: quick to look for, and mostly enough."""
_PATTERNS = {
    Saying.LOST_ACKNOWLEDGEMENT: _LOST,
    Saying.EXPIRED: _EXPIRY,
    Saying.END_GIVEN_UP: _END_GIVEN_UP,
    Saying.TIMED_OUT: regex(
        r"(?<!MSG)_TIMED_OUT\b|\bLocal: Timed out|TimeoutError\b|context deadline exceeded|did not return within"
    ),
    Saying.WRONG_STATE: _WRONG_STATE,
    **{saying: regex(rf"\b(?:{'|'.join(_TEXTS[saying])})") for saying in _NAMES},
}
"""What such a text must hold besides."""


_FILE_OF_PARTITION = regex(r"(?:^|[\s/\\'\"])([\w.-]{1,249})-(\d{1,9})[/\\]\d{20}\.(?:txnindex|snapshot)\b")


def partition_of_file_in(text: str) -> tuple[str, int] | None:
    """Return the partition in whose folder an index or a snapshot lies that a text names."""
    found = _FILE_OF_PARTITION.search(text)
    return (found[1], int(found[2])) if found is not None else None


_PRODUCER = regex(r"PID\{Id:([0-9]{1,19}),Epoch:(-?[0-9]{1,6})\}")


def producer_in(text: str) -> tuple[int, int] | None:
    """Return the producer id and epoch that librdkafka names (rd_kafka_pid2str)."""
    found = _PRODUCER.search(text)
    return (int(found[1]), int(found[2])) if found is not None else None


_BASE_SEQUENCE = regex(r"\(PID\{[^}]{1,60}\}, base seq ([0-9]{1,10}),")


def base_sequence_in(text: str) -> int | None:
    """Return the first sequence of a batch that librdkafka tells as refused (rd_kafka_handle_Produce_error)."""
    found = _BASE_SEQUENCE.search(text)
    return int(found[1]) if found is not None else None


@lru_cache(maxsize=16_384)
def said_in(text: str) -> Saying:
    """Return everything that a text says."""
    found = [saying for saying, texts in _TEXTS.items() if any(one in text for one in texts)]
    return Saying(sum(one for one in found if one not in _PATTERNS or _PATTERNS[one].search(text) is not None))


def expiry_in(text: str) -> ExpiredBatch | None:
    """Return the records whose time was over, of a text that says EXPIRED."""
    found = _EXPIRY.search(text)
    return ExpiredBatch(found[1], int(found[2]), int(found[3])) if found is not None else None


def end_given_up_in(text: str) -> EndGivenUp | None:
    """Return which end was given up, of a text that says END_GIVEN_UP."""
    found = _END_GIVEN_UP.search(text)
    if found is None:
        return None
    if found["commit"] is not None:
        return EndGivenUp(found["commit"].lower() == "true", is_refusal=False, waited_ms=int(found[1][:12]))
    if found["unnamed"] is not None or found["unconfirmed"] is not None:
        return EndGivenUp(is_commit=True, is_refusal=False, is_named=False)
    return EndGivenUp(found["retry"] != "abortTransaction", is_refusal=True)


def wait_in(text: str) -> int | None:
    """Return how long an application waited for a call, in milliseconds, of a text that says so (TIMED_OUT)."""
    found = _WAITED.search(text)
    return None if found is None else int(found[1]) * _UNITS.get(found[2][:3], 1)


def wrong_state_in(text: str) -> str | None:
    """Return the words about the state, of a text that says WRONG_STATE."""
    found = _WRONG_STATE.search(text)
    return found[0] if found is not None else None


def is_leaders_deletion(reason: str) -> bool:
    """Whether a log start moved for a reason that is the leader's: its own, or told to a follower by it.

    A segment that retention deletes each replica deletes by itself. Source: LogStartOffsetIncrementReason (2.6+).
    """
    return reason.startswith(("client delete records request", "leader offset increment"))


def names_a_newer_one(message: str) -> bool:
    """Whether the words of an error name who raised the epoch, as clients have it of a timeout as well."""
    return _NEWER.search(message) is not None


_DAMAGED = regex(
    r"\bFound record size -?\d{1,12} smaller than .{1,200}?\bin file (?P<path>[^\s,;\"']{3,500}?)[.,;\"']*(?:\s|$)"
)
_TOO_FEW = regex(
    r"\binsufficient to satisfy the min\.isr requirement of \d"
    r"|\bNumber of insync replicas for partition \S+ is \[\d+\], below required minimum"
)


def damaged_file(message: str) -> str | None:
    """The file of a broker whose records it could not read (FileLogInputStream), None where no text says so."""
    found = _DAMAGED.search(message)
    return found["path"] if found is not None else None


def names_too_few_in_sync(message: str) -> bool:
    """Whether a leader says that too few replicas are in sync: the refusal of a verification has other words."""
    return _TOO_FEW.search(message) is not None


_BROKER = regex(r"\(broker ([^\s()]{1,300})\)")


def broker_in(text: str) -> str | None:
    """Return the address of the broker that an error of KafkaJS came from (text/logs/json_lines.py)."""
    found = _BROKER.search(text)
    return found[1] if found else None


_AGAIN = regex(r"\b(?:restor\w+|recover\w*|restart\w*|fail(?:ed|ing)?[- ]?over|redeploy\w*)\b", re.IGNORECASE)


def is_done_again(text: str) -> bool:
    """Whether words speak of what is only done to what had run before: a restart, a failover, a redeployment."""
    return _AGAIN.search(text) is not None


def names_read_committed(text: str) -> bool:
    """Whether words name the isolation level of readers that are given nothing aborted."""
    return any(name in text.lower() for name in ("read_committed", "read-committed", "readcommitted"))
