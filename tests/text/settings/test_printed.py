"""`... values:` blocks inside logs: where they begin and end, whose they are, and what of them is kept."""

import pytest

from kafkatx.text.events import Setting
from kafkatx.text.settings.printed import HEADING, MOST_BLOCKS, ValuesBlocks
from tests.evidence import cases

CLIENT = """2026-11-21 10:28:59.120 INFO  org.apache.kafka.clients.producer.ProducerConfig - ProducerConfig values: 
\tacks = -1
\tclient.id = producer-payments-eu-1
\tlinger.ms = 0
\tsasl.jaas.config = null
\ttransaction.timeout.ms = 60000
\ttransactional.id = payments-eu-1
\tvalue.serializer = class org.apache.kafka.common.serialization.ByteArraySerializer

2026-11-21 10:28:59.300 [main] INFO  org.apache.kafka.clients.producer.KafkaProducer - Instantiated a producer.
"""  # noqa: W291
BROKER = """[2026-11-21 10:43:34,209] INFO KafkaConfig values: 
\tbroker.id = 1
\tmin.insync.replicas = 1
\ttransaction.max.timeout.ms = 900000
 (kafka.server.KafkaConfig)
[2026-11-21 10:43:34,239] INFO x = y (kafka.X)
"""  # noqa: W291


def read(text: str) -> ValuesBlocks:
    blocks = ValuesBlocks(3)
    for number, line in enumerate(text.split("\n"), 1):
        if blocks.is_open or HEADING in line:
            blocks.feed(number, line)
    blocks.close()
    return blocks


def values(settings: list[Setting]) -> dict[str, str | None]:
    return {setting.name: setting.value for setting in settings}


def test_a_client_says_what_it_runs_with():
    found = read(CLIENT)
    assert values(found.settings)["transaction.timeout.ms"] == "60000"
    assert values(found.settings)["transactional.id"] == "payments-eu-1"
    assert {(s.scope, s.source, s.block, s.is_printed) for s in found.settings} == {("producer", 3, 0, True)}
    assert next(s.line for s in found.settings if s.name == "transactional.id") == 7


def test_a_block_ends_where_the_class_stands_on_its_own_line():
    found = read(BROKER)
    assert values(found.settings) == {
        "broker.id": "1",
        "min.insync.replicas": "1",
        "transaction.max.timeout.ms": "900000",
    }
    assert not found.is_open


def test_a_line_behind_the_block_that_looks_like_one_is_none():
    found = read(BROKER.replace(" (kafka.server.KafkaConfig)\n", "").replace("INFO x = y", "INFO acks = 0"))
    assert "acks" not in values(found.settings)


@pytest.mark.parametrize("prefix", ["", "pod-1 kafka[123]: ", "2026-11-21T10:28:59.1Z stdout F ", "12 | "])
def test_what_a_collector_puts_before_each_line_does_not_matter(prefix):
    text = "\n".join(prefix + line for line in CLIENT.split("\n"))
    assert values(read(text).settings)["transactional.id"] == "payments-eu-1"


def test_a_block_inside_one_json_string_is_read():
    line = '{"message":"ProducerConfig values: \\n\\tacks = -1\\n\\ttransactional.id = pay-1\\n"}'
    assert values(read(line).settings)["transactional.id"].startswith("pay-1")


def test_a_block_that_is_cut_off_keeps_what_it_has():
    assert values(read("\n".join(CLIENT.split("\n")[:5])).settings)["client.id"] == "producer-payments-eu-1"


def test_two_blocks_one_behind_the_other_are_two():
    found = read(CLIENT + CLIENT.replace("payments-eu-1", "payments-eu-2").replace("ProducerConfig", "ConsumerConfig"))
    assert {(s.block, s.scope) for s in found.settings} == {(0, "producer"), (1, "consumer")}


def test_a_class_that_tells_nothing_goes_by_its_names():
    found = read(BROKER.replace("KafkaConfig values", "AbstractConfig values"))
    assert {setting.scope for setting in found.settings} == {"broker"}


def test_secrets_are_hidden_whatever_the_program_printed():
    text = CLIENT.replace("sasl.jaas.config = null", 'sasl.jaas.config = Module password="hunter2";')
    assert "hunter2" not in repr(read(text).settings)


def test_clients_made_over_and_over_do_not_fill_the_memory():
    blocks = ValuesBlocks(0)
    for number in range(3 * MOST_BLOCKS):
        for line in CLIENT.replace("payments-eu-1", f"payments-{number}").split("\n"):
            if blocks.is_open or HEADING in line:
                blocks.feed(number, line)
    blocks.close()
    assert blocks.block == MOST_BLOCKS


def test_megabyte_lines_are_read_and_are_nothing():
    blocks = ValuesBlocks(0)
    for text in (f"ProducerConfig values:{' ' * 1_000_000}", "\ta" * 500_000, "a = " * 250_000, "Config" * 150_000):
        blocks.feed(1, f"x {text} values: ")
        blocks.feed(2, text)
    blocks.close()
    assert not blocks.settings


def recorded() -> list[str]:
    files = [path for case in cases() for path in sorted(case.glob("logs/**/client-*.log"))]
    return [path.read_text(errors="replace") for path in files[::4]] or [CLIENT, BROKER]


def test_each_heading_of_the_recorded_logs_is_a_block():
    for text in recorded():
        found = read(text)
        assert found.block == sum("Config values:" in line for line in text.split("\n"))
        assert all(setting.scope != "unknown" for setting in found.settings)
