"""damaged_index: the cleaner gives a partition up for its index of aborted transactions."""

from kafkatx.terms.verdicts import Severity, Verdict
from tests.rules.broker_lines import found

RULE = "damaged_index"
GIVEN_UP = (
    "[2024-03-01 10:00:00,000] WARN [kafka-log-cleaner-thread-0]: Unexpected exception thrown when cleaning log "
    "Log(dir=/d/__consumer_offsets-20, topic=__consumer_offsets, partition=20, highWatermark=8, lastStableOffset=8, "
    "logStartOffset=0, logEndOffset=9). Marking its partition (__consumer_offsets-20) as uncleanable "
    "(kafka.log.LogCleaner)\nkafka.log.LogCleaningException: {why}\n\tat kafka.log.LogCleaner.x(LogCleaner.scala:1)\n"
    "Caused by: java.lang.IllegalArgumentException: {why}\n"
)
REPEATED = (
    "The last offset of appended transactions must increase sequentially, but 5 is not greater than current last "
    "offset 5 of index /d/__consumer_offsets-20/00000000000000000000.txnindex.cleaned"
)


def test_an_entry_that_comes_twice(tmp_path):
    (finding,) = found(tmp_path, RULE, GIVEN_UP.format(why=REPEATED))
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.error)
    assert (finding.topic, finding.partition) == ("__consumer_offsets", 20)


def test_a_cleaner_that_stopped_for_another_reason_is_none(tmp_path):
    assert not found(tmp_path, RULE, GIVEN_UP.format(why="Record is corrupt"))


def test_a_line_without_its_exception_is_none(tmp_path):
    assert not found(tmp_path, RULE, GIVEN_UP.partition("\n")[0] + "\n")
