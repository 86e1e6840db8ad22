"""Tables of what tools printed equal the tables of the bytes, on the columns that the text carries."""

from pathlib import Path

import pytest

import kafkatx
from tests.evidence import broker_folders, fixtures

CASES = ["k39-fenced", "k39-timeout", "k39-open", "k39-eos-groups", "k4-tv2-fenced", "k33-mixed"]
COLUMNS = {
    "batches": ("topic", "partition", "base_offset", "last_offset", "record_count", "producer_id", "producer_epoch",
                "base_sequence", "is_transactional", "is_control", "max_timestamp", "crc", "size", "leader_epoch"),
    "markers": ("topic", "partition", "record_offset", "timestamp", "producer_id", "producer_epoch", "kind",
                "coordinator_epoch"),
    "records": ("topic", "partition", "record_offset", "timestamp", "sequence"),
    "transaction_states": ("partition", "record_offset", "timestamp", "transactional_id", "is_tombstone", "producer_id",
                           "producer_epoch", "state", "timeout_ms", "updated_at", "topic_partitions"),
    "aborted_transactions": ("topic", "partition", "producer_id", "first_offset", "last_offset", "last_stable_offset"),
    "offset_commits": ("group_id", "topic", "partition", "is_tombstone", "committed_offset", "metadata", "timestamp",
                       "is_transactional", "producer_id", "producer_epoch", "offsets_partition", "record_offset"),
    "cluster_events": ("kind", "event_time", "record_offset", "topic", "topic_id", "partition", "leader",
                       "leader_epoch", "replicas", "isr", "next_producer_id", "feature", "feature_level", "config",
                       "config_value"),
    "producer_states": ("topic", "partition", "snapshot_offset", "producer_id", "producer_epoch", "coordinator_epoch",
                        "open_since_offset"),
}  # fmt: skip
METADATA = "__cluster_metadata"


def rows_of(paths: list[Path], table: str) -> list[tuple[object, ...]]:
    found = []
    for batch in kafkatx.open(paths).table(table):
        for row in batch.to_pylist():
            if row.get("topic") != METADATA and not row.get("is_snapshot"):  # of these no dump was taken
                found.append(tuple(str(row[column]) for column in COLUMNS[table]))
    return sorted(found)


@pytest.mark.parametrize("table", COLUMNS)
@pytest.mark.parametrize("case", CASES)
def test_printed_table_is_the_table_of_the_bytes(case: str, table: str) -> None:
    folder = fixtures() / case
    assert rows_of([folder / "kafka-dump-log"], table) == rows_of(broker_folders(folder), table)


def test_cases_hold_rows_of_every_table() -> None:
    for table in COLUMNS:
        assert any(rows_of([fixtures() / case / "kafka-dump-log"], table) for case in CASES), table


def test_what_a_print_does_not_say_is_null() -> None:
    unsaid = {"batches": ("position", "crc", "size"), "records": ("producer_id", "producer_epoch", "sequence")}
    for table, columns in unsaid.items():
        evidence = kafkatx.open([fixtures() / "k011-legacy-formats", *(fixtures() / "pages").glob("*.md")])
        rows = [row for batch in evidence.table(table) for row in batch.select(columns).to_pylist()]
        for column in columns:
            found = [row[column] for row in rows]
            assert None in found, column
            assert min(number for number in found if number is not None) > -1, column


def test_a_print_is_no_damage() -> None:
    for case in CASES:
        damage = list(kafkatx.open([fixtures() / case / "kafka-dump-log"]).table("damage"))
        assert sum(batch.num_rows for batch in damage) == 0, case
