"""Incidents as people paste them, read as text: the narratives that clients' logs tell, word for word."""

from pathlib import Path

import pytest

from kafkatx.findings.finding import Finding
from kafkatx.sources.files import OpenFile
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.logs.reading import read_log
from kafkatx.text.pages.part import PartKind, TextPart
from tests.rules.log_told import by_logs, findings, rule

RULES = (
    "abort_after_fatal_error", "commit_outcome_unknown", "fenced_by_group_generation", "partition_verification_failed",
    "shared_producer", "silent_failure", "unresolved_sequence",
)  # fmt: skip

POWER_LOSS = """\
2023-02-08 15:42:22.815 WARN [kafka-producer-network-thread | producer-3] o.a.k.c.p.i.Sender - [Producer clientId=producer-3, transactionalId=SNP-TID-0] Got error produce response with correlation id 851515 on topic-partition T-SNP-0, retrying (2147483646 attempts left). Error: REQUEST_TIMED_OUT
2023-02-08 15:42:52.967 WARN [kafka-producer-network-thread | producer-3] o.a.k.c.p.i.Sender - [Producer clientId=producer-3, transactionalId=SNP-TID-0] Got error produce response with correlation id 851516 on topic-partition T-SNP-0, retrying (2147483645 attempts left). Error: REQUEST_TIMED_OUT
2023-02-08 15:43:22.789 INFO [publisher-0] c.l.d.IgnoreExceptionHandler - Exception processing: 851 SnapshotEvent
org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state
\tat org.apache.kafka.clients.producer.internals.TransactionManager.maybeFailWithError(TransactionManager.java:785)
\tat org.apache.kafka.clients.producer.internals.TransactionManager.beginAbort(TransactionManager.java:229)
\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:716)
\tat com.example.Publisher.onEvent(Publisher.java:88)
Caused by: org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch. Either there is a newer producer with the same transactionalId, or the producer's transaction has been expired by the broker.
"""  # noqa: E501

LOST_ANSWERS = """\
2023-02-08 16:03:38.938 ERROR [publisher-2] com.example.Publisher - [Producer clientId=producer-5, transactionalId=SNP-TID-2] send failed
org.apache.kafka.common.KafkaException: Cannot execute transactional method because we are in an error state
\tat org.apache.kafka.clients.producer.internals.TransactionManager.maybeFailWithError(TransactionManager.java:785)
\tat org.apache.kafka.clients.producer.internals.TransactionManager.beginAbort(TransactionManager.java:229)
\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:716)
Caused by: org.apache.kafka.common.KafkaException: The client hasn't received acknowledgment for some previously sent messages and can no longer retry them. It isn't safe to continue.
\tat org.apache.kafka.clients.producer.internals.Sender.run(Sender.java:283)
"""  # noqa: E501

UNANSWERED_COMMIT = """\
2024-04-03 18:20:30.079  WARN 1 --- [ad | producer-2] o.a.k.clients.producer.internals.Sender  : [Producer clientId=producer-2, transactionalId=SNP-TID-1] Got error produce response with correlation id 1313 on topic-partition T-SNP-1, retrying (2147483646 attempts left). Error: REQUEST_TIMED_OUT
2024-04-03 18:21:00.063  INFO 1 --- [pool-4-thread-1] o.a.k.clients.producer.KafkaProducer     : [Producer clientId=producer-2, transactionalId=SNP-TID-1] Aborting incomplete transaction
2024-04-03 18:21:00.064 ERROR 1 --- [pool-4-thread-1] c.e.Publisher                            : publish failed
org.apache.kafka.common.KafkaException: TransactionalId SNP-TID-1: Invalid transition attempted from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION
\tat org.apache.kafka.clients.producer.internals.TransactionManager.transitionTo(TransactionManager.java:1078)
\tat org.apache.kafka.clients.producer.internals.TransactionManager.beginAbort(TransactionManager.java:330)
\tat org.apache.kafka.clients.producer.KafkaProducer.abortTransaction(KafkaProducer.java:821)
"""  # noqa: E501

LOST_MEMBER = """\
2024-05-01 10:00:31,000 WARN org.apache.kafka.clients.consumer.internals.ConsumerCoordinator [kafka-coordinator-heartbeat-thread | etl] [Consumer clientId=consumer-etl-1, groupId=etl] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.
2024-05-01 10:00:40,100 INFO org.apache.kafka.clients.producer.internals.TransactionManager [kafka-producer-network-thread | producer-etl-0] [Producer clientId=producer-etl-0, transactionalId=etl-0] Transiting to abortable error state due to org.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to consumer group metadata mismatch: The coordinator is not aware of this member.
2024-05-01 10:00:40,200 INFO org.apache.kafka.clients.producer.KafkaProducer [main] [Producer clientId=producer-etl-0, transactionalId=etl-0] Aborting incomplete transaction
"""  # noqa: E501


def read(folder: Path, text: str) -> dict[str, Finding]:
    """Findings of the rules in a text, by rule; every rule speaks once at most."""
    path = folder / "application.log"
    path.write_text(text)
    with OpenFile(str(path)) as file:
        facts = read_log(file, TextPart(PartKind.LOG, 0, file.size, 1))
    found = [finding for name in RULES for finding in findings(rule(name), by_logs(facts))]
    assert len({finding.rule for finding in found}) == len(found)
    return {finding.rule: finding for finding in found}


def test_an_abort_in_the_fatal_state_that_a_handler_logged_at_info(tmp_path):
    found = read(tmp_path, POWER_LOSS)
    assert set(found) == {"abort_after_fatal_error", "silent_failure"}
    assert found["abort_after_fatal_error"].verdict is Verdict.proved
    assert found["silent_failure"].verdict is Verdict.proved
    assert {finding.transactional_id for finding in found.values()} == {"SNP-TID-0"}


def test_answers_that_never_came(tmp_path):
    found = read(tmp_path, LOST_ANSWERS)
    assert set(found) == {"abort_after_fatal_error", "unresolved_sequence"}
    lost = found["unresolved_sequence"]
    assert (lost.verdict, lost.severity, lost.topic) == (Verdict.proved, Severity.error, None)


def test_a_commit_that_was_never_answered_and_then_aborted(tmp_path):
    found = read(tmp_path, UNANSWERED_COMMIT)
    assert set(found) == {"commit_outcome_unknown"}
    commit = found["commit_outcome_unknown"]
    assert (commit.verdict, commit.severity, commit.transactional_id) == (Verdict.proved, Severity.error, "SNP-TID-1")
    assert commit.until - commit.since == 60_000


def test_a_member_that_had_lost_its_place(tmp_path):
    found = read(tmp_path, LOST_MEMBER)
    assert set(found) == {"fenced_by_group_generation"}
    assert "polled too late" in found["fenced_by_group_generation"].steps[0].text


@pytest.mark.parametrize("text", [POWER_LOSS, LOST_ANSWERS, UNANSWERED_COMMIT])
def test_a_text_cut_before_its_last_exception_tells_less_and_nothing_else(tmp_path, text):
    whole = set(read(tmp_path, text))
    for end in range(0, len(text), 97):
        assert set(read(tmp_path, text[:end])) <= whole
