"""broker_bug: what only a defect of a broker writes; Kafka's own lines only in a release that has the defect."""

import pytest

from kafkatx.terms.verdicts import Verdict
from tests.rules.defects_told import found_in, told

RULE = "broker_bug"
MARKERS = """\
2022-12-09T14:11:52,490+0000 [nioEventLoopGroup-61-2] ERROR io.streamnative.pulsar.handlers.kop.coordinator.transaction.TransactionMarkerChannelHandler - Transaction marker channel handler caught exception.
java.lang.IllegalStateException: WriteTxnMarkerResponse does not contain expected error map for producer id 2210
    at io.streamnative.pulsar.handlers.kop.coordinator.transaction.TransactionMarkerRequestCompletionHandler.lambda$accept$0(TransactionMarkerRequestCompletionHandler.java:66) ~[?:?]
"""  # noqa: E501
REFUSED_MARKER = """\
[2025-11-20 12:00:03,300] INFO [Transaction State Manager 2]: Loading transaction metadata from __transaction_state-30 at epoch 12 (org.apache.kafka.coordinator.transaction.TransactionStateManager)
[2025-11-20 12:00:03,391] INFO [Transaction Marker Request Completion Handler 2]: Sending orders-tx-3's transaction marker for partition orders-5 has permanently failed with error org.apache.kafka.common.errors.InvalidProducerEpochException with the current coordinator epoch 12; cancel sending any more transaction markers TxnMarkerEntry{producerId=3001, producerEpoch=9, coordinatorEpoch=12, result=COMMIT, partitions=[orders-5]} to the brokers (kafka.coordinator.transaction.TransactionMarkerRequestCompletionHandler)
"""  # noqa: E501

LATE_COMMIT = """\
[2026-07-30 02:11:42,871] INFO [TransactionCoordinator id=2] Completed rollback of ongoing transaction for transactionalId orders-app-3 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)
[2026-07-30 02:11:42,874] WARN [TransactionCoordinator id=2] TransactionalId: orders-app-3's state is COMPLETE_ABORT, but received transaction marker result to send: COMMIT (kafka.coordinator.transaction.TransactionCoordinator)
"""  # noqa: E501


def test_an_answer_that_lacks_what_it_must_hold_is_the_brokers_defect(tmp_path):
    found = told(RULE, tmp_path, MARKERS)
    assert found.verdict is Verdict.likely
    assert "KoP" in found.summary
    assert found.remedies[0].where == "broker"


def test_the_same_words_of_another_broker_are_not_its_defect(tmp_path):
    assert not found_in(RULE, tmp_path, MARKERS.replace("io.streamnative.pulsar.handlers.kop", "kafka"))


@pytest.mark.usefixtures("engine")
def test_kafkas_own_line_needs_a_release_that_has_the_defect(tmp_path):
    assert not found_in(RULE, tmp_path, REFUSED_MARKER)
    assert not found_in(RULE, tmp_path, f"Kafka 3.9.1\n\n{REFUSED_MARKER}")
    assert not found_in(RULE, tmp_path, f"Kafka 4.2.0\n\n{REFUSED_MARKER}")
    assert "KAFKA-19999" in told(RULE, tmp_path, f"Kafka 4.1.0\n\n{REFUSED_MARKER}").summary


def test_a_commit_that_races_with_the_timeout_is_told_with_its_defect(tmp_path):
    assert not found_in(RULE, tmp_path, LATE_COMMIT)
    assert not found_in(RULE, tmp_path, f"Kafka 3.9.1\n\n{LATE_COMMIT}")
    assert "KAFKA-20785" in told(RULE, tmp_path, f"Kafka 4.1.1\n\n{LATE_COMMIT}").summary
    assert not found_in(RULE, tmp_path, f"Kafka 4.1.1\n\n{LATE_COMMIT.splitlines()[1]}\n")


def test_less_of_the_text_is_less_sure(tmp_path):
    marker = REFUSED_MARKER.splitlines()[1]
    assert not found_in(RULE, tmp_path, f"Kafka 4.1.0\n\n{marker}\n")
