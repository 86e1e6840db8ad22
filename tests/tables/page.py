"""The page docs/tables.md: columns, order and an example of each table, as its declaration has them."""

from collections.abc import Iterable

from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.columns import Column, Table
from kafkatx.tables.exported import ADDED
from kafkatx.tables.view_files import all_views

HEAD = """\
# Tables

The same tables everywhere, with the same columns and types: as Arrow from the library ([library.md](library.md)), as
Parquet from `kafkatx export` ([cli.md](cli.md#export)), as DataFrames from `kafkatx.spark`.

```sh
kafkatx export /var/lib/kafka/data --out tables
```

makes `tables/batches/part-RUN-00000.parquet` and so on: a folder for each table with one file or more, also for a
table without rows. `tables/_kafkatx.json` names the runs, their files with their SHA-256, and the evidence that they
were made of; `tables/_SUCCESS` is written last. A row group has at most 131,072 rows or 64 MiB, and every column has
statistics by page: a query that filters by the first columns that a table is sorted by reads little more than its
answer.

```sql
-- DuckDB
CREATE VIEW batches AS FROM 'tables/batches/*.parquet';
```

```python
# Spark
spark.read.parquet("tables/batches").createOrReplaceTempView("batches")
# Polars
batches = polars.scan_parquet("tables/batches/*.parquet")
# pandas; without this backend integers of a column that has a null become floats, and large offsets are rounded
batches = pandas.read_parquet("tables/batches", dtype_backend="pyarrow")
```

What is absent is null, never -1 or an empty string. No name of a column needs quotes in SQL: none is a word that
DuckDB, Spark (with ANSI's words reserved) or Trino keeps for itself. All examples run in DuckDB and in Spark.

## Runs, copies, and what to count

The same command again, tonight or next month, adds a *run*: files of earlier runs stay as they are, and what is there
already (by release, options and the SHA-256 of the files) is not written twice. Replicas, files given twice and the
days that two runs have in common are rows more than once, so every exported row says what it is:

{added}

Count rows that are canonical within a run. Over runs, ask the views: `batches_once`, `transactions_once` and so on
have each fact once, of all copies and runs the row that stands; [below](#views) are views that answer questions. A
finding stands in `findings_once` as it was last told, with the evidence of that run; `kafkatx diagnose` judges
all runs together, and what retention took in between. What a column means stands in the files too: as `comment` in
the metadata of each field, as comment in Spark, with a field id for Iceberg.

| type here | Spark | DuckDB | Polars |
| --- | --- | --- | --- |
| int16, int32, int64 | smallint, int, bigint | SMALLINT, INTEGER, BIGINT | Int16, Int32, Int64 |
| bool | boolean | BOOLEAN | Boolean |
| string, binary | string, binary | VARCHAR, BLOB | String, Binary |
| timestamp[us, UTC] | timestamp | TIMESTAMP WITH TIME ZONE | Datetime(us, UTC) |
| list of struct, of int32 | array of struct, of int | STRUCT[], INTEGER[] | List(Struct), List(Int32) |

"""

VIEWS = """\
## Views

SQL that DuckDB and Spark both take, in the package (`kafkatx/tables/views`): for each table `TABLE_once`, each fact
once, and answers to what platform teams ask. `kafkatx.views` yields the statements that make them, and the tables,
known:

```python
import duckdb, kafkatx

connection = duckdb.connect()
for statement in kafkatx.views("tables"):
    connection.execute(statement)
connection.sql("SELECT * FROM abort_share ORDER BY aborted_percent DESC LIMIT 9").show()

for statement in kafkatx.views("tables", "spark"):
    spark.sql(statement)
```

Of an engine that has neither, take the files: of functions they need `unix_millis` (milliseconds since 1970) and
`explode` (a row for each member of a list). Times of records are the clients' and the brokers', each by its own clock
(`captures` has what is known of them); what is open lasts to the end of the evidence.
"""


def tables_page() -> str:
    """Return the page, without the line that says that it is generated."""
    links = ", ".join(f"[{name}](#{name})" for name in EXPORTED)
    added = "\n".join(["| column | type | meaning |", "| --- | --- | --- |", *map(added_row, ADDED)])
    head = HEAD.replace("{added}", added)
    return "\n".join([f"{head}The tables: {links}.\n", *map(section, EXPORTED.values()), views_section()])


def added_row(column: Column) -> str:
    """Return the line of a column that every exported row has."""
    return f"| `{column.name}` | {str(column.type).replace('tz=', '')} | {column.meaning} |"


def views_section() -> str:
    """Return the section of the views."""
    told = [f"| `{view.name}` | {view.answers} |" for view in all_views().values() if not view.is_once]
    return "\n".join([VIEWS, "| view | answers |", "| --- | --- |", *sorted(told), ""])


def section(table: Table) -> str:
    """Return the section of one table."""
    order = quoted(table.order.columns)
    return "\n".join(
        [
            f"## {table.name}\n",
            f"A row is {table.row}.\n",
            f"Sorted by {order}: {table.order.because}.\n",
            f"{fact(table)}\n",
            "| column | type | unit | meaning | null |",
            "| --- | --- | --- | --- | --- |",
            *(row(column) for column in table.columns),
            f"\n{table.example.question}\n",
            f"```sql\n{table.example.sql}\n```\n",
        ]
    )


def fact(table: Table) -> str:
    """Return what makes rows the same fact, and the day that a row is of."""
    told = f"A fact is known by {quoted(table.key)}."
    if table.identity.copies:
        best = f" by the highest {quoted(table.identity.best)}" if table.identity.best else ""
        told += f" Files may hold it more than once; one row of them is canonical{',' if best else ''}{best}."
    elif table.identity.best:
        told += f" Of several runs the highest {quoted(table.identity.best)} stands."
    return f"{told} Its day is that of {quoted(table.day)}." if table.day else told


def quoted(names: Iterable[str]) -> str:
    """Return names of columns, in order."""
    return ", ".join(f"`{name}`" for name in names)


def row(column: Column) -> str:
    """Return the line of one column."""
    kind = str(column.type).replace("tz=", "").replace("list<element: ", "list<").replace("list<item: ", "list<")
    cells = (f"`{column.name}`", kind, column.unit or "", column.meaning, column.null or "not known")
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
