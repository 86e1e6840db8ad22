"""Table of settings: what programs were told, and what they ran with."""

from __future__ import annotations

from kafkatx.tables.columns import COMMON, INT64, STRING, Column, Example, Identity, SortOrder, Table

SETTINGS = Table(
    "settings",
    "an effective setting of a program, as a file or a block in a log states it",
    (
        *COMMON,
        Column("line", INT64, "number of the line, from 1"),
        Column("scope", STRING, "producer, consumer, admin, broker, topic, streams, connect, librdkafka, unknown"),
        Column("client_id", STRING, "client.id beside it", null="none is set, or a broker's"),
        Column("transactional_id", STRING, "transactional.id beside it", null="none is set, or a broker's"),
        Column("name", STRING, "Kafka's name of the setting, however it is spelled there"),
        Column("value", STRING, "the value; of secrets [hidden]", null="set to nothing"),
        Column(
            "default_value",
            STRING,
            "default of the release",
            null="no default, or releases differ and none is known",
        ),
        Column("origin", STRING, "explicit (a file), printed (by the program, defaults as well)"),
    ),
    SortOrder(
        ("name", "capture", "scope", "path", "line", "client_id"),
        "most questions are about one setting, over all programs",
    ),
    Example(
        "Which values of a setting are in force?",
        """\
SELECT s.scope, s.transactional_id, s.value, s.default_value, s.origin, s.path
FROM settings s
WHERE s.name = 'transaction.timeout.ms'
ORDER BY s.path""",
    ),
    Identity(("capture", "scope", "client_id", "transactional_id", "path", "line", "name")),
)
