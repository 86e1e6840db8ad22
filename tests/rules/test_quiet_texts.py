"""Texts that tell of no transaction: what a consumer, a serializer or a client's own epoch shows."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

QUIET = {
    "offsets stored after a revocation": (
        "Confluent.Kafka.KafkaException: Local: Erroneous state\n"
        "   at Confluent.Kafka.Impl.SafeKafkaHandle.StoreOffsets(IEnumerable`1 offsets)\n"
    ),
    "a commit of a member that had left": (
        "kafka.errors.CommitFailedError: CommitFailedError: Commit cannot be completed since the group has already "
        "rebalanced and assigned the partitions to another member.\n"
    ),
    "a schema that the registry refuses": (
        "[2025-01-02 03:04:05,678] ERROR ExactlyOnceWorkerSourceTask{id=a-0} Task threw an uncaught and unrecoverable "
        "exception. Task is being killed and will not recover until manually restarted "
        "(org.apache.kafka.connect.runtime.WorkerTask:233)\n"
        "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
        "Caused by: org.apache.kafka.connect.errors.DataException: Failed to serialize Avro data from topic a :\n"
    ),
    "a group's error in a consumer's log": (
        "ERROR:aiokafka.consumer.group_coordinator:OffsetCommit failed for group g due to group error "
        "([Error 25] UnknownMemberIdError: g), will rejoin\n"
    ),
}
STOPPED = (
    "[2026-03-02 04:16:46,190] INFO [TransactionCoordinator id=1] Node 1 disconnected. "
    "(org.apache.kafka.clients.NetworkClient)\n"
    "[2026-03-02 04:16:46,602] INFO [Controller 1] QuorumController#beginShutdown: shutting down event queue. "
    "(org.apache.kafka.queue.KafkaEventQueue)\n"
    "[2026-03-02 04:16:46,608] ERROR [Controller 1] writeNoOpRecord: unable to start processing because of "
    "TimeoutException. (org.apache.kafka.controller.QuorumController)\n"
)
"""How a broker of KRaft ends whose controller still had events in its queue (3.3 to 3.6)."""
RUN_OVER = (
    "%7|1652270012.401|DRAIN|a#producer-1| [thrd:b:9092/4]: All partitions drained, bumped epoch to "
    "PID{Id:7,Epoch:-32768}\n"
    "%0|1652270012.533|FATAL|a#producer-1| [thrd:b:9092/4]: Fatal error: Broker: Producer attempted an operation with "
    "an old epoch: ProduceRequest for t [0] with 1 message(s) failed: Broker: Producer attempted an operation with an "
    "old epoch (broker 4 PID{Id:7,Epoch:-32768}, base seq 0): unable to retry without risking duplication/reordering\n"
)


def _told(folder: Path, text: str) -> dict:
    path = folder / "page.md"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "t")


@pytest.mark.parametrize("text", QUIET.values(), ids=QUIET.keys())
def test_nothing_of_a_transaction_failed(text: str, tmp_path: Path) -> None:
    told = _told(tmp_path, text)
    assert not [finding for finding in told["findings"] if finding["severity"] != "info"]
    assert told["answer"]["failures"]["excused"] == 1


def test_an_epoch_that_ran_over_is_no_fencing(tmp_path: Path) -> None:
    assert [finding["rule"] for finding in _told(tmp_path, RUN_OVER)["findings"]] == ["producer_epoch_exhausted"]


def test_what_a_controller_had_not_begun_when_it_stopped_is_no_failure_of_a_client(tmp_path: Path) -> None:
    told = _told(tmp_path, STOPPED)
    assert not told["findings"]


ROLLED = "Completed rollback of ongoing transaction for transactionalId {} due to timeout"
FAILED = "Rollback of ongoing transaction for transactionalId {} failed due to error {}"
DOCUMENTED = (
    FAILED.format("[transactionalId]", "[error]"),
    FAILED.format("<transactionalId>", "<error>"),
)
ATTRIBUTES = (
    '    #[error("Producer attempted to produce with an old epoch.")]\n    OldEpoch,\n'
    '    #[error("The producer attempted a transactional operation in an invalid state.")]\n    WrongState,\n'
    '    #[error("There is a newer producer with the same transactionalId which fences the current one.")]\n',
    '  test "errors of transactions" do\n    known = [\n      {47, :invalid_producer_epoch},\n'
    "      {48, :invalid_txn_state},\n      {90, :producer_fenced}\n    ]\n\n    for {code, name} <- known do\n"
    "      assert name == Codes.name(code)\n    end\n  end\n",
    '  Errors::OldEpoch => "Producer attempted to produce with an old epoch.",\n'
    '  Errors::WrongState => "The producer attempted a transactional operation in an invalid state.",\n'
    '  Errors::Unmapped => {\n    "The producer attempted to use a producer id which is not currently assigned to its '
    'transactional id."\n  },\n',
    "    when 'Unknown error with code 45' then 'OUT_OF_ORDER_SEQUENCE_NUMBER: The broker received an out of order "
    "sequence number.'\n    when 'Unknown error with code 47' then 'INVALID_PRODUCER_EPOCH: Producer attempted to "
    "produce with an old epoch.'\n",
    "  self::OUT_OF_ORDER_SEQUENCE_NUMBER => 'The broker received an out of order sequence number.',\n"
    "  self::INVALID_TXN_STATE => 'The producer attempted a transactional operation in an invalid state.',\n",
    '  case Fenced => "There is a newer producer with the same transactionalId which fences the current one."\n',
    "enum Reply {\n  /** Producer attempted to produce with an old epoch. */\n  InvalidProducerEpoch,\n"
    "  InvalidTxnState,\n}\n",
)


@pytest.mark.parametrize("text", [*DOCUMENTED, *ATTRIBUTES], ids=range(len(DOCUMENTED) + len(ATTRIBUTES)))
def test_what_may_be_logged_was_not(text: str, tmp_path: Path) -> None:
    with suppress(NothingReadableError):
        assert not [one for one in _told(tmp_path, text)["findings"] if one["severity"] != "info"]


def test_words_of_errors_above_their_names_are_nobodys_symptom(tmp_path: Path) -> None:
    text = (
        "    /// Broker received an out of order sequence number.\n    OutOfOrderSequenceNumber = 45,\n"
        "    /// Broker received a duplicate sequence number.\n    DuplicateSequenceNumber = 46,\n"
        "    /// Invalid producer epoch of a transaction.\n    InvalidProducerEpoch = 47,\n"
    )
    assert _told(tmp_path, text)["answer"]["state"] == "nothing_to_judge"


@pytest.mark.parametrize("front", ['"message" => ', "error -> ", ":message=>", "'error' => "])
def test_a_printed_field_is_no_arm_of_a_choice(front: str, tmp_path: Path) -> None:
    fenced = "There is a newer producer with the same transactionalId which fences the current one."
    told = _told(tmp_path, f'  {front}"org.apache.kafka.common.errors.ProducerFencedException: {fenced}",\n')
    assert [one for one in told["findings"] if one["severity"] != "info"]


@pytest.mark.parametrize("name", ["bill-1", "<bill>-1", "{bill}"])
def test_an_id_in_any_marks_is_one(name: str, tmp_path: Path) -> None:
    line = "[2026-02-03 08:00:01,120] INFO [TransactionCoordinator id=1] " + ROLLED.format(name)
    found = _told(tmp_path, line + " (kafka.coordinator.transaction.TransactionCoordinator)\n")["findings"]
    assert [one["rule"] for one in found] == ["transaction_timed_out"]
