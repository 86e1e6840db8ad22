"""What failures say of a connection that broke, in the words of all client libraries.

Source  NetworkClient, SaslChannelBuilder, Metadata (0.11 to 4.3); rdkafka_err.c; KafkaJS errors.js; sarama errors.go;
        franz-go errors.go; kafka-python and aiokafka errors.py; Go's and Node's own words for sockets.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache


class Break(Enum):
    """What was wrong with a connection."""

    credentials = "the connection was refused for its credentials or certificate"
    connection = "the connection failed"
    metadata = "the topic's metadata could not be read"


_PATTERNS = {
    Break.credentials: re.compile(
        r"SaslAuthentication|SslAuthentication|SASL_AUTHENTICATION_FAILED|SSL handshake failed|\b_SSL\b"
        r"|failed authentication|[Aa]uthentication failed|KafkaJSSASLAuthenticationError|certificate verify failed"
    ),
    Break.connection: re.compile(
        r"ECONNREFUSED|ECONNRESET|[Cc]onnection refused|[Cc]onnect to \S+ failed|KafkaJSConnection(?:Closed)?Error"
        r"|_ALL_BROKERS_DOWN|brokers? (?:connections )?are down|[Bb]roker transport failure|\b_TRANSPORT\b"
        r"|run out of available brokers|unable to dial|NoBrokersAvailable|KafkaConnectionError|connection reset by peer"
        r"|i/o timeout|broken pipe|No resolvable bootstrap|_RESOLVE\b|Host resolution failure"
    ),
    Break.metadata: re.compile(r"not present in metadata after|Failed to update metadata after"),
}


@lru_cache(maxsize=4096)
def break_in(text: str) -> Break | None:
    """Return what a text says was wrong with a connection, None where it says nothing of the kind."""
    return next((what for what, pattern in _PATTERNS.items() if pattern.search(text)), None)
