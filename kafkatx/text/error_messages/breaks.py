"""What failures say of a connection that broke, in the words of all client libraries.

Source  NetworkClient, SaslChannelBuilder, Metadata (0.11 to 4.3); rdkafka_err.c; KafkaJS errors.js; sarama errors.go;
        franz-go errors.go; kafka-python and aiokafka errors.py; Go's and Node's own words for sockets.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex


class Break(Enum):
    """What was wrong with a connection."""

    credentials = "the connection was refused for its credentials or certificate"
    connection = "the connection failed"
    metadata = "the topic's metadata could not be read"


_PATTERNS = {
    Break.credentials: regex(
        r"SaslAuthentication|SslAuthentication|SASL_AUTHENTICATION_FAILED|SSL handshake failed|\b_SSL\b"
        r"|failed authentication|[Aa]uthentication (?:failed|error)|KafkaJSSASLAuthenticationError"
        r"|certificate verify failed"
    ),
    Break.connection: regex(
        r"ECONNREFUSED|ECONNRESET|[Cc]onnection refused|[Cc]onnect to \S+ failed|KafkaJSConnection(?:Closed)?Error"
        r"|_ALL_BROKERS_DOWN|brokers? (?:connections )?are down|[Bb]roker transport failure|\b_TRANSPORT\b"
        r"|run out of available brokers|unable to dial|NoBrokersAvailable|KafkaConnectionError|connection reset by peer"
        r"|i/o timeout|broken pipe|No resolvable bootstrap|_RESOLVE\b|Host resolution failure"
        r"|\bNetworkException\b|\bNETWORK_EXCEPTION\b|server disconnected before a response"
    ),
    Break.metadata: regex(r"not present in metadata after|Failed to update metadata after"),
}


@lru_cache(maxsize=4096)
def break_in(text: str) -> Break | None:
    """Return what a text says was wrong with a connection, None where it says nothing of the kind."""
    return next((what for what, pattern in _PATTERNS.items() if pattern.search(text)), None)


@dataclass(frozen=True, slots=True)
class MetadataWait:
    """A wait for the metadata of a topic that was over: whether a line says that brokers answered without it.

    `is_partition`: the topic is there, and has no such partition.
    """

    topic: str
    is_partition: bool
    is_unknown: bool


_WAITED = regex(
    r"Topic (?P<topic>\S+) not present in metadata after"
    r"|Partition \d+ of topic (?P<other>\S+) with partition count \d+ is not present in metadata after"
)
UNKNOWN_TOPIC = ("UnknownTopicOrPartition", "UNKNOWN_TOPIC_OR_PARTITION")


@lru_cache(maxsize=4096)
def metadata_wait_in(text: str) -> MetadataWait | None:
    """Return which topic's metadata a text says was waited for in vain, None where it says nothing of the kind."""
    found = _WAITED.search(text)
    if found is None:
        return None
    is_unknown = found["other"] is not None or any(error in text for error in UNKNOWN_TOPIC)
    return MetadataWait(found["topic"] or found["other"], found["other"] is not None, is_unknown)


@lru_cache(maxsize=4096)
def unknown_topics_in(text: str) -> frozenset[str]:
    """Return the topics that brokers said they don't know, of `a=UNKNOWN_TOPIC_OR_PARTITION, b=...`."""
    pairs = (part.strip().partition("=") for part in text.split(","))
    return frozenset(name for name, _, error in pairs if error in UNKNOWN_TOPIC)
