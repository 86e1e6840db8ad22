"""Last stable offsets beside high watermarks, as consumers, statistics and tools of one's own print them.

Shape   both offsets in one line, each behind its name (`LSO = 310, high watermark = 2044`, `endOffsets(read_committed)
        =88 endOffsets(read_uncommitted)=97`), or objects of librdkafka's statistics (`"hi_offset":9,"ls_offset":7`),
        several in a line or spread over lines. A third one may tell where a reader stands.
Limits  lines of a log are left to its reader; the partition is named beside the offsets, or not at all.
Source  Partition.lastStableOffset and highWatermark (Kafka); KafkaConsumer.endOffsets by isolation level; STATISTICS.md
        of librdkafka.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.terms.events import LEVELS_OF_KAFKA
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

_BY_READER = r"(?:\bend[_ ]?offsets?\b\W{{0,3}}{0}\b\)?|\b{0}\b\W{{0,3}}end(?:[_ ]?offsets?)?\b)"
"""An end as a reader of one isolation level is told it: the two words in either order."""
_STABLE = rf"(?:\bLSO\b|\bls_offset\b|\blast[ _-]?stable(?:[ _-]?offset)?\b|{_BY_READER.format('read_committed')})"
_END = (
    r"(?:\bHWM?\b|\bhi_offset\b|\bhigh[ _-]?water[ _-]?mark\b|\bLEO\b|\blog[ _-]?end(?:[ _-]?offset)?\b"
    rf"|{_BY_READER.format('read_uncommitted')}|(?<=, )read_uncommitted\b)"
)
_POSITION = r"(?:\bposition\b|\bapp_offset\b|\bstored_offset\b|\bcommitted(?:[ _-]?offset)?\b|\bcurrent[ _-]?offset\b)"
_VALUE = r"[`\"'*]{0,3}\s{0,4}(?:[:=]|\bis\b|\bat\b)?\s{0,4}(?:\{[\w.-]{1,260}=)?[`\"'*]{0,3}(\d{1,18})\b"
_STABLE_AT, _END_AT, _POSITION_AT = (regex(name + _VALUE, re.IGNORECASE) for name in (_STABLE, _END, _POSITION))
_LOGGED = regex(rf"\b(?:{LEVELS_OF_KAFKA})\b|^%\d\||PartitionData\(|MessageSet size")
_OBJECT = regex(r"\{[^{}]{0,8000}\"ls_offset\"[^{}]{0,8000}\}")
_OF_OBJECT = regex(r"\"partition\"\s*:\s*(\d{1,9})")
_TOPICS = regex(r"\"topic\"\s*:\s*\"([\w.-]{1,249})\"|\"([\w.-]{1,249})\"\s*:\s*\{\s*\"partitions\"\s*:")
_PLACE = regex(
    r"(?<![\w.-])(?P<topic>[A-Za-z0-9_][\w.-]{0,247}?)(?:-|\s?\[{1,2})(?P<partition>\d{1,6})(?:\]{1,2}|(?![\w.-]))"
)
_NAMED = regex(r"\btopic\W{1,3}(?P<topic>[\w.-]{1,249})\W{1,3}partition\W{1,3}(?P<partition>\d{1,6})", re.IGNORECASE)

_FIELD = regex(r"\W*(?P<name>(?:hi|ls|lo|app|next|stored|eof|committ?ed)_offset)\"?\s*:\s*(?P<value>-?\d{1,18})\W*$")
"""A line of statistics that were printed over many lines."""


@dataclass(frozen=True, slots=True)
class StableOffset:
    """The last stable offset of a partition (None, -1: not named) and its end.

    `is_read_up_to`: a reader stands there.
    """

    topic: str | None
    partition: int
    offset: int
    end: int
    is_read_up_to: bool


def offset_field(text: str) -> tuple[str, str] | None:
    """Return name and value where a line is one field of statistics, as `hi_offset` is."""
    found = _FIELD.match(text)
    return (found["name"], found["value"]) if found else None


def is_of_statistics(text: str) -> bool:
    """Whether a line is a field that statistics of librdkafka have and nothing else."""
    field = offset_field(text)
    return field is not None and not field[0].startswith("commit")


def tells_stable_offset(text: str) -> bool:
    """Whether a line tells a last stable offset and an end of the log, and is no line of a log."""
    return (
        len(text) < 1 << 18
        and _STABLE_AT.search(text) is not None
        and _END_AT.search(text) is not None
        and _LOGGED.search(text) is None
    )


def stable_offsets(text: str) -> Iterator[StableOffset]:
    """Yield what a line tells of partitions, in order."""
    objects = [*_OBJECT.finditer(text)]
    for one in objects:
        named = [found[1] or found[2] for found in _TOPICS.finditer(text, 0, one.start())]
        number = _OF_OBJECT.search(one[0])
        yield from _told(one[0], named[-1] if named else None, int(number[1]) if number else -1)
    if not objects:
        place = _NAMED.search(text) or _PLACE.search(text)
        yield from _told(text, place["topic"] if place else None, int(place["partition"]) if place else -1)


def _told(text: str, topic: str | None, partition: int) -> Iterator[StableOffset]:
    stable, end = _STABLE_AT.search(text), _END_AT.search(text)
    if stable and end:
        positions = {int(found[1]) for found in _POSITION_AT.finditer(text)}
        offset = int(stable[1])
        yield StableOffset(topic, partition, offset, int(end[1]), offset in positions)
