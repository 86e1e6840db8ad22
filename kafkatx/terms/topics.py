"""Kafka's internal topics, and which partition of one belongs to a name.

Source  Topic.java; TransactionStateManager.partitionFor, GroupMetadataManager.partitionFor (Utils.abs of
        String.hashCode).
"""

from functools import lru_cache

TRANSACTION_STATE = "__transaction_state"
CONSUMER_OFFSETS = "__consumer_offsets"
CLUSTER_METADATA = "__cluster_metadata"
SHARE_GROUP_STATE = "__share_group_state"
REMOTE_LOG_METADATA = "__remote_log_metadata"
INTERNAL = frozenset({TRANSACTION_STATE, CONSUMER_OFFSETS, CLUSTER_METADATA, SHARE_GROUP_STATE, REMOTE_LOG_METADATA})
"""Topics that only brokers and controllers write: all their times are broker times."""
COMPACTED = frozenset({TRANSACTION_STATE, CONSUMER_OFFSETS, SHARE_GROUP_STATE})

UNNAMED = "(topic not named)"
"""What stands for the topic of a text that does not name it."""


@lru_cache(maxsize=4096)
def java_hash(name: str) -> int:
    """Java's String.hashCode: UTF-16 code units, 31 * h + unit, wrapped to a signed 32-bit number."""
    value = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


OFFSETS_PARTITIONS = 50
"""Default of offsets.topic.num.partitions."""


def partition_for(name: str, partitions: int) -> int:
    """Partition of an internal topic with `partitions` partitions that a transactional.id or group belongs to."""
    value = java_hash(name)
    return (0 if value == -(1 << 31) else abs(value)) % partitions
