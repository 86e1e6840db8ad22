"""A refusal whose cause no line decides: what people say beside it does, unless it says both."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

BARE = (
    "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same transactionalId "
    "which fences the current one.\n"
)
PLACED = (
    "2024-03-28T02:01:49.322Z ERROR 1 --- [ad | producer-1] o.a.k.c.p.internals.Sender : [Producer clientId=p, "
    "transactionalId=t-0] Aborting producer batches due to fatal error\n" + BARE
)
TIMED_OUT, FENCED = "transaction_timed_out", "fenced_by_new_instance"
DECIDED = {
    "one instance whose work is slow": ("Single instance. Each record waits for a slow endpoint.\n", TIMED_OUT),
    "work past the default timeout": ("The import takes about 5 minutes.\n", TIMED_OUT),
    "nobody else, one pod": ("One pod only, and nobody else uses the id.\n replicas: 1\n", TIMED_OUT),
    "the same id twice": ("Two of our apps had the same transactional.id.\n", FENCED),
    "a new owner after scaling": ("We scaled out to 5 pods, the new owner of the partition uses it.\n", FENCED),
}
DECIDED |= {
    "the same id in Chinese": ("两个 Producer 实例都使用了同一个 transactional.id。\n", FENCED),
    "the same id in Japanese": ("二つのバッチで同じ transactional.id を使っていました。\n", FENCED),
    "the same id in Korean": ("두 서비스가 동일한 transactional.id 를 사용합니다.\n", FENCED),
    "the same id in Russian": (
        "\u043e\u0431\u0430 \u0441\u0435\u0440\u0432\u0438\u0441\u0430 "
        "\u0437\u0430\u043f\u0443\u0449\u0435\u043d\u044b \u0441 \u043e\u0434\u043d\u0438\u043c \u0438 "
        "\u0442\u0435\u043c \u0436\u0435 transactional.id\n",
        FENCED,
    ),
    "the same id in German": ("Beide Dienste haben die gleiche transactional.id.\n", FENCED),
    "one instance, a unique id": ("There is a single producer created with a unique transactional id.\n", TIMED_OUT),
    "nobody has the same": (
        "I have a single producer, its id is a random guid. No other instance or same transactional id is used.\n",
        TIMED_OUT,
    ),
    "one instance and long work in Chinese": ("单实例部署\uff0c一个批次处理时间超过两分钟。\n", TIMED_OUT),
    "servers with one code": ("I have two servers with the same code that send to one broker.\n", FENCED),
    "all pods with one id": (
        "It runs with 3 replicas. All pods read `TRANSACTIONAL_ID=pay` from one config map; exactly one pod makes "
        "progress.\n",
        FENCED,
    ),
    "ids that are made alike": ("Both sinks generate *identical* ids from the prefix.\n", FENCED),
    "a sentence behind blanks": ("    Two of our apps had the same transactional.id for a while.\n", FENCED),
}
OPEN = {
    "all pods with ids of their own": "All pods read their own TRANSACTIONAL_ID from the config map.\n",
    "ids that are never alike": "The sinks never get identical ids.\n",
    "what not to do in Chinese": "不要使用同一个 transactional.id。\n",
    "instances with ids of their own": "Two pods run the same app with different transactional ids.\n",
    "messages with one id in Chinese": "两台机器消费了同一个 id 的消息。\n",
    "a condition in Chinese": "如果两个实例使用同一个 transactional.id 会怎样\uff1f\n",
    "a single producer and a consumer": "One producer and one consumer, both in Java.\n",
    "nothing is said": "What is it?\n",
    "one instance alone": "We have a single instance.\n",
    "slow work alone": "There is a slow query in it.\n",
    "both": "The import takes about 5 minutes. Two apps have the same transactional.id.\n",
    "work within the timeout": "We have a rather long batch, it takes 20 s.\n",
    "more instances alone": "It is deployed on two servers.\n",
}


def _told(folder: Path, text: str) -> dict[str, str]:
    path = folder / "page.md"
    path.write_text(text)
    found = document(kafkatx.diagnose([path]), "t")["findings"]
    return {finding["rule"]: finding["verdict"] for finding in found}


@pytest.mark.parametrize("refusal", [BARE, PLACED], ids=["bare", "placed"])
@pytest.mark.parametrize(("said", "rule"), DECIDED.values(), ids=DECIDED.keys())
def test_it_is_likely(said: str, rule: str, refusal: str, tmp_path: Path) -> None:
    assert _told(tmp_path, f"{said}\n{refusal}").get(rule) == "likely"


@pytest.mark.parametrize("refusal", [BARE, PLACED], ids=["bare", "placed"])
@pytest.mark.parametrize("said", OPEN.values(), ids=OPEN.keys())
def test_it_stays_open(said: str, refusal: str, tmp_path: Path) -> None:
    told = _told(tmp_path, f"{said}\n{refusal}")
    assert told
    assert "likely" not in {told.get(TIMED_OUT), told.get(FENCED)}


def test_words_alone_are_no_failure(tmp_path: Path) -> None:
    text = "".join(said for said, _ in DECIDED.values())
    path = tmp_path / "page.md"
    path.write_text(text + "[2024-01-02 03:04:05,678] INFO started (kafka.server.KafkaServer)\n")
    assert not document(kafkatx.diagnose([path]), "t")["findings"]


def test_who_asks_for_an_epoch_has_not_timed_out(tmp_path: Path) -> None:
    asked = (
        'Exception in thread "main" org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer '
        "with the same transactionalId which fences the current one.\n"
        "\tat org.apache.kafka.clients.producer.KafkaProducer.initTransactions(KafkaProducer.java:604)\n"
    )
    assert TIMED_OUT not in _told(tmp_path, f"Single instance, the batch takes 5 minutes.\n\n{asked}")


NO_COORDINATOR = (
    "org.apache.kafka.common.errors.TimeoutException: Timeout expired after 60000ms while awaiting InitProducerId\n"
    "\tat org.apache.kafka.clients.producer.KafkaProducer.initTransactions(KafkaProducer.java:657)\n"
)


@pytest.mark.parametrize(
    ("said", "is_likely"),
    [
        ("It is a single broker.\n", True),
        ("Fresh cluster, started with docker-compose.\n", True),
        ("It is a single broker. It worked until yesterday.\n", False),
        ("There are 3 brokers, a fresh cluster with docker-compose.\n", False),
        ("One broker was down.\n", False),
        ("What is it?\n", False),
    ],
)
def test_a_cluster_of_one_broker_has_no_coordinator(said: str, is_likely: bool, tmp_path: Path) -> None:
    assert (_told(tmp_path, f"{said}\n{NO_COORDINATOR}").get("misconfiguration") == "likely") is is_likely


def test_an_id_given_moments_before_leaves_no_time_for_a_timeout(tmp_path: Path) -> None:
    text = (
        "6120 02:59:58.301 work begins\n8844 03:00:00.958 InitTransactions done\n"
        "6120 03:00:01.077 rdkafka ERR TXNERR Fatal transaction error: Failed to add partitions to transaction: Local: "
        "This instance has been fenced by a newer instance (_FENCED)\n"
    )
    assert _told(tmp_path, text).get(FENCED) == "likely"


@pytest.mark.parametrize(("timeout", "is_likely"), [("30000", True), ("30 s", True), ("5 min", False)])
def test_a_timeout_that_is_said_counts(timeout: str, is_likely: bool, tmp_path: Path) -> None:
    begun = "2024-03-28T02:01:05.322Z  INFO 1 --- [main] c.e.Batch : batch 7 started\n"
    text = f"transaction.timeout.ms is {timeout}. Single pod.\n{begun}{PLACED}"
    assert (_told(tmp_path, text).get(TIMED_OUT) == "likely") is is_likely


def test_a_plain_producer_has_no_transaction_that_failed(tmp_path: Path) -> None:
    failed = "% Delivery failed for message: Broker: Not enough in-sync replicas\n"
    severities = []
    for said in ("", "There are no transactions here.\n"):
        path = tmp_path / "page.md"
        path.write_text(f"{said}\n{failed}")
        severities.append({one["severity"] for one in document(kafkatx.diagnose([path]), "t")["findings"]})
    assert severities == [{"warning"}, {"info"}]


LEANING = {
    "slow work alone": ("There is a slow query in it.\n", TIMED_OUT),
    "a breakpoint": ("It only happens when I stop at a breakpoint.\n", TIMED_OUT),
    "one instance alone": ("We have a single instance.\n", TIMED_OUT),
    "more instances alone": ("It is deployed on two servers.\n", FENCED),
    "a rolling deployment": ("We see this during each rolling deployment.\n", FENCED),
    "what works with one": ("It works with one pod, since we run two replicas we see this.\n", FENCED),
}
NOT_LEANING = {
    "nothing is said": "What is it?\n",
    "work within the timeout": "We have a rather long batch, it takes 20 s.\n",
    "both": "A slow query runs on two servers.\n",
    "one of many": "Only one pod of two replicas fails.\n",
}


@pytest.mark.parametrize(("said", "rule"), LEANING.values(), ids=LEANING.keys())
def test_words_that_weigh_little_make_their_cause_possible(said: str, rule: str, tmp_path: Path) -> None:
    told = _told(tmp_path, f"{said}\n{BARE}")
    assert told == {rule: "possible"}


@pytest.mark.parametrize("said", NOT_LEANING.values(), ids=NOT_LEANING.keys())
def test_words_for_both_causes_or_none_leave_it_open(said: str, tmp_path: Path) -> None:
    told = _told(tmp_path, f"{said}\n{BARE}")
    assert TIMED_OUT not in told
    assert FENCED not in told or said == NOT_LEANING["one of many"]


SENTENCES = {
    "a second instance": (
        "We get a ProducerFencedException each time we start a second instance with the same prefix:\n",
        FENCED,
    ),
    "long work": ("The commit throws a ProducerFencedException after a long batch (about 4 minutes):\n", TIMED_OUT),
    "a timeout that is named": ("The broker aborted the transaction: a broker-side timeout.\n", TIMED_OUT),
}


@pytest.mark.parametrize(("said", "rule"), SENTENCES.values(), ids=SENTENCES.keys())
def test_a_sentence_that_names_the_error_is_testimony_too(said: str, rule: str, tmp_path: Path) -> None:
    assert _told(tmp_path, f"{said}\n{BARE}").get(rule) == "likely"


FLINK_FRAMES = "\tat org.apache.flink.connector.kafka.sink.KafkaCommitter.commit(KafkaCommitter.java:119)\n"
STREAMS_FRAMES = (
    "\tat org.apache.kafka.streams.processor.internals.TaskExecutor.commitOffsetsOrTransaction(TaskExecutor.java:181)\n"
)
CONNECT_FRAMES = "\tat org.apache.kafka.connect.runtime.ExactlyOnceWorkerSourceTask.commitTransaction(X.java:300)\n"
IN_INIT = "\tat org.apache.kafka.clients.producer.KafkaProducer.initTransactions(KafkaProducer.java:591)\n"


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        (f"java.lang.IllegalStateException: Failed to commit\n{FLINK_FRAMES}Caused by: {BARE}", {TIMED_OUT}),
        (f"{STREAMS_FRAMES}Caused by: {BARE}", {TIMED_OUT}),
        (f"Both jobs use the same transactional.id.\n\nx\n{FLINK_FRAMES}Caused by: {BARE}", {FENCED}),
        (f"It runs on two servers.\n\n{STREAMS_FRAMES}Caused by: {BARE}", {FENCED}),
        (f"java.lang.IllegalStateException: x\n{CONNECT_FRAMES}Caused by: {BARE}", set()),
        (f"java.lang.IllegalStateException: x\n{FLINK_FRAMES}{IN_INIT}Caused by: {BARE}", set()),
        (f"java.lang.IllegalStateException: Failed to commit\n{FLINK_FRAMES}", set()),
    ],
    ids=["Flink", "Streams", "two jobs", "two servers", "Connect", "who asks for an epoch", "no refusal"],
)
def test_who_owns_the_producer_makes_a_timeout_possible(said: str, rules: set[str], tmp_path: Path) -> None:
    assert _told(tmp_path, said).keys() & {TIMED_OUT, FENCED} == rules


@pytest.mark.parametrize(
    ("said", "first"),
    [
        ("We meet ProducerFencedExceptions, due to a broker-side timeout of the transaction.\n", TIMED_OUT),
        ("We meet ProducerFencedExceptions.\nThe application runs on two servers.\n", FENCED),
        ("We meet ProducerFencedExceptions.\nA batch takes 5 minutes.\n", TIMED_OUT),
    ],
)
def test_what_is_said_orders_the_causes_of_an_error_that_nothing_shows(said: str, first: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(said)
    (found,) = document(kafkatx.diagnose([path]), "t")["findings"]
    assert (found["rule"], found["facts"]["candidates"][0]) == ("unexplained_failure", first)


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        (f"{NO_COORDINATOR}", "coordinator_unavailable"),
        (f"Local docker, one Kafka container:\n\n{NO_COORDINATOR}", "misconfiguration"),
        (
            NO_COORDINATOR.replace("InitProducerId", "AddOffsetsToTxn").replace(
                "initTransactions", "sendOffsetsToTransaction"
            ),
            "coordinator_unavailable",
        ),
    ],
)
def test_a_wait_without_a_time_names_whom_it_waited_for(said: str, rule: str, tmp_path: Path) -> None:
    assert set(_told(tmp_path, said)) == {rule}
