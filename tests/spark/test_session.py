import pyarrow as pa


def test_the_session_of_the_tests_runs_python_on_arrow(spark):
    frame = spark.createDataFrame(pa.table({"a": [1, 2, 3]}))
    assert frame.mapInArrow(doubled, "a bigint").toArrow().column("a").to_pylist() == [2, 4, 6]


def doubled(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"a": [2 * value for value in batch.column(0).to_pylist()]})
