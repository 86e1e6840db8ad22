"""What the lines of Kafka's tools tell, known by a few literals and by the fields that a line names.

A dump line is a row of `key: value` fields. Eras differ in the fields and in their order, and people leave fields out
(`...`), so a line is known by the set of its fields, not by one pattern an era. Lines of the console tools are known by
the frame that their formatters put around a record.
Source    DumpLogSegments, ProducerStateManager, TransactionIndex; TransactionLogMessageFormatter,
          OffsetsMessageFormatter, DefaultMessageFormatter; TransactionsCommand (0.11 to 4.3).
"""

from __future__ import annotations

from enum import StrEnum

from kafkatx.terms.regex import regex
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.printed.dump_lines import FIELDS, DumpLine, FieldRow, row_of
from kafkatx.text.printed.elisions import ELIDED_FIELDS
from kafkatx.text.printed.eras import LineKind


class ToolLineKind(StrEnum):
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
    ADMIN = "heading of a table of transactional.ids"
    LISTED = "row of a list of transactional.ids"
    ANSWER = "answer of another tool"


_KEYS = "|".join(sorted(FIELDS))
CONTENT = regex(r"\s?(?:(?:key|payload):(?: |$)|(?:LeaderChange:|Snapshot(?:Head|Foot)er|KRaft(?:Version|Voters)) \{)")
"""Where the content of a record begins: what follows is anything that its writer liked."""
ANCHOR = regex(
    rf"(?:\| ?(?=offset: (?!\d+ position: )|{ELIDED_FIELDS} ))?(?:{ELIDED_FIELDS}\s+)?(?:{_KEYS}): "
    r"|\| (?:key|payload): |Dumping \S|(?:Log s|S)tarting offset: \d|Snapshot end offset: \d|KRaft bootstrap snapshot$"
)
"""How a line of the dump tool begins."""
_NOTE = regex(
    r"Found \d+ invalid bytes at the end of |Mismatches in :|Index offset: -?\d+, log offset: "
    r"|-?\d+ is followed by -?\d+$|Non-consecutive offsets in |Found (?:timestamp mismatch|out of order timestamp) in :"
    r"|Index timestamp: -?\d+, log timestamp: |Indexed offset: \d+, found log offset: |Ignoring unknown file "
    r"|The following indexed offsets are not found in the log|\S+ is empty\.$|\S+ passed sanity check\.$"
    r"|Unknown record type -?\d+ at offset \d+, skipping|Error at offset \d+, skipping\."
)
NAMELESS = (
    rf"(?:{ELIDED_FIELDS}\s{{0,9}})?(?:(?<!\A )payload:\s{{0,9}})?"
    r"(?=producerId:-?\d{1,19},producerEpoch:-?\d{1,5},state=\w"
    r'|\{"version":"?\d"?,"data":\{"producerId":-?\d|TransactionMetadata\(transactionalId=)'
)
"""How a value of `__transaction_state` begins whose key was cut away; behind one blank alone it is a record's title."""
_STATE = regex(
    rf"{NAMELESS}|"
    r"key: (?:(?:transaction_metadata::)?transactionalId=.{1,1000}?\s+payload:\s*(?:producerId:-?\d|<DELETE>)"
    r'|\{"(?:version|type)":"?\d+"?,"data":\{"transactionalId":.{1,1000}?\}\}? payload: )|'
    r'[^\s:]\S{0,300}?::TransactionMetadata\((?!.{0,1000}::TransactionMetadata\()|\{"key":\{"(?:version|type)":"?\d+"?,"data":\{"transactionalId":'
)
STATE_TEXT = regex(r"::TransactionMetadata\(transactionalId=(.{1,1000}?), producerId=")
"""What stands behind the id in a record of `__transaction_state`: the id again."""
_OFFSET = regex(
    r"\[[^\[\]]{3,800}\]::(?:\[OffsetMetadata\[|OffsetAndMetadata\(|NULL$)"
    r'|\{"key":\{"(?:version|type)":"?[01]"?,"data":\{"group":"'
)
_CONSUMED = regex(
    r"(?:(?:CreateTime|LogAppendTime):-?\d{1,19}|NO_TIMESTAMP|Partition:\d{1,10}|Offset:\d{1,19})(?=[^\w:]|$)"
)
_STATES = "|".join(state.name for state in TransactionState)
_LISTED = regex(
    rf"(?P<transactionalid>\S{{2,249}})[\t ]+(?P<coordinator>\d{{1,9}})[\t ]+(?P<producerid>\d{{1,18}})[\t ]+"
    rf"(?P<transactionstate>{_STATES})\s*$"
)
"""A row of `kafka-transactions.sh list`, without the heading above it."""
_PRODUCER = regex(
    r"(?P<producerid>\d{1,18})\s+(?P<producerepoch>\d{1,5})\s+(?P<latestcoordinatorepoch>-?\d{1,9})\s+"
    r"(?P<lastsequence>-?\d{1,10})\s+(?P<lasttimestamp>\d{13})\s+(?P<currenttransactionstartoffset>None|\d{1,18})\s*$"
)
"""A row of `kafka-transactions.sh describe-producers`, without the heading above it: sorted or grepped away."""
_SEP = r"(?:\s*[|,;]\s*|\s+)"
"""What parts the columns of a heading: blanks, tabs, bars of a table, the commas of a spreadsheet."""
_ADMIN = regex(
    rf"TransactionalId{_SEP}TransactionState[\s|]*$|TransactionalId{_SEP}Coordinator{_SEP}ProducerId{_SEP}TransactionState\b"
    rf"|CoordinatorId{_SEP}TransactionalId{_SEP}ProducerId{_SEP}|COORDINATOR{_SEP}TRANSACTIONAL-ID{_SEP}PRODUCER-ID{_SEP}"
    r"|BROKER {1,9}TRANSACTIONAL-ID {1,999}PRODUCER-ID {1,20}STATE"
    r"|TRANSACTIONAL-ID {1,999}STATE {1,20}PRODUCER-ID {1,20}"
)
_ANSWER = regex(
    rf"ProducerId{_SEP}ProducerEpoch{_SEP}LatestCoordinatorEpoch{_SEP}"
    rf"|LEADER{_SEP}TOPIC{_SEP}PARTITION{_SEP}PRODUCER-ID{_SEP}PRODUCER-EPOCH{_SEP}"
    rf"|Topic{_SEP}Partition{_SEP}ProducerId{_SEP}ProducerEpoch{_SEP}(?:CoordinatorEpoch|StartOffset){_SEP}"
    r"|TOPIC {1,999}PARTITION {1,9}ERROR {1,999}ID {1,20}EPOCH {1,9}LAST[- ]SEQUENCE "
    rf"|(?:GROUP{_SEP})?TOPIC{_SEP}PARTITION{_SEP}(?:CURRENT|COMMITTED)-OFFSET{_SEP}"
    r"|Topic:\s?\S+\s+(?:TopicId:\s?\S+\s+)?Partition"
    r"|% Reached end of topic \S+ \[\d{1,9}\] at offset \d|\S{1,249} \[\d{1,9}\] offset \d{1,19}$"
    r"|Found (?:partition \d{1,9} stuck at offset \d|causing producer ID and epoch \d|topic \S{1,249} stuck with tra)"
    r"|Processed a total of \d{1,18} messages|Failed to describe transaction state of transactional-id "
    r"|[\w.:{}\"=,() -]{0,300}(?i:Last_?Stable_?Offset_?Lag|Partitions_?With_?Late_?Transactions_?Count)(?![^\W_])"
    r"[\w.:{}\"=,() -]{0,300}[\s=][\d.]+(?:[eE][+-]?\d+)?\s*$"
    r"|#?mbean = kafka\.\S{1,400}:$|Value = [\d.]{1,20};$"
    r"|\d{1,18}\s+\d{1,5}\s+-?\d{1,9}\s+-?\d{1,10}\s+\d{13}\s+(?:None|\d{1,18})\s*$",
)
_FRAMES = (
    (_STATE, ToolLineKind.STATE),
    (_OFFSET, ToolLineKind.OFFSET),
    (_CONSUMED, ToolLineKind.CONSUMED),
    (_ADMIN, ToolLineKind.ADMIN),
    (_LISTED, ToolLineKind.LISTED),
    (_ANSWER, ToolLineKind.ANSWER),
)
FRAME = regex("|".join(f"(?:{pattern.pattern})" for pattern, _ in _FRAMES))
"""How a line of the console tools begins."""
BEGINNINGS = ("| offset: ", "baseOffset: ", "offset: ")
"""How a line of a batch or record begins; a line that does is never the rest of another."""
STATED = ("Dumping ", "Log starting ", "Starting ", "Snapshot end ", "KRaft bootstrap ")
"""How a line of the dump tool begins that tells of the whole file."""


def kind_of(text: str) -> ToolLineKind | None:
    """Tell what a line as a tool prints it tells; None for any other text."""
    if text.startswith(STATED) and ANCHOR.match(text):
        return ToolLineKind.DUMPING if text.startswith("Dumping ") else ToolLineKind.START
    if ANCHOR.match(text):
        return kind_of_row(text, row_of(text, begin_of_row(text)))
    if is_note(text):
        return ToolLineKind.NOTE
    if STATE_TEXT.search(text):
        return ToolLineKind.STATE
    return next((kind for pattern, kind in _FRAMES if pattern.match(text)), None)


def listed_cells(text: str) -> dict[str, str] | None:
    """Return the cells of a row of a list of transactional.ids that stands without its heading, None for another."""
    found = _LISTED.match(text.strip())
    return found.groupdict() if found else None


def producer_cells(text: str) -> dict[str, str] | None:
    """Return the cells of a row of a partition's producers that stands without its heading, None for another."""
    found = _PRODUCER.match(text.lstrip(" >"))
    return found.groupdict() if found else None


def is_note(text: str) -> bool:
    """Whether a line is a remark of the dump tool (indented ones without their blanks)."""
    return _NOTE.match(text) is not None


def begin_of_row(text: str) -> int:
    """Where the fields of a dump line begin: behind the bar of a record."""
    return 2 if text.startswith("| ") else 0


def kind_of_dump_line(line: DumpLine) -> ToolLineKind:
    """Tell what a line of a known shape tells; a message of formats 0 and 1 is a batch of its own."""
    return ToolLineKind.RECORD if line.kind in (LineKind.RECORD, LineKind.FLAT_RECORD) else ToolLineKind.BATCH


def kind_of_row(text: str, row: FieldRow) -> ToolLineKind | None:
    """Tell what a dump line tells whose fields were read; None where they are too few to be one."""
    keys = set(row.keys)
    if len(keys) < len(row.fields) or (len(keys) == 1 and text.count("...", 0, row.end) > MOST_ELISIONS):
        return None
    if text.startswith(("| key: ", "| payload: ")):
        return ToolLineKind.RECORD
    if len(keys) + row.is_elided < 2 or not _may_follow(text, row):
        return None
    return _kind_with_offset(keys, row.is_elided) if "offset" in keys else _kind_without_offset(keys)


def _kind_without_offset(keys: set[str]) -> ToolLineKind | None:
    """Kind of a line that names no single offset: batches, and entries that tell of a producer."""
    if {"firstOffset", "producerId"} <= keys:
        return ToolLineKind.TXNINDEX
    if "producerId" in keys and not keys.isdisjoint(_OF_SNAPSHOT):
        return ToolLineKind.SNAPSHOT
    return None if keys.isdisjoint(_OF_BATCH) else ToolLineKind.BATCH


_OF_SNAPSHOT = {"currentTxnFirstOffset", "coordinatorEpoch", "offsetDelta", "cachedMetadata"}
_OF_BATCH = {"baseOffset", "lastOffset", "producerId", "producerEpoch"}
_OF_RECORD = {"keysize", "keySize", "valuesize", "valueSize", "headerKeys", "sequence", "endTxnMarker", "controlType"}


def _kind_with_offset(keys: set[str], is_elided: bool) -> ToolLineKind:
    """Kind of a line with an offset: records of all eras, whole messages of formats 0 and 1, entries of indexes."""
    if keys == {"offset", "position"} and not is_elided:
        return ToolLineKind.INDEX
    if keys == {"timestamp", "offset"} and not is_elided:
        return ToolLineKind.TIMEINDEX
    is_shallow = "compresscodec" in keys and keys.isdisjoint(_OF_RECORD) and "producerId" not in keys
    return ToolLineKind.BATCH if is_shallow else ToolLineKind.RECORD


def _may_follow(text: str, row: FieldRow) -> bool:
    """Whether what stands behind the fields may: a record's content, a remark set off; anything after many fields."""
    rest = text[row.end : row.end + 200]
    if not rest or len(row.fields) >= ENOUGH_FIELDS or CONTENT.match(rest) or _REMARK.match(rest):
        return True
    return any(f"{key}:".startswith(rest.rstrip()) for key in FIELDS)


MOST_ELISIONS = 4
"""Signs of elision that one field may stand between."""
ENOUGH_FIELDS = 4
"""Fields after which a line is one of a dump, whatever stands behind them."""
_REMARK = regex(r"[^\w\s]")
