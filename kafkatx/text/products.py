"""Who wrote a log that is not Kafka's: products that speak its protocol, known by the names of their own code.

They have coordinators, fences and markers of their own making, so what is known of Kafka's releases does not hold for
them; of their lines only those are read that tell the same facts.
"""

from __future__ import annotations

from kafkatx.terms.regex import regex

PRODUCTS = {
    "Redpanda": regex(rb"\[shard ?\s?\d{1,3}(?::\w{1,8})?\] \w|tx_gateway_frontend\.cc|rm_stm\.cc|tm_stm\.cc"),
    "KoP (Kafka on Pulsar)": regex(rb"io\.streamnative\.pulsar\.handlers\.kop|persistent://public/"),
    "AutoMQ": regex(rb"com\.automq\.|kafka\.automq\.|\bs3stream\b"),
    "Kroxylicious (a proxy)": regex(rb"io\.kroxylicious\."),
    "WarpStream": regex(rb"\bwarpstream\b"),
    "Azure Event Hubs": regex(rb"\.servicebus\.windows\.net|Premium or Dedicated sku"),
}
"""Products and what only their logs, or answers of theirs in a client's log, hold."""


def product_of(head: bytes) -> str | None:
    """Return whose log a text is by its beginning, None where nothing says that it is not Kafka's."""
    return next((name for name, pattern in PRODUCTS.items() if pattern.search(head)), None)
