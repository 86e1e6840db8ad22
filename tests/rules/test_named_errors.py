"""A text that only names an error, or says what does not work, is no clean bill, and proves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.candidates.words import CANDIDATES
from kafkatx.terms.catalogue.loading import error_codes
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.errors import NothingReadableError

EFFECTS = {"abort_after_fatal_error", "silent_failure", "read_committed_blocked", "committed_but_unreadable"}
MET = (
    "Since the upgrade on Monday our transactional service stops with {error}, twice a day.",
    "we keep getting {error} from the transactional producer and do not know why",
    "Hi all,\n\nyesterday {error} killed the exactly-once job. What can that be?\n",
    "# transactions were switched off, we got {error} in production\nenable = False\n",
)
SPOKEN_OF = (
    "What does {error} mean for a transactional producer?",
    "If the transaction was aborted by the broker, commitTransaction may throw {error}.",
    "| error | meaning for transactions |\n| --- | --- |\n| {error} | see the manual |\n",
)
SYMPTOMS = {
    "commit_outcome_unknown": (
        "we use transactions, and sometimes commitTransaction() never returns",
        "The app hangs in commit_transaction for ever. Brokers are fine, transactions enabled.",
    ),
    "coordinator_unavailable": (
        "we get a producer ID request failure from the idempotent client after some days",
        "initTransactions() blocks on the new cluster and nothing is logged",
        "all transactional producers hang in init since the restart",
    ),
    "hanging_transaction": (
        "our read_committed consumer gets nothing since ten o'clock",
        "isolation level read_committed: the reader is stuck at one offset although producers write",
        "the last stable offset of the topic does not move any more",
        "The failover left the transaction hanging, and our coordinator was moved twice since.",
        "kafka-transactions.sh describe: our transaction hangs in PREPARE_COMMIT since ten o'clock",
        "our cluster creates hanging transactions since it was upgraded, three of them today",
        "\u4e8b\u52a1\u6d88\u606f\uff0c\u4ece\u6628\u5929\u5f00\u59cb\u6d88\u8d39\u4e0d\u5230\u6570\u636e",
    ),
    "misconfiguration": (
        "the consumer received three aborted records of the transaction",
        "Now and then our reader gets aborted messages.",
        "our transactional test shows that the reader always consumed messages marked as ABORT",
        "Currently a reader with isolation level read_committed can see unstable records.",
        "with exactly-once the sink ends in `Timeout expired while awaiting InitProducerId`",
        "the transactional writer stops with TimeoutException awaiting InitProducerId",
        "it timed out to initialize the producer id, transactions are on",
    ),
    "sequence_gap": (
        "sarama fails with `the broker received an out of order sequence number` once idempotency is on",
        "idempotent producer: sequence desynchronization when a broker comes back",
    ),
    "fenced_by_new_instance": ("after the restart the producer is refused with an invalid epoch",),
    "duplicate_sequence": ("sporadic message duplication with the idempotent producer",),
    "producer_epoch_exhausted": ("the epoch of our transactional writer was exhausted after a day",),
    "broker_unreachable": (
        "our transactional producer hangs since the network was moved",
        'MirrorMaker logs "timed out while waiting for producer to flush outstanding 12 messages" since monday',
    ),
    "producer_state_expired": ("our idempotent writer gets unknown producer id every monday",),
    "transactional_id_expired": ("the transactional service dies with an invalid pid mapping",),
    "client_bug": (
        "librdkafka hangs in `rd_kafka_begin_transaction` while there is a fatal error in its log, transactions are on",
        "beginTransaction() never returns, the transactional producer is dead",
    ),
    "concurrent_transactions_storm": ("sendOffsetsToTransaction never comes back, transactions everywhere else work",),
}
QUIET = (
    "With transactions a read_committed consumer that reads everything has its lag stuck at 1.",
    "The idempotent producer no longer goes out of sequence since the upgrade.",
    "Transactions: the old leader epoch is fenced by the new one.",
    "The transaction timeout was raised before init_transactions.",
    "The commit never hangs any more: transactions are fine since the upgrade.",
    "| [KAFKA-1](x) | transactions: Invalid transition attempted from state READY to state INITIALIZING | Major |",
    "beginTransaction never blocks: it asks no broker of the transaction.",
    "A read_committed reader gets nothing until the transaction commits. That is by design.",
    "If the coordinator is away, initTransactions() blocks for max.block.ms.",
    "Our consumer is stuck, it reads mails from IMAP.",
    "Hanging transactions are found by kafka-transactions.sh find-hanging.",
    "I don't see an explanation of the transaction_timeout_ms of the producer in the docs.",
    "The writer is transactional: on a checkpoint the transaction is committed, on a reset aborted, and a reader with "
    "the default isolation.level sees the aborted records.",
)
COMPLAINTS = (
    "The writer is transactional: on a checkpoint the transaction is committed, on a reset aborted, and a reader with "
    "the default isolation.level sees the aborted records. Why?",
    "On a reset the transaction is aborted. When we restarted the job, a reader of it saw the aborted records.",
    "On a reset the transaction is aborted, and a reader sees the aborted records.",
    "When the job restarts on a new node since the upgrade, a reader sees the aborted records of the transaction.",
)
"""The same with a question, a first person or a time, or too little to be a design."""


def _names() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Errors of the protocol that a cause shows itself by, by their names and their newest classes."""
    for error in error_codes():
        rules = tuple(rule for rule in error.rules if rule not in EFFECTS and rule in CANDIDATES)
        if rules and error_code(error.name) is not ErrorCode.NONE:
            yield error.name, rules


def _told(folder: Path, text: str) -> dict[str, Any]:
    path = folder / "page.md"
    path.write_text(text)
    return document(diagnose([path]), "0")


@pytest.mark.parametrize("text", MET, ids=range(len(MET)))
@pytest.mark.parametrize(("name", "rules"), _names(), ids=[name for name, _ in _names()])
def test_an_error_that_somebody_met_is_told_with_its_causes(
    text: str, name: str, rules: tuple[str, ...], tmp_path: Path
) -> None:
    told = _told(tmp_path, text.format(error=name))
    assert told["answer"]["state"] == "unexplained"
    (finding,) = told["findings"]
    assert finding["rule"] == "unexplained_failure"
    assert (finding["severity"], finding["verdict"]) == ("info", "possible")
    assert finding["candidates"][0]["rule"] == rules[0]


@pytest.mark.parametrize("text", SPOKEN_OF, ids=range(len(SPOKEN_OF)))
@pytest.mark.parametrize("name", ["INVALID_PRODUCER_EPOCH", "ProducerFencedException", "InvalidPidMappingException"])
def test_an_error_that_is_only_spoken_of_is_nothing_to_judge(text: str, name: str, tmp_path: Path) -> None:
    told = _told(tmp_path, text.format(error=name))
    assert told["answer"]["state"] == "nothing_to_judge"
    (finding,) = told["findings"]
    assert (finding["severity"], finding["verdict"]) == ("info", "possible")
    assert finding["facts"]["named"] == "spoken_of"


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in SYMPTOMS.items() for text in texts])
def test_what_does_not_work_is_told_with_what_may_be_behind_it(cause: str, text: str, tmp_path: Path) -> None:
    told = _told(tmp_path, text)
    assert told["answer"]["state"] == "unexplained"
    (finding,) = told["findings"]
    assert cause in [one["rule"] for one in finding["candidates"]]


@pytest.mark.parametrize("text", QUIET)
def test_what_works_or_is_foreign_is_nothing(text: str, tmp_path: Path) -> None:
    try:
        told = _told(tmp_path, text)
    except NothingReadableError:
        return
    assert told["findings"] == []
    assert told["answer"]["state"] != "unexplained"


def test_what_does_not_work_beside_an_error_is_told_with_its_causes(tmp_path: Path) -> None:
    met = "Since Monday our transactional producer gets InvalidProducerEpochException."
    (alone,), (both,) = (
        _told(tmp_path, text)["findings"] for text in (met, f"{met}\n\nThe transaction never ends since then.\n")
    )
    causes, all_causes = ([one["rule"] for one in found["candidates"]] for found in (alone, both))
    assert all_causes[: len(causes)] == causes
    assert "hanging_transaction" in all_causes
    assert "a transaction does not end" in both["summary"]
    assert alone["facts"]["symptoms"] is None


def test_a_reader_of_aborted_records_is_told_of_its_level(tmp_path: Path) -> None:
    texts = ("our reader gets aborted messages", "read_committed gets aborted messages")
    told = [_told(tmp_path, text) for text in texts]
    levels = [[one["proposed"] for one in finding["remedies"]] for page in told for finding in page["findings"]]
    assert levels == [["read_committed", None], [None]]


@pytest.mark.parametrize(
    ("awaited", "first"),
    [
        ("InitProducerId", "coordinator_unavailable"),
        ("EndTxn(true)", "coordinator_unavailable"),
        ("AddOffsetsToTxn", "fenced_by_group_generation"),
    ],
)
@pytest.mark.parametrize(
    "text", ["What does `{}` mean, in a transaction?", "If it fails, `{}` is thrown in a transaction."]
)
def test_a_timeout_is_that_of_the_call_that_its_words_name(text: str, awaited: str, first: str, tmp_path: Path) -> None:
    words = f"TimeoutException: Timeout expired after 60000ms while awaiting {awaited}"
    for finding in _told(tmp_path, text.format(words))["findings"]:
        assert finding["candidates"][0]["rule"] == first
        assert "follower" not in finding["summary"]


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("It came after two days of inactivity.", "transactional_id_expired"),
        ("It came after the weekend.", "transactional_id_expired"),
        ("It was not idle for days.", "transactional_id_expired"),
        ("We had deployed a second pod with the same id.", "fenced_by_new_instance"),
        ("It came after two days of inactivity, not a rebalance.", "transactional_id_expired"),
    ],
)
def test_what_is_said_of_an_id_orders_its_causes(said: str, first: str, tmp_path: Path) -> None:
    told = _told(tmp_path, f"we get InvalidPidMappingException from the transactional producer.\n{said}\n")
    (finding,) = told["findings"]
    assert finding["candidates"][0]["rule"] == first


@pytest.mark.parametrize("text", COMPLAINTS, ids=range(len(COMPLAINTS)))
def test_a_complaint_is_no_description_of_a_design(text: str, tmp_path: Path) -> None:
    assert _told(tmp_path, text)["answer"]["state"] == "unexplained"


def test_words_say_nothing_where_a_program_does(tmp_path: Path) -> None:
    line = (
        "2026-03-01 10:00:01,200 ERROR [Producer clientId=p-1, transactionalId=orders-1] Transiting to fatal error "
        "state due to org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a "
        "producer id which is not currently assigned to its transactional id. "
        "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
    )
    told = _told(tmp_path, f"Help, we get INVALID_PRODUCER_EPOCH and the commit never returns (transactions)\n\n{line}")
    assert all("named" not in finding["facts"] for finding in told["findings"])
    assert any(finding["severity"] != "info" for finding in told["findings"])


CALLS = {
    "frames_end": ("CommitTransaction", "commit_transaction", "commitTransaction", "CommitTxn"),
    "frames_init": ("InitTransactions", "init_transactions", "initTransactions", "InitProducerId"),
    "frames_begin": ("BeginTransaction", "begin_transaction", "beginTransaction", "BeginTxn"),
    "frames_offsets": (
        "SendOffsetsToTransaction",
        "send_offsets_to_transaction",
        "sendOffsetsToTransaction",
        "AddOffsetsToTxn",
    ),
}
FRAMES = (
    "   at Confluent.Kafka.Producer`2.{0}(TimeSpan timeout)\n   at Bill.Relay.Run() in /src/Relay.cs:line 131\n",
    '  File "/usr/lib/python3/site-packages/aiokafka/producer/producer.py", line 548, in {1}\n    await self._go()\n',
    "#0 /app/src/TxWriter.php(57): RdKafka\\Producer->{2}(15000)\n#1 /app/bin/run.php(12): App\\TxWriter->run()\n",
    "github.com/IBM/sarama.(*asyncProducer).{3}(0xc0001)\n\t/go/pkg/mod/github.com/!i!b!m/sarama/async.go:310\n",
    "\tat org.apache.kafka.clients.producer.KafkaProducer.{2}(KafkaProducer.java:606)\n\tat a.R.go(Relay.java:8)\n",
)


@pytest.mark.parametrize("frames", FRAMES, ids=["net", "python", "php", "go", "java"])
@pytest.mark.parametrize(("error", "names"), CALLS.items(), ids=CALLS)
def test_frames_without_their_error_are_no_clean_bill(
    error: str, names: tuple[str, ...], frames: str, tmp_path: Path
) -> None:
    told = _told(tmp_path, frames.format(*names))
    (finding,) = told["findings"]
    assert (finding["facts"]["error"], finding["severity"], finding["verdict"]) == (error, "info", "possible")
    assert told["answer"]["state"] == "unexplained"


@pytest.mark.parametrize("frames", FRAMES, ids=["net", "python", "php", "go", "java"])
def test_frames_of_other_calls_are_nothing(frames: str, tmp_path: Path) -> None:
    try:
        told = _told(tmp_path, frames.format("Poll", "poll", "poll", "Close"))
    except NothingReadableError:
        return
    assert told["findings"] == []


LITERALS = (
    'private const string Waited =\n    "Timeout expired after 3000ms while awaiting InitProducerId. It did not "\n'
    '    + "complete within max.block.ms, transactions are off.";\n',
    'assertMessage(\n    "Timeout expired after 3000ms while awaiting InitProducerId"\n);\n// transactions\n',
)


@pytest.mark.parametrize("text", LITERALS, ids=range(len(LITERALS)))
def test_a_string_of_a_program_is_nobodys_symptom(text: str, tmp_path: Path) -> None:
    with suppress(NothingReadableError):
        assert _told(tmp_path, text)["findings"] == []
