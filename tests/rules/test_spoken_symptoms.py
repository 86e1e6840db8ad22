"""What people say that does not work, without a line of a program: which causes may be behind it, in which order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

SAID = {
    "concurrent_transactions_storm": (
        "Since we switched to exactly once the throughput has collapsed, with idle brokers.",
        "The commit is sometimes very slow, up to two seconds for a transaction of three records.",
        "Terrible performance with transactions, we get 40 messages a second.",
        "\u5f00\u542f\u4e8b\u52a1\u4e4b\u540e\u541e\u5410\u91cf\u5f88\u4f4e",
    ),
    "atomicity_violation": (
        "Half of a transaction is there for read_committed readers, the other topic has nothing of it.",
        "In a transaction we write both, but the invoice is there and the receipt is not.",
    ),
    "fenced_by_new_instance": (
        "Our transactional producers fence each other all day.",
        "The transactional writer got fenced twice this morning.",
        "After the deployment my commit of the transaction failed.",
    ),
    "shared_producer": (
        "We use transactions. With one pod everything works, with more of them it does not.",
        "Transactions are on. As soon as we add a second worker, sends fail in turns.",
    ),
    "transactional_id_expired": (
        "After a quiet night the first message of our transactional service is lost.",
        "The first transaction on Monday always fails, those after it are fine.",
    ),
    "transaction_timed_out": (
        "After a pause of the VM the transactional producer is unusable.",
        "We failed to commit a transaction again this morning.",
    ),
    "hanging_transaction": (
        "kafka-transactions.sh find-hanging lists one row for bookings-3.",
        "We have a hanging transaction in two partitions.",
        "The cleaner does not advance on some partitions; their writers are transactional.",
        "__consumer_offsets is huge (90 GB) since we use exactly-once.",
        "Downstream, read_committed consumers are hours behind.",
        "poll() always returns nothing since noon, isolation.level is read_committed.",
        "Our consumer with isolation.level=read_committed does not receive any of them.",
    ),
    "pending_offset_commit": ("Transactions commit, but the group shows the same CURRENT-OFFSET since yesterday.",),
    "misconfiguration": (
        "We got `transactional id authorization failed` from the sink.",
        "The record was delivered although the transaction was rolled back.",
        "The transaction is rolled back by Spring, but the consumer still gets the event.",
        "With exactly once, after a crash there are 300 records too many in the target.",
    ),
    "coordinator_unavailable": (
        "init_transactions() always times out on the new cluster.",
        "The bridge fails on KafkaProducer.initTransactions() since Monday.",
    ),
    "unstable_transactional_id": ("The heap of the brokers is full of ProducerStateEntry, 600 thousand of them.",),
    "client_bug": ("We have messages lost with the idempotent producer after a freeze of two brokers.",),
    "commit_outcome_unknown": ("commit_transaction() times out now and then.",),
}
QUIET = (
    "Transactions no longer slow us down since the upgrade.",
    "The transactional import is faster now, the throughput improved.",
    "Either all of a transaction is visible or nothing at all.",
    "With transactions zombies are fenced when a new instance starts.",
    "In a transaction the group leader is fenced by the new one.",
    "The first message of a transaction adds its partition.",
    "A transaction that was open for long is aborted by the coordinator.",
    "The tool detects hanging transactions.",
    "There were no messages lost with transactions.",
    "Heap is fine, transactions are fine, and the number of producer ids is stable.",
    "If it fails in initTransactions(), the application is stopped.",
    "Compaction never removes a marker of a transaction before its records.",
    "There was not a single ProducerFencedException since we gave each its own transactional.id.",
    "With one pod everything works; with two pods transactions work as well.",
    "With the default isolation level also aborted records are read.",
)


def _told(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "page.md"
    path.write_text(text)
    return document(diagnose([path]), "0")


def _candidates(folder: Path, text: str) -> list[dict[str, Any]]:
    (finding,) = _told(folder, text)["findings"]
    assert (finding["rule"], finding["severity"], finding["verdict"]) == ("unexplained_failure", "info", "possible")
    return finding["candidates"]


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in SAID.items() for text in texts])
def test_what_does_not_work_has_its_likeliest_causes(cause: str, text: str, tmp_path: Path) -> None:
    assert cause in [one["rule"] for one in _candidates(tmp_path, text)]


@pytest.mark.parametrize("text", QUIET)
def test_what_works_or_holds_for_any_case_is_nothing(text: str, tmp_path: Path) -> None:
    try:
        told = _told(tmp_path, text)
    except NothingReadableError:
        return
    assert [finding for finding in told["findings"] if finding["facts"]["named"] != "spoken_of"] == []


@pytest.mark.parametrize(
    ("text", "first", "words"),
    [
        ("The consumer is stuck. It is read_committed.", "hanging_transaction", None),
        (
            "The consumer is stuck. It is read_committed. The loader writes one transaction of 12 minutes.",
            "open_transaction",
            "transaction of 12 minutes",
        ),
        ("initTransactions() hangs. It is on a single broker.", "misconfiguration", "single broker"),
        ("initTransactions() hangs since one broker is down.", "coordinator_unavailable", None),
        ("Our transactional producers are fenced. The batch took 4 minutes.", "transaction_timed_out", "4 minutes"),
        ("Our transactional producers are fenced. We scaled out to 5 pods.", "fenced_by_new_instance", "scaled out"),
        (
            "Our transactional producers are fenced. The batch took 4 minutes. We scaled out to 5 pods.",
            "fenced_by_new_instance",
            None,
        ),
        (
            "With exactly once I see duplicates in the output. I count with kafka-console-consumer --topic out.",
            "misconfiguration",
            "kafka-console-consumer",
        ),
    ],
)
def test_what_the_page_says_orders_the_causes(text: str, first: str, words: str | None, tmp_path: Path) -> None:
    one = _candidates(tmp_path, text)[0]
    assert one["rule"] == first
    assert ("the text says" in one["for"]) is (words is not None)
    assert words is None or words in one["for"]


FILLING = "We run Kafka 3.5 on three machines. "


@pytest.mark.parametrize(
    "text",
    [
        "Why is it so? {0} If that is by design, tell me.",
        "It no longer fails. {0} We upgraded.",
        "If the load is high, our read_committed consumer sometimes gets nothing.",
        FILLING * 20 + "{0} " + FILLING,
        "We use transactions.\n\nSince the upgrade on one of the clusters\n{1}\nand nobody knows why.\n",
    ],
    ids=["beside a question", "beside what is over", "seen under a condition", "behind 600 characters", "wrapped"],
)
def test_a_sentence_is_judged_by_itself(text: str, tmp_path: Path) -> None:
    wrapped = "our read_committed consumer of the topic, which\nis a rather busy one,\ngets nothing at all"
    said = text.format("Our read_committed consumer gets nothing since ten.", wrapped)
    assert "hanging_transaction" in [one["rule"] for one in _candidates(tmp_path, said)]


def test_a_reader_of_duplicates_is_told_of_its_level(tmp_path: Path) -> None:
    texts = (
        "with exactly once we see duplicate records",
        "with exactly once and read_committed we see duplicate records",
        "with enable.idempotence we see duplicate records",
    )
    told = [_told(tmp_path, text)["findings"][0] for text in texts]
    levels = [any(one["proposed"] == "read_committed" for one in finding["remedies"]) for finding in told]
    assert levels == [True, False, False]
    assert [one["candidates"][0]["rule"] for one in told][::2] == ["misconfiguration", "duplicate_sequence"]


@pytest.mark.parametrize(
    "text",
    [
        "if err == ErrFenced {\n\t// the producer is fenced: close it, the transaction is over\n\treturn err\n}\n",
        'const Text = "Transactional id authorization failed, the transaction is over";\n',
    ],
)
def test_words_of_kafkas_in_a_program_are_nobodys(text: str, tmp_path: Path) -> None:
    test_what_works_or_holds_for_any_case_is_nothing(text, tmp_path)
