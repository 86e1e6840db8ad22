"""misconfiguration of topics that ask for more replicas than they have, by their description or on a single broker."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

CLIENT = (
    "%3|1702461737.738|TXNERR|txex#producer-1| [thrd:main]: Current transaction failed in state BeginCommit: "
    "ProduceRequest for q3 [0] with 1 message(s) failed: Broker: Not enough in-sync replicas (broker 3 "
    "PID{Id:14,Epoch:2}, base seq 0): current transaction must be aborted (NOT_ENOUGH_REPLICAS)\n"
)
RETRIED = (
    "[2024-02-01 10:22:40,118] WARN [Producer clientId=p-1, transactionalId=t-1] Got error produce response with "
    "correlation id 844 on topic-partition q3-0, retrying (2147483398 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)
LEADER = (
    "[2024-02-01 10:22:40,117] ERROR [ReplicaManager broker=1] Error processing append operation on partition q3-0 "
    "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current "
    "ISR {isr} is insufficient to satisfy the min.isr requirement of 2 for partition q3-0\n"
)
LEADERS = [LEADER.format(isr=isr) for isr in ("Set(1)", ": 1")]
UNVERIFIED = (
    "[2024-02-01 10:22:40,118] WARN [Producer clientId=p-1, transactionalId=t-1] Got error produce response with "
    "correlation id 844 on topic-partition q3-0, retrying (9 attempts left). Error: NOT_ENOUGH_REPLICAS. Error "
    "Message: Unable to verify the partition has been added to the transaction. Underlying error: NOT_COORDINATOR "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)
SINGLE = "We have a single Kafka broker in docker-compose.\n"
ASKED = "$ kafka-topics.sh --bootstrap-server k:9092 --describe --topic {topic}\n"


def _described(least: int, *partitions: tuple[str, str], topic: str = "q3", layout: str = "\t") -> str:
    head = f"Topic: {topic}{layout}PartitionCount: {len(partitions)}{layout}ReplicationFactor: 1{layout}"
    rows = [f"{head}Configs: min.insync.replicas={least}"]
    for number, (replicas, in_sync) in enumerate(partitions):
        cells = (f"Topic: {topic}", f"Partition: {number}", "Leader: 3", f"Replicas: {replicas}", f"Isr: {in_sync}")
        rows.append(f"{layout}{layout.join(cells)}")
    return ASKED.format(topic=topic) + "\n".join(rows) + "\n"


def _told(folder: Path, *parts: str) -> dict[str, str]:
    path = folder / "page.md"
    path.write_text("\n".join(parts))
    return {one["rule"]: one["verdict"] for one in document(kafkatx.diagnose([path]), "t")["findings"]}


@pytest.mark.parametrize("layout", ["\t", "  ", " "], ids=["tabs", "blanks", "one blank"])
@pytest.mark.parametrize("refusal", [CLIENT, RETRIED, *LEADERS])
@pytest.mark.parametrize(("least", "partitions"), [(2, [("3", "3")]), (3, [("1,2", "1,2"), ("2,3", "2,3")])])
def test_a_description_with_both_numbers_proves_it(least, partitions, refusal, layout, tmp_path):
    told = _told(tmp_path, refusal, _described(least, *partitions, layout=layout))
    assert told["misconfiguration"] == "proved"
    assert "unexplained_failure" not in told


@pytest.mark.parametrize(
    "described",
    [
        _described(2, ("3,1", "3")),
        _described(2, ("1,2,3", "1")),
        _described(1, ("3", "3")),
        _described(2, ("3", "3"), topic="__transaction_state"),
    ],
    ids=["a replica out of sync", "two out of sync", "one is enough", "the state topic"],
)
def test_replicas_that_are_away_are_no_setting(described, tmp_path):
    assert "misconfiguration" not in _told(tmp_path, CLIENT, described)


@pytest.mark.parametrize("refusal", LEADERS)
def test_one_broker_that_asks_for_two_replicas_is_likely(refusal, tmp_path):
    assert (
        _told(tmp_path, "We have a single Kafka broker in docker-compose.\n", refusal)["misconfiguration"] == "likely"
    )


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ("We have three brokers.\n", LEADERS[0]),
        ("There is a single broker in this test, in production there are 3 brokers.\n", LEADERS[0]),
        (SINGLE, UNVERIFIED),
        ("What is it?\n", LEADERS[0]),
    ],
    ids=["three", "both", "not verified", "nothing is said"],
)
def test_other_clusters_stay_open(said, refusal, tmp_path):
    assert "misconfiguration" not in _told(tmp_path, said, refusal)
