"""Answers of tools as events: tables and lines as the tools print them, and as people paste them."""

import json

import pytest

from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import EventKind
from kafkatx.text.pages.part import PartKind
from kafkatx.text.pages.parts import parts
from kafkatx.text.tools.answers import answers

HANGING = (
    "Topic \tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)\t",
    "orders\t6        \t18110     \t0            \t31              \t5501220    \t1721451600000\t2911         \t",
)
PRODUCERS = (
    "$ kafka-transactions.sh --bootstrap-server b:9092 describe-producers --topic orders --partition 3",
    "ProducerId\tProducerEpoch\tLatestCoordinatorEpoch\tLastSequence\tLastTimestamp\tCurrentTransactionStartOffset\t",
    "504       \t12           \t4                     \t7           \t1696154400000\t81200                        \t",
    "611       \t0            \t-1                    \t90122       \t1696242031155\tNone                         \t",
)
RPK = (
    "LEADER  TOPIC   PARTITION  PRODUCER-ID  PRODUCER-EPOCH  LAST-SEQUENCE  LAST-TIMESTAMP  COORDINATOR-EPOCH  "
    "TXN-START-OFFSET  ERROR",
    "0       orders  1          4002         3               17             2024-05-04T10:00:00.000+02:00  2   118",
    "0       orders  1          4003         0               2              2024-05-04T11:00:00.000+02:00  2   -1",
)
KCL = (
    "TOPIC   PARTITION  ERROR  ID    EPOCH  LAST-SEQUENCE  LAST-TIMESTAMP           COORDINATOR-EPOCH  "
    "TXN-START-OFFSET",
    "orders  1                 4002  3      17             2024-05-04 08:00:00      2                  118",
    "orders  1                 4003  0      2              2024-05-04 09:00:00.25   2                  -1",
    "orders  2          NOT_LEADER_FOR_PARTITION: This server is not the leader for that topic-partition.       ",
)
KCL_BEFORE = (KCL[0].replace("-", " "), *KCL[1:])
"""Up to 0.17 the names of the columns have blanks in them."""
KCL_JSON = (
    '{ "_command": "txn.describe-producers", "_version": 1, "producers": [',
    '{"topic": "orders", "partition": 1, "error": "", "id": 4002, "epoch": 3, "last_sequence": 17,',
    '"last_timestamp": "2024-05-04 08:00:00", "coordinator_epoch": 2, "txn_start_offset": 118},',
    '{"topic": "orders", "partition": 1, "error": "", "id": 4003, "epoch": 0, "last_sequence": 2,',
    '"last_timestamp": "2024-05-04 09:00:00.25", "coordinator_epoch": 2, "txn_start_offset": -1}]}',
)
RPK_JSON = (
    '[{"leader":0,"topic":"orders","partition":1,"producer_id":4002,"producer_epoch":3,"last_sequence":17,'
    '"last_timestamp":"1714809600000","coordinator_epoch":2,"transaction_start_offset":118},'
    '{"leader":0,"topic":"orders","partition":1,"producer_id":4003,"producer_epoch":0,"last_sequence":2,'
    '"last_timestamp":"1714813200000","coordinator_epoch":2,"transaction_start_offset":-1}]'
)
SNAPSHOT = (
    "producerId: 5 producerEpoch: 0 coordinatorEpoch: 1 currentTxnFirstOffset: OptionalLong[118] lastTimestamp: 1000 "
    "firstSequence: 0 lastSequence: 3 lastOffset: 121 offsetDelta: 3 timestamp: 1000",
    "producerId: 7 producerEpoch: 2 coordinatorEpoch: 1 currentTxnFirstOffset: OptionalLong.empty lastTimestamp: 8000 "
    "firstSequence: 0 lastSequence: 3 lastOffset: 411 offsetDelta: 3 timestamp: 8000",
)
GROUP = (
    "GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST       CLIENT-ID",
    "audit  orders  0          118             98231           98113 c-1         /10.0.0.1  c",
    "audit  orders  1          -               5               -    -            -          -",
)


@pytest.fixture
def told(tmp_path):
    def reader(*lines: str):
        path = tmp_path / "page.txt"
        path.write_text("\n".join(lines) + "\n")
        found = []
        with OpenFile(str(path)) as file:
            for part in parts(file):
                if part.kind in (PartKind.ANSWER, PartKind.DUMP_SNAPSHOT):
                    facts = answers(file, part)
                    found += [(row, facts.strings) for row in facts.events]
        return found

    return reader


def columns(event, *names: str):
    row, strings = event
    return tuple(
        strings[row[f"{name}_code"]] if f"{name}_code" in row.dtype.names else int(row[name]) for name in names
    )


@pytest.mark.parametrize("paste", [str, lambda line: "> " + " ".join(line.split()), lambda line: "    " + line])
def test_find_hanging_names_a_transaction(paste, told):
    (event,) = told(*map(paste, HANGING))
    assert columns(event, "kind", "topic", "partition", "producer_id", "offset", "number", "line") == (
        EventKind.hanging_found, "orders", 6, 18110, 5501220, 2911 * 60_000, 2
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (PRODUCERS, ("orders", 3, 504, 12, 81200, 87_631_155)),
        (RPK, ("orders", 1, 4002, 3, 118, 3_600_000)),
        (KCL, ("orders", 1, 4002, 3, 118, 3_600_250)),
        (KCL_BEFORE, ("orders", 1, 4002, 3, 118, 3_600_250)),
        (json.dumps(json.loads("".join(KCL_JSON)), indent=2).split("\n"), ("orders", 1, 4002, 3, 118, 3_600_250)),
        (("".join(KCL_JSON),), ("orders", 1, 4002, 3, 118, 3_600_250)),
        ((RPK_JSON,), ("orders", 1, 4002, 3, 118, 3_600_000)),
        (("Dumping /data/orders-0/00000000000000000412.snapshot", *SNAPSHOT), ("orders", 0, 5, 0, 118, 7000)),
    ],
    ids=["kafka-transactions", "rpk", "kcl", "kcl 0.17", "kcl, json", "kcl, one line", "rpk, json", "snapshot"],
)
def test_producer_states_tell_what_is_open_and_for_how_long_others_wrote_since(lines, expected, told):
    (event,) = told(*lines)
    assert columns(event, "kind") == (EventKind.transaction_open,)
    assert columns(event, "topic", "partition", "producer_id", "producer_epoch", "offset", "number") == expected


def test_positions_of_a_group_without_those_that_are_none(told):
    (event,) = told(*GROUP)
    assert columns(event, "kind", "group", "topic", "partition", "offset", "number", "detail") == (
        EventKind.position_told, "audit", "orders", 0, 118, 98231, "consumer group"
    )  # fmt: skip


def test_lines_that_tell_something_by_themselves(told):
    found = told(
        "kcat -b k:9092 -Q -t orders:1:-1",
        "orders [1] offset 51877",
        "kcat -b k:9092 -C -t orders -p 1 -e -X isolation.level=read_committed",
        "% Reached end of topic orders [1] at offset 44010: exiting",
        "$ kafka-topics.sh --describe --topic __transaction_state",
        "\tTopic: __transaction_state\tPartition: 12\tLeader: none\tReplicas: 3\tIsr: 3",
        "\tTopic: __transaction_state\tPartition: 13\tLeader: 2\tReplicas: 2\tIsr: 2",
        "Failed to describe transaction state of transactional-id `a-2`: The transactionalId could not be found.",
    )
    assert [EventKind(int(row["kind"])).name for row, _ in found] == [
        "position_told", "position_told", "leader_missing", "id_unknown"
    ]  # fmt: skip
    assert columns(found[0], "number", "detail") == (51877, "log end")
    assert columns(found[1], "offset", "detail") == (44010, "read_committed")
    assert columns(found[2], "topic", "partition") == ("__transaction_state", 12)


@pytest.mark.parametrize(
    ("line", "told_of"),
    [
        ('kafka_cluster_partition_laststableoffsetlag{topic="orders",partition="3"} 41.0', ("LastStableOffsetLag", 41)),
        (
            'kafka_cluster_partition_last_stable_offset_lag{topic="orders",partition="3"} 41',
            ("LastStableOffsetLag", 41),
        ),
        ('kafka_partitions_with_late_transactions_count{cluster="prod"} 2', ("PartitionsWithLateTransactionsCount", 2)),
    ],
)
def test_metrics_are_known_by_their_letters_alone(line, told_of, told):
    (event,) = told(line)
    assert columns(event, "detail", "number") == told_of


@pytest.mark.parametrize(
    "line",
    [
        "Alert on `PartitionsWithLateTransactionsCount` > 0; five minutes are added.",
        'kafka_server_replicamanager_value{name="PartitionsWithLateTransactionsCount"} 0',
        "Could not find any open transactions starting at offset 1881 on partition orders-2",
        HANGING[0],
    ],
)
def test_what_tells_of_nothing(line, told):
    assert told(line) == []
