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
