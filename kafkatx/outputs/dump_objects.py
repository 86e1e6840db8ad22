"""Objects of a dump as JSON lines: a file, a batch, a record, an entry, a damage. Absent is null, times are in ms."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict, replace
from typing import Any

from kafkatx.evidence.item import Item
from kafkatx.formats.record_batch import MAGIC
from kafkatx.outputs.dump_columns import BatchView, RecordView
from kafkatx.outputs.dump_control import control_fields
from kafkatx.outputs.dump_decoders import Decoder, Problem
from kafkatx.outputs.dump_options import DumpOptions
from kafkatx.segments.damage import Damage


def json_line(value: dict[str, Any]) -> str:
    """Return an object as one line of JSON; all but ASCII is escaped: safe on any terminal, in any encoding."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def present(number: int) -> int | None:
    """Return a number of the wire, None for -1."""
    return None if number == -1 else number


def shown_path(path: str) -> str:
    """Return a path as text that JSON can hold; bytes of it that are no UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def bytes_fields(name: str, data: bytes | None) -> dict[str, Any]:
    """Return bytes as text, or where they are no text as base64 under `<name>_base64`."""
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {name: None, f"{name}_base64": b64encode(data).decode()}


def damage_object(damage: Damage) -> dict[str, Any]:
    """Return a stretch of damage."""
    shown = replace(damage, path=shown_path(damage.path))
    return {"object": "damage", "path": shown.path, **asdict(shown)}


def place_fields(item: Item) -> dict[str, Any]:
    """Return the partition that a file's folder names."""
    folder = item.folder if item.folder and item.folder.partition >= 0 else None
    return {"topic": folder.topic if folder else None, "partition": folder.partition if folder else None}


class LogObjects:
    """The JSON lines of one log file."""

    def __init__(self, item: Item, options: DumpOptions, decode: Decoder) -> None:
        self.options, self.decode = options, decode
        self._place = {"path": shown_path(item.path), **place_fields(item)}

    def batch(self, batch: BatchView) -> str:
        """Return the line of a batch."""
        return json_line(self._batch(batch))

    def record(self, batch: BatchView, record: RecordView) -> str:
        """Return the line of a record."""
        return json_line(self._record(batch, record))

    def _batch(self, batch: BatchView) -> dict[str, Any]:
        return {
            "object": "batch",
            **self._place,
            "position": batch.position,
            "base_offset": batch.base_offset,
            "last_offset": batch.last_offset,
            "record_count": batch.record_count if batch.magic == MAGIC else None,
            "magic": batch.magic,
            "codec": batch.codec,
            "is_transactional": batch.is_transactional,
            "is_control": batch.is_control,
            "timestamp_type": batch.timestamp_type,
            "leader_epoch": present(batch.leader_epoch),
            "producer_id": present(batch.producer_id),
            "producer_epoch": present(batch.producer_epoch),
            "base_sequence": present(batch.base_sequence),
            "last_sequence": present(batch.last_sequence),
            "max_timestamp_ms": present(batch.max_timestamp),
            "delete_horizon_ms": batch.delete_horizon_ms,
            "crc": batch.crc,
            "crc_valid": batch.is_valid,
            "size": batch.size,
        }

    def _record(self, batch: BatchView, record: RecordView) -> dict[str, Any]:
        found = {
            "object": "record",
            **self._place,
            "batch_position": batch.position,
            "offset": record.offset,
            "timestamp_ms": present(record.timestamp),
            "sequence": present(record.sequence),
            "producer_id": present(batch.producer_id),
            "producer_epoch": present(batch.producer_epoch),
            "is_transactional": batch.is_transactional,
            "key_size": None if record.key is None else len(record.key),
            "value_size": None if record.value is None else len(record.value),
        }
        if record.crc is not None:
            found |= {"crc": record.crc, "crc_valid": record.is_valid}
        if batch.is_control:
            return found | control_fields(record.key, record.value)
        return found | self._contents(record) if self.options.data else found

    def _contents(self, record: RecordView) -> dict[str, Any]:
        headers = [{**bytes_fields("key", key), **bytes_fields("value", value)} for key, value in record.headers]
        contents = bytes_fields("key", record.key) | bytes_fields("value", record.value) | {"headers": headers}
        key, value = self.decode(record.key, record.value, record.offset)
        problem = next((str(found) for found in (key, value) if isinstance(found, Problem)), None)
        if problem is not None:
            return contents | {"decoded_key": None, "decoded_value": None, "decode_problem": problem}
        if isinstance(key, dict) or isinstance(value, dict):
            contents |= {"decoded_key": key, "decoded_value": value if isinstance(value, dict) else None}
        return contents
