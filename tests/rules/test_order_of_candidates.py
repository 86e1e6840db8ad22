"""Which cause of an open failure is named first: what the page, the call and the error itself speak for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from kafkatx.histories.logs.testimony import speaking
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.candidates.words import CANDIDATES
from kafkatx.terms.catalogue.loading import statement_patterns, statement_weights
from kafkatx.text.events import Statement

WEIGHTS = statement_weights()
LATE, TAKEN = "transaction_timed_out", "fenced_by_new_instance"


def told(folder: Path, text: str) -> dict[str, Any]:
    """The document of a diagnosis of a page."""
    path = folder / "page.md"
    path.write_text(text)
    return document(diagnose([path]), "0")


def causes(folder: Path, text: str) -> list[str]:
    """The causes that a page's findings name, in order: rules that found it, else those that are left open."""
    return [
        rule
        for one in told(folder, text)["findings"]
        for rule in ([open["rule"] for open in one["candidates"]] or [one["rule"]])
    ]


def said(*names: str) -> tuple[Statement, ...]:
    """Statements of a page, one a line."""
    return tuple(Statement(name, number, name, -1, -1, -1) for number, name in enumerate(names, 1))


# --- statements


@pytest.mark.parametrize("row", WEIGHTS, ids=lambda row: f"{row.rule}: {row.statement}")
def test_a_statement_that_speaks_for_a_cause_is_one_of_the_table(row):
    assert row.statement in {one.name for one in statement_patterns()}
    assert row.rule in CANDIDATES
    assert abs(row.weight) in (1, 2)
    assert row.because
    assert row.source
    assert [one for one in WEIGHTS if (one.rule, one.statement) == (row.rule, row.statement)] == [row]


@pytest.mark.parametrize(
    ("names", "spoken_for"),
    [
        ((), set()),
        (("long_work",), {LATE}),
        (("more_instances",), {TAKEN}),
        (("long_work", "more_instances"), set()),
        (("timeout_named", "more_instances"), {LATE}),
        (("long_work", "same_id_elsewhere"), {TAKEN}),
        (("timeout_named", "same_id_elsewhere"), set()),
        (("one_owner",), {LATE}),
        (("one_instance", "more_instances"), set()),
        (("one_broker",), set()),
    ],
)
def test_of_two_causes_that_exclude_each_other_the_weightier_words_count(names, spoken_for):
    assert set(speaking((TAKEN, LATE), said(*names))) == spoken_for


@pytest.mark.parametrize("seed", range(20))
def test_what_is_spoken_for_does_not_depend_on_the_order_of_the_lines(seed):
    rng = random.Random(seed)
    names = rng.sample(sorted({row.statement for row in WEIGHTS}), 4)
    rules = rng.sample(sorted({row.rule for row in WEIGHTS}), 5)
    first = speaking(rules, said(*names))
    rng.shuffle(names)
    again = speaking(rules, said(*names))
    assert set(first) == set(again) <= set(rules)


@pytest.mark.parametrize(
    ("lasted_ms", "timeout_ms", "spoken_for"),
    [(90_000, -1, True), (20_000, -1, False), (-1, -1, True), (20_000, 10_000, True), (90_000, 300_000, False)],
)
def test_work_speaks_for_a_timeout_only_where_it_may_have_been_longer(lasted_ms, timeout_ms, spoken_for):
    work = Statement("long_work", 1, "it takes long", lasted_ms, -1, -1)
    timeout = Statement("timeout_told", 2, "transaction.timeout.ms", timeout_ms, -1, -1)
    assert (LATE in speaking((TAKEN, LATE), (work, timeout))) is spoken_for


def test_that_nobody_else_has_the_id_speaks_for_a_timeout_only_where_a_new_instance_fits():
    assert speaking((LATE, "coordinator_unavailable"), said("one_owner")) == {}


TOO_FEW = (
    "[2021-05-20 08:10:08,342] ERROR [ReplicaManager broker=1] Error processing append operation on partition pay-0 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current "
    "ISR Set(1) is insufficient to satisfy the min.isr requirement of 2 for partition pay-0\n"
)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("It happened at night.", "broker_unreachable"),
        ("We run a single broker for tests.", "misconfiguration"),
        ("All three brokers were up.", "broker_unreachable"),
        ("One broker of three went down.", "broker_unreachable"),
    ],
)
def test_words_order_the_causes_of_what_a_program_printed(words, first, tmp_path):
    assert causes(tmp_path, f"{words}\n\n{TOO_FEW}")[0] == first


# --- who speaks in somebody's words


IN_WORDS = {
    "the transaction's own timeout": (
        "Our transactions fail. We got a ProducerFencedException, triggered by the 10 second transaction timeout.",
        LATE,
    ),
    "a leader of a partition is no instance": (
        "We get InvalidProducerEpochException in our transactions while the preferred leader is being re-elected.",
        LATE,
    ),
    "a cluster that is unreachable": (
        "I think our transactional producer never returns from commitTransaction, with an unreachable cluster.",
        "broker_unreachable",
    ),
    "a commit whose records are there": (
        "commit_transaction of our producer failed, but messages were delivered to the topics. Transactions are on.",
        "commit_outcome_unknown",
    ),
    "a reader of what timed out": (
        "After a long pause Kafka says our transaction timed out. A read_committed consumer doesn't see the messages.",
        LATE,
    ),
    "a send that hangs": (
        "Our transactional producer hangs sometimes: it just never comes back from the send. No exception at all.",
        "broker_unreachable",
    ),
    "ids without end": (
        "Our brokers crash with OOM: the job uses a new transactional id for each checkpoint, which fails by and by.",
        "unstable_transactional_id",
    ),
    "a coordinator that is not found": (
        "Most requests of our transactional producer fail. Reason: failed to find coordinator.",
        "coordinator_unavailable",
    ),
    "an abort that hangs": (
        "Our application is blocked in the AbortTransaction method for 10 minutes.",
        "coordinator_unavailable",
    ),
    "a commit that hangs": ("Our application is blocked in the CommitTransaction method.", "commit_outcome_unknown"),
    "a transaction for each send": (
        "We send two messages in a transaction. The first message is sent, the second send fails with an error since it"
        " is trying to start a transaction for each message.",
        "api_misuse",
    ),
    "duplicates after a rebalance": (
        "After a rebalance I see every message twice in the topic though offsets were committed in the transaction.",
        "fenced_by_group_generation",
    ),
    "an empty checkpoint": (
        "[Bug] Our KafkaSink failed to commit transactions under EXACTLY_ONCE, no data is written during a checkpoint.",
        "client_bug",
    ),
}


@pytest.mark.parametrize(("text", "first"), IN_WORDS.values(), ids=IN_WORDS)
def test_what_people_tell_decides_which_cause_is_named_first(text, first, tmp_path):
    assert causes(tmp_path, text)[0] == first


# --- the error and the call


FRAMES = {
    "beginTransaction": "api_misuse",
    "sendOffsetsToTransaction": "fenced_by_group_generation",
    "commitTransaction": LATE,
    "initTransactions": "coordinator_unavailable",
}


@pytest.mark.parametrize(("call", "first"), FRAMES.items())
def test_frames_without_their_error_name_the_causes_of_their_call(call, first, tmp_path):
    frames = (
        f"\tat org.apache.kafka.clients.producer.KafkaProducer.{call}(KafkaProducer.java:606)\n\tat a.R.go(R.java:8)\n"
    )
    assert causes(tmp_path, frames)[0] == first


def test_frames_of_a_producer_that_was_idle_are_of_an_id_that_expired(tmp_path):
    frames = "\tat org.apache.kafka.clients.producer.KafkaProducer.beginTransaction(KafkaProducer.java:619)\n"
    text = f"Our transactions fail after 1 week with gap in messages\n\n{frames}\tat a.R.go(R.java:8)\n"
    assert causes(tmp_path, text)[0] == "transactional_id_expired"


@pytest.mark.parametrize(
    ("error", "first"),
    [
        ("InvalidProducerEpochException", LATE),
        ("ProducerFencedException", TAKEN),
        ("INVALID_PRODUCER_EPOCH", TAKEN),
        ("TaskCorruptedException", "commit_outcome_unknown"),
        ("ConcurrentTransactionsException", "concurrent_transactions_storm"),
    ],
)
def test_an_error_alone_names_its_commonest_cause(error, first, tmp_path):
    assert causes(tmp_path, f"Since Monday our service gets {error} in its transactions.")[0] == first


def test_records_that_expired_are_first_of_brokers_that_do_not_answer(tmp_path):
    text = (
        "org.apache.kafka.common.errors.TimeoutException: Expiring 137 record(s) for pay-0: 30024 ms has passed since "
        "batch creation plus linger time\n"
    )
    assert causes(tmp_path, text)[:2] == ["broker_unreachable", "unresolved_sequence"]


FENCED = (
    "2024-04-01 10:11:12,345 ERROR [kafka-producer-network-thread | p] o.a.k.c.p.i.TransactionManager - [Producer "
    "clientId=p, transactionalId={}] Transiting to fatal error state due to org.apache.kafka.common.errors."
    "ProducerFencedException: There is a newer producer with the same transactionalId which fences the current one.\n"
)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("orders-1", TAKEN),
        ("orders-f2e8c9a0-1c2d-4b3a-9f8e-7d6c5b4a3f21-1", LATE),
        ("connect-cluster-c1-source-0", TAKEN),
    ],
)
def test_an_id_that_each_process_makes_anew_is_nobody_elses(name, first, tmp_path):
    assert causes(tmp_path, FENCED.format(name))[0] == first
