"""Tables about files: those that were met, and bytes in them that are no legal batch or entry."""

from __future__ import annotations

from kafkatx.tables.columns import (
    COMMON,
    INT32,
    INT64,
    PARTITION,
    PLACED,
    STRING,
    TIME,
    Column,
    Example,
    Identity,
    SortOrder,
    Table,
)

FILES = Table(
    "files",
    "a file that was met",
    (
        *COMMON,
        Column("kind", STRING, "what it was taken for"),
        Column("topic", STRING, "topic", null="of no partition"),
        Column("partition", INT32, "partition", null="of no partition"),
        Column("base_offset", INT64, "offset in its name", null="its name has none"),
        Column("bytes", INT64, "its size", "bytes"),
        Column(
            "accounted_bytes",
            INT64,
            "bytes that are batches, preallocated zeros, or rows of `damage`",
            "bytes",
            null="no log segment",
        ),
        Column("status", STRING, "read, torn, damaged, empty, left out, unreadable, noted"),
        Column("first_offset", INT64, "first offset in it", null="no batch"),
        Column("last_offset", INT64, "last offset in it", null="no batch"),
        Column("first_timestamp", TIME, "time of its first batch", null="no batch, or no time"),
        Column("last_timestamp", TIME, "newest time in it", null="no batch, or no time"),
        Column("note", STRING, "why it was left out, or what is wrong with it", null="nothing to say"),
    ),
    SortOrder(
        ("topic", "partition", "capture", "base_offset", "path"),
        "most questions are about one partition",
    ),
    Example(
        "Which files are there of a partition, and are they whole?",
        """\
SELECT f.path, f.status, f.first_offset, f.last_offset, f.note
FROM files f
WHERE f.topic = 'payments' AND f.partition = 0
ORDER BY f.path""",
    ),
    Identity(("capture", "broker_id", "topic", "partition", "base_offset", "path"), day=("last_timestamp",)),
)

DAMAGE = Table(
    "damage",
    "bytes that are no legal batch or entry",
    (
        *PLACED,
        *PARTITION,
        Column("kind", STRING, "crc, header, torn, hidden, entry, diverged, unreadable"),
        Column("bytes", INT64, "how many", "bytes"),
        Column("expected", STRING, "what was expected there"),
        Column("found", STRING, "what was found"),
    ),
    SortOrder(
        ("topic", "partition", "capture", "broker_id", "path", "position", "kind"),
        "most questions are about one partition",
    ),
    Example(
        "What was lost of each partition?",
        """\
SELECT d.topic, d.partition, d.kind, count(*) AS places, sum(d.bytes) AS bytes
FROM damage d
GROUP BY d.topic, d.partition, d.kind
ORDER BY d.topic, d.partition, d.kind""",
    ),
    Identity(("topic", "partition", "capture", "broker_id", "path", "position", "kind")),
)
