"""Keys and values of internal topics with stand-ins for their names.

States    `__transaction_state`: id of the key, topics of the value; all else, tagged fields too, as it was.
Commits   `__consumer_offsets`: group and topic of a commit's key, its metadata masked. What else stands there (members,
          their clients and hosts) is left out, as if the cleaner had removed it: no finding rests on it.
Others    are left out whole.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkatx.formats import transaction_log
from kafkatx.formats.layout import Int16sb, Int32sb, Layout, Malformed
from kafkatx.formats.messages import read_uvarint
from kafkatx.formats.primitives import String, not_null
from kafkatx.local.redacting.stand_ins import StandIns
from kafkatx.terms.topics import CONSUMER_OFFSETS, TRANSACTION_STATE

Content = tuple[bytes | None, bytes | None]
CommitKey = Layout(
    "version" / Int16sb,
    "group" / not_null(String),
    "topic" / not_null(String),
    "partition" / Int32sb,
)
"""Key of an offset commit, version 0 and 1 (OffsetCommitKey)."""
METADATA_AT = {0: 10, 1: 10, 2: 10, 3: 14, 4: 14}
"""Where the metadata of a commit's value stands, by version: behind the offset, since version 3 the leader epoch."""
FLEXIBLE_COMMIT = 4


def masked(data: bytes | None) -> bytes | None:
    """As many bytes that say nothing."""
    return None if data is None else b"x" * len(data)


def payload(key: bytes | None, value: bytes | None) -> Content | None:
    """Key and value of a record of an application."""
    return masked(key), masked(value)


Changer = Callable[[bytes | None, bytes | None], Content | None]
"""From key and value to those of the bundle; None for a record that is left out."""


def changer(topic: str | None, names: StandIns) -> Changer:
    """Return what changes the records of a topic."""
    if topic == TRANSACTION_STATE:
        return lambda key, value: _state(key, value, names)
    if topic == CONSUMER_OFFSETS:
        return lambda key, value: _commit(key, value, names)
    return (lambda key, value: None) if topic is not None and topic.startswith("__") else payload


def _state(key: bytes | None, value: bytes | None, names: StandIns) -> Content | None:
    try:
        name = transaction_log.parse_key(key or b"")
        if name is None:
            return None
        new = {"version": transaction_log.KEY_VERSION, "transactional_id": names.id_of(name)}
        return transaction_log.TransactionLogKey.build(new), _state_value(value, names)
    except Malformed:
        return masked(key), masked(value)


def _state_value(value: bytes | None, names: StandIns) -> bytes | None:
    if value is None:
        return None
    layout = transaction_log.VALUES.get(int.from_bytes(value[:2], "big"))
    if layout is None:
        return value[:2] + b"x" * (len(value) - 2)
    fields = dict(layout.parse(value))  # type: ignore[call-overload]
    listed = fields["transaction_partitions"]
    if listed is not None:
        fields["transaction_partitions"] = [dict(one) | {"topic": names.topic_of(one["topic"])} for one in listed]
    return layout.build(fields)


def _commit(key: bytes | None, value: bytes | None, names: StandIns) -> Content | None:
    try:
        fields = CommitKey.parse(key or b"")
        if fields.version not in (0, 1):
            return None
        new = {"group": names.group_of(fields.group), "topic": names.topic_of(fields.topic)}
        return CommitKey.build({"version": fields.version, "partition": fields.partition} | new), _commit_value(value)
    except (Malformed, IndexError):
        return None


def _commit_value(value: bytes | None) -> bytes | None:
    """A commit's value with its metadata masked."""
    at = METADATA_AT.get(int.from_bytes(value[:2], "big")) if value is not None else None
    if value is None or at is None:
        return None
    if int.from_bytes(value[:2], "big") >= FLEXIBLE_COMMIT:
        length, at = read_uvarint(value, at)
        length -= 1
    else:
        length, at = int.from_bytes(value[at : at + 2], "big", signed=True), at + 2
    length = max(0, min(length, len(value) - at))
    return value[:at] + b"x" * length + value[at + length :]
