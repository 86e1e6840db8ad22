"""Settings as they stand in files: properties, YAML, environment variables; secrets never get past the reader."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.text.events import Setting
from kafkatx.text.lines import Line
from kafkatx.text.settings.files import is_settings, settings_of_file
from tests.evidence import cases


def read(text: str) -> list[Setting]:
    return settings_of_file((Line(number, 0, line) for number, line in enumerate(text.split("\n"), 1)), 0)


def values(text: str) -> dict[str, str | None]:
    return {setting.name: setting.value for setting in read(text)}


# Java properties.


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("transactional.id=orders-1", "orders-1"),
        ("transactional.id = orders-1", "orders-1"),
        ("  transactional.id:orders-1", "orders-1"),
        ("transactional.id orders-1", "orders-1"),
        ("transactional.id\torders-1", "orders-1"),
        ("transactional.id==orders", "=orders"),
        ("transactional.id=", ""),
        ("transactional.id=a b ", "a b "),
        (r"transactional.id=\u0041\u00e9", "A\u00e9"),
        (r"transactional.id=a\:b\=c\\d", r"a:b=c\d"),
        (r"transactional\.id=x", "x"),
        ("transactional.id=a=b:c", "a=b:c"),
        ("transactional.id=orders-1\r", "orders-1"),
    ],
)
def test_a_line_is_read_as_java_reads_it(line, value):
    assert values(line) == {"transactional.id": value}


def test_a_backslash_goes_on_with_the_next_line_and_the_line_of_the_name_is_told():
    (first, second) = read("acks=all\nbootstrap.servers=a:1,\\\n   b:2,\\\n\tc:3")
    assert (second.name, second.value, second.line) == ("bootstrap.servers", "a:1,b:2,c:3", 2)
    assert first.line == 1


def test_an_even_number_of_backslashes_does_not_go_on():
    assert values("a.b=x\\\\\nacks=1") == {"a.b": "x\\", "acks": "1"}


def test_comments_and_empty_lines_are_nothing_and_do_not_go_on():
    assert values("# acks=0\\\n! retries=0\n\nacks=all") == {"acks": "all"}


def test_a_name_that_stands_twice_is_kept_twice_in_order():
    assert [setting.value for setting in read("acks=1\nacks=all")] == ["1", "all"]


def test_a_file_that_ends_in_the_middle_of_a_line_is_read_as_far_as_it_goes():
    assert values("acks=all\ntransactional.id=ord\\") == {"acks": "all", "transactional.id": "ord"}


# Whose settings.


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("transactional.id=x\nrequest.timeout.ms=1", "producer"),
        ("group.id=g\nisolation.level=read_committed\nrequest.timeout.ms=1", "consumer"),
        ("log.dirs=/d\nnode.id=1\nrequest.timeout.ms=1", "broker"),
        ("broker.id=1\ncompression.type=producer", "broker"),
        ("application.id=a\nprocessing.guarantee=exactly_once_v2\nacks=all\nrequest.timeout.ms=1", "streams"),
        ("exactly.once.source.support=enabled\nconfig.storage.topic=c\nrequest.timeout.ms=1", "connect"),
        ("transactional_id=x\nrequest_timeout_ms=1", "producer"),
        ("request.timeout.ms=1", "unknown"),
    ],
)
def test_a_setting_that_several_have_goes_by_the_names_beside_it(text, scope):
    assert {setting.scope for setting in read(text)} == {scope}


def test_a_name_with_a_prefix_says_itself_whose_it_is():
    found = read("config.storage.topic=c\nproducer.override.transaction.timeout.ms=5\nconsumer.max.poll.records=1")
    assert [setting.scope for setting in found] == ["connect", "producer", "consumer"]


def test_a_broker_setting_that_begins_like_a_prefix_has_none():
    (setting,) = read("producer.id.expiration.ms=5")
    assert setting.scope == "broker"


def test_two_kinds_of_client_in_one_file_are_two_groups():
    text = "# consumer\nbootstrap.servers=a\ngroup.id=g\nmax.poll.records=2\n# producer\nbootstrap.servers=a\nacks=all"
    found = read(text)
    assert [(setting.scope, setting.block) for setting in found] == [("consumer", 0)] * 3 + [("producer", 1)] * 2


def test_settings_name_the_source_that_the_caller_gives():
    assert [setting.source for setting in settings_of_file([Line(1, 0, "acks=all")], 3)] == [3]


# Other forms.


def test_nested_yaml_of_spring_is_joined():
    text = """
spring:
  kafka:
    bootstrap-servers: k1:9092
    producer:
      transaction-id-prefix: "tx-"   # one for each instance
      acks: all
      properties:
        "[transaction.timeout.ms]": 120000
    consumer:
      isolation-level: read_committed
"""
    found = {setting.name: (setting.scope, setting.value) for setting in read(text)}
    assert found["spring.kafka.producer.transaction-id-prefix"] == ("producer", "tx-")
    assert found["spring.kafka.producer.properties.transaction.timeout.ms"] == ("producer", "120000")
    assert found["spring.kafka.consumer.isolation-level"] == ("consumer", "read_committed")


def test_yaml_of_an_operator_gives_the_brokers_settings_by_their_names():
    text = "apiVersion: kafka.strimzi.io/v1\nspec:\n  kafka:\n    config:\n      transaction.max.timeout.ms: 900000\n"
    text += "      min.insync.replicas: 2\n      log.dirs: |\n        acks: 1\n        none of it\n"
    found = {setting.name: setting.value for setting in read(text)}
    assert found["transaction.max.timeout.ms"] == "900000"
    assert "acks" not in found


@pytest.mark.parametrize(
    "line",
    [
        "KAFKA_TRANSACTION_MAX_TIMEOUT_MS=900000",
        "export KAFKA_TRANSACTION_MAX_TIMEOUT_MS=900000",
        'KAFKA_TRANSACTION_MAX_TIMEOUT_MS="900000"',
        "ENV KAFKA_TRANSACTION_MAX_TIMEOUT_MS=900000",
    ],
)
def test_environment_variables_of_a_container_are_settings_of_the_broker(line):
    (setting,) = read(line)
    assert (setting.scope, setting.value) == ("broker", "900000")


def test_a_compose_file_gives_both_forms_of_its_environment():
    text = (
        "services:\n  kafka:\n    environment:\n      KAFKA_NODE_ID: 1\n      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1\n"
    )
    listed = "services:\n  kafka:\n    environment:\n      - KAFKA_NODE_ID=1\n      - KAFKA_MIN_INSYNC_REPLICAS=1\n"
    assert {s.name: s.value for s in read(text)}["KAFKA_TRANSACTION_STATE_LOG_MIN_ISR"] == "1"
    assert {s.name: s.value for s in read(listed)}["KAFKA_MIN_INSYNC_REPLICAS"] == "1"


# Secrets.

SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"ssl.key.password={SECRET}",
        f'sasl.jaas.config=org.x.PlainLoginModule required \\\n  username="me" \\\n  password="{SECRET}";',
        f"listener.name.a.sasl.jaas.config: {SECRET}",
        f"KAFKA_SASL_JAAS_CONFIG={SECRET}",
        f"sasl_plain_password={SECRET}",
        f"my.api.token {SECRET}",
        f"schema.registry.url=https://me:{SECRET}@registry:8081",
        f"basic.auth.user.info=me:{SECRET}",
        f"kafka.opts=-Dx=1 -Djavax.net.ssl.keyStorePassword={SECRET} -Dy=2",
        f"some.login=Module required username='u' password='{SECRET} {SECRET}';",
        f"spring:\n  kafka:\n    properties:\n      sasl.jaas.config: Module password='{SECRET}';\n      a: 1",
        f"app:\n  db:\n    password: {SECRET}\n    name: x",
    ],
)
def test_no_secret_gets_past_the_reader(text):
    found = read(text)
    assert found
    assert SECRET not in repr(found)


def test_a_secret_that_is_not_set_is_said_to_be_none():
    assert values("ssl.key.password=null\nssl.keystore.password=") == {
        "ssl.key.password": "null",
        "ssl.keystore.password": "",
    }


def test_what_stands_beside_a_secret_is_still_shown():
    (setting,) = read(f"schema.registry.url=https://me:{SECRET}@registry:8081/x")
    assert setting.value == "https://[hidden]@registry:8081/x"


# What is a file of settings, and what not.


@pytest.mark.parametrize(
    "text",
    [
        "# producer\nbootstrap.servers=a:1\ntransactional.id=x\n",
        "bootstrap_servers=a:1\ntransactional_id=x",
        "spring:\n  kafka:\n    producer:\n      acks: all\n",
        "KAFKA_TRANSACTION_MAX_TIMEOUT_MS=1",
        "bootstrap.servers=a:1,\\\n  b:2\nacks=all",
    ],
)
def test_files_of_settings_are_known(text):
    assert is_settings(text.split("\n"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a=1\nb=2",
        "we set acks=all and wait\nthen acks=1 failed",
        "2026-11-21 10:28:59.120 [main] INFO x - ProducerConfig values: \n\tacks = -1\n\tbatch.size = 16384",
        "baseOffset: 0 lastOffset: 0 count: 1\nbaseOffset: 1 lastOffset: 1 count: 1",
        "[2026-11-21 10:28:59,120] INFO acks=all (kafka.X)\n[2026-11-21 10:28:59,120] INFO acks=all (kafka.X)",
    ],
)
def test_other_texts_are_none(text):
    assert not is_settings(text.split("\n"))


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    lines = text.split("\n")
    is_settings(lines)
    assert all(setting.line <= len(lines) for setting in read(text))


def test_a_long_line_of_any_kind_takes_linear_time():
    for text in (
        "a" * 500_000,
        "\\" * 500_000,
        "=" * 500_000,
        " " * 500_000 + "x",
        "password=" * 50_000,
        "- " * 200_000,
    ):
        read(text)
        is_settings([text])


# Real files.

SERVER = """log.dirs=/var/lib/kafka/data
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:23694,CONTROLLER://127.0.0.1:17279
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
offsets.topic.replication.factor=1
log.preallocate=false
"""
CONSUMER = """# consumer
bootstrap.servers=127.0.0.1:21001
group.id=etl-new
enable.auto.commit=false
client.id=etl-a
# producer
bootstrap.servers=127.0.0.1:21001
transactional.id=etl-new-a
"""


TWO = "bootstrap.servers=a:9092\ntransactional.id=orders-1\nlinger.ms=5\n"
PLAIN = "bootstrap.servers=a:9092\nenable.idempotence=false\nacks=1\n"


def test_files_put_into_one_without_a_word_are_of_several_programs():
    """Each begins as the first does; what one of them sets is not the other's."""
    found = read(TWO + PLAIN + TWO.replace("orders-1", "orders-2"))
    assert {setting.block for setting in found if setting.name == "transactional.id"} == {0, 2}
    assert {setting.block for setting in found if setting.name == "acks"} == {1}


def test_settings_of_a_program_whose_beginning_was_lost_are_nobodys_up_to_what_comes_back_otherwise():
    found = read(TWO + "acks=1\nlinger.ms=9\nclient.id=plain\n" + TWO.replace("orders-1", "orders-2"))
    blocks = {setting.name: setting.block for setting in found if setting.value in ("orders-1", "1", "9")}
    assert len(set(blocks.values())) == 3


def test_a_name_that_stands_twice_in_the_file_of_one_program_is_still_its_own():
    found = read(TWO + "acks=all\nbootstrap.servers=b:9092\n")
    assert {setting.block for setting in found} == {0}


def recorded() -> list[tuple[str, str]]:
    """Name and text of all recorded files, of two of them where the recordings are not at hand."""
    files = [path for case in cases() for path in sorted(case.glob("config/*.properties"))]
    return [(path.name, path.read_text()) for path in files] or [("server-1", SERVER), ("client-etl", CONSUMER)]


def test_every_line_of_the_recorded_files_is_a_setting_of_a_known_program():
    for name, text in recorded():
        lines = text.split("\n")
        assert is_settings(lines), name
        found = read(text)
        assert len(found) == sum(1 for line in lines if line and not line.startswith("#"))
        if name.startswith("server"):
            assert {setting.scope for setting in found} == {"broker"}
