"""Table of what logs tell: a line (with the lines that belong to it) that matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkatx.tables.columns import (
    INT32,
    INT64,
    PLACED,
    STRING,
    TIME,
    Column,
    Example,
    Identity,
    SortOrder,
    Table,
    named,
    names,
)
from kafkatx.terms.events import EventKind, Level, Side

LOG_EVENTS = Table(
    "log_events",
    "a line of a log that matters, with the stack trace under it",
    (
        *PLACED,
        Column("line", INT64, "number of the line, from 1"),
        Column("event_time", TIME, "its printed time", null="none is printed", field="at"),
        Column("clock", STRING, "whose clock wrote the time, and in which zone"),
        Column("side", STRING, "client or broker", null="the log does not say"),
        Column("level", STRING, "trace, debug, info, warn, error", null="none is printed"),
        Column("kind", STRING, "what it tells"),
        Column("client_id", STRING, "client.id"),
        Column("transactional_id", STRING, "transactional.id"),
        Column("group_id", STRING, "group.id"),
        Column("thread", STRING, "thread that wrote it"),
        Column("logger", STRING, "logger, as printed"),
        Column("exception", STRING, "class of the root cause", null="no exception"),
        Column("error_code", STRING, "error of the protocol, or class, that the line names"),
        Column("api", STRING, "request or client method"),
        Column("correlation_id", INT32, "correlation id of the request"),
        Column("node", INT32, "broker that it speaks of"),
        Column("topic", STRING, "topic"),
        Column("partition", INT32, "partition"),
        Column("record_offset", INT64, "offset, or the second number of the line", field="offset"),
        Column("producer_id", INT64, "producer id"),
        Column("producer_epoch", INT32, "producer epoch"),
        Column("detail", STRING, "what else the line says"),
        Column("text", STRING, "the line, cut at 4 KiB"),
        Column(
            "occurrence",
            INT32,
            "how many equal lines of that time stand above it in the file: what tells a line said twice from a copy",
            null="no time is printed",
        ),
    ),
    SortOrder(
        ("event_time", "capture", "path", "position"),
        "most questions are about a time",
    ),
    Example(
        "What did all logs say around a moment?",
        """\
SELECT l.event_time, l.side, l.kind, l.transactional_id, l.exception, l.path, l.line
FROM log_events l
WHERE l.event_time BETWEEN '2026-11-21T10:29:01Z' AND '2026-11-21T10:29:02Z'
ORDER BY l.event_time""",
    ),
    Identity(("event_time", "capture", "client_id", "thread", "text", "occurrence"), copies=True, day=("event_time",)),
)


def log_events(
    rows: Any, strings: Sequence[str], roots: Sequence[str | None], text: Any, common: Mapping[str, Any]
) -> Any:
    """A RecordBatch of `log_events` from rows of dtype EVENT.

    `strings` and `roots` (class of each trace's root cause) are what the rows' codes point to; `text` are the lines.
    """
    words = {
        column: named(rows[f"{code}_code"], strings.__getitem__)
        for column, code in (
            ("client_id", "client_id"), ("transactional_id", "transactional_id"), ("group_id", "group"),
            ("thread", "thread"), ("logger", "logger"), ("error_code", "error"), ("api", "api"), ("topic", "topic"),
            ("detail", "detail"),
        )
    }  # fmt: skip
    kinds = [EventKind(code).name if code in EventKind._value2member_map_ else None for code in range(128)]
    return LOG_EVENTS.of_arrays(
        [rows],
        {
            **common,
            **words,
            "side": names(rows["side"], [side.name for side in Side if side >= 0]),
            "level": names(rows["level"], [level.name for level in Level if level >= 0]),
            "kind": names(rows["kind"], kinds),
            "exception": named(rows["trace_code"], roots.__getitem__),
            "text": text,
        },
    )
