"""Who tries again after a broker's line, and what it asks for: a write that too few replicas take, a damaged file."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

ERRORS = "org.apache.kafka.common.errors."
APPEND = (
    "[2024-05-20 08:10:08,342] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
    "{partition} (kafka.server.ReplicaManager)\n"
)
TOO_FEW = (
    "NotEnoughReplicasException: The size of the current ISR Set(1) is insufficient to satisfy the min.isr requirement "
    "of 2 for partition {partition}\n",
    "NotEnoughReplicasException: The size of the current ISR : 1 is insufficient to satisfy the min.isr requirement of "
    "2 for partition {partition}\n",
    "NotEnoughReplicasException: Number of insync replicas for partition {partition} is [1], below required minimum "
    "[2]\n",
)
UNVERIFIED = (
    "NotEnoughReplicasException: Unable to verify the partition has been added to the transaction. Underlying error: "
    "COORDINATOR_LOAD_IN_PROGRESS\n"
)
FETCH = (
    "[2024-05-20 08:10:08,342] ERROR [ReplicaManager broker=1] Error processing fetch with max size 1048576 from "
    "replica [2] on partition pay-0: PartitionData(fetchOffset=206, logStartOffset=0, maxBytes=1048576, "
    "currentLeaderEpoch=Optional[9], lastFetchedEpoch=Optional[9]) (kafka.server.ReplicaManager)\n"
)
DAMAGED = (
    f"{ERRORS}CorruptRecordException: Found record size 0 smaller than minimum record overhead (14) in file "
    "/data/pay-0/00000000000000000155.log.\n"
)
SENT = f"{ERRORS}CorruptRecordException: This message has failed its CRC checksum, exceeds the valid size, or is\n"


def _told(folder: Path, text: str) -> list[dict]:
    path = folder / "server.log"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "1")["findings"]


@pytest.mark.parametrize("error", TOO_FEW)
def test_a_write_that_too_few_replicas_take_is_made_again_by_who_wrote_it(error: str, tmp_path: Path) -> None:
    (found,) = _told(tmp_path, (APPEND + ERRORS + error).format(partition="pay-0"))
    assert found["rule"] == "unexplained_failure"
    assert "The producer of the batch tries again" in found["summary"]
    assert [one["rule"] for one in found["candidates"]] == ["broker_unreachable", "misconfiguration"]
    assert "back in sync" in found["remedies"][0]["text"]


def test_what_coordinators_write_no_producer_makes_again(tmp_path: Path) -> None:
    (found,) = _told(tmp_path, (APPEND + ERRORS + TOO_FEW[0]).format(partition="__consumer_offsets-5"))
    assert "The coordinator that wrote answers its client" in found["summary"]


def test_what_could_not_be_verified_lacks_no_replicas(tmp_path: Path) -> None:
    found = _told(tmp_path, (APPEND + ERRORS + UNVERIFIED).format(partition="pay-0"))
    assert all("back in sync" not in str(one["remedies"]) for one in found)


def test_a_file_that_can_not_be_read_is_damaged_on_disk(tmp_path: Path) -> None:
    (found,) = _told(tmp_path, FETCH + DAMAGED)
    assert "/data/pay-0/00000000000000000155.log" in found["summary"]
    assert "on its way" not in found["summary"]
    assert found["candidates"][0]["rule"] == "log_directory_failed"
    assert found["remedies"][0]["cost"]


def test_a_batch_that_came_damaged_is_no_damaged_file(tmp_path: Path) -> None:
    assert all("can't be read" not in one["summary"] for one in _told(tmp_path, FETCH + SENT))


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Clients that use transactions fail with a `Transactional Id authorization failed` error since Monday.\n", 1),
        (f"{ERRORS}TransactionalIdAuthorizationException: Transactional Id authorization failed.\n", 0),
        (f"since Monday our job got {ERRORS}TransactionalIdAuthorizationException: Transactional Id authorization "
         "failed.\n", 0),
        ("2024-01-01 10:00:00,000 ERROR send failed with `Transactional Id authorization failed` and that is all\n", 0),
    ],
)  # fmt: skip
def test_a_sentence_that_quotes_an_error_proves_nothing(text: str, verdict: int, tmp_path: Path) -> None:
    found = [one for one in _told(tmp_path, text) if one["rule"] == "misconfiguration"]
    assert [one["verdict"] for one in found] == [("proved", "likely")[verdict]]
    assert ("By what somebody quotes, probably" in found[0]["summary"]) == bool(verdict)


NO_RIGHT = (
    "2024-05-20 08:10:08.342 ERROR 1 --- [ad | producer-{number}] o.a.k.c.p.i.Sender : [Producer "
    "clientId=producer-{number}] Aborting producer batches due to fatal error\n"
    f"{ERRORS}ClusterAuthorizationException: Cluster authorization failed.\n"
)
DENIED = (
    "\n[2024-05-20 08:10:08,340] INFO Principal = User:pay is Denied Operation = IdempotentWrite from host = 10.1.2.3 "
    "on resource = Cluster:LITERAL:kafka-cluster for request = InitProducerId with resourceRefCount = 1 "
    "(kafka.authorizer.logger)\n"
)


def test_a_right_that_a_client_lacks_is_one_finding_with_the_brokers_line(tmp_path: Path) -> None:
    found = [one for one in _told(tmp_path, NO_RIGHT.format(number=1) + DENIED) if one["rule"] == "misconfiguration"]
    assert [one["verdict"] for one in found] == ["proved"]
    assert len(found[0]["steps"][0]["evidence"]) == 2


def test_of_two_clients_the_brokers_line_is_nobodys(tmp_path: Path) -> None:
    text = NO_RIGHT.format(number=1) + NO_RIGHT.format(number=2) + DENIED
    assert len([one for one in _told(tmp_path, text) if one["rule"] == "misconfiguration"]) == 3
