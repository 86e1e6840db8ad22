"""client_bug: signs that only a defect makes are enough, others need a release that has it; a guess is a candidate."""

from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.verdicts import Severity, Verdict
from tests.rules.defects_told import found_in, told

RULE = "client_bug"
LATE_BATCH = """\
[2022-11-14T02:41:19,774] ERROR [kafka-producer-network-thread | tx-3] org.apache.kafka.clients.producer.internals.Sender - [Producer clientId=tx-3, transactionalId=settle-3] Uncaught error in request completion:
org.apache.kafka.common.KafkaException: TransactionalId settle-3: Invalid transition attempted from state READY to state ABORTABLE_ERROR
\tat org.apache.kafka.clients.producer.internals.TransactionManager.transitionTo(TransactionManager.java:1078)
\tat org.apache.kafka.clients.producer.internals.TransactionManager.handleFailedBatch(TransactionManager.java:669)
\tat org.apache.kafka.clients.producer.internals.Sender.run(Sender.java:244)
"""  # noqa: E501
MOVED_COORDINATOR = """\
%3|1669240811.020|ADDOFFSETS|rdkafka#producer-1| [thrd:main]: TxnCoordinator/1: Failed to add offsets to transaction on broker TxnCoordinator/1: Broker: Not coordinator
%3|1669240812.020|ADDOFFSETS|rdkafka#producer-1| [thrd:main]: TxnCoordinator/1: Failed to add offsets to transaction on broker TxnCoordinator/1: Broker: Not coordinator
"""  # noqa: E501


def test_a_transition_that_only_the_defect_makes_is_told_without_a_release(tmp_path):
    found = told(RULE, tmp_path, LATE_BATCH)
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.warning, "settle-3")
    assert "A known defect of kafka-clients (KAFKA-14830) is probably behind what settle-3 met" in found.summary
    assert any("4.1.0 and later" in remedy.text for remedy in found.remedies)


def test_a_release_without_the_defect_speaks_against_it(tmp_path):
    assert not found_in(RULE, tmp_path, LATE_BATCH + "\nwe run kafka-clients 4.1.0\n")


def test_signs_that_others_make_too_need_a_release_that_has_the_defect(tmp_path):
    assert not found_in(RULE, tmp_path, MOVED_COORDINATOR)
    assert not found_in(RULE, tmp_path, f"{MOVED_COORDINATOR}\nlibrdkafka 2.3.0")
    found = told(RULE, tmp_path, f"{MOVED_COORDINATOR}\nlibrdkafka 1.7.0")
    assert "librdkafka 1.7.0 (librdkafka#3571)" in found.summary


def test_the_release_that_the_library_logs_counts(tmp_path):
    start = "%7|1669240800.020|INIT|rdkafka#producer-1| [thrd:app]: librdkafka v1.7.0 (0x10700ff) rdkafka#producer-1 initialized (builtin.features gzip, debug 0x0)\n"  # noqa: E501
    assert told(RULE, tmp_path, start + MOVED_COORDINATOR).count >= 1


def test_without_a_release_it_is_a_candidate(tmp_path):
    path = tmp_path / "client.log"
    path.write_text(
        "%1|1669240811.931|TXNERR|rdkafka#producer-2| [thrd:main]: Fatal transaction error: Failed to end transaction: "
        "ProduceRequest failed due to sequence desynchronization with broker 1 (OUT_OF_ORDER_SEQUENCE_NUMBER)\n"
    )
    found = document(diagnose([Path(path)]), "t")["findings"]
    assert not [one for one in found if one["rule"] == RULE]


@pytest.mark.parametrize(
    "text",
    [
        # another library's words for the same error
        "KafkaJSProtocolError: The broker received an out of order sequence number\n    at createErrorFromCode (/app/node_modules/kafkajs/src/protocol/error.js:536:10)\n\nsarama 1.24.1 is fine with it\n",  # noqa: E501
        # release notes that somebody quotes
        f'{MOVED_COORDINATOR}\n * A retried batch is rebuilt identically ("Unable to reconstruct MessageSet").\n',
        # the application's own call in a wrong state
        LATE_BATCH.replace("READY to state ABORTABLE_ERROR", "READY to state COMMITTING_TRANSACTION"),
    ],
)
def test_what_is_no_defect(tmp_path, text):
    assert not found_in(RULE, tmp_path, text)


def test_a_text_that_is_cut_says_less_and_nothing_else(tmp_path):
    assert told(RULE, tmp_path, "".join(LATE_BATCH.splitlines(keepends=True)[:2])).verdict is Verdict.likely
    assert not found_in(RULE, tmp_path, LATE_BATCH.splitlines()[0] + "\n")
