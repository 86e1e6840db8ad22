"""What is asked for: a table, some of its columns, topics, a time to begin at; checked before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kafkatx.spark.conditions import OF_NAMES, Condition, chosen
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.columns import LAST_MS, TIME, microseconds
from kafkatx.terms.errors import UsageError
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import EPOCH, parse_time

OF_ALL_FILES = ("transactions", "findings", "evidence", "not_checkable", "next", "captures")
"""Tables that no file has rows of: they follow from all of them together."""

TOPIC = "topic"
TOPIC_OF_A_ROW = ("log_events", "offset_commits", "cluster_events")
"""Tables whose rows each name a topic; elsewhere it is that of the file."""

TIMES = {
    "files": ("last_timestamp",),
    "batches": ("max_timestamp",),
    "records": ("timestamp",),
    "markers": ("timestamp",),
    "transaction_states": ("timestamp",),
    "transactions": ("started_at", "decided_at", "completed_at"),
    "producer_states": ("timestamp",),
    "offset_commits": ("timestamp",),
    "cluster_events": ("event_time",),
    "log_events": ("event_time",),
    "findings": ("valid_from", "valid_to"),
    "evidence": ("event_time",),
    "captures": ("evidence_end",),
}
"""The columns that tell when a row was; it counts as of the latest. Other tables have no time."""

DATE_DIGITS = 8


@dataclass(frozen=True, slots=True)
class Request:
    """A table, or a part of it.

    `columns` in the order asked for; `topics` None for all; `since` in milliseconds: rows that are older, or of which
    no time is known, are left out; `verify_all`: the CRC of every batch is checked; rows meet all `conditions`.
    """

    table: str
    columns: tuple[str, ...]
    topics: frozenset[str] | None = None
    since: int | None = None
    verify_all: bool = False
    conditions: tuple[Condition, ...] = ()

    @property
    def schema(self) -> Any:
        """The pyarrow.Schema of what is asked for."""
        whole = TABLES[self.table].schema
        return pa.schema([whole.field(name) for name in self.columns])

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that `since` looks at; none where it isn't asked for."""
        return TIMES[self.table] if self.since is not None else ()

    @property
    def begin(self) -> int:
        """`since` as the tables have it, in microseconds; what no calendar has lies before or behind all times."""
        found = microseconds(self.since)
        return found if found is not None else (1 << 63) - 1 if (self.since or 0) > 0 else 0

    @property
    def wanted(self) -> frozenset[str]:
        """The columns that rows must have to be chosen and shown."""
        of_row = (TOPIC,) if self._by_row else ()
        return frozenset({*self.columns, *self.times, *of_row, *(one.column for one in self.conditions)})

    def has_file(self, topic: str | None, partition: int | None) -> bool:
        """Whether rows of a file of this partition are asked for; they may have to be chosen one by one yet."""
        if self.table in TOPIC_OF_A_ROW:
            return True
        place = {TOPIC: topic, "partition": partition}
        may_be = all(one.may_be(place[one.column]) for one in self.conditions if one.column in place)
        return may_be and (self.topics is None or topic in self.topics)

    def where(self, conditions: Iterable[Condition]) -> Request:
        """Return the same with more conditions, which are tested row by row whatever a batch says of its records."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def chosen(self, batch: Any) -> Any:
        """Return the rows of a RecordBatch of the table that are asked for."""
        batch = chosen(batch, self.conditions)
        if self._by_row:
            batch = batch.filter(pc.is_in(batch.column(TOPIC), pa.array(sorted(self.topics or ()), pa.string())))
        if self.since is None:
            return batch
        begin = pa.scalar(self.begin, TIME)
        late: Any = None
        for name in self.times:
            more = pc.greater_equal(batch.column(name), begin)
            late = more if late is None else pc.or_kleene(late, more)
        return batch.filter(late)

    @property
    def _by_row(self) -> bool:
        return self.topics is not None and self.table in TOPIC_OF_A_ROW


def request(
    table: str,
    columns: Iterable[str] | None = None,
    topic: str | Iterable[str] | None = None,
    since: str | int | datetime | None = None,
    verify_all: bool = False,
    until: str | int | datetime | None = None,
    **names: Any,
) -> Request:
    """Check what is asked for; arguments as of `kafkatx.spark.read`. Raises UsageError where there is no such thing.

    `names` are values, or lists of them, by columns of OF_NAMES; those that are None choose nothing.
    """
    if table not in TABLES:
        raise UsageError(f"there is no table {table!r}; the tables are {', '.join(TABLES)}")
    if topic is not None and TOPIC not in TABLES[table].schema.names:
        raise UsageError(f"the rows of {table} are of no topic: leave topic out")
    for what, time in (("since", since), ("until", until)):
        if time is not None and table not in TIMES:
            raise UsageError(f"the rows of {table} have no time: leave {what} out")
    topics = None if topic is None else frozenset([topic] if isinstance(topic, str) else topic)
    begin = None if since is None else milliseconds(since)
    conditions = [_among(table, name, value) for name, value in names.items() if value is not None]
    if until is not None:
        conditions.append(Condition(TIMES[table][0], "<", (_microseconds(milliseconds(until, "until")),)))
    return Request(table, _columns(table, columns), topics, begin, verify_all, tuple(conditions))


def _among(table: str, name: str, value: Any) -> Condition:
    """A column of OF_NAMES has one of some values; raises UsageError where it is not there, or can't have them."""
    schema = TABLES[table].schema
    if name not in OF_NAMES or name not in schema.names:
        raise UsageError(f"the rows of {table} have no {name}: leave it out")
    values = [value] if isinstance(value, str | int) else list(value)
    try:
        kept = pa.array([int(one) for one in values] if pa.types.is_integer(schema.field(name).type) else values)
        return Condition(name, "in", tuple(kept.cast(schema.field(name).type).to_pylist()))
    except (ValueError, TypeError, pa.ArrowInvalid, OverflowError):
        raise UsageError(f"{name} {value!r} is none: write one, or a list") from None


def _microseconds(time: int) -> int:
    """A time of any size as a column may be held against it."""
    return min(max(time, 0), LAST_MS + 1) * 1000


def milliseconds(time: str | int | datetime, name: str = "since") -> int:
    """Milliseconds of a time: of a number they are it, ISO 8601 is UTC unless it has a zone; raises UsageError."""
    if isinstance(time, datetime):
        return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)
    if isinstance(time, int) or (time.isdecimal() and len(time) != DATE_DIGITS):
        return int(time)
    try:
        return parse_time(time)
    except ValueError:
        raise UsageError(f"{name} {time!r} is no time: write it like 2026-11-21T10:29:00Z") from None


def _columns(table: str, columns: Iterable[str] | None) -> tuple[str, ...]:
    known = TABLES[table].schema.names
    if columns is None:
        return tuple(known)
    asked = tuple(dict.fromkeys([columns] if isinstance(columns, str) else columns))
    unknown = [name for name in asked if name not in known]
    if unknown or not asked:
        what = f"no column {', '.join(map(repr, unknown))}" if unknown else "columns, and none is named"
        raise UsageError(f"{table} has {what}; its columns are {', '.join(known)}")
    return asked
