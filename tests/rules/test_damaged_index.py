"""damaged_index: the cleaner gives a partition up for its index of aborted transactions."""

import pytest

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


UNREADABLE = (
    "[2024-03-01 10:00:00,000] ERROR [ReplicaManager broker=3] Error processing fetch with max size 1048576 from "
    "consumer on partition fx-0: PartitionData(fetchOffset=441) (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.KafkaException: Failed to read from the transaction index /d/fx-0/{name}.txnindex\n"
)
REBUILT = (
    "[2024-03-01 10:00:00,000] WARN [LogLoader partition=fx-0, dir=/d] Found a corrupted index file corresponding to "
    "log file /d/fx-0/{name}.log due to {why}, recovering segment and rebuilding index files... (kafka.log.LogLoader)\n"
)
SNAPSHOT = (
    "[2024-03-01 10:00:00,000] WARN [ProducerStateManager partition=fx-0] Failed to load producer snapshot from "
    "'/d/fx-0/{name}.snapshot': Snapshot is corrupt (CRC is no longer valid). (kafka.log.ProducerStateManager)\n"
)
NAME = f"{500:020d}"
OF_ANOTHER = (
    "Last offset of aborted transaction AbortedTxn(version=0, producerId=4, firstOffset=311, lastOffset=318, "
    f"lastStableOffset=322) in index /d/fx-0/{NAME}.txnindex is less than start offset 500"
)


@pytest.mark.parametrize(
    ("said", "severity", "title"),
    [
        (UNREADABLE, Severity.error, "can't be read"),
        (REBUILT, Severity.warning, "rebuilt"),
        (SNAPSHOT, Severity.warning, "snapshot damaged"),
    ],
)
def test_a_file_beside_a_segment_that_a_broker_can_not_use(tmp_path, said, severity, title):
    (finding,) = found(tmp_path, RULE, said.format(name=NAME, why=OF_ANOTHER))
    assert (finding.verdict, finding.severity) == (Verdict.likely, severity)
    assert (finding.topic, finding.partition) == ("fx", 0)
    assert title in finding.title


def test_an_index_of_offsets_is_none(tmp_path):
    why = f"Corrupt index found, index file (/d/fx-0/{NAME}.index) has non-zero size but the last offset is 500"
    assert not found(tmp_path, RULE, REBUILT.format(name=NAME, why=why))
