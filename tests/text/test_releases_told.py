"""Releases that pages name: of which product, and what is none."""

import re

import pytest

from kafkatx.text.releases_told import PRODUCTS, STEMS, releases_in
from tests.text.logs.recorded import recorded_texts


@pytest.mark.parametrize(
    ("text", "product", "release"),
    [
        ("librdkafka 1.8.2, brokers 3.1. Who is it?", "librdkafka", "1.8.2"),
        ("restart of the client cures it; librdkafka-1.7.0)", "librdkafka", "1.7.0"),
        ("confluent_kafka.version() ('1.7.0', 17235968)", "librdkafka", "1.7.0"),
        ("Confluent.Kafka 1.6.2. Toxiproxy cut", "librdkafka", "1.6.2"),
        ("We run kafka-clients 3.1.2. After a blip", "kafka-clients", "3.1.2"),
        ("at o.a.k.X.y(X.java:1) ~[kafka-clients-2.8.0.jar:?]", "kafka-clients", "2.8.0"),
        ("kafka-streams 1.1.0, processing.guarantee", "Kafka Streams", "1.1.0"),
        ("not in the list of the library (sarama v1.43.1).", "sarama", "1.43.1"),
        ("Flink 1.14 KafkaSink", "Flink's Kafka connector", "1.14"),
        ("no messages at all, alpakka 1.0.2, commit-timeout 15s", "Alpakka Kafka", "1.0.2"),
        ("Redpanda version: v23.3.11", "Redpanda", "23.3.11"),
        ("broker 2.7.0", "Kafka", "2.7.0"),
        ("Kafka 0.11.0.2 on bare metal", "Kafka", "0.11.0.2"),
    ],
)
def test_a_product_and_its_number(text, product, release):
    assert (product, release) in releases_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "broker 10.1.0.22:9092 (id: 2)", "kafka=10.20.4.17", "confluent-kafka is older than java 11",
        "2.3.0 alone", "sarama since 2021/03/29", "kafka-python/2.2.0/lib is a path with kafka 1/2",
    ],
)  # fmt: skip
def test_an_address_a_path_and_a_number_alone_are_no_release(text):
    assert not releases_in(text)


def test_a_binding_is_not_the_broker():
    assert [product for product, _ in releases_in("confluent-kafka 2.3, spring-kafka 3.0.2")] == [
        "librdkafka", "spring-kafka",
    ]  # fmt: skip


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_text_that_calls_a_product_holds_what_is_looked_for(product):
    called = re.compile(rf"(?<![\w.-])(?:{PRODUCTS[product]})", re.IGNORECASE)
    texts = [text for text in (*recorded_texts(), *CALLED) if text.isascii()]
    named = [text for text in texts if called.search(text)]
    assert product not in WIDELY_NAMED or named
    assert all(any(stem in text.lower() for stem in STEMS.get(product, (product,))) for text in named)


CALLED = (
    "confluent-kafka-go 1.8.2", "libversion() 1.8.2", "java client 2.1", "KRaft 3.9", "flink-connector-kafka 1.14",
    "akka-stream-kafka_2.12 1.0", "starlight-for-kafka 2.8", "axon-kafka-spring 4.5", "ballerinax/kafka 3.0",
    "broker 3.1",
)  # fmt: skip
WIDELY_NAMED = {"librdkafka", "kafka-clients", "Kafka", "sarama", "Flink's Kafka connector", "KoP", "Alpakka Kafka"}
