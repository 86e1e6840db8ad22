"""Texts about the transactions of other systems are no evidence about Kafka's; one word of Kafka makes them some."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from kafkatx.text.products import is_of_another_system

OTHERS = {
    "Pulsar, a fence": """
        Our Pulsar 3.0 producer with exclusive access dies every few hours:
        2026-03-02T10:11:12,345 [pulsar-client-io-1-1] ERROR org.apache.pulsar.client.impl.ProducerImpl - failed
        org.apache.pulsar.client.api.PulsarClientException$ProducerFencedException: The producer p-0 was fenced
    """,
    "Pulsar, a commit": """
        Since the last restart of the broker the commit of our Pulsar transactions hangs, and consumers get nothing.
        org.apache.pulsar.client.api.transaction.TransactionCoordinatorClientException: TimeoutException
        java.util.concurrent.TimeoutException: null
    """,
    "Pravega": """
        INFO  [2026-08-28 13:13:25,509] io.pravega.longevity.Collector: Got an aborted transaction, didn't expect that
        java.lang.IllegalStateException: Got an aborted transaction, didn't expect that
        The writer of our exactly-once sink failed with it after a checkpoint, and its events are lost.
    """,
    "RabbitMQ": """
        RabbitMQ 3.12: channel.txCommit() never returns when the node is in memory alarm, the publisher is blocked.
        2026-01-03 10:00:01.120 ERROR [amqp-1] c.e.Publisher - transaction failed: ShutdownSignalException: channel
    """,
    "JMS": """
        ActiveMQ Artemis, transacted session. Our consumer gets messages twice after a failover of the broker:
        javax.jms.TransactionRolledBackException: AMQ219030: The transaction was rolled back on failover
    """,
    "Narayana": """
        Our transactions are rolled back after 300 seconds, why?
        2026-05-04 12:00:02,514 WARN  [com.arjuna.ats.arjuna] (Reaper Worker 0) ARJUNA012095: Abort of action invoked
        javax.transaction.RollbackException: ARJUNA016053: Could not commit transaction.
    """,
    "MongoDB": """
        After the upgrade to MongoDB 6 commitTransaction hangs for 60 seconds, and the transaction is lost:
        MongoServerError: Transaction with { txnNumber: 3 } has been aborted.
    """,
    "SQL Server": """
        SQL Server 2019, MSDTC. The commit times out since yesterday:
        System.Transactions.TransactionAbortedException: The transaction has aborted.
        System.TimeoutException: Transaction Timeout
    """,
    "a ledger": """
        Our relayer's transaction is stuck on Ethereum for hours and never returns; commit of the epoch fails.
        Error: Transaction has been reverted by the EVM
    """,
}
KAFKAS = {
    "a sink beside a database": """
        We copy Postgres tables to a topic. Since the restart of a broker the producer's commitTransaction hangs for
        ever, and the consumers get nothing.
    """,
    "a bridge": """
        The bridge from Pulsar to Kafka stops: commitTransaction hangs for 60 seconds and the consumer gets nothing.
    """,
    "an error of Kafka's producers": """
        The outbox reads MySQL and dies every hour:
        2026-05-04 12:00:02,514 ERROR c.e.Outbox - ProducerFencedException: There is a newer producer with the same
        transactionalId which fences the current one.
    """,
    "a manager over both": """
        JTA with Narayana around our writer. Its transactional.id is fixed, and after a failover the commit fails:
        initTransactions hangs for ever.
    """,
    "JMS and Kafka's words": """
        From JMS to a topic, exactly once. Readers with read_committed got nothing since the bridge died: the last
        stable offset does not move any more.
    """,
}


def _found(path: Path, text: str) -> list[str]:
    path.write_text("\n".join(line.strip() for line in text.strip().splitlines()) + "\n")
    try:
        return [found["rule"] for found in document(diagnose([path]), "test")["findings"]]
    except NothingReadableError:
        return []


@pytest.mark.parametrize("name", OTHERS)
def test_another_systems_transactions_are_not_kafkas(name: str, tmp_path: Path) -> None:
    assert is_of_another_system(OTHERS[name])
    assert _found(tmp_path / "page.md", OTHERS[name]) == []


@pytest.mark.parametrize("name", OTHERS)
def test_one_word_of_kafka_makes_it_a_question_of_kafka(name: str) -> None:
    assert not is_of_another_system(f"{OTHERS[name]}\nWe have Kafka 3.9, too.")


@pytest.mark.parametrize("name", KAFKAS)
def test_who_names_another_system_beside_kafka_is_heard(name: str, tmp_path: Path) -> None:
    assert _found(tmp_path / "page.md", KAFKAS[name])


def test_a_database_has_no_topics_and_another_queue_has() -> None:
    assert not is_of_another_system("MySQL: the producer hangs, and consumers of the topic get nothing")
    assert is_of_another_system("RocketMQ: the producer hangs, and consumers of the topic get nothing")
    assert not is_of_another_system("The producer hangs, and consumers of the topic get nothing")
