"""What reaches Spark has the declared columns by name, in order, of exactly the declared types; all else is refused."""

import pyarrow as pa
import pytest

from kafkatx.spark.conform import conform
from kafkatx.tables.catalogue import TABLES

TIME = pa.timestamp("us", tz="UTC")


def conformed(columns, *fields):
    batch = pa.RecordBatch.from_pydict(columns) if isinstance(columns, dict) else columns
    schema = pa.schema([pa.field(name, type_) for name, type_ in fields])
    found = conform(batch, schema)
    found.validate(full=True)
    assert found.schema == schema
    return found.to_pydict()


def test_columns_are_taken_by_name():
    given = {"b": pa.array([2]), "a": pa.array([1])}
    assert conformed(given, ("a", pa.int64()), ("b", pa.int64())) == {"a": [1], "b": [2]}


def test_columns_that_are_not_asked_for_are_left_out():
    assert conformed({"a": pa.array([1]), "b": pa.array(["x"])}, ("a", pa.int64())) == {"a": [1]}


def test_a_column_declared_not_null_may_be_null_afterwards():
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False)], metadata={"by": "somebody"})
    assert conformed(pa.RecordBatch.from_arrays([pa.array([1])], schema=schema), ("a", pa.int64())) == {"a": [1]}


@pytest.mark.parametrize("columns", [{"b": [1]}, {"A": [1]}])
def test_a_missing_column_is_refused(columns):
    with pytest.raises(TypeError, match="column a: 0 of that name"):
        conformed(columns, ("a", pa.int64()))


def test_a_column_that_is_there_twice_is_refused():
    twice = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(TypeError, match="column a: 2 of that name"):
        conformed(twice, ("a", pa.int64()))


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        (pa.array([1, None], pa.int32()), pa.int64()),
        (pa.array([1, None], pa.uint64()), pa.int64()),
        (pa.array([1, None], pa.int64()), pa.int16()),
        (pa.array([None, None]), pa.int64()),
        (pa.array(["x", None], pa.large_string()), pa.string()),
        (pa.array(["x", None]).dictionary_encode(), pa.string()),
        (pa.array([b"x", None], pa.large_binary()), pa.binary()),
        (pa.array([b"xy", None], pa.binary(2)), pa.binary()),
        (pa.array([[1], None], pa.large_list(pa.int32())), pa.list_(pa.int64())),
        (pa.array([[1], None], pa.list_(pa.int32(), 1)), pa.list_(pa.int64())),
    ],
    ids=lambda one: str(getattr(one, "type", one)),
)
def test_a_type_that_means_the_same_becomes_the_declared_one(given, declared):
    assert conformed({"a": given}, ("a", declared)) == {"a": given.to_pylist()}


def test_a_time_with_a_zone_keeps_its_instant():
    given = pa.array([1_700_000_000_123, None], pa.timestamp("ms", tz="Asia/Shanghai"))
    (found, absent) = conformed({"a": given}, ("a", TIME))["a"]
    assert found.timestamp() == pytest.approx(1_700_000_000.123)
    assert absent is None


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        (pa.array([1_700_000_000_123]), TIME),
        (pa.array([1_700_000_000_123_000], pa.timestamp("us")), TIME),
        (pa.array([0], TIME), pa.timestamp("us")),
        (pa.array([0], TIME), pa.int64()),
        (pa.array([1.0]), pa.int64()),
        (pa.array([1]), pa.string()),
        (pa.array([b"x"]), pa.string()),
        (pa.array(["x"]), pa.binary()),
        (pa.array([True]), pa.int64()),
        (pa.array([1]), pa.list_(pa.int64())),
        (pa.array([[0]], pa.list_(pa.int64())), pa.list_(TIME)),
    ],
    ids=lambda one: str(getattr(one, "type", one)),
)
def test_a_type_that_means_something_else_is_refused(given, declared):
    with pytest.raises(TypeError, match="column a"):
        conformed({"a": given}, ("a", declared))


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        (pa.array([70_000]), pa.int16()),
        (pa.array([2**63], pa.uint64()), pa.int64()),
        (pa.array([1], pa.timestamp("ns", tz="UTC")), TIME),
    ],
    ids=lambda one: str(getattr(one, "type", one)),
)
def test_a_value_that_the_type_cannot_hold_is_refused(given, declared):
    with pytest.raises(ValueError, match="column a"):
        conformed({"a": given}, ("a", declared))


def test_fields_of_structs_in_lists_are_taken_by_name_also_in_a_slice():
    inner = pa.struct([("b", pa.int32()), ("a", pa.int32())])
    rows = [[{"b": 0, "a": 0}], None, [{"b": 2, "a": 1}, None], [], [{"b": 4, "a": 3}]]
    batch = pa.RecordBatch.from_pydict({"x": pa.array(rows, pa.list_(inner))}).slice(1, 3)
    declared = pa.list_(pa.struct([("a", pa.int32()), ("b", pa.int64())]))
    assert conformed(batch, ("x", declared)) == {"x": [None, [{"a": 1, "b": 2}, None], []]}


def test_a_struct_without_a_declared_field_is_refused():
    with pytest.raises(TypeError, match=r"column x\.b: 0"):
        conformed({"x": [{"a": 1}]}, ("x", pa.struct([("b", pa.int64())])))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_table_stands_as_it_is(table):
    batch = table.rows([{}])
    assert conform(batch, table.schema).equals(batch)
