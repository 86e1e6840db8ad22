"""Requests that clients repeat without end, epochs that run over, and other brokers' refusals, out of texts."""

from pathlib import Path

import kafkatx
from kafkatx.outputs.diagnosis_json import document

GETPID = (
    "%4|{at}.123|GETPID|pay#producer-1| [thrd:main]: Failed to acquire transactional PID from broker "
    "TxnCoordinator/0: Broker: {error}: retrying\n"
)
RUBY = "D, [2023-02-02T{at}.118243 #71] DEBUG -- : {message}\n"
OVERRUN = (
    "%7|1652270012.401|DRAIN|soak#producer-1| [thrd:b:9092/4]: All partitions drained, bumped epoch to "
    "PID{Id:4012,Epoch:-32768}\n"
    "%0|1652270012.533|FATAL|soak#producer-1| [thrd:b:9092/4]: Fatal error: Broker: Producer attempted an operation "
    "with an old epoch: ProduceRequest for soak.t [0] with 1 message(s) failed: Broker: Producer attempted an "
    "operation with an old epoch (broker 4 PID{Id:4012,Epoch:-32768}, base seq 0): unable to retry without risking "
    "duplication/reordering\n"
)


def told(folder: Path, text: str) -> dict:
    """Diagnose a text."""
    path = folder / "page.md"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "1")


def test_a_request_that_is_tried_again_for_minutes_is_a_failure(tmp_path):
    text = "".join(GETPID.format(at=at, error="Request timed out") for at in (1686241309, 1686241509, 1686242309))
    found = told(tmp_path, text)
    assert found["answer"]["state"] == "unexplained"
    assert [one["rule"] for one in found["findings"][0]["candidates"]][:1] == ["coordinator_unavailable"]


GIVEN = "%7|1686241311.204|GETPID|pay#producer-1| [thrd:main]: Acquired PID{Id:71,Epoch:3} (previous PID{Invalid})\n"


def test_a_request_that_is_tried_again_for_a_second_and_then_answered_is_none(tmp_path):
    text = "".join(GETPID.format(at=at, error="Request timed out") for at in (1686241309, 1686241310))
    assert not told(tmp_path, text + GIVEN)["findings"]


def test_a_text_that_ends_with_a_request_which_is_tried_again_is_told(tmp_path):
    text = "".join(GETPID.format(at=at, error="Request timed out") for at in (1686241309, 1686241310))
    (found,) = told(tmp_path, text)["findings"]
    assert (found["rule"], found["severity"], found["facts"]["is_retry"]) == ("unexplained_failure", "warning", True)
    assert "got through does not stand here" in found["summary"]


def test_one_retry_and_one_that_other_lines_follow_are_told_for_information(tmp_path):
    once = GETPID.format(at=1686241309, error="Coordinator load in progress")
    later = "%6|1686241399.100|CONNECT|pay#producer-1| [thrd:b:9092/4]: b:9092/4: all is quiet here\n"
    for text in (once, once + once + later):
        (found,) = told(tmp_path, text)["findings"]
        assert (found["rule"], found["severity"]) == ("unexplained_failure", "info")


def test_a_transaction_that_is_still_being_completed_is_no_more_than_that(tmp_path):
    busy = (
        "Producer attempted to update a transaction while another concurrent operation on the same transaction was "
        "ongoing"
    )
    found = told(tmp_path, "".join(GETPID.format(at=at, error=busy) for at in (1686241309, 1686241310)))["findings"]
    assert [(one["rule"], one["severity"]) for one in found] == [("unexplained_failure", "info")]


def test_an_authorization_that_is_asked_for_again_fails_at_once(tmp_path):
    text = GETPID.format(at=1686241309, error="Cluster authorization failed")
    assert [one["rule"] for one in told(tmp_path, text)["findings"]] == ["misconfiguration"]


def test_ruby_kafka_looks_for_its_coordinator_for_hours(tmp_path):
    lines = [RUBY.format(at="03:11:40", message="Getting transaction coordinator for `exp-7`")]
    again = "Coordinator not available; retrying in 1s"
    lines += [RUBY.format(at=at, message=again) for at in ("03:11:41", "12:20:08")]
    assert [one["rule"] for one in told(tmp_path, "".join(lines))["findings"]] == ["coordinator_unavailable"]


def test_a_negative_epoch_is_no_second_instance(tmp_path):
    assert [one["rule"] for one in told(tmp_path, OVERRUN)["findings"]] == ["producer_epoch_exhausted"]


def test_redpanda_warns_of_an_error_that_is_its_own(tmp_path):
    text = (
        "WARN  2023-06-08 17:02:30,412 [shard 0] tx - tx_gateway_frontend.cc:1102 - got error tx_errc::timeout on "
        "rolling previous tx.id={ledger-eu} with status=preparing\n"
    )
    assert told(tmp_path, text)["answer"]["state"] == "unexplained"


def test_a_field_of_a_printed_object_names_the_error(tmp_path):
    text = (
        "ProtocolError: This exception is raised by the broker if it could not locate the producer metadata [...]\n"
        "      code: 'PLT_KFK_PROTOCOL',\n      apiId: 'UNKNOWN_PRODUCER_ID',\n      apiCode: 59,\n"
    )
    assert [one["rule"] for one in told(tmp_path, text)["findings"]] == ["producer_state_expired"]


def test_a_call_of_an_application_that_came_back_with_an_error_is_told(tmp_path):
    text = (
        "  WARN loop: failed to send offsets, error=CONCURRENT_TRANSACTIONS: Failed to add offsets to transaction on "
        "broker TxnCoordinator/2: Broker: Producer attempted to update a transaction while another concurrent "
        "operation on the same transaction was ongoing (after 0ms).\n"
    )
    assert told(tmp_path, text)["answer"]["state"] == "unexplained"


BUSY = (
    "%7|1718000001.466|ENDTXN|pay#producer-1| [thrd:main]: EndTxn returned CONCURRENT_TRANSACTIONS in state "
    "CommittingTransaction (may_retry=true)\n"
)
STATE = "%7|1718000001.512|TXNSTATE|pay#producer-1| [thrd:main]: Transaction state change {change}\n"


def test_a_state_that_only_an_answer_leads_to_ends_a_request_that_is_made_again(tmp_path):
    for change in ("CommittingTransaction -> CommitNotAcked", "AbortingTransaction -> AbortNotAcked", "X -> Ready"):
        assert not told(tmp_path, BUSY + STATE.format(change=change))["findings"]
    for change in ("InTransaction -> BeginCommit", "CommittingTransaction -> AbortableError", "BeginCommit -> X"):
        assert told(tmp_path, BUSY + STATE.format(change=change))["findings"]


ANSWERED = (
    "[2026-11-21 {at},223] DEBUG [Producer clientId=c-1, transactionalId=pay-1] Received INIT_PRODUCER_ID response "
    "from node 2 for request with header RequestHeader(apiKey=INIT_PRODUCER_ID, apiVersion=4, clientId=c-1, "
    "correlationId=62): InitProducerIdResponseData(throttleTimeMs=0, errorCode={code}, producerId=-1, "
    "producerEpoch=-1) (org.apache.kafka.clients.NetworkClient)\n"
)
SET = (
    "[2026-11-21 {at},301] INFO [Producer clientId=c-1, transactionalId=pay-1] ProducerId set to 71 with epoch 3 "
    "(org.apache.kafka.clients.producer.internals.TransactionManager)\n"
)
AWAITED = (
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000 milliseconds while awaiting "
    "InitProducerId\n"
)


def test_a_coordinator_that_answers_an_init_that_it_is_none_is_why_the_call_timed_out(tmp_path):
    page = f"```\n{AWAITED}```\nand at DEBUG\n```\n{ANSWERED.format(at='10:00:01', code=16)}```\n"
    (found,) = told(tmp_path, page)["findings"]
    assert (found["rule"], found["verdict"]) == ("coordinator_unavailable", "likely")


def test_an_init_that_was_answered_twice_in_days_and_then_given_an_id_each_time_is_no_failure(tmp_path):
    lines = [(ANSWERED, "10:00:01"), (SET, "10:00:02"), (ANSWERED, "16:00:01"), (SET, "16:00:02")]
    assert not told(tmp_path, "".join(line.format(at=at, code=16) for line, at in lines))["findings"]


ADDED = (
    "%7|{at}.031|ADDPARTS|pay#producer-1| [thrd:main]: TxnCoordinator/1: AddPartitionsToTxn response: partition "
    '"orders": [0]: Broker: Coordinator not available\n'
)
REGISTERED = "%7|{at}.702|ADDPARTS|pay#producer-1| [thrd:main]: orders [0] registered with transaction\n"
NOT_ACKED = (
    "%7|{at}.802|TXNSTATE|pay#producer-1| [thrd:main]: Transaction state change CommittingTransaction -> "
    "CommitNotAcked\n"
)
ENDING = (
    "%7|{at}.466|ENDTXN|pay#producer-1| [thrd:main]: EndTxn returned {error} in state CommittingTransaction "
    "(may_retry={retry})\n"
)
BEGIN, MINUTES = 1718000000, range(1718000000, 1718000100, 5)


def failures(found: dict) -> list[dict]:
    """What is told at more than information."""
    return [one for one in found["findings"] if one["severity"] != "info"]


def test_partitions_that_are_never_registered_and_an_end_that_is_never_answered_are_failures(tmp_path):
    for line in (ADDED, ENDING.replace("{error}", "NOT_COORDINATOR").replace("{retry}", "true")):
        (found,) = failures(told(tmp_path, "".join(line.format(at=at) for at in MINUTES)))
        assert (found["rule"], found["severity"], found["verdict"]) == ("coordinator_unavailable", "error", "likely")


def test_a_coordinator_that_moves_each_minute_for_hours_while_transactions_end_is_no_failure(tmp_path):
    hours = range(BEGIN, BEGIN + 7200, 45)
    for answer in (REGISTERED, NOT_ACKED):
        assert not told(tmp_path, "".join((ADDED + answer).format(at=at) for at in hours))["findings"]


def test_one_retry_an_hour_of_a_log_that_was_searched_for_it_is_not_endless(tmp_path):
    assert not failures(told(tmp_path, "".join(ADDED.format(at=BEGIN + 3600 * hour) for hour in range(5)) + REGISTERED))
    found = told(tmp_path, "".join(ADDED.format(at=BEGIN + 3600 * hour) for hour in range(5)))["findings"]
    assert [one["facts"]["is_retry"] for one in found] == [True]


def test_an_answer_to_another_client_does_not_end_a_request_that_is_made_again(tmp_path):
    text = "".join((ADDED + NOT_ACKED.replace("pay#", "other#")).format(at=at) for at in MINUTES)
    assert [one["rule"] for one in failures(told(tmp_path, text))] == ["coordinator_unavailable"]


def test_an_end_that_was_answered_or_is_not_asked_again_is_no_retry(tmp_path):
    for error, retry in (("NO_ERROR", "true"), ("_OUTDATED", "false"), ("NOT_COORDINATOR", "false")):
        assert not told(tmp_path, ENDING.format(at=BEGIN, error=error, retry=retry))["findings"]


TIMER = (
    "%7|{at}.191|TXN|pay#producer-1| [thrd:main]: Starting PID FSM timer: Failed to acquire PID from broker "
    "TxnCoordinator/3: Broker: {error}\n"
)
"""All that librdkafka tells of it before 1.7, at DEBUG (rdkafka_idempotence.c 1.0 to 1.6.1)."""
TWICE = (
    "%7|{at}.191|GETPID|pay#producer-1| [thrd:main]: TxnCoordinator/3: Failed to acquire PID: Broker: {error}\n"
    "%4|{at}.191|GETPID|pay#producer-1| [thrd:main]: Failed to acquire transactional PID from broker TxnCoordinator/3: "
    "Broker: {error}: retrying\n"
    "%7|{at}.191|TXN|pay#producer-1| [thrd:main]: Starting PID FSM timer: Failed to acquire transactional PID from "
    "broker TxnCoordinator/3: Broker: {error}\n"
)
CONCURRENT = (
    "Producer attempted to update a transaction while another concurrent operation on the same transaction was ongoing"
)


def test_a_producer_id_that_old_releases_ask_for_again_and_again_is_a_failure(tmp_path):
    text = "".join(TIMER.format(at=at, error="Request timed out") for at in MINUTES)
    (found,) = failures(told(tmp_path, text))
    assert "coordinator_unavailable" in [found["rule"], *(one["rule"] for one in found["candidates"])]
    assert not told(tmp_path, TIMER.format(at=BEGIN, error="Request timed out") + GIVEN)["findings"]


def test_a_transaction_that_is_still_completed_is_told_by_old_releases_too(tmp_path):
    (found,) = told(tmp_path, TIMER.format(at=BEGIN, error=CONCURRENT))["findings"]
    assert (found["rule"], found["severity"], found["facts"]["is_retry"]) == ("unexplained_failure", "info", True)


def test_what_brokers_refused_hides_no_client_that_asks_again(tmp_path):
    refused = (
        "[2026-03-01 13:14:17,891] ERROR [ReplicaManager broker=1] Error processing append operation on partition w-0 "
        "(kafka.server.ReplicaManager)\n"
        "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 1658 at "
        "offset 548305 in partition w-0: 51 (incoming seq. number), 49 (current end sequence number)\n"
    )
    found = told(tmp_path, TIMER.format(at=BEGIN, error=CONCURRENT) + refused)["findings"]
    assert sorted(one["rule"] for one in found) == ["sequence_gap", "unexplained_failure"]


def test_a_coordinator_that_librdkafka_lost_is_told_by_its_own_words(tmp_path):
    text = (
        "%7|1595444738.576|TXNCOORD|rdkafka#producer-1| [thrd:main]: Transaction coordinator changed from b1:9092/1 -> "
        "(none): AddPartitionsToTxn failed: Broker: Coordinator not available\n"
        "%7|1595444739.076|ADDPARTS|rdkafka#producer-1| [thrd:main]: Unable to register partitions with transaction: "
        "Broker is not up\n"
    )
    (found,) = told(tmp_path, text)["findings"]
    assert found["candidates"][0]["rule"] == "coordinator_unavailable"
    assert found["severity"] == "info"


def test_one_refusal_that_three_lines_tell_is_one(tmp_path):
    (found,) = told(tmp_path, TWICE.format(at=BEGIN, error="Coordinator load in progress"))["findings"]
    assert (found["severity"], found["count"]) == ("info", 1)
