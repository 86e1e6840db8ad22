"""Halves of traces, and what somebody typed off a screen: the cause is named, and no more is said than is there."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

TIMEOUT = "org.apache.kafka.common.errors.TimeoutException: "
WAITED = f"Caused by: {TIMEOUT}Timeout expired after 60000ms while awaiting "
UNABLE = "Unable to verify the partition has been added to the transaction. Underlying error: "
HANDLER = (
    "ernals.TransactionManager${handler}.handleResponse(TransactionManager.java:1230)\n"
    "\tat org.apache.kafka.clients.producer.internals.TransactionManager$TxnRequestHandler.onComplete(Transact\n"
)


def _told(folder: Path, text: str) -> dict:
    path = folder / "app.log"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "1")


def _only(folder: Path, text: str) -> dict:
    (found,) = _told(folder, text)["findings"]
    return found


@pytest.mark.parametrize("cut", ["", "awai", "awaiting ", "awaiting EndTx"])
def test_a_wait_whose_call_was_cut_off_is_no_batch(cut: str, tmp_path: Path) -> None:
    found = _only(tmp_path, WAITED.removesuffix("awaiting ") + cut + "\n")
    assert "the call waited for max.block.ms" in found["summary"]
    assert "batch" not in found["summary"]


@pytest.mark.parametrize(
    ("cut", "call"),
    [("InitProd", "initTransactions"), ("EndTxn(t", "commitTransaction"), ("EndTxn(f", "abortTransaction")],
)
def test_the_begin_of_a_request_names_the_call(cut: str, call: str, tmp_path: Path) -> None:
    found = _only(tmp_path, f"Timeout expired after 60000 milliseconds while awaiting {cut}\n")
    assert (found["facts"]["call"], found["rule"] == "unexplained_failure" or found["verdict"] != "proved") == (
        call,
        True,
    )
    assert "batch" not in found["summary"]


@pytest.mark.parametrize("beside", ["", "ERROR 14107 --- [main] c.e.Practice : batch job ends\n"])
def test_a_producer_that_drops_its_batches_is_dead_though_its_exception_is_cut_off(beside: str, tmp_path: Path) -> None:
    """Sender logs the line at ERROR, and the exception on the next one, for a producer in its fatal state (1.0+)."""
    text = (
        "ERROR 14107 --- [ad | producer-3] o.a.k.c.p.i.Sender : [Producer clientId=producer-3, transactionalId=tx-0] "
        "Aborting producer batches due to fatal error\n"
    )
    told = _told(tmp_path, text + beside)
    (found,) = [one for one in told["findings"] if one["severity"] == "error"]
    assert "can do nothing more" in found["summary"]


def test_an_abort_without_an_answer_commits_nothing(tmp_path: Path) -> None:
    found = _only(tmp_path, f"{TIMEOUT}Timeout expired after 15000ms while awaiting EndTxn(false)\n")
    assert "nothing of the transaction is committed by that" in found["summary"]
    assert "whether the transaction was committed" not in str(found)


@pytest.mark.parametrize("request_of", ["AddOffsetsToTxn", "TxnOffsetCommit"])
def test_offsets_that_waited_leave_no_outcome_open(request_of: str, tmp_path: Path) -> None:
    found = _only(tmp_path, f"{WAITED}{request_of}\n")
    assert (found["rule"], found["facts"]["call"]) == ("coordinator_unavailable", "sendOffsetsToTransaction")
    assert "commit_outcome_unknown" not in str(found)


def test_offsets_that_a_group_coordinator_refused_are_not_the_transactions_coordinators(tmp_path: Path) -> None:
    text = (
        "org.apache.kafka.common.KafkaException: Unexpected error in TxnOffsetCommitResponse: The coordinator is "
        "loading and hence can't process requests.\n"
    )
    found = next(one for one in _told(tmp_path, text)["findings"] if one["rule"] == "coordinator_unavailable")
    assert "coordinator of the consumer group" in found["summary"]
    assert not any("__transaction_state" in one["text"] for one in found["remedies"])


@pytest.mark.parametrize("error", ["NETWORK_EXCEPTION", "NOT_COORDINATOR"])
def test_a_leader_that_could_not_ask_has_not_seen_a_write_outside(error: str, tmp_path: Path) -> None:
    found = _only(tmp_path, f"org.apache.kafka.common.errors.NotEnoughReplicasException: {UNABLE}{error}\n")
    assert (found["rule"], found["title"]) == (
        "partition_verification_failed",
        "writes refused: partition not verified",
    )


def test_a_task_that_connects_leader_could_not_fence_for_is_no_clean_bill(tmp_path: Path) -> None:
    text = (
        "[2026-01-12 09:02:17,665] ERROR [Worker clientId=connect-1, groupId=connect] Failed to start task 'src-1' "
        "(org.apache.kafka.connect.runtime.distributed.DistributedHerder)\n"
        f"java.util.concurrent.ExecutionException: {TIMEOUT}Timed out waiting for a node assignment. Call: "
        "fenceProducer(api=INIT_PRODUCER_ID)\n"
    )
    found = _only(tmp_path, text)
    assert found["facts"]["call"] == "fenceProducers"
    assert {"broker_unreachable", "coordinator_unavailable"} <= {one["rule"] for one in found["candidates"]}
    assert "batch" not in found["summary"]


def test_a_batch_of_a_producer_without_transactions_is_lost_and_nothing_is_aborted(tmp_path: Path) -> None:
    text = (
        "ERROR WorkerSourceTask{id=mirror-3} failed to send record to eu.orders: "
        "(org.apache.kafka.connect.runtime.WorkerSourceTask:370)\n"
        f"{TIMEOUT}Expiring 46 record(s) for eu.orders-7:120001 ms has passed since batch creation\n"
    )
    found = _only(tmp_path, text)
    assert found["candidates"][0]["rule"] == "broker_unreachable"
    assert "must be aborted" not in found["summary"]


def test_a_batch_that_is_sent_again_out_of_order_is_told_and_nothing_has_failed(tmp_path: Path) -> None:
    text = (
        "[2026-01-17T21:45:10,881][WARN ][org.apache.kafka.clients.producer.internals.Sender][main] [Producer "
        "clientId=logstash-1] Got error produce response with correlation id 5521 on topic-partition logs-4, retrying "
        "(2147483646 attempts left). Error: {error}\n"
    )
    found = _only(tmp_path, text.format(error="OUT_OF_ORDER_SEQUENCE_NUMBER"))
    assert (found["severity"], found["candidates"][0]["rule"]) == ("info", "sequence_gap")
    assert not any("coordinator" in one["text"] for one in found["remedies"])
    assert _told(tmp_path, text.format(error="NOT_LEADER_OR_FOLLOWER"))["findings"] == []


@pytest.mark.parametrize(
    ("handler", "cause"),
    [
        ("AddPartitionsToTxnHandler", "fenced_by_new_instance"),
        ("TxnOffsetCommitHandler", "fenced_by_group_generation"),
        ("InitProducerIdHandler", "coordinator_unavailable"),
        ("EndTxnHandler", "transaction_timed_out"),
    ],
)
def test_frames_of_an_answer_name_the_request(handler: str, cause: str, tmp_path: Path) -> None:
    found = _only(tmp_path, HANDLER.format(handler=handler))
    assert found["severity"] == "info"
    assert found["candidates"][0]["rule"] == cause


def test_a_thread_that_waits_has_met_no_error(tmp_path: Path) -> None:
    """No class of Kafka's errors has frames (ApiException): who stands in `await` waits, or was interrupted."""
    text = (
        '"main" #1 prio=5 os_prio=0 tid=0x00007f2f4000 nid=0x7 waiting on condition [0x00007f2f]\n'
        "   java.lang.Thread.State: WAITING (parking)\n"
        "\tat java.util.concurrent.CountDownLatch.await(CountDownLatch.java:231)\n"
        "\tat org.apache.kafka.clients.producer.internals.TransactionalRequestResult.await(TransactionalRequestResult"
        ".java:50)\n"
        "\tat org.apache.kafka.clients.producer.KafkaProducer.commitTransaction(KafkaProducer.java:697)\n"
    )
    found = _only(tmp_path, text)
    assert "was waiting for its answer" in found["summary"]
    assert {one["rule"] for one in found["candidates"]} >= {"commit_outcome_unknown", "coordinator_unavailable"}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Errror sending: producer fenced exception, from the screen of the pager", "fenced_by_new_instance"),
        ("Invalid Producer Epoch Exception on sendOffsetsToTransaction", "fenced_by_new_instance"),
        (
            "From my phone. It says: producer attempted an operation with an old epic. Either there is a newer "
            "producer with the same transactional Id, or the producers transaction has been expired by the broker",
            "fenced_by_new_instance",
        ),
        (
            "It said the Producer attempted to use a producer ID which is not currently asigned to its transaction",
            "transactional_id_expired",
        ),
    ],
)
def test_what_somebody_typed_off_a_screen_names_the_error(text: str, cause: str, tmp_path: Path) -> None:
    found = _only(tmp_path, text + "\n")
    assert (found["severity"], found["verdict"]) == ("info", "possible")
    assert found["candidates"][0]["rule"] == cause


@pytest.mark.parametrize(
    "text",
    [
        "Our transactions are fine. The timeout was mine.\n",
        "The fence of the producer of wine fell over, an exception.\n",
    ],
)
def test_words_that_are_no_error_name_none(text: str, tmp_path: Path) -> None:
    try:
        told = _told(tmp_path, text)
    except NothingReadableError:
        return
    assert "Exception" not in str([one["facts"] for one in told["findings"]])


def test_a_reader_that_meets_a_marker_is_told_what_it_met(tmp_path: Path) -> None:
    text = (
        "java.lang.IllegalArgumentException: requirement failed: Got wrong record for spark-executor-lake orders 0 "
        "even after seeking to offset 33 got offset 34 instead. If this is a compacted topic, consider enabling "
        "spark.streaming.kafka.allowNonConsecutiveOffsets (the topic is written by transactions)\n"
    )
    found = _only(tmp_path, text)
    assert "as markers of transactions" in found["summary"]
