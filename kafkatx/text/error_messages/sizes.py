"""What errors say of a record or batch that is too large: how many bytes, whose limit, and what it is.

A client refuses a record of itself (max.request.size, buffer.memory) and never sends it; a broker refuses a batch. The
words tell them apart; of librdkafka and sarama, which use one error for both, nothing does.

Source  KafkaProducer.ensureValidRecordSize (0.11 to 4.3), aiokafka and kafka-python (`max_request_size`);
        UnifiedLog (`The record batch size in the append to`, `Message batch size is`); Errors.MESSAGE_TOO_LARGE.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex


class Limiter(Enum):
    """Whose limit a record or batch was above."""

    request = "max.request.size"
    memory = "buffer.memory"
    topic = "max.message.bytes"
    segment = "segment.bytes"
    unknown = "a limit"


@dataclass(frozen=True, slots=True)
class TooLargeSize:
    """What one error says: bytes of the record or batch, the limit, whose it is, and the partition where it names one.

    Sizes are None where the error does not name them, the partition too.
    """

    limiter: Limiter
    size: int | None = None
    limit: int | None = None
    partition: str | None = None


_CLIENT = regex(
    r"message is ([0-9]{1,10}) bytes when serialized which is larger than "
    r"(?:([0-9]{1,10}), which is the value of the|the [a-z ]{1,30}you have configured with the) "
    r"(max[._]request[._]size|buffer[._]memory) configuration"
)
_BROKER = regex(
    r"batch size (?:in the append to (?P<before>\S{1,270}) )?is (?P<size>[0-9]{1,10}) bytes "
    r"(?:in append ?to ?partition (?P<behind>[^\s,]{1,270}),? )?which exceeds the maximum configured "
    r"(?P<segment>segment )?(?:value|size) of (?P<limit>[0-9]{1,10})"
)
_BROKERS_WORDS = {
    "larger than the max message size the server will accept": Limiter.topic,
    "larger than the configured segment size": Limiter.segment,
}


@lru_cache(maxsize=1_000)
def size_in(text: str) -> TooLargeSize:
    """Return what a text says of a size that was refused; of one that says nothing the limiter is unknown."""
    if found := _CLIENT.search(text):
        limiter = Limiter.memory if found[3].startswith("buffer") else Limiter.request
        return TooLargeSize(limiter, int(found[1]), int(found[2]) if found[2] else None)
    if found := _BROKER.search(text):
        limiter = Limiter.segment if found["segment"] else Limiter.topic
        return TooLargeSize(limiter, int(found["size"]), int(found["limit"]), found["before"] or found["behind"])
    return TooLargeSize(next((limiter for words, limiter in _BROKERS_WORDS.items() if words in text), Limiter.unknown))
