"""Follows a broker's files: `python -m tests.spark.follow ROOT PLACE [--once]` streams the tables that grow to Parquet.

A process of its own, with its JVM in its group, so that a test can kill it at any moment. Spark gives a Python process
ten seconds to start: on a busy machine queries are begun one after the other, and again if they failed. With `--once`
it ends when all that is there has been read.
"""

import json
import os
import random
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import kafkatx.spark
from kafkatx.stages.table_growth import GROWING


def main() -> None:
    root, place, once = sys.argv[1], Path(sys.argv[2]), "--once" in sys.argv
    paths = json.dumps([f"{root}/broker-1", f"{root}/logs"])
    settings = {"session.timeZone": "UTC", "parquet.outputTimestampType": "TIMESTAMP_MICROS"}
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(f"spark.sql.{name}", value)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    kafkatx.spark.register(spark)
    tables = random.sample(GROWING, len(GROWING))
    for table in tables if once else cycle(tables):
        while not follow(spark, table, paths, place, once):
            time.sleep(1)
        time.sleep(0.5)


def follow(spark: SparkSession, table: str, paths: str, place: Path, once: bool) -> bool:
    """See to it that a table is followed, until all that is there was read if `once`; whether that went well."""
    try:
        query = next((one for one in spark.streams.active if one.name == table), None)
        query = query or begun(spark, table, paths, place)
        while query.isActive and not query.recentProgress:
            time.sleep(0.5)
        if once:
            query.processAllAvailable()
            query.stop()
    except PySparkException as error:
        print(table, str(error)[:300], file=sys.stderr, flush=True)
        return False
    return once or query.isActive


def begun(spark: SparkSession, table: str, paths: str, place: Path) -> Any:
    read = spark.readStream.format("kafkatx").options(table=table, paths=paths).load()
    written = read.writeStream.queryName(table).option("checkpointLocation", str(place / table / "checkpoint"))
    timed = written.trigger(processingTime="500 milliseconds")
    return timed.start(str(place / table / "rows"), format="parquet")


main()
