"""Messages of magic 0 and 1 as record rows: alone, or inside the wrapper that compresses them.

Meaning   the offsets inside a wrapper are absolute with magic 0 and relative with magic 1, where the wrapper carries
          that of the last one (0 from old librdkafka: then they count from 0). LogAppendTime is the wrapper's for all.
Source    AbstractLegacyRecordBatch.DeepRecordsIterator (Kafka 0.11 to 4.3); KIP-31, KIP-32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kafkatx.formats.record_batch import Codec, codec_of, is_log_append_time
from kafkatx.kernels.messages import walk_messages
from kafkatx.kernels.rows import RECORD
from kafkatx.segments.batches import Rows
from kafkatx.segments.compression import decompress

MESSAGES_PER_CALL = 8_192
Note = Callable[[Any, str, str], None]


def message_rows(body: bytes, batch: Any, batch_row: int, limit: int, note: Note) -> Iterator[tuple[Rows, memoryview]]:
    """Yield (rows, the buffer they index) of a batch row of magic 0 or 1, at least once.

    Args:
        body: the whole message.
        batch: its row (dtype kernels.rows.BATCH).
        batch_row: what the rows get as `batch_row`.
        limit: bytes that a wrapper may decompress to.
        note: told what can't be read: the batch, what was expected, what was found.
    """
    own, _ = _walk(memoryview(body), 0, batch_row, 1)
    codec = codec_of(int(batch["attributes"]))
    if not len(own) or codec is None:
        note(batch, "a message of magic 0 or 1", "bytes that are none")
        yield own, memoryview(body)
    elif codec is Codec.none:
        yield own, memoryview(body)
    else:
        start, length = int(own["value_start"][0]), max(int(own["value_length"][0]), 0)
        content, of_magic_0 = body[start : start + length], int(batch["magic"]) == 0
        payload = decompress(codec, content, limit=limit, wrong_lz4_checksum=of_magic_0)
        if payload.problem:
            note(batch, f"messages compressed with {codec.name}", payload.problem)
        yield from _inner(memoryview(payload.data), batch, batch_row, note if not payload.problem else None)


def _inner(data: memoryview, batch: Any, batch_row: int, note: Note | None) -> Iterator[tuple[Rows, memoryview]]:
    """Yield the messages inside a wrapper; their last offset is needed first, so they are walked twice."""
    last, behind = 0, 0
    for rows, at in _steps(data, batch_row):
        last, behind = int(rows["offset"][-1]), at
    if behind != len(data) and note:
        note(batch, "messages up to the end of their wrapper", f"{len(data) - behind} bytes that are none")
    relative = int(batch["magic"]) == 1 and int(batch["base_offset"]) != 0
    if not behind:
        yield np.zeros(0, RECORD), data
    for rows, _ in _steps(data, batch_row):
        rows["offset"] += int(batch["base_offset"]) - last if relative else 0
        if int(batch["magic"]) == 1 and is_log_append_time(int(batch["attributes"])):
            rows["timestamp"] = batch["max_timestamp"]
        yield rows, data


def _steps(data: memoryview, batch_row: int) -> Iterator[tuple[Rows, int]]:
    at = 0
    while at < len(data):
        rows, at = _walk(data, at, batch_row, MESSAGES_PER_CALL)
        if not len(rows):
            return
        yield rows, at


def _walk(data: memoryview, at: int, batch_row: int, room: int) -> tuple[Rows, int]:
    out = np.zeros(min(room, len(data) // 26 + 1), RECORD)
    count, behind = walk_messages(walk_messages.view(data), at, len(data), batch_row, out)
    walk_messages.count(count)
    return out[:count], behind
