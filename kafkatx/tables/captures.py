"""Table of captures: what is known of each cluster as a whole."""

from __future__ import annotations

import pyarrow as pa

from kafkatx.tables.columns import (
    COMMON,
    INT32,
    INT64,
    STRING,
    TIME,
    Column,
    Example,
    Identity,
    SortOrder,
    Table,
    struct_list,
)

CAPTURES = Table(
    "captures",
    "a capture: the evidence of one cluster; path and broker_id are null",
    (
        *COMMON,
        Column(
            "evidence_end", TIME, "newest time that a broker wrote, else a client, else a log: what is open lasts to it"
        ),
        Column("examined_from", TIME, "oldest time of a broker or a log", null="no time"),
        Column("examined_to", TIME, "newest time of a broker or a log", null="no time"),
        Column("joined_because", STRING, "what makes its files evidence of one cluster"),
        Column(
            "fingerprint", STRING, "what stands for it in ids of findings: cluster.id, else a hash of first batches"
        ),
        Column("brokers", INT32, "how many brokers may have written it"),
        Column("broker_ids", pa.list_(INT32), "ids of brokers whose data directories say them"),
        Column("releases", struct_list(product=STRING, release=STRING), "releases that logs and pages name"),
        Column(
            "clients_behind_ms",
            INT64,
            "how far clocks of producers are typically behind the coordinators', below 0 where they are ahead",
            "milliseconds",
            "no transaction shows it",
        ),
        Column(
            "clocks",
            struct_list(path=STRING, zone_from=STRING, zone_ms=INT64, skew_ms=INT64, pairs=INT64),
            "clocks of its logs: what is taken from printed times as their zone, what is left against the brokers, and "
            "how many events show it",
        ),
        Column("transactions", INT64, "transactions examined; without the coordinator's rows as few as can be"),
        Column("transactional_ids", INT64, "transactional.ids"),
        Column("producers", INT64, "producer ids"),
        Column("groups_named", INT64, "groups that logs name"),
        Column("files", INT64, "files of it"),
        Column("bytes", INT64, "bytes of these", "bytes"),
    ),
    SortOrder(("capture",), "it is what all other tables are joined by"),
    Example(
        "Up to when is there evidence of each cluster, and of how many brokers?",
        """\
SELECT c.capture, c.evidence_end, c.brokers, c.transactions
FROM captures c
WHERE c.capture IS NOT NULL
ORDER BY c.evidence_end""",
    ),
    Identity(("capture",), day=("evidence_end",)),
)
