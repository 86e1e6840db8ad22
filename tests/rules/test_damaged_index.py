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


AT_START = (
    "[2024-03-01 10:00:00,000] WARN [LogLoader partition=orders-2, dir=/d] Found a corrupted index file corresponding "
    "to log file /d/orders-2/00000000000000000500.log due to {why}}}, recovering segment and rebuilding index files... "
    "(kafka.log.LogLoader)\n"
)
OF_AN_EARLIER_SEGMENT = (
    "Last offset of aborted transaction AbortedTxn(version=0, producerId=2, firstOffset=311, lastOffset=318, "
    "lastStableOffset=322) in index /d/orders-2/00000000000000000500.txnindex is less than start offset 500"
)
SNAPSHOT = (
    "[2024-03-01 10:00:00,000] WARN [ProducerStateManager partition=orders-2] Failed to load producer snapshot from "
    "'/d/orders-2/00000000000000000500.snapshot': {why} (kafka.log.ProducerStateManager)\n"
)
UNREADABLE = (
    "[2024-03-01 10:00:00,000] ERROR [ReplicaManager broker=3] Error processing fetch with max size 1048576 from "
    "consumer on partition orders-2: PartitionData(fetchOffset=441) (kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.KafkaException: Failed to read from the transaction index "
    "/d/orders-2/00000000000000000500.txnindex\n"
)
DUMP = (
    "Dumping /d/orders-2/00000000000000007000.txnindex\n"
    "version: 0 producerId: 4001 firstOffset: 7012 lastOffset: 7019 lastStableOffset: 7012\n"
    'Exception in thread "main" org.apache.kafka.common.KafkaException: Unexpected aborted transaction version 113 in '
    "transaction index /d/orders-2/00000000000000007000.txnindex, current version is 0\n"
    "\tat org.apache.kafka.storage.internals.log.TransactionIndex$1.next(TransactionIndex.java:252)\n"
)


def test_what_a_start_rebuilds_is_a_warning(tmp_path):
    (finding,) = found(tmp_path, RULE, AT_START.format(why=OF_AN_EARLIER_SEGMENT))
    assert (finding.verdict, finding.severity, finding.partition) == (Verdict.likely, Severity.warning, 2)
    assert finding.title == "index of aborted transactions damaged"


def test_an_index_of_offsets_that_is_rebuilt_is_none(tmp_path):
    why = "Corrupt index found, index file (/d/orders-2/00000000000000000500.index) has non-zero size but the last "
    assert not found(tmp_path, RULE, AT_START.format(why=f"{why}offset is 500 which is no greater than 500"))


def test_a_snapshot_that_fails_its_checksum(tmp_path):
    why = "Snapshot is corrupt (CRC is no longer valid). Stored crc: 29. Computed crc: 11"
    (finding,) = found(tmp_path, RULE, SNAPSHOT.format(why=why))
    assert (finding.severity, finding.topic, finding.title) == (Severity.warning, "orders", "producer snapshot damaged")


def test_an_index_that_cannot_be_read_fails_the_readers(tmp_path):
    (finding,) = found(tmp_path, RULE, UNREADABLE)
    assert (finding.severity, finding.topic, finding.partition) == (Severity.error, "orders", 2)


def test_a_fetch_that_failed_for_another_reason_is_none(tmp_path):
    assert not found(tmp_path, RULE, UNREADABLE.partition("\n")[0] + "\njava.io.IOException: Input/output error\n")


def test_the_dump_tool_that_died_of_it(tmp_path):
    (finding,) = found(tmp_path, RULE, DUMP)
    assert (finding.severity, finding.topic, finding.partition) == (Severity.error, "orders", 2)
