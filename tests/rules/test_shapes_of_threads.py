"""Shapes in which people paste failures into threads: half traces, comments, retries, other brokers' own lines.

Each text has a neighbour that differs in what decides: what tells a failure in one must not in the other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

COMMITTABLE = (
    "java.lang.IllegalStateException: Failed to commit KafkaCommittable{producerId=51, epoch=4, "
    "transactionalId=bill-3-9}\n"
    "\tat org.apache.flink.connector.kafka.sink.KafkaCommitter.commit(KafkaCommitter.java:119)\n"
    "\tat org.apache.flink.streaming.runtime.operators.sink.CommitterOperator.initialize(CommitterOperator.java:1)\n"
)
ERRORS = "org.apache.kafka.common.errors."
IN_STATE = f"Caused by: {ERRORS}InvalidTxnStateException: The producer attempted a transactional " \
    "operation in an invalid state.\n"  # fmt: skip
ROLLED_BACK = (
    "[  main] o.s.t.i.TransactionInterceptor : Completing transaction for [Billing.close] after exception: "
    "java.lang.RuntimeException: no such customer\n"
)
DROPPED = (
    "[  main] o.a.k.clients.producer.KafkaProducer : [Producer clientId=p-0, transactionalId=bill-0] Aborting "
    "incomplete transaction\n\norg.apache.kafka.common.errors.TransactionAbortedException: Failing batch since "
    "transaction was aborted\n"
)
FAUST = (
    "[2022-03-04 10:00:01,004: ERROR]: [^--Consumer]: Crashed reason=ProducerFenced('There is a newer producer using "
    "the same transactional_id.')\nTraceback (most recent call last):\n"
    '  File "/srv/app/mode/services.py", line 71, in _run\n    await task\n'
)
QUOTED = (
    "            /**\n             * Caused by: java.util.concurrent.ExecutionException: "
    "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old epoch.\n"
    "             * \tat org.apache.kafka.clients.producer.internals.FutureMetadata.get(FutureMetadata.java:65)\n"
    "             * \tat org.example.Billing.main(Billing.java:40)\n             */\n            "
    "producer.send(record);\n"
)
ANSWER = (
    '[Connection] Response EndTxn(key: 26, version: 1)\n    broker: "b1:9092"\n    clientId: "bill"\n'
    '    error: "The producer attempted a transactional operation in an invalid state"\n    correlationId: 12\n    '
    "size: 10\n"
)
TXNAPI = (
    "%7|1677230000.123|TXNAPI|bill#producer-2| [thrd:app]: Transactional API called: send_offsets_to_transaction (in "
    "txn "
    "state {state}, idemp state Assigned, API timeout -1)\n"
)
DENIED = (
    "[2024-01-22 17:16:40,230] ERROR [Producer clientId=bill-1{more}] Aborting producer batches due to fatal error "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
    "org.apache.kafka.common.errors.TransactionalIdAuthorizationException: Transactional Id authorization failed.\n"
)
BUSY = (
    "The producer attempted to update a transaction while another concurrent operation on the same transaction was "
    "ongoing"
)
REDPANDA = "{level:5} 2024-07-30 18:30:5{s},573 [shard 0:main] cluster - {source}:88 - {said}\n"
DROPS = REDPANDA.format(
    level="DEBUG", s=1, source="producer_state_manager.cc",
    said="Removing producer: { id: {producer_identity: id=71, epoch=0}, group: 5, requests: { inflight: 0, "
    "finished: 2 }, ms_since_last_update: 700491 }, current producer count: 1",
)  # fmt: skip
REFUSES = REDPANDA.format(
    level="WARN", s=4, source="producer_state.cc",
    said="[{ id: {producer_identity: id=71, epoch=0}, group: 5, requests: { inflight: 0, finished: 0 }, "
    "ms_since_last_update: 0 }] error cluster::errc:25 processing request {pid: {producer_identity: id=71, epoch=0}, "
    "first_seq: 9, is_transactional: false, record_count: 1, last_seq: 9}, term: 3, reset: false",
)  # fmt: skip
TAKEN_OVER = "".join(
    f"bill-0::TransactionMetadata(transactionalId=bill-0, {{id}}producerEpoch={epoch}, txnTimeoutMs=120000, "
    f"state={state}, "
    f"pendingState=None, txnStartTimestamp={start}, txnLastUpdateTimestamp={at}, partitions=[{partitions}])\n"
    for epoch, state, start, at, partitions in (
        (0, "Ongoing", 1699766244914, 1699766244914, "words-0"),
        (1, "PrepareAbort", 1699766244914, 1699766295744, "words-0"),
        (1, "CompleteAbort", 1699766244914, 1699766295747, ""),
        (2, "Empty", -1, 1699766295854, ""),
    )
)


def told(folder: Path, text: str) -> dict[str, Any]:
    """Diagnose a text; of one that nothing can be read of an empty document."""
    path = folder / "page.md"
    path.write_text(text)
    try:
        return document(kafkatx.diagnose([path]), "1")
    except NothingReadableError:
        return {"answer": {"state": "not read"}, "findings": []}


def loud(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Rules and severities of what is more than information."""
    return [(one["rule"], one["severity"]) for one in found["findings"] if one["severity"] != "info"]


SHAPES = {
    "a wrapper without its cause": (COMMITTABLE, [("unexplained_failure", "warning")]),
    "a wrapper with its cause": (COMMITTABLE + IN_STATE, [("unexplained_failure", "error")]),
    "a commit of several, first failure only named": (
        "org.apache.flink.util.FlinkRuntimeException: Committing one of transactions failed, logging first encountered "
        "failure\n",
        [("unexplained_failure", "warning")],
    ),
    "a rollback for the application's own exception": (ROLLED_BACK + DROPPED, [("aborted_by_client", "warning")]),
    "an abort whose reason is not shown": (DROPPED, []),
    "a traceback without its end": (FAUST, [("unexplained_failure", "error")]),
    "a trace in a comment": (QUOTED, [("unexplained_failure", "warning")]),
    "the same as documentation": (
        QUOTED.replace("Caused by: java.util.concurrent.ExecutionException: ", "@throws ").replace("\tat org", "org"),
        [],
    ),
    "an answer over several lines": (ANSWER, [("client_bug", "error")]),
    "offsets sent without a begin": (TXNAPI.format(state="Ready"), [("api_misuse", "warning")]),
    "offsets sent within a transaction": (TXNAPI.format(state="InTransaction"), []),
    "a right that a producer without an id lacks": (DENIED.format(more=""), [("misconfiguration", "error")]),
    "a right that one with an id lacks": (
        DENIED.format(more=", transactionalId=bill-0"),
        [("misconfiguration", "error")],
    ),
    "a state that was dropped in peace": (DROPS, []),
    "a batch that met no state": (DROPS + REFUSES, [("producer_state_expired", "warning")]),
    "an old epoch in short words": (
        "2024-05-05 10:00:00 ERROR Producer attempted an operation with an old epoch\n",
        [("unexplained_failure", "error")],
    ),
    "a sign of failure before Kafka's words": (
        "\u274c The producer attempted a transactional operation in an invalid state\n",
        [("unexplained_failure", "error")],
    ),
    "an error that is being tried again": (f"ERROR: Failed to send messages: {BUSY}\n" * 3, []),
    "an error as Ruby's binding prints it": (
        "WaterDrop::Errors::ProduceError: #<Rdkafka::RdkafkaError: Local: This instance has been fenced by a newer "
        "instance "
        "(fenced)>\n",
        [("unexplained_failure", "error")],
    ),
    "an error as an atom": (
        "10:00:00.100 [error] commit failed: {error, invalid_producer_id_mapping}\n",
        [("transactional_id_expired", "error")],
    ),
    "an error as Swift's runtime prints the one that ended a program": (
        "Swift/ErrorType.swift:254: Fatal error: Error raised at top level: KafkaError.rdKafkaError: Broker: Producer "
        "attempted a transactional operation in an invalid state Kafka/KafkaTransactionalProducer.swift:120\n",
        [("unexplained_failure", "error")],
    ),
    "an error that a sentence about Swift goes on behind": (
        "The binding maps it so: Broker: Producer attempted a transactional operation in an invalid state of Swift\n",
        [],
    ),
    "an atom of a partition, in a list": (
        '10:00:00.100 [error] sending failed: {error,[{<<"orders">>,0,invalid_txn_state}]}\n',
        [("unexplained_failure", "error")],
    ),
    "an atom in a map, in a report of a crash": (
        "10:00:00.100 [error] CRASH REPORT Process <0.501.0> exited with reason: {badmatch,{error,{kpro_req_error,"
        "#{error_code => invalid_producer_epoch}}}} in gen_server:terminate/7 line 812\n",
        [("unexplained_failure", "warning")],
    ),
    "an atom of a partition that a program matches": (
        "        {error, [{Topic, Partition, invalid_txn_state} | _]} ->\n            restart(Topic, Partition);\n",
        [],
    ),
    "an atom in a map that a program makes": ("    Rsp = #{error_code => invalid_producer_epoch, offset => 3},\n", []),
    "an atom that a program matches": ("    {:error, :producer_fenced} -> restart()\n", []),
    "a call of Rust's binding that timed out": (
        "Error: Transaction(RDKafkaError(Transactional API operation (commit_transaction) timed out))\n",
        [("commit_outcome_unknown", "error")],
    ),
    "frames whose exception was cut off": (
        "\tat org.apache.kafka.clients.producer.internals.TransactionManager.maybeFailWithError(Transactions.java:1)\n"
        "\tat org.apache.kafka.clients.producer.KafkaProducer.beginTransaction(KafkaProducer.java:600)\n",
        [("unexplained_failure", "warning")],
    ),
    "a cause above its wrapper": (
        f"Caused by: {ERRORS}ProducerFencedException: There is a newer producer with the same transactionalId which "
        f"fences "
        "the current one.\nCaused by: org.apache.flink.util.FlinkRuntimeException: Failed to send data to Kafka "
        "bill-0@-1 "
        "with FlinkKafkaInternalProducer{transactionalId='bill-0-1', inTransaction=true, closed=false}\n",
        [("unexplained_failure", "error")],
    ),
    "Spark's streams in a topic with markers": (
        "java.lang.IllegalArgumentException: requirement failed: Failed to get records for spark-executor-a bill 0 5 "
        "after "
        "polling for 1000\n",
        [("unexplained_failure", "warning")],
    ),
    "a call after the transaction was prepared": (
        "java.lang.IllegalStateException: Cannot perform operation while the transaction is in a prepared state. Only "
        "commitTransaction(), abortTransaction(), or completeTransaction() are permitted.\n",
        [("api_misuse", "warning")],
    ),
    "brokers that can't raise an epoch": (
        "Transiting to fatal error state due to org.apache.kafka.common.errors.UnsupportedVersionException: Attempted "
        "to "
        "write a non-default producerId at version 1\n",
        [("misconfiguration", "error")],
    ),
}


@pytest.mark.parametrize(("text", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_a_shape_is_told_for_what_it_is(text: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    assert loud(told(tmp_path, text)) == expected


def test_what_is_tried_again_is_told_for_information_and_never_as_nothing(tmp_path: Path) -> None:
    found = told(tmp_path, f"ERROR: Failed to send messages: {BUSY}\n" * 3)
    assert found["answer"]["state"] == "unexplained"
    assert found["findings"][0]["candidates"][0]["rule"] == "concurrent_transactions_storm"


def test_a_cut_wrapper_asks_for_its_cause_and_names_the_id(tmp_path: Path) -> None:
    (found,) = told(tmp_path, COMMITTABLE)["findings"]
    assert found["transactional_id"] == "bill-3-9"
    assert "Caused by" in found["remedies"][0]["text"]
    assert {one["rule"] for one in found["candidates"]}.isdisjoint({"fenced_by_new_instance", "transaction_timed_out"})


def test_a_refusal_outweighs_the_line_that_dropped_the_state(tmp_path: Path) -> None:
    (found,) = told(tmp_path, DROPS + REFUSES)["findings"]
    assert found["from"].startswith("2024-07-30T18:30:54")
    assert any("transactional_id_expiration_ms" in one["text"] for one in found["remedies"])


def test_a_right_for_an_id_is_not_granted_to_who_has_none(tmp_path: Path) -> None:
    (without,) = told(tmp_path, DENIED.format(more=""))["findings"]
    (having,) = told(tmp_path, DENIED.format(more=", transactionalId=bill-0"))["findings"]
    assert (without["verdict"], having["verdict"]) == ("likely", "proved")
    assert "on the topic" in without["remedies"][0]["text"]
    assert "on the transactional.id" in having["remedies"][0]["text"]


@pytest.mark.parametrize("shown", ["producerId=15, ", "producerId15, ", ""])
def test_a_producer_id_that_is_not_there_is_no_minus_one(shown: str, tmp_path: Path) -> None:
    found = told(tmp_path, TAKEN_OVER.replace("{id}", shown))
    assert "-1" not in str([one["steps"] for one in found["findings"]])
    assert {one["producer_id"] for one in found["findings"]} <= {15 if shown else None, None}


def test_an_exception_of_nobody_is_that_of_the_only_id(tmp_path: Path) -> None:
    thrown = f"{ERRORS}InvalidProducerEpochException: Producer attempted to produce with an old epoch.\n\n"
    found = told(
        tmp_path,
        f"The first instance gets\n\n{thrown}and the topic holds\n\n" + TAKEN_OVER.format(id="producerId=15, "),
    )
    assert [one["rule"] for one in found["findings"]] == ["fenced_by_new_instance"]


def test_refusals_of_one_producer_are_one_incident_that_people_explain(tmp_path: Path) -> None:
    text = (
        "Two `KafkaProducer` instances, same `transactional.id`; the second calls initTransactions.\n\n```\n"
        "first send threw: java.util.concurrent.ExecutionException\n"
        "  caused by: org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce "
        "with an "
        "old epoch.\n\nfirst commit threw: org.apache.kafka.common.errors.InvalidProducerEpochException:\n"
        "  Producer with transactionalId 'bill-0' and (producerId=61, epoch=0) attempted to produce with an old "
        "epoch\n```\n"
    )
    (found,) = told(tmp_path, text)["findings"]
    assert (found["rule"], found["verdict"], found["transactional_id"]) == (
        "fenced_by_new_instance",
        "likely",
        "bill-0",
    )


@pytest.mark.parametrize(
    "line",
    ["# Assert: no OutOfOrderSequenceException, no ProducerFencedException", "+### ProducerFencedException"],
)
def test_an_error_that_is_denied_or_a_heading_of_a_change_was_not_met(line: str, tmp_path: Path) -> None:
    found = told(tmp_path, f"Transactions of the new release\n\n{line}\n\nAll transactional producers start.\n")
    assert not loud(found)
    assert all("met" not in one["title"] and "told of" not in one["title"] for one in found["findings"])


@pytest.mark.parametrize(
    "said",
    [
        "로컬 클러스터는 브로커가 1개뿐이다",
        "集群只有一个 broker",
        "Es gibt nur einen Broker",
        "there is only one broker",
    ],
)
def test_one_broker_is_said_in_many_languages(said: str, tmp_path: Path) -> None:
    thrown = (
        "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
    )
    assert loud(told(tmp_path, f"{thrown}\n{said}.\n")) == [("misconfiguration", "error")]


def test_a_commit_of_librdkafka_that_must_be_aborted_is_not_called_again(tmp_path: Path) -> None:
    text = (
        "2022-03-08T03:42:49.724Z ERROR librdkafka: TXNERR [thrd:main]: Current transaction failed in state "
        "CommittingTransaction: Transactional API operation (commit_transaction) timed out (_TIMED_OUT)\n"
    )
    (found,) = told(tmp_path, text)["findings"]
    remedies = " ".join(one["text"] for one in found["remedies"])
    assert found["rule"] == "commit_outcome_unknown"
    assert "abort_transaction" in remedies
    assert "call commitTransaction again" not in remedies


def test_what_streams_owns_is_restarted_and_not_aborted_by_hand(tmp_path: Path) -> None:
    text = (
        "16:38:58 ERROR [KAFKA] RecordCollectorImpl - stream-thread [bill-StreamThread-1] stream-task [0_0] Error "
        "encountered sending record to topic bill-store-changelog for task 0_0 due to:\n"
        "org.apache.kafka.common.errors.InvalidProducerEpochException: Producer attempted to produce with an old "
        "epoch.\n"
    )
    (found,) = told(tmp_path, text)["findings"]
    remedies = " ".join(one["text"] for one in found["remedies"])
    assert "Kafka Streams aborts the transaction" in remedies
    assert "Call abortTransaction" not in remedies


def test_new_ids_at_each_start_are_not_advised_to_start_again(tmp_path: Path) -> None:
    text = (
        "Our application starts each time with a new transactional.id, and readers fail with:\n```\n[thrd:main]: "
        "GroupCoordinator/1: OffsetFetchResponse: bill [0] offset -1, metadata 0 byte(s): UNSTABLE_OFFSET_COMMIT\n```\n"
    )
    (found,) = told(tmp_path, text)["findings"]
    assert found["rule"] == "pending_offset_commit"
    assert not any(one["text"].startswith("Start the producer") for one in found["remedies"])


def test_what_a_client_healed_is_no_warning_of_the_broker(tmp_path: Path) -> None:
    broker = (
        "[2020-02-13 16:10:24,167] ERROR [ReplicaManager broker=1] Error processing append operation on partition "
        "bill-0 "
        "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.UnknownProducerIdException: Found no record of "
        "producerId=3 on the broker at offset 57in partition bill-0. It is possible that the last message with the "
        "producerId=3 has been removed due to hitting the retention limit.\n"
    )
    client = (
        "[2020-02-13 16:10:24,168] WARN [Producer clientId=bill-1] Got error produce response with correlation id 63 "
        "on "
        "topic-partition bill-0, retrying (2147483646 attempts left). Error: UNKNOWN_PRODUCER_ID "
        "(org.apache.kafka.clients.producer.internals.Sender)\n"
    )
    (both,) = told(tmp_path, f"broker:\n\n{broker}\nproducer:\n\n{client}")["findings"]
    assert (both["rule"], both["severity"], both["producer_id"]) == ("producer_state_expired", "info", 3)
    (alone,) = told(tmp_path, f"broker:\n\n{broker}")["findings"]
    assert alone["severity"] == "warning"


GIVEN = (
    "[2026-06-10 06:13:21,123] INFO [Producer clientId=p-1, transactionalId=orders-1] ProducerId set to 4001 with "
    "epoch 7 (org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
FENCED_LATER = (
    "[2026-06-10 06:14:25,001] ERROR [Producer clientId=p-1, transactionalId=orders-1] Aborting producer batches "
    "due to fatal error (org.apache.kafka.clients.producer.internals.Sender)\n"
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.\n"
)


@pytest.mark.parametrize("between", ["...", "[snip]", "(중략)", "… 省略 …", "12 lines omitted", "이하 생략"])
def test_a_log_was_not_silent_where_lines_of_it_were_left_out(between: str, tmp_path: Path) -> None:
    (whole,) = told(tmp_path, GIVEN + FENCED_LATER)["findings"]
    (cut,) = told(tmp_path, f"{GIVEN}{between}\n{FENCED_LATER}")["findings"]
    assert (whole["rule"], "silent" in whole["summary"]) == ("transaction_timed_out", True)
    assert "silent" not in cut["summary"]
    assert {one["rule"] for one in cut["candidates"]} == {"fenced_by_new_instance", "transaction_timed_out"}


def test_a_log_that_was_cut_before_the_last_sign_was_silent_after_it(tmp_path: Path) -> None:
    (found,) = told(tmp_path, f"...\n{GIVEN}{FENCED_LATER}...\n")["findings"]
    assert "silent" in found["summary"]


ROLLED_BACK = (
    "[2026-06-10 06:14:25,001] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for "
    "transactionalId orders-1 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)"
)
SENT = {"timestamp": 1781072065001, "message": ROLLED_BACK}
EXPORTS = {
    "aws logs tail": f"2026-06-10T06:14:25.001000+00:00 AWSKafka-Broker-1 {ROLLED_BACK}\n",
    "CloudWatch, a table": f'@timestamp,@message,@logStream\n2026-06-10 06:14:25.001,"{ROLLED_BACK}",b-1\n',
    "CloudWatch, a row": f'2026-06-10 06:14:25.001,"{ROLLED_BACK}"\n',
    "Splunk": f'"_time","_raw"\n"2026-06-10T06:14:25.001+0000","{ROLLED_BACK}"\n',
    "get-log-events": json.dumps({"events": [SENT | {"ingestionTime": 1781072066001}]}, indent=4) + "\n",
    "Firehose": json.dumps({"logGroup": "/msk/prod", "logStream": "b-1", "logEvents": [SENT | {"id": "3"}]}) + "\n",
    "Aiven": json.dumps({"logs": [{"msg": ROLLED_BACK[31:], "time": "2026-06-10T06:14:25.001Z", "hostname": "k-1"}]}),
}


@pytest.mark.parametrize("text", EXPORTS.values(), ids=EXPORTS)
def test_a_line_of_a_broker_is_one_in_whatever_its_log_is_exported(text: str, tmp_path: Path) -> None:
    (found,) = told(tmp_path, text)["findings"]
    assert (found["rule"], found["verdict"], found["transactional_id"]) == (
        "transaction_timed_out",
        "proved",
        "orders-1",
    )
