"""What befalls any client, what a guess must not hide, and what stands behind an echo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document

SHORT = """[2021-06-24 02:40:11,063] ERROR [ReplicaManager broker=3] Error processing append operation on partition \
{partition} (kafka.server.ReplicaManager)
org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(3) is insufficient to \
satisfy the min.isr requirement of 2 for partition {partition}
"""
PLAIN = "our dashboard shows no new events since the upgrade last night\nthe broker of the test cluster prints this:\n"
REJECTED = "Messages are rejected since there are fewer in-sync replicas than required"
KAFKAJS = (
    '{"level":"ERROR","timestamp":"2024-01-18T20:31:02.411Z","logger":"kafkajs","message":"[Producer] Failed to send '
    f'messages: {REJECTED}","retryCount":0,"retryTime":262}}\n'
    f"2024-01-18T20:31:10Z  KafkaJSNumberOfRetriesExceeded: {REJECTED}\n"
)
TOO_LARGE = """2023-01-20 08:12:09.510 ERROR 1 --- [single-1] r.k.s.internals.DefaultKafkaSender       : error {}
org.apache.kafka.common.errors.RecordTooLargeException: The message is 1500090 bytes when serialized which is larger \
than 1048576, which is the value of the max.request.size configuration.
"""


def _told(tmp_path: Path, text: str) -> dict[str, Any]:
    page = tmp_path / "page.md"
    page.write_text(text)
    return document(diagnose([page]), "test")


def _first_candidates(told: dict[str, Any]) -> list[str]:
    return [one["rule"] for one in told["findings"][0]["candidates"]]


@pytest.mark.parametrize("partition", ["__consumer_offsets-17", "cdc-configs-0"])
def test_a_leader_short_of_replicas_says_nothing_of_transactions(tmp_path, partition):
    plain = _told(tmp_path, f"{PLAIN}\n{SHORT.format(partition=partition)}")
    of_transactions = _told(tmp_path, f"{PLAIN}it writes with transactions\n\n{SHORT.format(partition=partition)}")
    alone = _told(tmp_path, SHORT.format(partition=partition))
    assert plain["answer"]["state"] == "nothing_to_judge"
    assert of_transactions["answer"]["state"] != "nothing_to_judge"
    assert alone["answer"]["state"] != "nothing_to_judge"


def test_what_is_told_for_information_hides_no_failure(tmp_path):
    told = _told(tmp_path, KAFKAJS)
    assert [finding["severity"] for finding in told["findings"]] == ["warning"]
    assert "None" not in str(told["findings"][0]["summary"])


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("We send records that may be too large, that's intended, we catch and route them.", "nothing_to_judge"),
        ("We send records that may be too large, is that a problem of the brokers or of us?", "findings"),
        ("We send records in transactions, that's intended, and get this from the library:", "findings"),
    ],
)
def test_a_large_record_that_is_caught_loses_no_transaction(tmp_path, said, state):
    told = _told(tmp_path, f"{said}\n\n{TOO_LARGE}\nand our alerting counts lines with the level of errors every day\n")
    assert told["answer"]["state"] == state


@pytest.mark.parametrize(
    ("line", "candidates"),
    [
        (
            "org.apache.kafka.common.KafkaException: Cannot perform send because at least one previous transactional "
            "or idempotent request has failed with errors.",
            ["transaction_timed_out", "fenced_by_new_instance"],
        ),
        (
            "KafkaException: Operation not valid in state FatalError",
            ["transaction_timed_out", "fenced_by_new_instance"],
        ),
        (
            'ERR abort failed err="Fatal error: Failed to end transaction: Broker: Producer attempted a transactional '
            'operation in an invalid state"',
            ["commit_outcome_unknown", "api_misuse"],
        ),
        (
            "org.apache.kafka.common.KafkaException: Unhandled error in EndTxnResponse: The server experienced an "
            "unexpected error when processing the request.",
            ["coordinator_unavailable", "broker_bug"],
        ),
        (
            "%3|1618430548.637|TXNERR|rdkafka#producer-2| [thrd:main]: Current transaction failed: Transactional API "
            "operation (commit_transaction (begin)) timed out (_TIMED_OUT)",
            ["api_misuse", "broker_unreachable"],
        ),
    ],
)
def test_what_stands_behind_a_refusal_of_the_state(tmp_path, line, candidates):
    assert _first_candidates(_told(tmp_path, f"{line}\n"))[:2] == candidates


def test_a_coordinator_that_answers_is_there(tmp_path):
    header = "RequestHeader(apiKey=INIT_PRODUCER_ID, apiVersion=4, clientId=p, correlationId=41)"
    answer = (
        "11:05:42.{at} DEBUG NetworkClient [Producer clientId=p, transactionalId=Y1] Received INIT_PRODUCER_ID "
        f"response from node 4 for request with header {header}: InitProducerIdResponseData(throttleTimeMs=0, "
        "errorCode=51, producerId=-1, producerEpoch=-1)\n"
    )
    gave_up = (
        "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
    )
    busy = _told(tmp_path, f"{answer.format(at=310)}{answer.format(at=414)}...\n{gave_up}")
    silent = _told(tmp_path, gave_up)
    assert [finding["rule"] for finding in busy["findings"]] == ["concurrent_transactions_storm"]
    assert [finding["rule"] for finding in silent["findings"]] == ["coordinator_unavailable"]
