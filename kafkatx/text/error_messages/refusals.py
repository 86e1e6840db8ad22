"""What a client was refused for its settings, its rights, or what brokers are able to: errors that name their cause.

These errors say all by themselves: the broker (or the library, at its start) names what it does not allow. They are
read here to one kind, however a library spells them; whether that was the cause of an incident the rules decide.

Source  org.apache.kafka.common.errors, ProducerConfig, KafkaProducer, NetworkClient (0.11 to 4.3); rdkafka_conf.c,
        rdkafka_idempotence.c; KafkaJS producer/index.js; sarama config.go, errors.go; franz-go config.go, kerr;
        aiokafka producer.py; kafka-python kafka.py; Connect's Worker, DistributedHerder; Flink's KafkaSink; Beam's
        KafkaExactlyOnceSink; KoP; KIP-98, KIP-679.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from kafkatx.terms.regex import regex


class Refusal(Enum):
    """What was refused, and why."""

    timeout_above_limit = "transaction.timeout.ms above the brokers' limit"
    id_denied = "no rights for the transactional.id"
    cluster_denied = "no right for idempotent writes"
    topic_denied = "no rights for a topic"
    group_denied = "no rights for the consumer group"
    too_large = "a record or batch above a limit"
    old_broker = "brokers without transactions"
    not_listed = "nodes that list no requests of transactions"
    controller = "a controller that was taken for a broker"
    old_for_groups = "brokers without the group's generation in transactions"
    old_for_bump = "brokers that can't raise a producer's own epoch"
    old_for_tool = "brokers that are older than a tool"
    no_service = "a service without transactions"
    framework = "a framework set up so that it can't do transactions"
    acks = "acks below all"
    retries = "no retries"
    in_flight = "too many requests in flight"
    commit_interval = "transaction.timeout.ms below the commit interval"
    not_enabled = "workers without exactly-once support"
    endless = "transaction.timeout.ms beside two-phase commit"
    value = "a value that a setting of transactions can't have"
    without_idempotence = "a transactional.id without idempotence"
    delivery_timeout = "delivery.timeout.ms below one attempt"
    message_timeout = "message.timeout.ms above transaction.timeout.ms"
    socket_timeout = "socket.timeout.ms above transaction.timeout.ms"
    queuing = "queuing.strategy other than fifo"
    pool = "a pool with too few transactional producers"
    other_release = "a program and a client library of releases that don't fit"


_PATTERNS: dict[Refusal, re.Pattern[str]] = {
    Refusal.timeout_above_limit: regex(
        r"InvalidTxnTimeout|InvalidTransactionTimeout|INVALID_TRANSACTION_TIMEOUT"
        r"|[Tt]ransaction timeout is larger than the maximum"
    ),
    Refusal.id_denied: regex(
        r"TransactionalI[dD]Authorization|TRANSACTIONAL_ID_AUTHORIZATION_FAILED"
        r"|[Tt]ransactional ?[Ii][dD] auth[a-z]+ failed"
    ),
    Refusal.cluster_denied: regex(r"ClusterAuthorization|CLUSTER_AUTHORIZATION_FAILED|[Cc]luster authorization failed"),
    Refusal.topic_denied: regex(
        r"TopicAuthorization|TOPIC_AUTHORIZATION_FAILED|[Tt]opic authorization failed|ot authorized to access topic"
    ),
    Refusal.group_denied: regex(
        r"GroupAuthorization|GROUP_AUTHORIZATION_FAILED|[Gg]roup authorization failed|ot authorized to access group"
    ),
    Refusal.too_large: regex(
        r"RecordTooLarge|RecordBatchTooLarge|MessageTooLarge|MessageSizeTooLarge"
        r"|\b(?:MESSAGE_TOO_LARGE|MSG_SIZE_TOO_LARGE|RECORD_LIST_TOO_LARGE|msg_size_too_large)\b"
        r"|Broker: Message size too large|which is larger than \d+, which is the value of the max\.request\.size"
        r"|[Mm]essage was too large, server rejected it"
    ),
    Refusal.old_broker: regex(
        r"Cannot create a v\d+ FindCoordinator request because we require features supported only in"
        r"|does not support (?:INIT_PRODUCER_ID|ADD_PARTITIONS_TO_TXN|ADD_OFFSETS_TO_TXN|END_TXN|TXN_OFFSET_COMMIT)"
        r"|Kafka cluster seems to be on a too old version|(?:Idempotent producer|Transactions) not supported by any"
        r"|[Tt]ransactional producer requires broker >="
        r"|Attempt(?:ed|ing) to use idempotence with a broker which does not support the required message format"
    ),
    Refusal.controller: regex(
        r"does not support METADATA\b(?! with version)|MismatchedEndpointType|MISMATCHED_ENDPOINT_TYPE"
        r"|sent to an endpoint of the wrong type"
    ),
    Refusal.old_for_groups: regex(
        r"doesn't support group metadata commit API on version|Cannot write a v\d+ TXN_OFFSET_COMMIT"
        r"|unexpectedly doesn't support requireStable"
    ),
    Refusal.old_for_bump: regex(r"Attempted to write a non-default producer(?:Id|Epoch) at version [0-2]\b"),
    Refusal.old_for_tool: regex(r"\b(?:DESCRIBE_PRODUCERS|DESCRIBE_TRANSACTIONS|LIST_TRANSACTIONS)\b"),
    Refusal.no_service: regex(
        r"coordinator with type code 1 which is not supported"
        r"|Broker has disabled transaction coordinator, please enable"
    ),
    Refusal.framework: regex(
        r"may not produce to their own offsets topics when exactly-once|standalone mode does not support exactly-once"
        r"|exactly-once support for source connectors requires|which is required for exactly-once source tasks"
        r"|connector does not support exactly-once semantics with|Found duplicate transactionalIdPrefix for"
        r"|switch the transaction naming strategy back to|Offset strategy 'SEND_TO_TRANSACTION' can only"
        r"|Redelivery not supported for transactions in combination|SRMSG18021\b"
        r"|Kafka metadata exists for shard \S+, but there is no stored state|misuse of groupId\('"
        r"|Unexpected user-specified \w+ config\b.{0,80} because producer config 'processing\.guarantee'"
        r"|you must provide a valid group\.id in the consumer"
    ),
    Refusal.acks: regex(
        r"Must set acks to all in order to use the idempotent|`acks` must be set to `all` when"
        r"|Idempotent producer requires Producer\.RequiredAcks|idempotency requires acks=all"
        r"|Idempotent producer requires acks to be ALL"
        r"|acks=\S{1,6} not supported if enable_idempotence"
        r"|Not requiring ack for all messages invalidates the idempotent"
    ),
    Refusal.retries: regex(
        r"Must set retries to non-zero when using the idempotent|`retries` must be set >= 1"
        r"|Idempotent producer requires Producer\.Retry\.Max|Idempotent producer must allow retries"
    ),
    Refusal.in_flight: regex(
        r"(?:Must set )?max\.in\.flight\.requests\.per\.connection (?:must be set )?to (?:at most 5|1 in order ?to)"
        r"|`max\.in\.flight` must be set <="
        r"|Idempotent producer requires Net\.MaxOpenRequests|invalid usage of MaxProduceRequestsInflightPerBroker"
    ),
    Refusal.without_idempotence: regex(
        r"Cannot set a? ?transactional[._]id without (?:also )?enabl|`transactional\.id` requires `enable\.idempotence"
        r"|Transactional producer requires Idempotent to be true"
        r"|cannot both disable idempotent writes and use transactional IDs"
        r"|Cannot begin a transaction on a non-idempotent producer"
        r"|enable_idempotence=True is incompatible with user-provided"
    ),
    Refusal.delivery_timeout: regex(
        r"delivery\.timeout\.ms should be equal to or larger than linger\.ms|Must set delivery_timeout_ms higher than"
    ),
    Refusal.message_timeout: regex(r"`?message\.timeout\.ms`? must be set <= `?transaction\.timeout\.ms"),
    Refusal.socket_timeout: regex(r"`?socket\.timeout\.ms`? must be set <= `?transaction\.timeout\.ms"),
    Refusal.queuing: regex(r"`queuing\.strategy` must be set to `fifo`"),
    Refusal.commit_interval: regex(r"[Tt]ransaction timeout \d+ was set lower than streams commit interval"),
    Refusal.not_enabled: regex(r"[Ww]orker does not have exactly-once source support enabled"),
    Refusal.endless: regex(r"Cannot set transaction\.timeout\.ms when transaction\.two\.phase\.commit\.enable"),
    Refusal.value: regex(
        r"(?:ConfigException|KafkaConfigurationError|KafkaJS\w*Error|ConfigurationError|rror): Invalid value .{1,100}? "
        r"for configuration (?:acks|retries|enable\.idempotence|transaction\.timeout\.ms|transactional\.id"
        r"|isolation\.level|processing\.guarantee|exactly\.once\.\S{1,30})\b"
        r"|Invalid configuration value for 'acks'"
    ),
    Refusal.other_release: regex(
        r"Incompatible KafkaProducer version"
        r"|(?:NoSuchMethod|NoClassDefFound|NoSuchField|AbstractMethod|IncompatibleClassChange|IllegalAccess)Error: "
        r".{0,200}?\borg[./]apache[./]kafka[./]"
    ),
    Refusal.pool: regex(
        r"SRMSG18027\b|[Pp]ooled producer pool exhausted|Increase kafka producers pool size"
        r"|No available transaction producer"
    ),
}

_RESIZED = regex(r"Transaction topic number of partitions has changed from (\d{1,9}) to (\d{1,9})")


@lru_cache(maxsize=4096)
def refusal_in(text: str) -> Refusal | None:
    """Return what a text says was refused and why, None where it says nothing of the kind."""
    return next((refusal for refusal, pattern in _PATTERNS.items() if pattern.search(text)), None)


def resized_in(text: str) -> tuple[int, int] | None:
    """Return the partitions that __transaction_state had and has, where a coordinator refuses to write for that."""
    found = _RESIZED.search(text)
    return (int(found[1]), int(found[2])) if found is not None else None
