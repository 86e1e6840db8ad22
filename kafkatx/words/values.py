"""The values that sentences are made of: each prints itself as a reader wants it, and as JSON as a program wants it.

A template says `{fenced_at}` or `{count:open transaction}`; what that looks like is decided here, once for all rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.times import clock, duration, iso
from kafkatx.words.explained import Actor, Considered, EvidenceRef, Remedy, Step

Kind = TypeVar("Kind")
Value = TypeVar("Value")
MOST_RANGES = 4
"""Ranges of offsets that one sentence names."""
MOST_QUOTED = 160
"""Characters of a line's own words that one sentence quotes."""

EXPLAINED: set[Any] = {EvidenceRef, Actor, Step, Considered, Remedy, Any}
"""What a field is made of that stands in the explanation already, and is no value; parts with words add themselves."""
Refs = tuple[EvidenceRef, ...]
"""Places that a fact rests on: a field of this type is cited by steps, and is no value of its own."""


@dataclass_transform(frozen_default=True)
def facts(kind: type[Kind]) -> type[Kind]:
    """Make a class of facts: a frozen dataclass with slots. It is told, never compared, which halves what it costs."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)


class Count(int):
    """How many: `{n}` is `1,204`, `{n:plain}` `1204`, `{n:record}` `2 records`, `{n:was|were}` the word that fits."""

    def __format__(self, spec: str) -> str:
        if spec == "plain":
            return str(int(self))
        if "|" in spec:
            one, many = spec.split("|")
            return one if self == 1 else many
        return f"{int(self):,} {spec}{'' if self == 1 else 's'}" if spec else f"{int(self):,}"


class AtLeast(Count):
    """How many there are at the least, since lines were left out: `{n:time}` is `at least 4 times`."""

    def __format__(self, spec: str) -> str:
        said = super().__format__(spec)
        return said if spec == "plain" or "|" in spec else f"at least {said}"


class Instant(int):
    """A time in milliseconds UTC; `{at}` prints the time of day, since dates are clear from the finding's own."""

    def __format__(self, spec: str) -> str:
        return clock(int(self))


class Duration(int):
    """Milliseconds; `{took}` prints `4 min 10 s`, `{took:ms}` the bare number."""

    def __format__(self, spec: str) -> str:
        return str(int(self)) if spec == "ms" else duration(int(self))


class Share(int):
    """Per cent of something."""

    def __format__(self, spec: str) -> str:
        return f"{int(self)} %"


_NAME = regex(r"(?:__)?[^\W_](?:[^\s\"'`,;()\[\]{}]*[^\W_])?")
_WORDS = frozenset(
    {
        "all", "and", "any", "client", "consumer", "group", "none", "not", "null", "of", "on", "or", "other",
        "partition", "producer", "some", "that", "the", "this", "to", "topic", "transaction", "transactional",
        "transactions", "undefined", "unknown", "was", "with",
    }
)  # fmt: skip


def as_name(text: str) -> str:
    """A name as sentences print it: between quotation marks where it reads like a word, or like a part of one."""
    is_plain = _NAME.fullmatch(text) is not None and text.casefold() not in _WORDS
    return text if is_plain else f'"{text}"'


NO_ID = "producer id not readable"
"""What stands for a producer id that a text lacks: -1 is a value of Kafka's, and means something else."""


@dataclass(frozen=True, slots=True)
class Producer:
    """A producer id at an epoch: `producer id 4001 epoch 3`, the epoch where it is known."""

    id: int
    epoch: int | None

    def __format__(self, spec: str) -> str:
        name = f"producer id {self.id}" if self.id >= 0 else NO_ID
        return name + (f" epoch {self.epoch}" if self.epoch is not None else "")


def producer_name(transactional_id: str | None, producer_id: int) -> str:
    """Return a producer's id, else its number."""
    return as_name(transactional_id) if transactional_id is not None else f"producer id {producer_id}"


@dataclass(frozen=True, slots=True)
class TopicPartition:
    """`orders-0`; of a text that doesn't say which `an unnamed partition`."""

    topic: str
    partition: int

    def __format__(self, spec: str) -> str:
        return as_name(f"{self.topic}-{self.partition}") if self.partition >= 0 else "an unnamed partition"


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """Partitions of one topic: `orders-0`, `orders-0, -1 and -3`; above four of them how many."""

    topic: str
    partitions: tuple[int, ...]

    def __format__(self, spec: str) -> str:
        if len(self.partitions) > MOST_RANGES:
            return f"{len(self.partitions)} partitions of {as_name(self.topic)}"
        first, *others = self.partitions
        joined = [as_name(f"{self.topic}-{first}"), *(f"-{other}" for other in others)]
        return " and ".join(filter(None, (", ".join(joined[:-1]), joined[-1])))


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """Offsets of one partition: `orders-0 @ 118..121`; `{range:offsets}` prints `118..121`."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    records: Count

    def __format__(self, spec: str) -> str:
        one = self.first_offset == self.last_offset
        offsets = str(self.first_offset) if one else f"{self.first_offset}..{self.last_offset}"
        if spec == "offsets":
            return offsets
        return f"{self.place} @ {offsets}" if self.partition >= 0 else f"{'offset' if one else 'offsets'} {offsets}"

    @property
    def place(self) -> TopicPartition:
        """The partition alone."""
        return TopicPartition(self.topic, self.partition)


class Data(tuple[OffsetRange, ...]):
    """Where data lie: `orders-0 @ 118..121 and payments-1 @ 3`, at most four ranges of them."""

    __slots__ = ()

    @property
    def records(self) -> Count:
        """Records of all ranges."""
        return Count(sum(one.records for one in self))

    def __format__(self, spec: str) -> str:
        if not self:
            return "nothing that is at hand"
        more = f" and {len(self) - MOST_RANGES} more" if len(self) > MOST_RANGES else ""
        return " and ".join(format(one, "") for one in self[:MOST_RANGES]) + more


class NameList(tuple[str, ...]):
    """Names in a row: `{names}` prints `a, b, c`; `{names:3}` at most three of them and how many more there are."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        most = int(spec) if spec else len(self)
        more = f" and {len(self) - most} more" if len(self) > most else ""
        return ", ".join(self[:most]) + more


class JoinedValues(tuple[Value, ...]):
    """Values in a row, joined by what stands behind the colon: `{names: and }` is `a and b`; else by a comma."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return (spec or ", ").join(format(one, "") for one in self)


class Quoted(str):
    """Words of a log between quotation marks, cut where they are long: `{said:90}` at 90 characters."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        text, most = str(self), int(spec) if spec else MOST_QUOTED
        return f'"{text}"' if len(text) <= most else f'"{text[: most - 3]}..."'


@dataclass(frozen=True, slots=True)
class ClientName:
    """A client as sentences call it: by its transactional.id, else by its client.id.

    What lines of one name tell is counted together. Lines that name nobody belong together where one client instance
    wrote them: `instance` is its number there, None elsewhere. `{who:The}` begins a sentence.
    """

    transactional_id: str | None
    client_id: str | None
    instance: int | None = None

    def __format__(self, spec: str) -> str:
        if self.transactional_id is not None:
            said = f"the producer of {as_name(self.transactional_id)}"
        else:
            said = (
                f"the client {as_name(self.client_id)}"
                if self.client_id is not None
                else "a client not named in the log"
            )
        return said[0].upper() + said[1:] if spec == "The" else said


@dataclass(frozen=True, slots=True)
class ShownError:
    """What an application was shown: `commitTransaction threw ProducerFencedException`, of a wrapped one its cause.

    `{shown:exception}` is the exception alone.
    """

    call: str | None
    exception: str
    outer: str

    def __format__(self, spec: str) -> str:
        cause, outer = bare(self.exception), bare(self.outer)
        what = cause if not outer or outer == cause else f"{outer} because of {cause}"
        return what if spec == "exception" else f"{self.call or 'the client'} threw {what}"


def bare(exception: str) -> str:
    """Class name without its package."""
    return exception.rpartition(".")[2]


def as_json(facts: object) -> dict[str, Any]:
    """Return facts as plain data: times as ISO 8601, durations as `<name>_ms`, without places and worded parts."""
    found: dict[str, Any] = {}
    for name, is_duration in told_fields(type(facts)):  # type: ignore[arg-type]
        found[f"{name}_ms" if is_duration else name] = _plain(getattr(facts, name))
    return found


@cache
def told_fields(kind: type[Any]) -> tuple[tuple[str, bool], ...]:
    """Fields of a class of facts that are values, and whether they are durations.

    Places, and parts with words of their own, stand in the explanation already.
    """
    hints = get_type_hints(kind)
    told = [(field.name, _leaves(hints[field.name])) for field in fields(kind)]
    return tuple((name, Duration in leaves) for name, leaves in told if not leaves & EXPLAINED)


def _leaves(hint: Any) -> set[Any]:
    """The classes that a type is made of."""
    inner = [_leaves(one) for one in get_args(hint) if one is not Ellipsis]
    return set().union({get_origin(hint) or hint}, *inner)


def _plain(value: Any) -> Any:
    if isinstance(value, Instant):
        return iso(value)
    if isinstance(value, Enum):
        return value.name
    if is_dataclass(value):
        return as_json(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list, frozenset, set)):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value
