"""Errors that questions are asked about, each once, however a client or a broker spells it.

Kafka's protocol has a name and a number for an error, the Java client a class (`InvalidPidMappingException`), Python's
libraries another (`ProducerFencedError`, `ProducerFenced`), franz-go a third (`kerr.InvalidProducerIDMapping`);
librdkafka has constants (`PRODUCER_FENCED`), and numbers of its own below -100 for what it finds out by itself
(`_FENCED`). What a client finds out by itself and gives no number to is numbered below -1000 here.

Source  org.apache.kafka.common.protocol.Errors (terms/catalogue/errors.tsv), rd_kafka_resp_err_t in rdkafka.h.
"""

from enum import IntEnum
from functools import lru_cache


class ErrorCode(IntEnum):
    """An error by its protocol's number; `NONE` stands for all that nobody asks about."""

    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    REQUEST_TIMED_OUT = 7
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    PRODUCER_FENCED = 90
    LOCAL_FENCED = -144
    """librdkafka was told that its producer is fenced, whichever error told it."""
    CONFIG = -1001
    """The Java client refuses its configuration."""


FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.LOCAL_FENCED})
"""Refusals of an old epoch; none of them tells a newer instance from a timeout."""


@lru_cache(maxsize=4096)
def error_code(name: str) -> ErrorCode:
    """Return the error that a class (with or without its package) or a constant names."""
    return _CODES.get(_key(name.rpartition(".")[2].removeprefix("RD_KAFKA_RESP_ERR_")), ErrorCode.NONE)


def _key(name: str) -> str:
    """What all spellings of a name share; a leading underscore makes it librdkafka's own."""
    letters = name.replace("_", "").casefold().removesuffix("exception").removesuffix("error")
    return f"_{letters}" if name.startswith("_") else letters


_CODES = {_key(code.name.removeprefix("LOCAL")): code for code in ErrorCode if code is not ErrorCode.NONE}
_CODES |= {
    "invalidpidmapping": ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    "invalidtxntimeout": ErrorCode.INVALID_TRANSACTION_TIMEOUT,
}
"""Errors by their key; classes that are not called like their error are named beside them."""
