"""Texts that tell of no transaction: what a consumer, a serializer or a client's own epoch shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

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
