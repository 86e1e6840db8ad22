"""Tables are declared once: names, types that every engine reads, null for what is absent."""

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.columns import BOOL, COMMON, INT32, INT64, STRING, TIME, column_of, named, names, structs
from kafkatx.tables.findings import FINDINGS
from kafkatx.tables.logs import BATCHES, MARKERS, binaries
from kafkatx.terms.transaction_states import TransactionState

CONTRACT = {
    "files": """kind topic partition base_offset bytes accounted_bytes status first_offset last_offset first_timestamp
        last_timestamp""",
    "batches": """topic partition base_offset last_offset record_count magic codec is_transactional is_control
        timestamp_type leader_epoch producer_id producer_epoch base_sequence last_sequence base_timestamp max_timestamp
        crc crc_valid size""",
    "records": """topic partition record_offset timestamp key value headers position producer_id producer_epoch sequence
        is_transactional""",
    "markers": "topic partition record_offset timestamp producer_id producer_epoch kind coordinator_epoch",
    "transaction_states": """partition record_offset timestamp transactional_id is_tombstone producer_id
        previous_producer_id next_producer_id producer_epoch next_producer_epoch timeout_ms state topic_partitions
        started_at updated_at client_transaction_version unknown_tagged_fields""",
    "transactions": """transactional_id producer_id producer_epoch protocol started_at decided_at completed_at outcome
        ended_by partitions records bytes""",
    "aborted_transactions": "topic partition producer_id first_offset last_offset last_stable_offset version",
    "producer_states": """topic partition snapshot_offset producer_id producer_epoch last_sequence last_offset timestamp
        coordinator_epoch open_since_offset""",
    "offset_commits": """group_id topic partition committed_offset leader_epoch metadata committed_at is_transactional
        producer_id producer_epoch is_tombstone""",
    "cluster_events": """kind event_time record_offset topic topic_id partition leader leader_epoch node_id broker_epoch
        next_producer_id feature feature_level fields""",
    "log_events": """event_time clock side client_id transactional_id thread logger kind exception error_code api
        correlation_id node topic partition text""",
    "settings": "scope name value default_value origin",
    "findings": """id rule verdict severity transactional_id producer_id producer_epoch topic partition first_offset
        last_offset valid_from valid_to count summary caused_by""",
    "evidence": "position topic partition record_offset event_time text",
    "not_checkable": "rule scope missing",
    "next": "number what why place command decides",
    "captures": "evidence_end releases brokers clocks",
    "damage": "position kind bytes expected found",
}
"""What the public interface promises of each table; more may be there."""


def simple(kind: pa.DataType) -> bool:
    """Whether Arrow, Parquet, Spark, DuckDB and Polars agree on a type."""
    if pa.types.is_list(kind):
        return simple(kind.value_type)
    if pa.types.is_struct(kind):
        return all(simple(field.type) for field in kind)
    known = {pa.int16(), pa.int32(), pa.int64(), pa.bool_(), pa.string(), pa.binary(), pa.timestamp("us", "UTC")}
    return kind in known


@pytest.mark.parametrize("name", CONTRACT)
def test_a_table_has_the_columns_that_are_promised(name):
    columns = TABLES[name].schema.names
    assert columns[:4] == [column.name for column in COMMON]
    assert not set(CONTRACT[name].split()) - set(columns)


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_every_column_is_explained_once_and_has_a_type_that_every_engine_reads(table):
    assert len({column.name for column in table.columns}) == len(table.columns)
    assert all(column.meaning for column in table.columns)
    assert all(simple(field.type) and field.nullable for field in table.schema)
    assert table.row


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_table_is_sorted_by_columns_of_its_own_that_tell_captures_apart(table):
    kinds = [table.schema.field(name).type for name in table.order.columns]
    assert not [kind for kind in kinds if pa.types.is_nested(kind)]
    assert len(set(table.order.columns)) == len(table.order.columns)
    assert "capture" in table.order.columns
    assert table.order.because


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_an_example_asks_its_table_by_the_first_column_that_it_is_sorted_by(table):
    tables, _, condition = table.example.sql.partition("WHERE")
    assert f"{table.name} " in f"{tables} "
    assert table.example.question.endswith("?")
    assert table.name in ("damage", "evidence") or f".{table.order.columns[0]} " in condition


def test_all_tables_are_in_the_catalogue_by_their_names():
    assert {name: table.name for name, table in TABLES.items()} == {name: name for name in CONTRACT}


def test_what_is_absent_is_null_and_never_minus_one():
    assert column_of(np.array([-1, 0, 7], np.int64), INT32).to_pylist() == [None, 0, 7]
    assert column_of(np.array([-1, 0, 7], ">i8"), INT64).to_pylist() == [None, 0, 7]
    assert column_of(np.array([-1, 0, 1], np.int8), BOOL).to_pylist() == [None, False, True]
    assert column_of(np.array([False, True]), BOOL).to_pylist() == [False, True]
    with pytest.raises(TypeError, match="numbers are no string"):
        column_of(np.array([1]), STRING)


def test_a_time_that_no_calendar_has_is_null():
    found = column_of(np.array([-1, 0, 1_795_256_939_889, 2**62], np.int64), TIME)
    assert found.cast(INT64).to_pylist() == [None, 0, 1_795_256_939_889_000, None]


def test_bytes_of_a_file_name_that_are_no_text_are_marked_in_every_kind_of_column():
    bad, good = "or\udcffders-0", "or\ufffdders-0"
    assert BATCHES.batch(1, {"path": bad}).column("path").to_pylist() == [good]
    assert names(np.array([0]), (bad,)).to_pylist() == named(np.array([0]), lambda code: bad).to_pylist() == [good]
    found = FINDINGS.rows([{"summary": bad, "steps": [{"text": bad, "because": None}]}]).to_pylist()[0]
    assert (found["summary"], found["steps"]) == (good, [{"text": good, "because": None, "evidence": None}])


def test_a_code_without_a_word_is_null():
    assert names(np.array([1, -1, 9]), ("a", "b")).to_pylist() == ["b", None, None]


def test_only_the_codes_that_occur_are_looked_up():
    asked = []
    found = named(np.array([5, 2, 5, -1]), lambda code: asked.append(code) or f"w{code}")
    assert found.to_pylist() == ["w5", "w2", "w5", None]
    assert asked == [2, 5]


def test_byte_strings_tell_null_from_empty():
    packed, offsets = np.frombuffer(b"abcd", np.uint8), np.array([0, 3, 3, 3, 4], np.int32)
    assert binaries(packed, offsets, np.array([3, -1, 0, 1])).to_pylist() == [b"abc", None, b"", b"d"]


def test_lists_of_structs_are_cut_by_their_counts():
    found = structs(np.array([1, 0, 2]), {"a": pa.array(["x", "y", "z"], STRING)})
    assert found.to_pylist() == [[{"a": "x"}], [], [{"a": "y"}, {"a": "z"}]]


def test_a_batch_has_the_whole_schema_whatever_was_given():
    found = BATCHES.batch(2, {"topic": "orders", "size": np.array([1, 2])})
    assert found.schema == BATCHES.schema
    assert found.column("topic").to_pylist() == ["orders", "orders"]
    assert found.column("crc").null_count == 2


def test_columns_are_fields_of_arrays_side_by_side_unless_they_are_given():
    left = np.array([(3, -1)], [("offset", "i8"), ("producer_id", "i8")])
    right = np.array([(9, 7, 2)], [("offset", "i8"), ("producer_epoch", "i2"), ("no_column", "i2")])
    (row,) = MARKERS.of_arrays([left, right], {"topic": "orders", "kind": names(np.array([0]), ("ABORT",))}).to_pylist()
    told = {name: value for name, value in row.items() if value is not None}
    assert told == {"topic": "orders", "record_offset": 3, "producer_epoch": 7, "kind": "ABORT"}


def test_columns_are_attributes_of_objects_unless_they_are_given():
    told = SimpleNamespace(topic="orders", offset=-1, partition=3, timestamp=1, kind="COMMIT", no_column=1)
    (row,) = MARKERS.of_objects([told], {"topic": "payments", "kind": [None]}).to_pylist()
    found = {name: value for name, value in row.items() if value is not None}
    assert found == {"topic": "payments", "partition": 3, "timestamp": datetime.fromtimestamp(0.001, UTC)}


def test_a_column_that_a_table_has_not_is_refused():
    with pytest.raises(KeyError, match="batches has no column sizes"):
        BATCHES.batch(1, {"sizes": 3})


def test_states_are_named_as_the_bytes_number_them():
    from kafkatx.tables.transactions import STATES

    assert tuple(state.name for state in TransactionState) == STATES
