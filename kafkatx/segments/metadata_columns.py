"""Which field of which metadata record tells what the table of cluster events has a column for; as data.

Source  the schemas of Kafka 4.3 (formats/schemas/cluster_metadata.txt, control_records.txt).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from kafkatx.segments.metadata_log import Said

_BROKER = {"node_id": "brokerId", "broker_epoch": "brokerEpoch"}
_FENCING = {"node_id": "id", "broker_epoch": "epoch"}
_CHANGE = {"topic_id": "topicId", "partition": "partitionId", "leader": "leader", "replicas": "replicas", "isr": "isr"}
FIELDS: dict[str, Mapping[str, str]] = {
    "RegisterBrokerRecord": _BROKER,
    "UnregisterBrokerRecord": _BROKER,
    "BrokerRegistrationChangeRecord": _BROKER,
    "FenceBrokerRecord": _FENCING,
    "UnfenceBrokerRecord": _FENCING,
    "RegisterControllerRecord": {"node_id": "controllerId"},
    "LeaderChangeMessage": {"node_id": "leaderId"},
    "ProducerIdsRecord": {**_BROKER, "next_producer_id": "nextProducerId"},
    "TopicRecord": {"topic": "name", "topic_id": "topicId"},
    "RemoveTopicRecord": {"topic_id": "topicId"},
    "ClearElrRecord": {"topic": "topicName"},
    "PartitionRecord": {**_CHANGE, "leader_epoch": "leaderEpoch", "partition_epoch": "partitionEpoch"},
    "PartitionChangeRecord": _CHANGE,
    "FeatureLevelRecord": {"feature": "name", "feature_level": "featureLevel"},
    "ConfigRecord": {
        "resource_type": "resourceType",
        "resource": "resourceName",
        "config": "name",
        "config_value": "value",
    },
}
"""Columns of each kind of record, and the field of each."""

TOPIC_RESOURCE = 2
RESOURCE_TYPES = {TOPIC_RESOURCE: "topic", 4: "broker", 8: "broker logger", 16: "client metrics", 32: "group"}
"""ConfigResource.Type (Kafka 0.11 to 4.3)."""


def columns_of(said: Said) -> dict[str, Any]:
    """Return the columns that a record fills, by name; what its fields leave out (a tagged default) is not there."""
    fields = said.fields
    if fields is None:
        return {}
    named = {column: fields[name] for column, name in FIELDS.get(said.kind, {}).items() if name in fields}
    return named | _resource(named) if said.kind == "ConfigRecord" else named


def _resource(named: dict[str, Any]) -> dict[str, Any]:
    """A setting's resource in words, and the topic where it is one."""
    number = named["resource_type"]
    topic = {"topic": named["resource"]} if number == TOPIC_RESOURCE else {}
    return {"resource_type": RESOURCE_TYPES.get(number, f"unknown({number})"), **topic}


def fields_text(said: Said) -> str | None:
    """Return all fields of a record as JSON on one line; a number that JSON has not is a text, as Kafka writes it."""
    if said.fields is None:
        return None
    try:
        return _json(said.fields)
    except ValueError:
        return _json(_finite(said.fields))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in fields.items()
    }
