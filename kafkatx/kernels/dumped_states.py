"""States of transactional.ids out of the text of kafka-dump-log, as its decoder prints them since 4.1: as JSON.

(Up to 4.0: dumped_old_states.py.) Must equal the reader of such contents (text/dump/states.py), which reads all else.
"""

from typing import Any

from kafkatx.kernels.dumped_batches import (
    ID_BEHIND,
    LARGEST_INT16,
    LARGEST_INT32,
    end_of_id,
    read_fields,
    read_run,
)
from kafkatx.kernels.dumped_old_states import read_old_value
from kafkatx.kernels.dumped_words import (
    CLIENT_VERSION,
    DECODED,
    DELETED,
    END_OF_KEY,
    END_OF_STATE,
    NEXT_EPOCH,
    NEXT_ID,
    NULL,
    PARTITION_IDS,
    PARTITIONS,
    PAYLOAD,
    PREVIOUS_ID,
    STARTED,
    STATE_EPOCH,
    STATE_KEY,
    STATE_PRODUCER,
    STATUS,
    TIMEOUT,
    TOPIC,
    UPDATED,
    VERSION,
    after,
    read_field,
    read_number,
)
from kafkatx.kernels.engine import kernel_after, kernel_lean
from kafkatx.kernels.loads import byte_at


@kernel_lean
def end_of_name(data: Any, at: int, end: int) -> int:
    """Where a text in quotes ends that begins at `at`; it holds nothing that JSON escapes, as the line is plain."""
    if at < 0:
        return at
    while at < end and byte_at(data, at) != 34:
        at += 1
    return at


@kernel_lean
def end_of_list(data: Any, at: int, end: int, numbers: Any) -> int:
    """Position behind a list of partitions by topic, -1 where it is none."""
    if not 0 <= at < end or data[at] != 91:
        return -1
    at += 1
    while at < end and data[at] != 93:
        at = after(data, end_of_name(data, after(data, at, end, TOPIC), end), end, PARTITION_IDS)
        while 0 <= at < end and data[at] != 93:
            at = read_number(data, at, end, numbers, 8)
            if at < 0 or not 0 <= numbers[8] <= LARGEST_INT32:
                return -1
            if data[at] == 44:
                at += 1
                if not 48 <= data[at] <= 57:
                    return -1
            elif data[at] != 93:
                return -1
        if at < 0 or at + 2 >= end or data[at + 1] != 125:
            return -1
        at += 2
        if data[at] == 44:
            at += 1
            if data[at] != 123:
                return -1
        elif data[at] != 93:
            return -1
    return at + 1 if at < end else -1


@kernel_lean
def read_optional(data: Any, at: int, end: int, word: int, numbers: Any, column: int, absent: int) -> int:
    """Read a field that stands there only if it is not `absent`."""
    if at < 0:
        return -1
    numbers[column] = absent
    return read_field(data, at, end, word, numbers, column) if after(data, at, end, word) >= 0 else at


@kernel_lean
def is_int16(value: int) -> bool:
    """Whether a number fits into 16 bits."""
    return -LARGEST_INT16 <= value <= LARGEST_INT16


@kernel_lean
def read_value(data: Any, at: int, end: int, states: Any, row: int, spans: Any, numbers: Any) -> int:
    """Read a value; position behind its line, -1 if it is not for us."""
    at = read_field(data, at, end, VERSION, numbers, 0)
    at = read_field(data, at, end, STATE_PRODUCER, numbers, 1)
    at = read_optional(data, at, end, PREVIOUS_ID, numbers, 2, -1)
    at = read_optional(data, at, end, NEXT_ID, numbers, 3, -1)
    at = read_field(data, at, end, STATE_EPOCH, numbers, 4)
    at = read_optional(data, at, end, NEXT_EPOCH, numbers, 5, -1)
    at = read_field(data, at, end, TIMEOUT, numbers, 6)
    at = after(data, read_field(data, at, end, STATUS, numbers, 7), end, PARTITIONS)
    if at < 0 or not 0 <= numbers[0] <= 99 or not is_int16(numbers[4]) or not is_int16(numbers[5]):
        return -1
    if not -LARGEST_INT32 <= numbers[6] <= LARGEST_INT32 or not 0 <= numbers[7] <= 99:
        return -1
    spans[row, 2], spans[row, 3] = at, -1
    behind = after(data, at, end, NULL)
    if behind < 0:
        behind = end_of_list(data, at, end, numbers)
        spans[row, 3] = behind - at
    at = read_field(data, behind, end, UPDATED, numbers, 8)
    at = read_field(data, at, end, STARTED, numbers, 9)
    at = after(data, read_optional(data, at, end, CLIENT_VERSION, numbers, 10, 0), end, END_OF_STATE)
    if at < 0 or not is_int16(numbers[10]):
        return -1
    states["value_version"][row] = numbers[0]
    states["producer_id"][row] = numbers[1]
    states["previous_producer_id"][row] = numbers[2]
    states["next_producer_id"][row] = numbers[3]
    states["producer_epoch"][row] = numbers[4]
    states["next_producer_epoch"][row] = numbers[5]
    states["timeout_ms"][row] = numbers[6]
    states["state"][row] = numbers[7]
    states["updated_at"][row] = numbers[8]
    states["started_at"][row] = numbers[9]
    states["client_transaction_version"][row] = numbers[10] if numbers[0] else -1
    states["is_tombstone"][row] = 0
    return at


@kernel_lean
def clear_state(states: Any, row: int) -> None:
    """Set a row to that of a tombstone."""
    states["value_version"][row] = -1
    states["producer_id"][row] = -1
    states["previous_producer_id"][row] = -1
    states["next_producer_id"][row] = -1
    states["producer_epoch"][row] = -1
    states["next_producer_epoch"][row] = -1
    states["timeout_ms"][row] = -1
    states["state"][row] = -1
    states["updated_at"][row] = -1
    states["started_at"][row] = -1
    states["client_transaction_version"][row] = -1
    states["is_tombstone"][row] = 1


@kernel_lean
def read_state(data: Any, at: int, end: int, states: Any, row: int, spans: Any, numbers: Any) -> int:
    """Read key and value of a record of JSON; position behind its line, -1 if they are not for us."""
    name = after(data, at, end, STATE_KEY)
    stop = end_of_name(data, name, end)
    at = after(data, stop, end, END_OF_KEY)
    if name < 0 or at < 0:
        return -1
    spans[row, 0], spans[row, 1], spans[row, 2], spans[row, 3] = name, stop - name, 0, -1
    deleted = after(data, at, end, DELETED)
    if deleted >= 0:
        clear_state(states, row)
        return deleted
    return read_value(data, at, end, states, row, spans, numbers)


@kernel_lean
def read_old_state(
    data: Any, at: int, end: int, shape: int, key_size: int, states: Any, row: int, spans: Any, numbers: Any
) -> int:
    """Read key and value of a record as older decoders print them; position behind its line, -1 if not for us."""
    stop = end_of_id(data, at, end, shape, key_size)
    if stop < 0:
        return -1
    size = key_size - ID_BEHIND
    spans[row, 0], spans[row, 1], spans[row, 2], spans[row, 3] = stop - size, size, 0, -1
    at = after(data, stop, end, PAYLOAD)
    clear_state(states, row)
    deleted = after(data, at, end, DELETED)
    if deleted >= 0:
        return deleted
    states["is_tombstone"][row] = 0
    return read_old_value(data, at, end, states, row, spans, numbers)


@kernel_lean
def behind_line(data: Any, at: int) -> int:
    """Where the next line begins; there is an end of this one."""
    while byte_at(data, at) != 10:
        at += 1
    return at + 1


@kernel_after(read_run)
def read_states(
    data: Any, shape: int, batches: Any, begins: Any, end: int, states: Any, spans: Any, numbers: Any
) -> tuple[int, int]:
    """Read the states of batches that `read_run` has read, whose lines begin at data[begins[n]].

    `spans` gets of each state where its id and its list of partitions stand (start, length; -1: null), its line from
    the first of all, and where that begins. Returns (batches whose states are all read, states of those).
    """
    row, line = 0, -1
    for batch in range(len(batches)):
        first, at = row, int(begins[batch])
        line += 1
        stop = begins[batch + 1] if batch + 1 < len(batches) else end
        at = behind_line(data, at)
        while at < stop:
            line += 1
            place = at
            start = read_fields(data, at, stop, shape, numbers)
            is_json = after(data, start, stop, DECODED) >= 0
            if not is_json and end_of_id(data, start, stop, shape, numbers[2]) < 0:
                at = behind_line(data, start)
                continue
            if row == len(states):
                return batch, first
            states["offset"][row] = numbers[0]
            states["timestamp"][row] = numbers[1]
            if is_json:
                at = read_state(data, start, stop, states, row, spans, numbers)
            else:
                at = read_old_state(data, start, stop, shape, numbers[2], states, row, spans, numbers)
            if at < 0:
                return batch, first
            states["position"][row] = batches["position"][batch]
            states["leader_epoch"][row] = batches["leader_epoch"][batch]
            states["crc"][row] = batches["crc"][batch]
            states["unknown_tags_code"][row] = -1
            spans[row, 4], spans[row, 5] = line, place
            row += 1
    return len(batches), row
