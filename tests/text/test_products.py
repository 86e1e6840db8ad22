"""Whose log it is: products that speak Kafka's protocol are named, Kafka's own logs are nobody's."""

import pytest

from kafkatx.text.products import product_of


@pytest.mark.parametrize(
    ("line", "product"),
    [
        (b"INFO  2024-12-12 10:31:08,402 [shard 1:main] tx - tx_gateway_frontend.cc:2497 - x", "Redpanda"),
        (b"ERROR io.streamnative.pulsar.handlers.kop.storage.PartitionLog - Bad error", "KoP (Kafka on Pulsar)"),
        (b"[2024-01-01 10:00:00,000] INFO [TransactionCoordinator id=1] Initialized (kafka.x.Y)", None),
    ],
)
def test_products_by_their_own_code(line, product):
    assert product_of(line) == product
