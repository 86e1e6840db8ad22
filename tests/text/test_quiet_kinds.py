"""Texts that explain tell of no failure; the same words in somebody's own case do."""

from __future__ import annotations

import pytest

from kafkatx.text.events import FAILED, KAFKA_FAILED, MET, SYMPTOM
from kafkatx.text.lines import Page, lines
from kafkatx.text.prose.named_errors import named_in

MANUAL = (
    "Kafka Exception InvalidTxnStateException",
    "org.apache.kafka.common.errors.InvalidTxnStateException",
    "Common Causes",
    "- A transaction is committed on a producer that has no transaction",
    "Solutions",
    "- Follow the order of calls",
)
RUNBOOK = (
    "### Timeout cascade",
    "**Symptoms:** lag of readers, a producer was fenced, `ProducerFencedException` in client logs",
    "**Root cause:** processing takes longer than `transaction.timeout.ms`",
    "**Fix:**",
    "1. Increase `transaction.timeout.ms`",
)
RUNBOOK_OF_NOBODY = tuple(line.replace("a producer was fenced, ", "") for line in RUNBOOK)
CHANGES = (
    "# client v1.6.1",
    "### Transactional producer fixes",
    " * The transactional producer failed and was stuck if its transaction had timed out while offsets were sent",
    " * ProducerFencedException was thrown for a retriable error",
)
REFERENCE = (
    "public class OutOfOrderSequenceException",
    "extends ApiException",
    "This exception indicates that the broker received an unexpected sequence number, which means that data was lost.",
)
TERMS = (
    "RetriableException",
    "A transient error that the client retries. It is never seen in applications.",
    "TransactionAbortableException",
    "The current transaction cannot be committed, but the producer is still usable.",
    "ProducerFencedException",
    "A newer producer with the same transactional.id was started.",
)
RUST = (
    'Errors::DuplicateSequenceNumber => "The broker received a duplicate sequence number.",',
    'Errors::InvalidTxnState => "The producer attempted a transactional operation in an invalid state.",',
    "Errors::InvalidProducerIdMapping => {",
    '    "The producer attempted to use a producer id."',
    "},",
)
SCALA = (
    "case Errors.NONE =>",
    '  info("Completed rollback of ongoing transaction " +',
    '    s"${id} due to timeout")',
    "case error@(Errors.INVALID_PRODUCER_ID_MAPPING |",
    "            Errors.PRODUCER_FENCED |",
    "            Errors.CONCURRENT_TRANSACTIONS) =>",
    '  debug(s"Rollback of ongoing transaction ${id} " +',
    '    s"has been cancelled due to error $error")',
)
QUIET = (
    MANUAL,
    RUNBOOK_OF_NOBODY,
    CHANGES,
    REFERENCE,
    TERMS,
    RUST,
    SCALA,
    ("/**", " * Producer attempted to produce with an old epoch.", " */", "INVALID_PRODUCER_EPOCH(47, false),"),
    ("pub const INVALID_PRODUCER_EPOCH: Error = Error::new(", "47,", '"An old epoch.",', ");"),
    (
        "// ErrInvalidTxnState Broker: invalid state",
        "ErrInvalidTxnState ErrorCode = ErrorCode(0)",
        "// ErrInvalidProducerEpoch Broker: old epoch",
        "ErrInvalidProducerEpoch ErrorCode = ErrorCode(0)",
    ),
    ('Errors* Errors::INVALID_TXN_STATE = new Errors(48, "The transaction is not in that state");',),
    ("The epoch is bumped: any older producer with this id is rejected with ProducerFencedException.",),
    ("For `PRODUCER_FENCED`, `onEndTransactionComplete` prints out the following DEBUG message to the logs:",),
    ("KAFKA-16699: Have Streams treat InvalidPidMappingException like another one",),
    ("- Preserve `ProducerFenced` as a terminal state across every operation of the transaction",),
    ("kerr: ProducerFenced is not retriable in a transaction",),
    ("`inSequence`は、次の番号だけを見る。", "続きになっていなければ`OutOfOrderSequenceException`が投げられる。"),
    ("I'd like to use Kafka transactions, but I don't understand what I should set as transactional.id.",),
    ("I do not see anything in the code indicating that Kafka transactions are there.",),
    ("We run Kafka transactions. Performance matters more to us than a duplicate once a year.",),
    ("The code assumes that if we get an EndTxn of Kafka, the transaction has timed out.",),
    ("We will discuss the issues we faced building exactly-once delivery with Kafka transactions.",),
)
DEFECT = (
    "## Symptom",
    "The transactional producer ends in InvalidTxnStateException after each rebalance",
    "## Root cause",
    "The connector commits the transaction twice",
    "## Fix",
    "Use one flag for both",
)
TOLD = (
    *((*DEFECT, sign) for sign in ("Affects version 3.4", "See #1877", "Kafka 2.8.1", "To reproduce, stop one broker")),
    (*DEFECT, "It is so since the connector has two workers"),
    (*MANUAL, "We have seen this since Monday"),
    (*MANUAL, "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:698)"),
    RUNBOOK,
    (*RUNBOOK_OF_NOBODY[:4], "1. we gave every pod an id of its own"),
    ("### Symptoms", "InvalidTxnStateException at 10:04:11", "### Cause", "unknown", "1. Check the broker"),
    ("### Fixes we tried", "Our transactional producer got ProducerFencedException all the same"),
    (*CHANGES[:2], "After the release our transactional producer gets ProducerFencedException"),
    ("The exception means that we lost data of a transaction: OutOfOrderSequenceException",),
    ("ProducerFencedException", "InvalidTxnStateException", "InvalidPidMappingException in each transaction"),
    ("Previously, it was fine, now the transaction ends in ProducerFencedException",),
    ("Have you seen ProducerFencedException in a transaction after a restart? We have.",),
    ("We don't understand why our Kafka transactions fail since Monday.",),
    ("I do not see any records of committed transactions in Kafka any more.",),
    ("Our Kafka transactions fail more often than a failure of the broker explains.",),
    ("The problem we faced today: commits of our Kafka transactions are stuck.",),
    ("kafkajs ends its transaction with INVALID_PRODUCER_EPOCH, any other client works.",),
    ("The check fails, and our Kafka transaction hangs after that.",),
)
LAG = (
    ("We read a transactional topic of Kafka and the lag is never 0. It is off by 1 offset in each partition.",),
    (
        "The lag of our reader stays 1 where the Kafka producer uses transactions.",
        "It looks like the control message at the end never gets here.",
    ),
)
"""A lag of one is the marker of a transaction."""
LAG_OF_MORE = (
    ("Our lag on a transactional topic of Kafka is never 0. It is stuck since one hour.",),
    (
        "The lag of our transactional Kafka reader stays 1 million.",
        "It looks like the control message never gets here.",
    ),
    ("The lag stays 1 on our transactional topic.", "Sometimes the producer of Kafka is dead after an hour."),
)
FAILURES = {MET, SYMPTOM}


def _told(page: tuple[str, ...]) -> set[str]:
    named = named_in(lines(Page("\n".join(page).encode())))
    return {one.error for one in named if one.name in FAILURES}


@pytest.mark.parametrize("page", [*QUIET, *LAG], ids=lambda page: page[0][:40])
def test_what_explains_tells_of_nobody(page):
    assert not _told(page)


@pytest.mark.parametrize("page", [*TOLD, *LAG_OF_MORE], ids=lambda page: page[-1][:40])
def test_what_somebody_met_is_told(page):
    assert _told(page)


def test_a_failure_in_words_of_no_table_is_told_beside_what_went_well():
    page = ("I don't understand what I should set.", "Our Kafka transaction fails with it, and the sink is dead.")
    assert _told(page) & {FAILED, KAFKA_FAILED}
