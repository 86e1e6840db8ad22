"""The schema with which tables are written: what columns mean is in the file, for each reader where it looks."""

import json
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkatx.tables.catalogue import EXPORTED, TABLES
from kafkatx.tables.columns import Identity
from kafkatx.tables.exported import (
    ADDED,
    COMMENT,
    FIELD_ID,
    SPARK,
    VERSION,
    exported_columns,
    exported_schema,
    field_ids,
    paths_of,
    plain_schema,
)
from tests.evidence import ROOT

FROZEN = ROOT / "tests/tables/field_ids.tsv"
every_table = pytest.mark.parametrize("table", EXPORTED.values(), ids=EXPORTED)


@pytest.fixture
def written(tmp_path):
    def write(table):
        pq.write_table(exported_schema(table, "1.2").empty_table(), tmp_path / "x.parquet")
        return tmp_path / "x.parquet"

    return write


@every_table
def test_a_file_says_what_each_column_means_and_which_release_wrote_it(table, written):
    schema = pq.read_schema(written(table))
    assert schema.equals(plain_schema(table))
    assert schema.metadata[VERSION] == b"1.2"
    for column in exported_columns(table):
        assert column.meaning in schema.field(column.name).metadata[COMMENT].decode()


@every_table
def test_spark_is_told_the_same_columns_with_their_comments(table, written):
    told = json.loads(pq.read_schema(written(table)).metadata[SPARK])
    assert [field["name"] for field in told["fields"]] == [column.name for column in exported_columns(table)]
    assert all(field["metadata"]["comment"] and field["nullable"] for field in told["fields"])


@every_table
def test_every_column_of_a_file_has_its_own_id_at_every_depth(table, written):
    ids = field_ids(table.name)
    assert set(paths_of(table)) <= ids.keys()
    assert max(Counter(ids.values()).values()) == 1
    assert min(ids.values()) > 0
    found = dict(_ids(pq.read_schema(written(table)), ""))
    assert found == {path: ids[path] for path in paths_of(table)}


def _ids(fields, prefix):
    for field in fields:
        name = "element" if isinstance(fields, tuple) else field.name
        yield f"{prefix}{name}", int(field.metadata[FIELD_ID])
        if pa.types.is_list(field.type):
            yield from _ids((field.type.value_field,), f"{prefix}{name}.")
        elif pa.types.is_struct(field.type):
            yield from _ids(list(field.type), f"{prefix}{name}.")


def test_ids_of_columns_never_change():
    """New ones are copied to the frozen list; no line there is ever edited, since tables in Iceberg rest on it."""
    declared = {(name, path, number) for name in EXPORTED for path, number in field_ids(name).items()}
    frozen = {tuple(line.split("\t")) for line in FROZEN.read_text().splitlines()[1:]}
    assert {(table, path, str(number)) for table, path, number in declared} == frozen


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_row_says_of_which_run_it_is_and_whether_it_counts(table):
    assert exported_columns(table)[-len(ADDED) :] == ADDED


@every_table
def test_what_makes_a_fact_is_told_by_columns_of_the_table(table):
    identity: Identity = table.identity
    names = set(table.schema.names)
    assert {*identity.key, *identity.best, *identity.day} <= names
    assert identity.key
    assert "capture" in identity.key
    assert all(pa.types.is_timestamp(table.schema.field(name).type) for name in identity.day)


@every_table
def test_copies_of_a_fact_lie_side_by_side_or_share_the_time_of_writing(table):
    if table.identity.copies:
        order = table.order.columns
        shared = next((at for at, name in enumerate(order) if name not in table.key), len(order))
        assert set(order[:shared]) == set(table.key) or table.name == "log_events"
        assert shared >= 2
