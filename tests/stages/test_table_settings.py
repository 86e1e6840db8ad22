"""The table of settings: what files and programs say, with defaults, and no secret."""

from pathlib import Path

import pyarrow as pa

import kafkatx
from kafkatx.tables.settings import SETTINGS

CLIENT = """2026-11-21 10:28:59.120 [main] INFO  org.apache.kafka.clients.producer.ProducerConfig - ProducerConfig values:
\tacks = -1
\tclient.id = producer-orders-1
\tlinger.ms = 0
\ttransaction.timeout.ms = 60000
\ttransactional.id = orders-1
2026-11-21 10:28:59.300 [main] INFO  org.apache.kafka.clients.producer.KafkaProducer - [Producer clientId=producer-orders-1, transactionalId=orders-1] Instantiated a transactional producer.
2026-11-21 10:28:59.320 [main] INFO  org.apache.kafka.common.utils.AppInfoParser - Kafka version: 3.9.1
"""  # noqa: E501


def rows(path: Path) -> list[dict[str, object]]:
    found = pa.Table.from_batches(list(kafkatx.open([path]).table("settings")), SETTINGS.schema).to_pylist()
    return [dict(row) for row in found]


def test_files_and_blocks_are_rows_with_the_default_of_the_release(tmp_path: Path):
    (tmp_path / "client.log").write_text(CLIENT)
    (tmp_path / "server.properties").write_text("node.id=2\nlog.dirs=/data\nssl.key.password=hunter2\n")
    found = {(row["scope"], row["name"]): row for row in rows(tmp_path)}
    acks = found["producer", "acks"]
    assert (acks["value"], acks["origin"], acks["transactional_id"], acks["line"]) == ("all", "printed", "orders-1", 2)
    timeout = found["producer", "transaction.timeout.ms"]
    assert (timeout["value"], timeout["default_value"]) == ("60000", "60000")
    password = found["broker", "ssl.key.password"]
    assert (password["value"], password["origin"], password["broker_id"]) == ("[hidden]", "explicit", 2)
    assert str(password["path"]).endswith("server.properties")


def test_a_default_that_depends_on_the_release_is_null_where_none_is_known(tmp_path: Path):
    (tmp_path / "client.properties").write_text("transactional.id=orders-1\nacks=all\nmax.block.ms=5\n")
    found = {row["name"]: row["default_value"] for row in rows(tmp_path)}
    assert (found["acks"], found["max.block.ms"]) == (None, "60000")


def test_evidence_without_settings_has_no_rows(tmp_path: Path):
    (tmp_path / "notes.log").write_text("2026-11-21 10:28:59.120 [main] INFO  x - nothing of Kafka\n" * 3)
    assert rows(tmp_path) == []
