"""Values reach the tasks one by one, and their answers come back in order."""

import os

import pyarrow as pa

from kafkatx.spark.spreading import running_on, spread, values_of


def test_each_value_has_a_partition_of_its_own(spark):
    frame = spread(spark, [{"value": number} for number in range(23)])
    found = frame.mapInArrow(told, "number bigint, value bigint, partition int").toArrow().to_pylist()
    assert sorted(row["partition"] for row in found) == list(range(23))
    assert all(row["number"] == row["value"] == row["partition"] for row in found)


def told(batches):
    from pyspark import TaskContext

    context = TaskContext.get()
    for number, value in values_of(batches):
        columns = {"number": [number], "value": [value["value"]]}
        yield pa.RecordBatch.from_pydict({**columns, "partition": pa.array([context.partitionId()], pa.int32())})


def test_answers_come_in_the_order_of_the_values_from_other_processes(spark):
    answers = running_on(spark)(answer, ["c", "a", "b"])
    assert [value for value, _ in answers] == ["cc", "aa", "bb"]
    assert os.getpid() not in {process for _, process in answers}


def answer(value):
    return value * 2, os.getpid()


def test_no_values_are_no_job(spark):
    assert running_on(spark)(answer, []) == []
