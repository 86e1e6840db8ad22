"""Offset commits as bytes, and read by the declarations: what kernels and tables are held against."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import by_name
from kafkatx.formats.messages import read_message
from kafkatx.formats.record_batch import CODEC_MASK, MAGIC, Attributes
from tests import declared
from tests.building import batch, record

KEYS = {0: "LegacyOffsetCommitKey", 1: "OffsetCommitKey"}
ZERO_ID = "A" * 22


def text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return len(data).to_bytes(2, "big") + data


def key(group: str | bytes = "g", topic: str | bytes = "orders", partition: int = 3, version: int = 1) -> bytes:
    """Return the bytes of a key."""
    return version.to_bytes(2, "big") + text(group) + text(topic) + partition.to_bytes(4, "big")


def value(
    offset: int = 7, metadata: str = "", at: int = 1000, version: int = 3, topic_id: bytes | None = None
) -> bytes:
    """Return the bytes of a value; its leader epoch is 5, and with version 1 it expires a second later."""
    said = metadata.encode()
    head = version.to_bytes(2, "big") + offset.to_bytes(8, "big") + ((5).to_bytes(4, "big") if version >= 3 else b"")
    if version < 4:
        expires = (at + 1000).to_bytes(8, "big") if version == 1 else b""
        return head + text(said) + at.to_bytes(8, "big") + expires
    tags = b"\0" if topic_id is None else b"\1\0\x10" + topic_id
    return head + bytes([len(said) + 1]) + said + at.to_bytes(8, "big") + tags


def commits(base_offset: int, *pairs: tuple[bytes | None, bytes | None], **fields: int) -> bytes:
    """Return a batch of `__consumer_offsets`, a record each: key and value (None: a tombstone)."""
    content = b"".join(record(number, said, key) for number, (key, said) in enumerate(pairs))
    return batch(base_offset, content=content, records_count=len(pairs), **fields)


def declared_commit(key: bytes | None, value: bytes | None) -> dict[str, Any] | None:
    """Read a commit by its declarations, None for another record of a group; raises Malformed."""
    if key is None or len(key) < 2:
        raise Malformed("no key")
    kind = int.from_bytes(key[:2], "big", signed=True)
    if kind > 1:
        return None
    if kind < 0:
        raise Malformed("a type that none has")
    names, behind = read_message(by_name("group_coordinator")[KEYS[kind]], 0, key, 2)
    if behind != len(key):
        raise Malformed("bytes behind the key")
    return names | _value(value)


def _value(value: bytes | None) -> dict[str, Any]:
    if value is None:
        return {"is_tombstone": True}
    version = int.from_bytes(value[:2], "big", signed=True)
    name = "LegacyOffsetCommitValue" if version == 0 else "OffsetCommitValue"
    fields, behind = read_message(by_name("group_coordinator")[name], version, value, 2)
    if behind != len(value):
        raise Malformed("bytes behind the value")
    return {**fields, "is_tombstone": False, "version": version}


def declared_commits(path: Path) -> Iterator[tuple[declared.Batch, declared.Record, dict[str, Any]]]:
    """Yield the commits of a segment by the declarations, with the batch and record of each."""
    for of in declared.batches(path.read_bytes()):
        if of.magic == MAGIC and not of.attributes & (CODEC_MASK | Attributes.IS_CONTROL):
            for entry in declared.records(of.data):
                found = declared_commit(entry.key, entry.value)
                if found is not None:
                    yield of, entry, found
