"""Answers of tools: what they decide, what they only suggest, and what is healthy."""

import pytest

from kafkatx import diagnose
from kafkatx.terms.verdicts import Severity, Verdict

HANGING = (
    "Topic \tPartition\tProducerId\tProducerEpoch\tCoordinatorEpoch\tStartOffset\tLastTimestamp\tDuration(min)\t",
    "orders\t6        \t18110     \t0            \t31              \t5501220    \t1721451600000\t2911         \t",
)
PRODUCERS = (
    "$ kafka-transactions.sh --bootstrap-server b:9092 describe-producers --topic orders --partition 3",
    "ProducerId\tProducerEpoch\tLatestCoordinatorEpoch\tLastSequence\tLastTimestamp\tCurrentTransactionStartOffset\t",
    "504       \t12           \t4                     \t7           \t{at}\t81200                        \t",
    "611       \t0            \t-1                    \t90122       \t1696242031155\tNone                         \t",
)
GROUP = "GROUP  TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST       CLIENT-ID"
DESCRIBE = (
    "CoordinatorId\tTransactionalId\tProducerId\tProducerEpoch\tTransactionState\tTransactionTimeoutMs\t"
    "CurrentTransactionStartTimeMs\tTransactionDurationMs\tTopicPartitions\t",
    "3\tpay-7\t4002\t12\t{state}\t60000\t1675842080000\t{lasted}\torders-0,orders-1\t",
)
STUCK = "a consumer that is stuck for reasons of its own"
TOPICS = "\tTopic: {topic}\tPartition: 12\tLeader: {leader}\tReplicas: 3\tIsr: 3"


@pytest.fixture
def told(tmp_path):
    def of(*lines: str):
        path = tmp_path / "page.md"
        path.write_text("\n".join(lines) + "\n")
        return {one.finding.rule: one.finding for one in diagnose([path]).findings}

    return of


def test_find_hanging_names_a_hanging_transaction(told):
    found = told(*HANGING)["hanging_transaction"]
    assert (found.verdict, found.severity, found.topic, found.partition) == (
        Verdict.likely,
        Severity.error,
        "orders",
        6,
    )
    assert any("--start-offset 5501220" in (one.command or "") for one in found.remedies)


@pytest.mark.parametrize(
    ("at", "verdict", "severity"),
    [("1696154400000", Verdict.likely, Severity.warning), ("1696242030000", Verdict.possible, Severity.info)],
    ids=["others wrote for a day", "a second ago"],
)
def test_an_open_transaction_is_late_only_where_others_wrote_for_long(at, verdict, severity, told):
    found = told(*(line.format(at=at) for line in PRODUCERS))
    assert set(found) == {"open_transaction"}
    assert (found["open_transaction"].verdict, found["open_transaction"].severity) == (verdict, severity)


def test_a_position_that_stands_while_the_end_goes_on(told):
    first = (
        GROUP,
        "audit  orders  2  88110  88111  1  c-1  /h  c",
        "audit  orders  3  70211  91840  21629  c-1  /h  c",
    )
    later = ("", "audit  orders  2  88402  88403  1  c-1  /h  c", "audit  orders  3  70211  92133  21922  c-1  /h  c")
    found = told(*first, *later)["read_committed_blocked"]
    assert (found.verdict, found.partition, found.first_offset) == (Verdict.likely, 3, 70211)
    assert found.who == "group audit"
    assert [(one.rule, one.refuted) for one in found.considered] == [(STUCK, False)]
    assert [remedy.command.split()[3] for remedy in found.remedies] == ["describe-producers", "find-hanging"]
    read = told(*first, *later, "", "`read_uncommitted` gets all of partition 3")["read_committed_blocked"]
    assert [(one.rule, one.refuted) for one in read.considered] == [(STUCK, True)]
    unread = told(*first, *later, "", "read_uncommitted does not get it either")["read_committed_blocked"]
    assert unread.considered == found.considered


@pytest.mark.parametrize(
    "lines",
    [
        (GROUP, "audit  orders  2  88110  88111  1  c-1  /h  c"),
        (GROUP, "audit  orders  2  88110  98111  10001  -  -  -"),
        (TOPICS.format(topic="__transaction_state", leader=3),),
        (
            "TransactionalId\tCoordinator\tProducerId\tTransactionState\t",
            "a\t1\t5\tOngoing\t",
            "b\t1\t6\tCompleteCommit\t",
        ),
        tuple(line.format(state="Ongoing", lasted=1500) for line in DESCRIBE),
    ],
    ids=["the marker's lag", "one print", "a leader", "a list", "a young transaction"],
)
def test_healthy_answers_are_no_findings_above_info(lines, told):
    assert all(found.severity is Severity.info for found in told(*lines).values())


def test_an_age_is_that_of_the_call(told):
    found = told(*(line.format(state="Ongoing", lasted=1_500_000) for line in DESCRIBE))["open_transaction"]
    assert found.severity is Severity.warning
    assert "25 min" in found.summary


def test_a_decision_that_does_not_end(told):
    found = told(*(line.format(state="PrepareAbort", lasted=262_440_120) for line in DESCRIBE))["stuck_prepare"]
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("{thrown}: Timeout expired after 60000ms while awaiting InitProducerId", {"stuck_prepare"}),
        ("[Producer clientId=c, transactionalId=pay-7] {thrown}: Timeout expired after 60000ms while awaiting "
         "InitProducerId", {"stuck_prepare"}),
        ("[Producer clientId=c, transactionalId=pay-8] {thrown}: Timeout expired after 60000ms while awaiting "
         "InitProducerId", {"stuck_prepare", "coordinator_unavailable"}),
        ("{thrown}: Timeout expired after 60000ms while awaiting AddOffsetsToTxn",
         {"stuck_prepare", "coordinator_unavailable"}),
    ],
    ids=["of no id", "of that id", "of another id", "another call"],
)  # fmt: skip
def test_a_call_that_gave_up_waited_for_the_decision_of_its_id(line, rules, told):
    thrown = line.format(thrown="org.apache.kafka.common.errors.TimeoutException")
    found = told(thrown, "", *(row.format(state="PrepareCommit", lasted=1_027_000) for row in DESCRIBE))
    assert set(found) == rules
    cited = {place.line for step in found["stuck_prepare"].steps for place in step.places}
    assert (1 in cited) == (rules == {"stuck_prepare"})


def test_partitions_of_coordinators_without_a_leader(told):
    found = told(TOPICS.format(topic="__transaction_state", leader="none"))["coordinator_unavailable"]
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert not told(TOPICS.format(topic="orders", leader="none"))


def test_an_id_that_is_not_known_needs_a_refused_client(told):
    answer = "Failed to describe transaction state of transactional-id `a-2`: The transactionalId could not be found."
    refused = (
        "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id "
        "which is not currently assigned to its transactional id."
    )
    assert told(refused, "", answer)["transactional_id_expired"].verdict is Verdict.likely
    assert "transactional_id_expired" not in told(answer)


CASE = (
    PRODUCERS[0],
    PRODUCERS[1],
    "14022\t8\t4\t310\t1731832141502\t3120077\t",
    "$ kafka-transactions.sh --bootstrap-server b:9092 describe --transactional-id case-2",
    DESCRIBE[0],
)
ENDED = "1\tcase-2\t14022\t9\tCompleteAbort\t60000\tNone\tNone\t\t"
OTHER_PARTITION = "1\tcase-2\t14022\t9\tOngoing\t60000\t1731832141600\t900000\torders-7\t"
SAME_PARTITION = "1\tcase-2\t14022\t8\tOngoing\t60000\t1731832141500\t900000\torders-3\t"


@pytest.mark.parametrize("state", [ENDED, OTHER_PARTITION], ids=["ended", "another transaction"])
def test_what_a_partition_has_open_and_its_coordinator_has_not_hangs(state, told):
    found = told(*CASE, state)["hanging_transaction"]
    assert (found.verdict, found.severity, found.partition, found.first_offset) == (
        Verdict.likely,
        Severity.error,
        3,
        3120077,
    )


def test_what_its_coordinator_lists_does_not_hang(told):
    found = told(*CASE, SAME_PARTITION)
    assert "hanging_transaction" not in found
    assert found["open_transaction"].transactional_id == "case-2"


def test_an_open_transaction_of_a_long_timeout_is_a_warning_where_a_tool_was_asked(told):
    row = "3\tsink-0-7\t4002\t0\tOngoing\t14400000\t1675842080000\t11905113\torders-0\t"
    found = told(DESCRIBE[0], row)["open_transaction"]
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)


KCL = (
    "$ kcl admin txn unstick-lso orders",
    "Found partition 9 stuck at offset 733, looking for producer that caused this...",
    "Found causing producer ID and epoch 6000/0, looking in __transaction_state to find its transactional id...",
    "",
    "Found topic orders stuck with transactional id tx-b.",
)


def test_a_stuck_partition_whose_end_is_refused_hangs(told):
    said = "The producer attempted a transactional operation in an invalid state."
    refused = f"EndTxn request had error: INVALID_TXN_STATE: {said}"
    found = told(*KCL, "Proceeding to unstick...", "", refused)
    assert set(found) == {"hanging_transaction"}
    assert (found["hanging_transaction"].verdict, found["hanging_transaction"].transactional_id) == (
        Verdict.likely,
        "tx-b",
    )
    assert (found["hanging_transaction"].topic, found["hanging_transaction"].partition) == ("orders", 9)


def test_a_stuck_partition_alone_is_an_open_transaction(told):
    found = told(*KCL)["open_transaction"]
    assert (found.verdict, found.severity) == (Verdict.possible, Severity.warning)


STANDS = {
    "one's own prints": (
        "orders-5  endOffsets(read_committed)=880  endOffsets(read_uncommitted)=1297  position=880",
        "orders-5  endOffsets(read_committed)=880  endOffsets(read_uncommitted)=1300  position=880",
    ),
    "statistics": (
        '{"topics":{"orders":{"partitions":{"5":{"partition":5,"hi_offset":1297,"ls_offset":880}}}}}',
        '{"topics":{"orders":{"partitions":{"5":{"partition":5,"hi_offset":1300,"ls_offset":880}}}}}',
    ),
    "statistics over many lines": (
        '"topic": "orders"',
        '"hi_offset": 1297,',
        '"ls_offset": 880,',
        '"hi_offset": 1300,',
        '"ls_offset": 880,',
    ),
    "a consumer's log": tuple(
        f"2024-01-01 10:00:0{number},000 DEBUG [Consumer clientId=c, groupId=g] Fetch READ_COMMITTED at offset 880 for "
        f"partition orders-5 returned fetch data (error=NONE, highWaterMark={end}, lastStableOffset = 880, "
        "logStartOffset = 0, preferredReadReplica = absent, abortedTransactions = null, recordsSizeInBytes=0)"
        for number, end in enumerate((1297, 1300))
    ),
    "librdkafka's log": tuple(
        f"%7|174116040{number}.001|FETCH|a#consumer-1| [thrd:k1:9092/1]: k1:9092/1: Topic orders [5] MessageSet size "
        f'0, error "Success", MaxOffset {end}, LSO 880, Ver 2/2'
        for number, end in enumerate((1297, 1300))
    ),
    "a reader": ("orders [5]: `committed = 880`, `LSO = 880`, `high watermark = 1300`",),
}


@pytest.mark.parametrize("lines", STANDS.values(), ids=STANDS)
def test_a_last_stable_offset_that_stands(lines, told):
    found = told(*lines)["read_committed_blocked"]
    assert (found.verdict, found.first_offset) == (Verdict.likely, 880)
    assert (found.topic, found.partition) in (("orders", 5), (None, None))


@pytest.mark.parametrize(
    "lines",
    [
        ("orders-5 LSO=880 HW=1300",),
        ("orders-5 LSO=880 HW=1300", "orders-5 LSO=1299 HW=1300"),
        ("orders-5 position=880 LSO=880 HW=880", "orders-5 position=881 LSO=881 HW=881"),
        (
            "2024-01-01 10:00:00,000 DEBUG orders-5 LSO=880 HW=1300",
            "2024-01-01 10:00:01,000 DEBUG orders-5 LSO=880 HW=1301",
        ),
    ],
    ids=["one print", "it goes on", "all read", "a log"],
)
def test_last_stable_offsets_of_every_day(lines, told):
    assert "read_committed_blocked" not in told("some prose about it", *lines)


def test_one_print_of_a_group_that_stands_elsewhere_behind_markers(told):
    found = told(
        GROUP, "audit  orders  2  88110  88111  1  c-1  /h  c", "audit  orders  3  70211  91840  21629  c-1  /h  c"
    )
    one = found["read_committed_blocked"]
    assert (one.verdict, one.severity, one.partition) == (Verdict.possible, Severity.info, 3)
    assert not told(GROUP, "audit  orders  3  70211  91840  21629  c-1  /h  c")


NAMED = "seat-1=TransactionDescription(coordinatorId=1, state={state}, producerId=7, producerEpoch=3, {rest})"
REST = "transactionTimeoutMs=60000, transactionStartTimeMs=OptionalLong[1731326403000], topicPartitions=[orders-0]"


def test_names_and_values_are_read_like_a_table(told):
    refused = (
        "KafkaError: Broker: Producer attempted to update a transaction while another concurrent operation on the same "
    )
    refused += "transaction was ongoing"
    line = NAMED.format(state="PrepareAbort", rest=REST)
    assert told(line)["stuck_prepare"].transactional_id == "seat-1"
    condensed = "kafka-transactions describe --transactional-id seat-1 -> TransactionState PrepareAbort, "
    condensed += "TopicPartitions orders-0"
    found = told(refused, "", condensed)["stuck_prepare"]
    assert (found.transactional_id, found.verdict) == ("seat-1", Verdict.likely)
    assert "stuck_prepare" not in told(NAMED.format(state="CompleteAbort", rest=REST))


UUIDS = (
    "0d5c7c0e-7a3f-4a0b-9f59-3c1f3c0a1ad1",
    "10f0a6de-52c8-4f1e-8f3c-64ff5b2f0c73",
    "2b7d8d5a-f7a1-4f0c-8f0b-58d0e4c66b10",
)
LISTED = "TransactionalId\tCoordinator\tProducerId\tTransactionState\t"


def test_ids_that_differ_in_a_uuid_alone(told):
    rows = [f"pay-{one}\t1\t{number}\tCompleteCommit\t" for number, one in enumerate(UUIDS, 811)]
    found = told(LISTED, *rows)["unstable_transactional_id"]
    assert (found.verdict, found.severity, found.count) == (Verdict.likely, Severity.warning, 3)


@pytest.mark.parametrize(
    "names",
    [
        [f"app-{UUIDS[0]}-{thread}" for thread in (1, 2, 3)],
        [f"pay-{one}" for one in UUIDS[:2]],
        ["pay-0", "pay-1", "pay-2"],
    ],
    ids=["Kafka Streams", "two", "ordinals"],
)
def test_ids_that_may_stay_the_same(names, told):
    rows = [f"{name}\t1\t{number}\tCompleteCommit\t" for number, name in enumerate(names, 811)]
    assert "unstable_transactional_id" not in told(LISTED, *rows)


def test_decisions_that_are_listed_together_do_not_end(told):
    rows = [f"fee-{number}\t1\t{number}\tPrepareCommit\t" for number in (1, 2)]
    assert told(LISTED, *rows)["stuck_prepare"].verdict is Verdict.likely
    healthy = [f"fee-{number}\t1\t{number}\tCompleteCommit\t" for number in (4, 5, 6, 7)]
    assert told(LISTED, *rows, *healthy)["stuck_prepare"].verdict is Verdict.possible


LISTED = "TransactionalId\tCoordinator\tProducerId\tTransactionState\t"
ASKED_TWICE = (
    "$ kafka-transactions.sh --bootstrap-server b:9092 list",
    LISTED,
    "book-relay\t1          \t3        \tOngoing         \t",
    "$ sleep 60; kafka-transactions.sh --bootstrap-server b:9092 list",
    LISTED,
    "book-relay\t1          \t{producer}        \t{state}   \t",
)


def test_an_id_that_two_lists_show_open_and_then_aborted(told):
    found = told(*(line.format(producer=3, state="CompleteAbort") for line in ASKED_TWICE))
    assert {rule: (one.severity, one.verdict) for rule, one in found.items()} == {
        "open_transaction": (Severity.warning, Verdict.likely)
    }
    assert [place.offset for place in found["open_transaction"].places()] == [0, 2]


@pytest.mark.parametrize(("producer", "state"), [(3, "CompleteCommit"), (4, "CompleteAbort"), (3, "Ongoing")])
def test_lists_that_show_a_commit_another_producer_or_no_change_tell_nothing(producer, state, told):
    assert not told(*(line.format(producer=producer, state=state) for line in ASKED_TWICE))


def test_two_answers_of_one_page_contradict_nothing(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("\n".join(line.format(producer=3, state="Ongoing") for line in ASKED_TWICE) + "\n")
    assert not diagnose([path]).damage


@pytest.mark.parametrize("logger", ["org.apache.kafka.tools.consumer.ConsoleConsumer", "kafka.tools.ConsoleConsumer$"])
@pytest.mark.parametrize(
    ("message", "is_told"),
    [("", False), (": Timeout of 60000ms expired before the position for partition a-0 could be determined", True)],
)
def test_the_end_of_a_console_consumer_that_read_nothing_is_no_failure(logger, message, is_told, told):
    found = told(
        "$ kafka-console-consumer.sh --topic book --isolation-level read_committed --timeout-ms 5000",
        "a1-2",
        f"[2026-01-30 18:20:21,406] ERROR Error processing message, terminating consumer process:  ({logger})",
        f"org.apache.kafka.common.errors.TimeoutException{message}",
        "Processed a total of 6 messages",
        "the transaction is open",
    )
    assert ("unexplained_failure" in found) == is_told
