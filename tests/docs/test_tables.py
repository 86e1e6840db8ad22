"""docs/tables.md: made of the declarations, and each example asks what it says of recorded cases."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from kafkatx.tables.catalogue import TABLES
from tests.evidence import ROOT
from tests.golden import compare
from tests.house.generate_docs import tables_text
from tests.outputs.parquet.exported import telling, write_cases

PAGE = ROOT / "docs/tables.md"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Views of an export, made as the page says."""
    target: Path = tmp_path_factory.mktemp("examples") / "tables"
    write_cases(telling(), target)
    with duckdb.connect() as connection:
        for name in TABLES:
            connection.execute(f"CREATE VIEW {name} AS FROM '{target}/{name}/*.parquet'")
        yield connection


def test_the_page_of_tables_is_in_step(request: pytest.FixtureRequest) -> None:
    compare(PAGE, tables_text(), update=request.config.getoption("--update-golden"))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_and_all_of_its_columns_are_explained(name: str) -> None:
    _, _, section = PAGE.read_text().partition(f"\n## {name}\n")
    section, _, _ = section.partition("\n## ")
    assert [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")] == [
        f"| `{column.name}`" for column in TABLES[name].columns
    ]
    assert TABLES[name].example.sql in section


@pytest.mark.parametrize("name", TABLES)
def test_an_example_has_an_answer(name: str, database: duckdb.DuckDBPyConnection) -> None:
    assert database.sql(TABLES[name].example.sql).to_arrow_table().num_rows > 0
