"""Line shapes of kafka-dump-log by release, as data: which fields stand in a line, in which order.

The release of the tool decides, not the one that wrote the log. A shape is recognised by its fields alone; a line whose
fields are others (left out, in another order, of a release to come) is still read, field by field (lines.py).

Source  DumpLogSegments.scala / .java (0.11 to 4.3), and what those releases printed of recorded logs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    """What a line of a log's dump tells."""

    BATCH = "batch"
    MESSAGE = "message"
    RECORD = "record"
    FLAT_RECORD = "flat record"


TIMESTAMP = "TIMESTAMP"
"""Stands for the field whose key is the type of the timestamp: `CreateTime: 1`, `LogAppendTime: 1`."""
NUMBER = r"{}: (-?\d{{1,19}})"
PATTERNS = {
    TIMESTAMP: r"(CreateTime|LogAppendTime|NoTimestampType): (-?\d{1,19})",
    "isTransactional": r"isTransactional: (true|false)",
    "isControl": r"isControl: (true|false)",
    "isvalid": r"isvalid: (true|false)",
    "isValid": r"isValid: (true|false)",
    "compresscodec": r"compresscodec: (\w+)",
    "compressType": r"compressType: (\w+)",
    "deleteHorizonMs": r"deleteHorizonMs: OptionalLong(?:\.empty|\[(-?\d{1,19})\])",
    "crc": r"crc: (\d{1,10}|null)",
    "headerKeys": r"headerKeys: \[",
}
"""Fields that are no plain numbers. `headerKeys` opens what may hold anything: the tail of a line begins there."""

STRAY_BRACE = r"\}?(?= |$)"
"""Up to 4.2 a brace stands behind the fields of a message of magic 0 or 1."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape of line: since which release of the tool, up to which, and with which options it is printed.

    `until` is empty while it is still printed. `names` are those of the groups of `pattern`, `at` says where each is;
    `bracket` is what the text behind the fields lacks to look like the end of `headerKeys: [...]`.
    """

    kind: LineKind
    since: str
    until: str
    options: str
    fields: tuple[str, ...]
    names: tuple[str, ...]
    at: dict[str, int]
    pattern: re.Pattern[str]
    bracket: str


def _shape(kind: LineKind, since: str, until: str, options: str, fields: str) -> Shape:
    keys = tuple(fields.split())
    begin = r"\| " if kind is LineKind.RECORD else ""
    end = "$" if kind in (LineKind.BATCH, LineKind.MESSAGE) else "" if "headerKeys" in keys else STRAY_BRACE
    names: list[str] = []
    for key in keys:
        names += ["timestampType", "timestamp"] if key == TIMESTAMP else [key] * (key != "headerKeys")
    pattern = re.compile(begin + " ".join(PATTERNS.get(key, NUMBER.format(key)) for key in keys) + end)
    at = {name: number for number, name in enumerate(names)}
    return Shape(kind, since, until, options, keys, tuple(names), at, pattern, "" if "headerKeys" in keys else "]")


DEEP, SHALLOW, ANY = "deep", "shallow", "any"
"""Options: with --deep-iteration (or what implies it: --print-data-log, a decoder), without it, whatever is given."""

SHAPES = (
    _shape(
        LineKind.BATCH, "3.2", "", ANY,
        "baseOffset lastOffset count baseSequence lastSequence producerId producerEpoch partitionLeaderEpoch "
        "isTransactional isControl deleteHorizonMs position TIMESTAMP size magic compresscodec crc isvalid",
    ),
    _shape(
        LineKind.BATCH, "2.2", "3.1", ANY,
        "baseOffset lastOffset count baseSequence lastSequence producerId producerEpoch partitionLeaderEpoch "
        "isTransactional isControl position TIMESTAMP size magic compresscodec crc isvalid",
    ),
    _shape(
        LineKind.BATCH, "2.0", "2.1", SHALLOW,
        "baseOffset lastOffset count baseSequence lastSequence producerId producerEpoch partitionLeaderEpoch "
        "isTransactional isControl position TIMESTAMP isvalid size magic compresscodec crc",
    ),
    _shape(
        LineKind.BATCH, "0.11", "1.1", SHALLOW,
        "baseOffset lastOffset baseSequence lastSequence producerId producerEpoch partitionLeaderEpoch "
        "isTransactional position TIMESTAMP isvalid size magic compresscodec crc",
    ),
    _shape(LineKind.MESSAGE, "2.2", "", ANY, "offset position TIMESTAMP size magic compresscodec crc isvalid"),
    _shape(LineKind.MESSAGE, "0.11", "2.1", SHALLOW, "offset position TIMESTAMP isvalid size magic compresscodec crc"),
    _shape(LineKind.RECORD, "3.0", "", DEEP, "offset TIMESTAMP keySize valueSize sequence headerKeys"),
    _shape(LineKind.RECORD, "3.0", "", DEEP, "offset TIMESTAMP keySize valueSize isValid crc"),
    _shape(
        LineKind.RECORD, "2.8", "2.8", DEEP,
        "offset isValid crc keySize valueSize TIMESTAMP baseOffset lastOffset baseSequence lastSequence producerEpoch "
        "partitionLeaderEpoch batchSize magic compressType position sequence headerKeys",
    ),
    _shape(
        LineKind.RECORD, "2.8", "2.8", DEEP,
        "offset isValid crc keySize valueSize TIMESTAMP baseOffset lastOffset baseSequence lastSequence producerEpoch "
        "partitionLeaderEpoch batchSize magic compressType position crc isvalid",
    ),
    _shape(LineKind.RECORD, "2.2", "2.7", DEEP, "offset TIMESTAMP keysize valuesize sequence headerKeys"),
    _shape(LineKind.RECORD, "2.2", "2.7", DEEP, "offset TIMESTAMP keysize valuesize crc isvalid"),
    _shape(
        LineKind.FLAT_RECORD, "0.11.0.2", "2.1", DEEP,
        "offset position TIMESTAMP isvalid keysize valuesize magic compresscodec producerId producerEpoch sequence "
        "isTransactional headerKeys",
    ),
    _shape(
        LineKind.FLAT_RECORD, "0.11.0.0", "0.11.0.1", DEEP,
        "offset position TIMESTAMP isvalid keysize valuesize magic compresscodec producerId sequence isTransactional "
        "headerKeys",
    ),
    _shape(
        LineKind.FLAT_RECORD, "0.11", "2.1", DEEP,
        "offset position TIMESTAMP isvalid keysize valuesize magic compresscodec crc",
    ),
)  # fmt: skip
"""All shapes, newest first. Those with `crc` and without `sequence` are of messages of magic 0 and 1."""
