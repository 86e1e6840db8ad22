"""Texts of clients that are not Java's, as people paste them: what each makes likely, by its own words alone."""

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

BUSY = "The producer attempted to update a transaction while another concurrent operation on the same transaction"
SARAMA_BUSY = f"kafka server: {BUSY} was ongoing"
PHP = """PHP Fatal error:  Uncaught RdKafka\\KafkaErrorException: Failed to end transaction: Broker: Producer \
attempted to use a producer id which is not currently assigned to its transactional id in /srv/www/Writer.php:12
Stack trace:
#0 /srv/www/Writer.php(12): RdKafka\\Producer->commitTransaction(10000)
#1 {main}
"""
NODE_OBJECT = """\
{
  message: '[thrd:main]: Current transaction failed in state InTransaction: Failed to add partitions to transaction: \
Local: Timed out (_TIMED_OUT)',
  fac: 'TXNERR',
  name: 'api#producer-1'
}
"""
CLASSIC = "%4|1700000000.000|REQTMOUT|app#producer-1| [thrd:TxnCoordinator]: TxnCoordinator/4: "
ZIO = """\
timestamp=2024-01-02T03:04:05.678Z level=ERROR thread=#zio-fiber-7 message="publishing" cause="Exception in thread \
"zio-fiber-7" java.lang.IllegalStateException: Cannot perform a 'send' before completing a call to initTransactions \
when transactions are enabled.
\tat org.apache.kafka.clients.producer.KafkaProducer.doSend(KafkaProducer.java:1003)"
"""
LIKELY = {
    "sarama gives up after retries": (
        "".join(f"[sarama] 2024/01/02 03:04:05 txnmgr/add-partition-to-txn retrying after 100ms... ({n} attempts "
                f"remaining) ({SARAMA_BUSY})\n" for n in (2, 1))
        + f"2024/01/02 03:04:06 pump: transaction manager: failed to send partitions to transaction: {SARAMA_BUSY}\n",
        "concurrent_transactions_storm",
    ),
    "an id that stays busy until initTransactions times out": (
        "%4|1700000000.000|GETPID|app#producer-1| [thrd:main]: Failed to acquire transactional PID from broker "
        "TxnCoordinator/2: Broker: Producer attempted to update a transaction while another concurrent operation on "
        "the same transaction was ongoing: retrying\n"
        "init: KafkaError{code=_TIMED_OUT,val=-185,str=\"Failed to initialize Producer ID: Local: Timed out\"}\n",
        "concurrent_transactions_storm",
    ),
    "a storage error": (
        "2024/01/02 03:04:06 pump: kafka: Failed to produce message to topic meters: kafka server: Disk error when "
        "trying to access log file on the disk\n",
        "log_directory_failed",
    ),
    "EndTxn without an answer": (
        f"{CLASSIC}Timed out EndTxnRequest in flight (after 30010ms, timeout #0)\n"
        "%3|1700000020.000|TXNERR|app#producer-1| [thrd:main]: Current transaction failed in state "
        "CommittingTransaction: Transactional API operation (commit_transaction) timed out (_TIMED_OUT)\n",
        "commit_outcome_unknown",
    ),
    "EndTxn of KafkaJS without an answer": (
        "KafkaJSRequestTimeoutError: Request EndTxn(key: 26, version: 1) timed out\n", "commit_outcome_unknown",
    ),
    "a request that hung for longer than the timeout": (
        f"{CLASSIC}Timed out AddPartitionsToTxnRequest in flight (after 61007ms, timeout #0)\n"
        "%1|1700000000.900|TXNERR|app#producer-1| [thrd:main]: Fatal transaction error: Failed to add partitions to "
        "transaction: Local: This instance has been fenced by a newer instance (_FENCED)\n",
        "transaction_timed_out",
    ),
    "a coordinator that is looked up again and again": (
        "".join(f"%7|17000000{n}0.500|RECV|app#producer-1| [thrd:k:9092/bootstrap]: k:9092/1: Received "
                f"FindCoordinatorResponse (v2, 51 bytes, CorrId {n}, rtt 1.10ms)\n" for n in (1, 2))
        + "KafkaError{code=_TIMED_OUT,val=-185,str=\"Failed to initialize Producer ID: Local: Timed out\"}\n",
        "coordinator_unavailable",
    ),
    "offsets of kafka-python": (
        "kafka.errors.CommitFailedError: CommitFailedError: Transaction offset commit failed due to consumer group "
        "metadata mismatch: IllegalGenerationError\n",
        "fenced_by_group_generation",
    ),
    "PHP": (PHP, "transactional_id_expired"),
    "zio": (ZIO, "api_misuse"),
}  # fmt: skip


def told(folder: Path, text: str) -> dict:
    """Diagnose a text."""
    path = folder / "page.md"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "1")


def sure(said: dict) -> set[str]:
    """Rules that are likely or proved."""
    likely = [one for one in said["findings"] if one["verdict"] in ("likely", "proved")]
    return {one["rule"] for one in likely} - {"unexplained_failure"}


@pytest.mark.parametrize(("text", "rule"), LIKELY.values(), ids=LIKELY)
def test_a_text_makes_its_mechanism_likely(tmp_path, text, rule):
    assert rule in sure(told(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("Jan 02 03:04:05 ERROR writer: rd_kafka_produce: RD_KAFKA_RESP_ERR__FATAL\n", {"sequence_gap"}),
        ("KafkaResponseError RdKafkaRespErrFatal\n", {"sequence_gap"}),
        ("commit_transaction failed: RD_KAFKA_RESP_ERR__FATAL\n", {"transaction_timed_out"}),
        (
            "Process is terminated due to StackOverflowException.\n"
            "   at Confluent.Kafka.Impl.SafeKafkaHandle.CommitTransaction(Int32)\n",
            {"coordinator_unavailable"},
        ),
        (
            "[2024-10-08 03:31:47,660] INFO [Producer clientId=p, transactionalId=t] Transiting to fatal error state "
            "due to org.apache.kafka.common.KafkaException: Unexpected error in AddOffsetsToTxnResponse: The server "
            "experienced an unexpected error when processing the request.\n",
            {"coordinator_unavailable"},
        ),
        (NODE_OBJECT, {"coordinator_unavailable"}),
    ],
)
def test_a_text_that_names_no_cause_leads_to_those_that_fit(tmp_path, text, candidates):
    (found,) = told(tmp_path, text)["findings"]
    assert found["rule"] == "unexplained_failure"
    assert candidates <= {one["rule"] for one in found["candidates"][:2]}


def test_three_refusals_that_a_client_tried_again_are_no_failure(tmp_path):
    line = "[sarama] 2024/01/02 03:04:05 txnmgr/add-partition-to-txn retrying after 100ms... (9 attempts remaining) "
    assert not sure(told(tmp_path, f"{line}({SARAMA_BUSY})\n" * 3))


def test_an_abort_that_an_error_asked_for_is_not_told_beside_it(tmp_path):
    text = (
        "[Sarama] 2025/02/11 03:58:02 producer/txnmgr [a-0] committing transaction\n"
        "2025/02/11 03:58:02 commit failed: transaction manager: failed to send offsets to transaction: kafka server: "
        "The provided member is not known in the current generation\n"
        "[Sarama] 2025/02/11 03:58:02 txnmgr/transition [a-0] transition from ProducerTxnStateInTransaction to "
        "ProducerTxnStateInError|ProducerTxnStateAbortableError\n"
        "[Sarama] 2025/02/11 03:58:02 producer/txnmgr [a-0] aborting transaction\n"
    )
    assert sure(told(tmp_path, text)) == {"fenced_by_group_generation"}


def test_an_application_that_gave_up_waiting_for_a_commit_is_heard(tmp_path):
    text = (
        "2026-07-13 22:15:03,040 WARNING kafka.producer.sender <Sender client_id=i transactional_id=i>: Got an "
        "exception when trying to find a node to send a transactional request to. Going to back off and retry: "
        "[Error 15] CoordinatorNotAvailableError\n"
        "2026-07-13 22:16:02,991 ERROR i.main commit_transaction() did not return within 30 s\n"
    )
    assert "commit_outcome_unknown" in sure(told(tmp_path, text))


def test_somebody_who_writes_of_calls_that_do_not_return_is_not(tmp_path):
    text = (
        "2026-07-13 22:15:03,040 INFO kafka.producer.transaction_manager ProducerId set to 5 with epoch 1\n"
        "Can it be that commit_transaction() never returns?\n"
    )
    assert not told(tmp_path, text)["findings"]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (
            "KafkaJSProtocolError: The coordinator is not aware of this member\n"
            "    at createErrorFromCode (/app/node_modules/kafkajs/src/protocol/error.js:581:10)\n"
            "    at Object.parse (/a/node_modules/kafkajs/src/protocol/requests/txnOffsetCommit/v1/response.js:3:1)\n",
            "fenced_by_group_generation",
        ),
        (
            "KafkaJSNumberOfRetriesExceeded [KafkaJSNonRetriableError]: Disk error when trying to access log file on "
            "the disk\n    at /app/node_modules/kafkajs/src/retry/index.js:55:18 {\n  retriable: false }\n",
            "log_directory_failed",
        ),
        (
            "%3|1714557600.123|FAIL|rdkafka#producer-1| [thrd:k1:9092/1]: k1:9092/1: Connect to ipv4#10.0.0.1:9092 "
            "failed: Connection refused (after 2ms in state CONNECT)\n"
            'cimpl.KafkaException: KafkaError{code=_TIMED_OUT,val=-185,str="Failed to initialize Producer ID: Local: '
            'Timed out"}\n',
            "broker_unreachable",
        ),
        (
            "commit: Failed to flush all outstanding messages within the API timeout: 12 message(s) remaining: the "
            "event queue must be polled for delivery report events in a separate thread or prior to calling commit\n",
            "api_misuse",
        ),
    ],
)
def test_what_stands_around_an_error_tells_its_mechanism(tmp_path, text, rule):
    assert rule in sure(told(tmp_path, text))


FENCED_IN_PYTHON = (
    "%1|{at}|TXNERR|rdkafka#producer-1| [thrd:main]: Fatal transaction error: Failed to add partitions to transaction: "
    "Local: This instance has been fenced by a newer instance (_FENCED)\n"
)
GRANTED = (
    "%7|{at}|GETPID|rdkafka#producer-1| [thrd:main]: {broker}Acquired PID{{Id:51,Epoch:{epoch}}} (previous {old})\n"
)


def granted(*seconds: float, old: str = "PID{Invalid}") -> str:
    return "".join(
        GRANTED.format(at=f"{1697097600 + at:.3f}", broker="TxnCoordinator/1: ", epoch=12 + number, old=old)
        for number, at in enumerate(seconds)
    )


def test_workers_that_start_side_by_side_share_an_id(tmp_path):
    text = granted(0, 0.4, 0.9) + FENCED_IN_PYTHON.format(at="1697097606.000")
    assert "shared_producer" in sure(told(tmp_path, text))


@pytest.mark.parametrize(
    "grants", [granted(0, 9, 30), granted(0, 0.4, 0.9, old="PID{Id:51,Epoch:11}")], ids=["restarts", "own bumps"]
)
def test_grants_that_one_process_can_have_had_are_not_shared(tmp_path, grants):
    text = grants + FENCED_IN_PYTHON.format(at="1697097636.000")
    assert "shared_producer" not in sure(told(tmp_path, text))


@pytest.mark.parametrize("begin", ["begin", "app begin_transaction", "Starting transaction 7", "tx started"])
def test_an_application_that_says_when_it_began_tells_a_timeout(tmp_path, begin):
    text = f"12:00:00 INFO {begin}\n" + FENCED_IN_PYTHON.format(at="1697112700.000")
    assert "transaction_timed_out" in sure(told(tmp_path, text))


@pytest.mark.parametrize("said", ["begin reading files", "could not begin transaction", "begin failed", "start of job"])
def test_other_words_of_an_application_are_no_begin(tmp_path, said):
    text = f"12:00:00 INFO {said}\n" + FENCED_IN_PYTHON.format(at="1697112700.000")
    assert "transaction_timed_out" not in sure(told(tmp_path, text))


def test_a_commit_that_was_not_called_again_is_of_unknown_outcome(tmp_path):
    wait = 'KafkaError{code=_TIMED_OUT,val=-185,str="Timed out waiting for operation to finish, retry call to resume"}'
    busy = 'KafkaError{code=_CONFLICT,val=-173,str="Conflicting commit_transaction API call is already in progress"}'
    frame = '  File "a.py", line 4, in run\n    producer.abort_transaction()\n'
    first = '  File "a.py", line 2, in run\n    producer.commit_transaction(5)\n'
    begin = "Traceback (most recent call last):\n"
    second = f"{begin}{frame}cimpl.KafkaException: {busy}\n"
    whole = (
        f"2024-09-03 02:14:31,118 WARNING commit: {wait}\n{begin}{first}cimpl.KafkaException: {wait}\n\n"
        f"During handling of the above exception, another exception occurred:\n\n{second}"
    )
    assert "commit_outcome_unknown" in sure(told(tmp_path, whole))
    assert "commit_outcome_unknown" not in sure(told(tmp_path, second))
