"""The words of kafka-dump-log's lines as one array of bytes, and what writes them, for kernels that print.

Words whose values follow one another stand in their order, so that a line is a few loops: each call that a kernel makes
is compiled into it.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.printing import put_number

_CODECS = ["none", "gzip", "snappy", "lz4", "zstd", "none", "none", "none"]
_TIMES = ["CreateTime", "LogAppendTime"]
_SEQUENCES = {
    "BATCH": [
        "baseOffset: ", " lastOffset: ", " count: ", " baseSequence: ", " lastSequence: ", " producerId: ",
        " producerEpoch: ", " partitionLeaderEpoch: ",
    ],
    "FLAGS": [
        f" isTransactional: {transactional} isControl: {control} deleteHorizonMs: OptionalLong"
        for control in ("false", "true")
        for transactional in ("false", "true")
    ],
    "NO_HORIZON": [".empty"],
    "PLACE": [word for time in _TIMES for word in (" position: ", f" {time}: ", " size: ", " magic: ")],
    "CODEC": [f" compresscodec: {codec} crc: " for codec in _CODECS],
    "VALIDITY": [" isvalid: false\n", " isvalid: true\n"],
    "RECORD": [
        word for time in _TIMES
        for word in ("| offset: ", f" {time}: ", " keySize: ", " valueSize: ", " sequence: ")
    ],
    "HEADER_KEYS": [" headerKeys: ["],
    "MARKER": [" endTxnMarker: ABORT coordinatorEpoch: ", " endTxnMarker: COMMIT coordinatorEpoch: "],
    "CONTENTS": ["key: ", "payload: "],
    "BAR": ["| "],
    "BLANK": [" "],
    "COMMA": [","],
    "OPEN": ["["],
    "CLOSE": ["]"],
    "NEWLINE": ["\n"],
    "ID": ['key: {"type":"0","data":{"transactionalId":"'],
    "END_OF_ID": ['"}} payload: '],
    "DELETED": ["<DELETE>"],
    "STATE": ['{"version":"0","data":{', '{"version":"1","data":{'],
    "STATE_FIELDS": [
        '"producerId":', ',"previousProducerId":', ',"nextProducerId":', ',"producerEpoch":', ',"nextProducerEpoch":',
        ',"transactionTimeoutMs":', ',"transactionStatus":',
    ],
    "PARTITIONS": [',"transactionPartitions":'],
    "NULL": ["null"],
    "TOPIC": ['{"topic":"', '","partitionIds":[', "]}"],
    "STATE_TIMES": [
        ',"transactionLastUpdateTimestampMs":', ',"transactionStartTimestampMs":', ',"clientTransactionVersion":',
    ],
    "END_OF_STATE": ["}}"],
}  # fmt: skip
_ENCODED = [word.encode() for words in _SEQUENCES.values() for word in words]
BOUNDS = np.cumsum([0, *map(len, _ENCODED)]).astype(np.int64)
WORDS = np.frombuffer(b"".join(_ENCODED), np.uint8)
_FIRST = np.cumsum([0, *map(len, _SEQUENCES.values())]).astype(np.int64)
(
    BATCH, FLAGS, NO_HORIZON, PLACE, CODEC, VALIDITY, RECORD, HEADER_KEYS, MARKER, CONTENTS, BAR, BLANK, COMMA, OPEN,
    CLOSE, NEWLINE, ID, END_OF_ID, DELETED, STATE, STATE_FIELDS, PARTITIONS, NULL, TOPIC, STATE_TIMES, END_OF_STATE,
) = _FIRST[:-1]  # fmt: skip
"""Numbers of words, of sequences that of the first; numpy's, since numba compiles a call anew for each plain number."""
OF_BATCH, OF_PLACE, OF_RECORD, OF_TIMES = np.array([8, 4, 5, 2], np.int64)
"""Lengths of sequences."""


@kernel_lean
def put_word(out: Any, at: int, word: int) -> int:
    """Write a word; returns the place behind it, as all of these do."""
    for place in range(BOUNDS[word], BOUNDS[word + 1]):
        out[at] = WORDS[place]
        at += 1
    return at


@kernel_lean
def put_field(out: Any, at: int, word: int, value: int) -> int:
    """Write a key and its number."""
    return put_number(out, put_word(out, at, word), value)


@kernel_lean
def put_fields(out: Any, at: int, word: int, numbers: Any, count: int) -> int:
    """Write keys that follow one another and their numbers, the first `count` of `numbers`."""
    for number in range(count):
        at = put_field(out, at, word + number, numbers[number])
    return at
