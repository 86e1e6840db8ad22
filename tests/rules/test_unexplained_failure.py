"""unexplained_failure: what is told without a cause, what explains or excuses a failure, and what is asked for."""

import json
import shlex
from contextlib import suppress
from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.evidence import fixtures

MAPPING = (
    "org.apache.kafka.common.errors.InvalidPidMappingException: The producer attempted to use a producer id which is "
    "not currently assigned to its transactional id."
)
REPLICAS = (
    "org.apache.kafka.common.errors.NotEnoughReplicasException: Messages are rejected since there are fewer in-sync "
    "replicas than required."
)
PRODUCER = "[Producer clientId=producer-pay-1, transactionalId=pay-1]"


def told(folder: Path, text: str) -> dict:
    """Diagnose a text."""
    path = folder / "page.md"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "1")


def only(document: dict) -> dict:
    """Return the one failure without a cause."""
    (found,) = [finding for finding in document["findings"] if finding["rule"] == "unexplained_failure"]
    return found


def test_an_exception_alone_is_no_clean_bill(tmp_path):
    said = told(tmp_path, f"ERROR send failed\n{REPLICAS}\n")
    found = only(said)
    assert said["answer"]["state"] == "unexplained"
    assert said["answer"]["failures"] == {"told": 1, "explained": 0, "unexplained": 1, "excused": 0}
    assert (found["verdict"], found["severity"]) == ("proved", "warning")
    assert found["facts"]["code"] == 19
    assert [one["rule"] for one in found["candidates"]] == [
        "broker_unreachable",
        "misconfiguration",
        "partition_verification_failed",
    ]
    assert all(said["next"][number]["decides"] == [found["id"]] for number in found["candidates"][0]["decided_by"])


@pytest.mark.parametrize(
    "text",
    [
        f"ERROR send failed\n{REPLICAS}\n",
        "2026-03-01 10:00:00,000 ERROR send failed\norg.apache.kafka.common.errors.ProducerFencedException\n",
        "Yesterday our producer met InvalidTxnStateException in a Kafka transaction, and we do not know why.",
        "The Kafka producer hangs at initTransactions().",
    ],
)
def test_a_title_names_the_causes_that_fit_best(text, tmp_path):
    found = only(told(tmp_path, text))
    first = " or ".join(one["rule"].replace("_", " ") for one in found["candidates"][:2])
    assert first
    assert found["title"].endswith(f", may be {first}")


def test_what_is_only_mentioned_may_be_nothing(tmp_path):
    said = told(tmp_path, "A `ProducerFencedException` means that a newer producer has the same transactional.id.")
    assert not any("may be" in finding["title"] for finding in said["findings"])


def test_a_failure_that_repeats_is_one(tmp_path):
    lines = [f"2026-03-01 10:0{minute}:00,000 ERROR {PRODUCER} send failed\n{REPLICAS}\n" for minute in range(4)]
    found = only(told(tmp_path, "".join(lines)))
    assert (found["count"], found["transactional_id"]) == (4, "pay-1")


def test_what_is_explained_is_not_told_again(tmp_path):
    said = told(
        tmp_path,
        f"2026-03-01 10:00:09,500 ERROR {PRODUCER} Transiting to abortable error state due to "
        "org.apache.kafka.common.errors.TimeoutException: Expiring 1 record(s) for orders-0:120000 ms has passed since"
        "batch creation\n"
        f"2026-03-01 10:00:09,600 ERROR {PRODUCER} commit failed\n"
        "org.apache.kafka.common.KafkaException: The client hasn't received acknowledgment for some previously sent "
        "messages and can no longer retry them. It is safe to abort the transaction and continue.\n",
    )
    assert "unresolved_sequence" in {finding["rule"] for finding in said["findings"]}
    assert said["answer"]["state"] == "findings"
    assert said["answer"]["failures"]["explained"] >= 1


def test_the_applications_own_exception_is_excused(tmp_path):
    said = told(
        tmp_path,
        f"2026-03-01 10:00:00,000 INFO {PRODUCER} ProducerId set to 7 with epoch 0\n"
        f"2026-03-01 10:00:09,500 ERROR {PRODUCER} order refused\n"
        "com.example.shop.OrderNotPayableException: order 4711\n"
        "\tat com.example.shop.Pay.run(Pay.java:10)\n"
        "\tat org.apache.kafka.clients.producer.KafkaProducer.send(KafkaProducer.java:1)\n",
    )
    assert said["findings"] == []
    assert said["answer"]["failures"]["unexplained"] == 0


CONNECTING = """\
2026-03-01 10:00:00.704 DEBUG rdkafka INIT [pay-1#producer-1] [thrd:app]: librdkafka v2.16.0 (0x21000ff) \
pay-1#producer-1 initialized (builtin.features gzip)
2026-03-01 10:00:00.705 DEBUG rdkafka TXNCOORD [pay-1#producer-1] [thrd:main]: Failed to find transaction coordinator: \
_DESTROY_BROKER: Local: Broker handle destroyed without termination
2026-03-01 10:00:00.706 DEBUG rdkafka PIDBROKER [pay-1#producer-1] [thrd:main]: No brokers available for Transactions \
(2 broker(s) known)
"""
CONNECTED = """\
2026-03-01 10:00:00.904 DEBUG rdkafka TXNCOORD [pay-1#producer-1] [thrd:main]: 127.0.0.1:9092/1: FindCoordinator \
response: Transaction coordinator is broker 1 (127.0.0.1:9092)
2026-03-01 10:00:00.906 DEBUG rdkafka GETPID [pay-1#producer-1] [thrd:main]: Acquired PID{Id:1,Epoch:0}
"""


def test_a_client_that_connects_for_the_first_time_has_lost_nothing(tmp_path):
    assert not told(tmp_path, CONNECTING + CONNECTED)["findings"]
    assert told(tmp_path, CONNECTING)["findings"]


@pytest.mark.parametrize("name", ["pay-1", "it's $HOME; rm -rf", "-v"])
def test_what_is_asked_for_names_the_partition_and_survives_a_shell(tmp_path, name):
    bracket = f"[Producer clientId=producer-1, transactionalId={name}]"
    said = told(tmp_path, f"2026-03-01 10:00:09,500 ERROR {bracket} commit failed\n{MAPPING}\n")
    asked = [one["command"] for one in said["next"]]
    assert asked
    for command in asked:
        words = shlex.split(command)
        assert not any(word == "rm" for word in words)
    if name == "pay-1":
        assert any("__transaction_state-4/" in command for command in asked)


def test_a_line_that_was_pasted_from_a_log_at_hand_is_no_second_failure(tmp_path):
    log = (fixtures() / "k24-unresolved/logs/client-orders.log").read_text()
    pasted = tmp_path / "ticket.txt"
    pasted.write_text(next(line for line in log.splitlines() if "Expiring 1 record" in line) + "\n")
    assert document(kafkatx.diagnose([pasted]), "1")["answer"]["failures"]["unexplained"] == 1
    whole = tmp_path / "app.log"
    whole.write_text(log)
    said = document(kafkatx.diagnose([pasted, whole]), "1")
    assert said["answer"]["failures"] == document(kafkatx.diagnose([whole]), "1")["answer"]["failures"]


def test_an_error_without_a_code_names_no_mechanism_that_has_one(tmp_path):
    said = told(
        tmp_path,
        f"2026-03-01 10:00:09,500 INFO {PRODUCER} Transiting to fatal error state due to "
        "org.apache.kafka.common.KafkaException: Unexpected error in AddOffsetsToTxnResponse: The server experienced "
        "an unexpected error when processing the request.\n",
    )
    found = only(said)
    assert found["facts"]["error"] == "UNKNOWN_SERVER_ERROR"
    assert [one["rule"] for one in found["candidates"]] == ["coordinator_unavailable", "broker_bug"]
    assert said["next"][0]["what"].startswith("the logs of all brokers")
    assert any("stack trace" in remedy["text"] for remedy in found["remedies"])


ASKS_AGAIN = "".join(
    f"%4|162435061{second}.404|GETPID|rdkafka#producer-1| [thrd:main]: Failed to acquire transactional PID from broker "
    "TxnCoordinator/1: Broker: There is a newer producer with the same transactionalId which fences the current one: "
    "retrying\n"
    for second in (7, 8, 9)
)
CAME_BACK = 'KafkaError{code=_TIMED_OUT,val=-185,str="Transactional operation timed out"}\n'
GIVEN = (
    "%7|1624350620.404|GETPID|rdkafka#producer-1| [thrd:main]: Acquired PID{Id:3000,Epoch:1} "
    "(previous PID{Id:3000,Epoch:0})\n"
)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (f"librdkafka 1.7.0\n{ASKS_AGAIN}{CAME_BACK}", {"client_bug"}),
        (f"librdkafka 1.7.0\n{CAME_BACK}{ASKS_AGAIN}", {"client_bug", "unexplained_failure"}),
        (f"librdkafka 1.7.0\n{ASKS_AGAIN}{GIVEN}{CAME_BACK}", {"client_bug", "unexplained_failure"}),
    ],
    ids=["asked until it came back", "came back before", "was answered before"],
)
def test_a_call_that_waited_for_what_a_known_defect_repeats_is_explained_by_it(tmp_path, text, rules):
    said = told(tmp_path, text)
    assert {finding["rule"] for finding in said["findings"]} == rules
    assert said["answer"]["failures"]["explained"] == ("unexplained_failure" not in rules)


def test_words_that_name_a_newer_instance_are_no_proof_of_one_and_what_the_program_did_since_is_told(tmp_path):
    begin = (
        '{"t":"2026-03-01T00:00:3%d.007Z","lvl":"ERR","msg":"begin","err":"Operation not valid in state FatalError"}\n'
    )
    text = (
        '{"t":"2026-03-01T00:00:31.006Z","lvl":"ERR","msg":"abort","err":"Failed to end transaction: Local: This '
        'instance has been fenced by a newer instance"}\n' + "".join(begin % second for second in (1, 2, 3))
    )
    found = only(told(tmp_path, text))
    assert (found["facts"]["call"], found["facts"]["begins"]) == ("abortTransaction", 3)
    assert "but the client says so of a timeout, too" in found["summary"]
    said = str(found)
    assert "2026-03-01T00:00:31.006Z" in said
    assert "calling beginTransaction, 3 times" in said


@pytest.mark.parametrize(
    "text",
    [
        "Timeout while initializing transaction to the KSQL command topic.\nCaused by: Timeout expired after 60000 "
        "milliseconds while awaiting\n\tInitProducerId\n",
        "Caused by: Timeout expired after 60000 milliseconds while awaiting\n\tInitProducerId\n",
        "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting "
        "InitProducerId\n",
    ],
    ids=["ksqlDB's words", "a cause over two lines", "Java's words"],
)
def test_a_timeout_of_init_is_named_and_told_as_what_that_call_can_meet(tmp_path, text):
    """The coordinator is possible where nothing else is told, and the first candidate beside other words."""
    (found,) = told(tmp_path, text)["findings"]
    assert found["facts"]["call"] == "initTransactions"
    others = {one["rule"] for one in found["considered"]}
    if found["rule"] == "unexplained_failure":
        assert found["facts"]["error"] == "TimeoutException"
        assert found["facts"]["means"] == "the call waited for max.block.ms and got no answer: its outcome is open"
        assert found["candidates"][0]["rule"] == "coordinator_unavailable"
    else:
        assert found["facts"]["error"] == "REQUEST_TIMED_OUT"
        assert (found["rule"], found["verdict"]) == ("coordinator_unavailable", "possible")
        assert {"misconfiguration", "broker_unreachable"} <= others
    assert "unresolved_sequence" not in others


THREAD = "shop-7f3c0a11-1c46-4d0b-b3de-55f0c2a9478d-StreamThread-1"
STREAMS = f"[Producer clientId={THREAD}-producer, transactionalId=shop-7f3c0a11-1c46-4d0b-b3de-55f0c2a9478d-1]"


@pytest.mark.parametrize(("client", "is_own"), [(STREAMS, False), (PRODUCER, True)], ids=["Streams", "an application"])
def test_only_who_holds_the_producer_is_told_to_call_it(tmp_path, client, is_own):
    line = f"2026-03-01 10:00:09,500 INFO {client} Transiting to abortable error state due to {REPLICAS}\n"
    advice = " ".join(remedy["text"] for remedy in only(told(tmp_path, line))["remedies"])
    assert ("Call abortTransaction" in advice) == is_own
    assert ("Kafka Streams (exactly_once_v2) aborts the transaction" in advice) != is_own


def test_a_failure_that_points_to_nothing_asks_for_what_stands_before_it(tmp_path):
    said = told(tmp_path, "org.apache.kafka.common.errors.UnknownServerException: The server failed.\n")
    assert only(said)["candidates"] == []
    assert "the log of this client" in said["next"][0]["what"]


FETCHER = "[2018-03-02 07:15:20,311] ERROR [ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] "
NOT_HOSTED = (
    "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition."
)
COMMIT_OPEN = (
    f"2018-03-02 07:15:21,000 ERROR {PRODUCER} commit failed\n"
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting EndTxn(true)\n"
)


@pytest.mark.parametrize(
    "line",
    [
        f"{FETCHER}Error for partition bills-4 to broker 1:{NOT_HOSTED} (kafka.server.ReplicaFetcherThread)\n",
        f"{FETCHER}Error for partition bills-4 at offset 9 (kafka.server.ReplicaFetcherThread)\n{NOT_HOSTED}\n",
        f"{FETCHER}Error getting offset for partition bills-4 (kafka.server.ReplicaFetcherThread)\n{NOT_HOSTED}\n",
        f"Error for partition [bills,4] to broker 1:{NOT_HOSTED}\n",
        f"[2018-03-02 07:15:20,311] ERROR [Broker id=3] something of its own (state.change.logger)\n{NOT_HOSTED}\n",
        f"[2018-03-02 07:15:20,311] ERROR [Broker id=3] of its own: {NOT_HOSTED} (state.change.logger)\n",
    ],
)
@pytest.mark.parametrize("page", ["", COMMIT_OPEN])
def test_what_a_broker_asked_for_is_no_call_of_a_client(tmp_path, line, page):
    found = [one for one in told(tmp_path, line + page)["findings"] if one["rule"] == "unexplained_failure"]
    for one in found:
        assert one["transactional_id"] is None
        assert "A broker logged" in one["summary"]
        assert "The broker tries again by itself" in one["summary"]
    said = " ".join(remedy["text"] for one in found for remedy in one["remedies"])
    assert "same call" not in said


def test_what_a_client_asked_for_is_asked_again(tmp_path):
    text = f"2018-03-02 07:15:20,311 ERROR {PRODUCER} send failed\n{NOT_HOSTED}\n"
    assert "same call" in only(told(tmp_path, text))["remedies"][0]["text"]


AWAY = (
    "2026/03/04 09:13:{:02} [WARN] unable to open connection to broker; addr: kafka-2:9092, broker: 2, err: dial tcp "
    "10.0.4.12:9092: connect: connection refused\n"
)
FATAL = "2026/03/04 09:13:30 [ERROR] producer ID has a fatal, unrecoverable error, err: "


@pytest.mark.parametrize("error", ["UNKNOWN_SERVER_ERROR: The server experienced an unexpected error", "EOF", "oops"])
def test_a_guess_about_what_stands_beside_a_fatal_error_does_not_hide_it(tmp_path, error):
    said = told(tmp_path, "".join(AWAY.format(second) for second in (20, 25, 29)) + FATAL + error + "\n")
    found = {finding["rule"]: (finding["verdict"], finding["severity"]) for finding in said["findings"]}
    assert found["broker_unreachable"] == ("possible", "warning")
    assert found["unexplained_failure"] == ("proved", "error")


def test_a_client_that_calls_itself_dead_met_no_exception_of_its_application(tmp_path):
    """Whoever printed the lines around it: what another library calls an error is no class of Java."""
    other = "%3|1772615521.412|FAIL|pay#producer-1| [thrd:kafka-2:9092/2]: kafka-2:9092/2: Connect failed\n"
    assert only(told(tmp_path, other + FATAL + "oops\n"))["severity"] == "error"


def test_an_error_of_the_server_is_known_by_every_spelling(tmp_path):
    """Go's `UnknownServerError`, in which another library tells of it, is the protocol's and fatal."""
    said = "UNKNOWN_SERVER_ERROR: The server experienced an unexpected error when processing the request."
    found = only(told(tmp_path, f"%0|1772615622.412|FATAL|pay#producer-1| [thrd:main]: Fatal error: {said}\n"))
    assert (found["severity"], found["facts"]["code"]) == ("error", -1)


def test_a_batch_that_was_given_up_is_a_failure_at_any_level(tmp_path):
    """franz-go tells at INFO that a batch came to nothing: the records were not written."""
    text = (
        "2026/03/04 09:13:30 [INFO] batch errored, failing the producer ID; broker: 1, topic: orders, partition: 3, "
        "producer_id: 4001, producer_epoch: 2, err: {}\n"
    )
    for error in ("REQUEST_TIMED_OUT: The request timed out.", "NOT_ENOUGH_REPLICAS: Messages are rejected."):
        said = told(tmp_path, text.format(error))
        assert said["answer"]["failures"]["excused"] == 0
        assert said["findings"]


EXPIRED = (
    "org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s) for orders-0: 30106 ms has passed since"
)
STREAMS = "org.apache.kafka.streams.errors.StreamsException: task [0_3] Abort sending since an error caught"


@pytest.mark.parametrize(
    ("line", "first"),
    [
        (f"2026-03-01 10:00:09,500 ERROR [main] App: died\n{EXPIRED} last append", "Send the records again"),
        (f"`{STREAMS} due to {EXPIRED} batch creation plus linger time.`", "Restart what ended with it"),
    ],
    ids=["application", "streams"],
)
def test_records_that_were_given_up_are_no_call_to_repeat(tmp_path, line, first):
    found = only(told(tmp_path, f"{line}\n"))
    assert found["remedies"][0]["text"].startswith(first)
    assert "same call" not in str(found)


def test_a_wait_that_ended_is_a_call_to_repeat(tmp_path):
    waited = "Timeout expired after 60000ms while awaiting InitProducerId"
    (found,) = told(tmp_path, f"org.apache.kafka.common.errors.TimeoutException: {waited}\n")["findings"]
    assert (found["rule"], found["verdict"]) == ("coordinator_unavailable", "possible")
    assert "the same call can be made again" in found["remedies"][-1]["text"]


@pytest.mark.parametrize(
    "line",
    [
        "sink: Transaction error: Failed to initialize Producer ID: Local: Timed out\n  backtrace of `X`:\n   0: <a>\n",
        '{"message":"TransactionalId t_: Invalid transition attempted from state INITIALIZING to state '
        'ABORTING_TRANSACTION","stackTrace":["org.apache.kafka.clients.producer.internals.TransactionManager.go(T:8)"]}\n',
    ],
    ids=["librdkafka", "its abort"],
)
def test_an_init_that_came_to_nothing_points_to_the_coordinator_first(tmp_path, line):
    found = only(told(tmp_path, line))
    assert [one["rule"] for one in found["candidates"]] == [
        "coordinator_unavailable", "misconfiguration", "broker_unreachable",
    ]  # fmt: skip
    assert "\\n" not in json.dumps(found["steps"])


@pytest.mark.parametrize(
    ("answer", "is_told"),
    [
        ({"status": 500, "message": f"{EXPIRED} batch creation"}, True),
        ({"error_code": 500, "message": f"{EXPIRED} batch creation"}, True),
        ({"status": 200, "message": "all is well with the transactions"}, False),
        ({"title": "an issue", "message": f"{EXPIRED} batch creation"}, False),
    ],
    ids=["HTTP", "Connect", "no error", "a document"],
)
def test_what_a_service_answers_to_a_call_that_failed_is_told(tmp_path, answer, is_told):
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(answer))
    found = []
    with suppress(NothingReadableError):
        found = document(kafkatx.diagnose([path]), "t")["findings"]
    assert bool(found) is is_told


PURGED = (
    "2026-03-01T10:00:01.200155Z ERROR sink{id=out}: service: Call failed. error=Some(KafkaError (Message production "
    "error: PurgeQueue (Local: Purged in queue))) stage=sending\n"
)


@pytest.mark.parametrize(
    ("above", "excused"),
    [
        ("", 0),
        (
            "[2026-03-01T10:00:01Z DEBUG rdkafka::client] librdkafka: TXNSTATE [thrd:main]: Transaction state change "
            "InTransaction -> BeginAbort\n",
            1,
        ),
        ("2026-03-01T10:00:01.100155Z INFO sink{id=out}: the transaction is aborted: Local: Purged in queue\n", 1),
    ],
    ids=["no transaction", "an abort", "words"],
)
def test_records_that_were_purged_without_a_transaction_are_lost(tmp_path, above, excused):
    said = told(tmp_path, above + PURGED)
    assert bool([one for one in said["findings"] if one["severity"] == "warning"]) is not bool(excused)


THROWN = (
    "Traceback (most recent call last):\n"
    '  File "/srv/feed/worker.py", line 88, in run\n    {call}\n'
    '  File "/srv/feed/worker.py", line 41, in acked\n    raise {name}(err)\n'
    '{module}.{name}: KafkaError{{code={code},val={number},str="{words}"}}\n'
)
"""What Python prints of an exception that nobody caught, here one of an application's delivery report."""
ABORTING = (
    "%7|1720000010.100|TXNAPI|feed#producer-1| [thrd:app]: Transactional API called: abort_transaction (in txn state "
    "InTransaction, idemp state Assigned, API timeout 30000)\n"
)
QUEUED, IN_FLIGHT = (
    ("_PURGE_QUEUE", -152, "Local: Purged in queue"),
    ("_PURGE_INFLIGHT", -151, "Local: Purged in flight"),
)


@pytest.mark.parametrize(("code", "number", "words"), [QUEUED, IN_FLIGHT])
@pytest.mark.parametrize(("module", "name"), [("confluent_kafka.error", "ProduceError"), ("cimpl", "KafkaException")])
@pytest.mark.parametrize("call", ["p.poll(0)", "p.flush()", "p.commit_transaction()"])
def test_a_program_that_ended_by_records_that_were_purged_has_failed(tmp_path, call, module, name, code, number, words):
    page = THROWN.format(call=call, module=module, name=name, code=code, number=number, words=words)
    (found,) = told(tmp_path, page)["findings"]
    assert (found["rule"], found["severity"], found["facts"]["error"]) == ("unexplained_failure", "warning", code)
    assert found["candidates"][0]["rule"] == "aborted_by_client"


@pytest.mark.parametrize(
    "printed",
    [
        "Unhandled exception. Confluent.Kafka.ProduceException`2[System.Byte[],System.Byte[]]: Local: Purged in queue"
        "\n   at Confluent.Kafka.Producer`2.ProduceAsync(TopicPartition topicPartition)\n",
        "thread 'main' panicked at src/main.rs:41:10:\ncalled `Result::unwrap()` on an `Err` value: KafkaError "
        "(Message production error: PurgeQueue (Local: Purged in queue))\n",
        "app.rb:7:in `wait': Local: Purged in queue (purge_queue) (Rdkafka::RdkafkaError)\n\tfrom app.rb:12:in "
        "`<main>'\n",
        "panic: Local: Purged in queue\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:41 +0x1d\n",
        "PHP Fatal error:  Uncaught RdKafka\\Exception: Local: Purged in queue in /srv/p.php:12\nStack trace:\n"
        "#0 {main}\n",
    ],
    ids=[".NET", "Rust", "Ruby", "Go", "PHP"],
)
def test_records_that_were_purged_are_lost_where_an_exception_says_so(printed, tmp_path):
    (found,) = told(tmp_path, printed)["findings"]
    assert (found["rule"], found["severity"], found["facts"]["error"]) == (
        "unexplained_failure", "warning", "_PURGE_QUEUE"
    )  # fmt: skip
    said = told(tmp_path, ABORTING + printed)["findings"]
    assert "unexplained_failure" not in [one["rule"] for one in said]


@pytest.mark.parametrize(
    "types",
    [
        "System.String,System.Byte[]",
        "Confluent.Kafka.Null,System.Byte[][]",
        "System.String,System.Collections.Generic.List`1[System.Byte[]]",
        "System.String,System.String",
    ],
)
def test_an_error_behind_types_with_brackets_is_read(types, tmp_path):
    page = (
        f"Unhandled exception. Confluent.Kafka.ProduceException`2[{types}]: Broker: Producer attempted a transactional "
        "operation in an invalid state\n   at Confluent.Kafka.Producer`2.ProduceAsync(TopicPartition at)\n"
    )
    (found,) = told(tmp_path, page)["findings"]
    assert (found["rule"], found["facts"]["error"]) == ("unexplained_failure", "INVALID_TXN_STATE")


def test_the_same_behind_an_abort_of_its_own_or_told_by_its_log_is_none(tmp_path):
    code, number, words = QUEUED
    page = THROWN.format(call="p.poll(0)", module="cimpl", name="KafkaException", code=code, number=number, words=words)
    logged = "2026-03-01 10:00:01,200 INFO feed: transaction is given up, " + page.splitlines()[-1] + "\n"
    for text in (ABORTING + page, logged):
        assert "unexplained_failure" not in [one["rule"] for one in told(tmp_path, text)["findings"]]


def test_a_failure_without_a_part_in_transactions_is_not_called_nothing(tmp_path):
    page = 'Traceback (most recent call last):\n  File "/srv/w.py", line 8, in run\n    p.produce("t", b"1")\n'
    said = told(tmp_path, page + "BufferError: Local: Queue full\n")
    assert "no failure that has to do with one" in said["answer"]["headline"]


EMPTY_COMMIT = (
    "[2021-02-18T13:04:07Z DEBUG rdkafka::client] librdkafka: TXNCOMMIT [thrd:app]: Flushing 0 outstanding "
    "message(s) prior to commit\n"
    "[2021-02-18T13:04:07Z ERROR rdkafka::client] librdkafka: TXNERR [thrd:main]: Fatal transaction error: Failed "
    "to end transaction: Broker: Producer attempted a transactional operation in an invalid state (INVALID_TXN_STATE)\n"
)
"""What a release of librdkafka makes of a commit of nothing, through rust-rdkafka."""
QUOTED = "Error: KafkaError (Transaction error: EndTxn commit failed: Broker: {words})\n"


@pytest.mark.parametrize(
    ("words", "rules"),
    [
        ("Producer attempted a transactional operation in an invalid state", ["client_bug"]),
        ("Producer attempted an operation with an old epoch", ["client_bug", "unexplained_failure"]),
    ],
)
def test_an_error_quoted_above_the_log_that_explains_it_is_no_failure_more(words, rules, tmp_path):
    page = (
        "We get\n```\n"
        + QUOTED.format(words=words)
        + "```\nand with debug=eos, librdkafka 1.6.0:\n```\n"
        + EMPTY_COMMIT
    )
    said = told(tmp_path, page + "```\n")
    assert sorted(finding["rule"] for finding in said["findings"]) == rules


JAVA_STATE = "2024-04-01 10:11:12,345 DEBUG [Producer clientId=p-1, transactionalId=pay-1] Transition from state "
SARAMA_STATE = (
    "[sarama] 2024/04/01 10:11:12 txnmgr/transition [pay-1] transition from ProducerTxnStateInTransaction to "
)
RDKAFKA_STATE = "%7|1595408907.215|TXNSTATE|pay#producer-1| [thrd:main]: Transaction state change "


@pytest.mark.parametrize(
    ("line", "category"),
    [
        (f"{JAVA_STATE}IN_TRANSACTION to error state FATAL_ERROR", "fatal"),
        (f"{JAVA_STATE}IN_TRANSACTION to error state ABORTABLE_ERROR", "abortable"),
        (f"{SARAMA_STATE}ProducerTxnStateInError|ProducerTxnStateFatalError", "fatal"),
        (f"{SARAMA_STATE}ProducerTxnStateInError|ProducerTxnStateAbortableError", "abortable"),
        (f"{RDKAFKA_STATE}InTransaction -> FatalError", "fatal"),
        (f"{RDKAFKA_STATE}InTransaction -> AbortableError", "abortable"),
    ],
)
def test_a_client_that_only_says_that_it_is_in_an_error_state_has_failed(line, category, tmp_path):
    found = only(told(tmp_path, line + "\n"))
    assert (found["facts"]["error"], found["facts"]["category"]) == ("an error not named", category)
    assert found["severity"] == ("error" if category == "fatal" else "warning")


@pytest.mark.parametrize(
    "line",
    [
        f"{JAVA_STATE}IN_TRANSACTION to COMMITTING_TRANSACTION",
        f"{SARAMA_STATE}ProducerTxnStateEndTransaction|ProducerTxnStateCommittingTransaction",
        f"{RDKAFKA_STATE}InTransaction -> BeginCommit",
        f"{RDKAFKA_STATE}AbortableError -> AbortingTransaction",
        "* abort, seek back, begin again. In the log: `%3|...|TXNERR|...: Current transaction failed in state ...`",
    ],
)
def test_a_state_that_is_none_of_an_error_is_no_failure(line, tmp_path):
    with suppress(NothingReadableError):
        assert not told(tmp_path, line + "\n")["findings"]


def test_an_error_state_beside_its_error_is_told_by_the_error_alone(tmp_path):
    error = (
        "%1|1595408907.214|TXNERR|pay#producer-1| [thrd:main]: Fatal transaction error: Failed to end transaction: "
        "Broker: Producer attempted a transactional operation in an invalid state (INVALID_TXN_STATE)\n"
    )
    found = only(told(tmp_path, f"{error}{RDKAFKA_STATE}CommittingTransaction -> FatalError\n"))
    assert found["facts"]["error"] == "INVALID_TXN_STATE"


FENCED = (
    "2024-04-01 10:11:12,345 ERROR [main] com.example.App - commit failed\norg.apache.kafka.common.errors."
    "ProducerFencedException: There is a newer producer with the same transactionalId which fences the current one.\n"
)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("", "fenced_by_new_instance"),
        ("No other producer uses this transactional id.", "transaction_timed_out"),
        ("We make the id with UUID.randomUUID() in each process.", "transaction_timed_out"),
        ("There should be no other producer, but we scaled the service up to 4 before.", "fenced_by_new_instance"),
        ("One pod of many runs it.", "fenced_by_new_instance"),
    ],
)
def test_who_says_that_nobody_else_has_the_id_speaks_against_a_new_instance(words, first, tmp_path):
    """By words that weigh little it is a possible cause, else the first one that may be behind an open failure."""
    (found,) = told(tmp_path, f"{words}\n\n{FENCED}")["findings"]
    if found["rule"] == "unexplained_failure":
        assert found["verdict"] == "proved"
        assert found["candidates"][0]["rule"] == first
    else:
        assert (found["rule"], found["verdict"]) == (first, "possible")
