"""The one line out of what Spark writes; texts as Spark 4.3 wrote them, cut."""

from pathlib import Path

import pytest

from kafkatx.spark.failures import failure, is_sparks, last_words_of, told_by_spark

IN_PYTHON = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "source.py", line 5, in read
    raise ValueError("bad thing\\nof two lines")
ValueError: bad thing
of two lines
"""
WITHOUT_WORDS = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "source.py", line 5, in read
    raise MemoryError
MemoryError
"""
IN_A_TASK = """An error occurred while calling o122.getResult.
: org.apache.spark.SparkException: Exception thrown in awaitResult:
\tat org.apache.spark.util.SparkThreadUtils$.awaitResult(SparkThreadUtils.scala:70)
Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, \
most recent failure: Lost task 0.0 in stage 1.0 (TID 1) (localhost executor driver): \
org.apache.spark.SparkException: Python worker exited unexpectedly (crashed).
\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1118)
Caused by: java.io.EOFException
"""
IN_THE_DRIVER = """An error occurred while calling o202.collectToPython.
: java.lang.OutOfMemoryError: Java heap space
\tat java.base/java.util.Arrays.copyOf(Arrays.java:3537)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (IN_PYTHON, "ValueError: bad thing"),
        (WITHOUT_WORDS, "MemoryError"),
        (IN_A_TASK, "org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)."),
        (IN_THE_DRIVER, "java.lang.OutOfMemoryError: Java heap space"),
    ],
)
def test_the_line_that_names_what_happened(text, line, tmp_path):
    assert told_by_spark(Exception(text), tmp_path / "no log") == line


def test_a_jvm_that_is_gone_is_named_with_its_last_words(tmp_path):
    log = tmp_path / "spark.log"
    log.write_text("WARN something\njava.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat a.B.c(B.java:1)\n")
    told = failure(ConnectionRefusedError(111, "Connection refused"), None, log)
    assert told.exit_code == 5
    assert "its JVM ended; its last words: java.lang.OutOfMemoryError: GC overhead limit exceeded" in str(told)


@pytest.mark.parametrize(("text", "words"), [("", ""), ("one\ntwo\n\n", "two"), ("Error: no\n\tat x\n", "Error: no")])
def test_the_last_words_of_a_log(text: str, words: str, tmp_path: Path):
    log = tmp_path / "spark.log"
    log.write_text(text)
    assert last_words_of(log) == words


def test_an_error_of_ours_is_not_laid_at_the_door_of_spark():
    from py4j.protocol import Py4JError
    from pyspark.errors import AnalysisException

    assert not is_sparks(ValueError())
    assert is_sparks(Py4JError())
    assert is_sparks(AnalysisException("no such column"))
    assert is_sparks(ConnectionRefusedError())
