"""A text that says in anybody's words that something failed is told so; what tells of no case is not."""

from __future__ import annotations

import pytest

from kafkatx.text.events import FAILED, KAFKA_FAILED
from kafkatx.text.lines import Page, lines
from kafkatx.text.prose.named_errors import named_in

TOLD = (
    "Our exactly-once sink loses rows of Kafka on every second checkpoint.",
    "The rollback of the transaction never reaches the broker, and I have no idea why.",
    "We run two pods. Since Friday one of them is dead after a few minutes.\nIt uses "
    "a transactional producer of Kafka.",
    "Sometimes the transactional writer can't finish what it began, the topic has half of it.",
    "Looks like there is a problem with the idempotent producer of kcat, nothing is acknowledged.",
    "It seems that a connector may crash while its transaction is committed to Kafka.",
    "I would expect that the records of a transaction which I rolled back must not be in the topic.",
    "When a broker is replaced, commits of transactions break with the following exception (screenshot).",
    "## Steps to reproduce\n\nstop one broker\n\n## Actual behavior\n\nThe Kafka "
    "transaction is left without an end and "
    "the outbox is\nblocked.",
    "Reason of failure: the transaction coordinator was not found (Kafka 2.0)",
    "The exactly-once job crashed and wrote half of the batch to the topic.",
    "unfortunately Kafka transactions and our cache do not go together, every commit takes away a worker",
    "We saw that the table is rolled back, but not the Kafka transaction.",
    "NoMethodError: undefined method `begin` for a producer with a transactional.id",
    "The problem happens when a transactional Kafka producer is closed during a flush: the pod is killed before.",
    "Warum schlägt bei uns jede zweite Kafka-Transaktion fehl?",
    "nos transactions Kafka échouent depuis hier",
    "nuestro productor de Kafka con transacciones no funciona después de reiniciar",
    "nosso produtor trava ao terminar a transação do Kafka",
    "\u0443 \u043d\u0430\u0441 "
    "\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446\u0438\u044f Kafka \u0437\u0430\u0432\u0438\u0441\u043b\u0430",
    "Exactly-once copier\n\n- **runtime version: 3.2.1**\n### The transaction does not work after the pause.",
    " - [x] client version (release or tag): `client v2.3.0`\nThe reader skips records of a transaction of Kafka.",
    "flushTransactions should not wait endless when the Kafka brokers are gone",
    "Our fencing blindly raises the epoch of the Kafka producer, also where nothing was written.",
    "Prior to this change the work can cause the transaction of the Kafka producer to expire, and we get "
    "an unknown id.",
    "> We observed that the Kafka transaction stays open.\n> All pods are affected, and none of them was able\n> to "
    "end it, so it is stuck still.",
    "As you can see the Kafka transaction is still committed even if the one of the database is rolled back.",
    "Producer with transactions not able to write to the hub of Kafka\n\n"
    "2024-02-03 04:05:06,007 DEBUG [Producer clientId=p, transactionalId=t] Sending metadata request "
    "(org.apache.kafka.clients.NetworkClient)",
    "It seems like sessions will always abort the next transaction of Kafka, whether there was a rebalance or not.",
    "it performs well with Kafka transactions, and after error the transactional producer is not able to go on.",
    "I'm just trying to get my exactly-once threads of Kafka to quit dying within hours.",
    "Die Kafka-Transaktion wird nach 60 s abgebrochen, der Producer muss neu gestartet werden.",
    "Nach dem Neustart liest der Consumer von Kafka mit read_committed nichts mehr.",
    "La transaction Kafka expire au bout d'une minute.",
    "Our pods get fenced on every rollout (title: producer fenced)",
    "Users have reported the following: a Kafka producer experiences timeouts in a transaction.",
    "我们的 Kafka 事务一直失败",
    "Kafka のトランザクションが止まっています",
    "저희 Kafka 트랜잭션이 멈췄습니다",
)
BESIDE = (
    "Our Kafka cluster is unstable: one broker crashed today and does not come back.",
    "### Actual\n\nthe second send of the Kafka client hangs for a minute",
    "Some Kafka producers become idle after a restart of the nodes\n\n## Bug Report",
    "On restart our Kafka consumer is getting every message, rather than what was last processed.",
    "Our producer hangs in flush for ever: the topic has one partition and its only replica is down.",
    "重启kafka会重复消费数据",
    "\u041d\u0435 \u0443\u0445\u043e\u0434\u044f\u0442 "
    "\u0441\u043e\u043e\u0431\u0449\u0435\u043d\u0438\u044f \u0438\u0437 "
    "\u041a\u0430\u0444\u043a\u0438. \u041a\u0442\u043e-\u0442\u043e "
    "\u0441\u0442\u0430\u043b\u043a\u0438\u0432\u0430\u043b\u0441\u044f?",
    "# Flush of the producer never completes\n\nlibrdkafka 0.11.5",
    "# Kafka sometimes stops during its start without a word",
    "After the server restarted some messages of Kafka get duplicated.",
    "Since three days the consumer lag of the topic is growing, read_uncommitted reads on.",
    "consumer stuck at offset 10445 forever",
    "Our producer to Event Hubs hangs for hours, and no error is returned.",
    "A table sink of Kafka writes duplicates after driver restart",
    "kafka streams uygulamas\u0131 ERROR durumuna ge\u00e7iyor",
    "Below errors are appearing in our copy of the Kafka cluster:\n\nfailed to flush",
)
"""Failures of Kafka on a page that says no word of transactions."""
QUIET = (
    "The issue is not whether Kafka transactions are on.",
    "A transactional producer of Kafka fails if its id is taken by another one.",
    "If the commit of a transaction fails, close the Kafka producer.",
    "With idempotence Kafka ensures that no record is written twice after an unexpected error.",
    "Fixed an issue where the transactional producer of Kafka was stuck after a restart.",
    "The problem with our Kafka transactions is solved since the upgrade.",
    "We use Kafka transactions in five services without problems.",
    "Nothing failed in our Kafka transactions, we only ask how long they are kept.",
    "Add error handling for transactions to the Kafka sink.",
    "Each Kafka transaction has to end in a commit or an abort, otherwise readers can not go on.",
    "Our database lost a transaction, the pool was dead.",
    "    # the transaction of Kafka failed, so we start again",
    "```java\n// our Kafka transaction failed\nabort();\n```",
    "$ grep failed kafka-transactions.txt",
    "| our Kafka setting | transactions failed | meaning |",
    "With Kafka transactions the lag of our reader always is 1, we do not know why.",
    "Our printer is broken, we lost all jobs today.",
    "Our producer hangs: the topic in Pulsar has one partition and its only replica is down.",
    "Our producer of the TV show is stuck, and nobody has an idea for the next topic.",
    "# How Kafka goes on with a transaction after a coordinator crashes",
    "# Alert when a Kafka transaction is stuck in its state",
    "# Handling a transactional client of Kafka that dies",
    "# Fix: the transactional client of Kafka dies on close",
    "Kafka keeps transactions.\n\n# The transactional client dies",
    "At-least-once sinks of Kafka write duplicates after a restart.",
    "Eine Transaktion von Kafka wird abgebrochen, wenn ihr Timeout vorbei ist.",
    "Une transaction Kafka expire si personne ne la termine.",
    "The lag of a reader of Kafka grows while a transaction is open.",
    "**Version 3.2.1** adds transactions to the Kafka sink.",
    "A Kafka transaction that expires is rolled back by the coordinator.",
    "Your listener should not block for ever within a Kafka transaction.",
    "A reader of Kafka skips records of transactions that were rolled back.",
    "As you can see, a Kafka transaction has one coordinator.",
    "> A transaction of Kafka fails\n> if its id is taken.",
    "The next records of a transaction are visible in Kafka.\n\n"
    "2024-02-03 04:05:06,007 DEBUG [Producer clientId=p, transactionalId=t] Sending metadata request "
    "(org.apache.kafka.clients.NetworkClient)",
    "The broker of our insurance never called back, I lost a day.",
)


def _said(text: str) -> set[str]:
    return {one.error for one in named_in(list(lines(Page(text.encode()))))}


@pytest.mark.parametrize("text", TOLD)
def test_a_failure_in_anybodys_words_is_told(text: str) -> None:
    assert _said(text) & {FAILED} or any(error not in ("", FAILED) for error in _said(text))


@pytest.mark.parametrize("text", TOLD)
def test_so_it_is_on_whatever_lines_it_is_written(text: str) -> None:
    assert _said(f"Hello,\n\nit is about Kafka.\n\n{text}\n\nThank you")


@pytest.mark.parametrize("text", BESIDE)
def test_a_failure_without_a_word_of_transactions_is_told_as_kafkas(text: str) -> None:
    assert _said(text) == {KAFKA_FAILED}


@pytest.mark.parametrize("text", QUIET)
def test_what_tells_of_no_case_is_quiet(text: str) -> None:
    assert _said(text) <= {""}


def test_what_evidence_shows_is_not_said_by_words() -> None:
    dump = (
        "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: 0 lastSequence: 0 producerId: 9 producerEpoch: 2 "
        "partitionLeaderEpoch: 2 isTransactional: true isControl: false position: 0 CreateTime: 1700000000000 size: 90 "
        "magic: 2 compresscodec: none crc: 1 isvalid: true"
    )
    assert _said(f"Our Kafka transaction failed, I think.\n\n{dump}\n") <= {""}
