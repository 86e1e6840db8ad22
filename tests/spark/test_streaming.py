"""`readStream.format("kafkatx")` in one session: what is new since the checkpoint, once."""

from pathlib import Path
from typing import Any

import pytest

import kafkatx.spark
from kafkatx.spark.source import KafkatxSource
from kafkatx.terms.errors import UsageError
from tests.building import batch, data_batch, marker, segment


@pytest.fixture
def streamed(spark: Any, tmp_path: Path) -> Any:
    """Runs a stream of a table up to what is there now, beginning where the last run ended; all it ever wrote."""
    kafkatx.spark.register(spark)

    def run(table: str, columns: str) -> list[tuple[Any, ...]]:
        read = spark.readStream.format("kafkatx").options(table=table, columns=columns).load(str(tmp_path / "data"))
        place = tmp_path / table
        written = read.writeStream.option("checkpointLocation", str(place / "checkpoint"))
        query = written.trigger(availableNow=True).start(str(place / "rows"), format="parquet")
        query.awaitTermination()
        return sorted(map(tuple, spark.read.schema(read.schema).parquet(str(place / "rows")).collect()))

    return run


def test_each_run_goes_on_where_the_last_one_ended(streamed, tmp_path):
    log = [data_batch(0, 7), marker(1, 7), batch(2, b"a"), batch(3, b"b" * 40), marker(4, 7)]
    path = segment(tmp_path / "data" / "orders-0", b"".join(log[:3]) + log[3][:70])
    assert streamed("batches", "topic,base_offset") == [("orders", 0), ("orders", 1), ("orders", 2)]
    path.write_bytes(b"".join(log))
    path.rename(path.with_suffix(".log.deleted"))
    segment(tmp_path / "data" / "orders-0", b"".join(log[4:]), "00000000000000000004.log")
    path.write_bytes(b"".join(log[1:4]))
    assert streamed("batches", "topic,base_offset") == [("orders", at) for at in range(5)]
    assert streamed("markers", "record_offset") == [(1,), (4,)]


def test_what_does_not_grow_row_by_row_is_no_stream(tmp_path):
    source = KafkatxSource({"table": "records", "path": str(tmp_path)})
    with pytest.raises(UsageError, match="records can't be followed: those that can are batches, markers"):
        source.streamReader(source.schema())
