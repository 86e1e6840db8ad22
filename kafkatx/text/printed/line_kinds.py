"""Shapes of the lines that Kafka's tools print, told by a few literals and by the fields that a line names.

A dump line is a row of `key: value` fields. Eras differ in the fields and in their order, and people leave fields out
(`...`), so a line is known by the set of its fields, not by one pattern an era. Lines of the console tools are known by
the frame that their formatters put around a record.
Source    DumpLogSegments, ProducerStateManager, TransactionIndex; TransactionLogMessageFormatter,
          OffsetsMessageFormatter, DefaultMessageFormatter; TransactionsCommand (0.11 to 4.3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from kafkatx.text.printed.elisions import ELIDED_FIELDS


class Shape(StrEnum):
    """What a line of a tool tells."""

    DUMPING = "name of the dumped file"
    START = "first offset of the dumped file"
    BATCH = "batch"
    RECORD = "record"
    INDEX = "entry of an index"
    TIMEINDEX = "entry of a timeindex"
    TXNINDEX = "entry of a txnindex"
    SNAPSHOT = "entry of a snapshot"
    NOTE = "remark of the dump tool"
    STATE = "record of __transaction_state"
    OFFSET = "record of __consumer_offsets"
    CONSUMED = "record of the console consumer"
    ADMIN = "heading of a table of kafka-transactions"


TIMESTAMPS = ("CreateTime", "LogAppendTime", "NoTimestampType")
"""Keys of a timestamp: its type."""
_OF_BATCHES = """baseOffset lastOffset count baseSequence lastSequence producerId producerEpoch partitionLeaderEpoch
    isTransactional isControl deleteHorizonMs position CreateTime LogAppendTime NoTimestampType
    isvalid isValid size magic compresscodec compressType crc batchSize"""
_OF_RECORDS = "offset keysize valuesize keySize valueSize sequence headerKeys endTxnMarker coordinatorEpoch controlType"
_OF_FILES = """timestamp version firstOffset lastStableOffset
    currentTxnFirstOffset lastTimestamp firstSequence offsetDelta cachedMetadata"""
FIELDS = frozenset(" ".join((_OF_BATCHES, _OF_RECORDS, _OF_FILES)).split())
"""Keys that dump lines print before a record's key and payload."""
_KEYS = "|".join(sorted(FIELDS))
_BLANKS = re.compile(r"[\s,]+")
ELISION = re.compile(rf"{ELIDED_FIELDS}(?=\s|$)")
"""What stands for fields or lines that were left out."""
FIELD = re.compile(
    r"([A-Za-z]{3,21}): "
    r"((?:[^\s,\[(]|,(?=\S))+(?=[\s,]|$)|\[[^\[\]]*\](?=[\s,]|$)|Queue\(.{0,4000}?\)\)|\S+)[\s,]*"
)
"""One field; its value has no blank, but for lists of header keys and cached batches."""
CONTENT = re.compile(
    r"\s?(?:(?:key|payload):(?: |$)|(?:LeaderChange:|Snapshot(?:Head|Foot)er|KRaft(?:Version|Voters)) \{)"
)
"""Where the content of a record begins: what follows is anything that its writer liked."""
ANCHOR = re.compile(
    rf"(?:\| ?(?=offset: (?!\d+ position: )|{ELIDED_FIELDS} ))?(?:{ELIDED_FIELDS}\s+)?(?:{_KEYS}): "
    r"|\| (?:key|payload): |Dumping \S|(?:Log s|S)tarting offset: \d|Snapshot end offset: \d|KRaft bootstrap snapshot$"
)
"""How a line of the dump tool begins."""
_NOTE = re.compile(
    r"Found \d+ invalid bytes at the end of |Mismatches in :|Index offset: -?\d+, log offset: "
    r"|-?\d+ is followed by -?\d+$|Non-consecutive offsets in |Found (?:timestamp mismatch|out of order timestamp) in :"
    r"|Index timestamp: -?\d+, log timestamp: |Indexed offset: \d+, found log offset: |Ignoring unknown file "
    r"|The following indexed offsets are not found in the log|\S+ is empty\.$|\S+ passed sanity check\.$"
    r"|Unknown record type -?\d+ at offset \d+, skipping|Error at offset \d+, skipping\."
)
_STATE = re.compile(
    r'[^\s:]\S{0,300}?::TransactionMetadata\((?!.{0,1000}::TransactionMetadata\()|\{"key":\{"(?:version|type)":"?\d+"?,"data":\{"transactionalId":'
)
STATE_TEXT = re.compile(r"::TransactionMetadata\(transactionalId=(.{1,1000}?), producerId=")
"""What stands behind the id in a record of `__transaction_state`: the id again."""
_OFFSET = re.compile(
    r"\[[^\[\]]{3,800}\]::(?:\[OffsetMetadata\[|OffsetAndMetadata\(|NULL$)"
    r'|\{"key":\{"(?:version|type)":"?[01]"?,"data":\{"group":"'
)
_CONSUMED = re.compile(
    r"(?:(?:CreateTime|LogAppendTime):-?\d{1,19}|NO_TIMESTAMP|Partition:\d{1,10}|Offset:\d{1,19})(?=[^\w:]|$)"
)
_ADMIN = re.compile(
    r"TransactionalId\s+Coordinator\s+ProducerId\s+TransactionState\b|CoordinatorId\s+TransactionalId\s+ProducerId\s"
    r"|ProducerId\s+ProducerEpoch\s+LatestCoordinatorEpoch\s|Topic\s+Partition\s+ProducerId\s+ProducerEpoch\s"
)
_FRAMES = ((_STATE, Shape.STATE), (_OFFSET, Shape.OFFSET), (_CONSUMED, Shape.CONSUMED), (_ADMIN, Shape.ADMIN))
FRAME = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _FRAMES))
"""How a line of the console tools begins."""
BEGINNINGS = ("| offset: ", "baseOffset: ", "offset: ")
"""How a line of a batch or record begins; a line that does is never the rest of another."""
STATED = ("Dumping ", "Log starting ", "Starting ", "Snapshot end ", "KRaft bootstrap ")
"""How a line of the dump tool begins that tells of the whole file."""


@dataclass(frozen=True, slots=True)
class Head:
    """The fields of a line in their order, whether `...` stands between them, and where they end in the text."""

    fields: tuple[tuple[str, str], ...]
    is_elided: bool
    end: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(key for key, _ in self.fields)


def head_of(text: str, at: int = 0) -> Head:
    """Read the row of fields that begins at `at`; a field given as `...` counts as left out."""
    fields: list[tuple[str, str]] = []
    is_elided = False
    while True:
        if (found := FIELD.match(text, at)) and found[1] in FIELDS:
            if ELISION.fullmatch(found[2]):
                is_elided = True
            else:
                fields.append((found[1], found[2].rstrip(",")))
        elif found := ELISION.match(text, at):
            is_elided = True
        elif found := _BLANKS.match(text, at):
            pass
        else:
            return Head(tuple(fields), is_elided, at)
        at = found.end()


def shape_of(text: str) -> Shape | None:
    """Tell the shape of a line as a tool prints it; None for any other text."""
    if text.startswith(STATED) and ANCHOR.match(text):
        return Shape.DUMPING if text.startswith("Dumping ") else Shape.START
    if ANCHOR.match(text):
        return shape_of_head(text, head_of(text, 2 if text.startswith("| ") else 0))
    if is_note(text):
        return Shape.NOTE
    if STATE_TEXT.search(text):
        return Shape.STATE
    return next((shape for pattern, shape in _FRAMES if pattern.match(text)), None)


def is_note(text: str) -> bool:
    """Whether a line is a remark of the dump tool (indented ones without their blanks)."""
    return _NOTE.match(text) is not None


def shape_of_head(text: str, head: Head) -> Shape | None:
    """Tell the shape of a dump line whose fields were read; None where they are too few to be one."""
    keys = {key for key, _ in head.fields}
    if len(keys) < len(head.fields) or (len(keys) == 1 and text.count("...", 0, head.end) > MOST_ELISIONS):
        return None
    if text.startswith(("| key: ", "| payload: ")):
        return Shape.RECORD
    if len(keys) + head.is_elided < 2 or not _may_follow(text, head):
        return None
    if "offset" in keys:
        return _shape_of_offset(keys, head.is_elided)
    if "firstOffset" in keys and "producerId" in keys:
        return Shape.TXNINDEX
    if "producerId" in keys and not keys.isdisjoint(_OF_SNAPSHOT):
        return Shape.SNAPSHOT
    return Shape.BATCH if not keys.isdisjoint(_OF_BATCH) else None


_OF_SNAPSHOT = {"currentTxnFirstOffset", "coordinatorEpoch", "offsetDelta", "cachedMetadata"}
_OF_BATCH = {"baseOffset", "lastOffset", "producerId", "producerEpoch"}
_OF_RECORD = {"keysize", "keySize", "valuesize", "valueSize", "headerKeys", "sequence", "endTxnMarker", "controlType"}


def _shape_of_offset(keys: set[str], is_elided: bool) -> Shape:
    """Shape of a line with an offset: records of all eras, whole messages of formats 0 and 1, entries of indexes."""
    if keys == {"offset", "position"} and not is_elided:
        return Shape.INDEX
    if keys == {"timestamp", "offset"} and not is_elided:
        return Shape.TIMEINDEX
    is_shallow = "compresscodec" in keys and keys.isdisjoint(_OF_RECORD) and "producerId" not in keys
    return Shape.BATCH if is_shallow else Shape.RECORD


def _may_follow(text: str, head: Head) -> bool:
    """Whether what stands behind the fields may: a record's content, a remark set off; anything after many fields."""
    rest = text[head.end : head.end + 200]
    if not rest or len(head.fields) >= ENOUGH_FIELDS or CONTENT.match(rest) or _REMARK.match(rest):
        return True
    return any(f"{key}:".startswith(rest.rstrip()) for key in FIELDS)


MOST_ELISIONS = 4
"""Signs of elision that one field may stand between."""
ENOUGH_FIELDS = 4
"""Fields after which a line is one of a dump, whatever stands behind them."""
_REMARK = re.compile(r"[^\w\s]")
