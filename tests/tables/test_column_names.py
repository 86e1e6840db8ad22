"""Names of columns need no quotes in SQL: not in DuckDB, not in Spark with ANSI's words, not in Trino."""

import re

import duckdb
import pyarrow as pa
import pytest

from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.exported import paths_of, plain_schema
from tests.tables.reserved_words import reserved_words

PLAIN = re.compile("[a-z][a-z0-9_]*")
NAMES = {part for table in EXPORTED.values() for path in paths_of(table) for part in path.split(".")}


@pytest.mark.parametrize("reserved", reserved_words().values(), ids=reserved_words())
def test_no_column_or_member_is_called_by_a_word_of_sql(reserved):
    assert not NAMES & reserved
    assert not EXPORTED.keys() & reserved


def test_names_are_plain():
    assert [name for name in NAMES if not PLAIN.fullmatch(name)] == []


def test_words_of_duckdb_are_those_of_the_release_that_runs():
    kinds = "('reserved', 'type_function')"
    found = duckdb.sql(f"SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category IN {kinds}").fetchall()
    assert not NAMES & {name for (name,) in found}
    assert "from" in {name for (name,) in found}


@pytest.mark.parametrize("table", EXPORTED.values(), ids=EXPORTED)
def test_every_column_and_member_can_be_named_as_it_is(table):
    with duckdb.connect() as connection:
        connection.register(table.name, plain_schema(table).empty_table())
        for path in paths_of(table):
            *names, last = [name for name in path.split(".") if name != "element"]
            told = f"unnest({names[0]}).{last}" if names and isinstance(_type(table, names[0]), pa.ListType) else path
            if ".element" in path and not names:
                continue
            query = f"SELECT {told} AS {last} FROM {table.name}"
            assert connection.sql(query).columns == [last], query


def _type(table, name):
    return plain_schema(table).field(name).type
