"""Records of `__transaction_state` as kafka-dump-log prints them, out of their bytes into a byte buffer.

Must equal the coordinator's decoder (outputs/dump_decoders.py), which prints what these leave to it: keys and values
that are none, names that JSON would escape.
"""

from typing import Any

from kafkatx.kernels.bytes import int8_at, int16_at, int32_at, int64_at, uvarint_at
from kafkatx.kernels.dump_words import (
    CLOSE,
    COMMA,
    DELETED,
    END_OF_ID,
    END_OF_STATE,
    ID,
    NULL,
    OF_TIMES,
    OPEN,
    PARTITIONS,
    STATE,
    STATE_FIELDS,
    STATE_TIMES,
    TOPIC,
    put_field,
    put_fields,
    put_word,
)
from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.printing import put_bytes, put_number
from kafkatx.kernels.transaction_log import end_of_partitions_v0, end_of_partitions_v1

AS_TEXT, AS_STATE = 3, 12
"""How many bytes one of a record can become, as text and as JSON."""


@kernel_lean
def put_name(out: Any, at: int, data: Any, start: int, size: int) -> int:
    """Write a name as JSON has it; -1 where there is more to it than printable ASCII without quotes."""
    for place in range(start, start + size):
        byte = data[place]
        if byte < 32 or byte > 126 or byte == 34 or byte == 92:
            return -1
    return put_bytes(out, at, data, start, size)


@kernel_lean
def put_topic(out: Any, at: int, data: Any, name: int, size: int, place: int, count: int) -> int:
    """Write a topic and its `count` partitions, which stand at `place`; -1 where its name is not for us."""
    at = put_name(out, put_word(out, at, TOPIC), data, name, size)
    if at < 0:
        return -1
    at = put_word(out, at, TOPIC + 1)
    for number in range(count):
        if number:
            at = put_word(out, at, COMMA)
        at = put_number(out, at, int32_at(data, place + 4 * number))
    return put_word(out, at, TOPIC + 2)


@kernel_lean
def end_of_plain_tags(data: Any, at: int, end: int) -> int:
    """Position behind a block of tagged fields, -1 if it runs past `end` or holds a number of more than 32 bits."""
    count, at = uvarint_at(data, at, end)
    if count < 0:
        return -1
    for _ in range(count):
        tag, at = uvarint_at(data, at, end)
        size, at = uvarint_at(data, at, end)
        if tag < 0 or size < 0 or size > end - at:
            return -1
        at += size
    return at


@kernel_lean
def put_partitions(out: Any, at: int, data: Any, place: int, end: int, version: int) -> int:
    """Write a partition list that is whole; -1 where it is not for us."""
    if version:
        topics, place = uvarint_at(data, place, end)
        topics -= 1
    else:
        topics = int32_at(data, place)
        place += 4
    if topics < 0:
        return put_word(out, at, NULL)
    at = put_word(out, at, OPEN)
    for number in range(topics):
        if version:
            size, name = uvarint_at(data, place, end)
            size -= 1
            count, numbers = uvarint_at(data, name + size, end)
            count -= 1
        else:
            size, name = int16_at(data, place), place + 2
            count, numbers = int32_at(data, name + size), name + size + 4
        if count < 0:
            return -1
        if number:
            at = put_word(out, at, COMMA)
        at = put_topic(out, at, data, name, size, numbers, count)
        place = numbers + 4 * count
        if version:
            place = end_of_plain_tags(data, place, end)
        if at < 0 or place < 0:
            return -1
    return put_word(out, at, CLOSE)


@kernel_lean
def read_state_tags(data: Any, at: int, end: int) -> tuple[int, int, int, int]:
    """Tagged fields of a value in a block of them that is whole; of several of a kind the last that says anything."""
    previous_id, next_id, client_version, next_epoch = -1, -1, 0, -1
    count, at = uvarint_at(data, at, end)
    for _ in range(count):
        tag, at = uvarint_at(data, at, end)
        size, at = uvarint_at(data, at, end)
        value = int64_at(data, at) if size == 8 else int16_at(data, at) if size == 2 else -1
        if tag == 0 and size == 8 and value != -1:
            previous_id = value
        elif tag == 1 and size == 8 and value != -1:
            next_id = value
        elif tag == 2 and size == 2 and value != 0:
            client_version = value
        elif tag == 3 and size == 2 and value != -1:
            next_epoch = value
        at += size
    return previous_id, next_id, client_version, next_epoch


@kernel_lean
def put_value(out: Any, at: int, data: Any, place: int, end: int, version: int, numbers: Any) -> int:
    """Write a value of version 0 or 1 from its first field on; -1 where it is not for us."""
    if place + 15 > end:
        return -1
    behind = end_of_partitions_v1(data, place + 15, end) if version else end_of_partitions_v0(data, place + 15, end)
    if behind < 0 or behind + 16 > end:
        return -1
    previous_id, next_id, client_version, next_epoch = -1, -1, 0, -1
    if version:
        if end_of_plain_tags(data, behind + 16, end) < 0:
            return -1
        previous_id, next_id, client_version, next_epoch = read_state_tags(data, behind + 16, end)
    at = put_word(out, at, STATE + version)
    numbers[0] = int64_at(data, place)
    numbers[1], numbers[2], numbers[4] = previous_id, next_id, next_epoch
    numbers[3] = int16_at(data, place + 8)
    numbers[5] = int32_at(data, place + 10)
    numbers[6] = int8_at(data, place + 14)
    for number in range(7):
        if numbers[number] != -1 or (number != 1 and number != 2 and number != 4):
            at = put_field(out, at, STATE_FIELDS + number, numbers[number])
    at = put_partitions(out, put_word(out, at, PARTITIONS), data, place + 15, end, version)
    if at < 0:
        return -1
    numbers[0], numbers[1], numbers[2] = int64_at(data, behind), int64_at(data, behind + 8), client_version
    at = put_fields(out, at, STATE_TIMES, numbers, OF_TIMES + (1 if client_version else 0))
    return put_word(out, at, END_OF_STATE)


@kernel_lean
def put_state(out: Any, at: int, data: Any, records: Any, row: int, numbers: Any) -> int:
    """Write key and value of a record of `__transaction_state`; -1 where they are not for us."""
    key, key_length = int(records["key_start"][row]), int(records["key_length"][row])
    value, value_length = int(records["value_start"][row]), int(records["value_length"][row])
    if key_length < 4 or int16_at(data, key) != 0:
        return -1
    size = int16_at(data, key + 2)
    if size < 0 or size + 4 > key_length:
        return -1
    at = put_name(out, put_word(out, at, ID), data, key + 4, size)
    if at < 0:
        return -1
    at = put_word(out, at, END_OF_ID)
    if value_length < 0:
        return put_word(out, at, DELETED)
    version = int16_at(data, value) if value_length >= 2 else -1
    if version != 0 and version != 1:
        return -1
    return put_value(out, at, data, value + 2, value + value_length, version, numbers)
