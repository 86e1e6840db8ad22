"""Segments with stand-ins: every batch read, its records changed, packed and sealed again.

Kept      offsets, leader epochs, producer ids, epochs, sequences, times, codecs, attributes, the order and number of
          batches; so positions may move, and indexes by position are not in a bundle.
CRC       right where it was right, wrong where it was wrong.
Damage    what is no batch keeps its first bytes (as many as a header has), the rest is masked: it may hold payload.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import google_crc32c

from kafkatx.evidence.item import Item
from kafkatx.formats import legacy
from kafkatx.formats.layout import Malformed
from kafkatx.formats.record import Record
from kafkatx.formats.record_batch import (
    CRC_COVERS_FROM,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_AT,
    Codec,
    RecordBatchHeader,
    codec_of,
    is_control,
)
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.local.redacting.internal_records import Changer, masked
from kafkatx.local.redacting.packing import compress, crc32
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.compression import decompress
from kafkatx.sources.files import OpenFile


def write_segment(path: str, base_offset: int, change: Changer, target: Path) -> None:
    """Write a segment with its records changed; raises OSError."""
    with OpenFile(path) as file, target.open("wb") as out:
        at = 0
        walk = SegmentWalk(file, check=CHECK_NONE, first_offset=max(0, base_offset))
        for chunk in walk.chunks():
            for row in chunk.rows:
                position, size = int(row["position"]), int(row["size"])
                _copy_gap(file, at, position, out)
                out.write(b"".join(_changed(file.read(position, size), change)))
                at = position + size
        _copy_gap(file, at, file.size, out)


def _copy_gap(file: OpenFile, start: int, end: int, out: io.BufferedWriter) -> None:
    """Bytes that are no batch: zeros stay, of others the length of a header."""
    head = file.read(start, min(HEADER_SIZE, end - start))
    out.write(head)
    for at in range(start + len(head), end, 1 << 20):
        piece = file.read(at, min(1 << 20, end - at))
        out.write(piece if not piece.strip(b"\0") else b"x" * len(piece))


def _changed(batch: bytes, change: Changer) -> Iterator[bytes]:
    if batch[MAGIC_AT] < MAGIC:
        yield _message(batch, change)
        return
    fields = dict(RecordBatchHeader.parse_at(batch)[0])  # type: ignore[call-overload]
    if is_control(fields["attributes"]):
        yield batch
        return
    was_right = google_crc32c.value(batch[CRC_COVERS_FROM:]) == fields["crc"]
    codec = codec_of(fields["attributes"])
    try:
        count, content = _records(codec, batch[HEADER_SIZE:], fields["records_count"], change)
    except Malformed:
        count, content = fields["records_count"], b"x" * (len(batch) - HEADER_SIZE)
    fields |= {"records_count": count, "batch_length": HEADER_SIZE - LOG_OVERHEAD + len(content)}
    made = RecordBatchHeader.build(fields) + content
    crc = google_crc32c.value(made[CRC_COVERS_FROM:]) ^ (0 if was_right else 0xFFFFFFFF)
    yield made[:17] + crc.to_bytes(4, "big") + made[CRC_COVERS_FROM:]


def _records(codec: Codec | None, packed: bytes, count: int, change: Changer) -> tuple[int, bytes]:
    """The records of a batch changed, and how many are left; raises Malformed where they can't be read."""
    if codec is None:
        raise Malformed("an unknown codec")
    plain = decompress(codec, packed)
    if plain.problem is not None:
        raise Malformed(plain.problem)
    stream, made = io.BytesIO(plain.data), []
    for _ in range(count):
        record = dict(Record.read(stream))
        content = change(record["key"], record["value"])
        if content is not None:
            headers = [
                {"key": "x" * len(one["key"].encode()), "value": masked(one["value"])} for one in record["headers"]
            ]
            record |= {"key": content[0], "value": content[1], "headers": headers}
            made.append(Record.written(record))
    if stream.read(1):
        raise Malformed("bytes behind the last record")
    return len(made), compress(codec, b"".join(made), packed) if packed else b""


def _message(message: bytes, change: Changer) -> bytes:
    """A message of magic 0 or 1, or the wrapper of compressed ones."""
    layout = legacy.MESSAGES[message[MAGIC_AT]]
    try:
        fields = dict(layout.parse(message))  # type: ignore[call-overload]
        was_right = crc32(message[legacy.CRC_COVERS_FROM :]) == fields["crc"]
        fields |= _message_content(fields, change)
    except Malformed:
        head = legacy.MAGIC_AT + 2
        return message[:head] + b"x" * (len(message) - head)
    made = layout.build(fields)
    fields["size"] = len(made) - legacy.LOG_OVERHEAD
    made = layout.build(fields)
    crc = crc32(made[legacy.CRC_COVERS_FROM :]) ^ (0 if was_right else 0xFFFFFFFF)
    return made[:12] + crc.to_bytes(4, "big") + made[legacy.CRC_COVERS_FROM :]


def _message_content(fields: dict[str, object], change: Changer) -> dict[str, object]:
    codec, value = codec_of(int(str(fields["attributes"]))), fields["value"]
    key = fields["key"] if isinstance(fields["key"], bytes) else None
    if codec is Codec.none or not isinstance(value, bytes):
        content = change(key, value if isinstance(value, bytes) else None)
        if content is None:
            content = masked(key), None
        return {"key": content[0], "value": content[1]}
    if codec is None:
        raise Malformed("an unknown codec")
    plain = decompress(codec, value, wrong_lz4_checksum=fields["magic"] == 0)
    if plain.problem is not None or (codec is Codec.lz4 and fields["magic"] == 0):
        raise Malformed(plain.problem or "a frame that only old programs wrote")
    at, inner = 0, []
    while at + legacy.LOG_OVERHEAD <= len(plain.data):
        size = legacy.LOG_OVERHEAD + int.from_bytes(plain.data[at + 8 : at + 12], "big")
        inner.append(_message(plain.data[at : at + size], change))
        at += size
    return {"key": masked(key), "value": compress(codec, b"".join(inner), value)}


def is_segment(item: Item) -> bool:
    """Whether a file holds batches."""
    return item.kind.value == "log" and item.part is None
