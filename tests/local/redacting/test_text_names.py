"""Names in texts: whole ones are replaced, words of programs only where they stand as names."""

import pytest

from kafkatx.local.redacting.stand_ins import StandIns
from kafkatx.local.redacting.text_names import TextNames


@pytest.fixture
def texts():
    names = StandIns(50)
    names.add_ids(["payments-eu-1"])
    names.client_of("producer-payments-eu-1")
    for topic in ("orders", "transaction", "data"):
        names.topic_of(topic)
    names.host_of("kafka7.bank.example")
    return TextNames(names)


def test_an_id_is_replaced_in_brackets_quotes_and_names_of_clients(texts):
    line = "[Producer clientId=producer-payments-eu-1, transactionalId=payments-eu-1] 'payments-eu-1' (payments-eu-1)"
    other = texts.names.ids["payments-eu-1"]
    assert texts.line(line) == line.replace("payments-eu-1", other)
    assert "producer-" + other in texts.line(line)


def test_a_name_inside_of_a_word_stays(texts):
    assert texts.line("reorders and orders2, orders_v2, orders.") == "reorders and orders2, topic-1_v2, topic-1."


def test_a_word_of_programs_is_replaced_only_where_it_stands_as_a_name(texts):
    line = "Aborting incomplete transaction (data loss is possible) topic=transaction, data-0: 'data' transaction.id"
    changed = texts.line(line)
    assert changed.startswith("Aborting incomplete transaction (data loss is possible) topic=topic-")
    assert changed.endswith("' transaction.id")
    assert "'data'" not in changed
    assert " data-0" not in changed


@pytest.mark.parametrize(
    "line", ["Kafka version: 0.11.0.1", "127.0.0.1:9092", "listening on 0.0.0.0:9092", "10:28:59.120"]
)
def test_versions_and_loopback_are_no_addresses(texts, line):
    assert texts.line(line) == line


def test_hosts_and_addresses_have_stand_ins_of_their_shape(texts):
    changed = texts.line("Node kafka7.bank.example:9092 (/10.31.4.9:9092) and [2a02:26f7::7]:9092, again 10.31.4.9")
    assert changed == "Node host-1:9092 (/198.18.0.1:9092) and [2001:db8::2]:9092, again 198.18.0.1"


def test_printed_payloads_are_masked_and_decoded_ones_are_read(texts):
    line = "| offset: 3 CreateTime: 5 keySize: 2 valueSize: 6 headerKeys: [trace] key: k1 payload: secret\n"
    assert texts.line(line) == line.replace("trace", "xxxxx").replace("k1", "xx").replace("secret", "xxxxxx")
    state = "key: transaction_metadata::transactionalId=payments-eu-1 payload: producerId:1,producerEpoch:0"
    assert texts.line(state) == state.replace("payments-eu-1", texts.names.ids["payments-eu-1"])


def test_records_of_a_clients_log_are_masked(texts):
    line = "failed: ProducerRecord(topic=orders, partition=null, key=me, value=hello, timestamp=null)"
    assert texts.line(line) == line.replace("orders", "topic-1").replace("=me", "=xx").replace("hello", "xxxxx")
