"""Errors by one code each, however a client or a broker spells them.

Kafka's protocol has a name and a number for an error, the Java client a class (`InvalidPidMappingException`), Python's
libraries another (`ProducerFencedError`, `ProducerFenced`), franz-go a third (`kerr.InvalidProducerIDMapping`), sarama
a fourth (`ErrInvalidProducerIDMapping`); librdkafka has constants (`PRODUCER_FENCED`), and numbers of its own below
-100 for what it finds out by itself (`_FENCED`, in .NET `Local_Fenced`). What a client finds out by itself and gives
no number to is numbered below -1000 here.

Source  org.apache.kafka.common.protocol.Errors (terms/catalogue/errors.tsv), rd_kafka_resp_err_t in rdkafka.h; names
        that are not the protocol's in other letters: terms/catalogue/spellings.tsv.
"""

from collections.abc import Iterator
from enum import IntEnum
from functools import cache, lru_cache

from kafkatx.terms.catalogue.entries import plain_name
from kafkatx.terms.catalogue.loading import error_codes, spellings
from kafkatx.terms.kept_tables import kept_table

AMBIGUOUS = "TimeoutException"
"""A class of the Java client that has many meanings, an answer of a broker the least of them."""
GENERIC = frozenset({
    "Exception", "RuntimeException", "IllegalStateException", "IllegalArgumentException", "KafkaException",
    "AssertionError", "KafkaError", "Error", "ExecutionException", "CompletionException", "KafkaJSNonRetriableError",
    "KafkaJSError", "ConnectException", "StreamsException", "UnsupportedOperationException",
})  # fmt: skip
"""Classes of clients that say nothing by their names: only their words do."""


class ErrorCode(IntEnum):
    """An error by its protocol's number; `NONE` stands for all others."""

    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    MESSAGE_TOO_LARGE = 10
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    ILLEGAL_GENERATION = 22
    UNKNOWN_MEMBER_ID = 25
    REBALANCE_IN_PROGRESS = 27
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    UNSUPPORTED_VERSION = 35
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    UNKNOWN_PRODUCER_ID = 59
    FENCED_INSTANCE_ID = 82
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    PRODUCER_FENCED = 90
    TRANSACTIONAL_ID_NOT_FOUND = 105
    TRANSACTION_ABORTABLE = 120
    LOCAL_FENCED = -144
    """librdkafka was told that its producer is fenced, whichever error told it."""
    CONFIG = -1001
    """The Java client refuses its configuration."""


FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.LOCAL_FENCED})
"""Refusals of an old epoch; none of them tells a newer instance from a timeout."""


@lru_cache(maxsize=4096)
def error_code(name: str) -> ErrorCode:
    """Return the error that a class (with or without its package) or a constant names."""
    return _codes().get(letters_of(plain_name(name)), ErrorCode.NONE)


def letters_of(name: str) -> str:
    """What all spellings of a name share; a leading underscore (in .NET `Local_`) makes it librdkafka's own."""
    name = name.replace("Local_", "_", 1) if name.startswith("Local_") else name
    letters = name.replace("_", "").casefold().removesuffix("exception").removesuffix("error")
    return f"_{letters}" if name.startswith("_") else letters


@cache
def _codes() -> dict[str, ErrorCode]:
    """Errors by their key."""
    known = {int(code): code for code in ErrorCode}
    return {letters: known[code] for letters, code in _numbers().items()}


@kept_table
def _numbers() -> dict[str, int]:
    """Codes by the same; names that are not the protocol's in other letters stand in the catalogue."""
    known = {int(code) for code in ErrorCode}
    codes = {letters_of(name): code for code, name in _names() if code in known}
    return codes | {
        letters_of(code.name.removeprefix("LOCAL")): int(code) for code in ErrorCode if code is not ErrorCode.NONE
    }


def _names() -> Iterator[tuple[int, str]]:
    """Codes and what else they are called: by other libraries, by the Java client's newest class, before a renaming."""
    yield from ((entry.code, entry.name) for entry in spellings() if entry.code is not None)
    yield from ((error.code, error.name) for error in error_codes())
    newest = ((error.code, error.exceptions[-1].text) for error in error_codes() if error.exceptions)
    yield from ((code, name) for code, name in newest if name != AMBIGUOUS)


@kept_table
def atoms() -> frozenset[str]:
    """Return errors that only producers and transactions meet, as atoms of Erlang's clients."""
    parts = ("TXN", "TRANSACTION", "PRODUCER", "SEQUENCE")
    return frozenset(error.name.lower() for error in error_codes() if any(part in error.name for part in parts))
