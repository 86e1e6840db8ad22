"""Frameworks by the names they give: recorded names of each, look-alikes of anybody, and their names for settings."""

import pytest

from kafkatx.terms.catalogue.frameworks import (
    Framework,
    FrameworkName,
    Signs,
    own_defaults,
    recognise,
    recognise_id,
    setting_of,
)
from kafkatx.terms.catalogue.loading import framework_settings
from kafkatx.terms.catalogue.setting_names import is_known, kafka_name, prefix_scope, scope_of, scope_of_group
from kafkatx.terms.verdicts import Verdict

UUID = "0f44002f-18c4-47dc-9161-0f0105243615"


def found(**signs: object) -> tuple[FrameworkName, Verdict] | None:
    framework = recognise(Signs(**signs))  # type: ignore[arg-type]
    return (framework.name, framework.certainty) if framework else None


# Names as they were recorded, with what stood beside them.

RECORDED = [
    (
        {"transactional_id": f"sessions-{UUID}-1", "client_id": f"sessions-{UUID}-StreamThread-1-producer"},
        FrameworkName.STREAMS_V2,
    ),
    ({"transactional_id": f"word-count-{UUID}-2", "topics": ["word-count-counts-changelog"]}, FrameworkName.STREAMS_V2),
    ({"transactional_id": f"totals-{UUID}-1", "groups": ["totals"]}, FrameworkName.STREAMS_V2),
    (
        {"transactional_id": "ledger-0_1", "client_id": f"ledger-{UUID}-StreamThread-1-0_1-producer"},
        FrameworkName.STREAMS_V1,
    ),
    (
        {"transactional_id": "shop-connect-orders-file-0", "client_id": "connector-producer-orders-file-0"},
        FrameworkName.CONNECT_TASK,
    ),
    (
        {"transactional_id": "connect-cluster-shop-connect", "client_id": "shop-connect-configs-leader"},
        FrameworkName.CONNECT_LEADER,
    ),
    (
        {
            "transactional_id": "shop-connect-mirror-0",
            "client_id": "connector-producer-mirror-0",
            "loggers": ["org.apache.kafka.connect.mirror.MirrorSourceConnector"],
        },
        FrameworkName.MIRROR_MAKER,
    ),
    (
        {
            "transactional_id": "copy-sink-0-1",
            "client_id": "producer-copy-sink-0-1",
            "loggers": ["org.apache.flink.connector.kafka.sink.KafkaWriter"],
        },
        FrameworkName.FLINK,
    ),
    ({"transactional_id": "ship-1-0", "prefixes": {"transaction-id-prefix": "ship-1-"}}, FrameworkName.SPRING),
    ({"transactional_id": "billing-eu", "implementation": "librdkafka"}, FrameworkName.LIBRDKAFKA),
    ({"transactional_id": "aio-ledger", "implementation": "aiokafka"}, FrameworkName.AIOKAFKA),
    ({"transactional_id": "kpy-ledger", "implementation": "kafka-python"}, FrameworkName.KAFKA_PYTHON),
    ({"transactional_id": "franz-ledger", "implementation": "franz-go"}, FrameworkName.FRANZ_GO),
]


@pytest.mark.parametrize(("signs", "name"), RECORDED, ids=[str(signs["transactional_id"]) for signs, _ in RECORDED])
def test_a_framework_is_certain_with_two_signs(signs, name):
    assert found(**signs) == (name, Verdict.proved)


@pytest.mark.parametrize(
    ("name", "framework", "certainty"),
    [
        (f"sessions-{UUID}-1", FrameworkName.STREAMS_V2, Verdict.likely),
        (f"_confluent-ksql-default_query_CTAS_1-{UUID}-1", FrameworkName.KSQLDB, Verdict.likely),
        ("ledger-0_1", FrameworkName.STREAMS_V1, Verdict.possible),
        ("connect-cluster-shop", FrameworkName.CONNECT_LEADER, Verdict.likely),
        (f"Sink: orders-{'0a' * 16}-7", FrameworkName.FLINK_LEGACY, Verdict.likely),
    ],
)
def test_a_shape_alone_is_a_guess_and_says_so(name, framework, certainty):
    guess = recognise_id(name)
    assert guess is not None
    assert (guess.name, guess.certainty) == (framework, certainty)
    assert str(guess).startswith("looks like")


@pytest.mark.parametrize(
    "name",
    ["orders-1", "orders-sink-0", "copy-sink-0-1", "ship-1-0", UUID, f"orders-{UUID}", "connect-cluster-", "", "0_1"],
)
def test_names_that_anybody_may_give_are_nobodys(name):
    assert recognise_id(name) is None


def test_a_client_id_that_every_java_client_has_tells_nothing():
    assert found(transactional_id="ship-1-0", client_id="producer-ship-1-0") is None


def test_a_sign_of_another_application_does_not_support_a_shape():
    other = f"clicks-{UUID}-StreamThread-1-producer"
    assert found(transactional_id=f"sessions-{UUID}-1", client_id=other) == (FrameworkName.STREAMS_V2, Verdict.likely)
    assert found(transactional_id="shop-orders-0", client_id="connector-producer-payments-0") is None


def test_a_task_is_guessed_from_the_leader_beside_it():
    ids = ["connect-cluster-shop", "shop-orders-0"]
    assert found(transactional_id="shop-orders-0", siblings=ids) == (FrameworkName.CONNECT_TASK, Verdict.likely)
    assert found(transactional_id="shop-orders-0", siblings=["shop-orders-0"]) is None


def test_flink_is_guessed_from_a_family_that_counts_on_and_not_from_a_pool():
    counting = [f"copy-{number % 2}-{number}" for number in range(1, 12)]
    pool = [f"copy-{subtask}-{number}" for subtask in range(4) for number in range(3)]
    assert found(transactional_id="copy-0-2", siblings=counting) == (FrameworkName.FLINK, Verdict.likely)
    assert found(transactional_id="copy-0-2", siblings=pool) is None


def test_the_tighter_shape_wins_over_a_library():
    signs = {"transactional_id": f"sessions-{UUID}-1", "groups": ["sessions"], "implementation": "franz-go"}
    assert found(**signs) == (FrameworkName.STREAMS_V2, Verdict.proved)


# Names of settings.


@pytest.mark.parametrize(
    ("framework", "called"),
    [
        (FrameworkName.STREAMS_V2, "producer.transaction.timeout.ms"),
        (FrameworkName.CONNECT_TASK, "producer.override.transaction.timeout.ms"),
        (FrameworkName.SPRING, "spring.kafka.producer.properties.transaction.timeout.ms"),
        (FrameworkName.AIOKAFKA, "transaction_timeout_ms"),
        (FrameworkName.FRANZ_GO, "kgo.TransactionTimeout"),
        (FrameworkName.LIBRDKAFKA, "transaction.timeout.ms"),
    ],
)
def test_a_setting_is_called_as_the_framework_calls_it(framework, called):
    assert setting_of(Framework(framework, Verdict.proved, "sign"), "transaction.timeout.ms") == called


def test_a_mere_guess_and_no_framework_change_no_name():
    guess = Framework(FrameworkName.STREAMS_V1, Verdict.possible, "sign")
    assert setting_of(guess, "transaction.timeout.ms") == setting_of(None, "transaction.timeout.ms")
    assert own_defaults(guess) is None


def test_the_prefix_of_spring_and_of_flink_stand_for_the_id():
    assert setting_of(Framework(FrameworkName.SPRING, Verdict.proved, ""), "transactional.id") == (
        "spring.kafka.producer.transaction-id-prefix"
    )
    assert "setTransactionalIdPrefix" in setting_of(
        Framework(FrameworkName.FLINK, Verdict.proved, ""), "transactional.id"
    )


def test_every_row_of_the_table_is_of_a_framework_and_of_a_setting_that_is_known():
    names = {name.name.lower() for name in FrameworkName}
    for framework, setting in framework_settings():
        assert framework in names
        assert is_known(setting), setting


# Spellings.


@pytest.mark.parametrize(
    ("spelled", "name", "scope"),
    [
        ("transaction_timeout_ms", "transaction.timeout.ms", "producer"),
        ("producer.override.transaction.timeout.ms", "transaction.timeout.ms", "producer"),
        ("producer.transaction.timeout.ms", "transaction.timeout.ms", "producer"),
        ("consumer.max.poll.records", "max.poll.records", "consumer"),
        ("main.consumer.isolation.level", "isolation.level", "consumer"),
        ("spring.kafka.producer.transaction-id-prefix", "transaction-id-prefix", "producer"),
        ("spring.kafka.consumer.isolation-level", "isolation.level", "consumer"),
        ("spring.kafka.producer.properties.delivery.timeout.ms", "delivery.timeout.ms", "producer"),
        ("KAFKA_TRANSACTION_MAX_TIMEOUT_MS", "transaction.max.timeout.ms", "broker"),
        ("KAFKA_LOG_DIRS", "log.dirs", "broker"),
        ("producer.id.expiration.ms", "producer.id.expiration.ms", "broker"),
        ("request.required.acks", "acks", "producer"),
        ("request.timeout.ms", "request.timeout.ms", "unknown"),
        ("my.own.setting", "my.own.setting", "unknown"),
        ("producer.my.own", "producer.my.own", "unknown"),
    ],
)
def test_a_setting_is_known_however_it_is_spelled(spelled, name, scope):
    assert kafka_name(spelled) == name
    assert scope_of(spelled) == scope


def test_an_underscore_that_is_no_setting_stays():
    assert kafka_name("my_own_setting") == "my_own_setting"
    assert prefix_scope("my_own_setting") is None


def test_a_group_is_what_most_of_its_telling_names_say():
    assert scope_of_group(["acks", "linger.ms", "isolation.level", "bootstrap.servers"]) == "producer"
    assert scope_of_group(["application.id", "acks", "linger.ms"]) == "streams"
    assert scope_of_group(["bootstrap.servers", "client.id"]) == "unknown"
    assert scope_of_group([]) == "unknown"
