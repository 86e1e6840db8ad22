"""A session that writes what other engines read as it is meant: its own where Spark has such, else set for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kafkatx.spark.session import EVERYWHERE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WRITERS_AT_ONCE = 100
FOR_WRITING = EVERYWHERE | {"spark.sql.maxConcurrentOutputFileWriters": str(WRITERS_AT_ONCE)}
"""Settings; with some files of clusters and days open at a time rows need not be sorted by them first."""


@contextmanager
def writing_session(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield a session with FOR_WRITING beside the one given, which shares what it runs on; it stays as it is."""
    active = type(spark).getActiveSession() or spark
    own = _own(spark)
    used = own or spark
    before: dict[str, str | None] = {name: used.conf.get(name, None) for name in FOR_WRITING}
    for name, value in FOR_WRITING.items():
        used.conf.set(name, value)
    try:
        yield used
    finally:
        if own is None:
            for name, was in before.items():
                spark.conf.unset(name) if was is None else spark.conf.set(name, was)
        with suppress(Exception):  # a session that is gone need not be the active one
            active.createDataFrame([], "made int")  # which makes it that again: what made frames last is the active one


def _own(spark: SparkSession) -> SparkSession | None:
    """Another session on the same engine; None where it can't be had, as over Spark Connect."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return None
    return spark.newSession()
