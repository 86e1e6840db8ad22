"""Output of kafka-console-consumer through Kafka's own formatters: transaction states and offset commits.

Shapes  `ID::TransactionMetadata(...)` and `ID::NULL` (0.11 to 3.9); `key: transactionalId=... payload: ...` of the
        dump tool whose first columns were cut away; JSON objects back to back, without an end of line
        between (3.9+); values of the dump tool alone, whose keys were cut away;
        `[group,topic,partition]::OffsetAndMetadata(...)`, `::[OffsetMetadata[N,META],CommitTime T,...]`
        (to 2.0).
Keys    a value without its key has the id that the command above asks for (`grep ID`), else one of its producer's.
Limits  formatters print no offset and no time of a record: what they print is in order for each id, and no more.
Source  TransactionLog.scala, GroupMetadataManager.scala, TransactionLogMessageFormatter, OffsetsMessageFormatter
        (Kafka 0.11 to 4.3).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.dump.offsets import OffsetCommit, with_value
from kafkatx.text.dump.printed_sets import Unreadable, partitions_of
from kafkatx.text.dump.rows import STATE_COLUMNS
from kafkatx.text.dump.starts import PrintedState
from kafkatx.text.dump.states import state_of, state_of_message
from kafkatx.text.lines import Line, lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.line_kinds import NAMELESS
from kafkatx.text.printed.tool_lines import cleaned

BLOCK = 1 << 18
LONGEST_OBJECT = 4 << 20
"""Bytes of one JSON object that are held; what is longer is none."""
_KEY = "key: "
_METADATA = "::TransactionMetadata(transactionalId="
_FIELDS = {
    "producer_id": regex(r", producerId=?(-?\d{1,19})"),
    "producer_epoch": regex(r", producerEpoch=(-?\d{1,5})"),
    "timeout_ms": regex(r", txnTimeoutMs=(-?\d{1,10})"),
    "started_at": regex(r", txnStartTimestamp=(-?\d{1,19})"),
    "updated_at": regex(r", txnLastUpdateTimestamp=(-?\d{1,19})"),
}
_STATE = regex(r", state=(\w+)")
_PARTITIONS = regex(r", (?:topicP|p)artitions=((?:\w*Set)?[(\[].*?[)\]])(?=, txn|\)$)", re.DOTALL)
_BEGIN = regex(r'\{\s{0,9}"key"\s{0,9}:\s{0,9}\{')
_JSON = json.JSONDecoder()
_KNOWN = frozenset({"id_code", "is_tombstone", "state", "partitions_code", *_FIELDS})


def printed_states(file: OpenFile, part: TextPart) -> Iterator[tuple[PrintedState, int, int]]:
    """Yield the states of both formatters in the order in which they stand, with line and position."""
    asked_for = _name_asked_for(part.command or "")
    for line in cleaned(_lines(file, part), _is_old_state):
        state = old_state_of(line.text) or nameless_state(line.text, asked_for)
        if state is not None:
            yield state, line.number, line.position
    for data, number, position in json_objects(file, part):
        state = _json_state(data)
        if state is not None:
            yield state, number, position


def _is_old_state(text: str) -> bool:
    if "\\" in text:  # perhaps escaped
        return False
    if _NAMELESS.match(text):
        return True
    if _METADATA in text:
        return _split_id(text)[0] is not None and text.endswith(")")
    if text.startswith(_KEY):
        return True
    return text.endswith("::NULL") or not text.strip()


def old_state_of(text: str) -> PrintedState | None:
    """Return what a line of the old formatter says; None for any other line."""
    if text.startswith(_KEY):
        return _cut_record(text)
    if _NAMELESS.match(text):
        return None
    if text.endswith("::NULL") and not text.startswith("["):
        return PrintedState(text.removesuffix("::NULL"), _KNOWN, is_tombstone=True)
    transactional_id, rest = _split_id(text)
    name, listed = _STATE.search(rest), _PARTITIONS.search(rest)
    if transactional_id is None or name is None or name[1] not in TransactionState.__members__:
        return None
    state = TransactionState[name[1]]
    try:
        partitions = partitions_of(listed[1]) if listed else None
    except Unreadable:
        return None
    numbers = {column: int(found[1]) for column, pattern in _FIELDS.items() if (found := pattern.search(rest))}
    known = (_KNOWN - {"partitions_code", *_FIELDS}) | numbers.keys() | ({"partitions_code"} if listed else set())
    return PrintedState(
        transactional_id,
        known,
        state=int(state),
        partitions=None if state is TransactionState.Empty else partitions,
        producer_id=numbers.get("producer_id", -1),
        producer_epoch=numbers.get("producer_epoch", -1),
        timeout_ms=numbers.get("timeout_ms", -1),
        started_at=numbers.get("started_at", -1),
        updated_at=numbers.get("updated_at", -1),
    )


def nameless_state(text: str, name: str | None) -> PrintedState | None:
    """Return what a value says whose key was cut away, of the id `name` or of its producer's; None for another line."""
    begin = _NAMELESS.match(text)
    value = text[begin.end() :] if begin else ""
    if value.startswith(_TITLE):
        return old_state_of(f"{value[len(_TITLE) :].partition(', producerId=')[0]}::{value}")
    producer = _PRODUCER.match(value)
    if producer is None:
        return None
    name = name or f"id of producer {producer[1]}"
    if value.startswith("{"):
        return _json_state({"key": {"data": {"transactionalId": name}}, "value": _object(value)})
    return _cut_record(f"{_KEY}transactionalId={name} payload: {value}")


def _name_asked_for(command: str) -> str | None:
    """The id that the lines of an answer were chosen by."""
    found = _GREPPED.search(command)
    return found[1] if found and found[1] not in TransactionState.__members__ else None


_TITLE = "TransactionMetadata(transactionalId="
_NAMELESS = regex(NAMELESS)
_PRODUCER = regex(r'(?:producerId:|\{"version":"?\d"?,"data":\{"producerId":)(-?\d{1,19}),')
_GREPPED = regex(r"\bgrep\s+(?:-\w+\s+)*[\'\"]?(\w[\w.-]{2,248})[\'\"]?(?=\s|$)")


def _cut_record(text: str) -> PrintedState | None:
    """Key and value of a dumped record without the columns before them."""
    for way in dict.fromkeys((text, _ESCAPED_SIGN.sub(r"\1", text))):
        try:
            return state_of(f" {way}", -2)
        except Unreadable:
            continue
    return None


def _split_id(text: str) -> tuple[str | None, str]:
    """The id and what follows it: it stands twice, before and behind the title, whatever characters it has."""
    at = text.find(_METADATA)
    while at >= 0:
        transactional_id, behind = text[:at], text[at + len(_METADATA) :]
        if behind.startswith(f"{transactional_id}, "):
            return transactional_id, behind[len(transactional_id) :]
        at = text.find(_METADATA, at + 1)
    return None, ""


def _json_state(data: dict[str, Any]) -> PrintedState | None:
    """Return the state that an object of the newer formatter holds, None for an object of another kind."""
    try:
        key, value = data["key"], data["value"]
        transactional_id = key["data"]["transactionalId"]
        if not isinstance(transactional_id, str):
            return None
        if value is None or value["data"] is None:
            return PrintedState(transactional_id, frozenset(STATE_COLUMNS), is_tombstone=True)
        return state_of_message(transactional_id, value)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def json_objects(file: OpenFile, part: TextPart) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield objects that begin with a key, with line and position; ends of lines in them come from wrapping."""
    held = _Held(part.line, part.position)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for at in range(part.position, part.end, BLOCK):
        is_last = at + BLOCK >= part.end
        held.text += decoder.decode(file.read(at, min(BLOCK, part.end - at)), is_last)
        begins = [found.start() for found in _BEGIN.finditer(held.text)]
        for begin, end in pairwise([*begins, len(held.text)]):
            if end == len(held.text) and not is_last and end - begin < LONGEST_OBJECT:
                break
            held.pass_over(begin)
            data = _object(held.text[begin:end])
            if data is not None:
                yield data, held.line, held.position
            held.pass_over(end)
        if not begins:
            held.pass_over(len(held.text) - LONGEST_TITLE)
        held.drop()


LONGEST_TITLE = 64
"""Characters that the beginning of an object may have, blanks included."""


@dataclass(slots=True)
class _Held:
    """Text that was read and not dropped yet; `line` and `position` are those of its character `at`."""

    line: int
    position: int
    text: str = ""
    at: int = 0

    def pass_over(self, end: int) -> None:
        """Go on to a character."""
        if end > self.at:
            self.line += self.text.count("\n", self.at, end)
            self.position += len(self.text[self.at : end].encode("utf-8", "surrogateescape"))
            self.at = end

    def drop(self) -> None:
        """Forget what was passed over."""
        self.text, self.at = self.text[self.at :], 0


def _object(text: str) -> dict[str, Any] | None:
    whole = text.replace("\n", "").replace("\r", "").encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    for way in dict.fromkeys((whole, _ESCAPED_SIGN.sub(r"\1", whole))):
        try:
            data, _ = _JSON.raw_decode(way)
        except (ValueError, RecursionError):
            continue
        return data if isinstance(data, dict) else None
    return None


_ESCAPED_SIGN = regex(r"\\([\[\]{}_])")
"""What Markdown escapes, and JSON never does."""


def _lines(file: OpenFile, part: TextPart) -> Iterator[Line]:
    return lines(file, part.position, part.end, part.line)


_OFFSETS = regex(
    r"\[(.*),([^,\]]{1,249}),(\d{1,10})\]::(?:NULL|OffsetAndMetadata\((.*)\)|\[OffsetMetadata\[(-?\d{1,19}),(.*?)\],"
    r"CommitTime (-?\d{1,19}),ExpirationTime (-?\d{1,19})\])\s*$",
    re.DOTALL,
)
_OFFSET = regex(r"offset=(-?\d{1,19})")
_LEADER_EPOCH = regex(r"leaderEpoch=Optional\[(-?\d{1,10})\]")
_OFFSET_METADATA = regex(r", metadata=(.*?)(?=, commitTimestamp=)", re.DOTALL)
_COMMITTED_AT = regex(r", commitTimestamp=(-?\d{1,19})")
NO_METADATA = "NO_METADATA"


def offset_commits(file: OpenFile, part: TextPart) -> Iterator[OffsetCommit]:
    """Yield the commits that a formatter of `__consumer_offsets` printed; offset and time of the record are -1."""
    for line in cleaned(_lines(file, part), _OFFSETS.match):
        found = _OFFSETS.match(line.text)
        if found is not None:
            yield _commit(found, line)
    for data, line_number, position in json_objects(file, part):
        commit = _json_commit(data, line_number, position)
        if commit is not None:
            yield commit


def _commit(found: re.Match[str], line: Line) -> OffsetCommit:
    names = found[1], found[2], int(found[3]), -1, -1, line.number, line.position
    if found[5] is not None:
        metadata = "" if found[6] == NO_METADATA else found[6]
        return OffsetCommit(*names, committed_offset=int(found[5]), metadata=metadata, committed_at=int(found[7]))
    offset = _OFFSET.match(found[4] or "")
    if offset is None:
        return OffsetCommit(*names, is_tombstone=True)
    epoch, metadata_said = _LEADER_EPOCH.search(found[4]), _OFFSET_METADATA.search(found[4])
    committed_at = _COMMITTED_AT.search(found[4])
    return OffsetCommit(
        *names,
        committed_offset=int(offset[1]),
        metadata=metadata_said[1] if metadata_said else None,
        leader_epoch=int(epoch[1]) if epoch else None,
        committed_at=int(committed_at[1]) if committed_at else None,
    )


def _json_commit(data: dict[str, Any], line: int, position: int) -> OffsetCommit | None:
    try:
        key, value = data["key"]["data"], data["value"]
        names = str(key["group"]), str(key["topic"]), int(key["partition"]), -1, -1, line, position
        removed = OffsetCommit(*names, is_tombstone=True)
        return removed if value is None or value["data"] is None else with_value(removed, value["data"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
