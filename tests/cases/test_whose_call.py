"""Rights that are missing and sizes above a limit: told of producers, not of whoever else brokers answer so."""

from itertools import product
from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

ERRORS = "org.apache.kafka.common.errors."
CLUSTER = f"{ERRORS}ClusterAuthorizationException: Cluster authorization failed."
TOPIC = f"{ERRORS}TopicAuthorizationException: Not authorized to access topics: [orders]"
GROUP = f"{ERRORS}GroupAuthorizationException: Not authorized to access group: mailers"
FRAMES = "\tat org.apache.kafka.clients.{0}({1}.java:2400)\n\tat com.example.App.run(App.java:41)\n"
LAYOUTS = (
    "2026-11-21 10:00:00,000 ERROR [{thread}] {logger} - {front}{words}\n{error}\n{frames}",
    "10:00:00.120 [{thread}] ERROR {logger} - {front}{words}: {error}\n{frames}",
    "[2026-11-21 10:00:00,000] ERROR {front}{words} ({logger})\n{error}\n{frames}",
)
PLAIN = {"thread": "main", "logger": "com.example.App", "front": "", "frames": "", "words": "call failed"}
OTHERS = {
    "a health check's thread": {"thread": "kafka-admin-client-thread | adminclient-1", "logger": "com.example.Health"},
    "a client for administration": {"front": "[AdminClient clientId=adminclient-7] "},
    "frames of one": {"frames": FRAMES.format("admin.KafkaAdminClient.describeConfigs", "KafkaAdminClient")},
    "a framework's admin": {"logger": "org.springframework.kafka.core.KafkaAdmin"},
    "a reader": {"front": "[Consumer clientId=r-1, groupId=mailers] "},
    "frames of a reader": {"frames": FRAMES.format("consumer.KafkaConsumer.poll", "KafkaConsumer")},
}
PRODUCERS = {
    "a producer": {"front": "[Producer clientId=w] "},
    "one with an id": {"front": "[Producer clientId=w, transactionalId=w-1] "},
    "its thread": {"thread": "kafka-producer-network-thread | w", "logger": "o.a.k.c.p.internals.Sender"},
    "frames of one": {"frames": FRAMES.format("producer.KafkaProducer.send", "KafkaProducer")},
    "of its start": {"frames": FRAMES.format("producer.KafkaProducer.initTransactions", "KafkaProducer")},
}


def claims(path: Path, text: str) -> dict[str, tuple[str, str]]:
    """Verdict and severity of each rule that speaks."""
    page = path / "page.md"
    page.write_text(text)
    try:
        found = document(diagnose([page]), "test")["findings"]
    except NothingReadableError:
        return {}
    return {one["rule"]: (one["verdict"], one["severity"]) for one in found}


def texts(who: dict[str, str], error: str) -> list[str]:
    """The same failure in every layout that prints what names the client."""
    fitting = [one for one in LAYOUTS if all(f"{{{name}}}" in one for name in who)]
    return [layout.format(**{**PLAIN, **who}, error=error) for layout in fitting]


@pytest.mark.parametrize(("who", "error"), [*product(OTHERS, (CLUSTER, TOPIC, GROUP))])
def test_what_tools_and_readers_may_not_do_is_no_producers_failure(tmp_path, who, error):
    for text in texts(OTHERS[who], error):
        assert "misconfiguration" not in claims(tmp_path, text), text


@pytest.mark.parametrize(("who", "error"), [*product(PRODUCERS, (CLUSTER, TOPIC))])
def test_the_same_words_of_a_producer_are_told(tmp_path, who, error):
    for text in texts(PRODUCERS[who], error):
        assert claims(tmp_path, text).get("misconfiguration") == ("proved", "error"), text


@pytest.mark.parametrize("error", [CLUSTER, TOPIC, GROUP])
def test_where_nothing_names_who_asked_it_is_likely(tmp_path, error):
    assert claims(tmp_path, f"{error}\n").get("misconfiguration") == ("likely", "error")


def test_an_operators_abort_that_was_denied_is_told(tmp_path):
    text = (
        "$ kafka-transactions.sh --bootstrap-server b:9092 abort --topic orders --partition 0 --start-offset 7\n"
        "Failed to abort transaction AbortTransactionSpec(topicPartition=orders-0, producerId=7, producerEpoch=0, "
        "coordinatorEpoch=12): Cluster authorization failed.\n"
        f"{CLUSTER}\n"
    )
    assert claims(tmp_path, text)


STARTING = (
    "[2026-11-21 10:00:00,000] ERROR [KafkaApi-0] Number of alive brokers '{alive}' does not meet the required "
    "replication factor '3' for the transactions state topic (configured via "
    "'transaction.state.log.replication.factor'). This error can be ignored if the cluster is starting up and not all "
    "brokers are up yet. (kafka.server.KafkaApis)\n"
)
MADE = (
    "[2026-11-21 10:00:1{0},000] INFO [TransactionCoordinator id=0] Initialized transactionalId w-1 with producerId 0 "
    "and producer epoch 0 on partition __transaction_state-7 (kafka.coordinator.transaction.TransactionCoordinator)\n",
    "[2026-11-21 10:00:1{0},000] INFO [Transaction State Manager 1]: Loading transaction metadata from "
    "__transaction_state-7 at epoch 5 (kafka.coordinator.transaction.TransactionStateManager)\n",
    "2026-11-21 10:00:1{0},000 INFO [Producer clientId=w, transactionalId=w-1] ProducerId set to 0 with epoch 0\n",
)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("times", [1, 2])
def test_brokers_that_were_still_starting_are_no_wrong_setting(tmp_path, made, times):
    alone = STARTING.format(alive=1) * times
    assert claims(tmp_path, alone) == {"misconfiguration": ("proved", "error")}
    assert not claims(tmp_path, alone + made.format(5))
    assert "misconfiguration" in claims(tmp_path, made.format(5).replace("10:00:15", "09:00:00") + alone)


FATAL = (
    "2026-11-21T10:00:00.114Z ERROR source{{component_id=in component_type=kafka}}: app::kafka: {said}\n",
    "[2026-11-21T10:00:00Z ERROR app::reader] {said}\n",
    "Error: {said}\n",
)


@pytest.mark.parametrize("layout", FATAL)
def test_a_readers_fatal_error_is_no_producers(tmp_path, layout):
    read = layout.format(said="read failed, error=Message consumption error: Fatal (Local: Fatal error)")
    assert not [rule for rule, (_, severity) in claims(tmp_path, read).items() if severity != "info"]
    written = layout.format(said="write failed, error=Message production error: Fatal (Local: Fatal error)")
    assert claims(tmp_path, written)


FRONTS = (
    "2025-10-02 09:12:55 - WARNING - job - [Thread-61] ",
    "ERROR [parallel-2] c.e.Statistics: ",
    "09:12:55.100 ERROR job: ",
)
OF_OTHERS = (
    "Failed to collect info\n" + ERRORS + "UnsupportedVersionException: The broker does not support DESCRIBE_LOG_DIRS",
    'Failed to seek: KafkaError{code=_STATE,val=-172,str="Failed to seek to offset 41735: Local: Erroneous state"}',
    'KafkaError{code=_STATE,val=-172,str="Failed to pause partitions: Local: Erroneous state"}',
)
OF_THEIRS = (
    "start failed\n" + ERRORS + "UnsupportedVersionException: The broker does not support INIT_PRODUCER_ID",
    'KafkaError{code=_STATE,val=-172,str="Unable to produce message: Local: Erroneous state"}',
)


@pytest.mark.parametrize(("front", "error"), [*product(FRONTS, OF_OTHERS)])
def test_what_a_broker_lacks_for_tools_and_readers_is_no_producers_failure(tmp_path, front, error):
    assert not [one for one in claims(tmp_path, f"{front}{error}\n").values() if one[1] != "info"]


@pytest.mark.parametrize(("front", "error"), [*product(FRONTS, OF_THEIRS)])
def test_what_it_lacks_for_producers_is(tmp_path, front, error):
    assert [one for one in claims(tmp_path, f"{front}{error}\n").values() if one[1] != "info"]
