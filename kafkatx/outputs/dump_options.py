"""What a dump shows: kafka-dump-log's own options, or everything."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from kafkatx.outputs.dump_decoders import (
    Decoder,
    coordinator_decoder,
    integer_text,
    metadata_decoder,
    plain_decoder,
    remote_log_decoder,
)
from kafkatx.terms.errors import UsageError
from kafkatx.terms.java_text import java_text
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import (
    CLUSTER_METADATA,
    CONSUMER_OFFSETS,
    REMOTE_LOG_METADATA,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
)

NO_LIMIT = (1 << 31) - 1


class DecoderName(StrEnum):
    """What keys and values are read as."""

    BY_TOPIC = "by topic"
    PLAIN = "plain"
    TRANSACTION_LOG = "transaction log"
    OFFSETS = "offsets"
    CLUSTER_METADATA = "cluster metadata"
    SHARE_GROUP_STATE = "share group state"
    REMOTE_LOG_METADATA = "remote log metadata"


OF_TOPIC = {
    TRANSACTION_STATE: DecoderName.TRANSACTION_LOG,
    CONSUMER_OFFSETS: DecoderName.OFFSETS,
    CLUSTER_METADATA: DecoderName.CLUSTER_METADATA,
    SHARE_GROUP_STATE: DecoderName.SHARE_GROUP_STATE,
    REMOTE_LOG_METADATA: DecoderName.REMOTE_LOG_METADATA,
}
COMPONENTS = {
    DecoderName.TRANSACTION_LOG: "transaction_coordinator",
    DecoderName.OFFSETS: "group_coordinator",
    DecoderName.SHARE_GROUP_STATE: "share_coordinator",
}
PLAIN_DECODERS: dict[str, Callable[[bytes], str]] = {
    "StringDecoder": java_text,
    "IntegerDecoder": integer_text,
    "LongDecoder": integer_text,
}


@dataclass(frozen=True, slots=True)
class DumpOptions:
    """Options of one dump.

    `as_tool`: any of the tool's own options was given, so that files it does not know are passed over. `escape`: what
    would act on a terminal is made visible in keys, values and names.
    """

    deep: bool = True
    data: bool = True
    decoder: DecoderName = DecoderName.BY_TOPIC
    key_decoder_class: str | None = None
    value_decoder_class: str | None = None
    skip_record_metadata: bool = False
    max_bytes: int = NO_LIMIT
    verify_index_only: bool = False
    index_sanity_check: bool = False
    as_tool: bool = False
    escape: bool = False

    def decoder_of(self, topic: str | None) -> DecoderName:
        """Return what a topic's records are read as; never BY_TOPIC."""
        return OF_TOPIC.get(topic or "", DecoderName.PLAIN) if self.decoder is DecoderName.BY_TOPIC else self.decoder

    def decoder_for(self, topic: str | None) -> Decoder:
        """Return the decoder of a topic's records.

        Raises:
            UsageError: a decoder class that is not one of Kafka's for text and numbers.
        """
        name = self.decoder_of(topic)
        if name is DecoderName.CLUSTER_METADATA:
            return metadata_decoder()
        if name is DecoderName.REMOTE_LOG_METADATA:
            return remote_log_decoder()
        if name is DecoderName.PLAIN:
            return plain_decoder(_plain(self.key_decoder_class), _plain(self.value_decoder_class))
        return coordinator_decoder(COMPONENTS[name])


def _plain(decoder_class: str | None) -> Callable[[bytes], str]:
    name = (decoder_class or "StringDecoder").rpartition(".")[2]
    if name not in PLAIN_DECODERS:
        raise UsageError(f"{decoder_class}: a class of Java can't be run; known are {', '.join(PLAIN_DECODERS)}")
    return PLAIN_DECODERS[name]
