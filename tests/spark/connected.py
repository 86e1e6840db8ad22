"""What kafkatx says over Spark Connect: `python -m tests.spark.connected CASE PLACE` starts a server of its own.

Tells as JSON what was read by `kafkatx.spark.read`, by the data source and by a stream to PLACE, and what was found.
"""

import json
import sys
from pathlib import Path

import kafkatx.spark
from kafkatx.outputs.diagnosis_json import document


def main() -> None:
    from pyspark.sql import SparkSession

    case, place = sys.argv[1], Path(sys.argv[2])
    spark = SparkSession.builder.remote("local[2]").getOrCreate()
    kafkatx.spark.register(spark)
    source = spark.read.format("kafkatx").option("table", "findings").load(case)
    stream = spark.readStream.format("kafkatx").option("table", "markers").load(case)
    written = stream.writeStream.option("checkpointLocation", str(place / "checkpoint"))
    written.trigger(availableNow=True).start(str(place / "rows"), format="parquet").awaitTermination()
    told = {
        "session": type(spark).__module__,
        "read": kafkatx.spark.read(spark, case, table="batches", stretch_bytes=500).count(),
        "findings": [row.rule for row in source.select("rule").collect()],
        "markers": spark.read.parquet(str(place / "rows")).count(),
        "diagnosis": document(kafkatx.spark.diagnose(spark, case), ""),
    }
    print(json.dumps(told))
    spark.stop()


main()
