"""States of transactional.ids out of the text of kafka-dump-log, as its decoder prints them up to 4.0.

Shape   `producerId:P,producerEpoch:E,state=S,partitions=[a-0,b-1],txnLastUpdateTimestamp=T,txnTimeoutMs=M`; partitions
        as `Set(a-0, b-1)` or `HashSet(...)`, too.
Must equal the reader of such contents (text/dump/states.py), which reads all else.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.dumped_batches import LARGEST_INT16, LARGEST_INT32
from kafkatx.kernels.dumped_words import (
    FIRST_STATE,
    OLD_EPOCH,
    OLD_PRODUCER,
    OLD_STATE,
    OLD_TIMEOUT,
    OLD_UPDATED,
    STATES,
    after,
    one_of,
    read_field,
)
from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.loads import byte_at

IS_LETTER = np.array([chr(byte).isalpha() and byte < 128 for byte in range(256)])
IS_IN_TOPICS = np.array([(chr(byte).isalnum() and byte < 128) or byte in b"._-" for byte in range(256)])
"""Bytes that names of topics consist of, the dash in front of a partition's number included."""
MOST_DIGITS_OF_PARTITION = 10


@kernel_lean
def end_of_partition(data: Any, at: int, end: int) -> int:
    """Position behind a topic and the number of a partition, -1 where there are none."""
    begin, dash, value = at, -1, 0
    while at < end and IS_IN_TOPICS[byte_at(data, at)]:
        byte = byte_at(data, at)
        if byte == 45:
            dash, value = at, 0
        elif 48 <= byte <= 57:
            value = min(value * 10 + byte - 48, LARGEST_INT32 + 1)
        else:
            dash = -1
        at += 1
    digits = at - dash - 1
    if dash <= begin or not 0 < digits <= MOST_DIGITS_OF_PARTITION or value > LARGEST_INT32:
        return -1
    return at


@kernel_lean
def end_of_set(data: Any, at: int, end: int) -> int:
    """Position behind a set of partitions, -1 where there is none that can be read without doubt."""
    begin = at
    while at < end and IS_LETTER[byte_at(data, at)]:
        at += 1
    is_titled = at - begin >= 3 and byte_at(data, at - 3) == 83 and byte_at(data, at - 2) == 101
    if at + 1 >= end or (at > begin and not (is_titled and byte_at(data, at - 1) == 116)):
        return -1
    opening = byte_at(data, at)
    if opening != 40 and opening != 91:
        return -1
    closing = 41 if opening == 40 else 93
    at += 1
    if byte_at(data, at) == closing:
        return at + 1
    while True:
        at = end_of_partition(data, at, end)
        if at < 0 or at + 2 >= end:
            return -1
        if byte_at(data, at) == closing:
            return at + 1
        if byte_at(data, at) != 44:
            return -1
        at += 2 if byte_at(data, at + 1) == 32 else 1


@kernel_lean
def read_old_value(data: Any, at: int, end: int, states: Any, row: int, spans: Any, numbers: Any) -> int:
    """Read a value; position behind its line, -1 if it is not for us."""
    at = read_field(data, at, end, OLD_PRODUCER, numbers, 1)
    at = after(data, read_field(data, at, end, OLD_EPOCH, numbers, 4), end, OLD_STATE)
    state = one_of(data, at, end, FIRST_STATE, STATES)
    if state < 0 or not -LARGEST_INT16 <= numbers[4] <= LARGEST_INT16:
        return -1
    begin = after(data, at, end, FIRST_STATE + state)
    behind = end_of_set(data, begin, end)
    at = read_field(data, behind, end, OLD_UPDATED, numbers, 8)
    at = read_field(data, at, end, OLD_TIMEOUT, numbers, 6)
    if at < 0 or not -LARGEST_INT32 <= numbers[6] <= LARGEST_INT32 or at >= end or byte_at(data, at) != 10:
        return -1
    if state:
        spans[row, 2], spans[row, 3] = begin, behind - begin
    states["producer_id"][row] = numbers[1]
    states["producer_epoch"][row] = numbers[4]
    states["timeout_ms"][row] = numbers[6]
    states["state"][row] = state
    states["updated_at"][row] = numbers[8]
    return at + 1
