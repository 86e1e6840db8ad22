"""Key and value of a record of `__transaction_state`: one step of one transactional.id.

Bytes     key: version int16, transactional_id string. Value: version int16, then the fields below; a null value is a
          tombstone (the id expired). Version 1 has the same fields with compact forms and tagged fields at the end of
          each struct.
Versions  key 0 only. Value 0: all releases, and 4.0+ while transaction.version is 0. Value 1: written by 4.0+ when the
          feature transaction.version is 1 or 2, readable since 3.5 (KIP-915). Another number is damage or a release to
          come: don't guess. Tags: previous_producer_id and next_producer_id are written since 4.3,
          client_transaction_version since 4.0, next_producer_epoch is in the schema since 4.1 (KIP-939) and written by
          nobody up to 4.4.
Meaning   partitions are null in Empty and have no entry in Complete*; they stand in hash order. started_at is -1 in
          Empty and stays in Complete*. updated_at of Complete* is the time of the decision, not of the markers: the
          record's own time is nearer to them.
Limits    a value ends with its last field. A known tag whose size is not that of its type counts as unknown. Equal
          values may be encoded with null or empty arrays and in any order of tags: all of it is kept.
Source    TransactionLog.java/.scala, TransactionLogKey.json, TransactionLogValue.json (Kafka 0.11 to 4.3); KIP-98,
          KIP-890.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkatx.formats.layout import Fields, Int8sb, Int16sb, Int32sb, Int64sb, Layout, Malformed
from kafkatx.formats.primitives import (
    CompactString,
    String,
    TaggedField,
    TaggedFields,
    array_of,
    compact_array_of,
    not_null,
    tagged_value,
)
from kafkatx.terms.records import dataclass

KEY_VERSION = 0

TransactionLogKey = Layout(
    "version" / Int16sb,
    "transactional_id" / not_null(String),
)

_Version = Layout("version" / Int16sb)
_HEAD = (
    "version" / Int16sb,
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "transaction_timeout_ms" / Int32sb,
    "transaction_status" / Int8sb,
)
_TIMES = (
    "transaction_last_update_timestamp_ms" / Int64sb,
    "transaction_start_timestamp_ms" / Int64sb,
)

PartitionsV0 = Layout(
    "topic" / not_null(String),
    "partition_ids" / array_of(Int32sb),
)
PartitionsV1 = Layout(
    "topic" / not_null(CompactString),
    "partition_ids" / compact_array_of(Int32sb),
    "tagged_fields" / TaggedFields,
)
PARTITION_LISTS = {0: Layout.of(array_of(PartitionsV0)), 1: Layout.of(compact_array_of(PartitionsV1))}
"""`transaction_partitions` alone, by value version."""

VALUES = {
    0: Layout(*_HEAD, "transaction_partitions" / PARTITION_LISTS[0], *_TIMES),
    1: Layout(*_HEAD, "transaction_partitions" / PARTITION_LISTS[1], *_TIMES, "tagged_fields" / TaggedFields),
}
"""The whole value, by version."""

PARTITIONS_AT = VALUES[0].offset_of("transaction_partitions")  # 17, in both versions

TAGS: dict[int, tuple[str, Any]] = {
    0: ("previous_producer_id", Int64sb),
    1: ("next_producer_id", Int64sb),
    2: ("client_transaction_version", Int16sb),
    3: ("next_producer_epoch", Int16sb),
}
"""Known tagged fields of value version 1: number, name, type."""


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """Partitions of one topic in a transaction; `tagged_fields` is empty in version 0."""

    topic: str
    partition_ids: tuple[int, ...] | None
    tagged_fields: tuple[TaggedField, ...] = ()


@dataclass(frozen=True, slots=True)
class TransactionLogValue:
    """A value of either version. Times are milliseconds since the epoch; -1 as a start means none, as in the bytes."""

    version: int
    producer_id: int
    producer_epoch: int
    transaction_timeout_ms: int
    transaction_status: int
    transaction_partitions: tuple[TopicPartitions, ...] | None
    transaction_last_update_timestamp_ms: int
    transaction_start_timestamp_ms: int
    tagged_fields: tuple[TaggedField, ...] = ()

    @property
    def previous_producer_id(self) -> int | None:
        """Producer id before this step (4.3+; usually the same one); None when the field is absent."""
        return self._tag(0)

    @property
    def next_producer_id(self) -> int | None:
        """Producer id after the epoch is used up (4.3+, only in Prepare*); None when the field is absent."""
        return self._tag(1)

    @property
    def client_transaction_version(self) -> int | None:
        """Protocol that asked for this step; an absent field stands for 0, the classic one. None in version 0."""
        return None if self.version == 0 else self._tag(2) or 0

    @property
    def next_producer_epoch(self) -> int | None:
        """Epoch after this step (KIP-939); None when the field is absent, as in all records up to 4.4."""
        return self._tag(3)

    @property
    def unknown_tagged_fields(self) -> tuple[TaggedField, ...]:
        """Tagged fields of the value that no release up to 4.4 knows, in their order."""
        return unknown_of(self.tagged_fields)

    def _tag(self, tag: int) -> int | None:
        value: int | None = tagged_value(self.tagged_fields, tag, TAGS[tag][1])
        return value


def parse_key(data: bytes) -> str | None:
    """Return the transactional.id of a key, None for a key of another version (loaders since 3.5 skip it).

    Raises:
        Malformed: the key is cut short, goes on behind its id, or has a null id.
    """
    if _Version.parse_at(data)[0].version != KEY_VERSION:
        return None
    return str(TransactionLogKey.parse(data).transactional_id)


def parse_partitions(version: int, data: bytes) -> tuple[TopicPartitions, ...] | None:
    """Return the partition list of a value of this version, from its bytes alone; raises `Malformed`."""
    return _partitions(_by_version(PARTITION_LISTS, version).parse(data))


def parse_tagged_fields(data: bytes) -> tuple[TaggedField, ...]:
    """Return the fields of a block of tagged fields alone (the end of a value of version 1); raises `Malformed`."""
    fields: Any = Layout.of(TaggedFields).parse(data)
    return tuple(fields)


def unknown_of(fields: Iterable[TaggedField]) -> tuple[TaggedField, ...]:
    """Return those of a value's tagged fields that are none of TAGS by number and size."""
    sizes = {tag: kind.sizeof() for tag, (_, kind) in TAGS.items()}
    return tuple(field for field in fields if sizes.get(field.tag) != len(field.data))


def parse_value(data: bytes) -> TransactionLogValue:
    """Read a value of version 0 or 1.

    Raises:
        Malformed: another version, cut short, or bytes left over.
    """
    version: int = _Version.parse_at(data)[0].version
    return _value(_by_version(VALUES, version).parse(data))


def _by_version(layouts: dict[int, Layout], version: int) -> Layout:
    if version not in layouts:
        raise Malformed(f"version {version} of a transaction log value; known are 0 and 1")
    return layouts[version]


def _partitions(parsed: Any) -> tuple[TopicPartitions, ...] | None:
    if parsed is None:
        return None
    return tuple(
        TopicPartitions(topic["topic"], topic["partition_ids"], topic.get("tagged_fields", ())) for topic in parsed
    )


def _value(fields: Fields) -> TransactionLogValue:
    names = TransactionLogValue.__dataclass_fields__
    content = {name: fields[name] for name in names if name not in ("transaction_partitions", "tagged_fields")}
    return TransactionLogValue(
        **content,
        transaction_partitions=_partitions(fields["transaction_partitions"]),
        tagged_fields=fields["tagged_fields"] if content["version"] else (),
    )
