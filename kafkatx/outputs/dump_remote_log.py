"""Records of `__remote_log_metadata` in the words of kafka-dump-log's decoder: Kafka's objects as Java prints them.

A value from which Kafka makes no object (a state that it does not know, offsets the wrong way round) is the sentence
that the tool prints for it.
Source  RemoteLogMetadataSerde and its transforms; toString and constructors of RemoteLogSegmentMetadata,
        RemoteLogSegmentMetadataUpdate, RemotePartitionDeleteMetadata, RemoteLogSegmentMetadataSnapshot (Kafka 4.3.1;
        KIP-405).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any

from kafkatx.formats.layout import Malformed

SEGMENT_STATES = ("COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED")
PARTITION_STATES = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")

NO_STATE = "state can not be null"


def object_text(name: str, fields: Mapping[str, Any]) -> str:
    """Return the object of a record as Java prints it.

    Raises:
        Malformed: Kafka makes no object of these values; the message is its own.
    """
    return _OBJECTS[name](fields)


def _segment(fields: Mapping[str, Any]) -> str:
    start, end = fields["startOffset"], fields["endOffset"]
    if start < 0:
        raise Malformed(f"Unexpected start offset = {start}. StartOffset for a remote segment cannot be negative")
    if end < start:
        raise Malformed(
            f"Unexpected end offset = {end}. EndOffset for a remote segment cannot be less than startOffset = {start}"
        )
    return _printed(
        "RemoteLogSegmentMetadata",
        remoteLogSegmentId=_segment_id(fields["remoteLogSegmentId"]),
        startOffset=start,
        endOffset=end,
        brokerId=fields["brokerId"],
        maxTimestampMs=fields["maxTimestampMs"],
        eventTimestampMs=fields["eventTimestampMs"],
        **_content(fields),
    )


def _segment_update(fields: Mapping[str, Any]) -> str:
    return _printed(
        "RemoteLogSegmentMetadataUpdate",
        remoteLogSegmentId=_segment_id(fields["remoteLogSegmentId"]),
        customMetadata=_custom(fields["customMetadata"]),
        state=_state(SEGMENT_STATES, fields["remoteLogSegmentState"], NO_STATE),
        eventTimestampMs=fields["eventTimestampMs"],
        brokerId=fields["brokerId"],
    )


def _partition_delete(fields: Mapping[str, Any]) -> str:
    return _printed(
        "RemotePartitionDeleteMetadata",
        topicPartition=_topic_id_partition(fields["topicIdPartition"]),
        state=_state(PARTITION_STATES, fields["remotePartitionDeleteState"], "null"),
        eventTimestampMs=fields["eventTimestampMs"],
        brokerId=fields["brokerId"],
    )


def _segment_snapshot(fields: Mapping[str, Any]) -> str:
    _state(SEGMENT_STATES, fields["remoteLogSegmentState"], NO_STATE)  # here Kafka looks at it first
    return _printed(
        "RemoteLogSegmentMetadataSnapshot",
        segmentId=fields["segmentId"],
        startOffset=fields["startOffset"],
        endOffset=fields["endOffset"],
        maxTimestampMs=fields["maxTimestampMs"],
        **_content(fields),
    )


def _content(fields: Mapping[str, Any]) -> dict[str, object]:
    """What a segment and its snapshot end with; Kafka looks at the epochs before the state."""
    return {
        "segmentLeaderEpochs": _epochs(fields["segmentLeaderEpochs"]),
        "segmentSizeInBytes": fields["segmentSizeInBytes"],
        "customMetadata": _custom(fields["customMetadata"]),
        "state": _state(SEGMENT_STATES, fields["remoteLogSegmentState"], NO_STATE),
        "txnIdxEmpty": _truth(fields.get("txnIndexEmpty", False)),
    }


_OBJECTS = {
    "RemoteLogSegmentMetadataRecord": _segment,
    "RemoteLogSegmentMetadataUpdateRecord": _segment_update,
    "RemotePartitionDeleteMetadataRecord": _partition_delete,
    "RemoteLogSegmentMetadataSnapshotRecord": _segment_snapshot,
}


def _printed(of_class: str, **fields: object) -> str:
    return f"{of_class}{{{', '.join(f'{name}={value}' for name, value in fields.items())}}}"


def _segment_id(fields: Mapping[str, Any]) -> str:
    place = _topic_id_partition(fields["topicIdPartition"])
    return _printed("RemoteLogSegmentId", topicIdPartition=place, id=fields["id"])


def _topic_id_partition(fields: Mapping[str, Any]) -> str:
    return f"{fields['id']}:{fields['name']}-{fields['partition']}"


def _epochs(entries: Iterable[Mapping[str, int]]) -> str:
    """A sorted map, of an epoch that stands there twice its last offset."""
    epochs = {entry["leaderEpoch"]: entry["offset"] for entry in entries}
    if not epochs:
        raise Malformed("segmentLeaderEpochs can not be null or empty")
    return f"{{{', '.join(f'{epoch}={epochs[epoch]}' for epoch in sorted(epochs))}}}"


def _custom(data: str | None) -> str:
    """What the storage plugin notes, in base64; only its size is printed."""
    return "Optional.empty" if data is None else f"Optional[CustomMetadata{{{len(b64decode(data))} bytes}}]"


def _state(names: tuple[str, ...], number: int, problem: str) -> str:
    if not 0 <= number < len(names):
        raise Malformed(problem)
    return names[number]


def _truth(value: bool) -> str:
    return "true" if value else "false"
