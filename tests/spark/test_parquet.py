"""What `kafkatx export` wrote, Spark reads with the right types and values, also where it skips; its examples run."""

import pyarrow as pa
import pytest

from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.exported import plain_schema
from tests.outputs.parquet.exported import in_order, telling, write_cases
from tests.tables.test_column_names import NAMES

NATIVE = {
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.timestamp("us", "UTC"): "timestamp",
}


def native(kind):
    """Spark's type for one of Arrow."""
    if pa.types.is_list(kind):
        return f"array<{native(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"struct<{','.join(f'{field.name}:{native(field.type)}' for field in kind)}>"
    return NATIVE[kind]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    target = tmp_path_factory.mktemp("parquet") / "tables"
    return target, write_cases(telling(), target)


@pytest.fixture(scope="module")
def views(spark, written):
    for name in TABLES:
        spark.read.parquet(str(written[0] / name)).createOrReplaceTempView(name)
    return spark


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_its_types_and_its_rows(name, views, written):
    expected = in_order(written[1][name], name)
    frame = views.table(name)
    assert frame.dtypes == [(field.name, native(field.type)) for field in plain_schema(TABLES[name])]
    assert all(field.metadata["comment"] for field in frame.schema)
    found = frame.select(expected.schema.names).toArrow().cast(expected.schema)
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))


@pytest.mark.parametrize("name", TABLES)
def test_an_example_has_the_answer_that_duckdb_gives(name, views, written):
    import duckdb

    query = TABLES[name].example.sql
    found = views.sql(query).toArrow()
    with duckdb.connect() as connection:
        for other in TABLES:
            connection.execute(f"CREATE VIEW {other} AS FROM '{written[0]}/{other}/*.parquet'")
        expected = connection.sql(query).to_arrow_table()
    assert found.num_rows == expected.num_rows > 0
    for column in set(found.column_names) - {"lasted"}:
        mine, theirs = found.column(column), expected.column(column)
        assert sorted(map(repr, mine.cast(theirs.type).to_pylist())) == sorted(map(repr, theirs.to_pylist())), column


def test_a_filter_on_the_sort_order_is_pushed_into_the_files_and_keeps_its_rows(views, written):
    table = written[1]["records"].to_pylist()
    wanted = [
        row for row in table if row["topic"] == "payments" and row["partition"] == 0 and row["record_offset"] >= 3
    ]
    frame = views.table("records").where("topic = 'payments' AND partition = 0 AND record_offset >= 3")
    assert frame.count() == len(wanted) > 0
    assert "PushedFilters: [IsNotNull(topic)" in frame._jdf.queryExecution().toString()


def test_no_column_is_called_by_a_word_that_spark_reserves(spark):
    spark.conf.set("spark.sql.ansi.enforceReservedKeywords", "true")
    try:
        words = {row[0].lower() for row in spark.sql("SELECT keyword FROM sql_keywords() WHERE reserved").collect()}
    finally:
        spark.conf.unset("spark.sql.ansi.enforceReservedKeywords")
    assert "offset" in words
    assert not words & NAMES
