"""The words of kafka-dump-log's lines as they are read, and what reads them and the numbers behind them."""

from functools import partial
from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.loads import HALF_BYTES, WORD_BYTES, byte_at, half_at, word_at
from kafkatx.terms.transaction_states import TransactionState

MOST_DIGITS = 18

_CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
_WORDS = [
    "baseOffset: ", " lastOffset: ", " count: ", " baseSequence: ", " lastSequence: ", " producerId: ",
    " producerEpoch: ", " partitionLeaderEpoch: ", " isTransactional: ", " isControl: ",
    " deleteHorizonMs: OptionalLong", ".empty", " position: ", " CreateTime: ", " LogAppendTime: ",
    " NoTimestampType: ", " size: ", " magic: 2 compresscodec: ", " crc: ", " isvalid: true\n", " isvalid: true",
    "true", "false", "| offset: ", " keySize: ", " valueSize: ", " keysize: ", " valuesize: ", " sequence: ",
    " headerKeys: []",
    " endTxnMarker: COMMIT coordinatorEpoch: ", " endTxnMarker: ABORT coordinatorEpoch: ", " key: ", " payload: ",
    ' key: {"type":"', ' key: {"type":"0","data":{"transactionalId":"', '"}} payload: ', "<DELETE>\n",
    '{"version":"', '","data":{"producerId":', ',"previousProducerId":', ',"nextProducerId":', ',"producerEpoch":',
    ',"nextProducerEpoch":', ',"transactionTimeoutMs":', ',"transactionStatus":', ',"transactionPartitions":', "null",
    '{"topic":"', '","partitionIds":[', ',"transactionLastUpdateTimestampMs":', ',"transactionStartTimestampMs":',
    ',"clientTransactionVersion":', "}}\n", " key: transaction_metadata::transactionalId=", " key: transactionalId=",
    " isValid: true crc: null", " baseOffset: ", " batchSize: ", " magic: 2 compressType: ",
    "producerId:", ",producerEpoch:", ",state=", ",txnLastUpdateTimestamp=", ",txnTimeoutMs=",
    *(f"{state.name},partitions=" for state in TransactionState), *_CODECS,
    *map(str.upper, _CODECS),
]  # fmt: skip
_ENCODED = [word.encode() for word in _WORDS]
BOUNDS = np.cumsum([0, *map(len, _ENCODED)]).astype(np.int64)
WORDS = np.frombuffer(b"".join(_ENCODED), np.uint8)
_numbers: Any = partial(np.arange, dtype=np.int64)
"""numpy's numbers, since numba compiles a call anew for each plain one."""
(
    BASE, LAST, COUNT, BASE_SEQUENCE, LAST_SEQUENCE, PRODUCER, EPOCH, LEADER_EPOCH, TRANSACTIONAL, CONTROL, HORIZON,
    EMPTY, POSITION, CREATE_TIME, APPEND_TIME, NO_TIME, SIZE, MAGIC, CRC, VALIDITY, VALID_FIRST, TRUE, FALSE, OFFSET,
    KEY_SIZE, VALUE_SIZE, OLD_KEY_SIZE, OLD_VALUE_SIZE, SEQUENCE, HEADER_KEYS, COMMIT, ABORT, KEY, PAYLOAD, DECODED,
    STATE_KEY, END_OF_KEY, DELETED, VERSION, STATE_PRODUCER, PREVIOUS_ID, NEXT_ID, STATE_EPOCH, NEXT_EPOCH, TIMEOUT,
    STATUS, PARTITIONS, NULL, TOPIC, PARTITION_IDS, UPDATED, STARTED, CLIENT_VERSION, END_OF_STATE, TITLED, UNTITLED,
    VALID_RECORD, BASE_AGAIN, BATCH_SIZE, COMPRESSION,
    OLD_PRODUCER, OLD_EPOCH, OLD_STATE, OLD_UPDATED, OLD_TIMEOUT, FIRST_STATE,
) = _numbers(len(_WORDS) - 2 * len(_CODECS) - len(TransactionState) + 1)  # fmt: skip
CODECS, STATES = len(_CODECS), len(TransactionState)
FIRST_CODEC = FIRST_STATE + STATES
FIRST_TYPE = FIRST_CODEC + CODECS


@kernel_lean
def after(data: Any, at: int, end: int, word: int) -> int:
    """Position behind a word that stands at `at`, -1 if it does not."""
    low = int(BOUNDS[word])
    size = int(BOUNDS[word + 1]) - low
    if at < 0 or at + size > end:
        return -1
    if size < HALF_BYTES:
        for place in range(size):
            if byte_at(data, at + place) != byte_at(WORDS, low + place):
                return -1
        return at + size
    if size < WORD_BYTES:
        last = size - HALF_BYTES
        is_there = half_at(data, at) == half_at(WORDS, low) and half_at(data, at + last) == half_at(WORDS, low + last)
        return at + size if is_there else -1
    last = size - WORD_BYTES
    for place in range(0, last, WORD_BYTES):
        if word_at(data, at + place) != word_at(WORDS, low + place):
            return -1
    return at + size if word_at(data, at + last) == word_at(WORDS, low + last) else -1


@kernel_lean
def read_number(data: Any, at: int, end: int, numbers: Any, column: int) -> int:
    """Read a number as Java and JSON have it into `numbers`; position behind it, -1 if there is none."""
    if at < 0 or at >= end:
        return -1
    first = at + 1 if byte_at(data, at) == 45 else at
    place, value = first, 0
    while place < end:
        digit = byte_at(data, place) - 48
        if digit < 0 or digit > 9:
            break
        if place - first == MOST_DIGITS:
            return -1
        value = value * 10 + digit
        place += 1
    if place == first or (byte_at(data, first) == 48 and (place > first + 1 or first > at)):
        return -1
    numbers[column] = value if first == at else -value
    return place


@kernel_lean
def read_field(data: Any, at: int, end: int, word: int, numbers: Any, column: int) -> int:
    """Read a key and its number; position behind them, -1 if they are not there."""
    return read_number(data, after(data, at, end, word), end, numbers, column)


@kernel_lean
def one_of(data: Any, at: int, end: int, word: int, count: int) -> int:
    """Which of `count` words that follow one another stands at `at`, -1 if none does."""
    for number in range(count):
        if after(data, at, end, word + number) >= 0:
            return number
    return -1
