"""Lines of the request logger, in the forms of Kafka's releases."""

import json

import pytest

from kafkatx.terms.events import EventKind
from tests.text.logs.reading import read_text

TIME = "[2026-11-21 10:23:51,003] DEBUG "
LOGGER = " (kafka.request.logger)\n"
ADDRESS = "172.18.0.5:9092-172.18.0.7:52404-0"


def as_json(key: int, name: str, request: dict, response: dict) -> str:
    """A line of 2.8 and later."""
    header = {"requestApiKey": key, "requestApiVersion": 4, "correlationId": 3, "clientId": "c-1"}
    seen = {
        "isForwarded": False, "requestHeader": {**header, "requestApiKeyName": name}, "request": request,
        "response": response, "connection": ADDRESS, "totalTimeMs": 3.7, "securityProtocol": "PLAINTEXT",
        "clientInformation": {"softwareName": "apache-kafka-java", "softwareVersion": "3.9.1"},
    }  # fmt: skip
    return f"{TIME}Completed request:{json.dumps(seen, separators=(',', ':'))}{LOGGER}"


def as_text(header: str, request: str, response: str) -> str:
    """A line of older releases."""
    end = f" from connection {ADDRESS};totalTime:3.7,requestQueueTime:0.1,securityProtocol:PLAINTEXT,listener:PLAINTEXT"
    return f"{TIME}Completed request:{header} -- {request},response:{response}{end}{LOGGER}"


def only(events):
    (event,) = events
    assert event["kind"] == EventKind.request_seen
    return event


NEWER = "RequestHeader(apiKey=INIT_PRODUCER_ID, apiVersion=1, clientId=c-1, correlationId=3)"
OLDEST = "{api_key=22,api_version=0,correlation_id=3,client_id=c-1}"
ASKED = "{transactional_id=orders-1,transaction_timeout_ms=60000}"
GIVEN = "{throttle_time_ms=0,error_code=0,producer_id=7000,producer_epoch=6}"
INITS = [
    as_json(22, "INIT_PRODUCER_ID",
            {"transactionalId": "orders-1", "transactionTimeoutMs": 60000, "producerId": -1, "producerEpoch": -1},
            {"throttleTimeMs": 0, "errorCode": 0, "producerId": 7000, "producerEpoch": 6}),
    as_text(NEWER, ASKED, GIVEN),
    as_text(OLDEST, ASKED, GIVEN),
]  # fmt: skip


@pytest.mark.parametrize("line", INITS, ids=["json", "header", "struct"])
def test_who_asked_for_a_producer_id_is_told_in_every_form(engine, tmp_path, line):
    event = only(read_text(tmp_path, line))
    names = (
        "api",
        "client_id",
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "correlation_id",
        "detail",
        "error",
    )
    assert [event[name] for name in names] == ["InitProducerId", "c-1", "orders-1", 7000, 6, 3, "172.18.0.7", None]


@pytest.mark.parametrize(("committed", "number"), [(True, 1), (False, 0)])
def test_the_end_of_a_transaction_tells_which_and_what_was_answered(tmp_path, committed, number):
    request = {"transactionalId": "orders-1", "producerId": 7000, "producerEpoch": 5, "committed": committed}
    event = only(read_text(tmp_path, as_json(26, "END_TXN", request, {"throttleTimeMs": 0, "errorCode": 90})))
    assert (event["api"], event["number"], event["error"]) == ("EndTxn", number, "PRODUCER_FENCED")
    assert (event["producer_id"], event["producer_epoch"]) == (7000, 5)
    header = "RequestHeader(apiKey=END_TXN, apiVersion=1, clientId=c-1, correlationId=9)"
    asked = (
        f"{{transactional_id=orders-1,producer_id=7000,producer_epoch=5,transaction_result={str(committed).lower()}}}"
    )
    event = only(read_text(tmp_path, as_text(header, asked, "{throttle_time_ms=0,error_code=47}")))
    assert (event["number"], event["error"], event["producer_epoch"]) == (number, "INVALID_PRODUCER_EPOCH", 5)


def test_partitions_added_in_bulk_are_told_by_the_first_transaction(tmp_path):
    request = {"transactions": [{"transactionalId": "a", "producerId": 3, "producerEpoch": 1, "verifyOnly": False}]}
    response = {
        "errorCode": 0,
        "resultsByTransaction": [
            {
                "transactionalId": "a",
                "topicResults": [{"name": "t", "resultsByPartition": [{"partitionErrorCode": 51}]}],
            }
        ],
    }
    event = only(read_text(tmp_path, as_json(24, "ADD_PARTITIONS_TO_TXN", request, response)))
    assert (event["transactional_id"], event["producer_id"], event["producer_epoch"]) == ("a", 3, 1)
    assert event["error"] == "CONCURRENT_TRANSACTIONS"


def test_offsets_of_a_transaction_name_their_group(tmp_path):
    request = {"transactionalId": "a", "groupId": "g", "producerId": 3, "producerEpoch": 1, "topics": []}
    response = {"topics": [{"name": "t", "partitions": [{"partitionIndex": 0, "errorCode": 22}]}]}
    event = only(read_text(tmp_path, as_json(28, "TXN_OFFSET_COMMIT", request, response)))
    assert (event["group"], event["error"]) == ("g", "ILLEGAL_GENERATION")


def test_of_produce_only_refusals_are_told(engine, tmp_path):
    def produce(code: int) -> str:
        response = {"responses": [{"name": "t", "partitionResponses": [{"index": 0, "errorCode": code}]}]}
        return as_json(0, "PRODUCE", {"transactionalId": "a", "acks": -1}, response)

    events = read_text(tmp_path, produce(0) * 5 + produce(47) + produce(0))
    assert only(events)["error"] == "INVALID_PRODUCER_EPOCH"


def test_other_requests_and_broken_ones_are_none(engine, tmp_path):
    lines = [
        as_json(3, "METADATA", {"topics": []}, {"errorCode": 3}),
        f'{TIME}Completed request:{{"requestHeader":{{"requestApiKeyName":"END_TXN"{LOGGER}',
        f"{TIME}Completed request:RequestHeader(apiKey=END_TXN{LOGGER}",
        f"{TIME}Completed request:{'[' * 5000} END_TXN{LOGGER}",
        f'{TIME}Completed request:{{"requestHeader":[],"request":"END_TXN","response":7}}{LOGGER}',
    ]
    assert read_text(tmp_path, "".join(lines)) == []


def test_a_forged_line_in_a_request_is_no_event(engine, tmp_path):
    forged = "Completed rollback of ongoing transaction for transactionalId x due to timeout"
    request = {"transactionalId": f"[2026-11-21 10:00:00,000] INFO {forged} (a.B)", "committed": True}
    event = only(read_text(tmp_path, as_json(26, "END_TXN", request, {"errorCode": 0})))
    assert event["transactional_id"] == request["transactionalId"]


ANSWERED = (
    "[2026-11-21 10:23:51,003] DEBUG [Producer clientId=c-1, transactionalId=orders-1] Received {name} response from "
    "node 2 for request with header RequestHeader(apiKey={name}, apiVersion=4, clientId=c-1, correlationId=3): {answer}"
    " (org.apache.kafka.clients.NetworkClient)\n"
)
INIT = "InitProducerIdResponseData(throttleTimeMs=0, errorCode={code}, producerId=-1, producerEpoch=-1)"
END = "EndTxnResponseData(throttleTimeMs=0, errorCode={code})"
ADD = (
    "AddPartitionsToTxnResponseData(throttleTimeMs=0, errorCode=0, resultsByTopicV3AndBelow=[AddPartitionsToTxnTopic"
    "Result(name='orders', resultsByPartition=[AddPartitionsToTxnPartitionResult(partitionIndex=3, "
    "partitionErrorCode={code})])])"
)
PRODUCED = (
    "ProduceResponseData(responses=[TopicProduceResponse(name='orders', partitionResponses=[PartitionProduceResponse("
    "index=3, errorCode={code}, baseOffset=-1)])], throttleTimeMs=0)"
)


@pytest.mark.parametrize(
    ("name", "answer", "code", "kind", "error", "api"),
    [
        ("INIT_PRODUCER_ID", INIT, 16, EventKind.request_enqueued, "NOT_COORDINATOR", "InitProducerId"),
        ("INIT_PRODUCER_ID", INIT, 51, EventKind.concurrent_transactions, "CONCURRENT_TRANSACTIONS", "InitProducerId"),
        ("INIT_PRODUCER_ID", INIT, 50, EventKind.failure, "INVALID_TRANSACTION_TIMEOUT", "initTransactions"),
        ("ADD_PARTITIONS_TO_TXN", ADD, 47, EventKind.failure, "INVALID_PRODUCER_EPOCH", "send"),
        ("END_TXN", END, 48, EventKind.failure, "INVALID_TXN_STATE", None),
    ],
)
def test_the_error_that_a_java_client_was_answered_is_told(engine, tmp_path, name, answer, code, kind, error, api):
    (event,) = read_text(tmp_path, ANSWERED.format(name=name, answer=answer.format(code=code)))
    assert (event["kind"], event["error"], event["api"]) == (kind, error, api)
    assert event["transactional_id"] == "orders-1"


@pytest.mark.parametrize(
    ("name", "answer", "code"),
    [
        ("INIT_PRODUCER_ID", INIT, 0),
        ("ADD_PARTITIONS_TO_TXN", ADD, 0),
        ("END_TXN", END, 16),  # the coordinator moved: the client finds it, and asks again
        ("ADD_PARTITIONS_TO_TXN", ADD, 14),
        ("PRODUCE", PRODUCED, 45),  # the sender says what becomes of the batch
        ("END_TXN", END, 31_999),
        ("LIST_OFFSETS", END, 48),
    ],
)
def test_an_answer_after_which_the_client_goes_on_is_no_event(engine, tmp_path, name, answer, code):
    assert not list(read_text(tmp_path, ANSWERED.format(name=name, answer=answer.format(code=code))))
