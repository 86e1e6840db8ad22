"""Words that an engine takes for its own where a column is named: such a name needs quotes.

duckdb  those of 2.0 that `duckdb_keywords()` calls reserved or type_function
spark   those of 4.3 with `spark.sql.ansi.enforceReservedKeywords`, as `sql_keywords()` has them
trino   https://trino.io/docs/current/language/reserved.html
"""

from tests.evidence import ROOT


def reserved_words() -> dict[str, frozenset[str]]:
    """Return the words by engine."""
    parts = (ROOT / "tests/tables/reserved_words.txt").read_text().split("[")[1:]
    told = (part.partition("]") for part in parts)
    return {engine: frozenset(words.split()) for engine, _, words in told}
