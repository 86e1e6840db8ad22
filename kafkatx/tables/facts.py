"""Table of facts: what a diagnosis needs of the files, packed. It is in exports only."""

from __future__ import annotations

from kafkatx.tables.columns import BINARY, INT32, INT64, Column, Example, Identity, SortOrder, Table

FACTS = Table(
    "facts",
    "a piece of what `kafkatx diagnose` needs when the files are gone; it is packed, for kafkatx, "
    "and not for reading by hand: the other tables say the same in words",
    (
        Column("capture", INT32, "number of the capture, from 0; -1: of all of them"),
        Column("number", INT32, "number of the partition or log in the capture, from 0; -1: of the capture itself"),
        Column("rank", INT32, "what it is; of one partition in this order"),
        Column("first_offset", INT64, "offset that its rows begin at, 0 of other things"),
        Column("file", INT32, "number of the file in the partition, from 0"),
        Column("begin", INT64, "number of it in the file, from 0"),
        Column("piece", INT32, "number of the piece, from 0, where it is cut"),
        Column("payload", BINARY, "the piece"),
    ),
    SortOrder(
        ("capture", "number", "rank", "first_offset", "file", "begin", "piece"),
        "a diagnosis reads partition by partition",
    ),
    Example(
        "Which partitions and logs take the most room?",
        """\
SELECT f.number, count(*) AS pieces, sum(octet_length(f.payload)) AS bytes
FROM facts f
WHERE f.capture = 0
GROUP BY f.number
ORDER BY bytes DESC
LIMIT 9""",
    ),
    Identity(("capture", "number", "rank", "first_offset", "file", "begin", "piece")),
)
