"""Records of `__consumer_offsets` as decoders print them: offset commits; what else a group leaves is passed over.

Shapes  0.11 to 2.4.0 `offset::GROUP:TOPIC:PARTITION` with payload `N` or `N:METADATA`. To 3.7
        `offset_commit::group=G,partition=T-P` with `offset=N[,metadata=M]`. Since 3.8 JSON, types by number (0 and 1
        are commits).
Limits  to 2.4.0 a record without a value prints neither key nor payload. Groups may hold any character: the key's size
        says how long group and topic are together. Text before 3.8 has no commit time and no leader epoch.
Source  DumpLogSegments, GroupMetadataManager.formatRecordKeyAndValue (Kafka 0.11 to 4.3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.dump.events import DumpedRecord
from kafkatx.text.dump.records import log_text
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.contents import Contents

DELETED = "<DELETE>"
COMMIT_TYPES = ("0", "1")
PAYLOAD = " payload: "
_KEYS = {
    " key: offset_commit::group=": (2, regex(r"(.*),partition=(.{1,249})-(\d{1,10})", re.DOTALL)),
    " key: offset::": (-8, regex(r"(.*):([^:]{1,249}):(\d{1,10})", re.DOTALL)),
}
"""Titles of commits; bytes that the key's text has more than the key, the digits of the partition aside; its parts."""
_VALUE = regex(r"(?:offset=)?(-?\d{1,19})(?:(?:,metadata=|:)(.*))?$", re.DOTALL)
_JSON = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """One commit of an offset, or (`is_tombstone`) its removal. What the text does not carry is None.

    `offset` and `timestamp` are those of the record, `line` and `position` its place in the text; producer columns are
    those of the batch, as far as it is shown.
    """

    group: str
    topic: str
    partition: int
    offset: int
    timestamp: int
    line: int
    position: int
    is_tombstone: bool = False
    committed_offset: int | None = None
    metadata: str | None = None
    leader_epoch: int | None = None
    committed_at: int | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    is_transactional: bool | None = None


def offset_rows(file: OpenFile, part: TextPart) -> Iterator[OffsetCommit]:
    """Yield the commits of a dumped `__consumer_offsets`; records of groups are passed over."""
    for event in log_text(file, part).events():
        if isinstance(event, DumpedRecord) and event.contents is not None and event.control is None:
            found = _offset_commit(event, event.contents)
            if found is not None:
                yield found


def _offset_commit(record: DumpedRecord, contents: Contents) -> OffsetCommit | None:
    """What a record says, None where it is no commit."""
    printed, size = contents.printed, contents.key_size
    if printed.startswith(' key: {"type":'):
        return _from_json(record, printed)
    for title, (more, parts) in _KEYS.items():
        if printed.startswith(title):
            key, value = _split(printed, title, [size + more + digits for digits in range(1, 11)] if size >= 0 else [])
            return _old_commit(record, parts.fullmatch(key), value)
    return None


def _split(printed: str, title: str, sizes: list[int]) -> tuple[str, str]:
    """Key and value as text; the key ends where one of the sizes it can have says, else before the first payload."""
    raw, begin = printed.encode(), len(title)
    for size in sizes:
        if raw.startswith(PAYLOAD.encode(), begin + size):
            return raw[begin : begin + size].decode("utf-8", "replace"), raw[begin + size + len(PAYLOAD) :].decode()
    key, _, value = printed[begin:].partition(PAYLOAD)
    return key, value


def _old_commit(record: DumpedRecord, key: re.Match[str] | None, value: str) -> OffsetCommit | None:
    said = _VALUE.match(value)
    if key is None or (said is None and value != DELETED):
        return None
    offset, metadata = (None, None) if said is None else (int(said[1]), said[2])
    return _commit(record, key[1], key[2], int(key[3]), offset, metadata)


def _commit(
    record: DumpedRecord, group: str, topic: str, partition: int, offset: int | None, metadata: str | None
) -> OffsetCommit:
    return OffsetCommit(
        group, topic, partition, *_place(record), offset is None, offset, metadata, None, None, *_batch(record)
    )


def _place(record: DumpedRecord) -> tuple[int, int, int, int]:
    return record.offset, record.parsed.number("timestamp"), record.line.number, record.line.position


def _batch(record: DumpedRecord) -> tuple[int | None, int | None, bool | None]:
    """Producer id, its epoch, and whether the commit is part of a transaction, as far as they are shown."""
    parsed = record.header.parsed if record.header is not None else record.parsed
    producer, epoch, flag = (parsed.get(name) for name in ("producerId", "producerEpoch", "isTransactional"))
    return (
        None if producer is None else int(producer),
        None if epoch is None else int(epoch),
        None if flag is None else flag == "true",
    )


def _from_json(record: DumpedRecord, printed: str) -> OffsetCommit | None:
    """Read a key of 3.8+: `{"type":"1","data":{...}}`."""
    try:
        key, end = _JSON.raw_decode(printed, len(" key: "))
        data, value = key["data"], printed[end:].removeprefix(PAYLOAD)
        if key["type"] not in COMMIT_TYPES:
            return None
        removed = _commit(record, str(data["group"]), str(data["topic"]), int(data["partition"]), None, None)
        return removed if value == DELETED else with_value(removed, json.loads(value)["data"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def with_value(removed: OffsetCommit, said: dict[str, Any]) -> OffsetCommit:
    """Return a commit with what its value says as JSON; raises KeyError, TypeError or ValueError."""
    epoch = said.get("leaderEpoch")
    return replace(
        removed,
        is_tombstone=False,
        committed_offset=int(said["offset"]),
        metadata=str(said.get("metadata", "")),
        leader_epoch=None if epoch is None else int(epoch),
        committed_at=int(said["commitTimestamp"]),
    )
