"""What admin tools, UIs and metrics answer about one state of a cluster, and what is to be concluded from it.

A situation is what holds at a moment: the coordinator's word of an id, the producers of a partition, where a group is.
Each tool prints it in its own columns, and people paste tables in several shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.small_histories.histories import Conclusion

NOW = 1_733_400_000_000
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
Cells = list[list[str]]
QUIET = Conclusion(None)


@dataclass(frozen=True, slots=True)
class Answer:
    """A text, what it is, and what is concluded from it."""

    name: str
    text: str
    concludes: Conclusion


def kafkas(table: Cells) -> str:
    """ToolsUtils.prettyPrintTable: columns padded, parted by tabs."""
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    return "\n".join("".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)) for row in table)


def spaced(table: Cells) -> str:
    """Tabs become blanks on a screen."""
    widths = [max(len(row[at]) for row in table) + 2 for at in range(len(table[0]))]
    lines = ("".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in table)
    return "\n".join(lines)


def in_markdown(table: Cells) -> str:
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    return "\n".join([head, "|" + "---|" * len(table[0]), *rows])


def boxed(table: Cells) -> str:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    lines = [
        "|" + "|".join(f" {cell:<{width}} " for cell, width in zip(row, widths, strict=True)) + "|" for row in table
    ]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


def separated(table: Cells) -> str:
    """As a spreadsheet or `--csv` gives it."""
    return "\n".join(",".join(row) for row in table)


SHAPES: tuple[Callable[[Cells], str], ...] = (kafkas, spaced, in_markdown, boxed, separated)


@dataclass(frozen=True, slots=True)
class Told:
    """What a coordinator says of an id."""

    id: str
    state: str
    timeout: int
    lasted: int
    producer: int = 71002
    epoch: int = 6
    place: str = "ledger-3"


def describe(told: Told) -> Cells:
    is_open = told.state in ("Ongoing", "PrepareCommit", "PrepareAbort")
    return [
        ["CoordinatorId", "TransactionalId", "ProducerId", "ProducerEpoch", "TransactionState", "TransactionTimeoutMs",
         "CurrentTransactionStartTimeMs", "TransactionDurationMs", "TopicPartitions"],
        ["3", told.id, str(told.producer), str(told.epoch), told.state, str(told.timeout),
         str(NOW - told.lasted) if is_open else "None", str(told.lasted) if is_open else "None",
         told.place if is_open else ""],
    ]  # fmt: skip


def described_by_rpk(told: Told) -> Cells:
    at = datetime.fromtimestamp((NOW - told.lasted) / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        ["COORDINATOR", "TRANSACTIONAL-ID", "PRODUCER-ID", "PRODUCER-EPOCH", "STATE", "START-TIMESTAMP", "TIMEOUT",
         "TOPICS"],
        ["3", told.id, str(told.producer), str(told.epoch), told.state, at, f"{told.timeout // 1000}s",
         f"{told.place.rpartition('-')[0]}[{told.place.rpartition('-')[2]}]"],
    ]  # fmt: skip


def description(told: Told) -> str:
    """Admin.describeTransactions, printed by a program."""
    return (
        f"{told.id}=TransactionDescription(coordinatorId=3, state={told.state}, producerId={told.producer}, "
        f"producerEpoch={told.epoch}, transactionTimeoutMs={told.timeout}, transactionStartTimeMs=OptionalLong["
        f"{NOW - told.lasted}], topicPartitions=[{told.place}])"
    )


PATIENT = Told("recon-nightly", "Ongoing", 4 * HOUR, 3 * HOUR)
STUCK = Told("wallet-updater-2", "PrepareCommit", MINUTE, 3 * DAY)
STUCK_ABORT = Told("wallet-updater-2", "PrepareAbort", MINUTE, 7 * HOUR)
YOUNG = Told("billing-1", "Ongoing", MINUTE, 310)
OVERDUE = Told("billing-1", "Ongoing", MINUTE, 9 * HOUR)
DONE = Told("billing-1", "CompleteCommit", MINUTE, 0)
BLOCKED = frozenset({"read_committed_blocked"})


def of_ids() -> Iterator[Answer]:
    for told, rule, is_sure in (
        (PATIENT, "open_transaction", True),
        (STUCK, "stuck_prepare", True),
        (STUCK_ABORT, "stuck_prepare", True),
        (OVERDUE, "open_transaction", False),
        (YOUNG, None, False),
        (DONE, None, False),
    ):
        also = frozenset({"open_transaction"}) if rule is None else BLOCKED
        concludes = Conclusion(rule, is_sure, also)
        command = f"$ kafka-transactions.sh --bootstrap-server k1:9092 describe --transactional-id {told.id}\n"
        for shape in SHAPES:
            yield Answer(
                f"describe {told.state} {told.lasted} {shape.__name__}", command + shape(describe(told)), concludes
            )
        # neither tells how late it is: of an open transaction nothing follows, of a decided one that it may be stuck
        timeless = Conclusion(rule if told.state.startswith("Prepare") else None, False, also | {"open_transaction"})
        for shape in (spaced, in_markdown):
            yield Answer(f"rpk {told.state} {told.lasted} {shape.__name__}", shape(described_by_rpk(told)), timeless)
        yield Answer(f"client {told.state} {told.lasted}", description(told), timeless)


def _producers(rows: list[tuple[int, int, int, str]]) -> Cells:
    head = ["ProducerId", "ProducerEpoch", "LatestCoordinatorEpoch", "LastSequence", "LastTimestamp",
            "CurrentTransactionStartOffset"]  # fmt: skip
    return [head, *([str(one), str(epoch), "33", "17", str(NOW - ago), since] for one, epoch, ago, since in rows)]


def _producers_by_rpk(rows: list[tuple[int, int, int, str]]) -> Cells:
    head = ["LEADER", "TOPIC", "PARTITION", "PRODUCER-ID", "PRODUCER-EPOCH", "LAST-SEQUENCE", "LAST-TIMESTAMP",
            "COORDINATOR-EPOCH", "TXN-START-OFFSET"]  # fmt: skip
    return [head, *(
        ["2", "pick.list", "8", str(one), str(epoch), "17",
         datetime.fromtimestamp((NOW - ago) / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "33",
         "-1" if since == "None" else since]
        for one, epoch, ago, since in rows
    )]  # fmt: skip


LATE = [(18044, 5, 40, "None"), (17650, 9, 3 * DAY, "310552")]
USUAL = [(18044, 5, 40, "None"), (17650, 9, 900, "310552")]
IDLE = [(18044, 5, 40, "None"), (17650, 9, 3 * DAY, "None")]


def of_partitions() -> Iterator[Answer]:
    command = "$ kafka-transactions.sh --bootstrap-server k1:9092 describe-producers --topic pick.list --partition 8\n"
    late = Conclusion("open_transaction", True, BLOCKED | {"hanging_transaction"})
    usual = Conclusion(None, also=frozenset({"open_transaction"}))
    for rows, concludes, name in ((LATE, late, "late"), (USUAL, usual, "usual"), (IDLE, QUIET, "idle")):
        for shape in SHAPES:
            yield Answer(f"producers {name} {shape.__name__}", command + shape(_producers(rows)), concludes)
        for shape in (spaced, in_markdown):
            yield Answer(f"rpk producers {name} {shape.__name__}", shape(_producers_by_rpk(rows)), concludes)
    hanging = Conclusion("hanging_transaction", True, BLOCKED)
    over = Told("pick-7", "CompleteAbort", MINUTE, 0, 17650, 10)
    for shape in SHAPES[:4]:
        both = f"{command}{shape(_producers(LATE))}\n\n$ kafka-transactions.sh describe --transactional-id pick-7\n"
        yield Answer(f"late and over {shape.__name__}", both + shape(describe(over)), hanging)
        held = Told("pick-7", "Ongoing", 7 * DAY, 3 * DAY, 17650, 9, "pick.list-8")
        both = f"{command}{shape(_producers(LATE))}\n\n$ kafka-transactions.sh describe --transactional-id pick-7\n"
        open_ = Conclusion("open_transaction", True, BLOCKED)
        yield Answer(f"late and held {shape.__name__}", both + shape(describe(held)), open_)
        stuck = Told("pick-7", "PrepareAbort", MINUTE, 3 * DAY, 17650, 10, "pick.list-8")
        both = f"{command}{shape(_producers(LATE))}\n\n$ kafka-transactions.sh describe --transactional-id pick-7\n"
        yield Answer(
            f"late and stuck {shape.__name__}",
            both + shape(describe(stuck)),
            Conclusion("stuck_prepare", True, BLOCKED),
        )
    head = ["Topic", "Partition", "ProducerId", "ProducerEpoch", "CoordinatorEpoch", "StartOffset", "LastTimestamp",
            "Duration(min)"]  # fmt: skip
    row = ["loyalty", "6", "18110", "0", "31", "5501220", str(NOW - 2911 * MINUTE), "2911"]
    for shape in SHAPES:
        find = "$ kafka-transactions.sh --bootstrap-server b0:9092 find-hanging --broker-id 2\n"
        yield Answer(f"find-hanging {shape.__name__}", find + shape([head, row]), hanging)
    for shape in (kafkas, spaced):
        yield Answer(f"find-hanging nothing {shape.__name__}", find + shape([head]), QUIET)


def of_lists() -> Iterator[Answer]:
    head = ["TransactionalId", "Coordinator", "ProducerId", "TransactionState"]
    usual = [["a-0", "0", "11", "CompleteCommit"], ["a-1", "1", "12", "Ongoing"], ["a-2", "2", "13", "Empty"],
             ["a-3", "2", "14", "CompleteAbort"]]  # fmt: skip
    stuck = [
        ["a-0", "0", "11", "PrepareCommit"],
        ["a-1", "1", "12", "PrepareCommit"],
        ["a-2", "2", "13", "PrepareAbort"],
    ]
    for shape in SHAPES:
        command = "$ kafka-transactions.sh --bootstrap-server k1:9092 list\n"
        quiet = Conclusion(None, also=frozenset({"open_transaction"}))
        yield Answer(f"list usual {shape.__name__}", command + shape([head, *usual]), quiet)
        yield Answer(f"list stuck {shape.__name__}", command + shape([head, *stuck]), Conclusion("stuck_prepare", True))


def _group(positions: list[tuple[int, int, int]], member: str = "consumer-r-1-0b6c2d1e") -> Cells:
    head = [
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    ]
    return [head, *(
        ["readers", "ledger", str(number), str(at), str(end), str(end - at), member, "/10.1.2.3", "consumer-r-1"]
        for number, at, end in positions
    )]  # fmt: skip


def _group_by_rpk(positions: list[tuple[int, int, int]]) -> Cells:
    head = ["TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-START-OFFSET", "LOG-END-OFFSET", "LAG", "MEMBER-ID",
            "CLIENT-ID", "HOST"]  # fmt: skip
    return [
        head,
        *(
            ["ledger", str(n), str(at), "0", str(end), str(end - at), "c-1", "c", "10.1.2.3"]
            for n, at, end in positions
        ),
    ]


def of_groups() -> Iterator[Answer]:
    behind_markers = [(0, 120, 121), (1, 98, 99), (2, 131, 132)]
    first, later = [(0, 310, 900), (1, 500, 501)], [(0, 310, 2500), (1, 640, 641)]
    for shape in (spaced, kafkas, in_markdown, boxed, separated):
        command = "$ kafka-consumer-groups.sh --bootstrap-server k1:9092 --describe --group readers\n"
        yield Answer(f"group behind markers {shape.__name__}", command + shape(_group(behind_markers)), QUIET)
        twice = f"{command}{shape(_group(first))}\n\n20 min later:\n{command}{shape(_group(later))}"
        yield Answer(f"group stands {shape.__name__}", twice, Conclusion("read_committed_blocked", True))
    for shape in (spaced, in_markdown):
        yield Answer(f"rpk group behind markers {shape.__name__}", shape(_group_by_rpk(behind_markers)), QUIET)
    both = f"{spaced(_group_by_rpk(first))}\n\n20 min later:\n{spaced(_group_by_rpk(later))}"
    yield Answer("rpk group stands", both, Conclusion("read_committed_blocked", True))


def of_offsets() -> Iterator[Answer]:
    blocked = Conclusion("read_committed_blocked", True)
    for name, line in (
        ("words", "partition ledger-3: LSO = {stable}, high watermark = {end}"),
        ("fields", "ledger-3 lastStableOffset={stable} logEndOffset={end}"),
        ("client", "endOffsets(read_committed)={{ledger-3={stable}}} endOffsets(read_uncommitted)={{ledger-3={end}}}"),
        ("client2", "ledger-3 read_committed end={stable} read_uncommitted end={end}"),
        ("client3", "ledger-3: endOffsets read_committed {stable}, read_uncommitted {end}"),
        ("table", "topic=ledger partition=3 lso={stable} hw={end}"),
        (
            "statistics",
            '"ledger": {{"partitions": {{"3": {{"partition": 3, "hi_offset": {end}, "ls_offset": {stable}}}}}}}',
        ),
    ):
        stands = "\n".join(line.format(stable=310, end=end) for end in (900, 2500, 7100))
        yield Answer(f"stable offset stands {name}", stands, blocked)
        moves = "\n".join(line.format(stable=end - 2, end=end) for end in (900, 2500, 7100))
        yield Answer(f"stable offset moves {name}", moves, QUIET)
        equal = "\n".join(line.format(stable=end, end=end) for end in (900, 2500, 7100))
        yield Answer(f"stable offset at the end {name}", equal, QUIET)
    for name, line in (
        ("exporter", 'kafka_cluster_partition_laststableoffsetlag{{topic="ledger",partition="3"}} {lag}'),
        (
            "exporter2",
            'kafka_cluster_Partition_Value{{name="LastStableOffsetLag",partition="3",topic="ledger",}} {lag}.0',
        ),
        ("bean", "kafka.cluster:type=Partition,name=LastStableOffsetLag,topic=ledger,partition=3 Value={lag}"),
        ("bean2", "kafka.cluster:type=Partition,name=LastStableOffsetLag,topic=ledger,partition=3:Value {lag}"),
    ):
        grows = "\n".join(line.format(lag=lag) for lag in (80_000, 120_000, 310_000))
        yield Answer(f"lag grows {name}", grows, blocked)
        rests = "\n".join(line.format(lag=lag) for lag in (0, 12, 0, 3))
        yield Answer(f"lag rests {name}", rests, QUIET)


def of_topics() -> Iterator[Answer]:
    line = "\tTopic: {topic}\tPartition: {n}\tLeader: {leader}\tReplicas: 2,4,5\tIsr: {isr}"
    for name, leader in (("none", "none"), ("-1", "-1")):
        text = "\n".join(line.format(topic="__transaction_state", n=n, leader=leader, isr="") for n in (6, 21, 38))
        yield Answer(f"no leader {name}", text, Conclusion("coordinator_unavailable", True))
    few = "\n".join(line.format(topic="__transaction_state", n=n, leader=2, isr="2") for n in (6, 21, 38))
    command = "$ kafka-topics.sh --bootstrap-server k1:9092 --describe --under-min-isr-partitions\n"
    yield Answer("under min isr", command + few, Conclusion("coordinator_unavailable", True))
    head = (
        "Topic: __transaction_state\tTopicId: x1\tPartitionCount: 50\tReplicationFactor: 3\t"
        "Configs: cleanup.policy=compact,min.insync.replicas={}\n"
    )
    yield Answer("few of two", head.format(2) + few, Conclusion("coordinator_unavailable", True))
    yield Answer("one of one", head.format(1) + few, QUIET)
    healthy = "\n".join(line.format(topic="__transaction_state", n=n, leader=2, isr="2,4,5") for n in (6, 21, 38))
    yield Answer("leaders", healthy, QUIET)


def answers() -> Iterator[Answer]:
    """Yield all answers."""
    for told in (of_ids, of_partitions, of_lists, of_groups, of_offsets, of_topics):
        yield from told()
