"""Tables of kafka-transactions.sh: as the tool prints them (ToolsUtils of 4.1.2), and as people paste them."""

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.text.tools.admin import (
    DescribedProducer,
    DescribedTransaction,
    HangingTransaction,
    ListedTransaction,
    admin_rows,
)
from tests.text.dump.comparing import whole

LIST = (
    "TransactionalId\tCoordinator\tProducerId\tTransactionState\t",
    "orders-eu-1    \t1          \t1000      \tOngoing         \t",
    "a b            \t0          \t7         \tCompleteAbort   \t",
)
DESCRIBE = (
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions  \t",
    "1            \torders-eu-1    \t1000      \t3            \tOngoing         \t60000               \t"
    "1795257880396                \t12345                \torders-0,orders-1\t",
    "1            \torders-eu-2    \t1001      \t0            \tEmpty           \t60000               \t"
    "None                         \tNone                 \t                 \t",
)
PRODUCERS = (
    "ProducerId\tProducerEpoch\tLatestCoordinatorEpoch\tLastSequence\tLastTimestamp\tCurrentTransactionStartOffset\t",
    "1000      \t3            \t0                     \t17          \t1795257880396\t42                           \t",
    "1001      \t0            \t-1                    \t-1          \t1795257880396\tNone                         \t",
)
HANGING = (
    "Topic \tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)\t",
    "orders\t0        \t1000      \t3            \t0               \t42         \t1795257880396\t75           \t",
)


@pytest.fixture
def read(tmp_path):
    def reader(*lines: str, **about):
        path = tmp_path / "page.txt"
        path.write_text("\n".join(lines) + "\n")
        with OpenFile(str(path)) as file:
            return list(admin_rows(file, whole(file, about.pop("topic", None), **about)))

    return reader


def test_ids_that_a_cluster_knows(read):
    assert read(*LIST) == [
        ListedTransaction(2, len(LIST[0]) + 1, "orders-eu-1", 1, 1000, "Ongoing"),
        ListedTransaction(3, len(LIST[0]) + len(LIST[1]) + 2, "a b", 0, 7, "CompleteAbort"),
    ]


def test_an_id_that_was_described(read):
    (first, second) = read(*DESCRIBE)
    assert isinstance(first, DescribedTransaction)
    assert (first.started_at, first.duration_ms) == (1795257880396, 12345)
    assert first.partitions == (("orders", 0), ("orders", 1))
    assert (second.started_at, second.duration_ms, second.partitions) == (None, None, ())


def test_producers_of_the_partition_that_the_command_named(read):
    found = read(*PRODUCERS, topic="orders", partition=0)
    assert all(isinstance(row, DescribedProducer) and (row.topic, row.partition) == ("orders", 0) for row in found)
    assert [row.open_since_offset for row in found] == [42, None]
    assert [row.coordinator_epoch for row in found] == [0, -1]


def test_transactions_that_hang(read):
    (found,) = read(*HANGING)
    assert isinstance(found, HangingTransaction)
    assert (found.topic, found.start_offset, found.duration_min) == ("orders", 42, 75)


PASTES = {
    "blanks": lambda line: line.replace("\t", " "),
    "quoted": lambda line: "> " + line.replace("\t", "  "),
    "one blank": lambda line: " ".join(line.split()),
    "indented": lambda line: "    " + line,
}


@pytest.mark.parametrize("table", [LIST, DESCRIBE, PRODUCERS, HANGING])
@pytest.mark.parametrize("paste", PASTES)
def test_tables_as_people_paste_them(table, paste, read):
    plain, pasted = read(*table), read(*map(PASTES[paste], table))
    without_place = [[getattr(row, name) for name in row.__slots__ if name != "position"] for row in plain]
    assert [[getattr(row, name) for name in row.__slots__ if name != "position"] for row in pasted] == without_place


def test_a_table_ends_with_the_first_line_that_is_no_row_of_it(read):
    assert len(read(*LIST[:2], "$ next command", LIST[2])) == 1
    assert len(read(*LIST, "", *HANGING)) == 3


@pytest.mark.parametrize("line", ["x\ty\tz\tOngoing", "a\t1\t2\tOngoing\tmore", "a 1", "9" * 100_000, " " * 100_000])
def test_other_lines_are_no_rows(line, read):
    assert read(LIST[0], line) == []
