"""A line of a log behind a table is no row of it, however many numbers it holds."""

import pytest

from kafkatx.local.diagnosis import diagnose

TABLES = (
    "TransactionalId\tCoordinator\tProducerId\tTransactionState\nw-6\t1\t41007\tCompleteCommit\n",
    "COORDINATOR  TRANSACTIONAL-ID  PRODUCER-ID  STATE\n1            w-6               41007        CompleteCommit\n",
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions\n"
    "2\tw-6\t41007\t3\tCompleteCommit\t60000\tNone\tNone\t\n",
)
LINES = (
    "WARN  2026-03-24 08:45:01,960 [shard 3:main] tx - [{kafka/a.b/6}] - rm_stm.cc:1402 - can't commit "
    "pid:{producer_identity: id=41007, epoch=19} tx: passed txseq 0 doesn't match local - 1 - 1",
    "10:11:12 5 7 ERROR o.a.k.c.p.i.Sender - [Producer clientId=w] Aborting producer batches due to fatal error "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.",
    "[2026-03-24 08:45:01,960] ERROR [Producer clientId=w, transactionalId=w-6] Transiting to fatal error state due to "
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one. 4 5 6",
)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("between", ["", "\n", "\n\n"])
def test_a_line_of_a_log_behind_a_table_is_read(tmp_path, table, line, between):
    page = tmp_path / "page.md"
    page.write_text(f"{table}{between}{line}\n")
    assert diagnose([page]).findings, page.read_text()
