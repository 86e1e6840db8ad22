"""Whose text it is, if not Kafka's: products that speak its protocol, systems that have transactions of their own.

Products are known by the names of their own code. They have coordinators, fences and markers of their own making, so
what is known of Kafka's releases does not hold for them; of their lines only those are read that tell the same facts.
Systems have commits, producers, coordinators and timeouts as Kafka has, in the same words. A text that names one of
them and nothing of Kafka is not about Kafka, whatever failed in it. What of its words are Kafka's goes by the system:
another queue has topics, producers and brokers too, a database or a manager of transactions has not.
"""

from __future__ import annotations

import re

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


QUEUES = regex(
    r"pulsar|rabbit ?mq|activemq|artemis|rocket ?mq|pravega|(?:ibm|websphere) ?mq"
    r"|\b(?:jms|nats|mqtt|amqp|sns|sqs|msmq)\b|\bkinesis\b|pub/?sub|\bsolace\b|\bjetstream\b|\bzeromq\b",
    re.IGNORECASE,
)
"""Systems whose topics, producers, consumers and brokers are told as Kafka's are."""
DATABASES = regex(
    r"postgres|mysql|mariadb|innodb|\boracle\b|\bora-\d{4,5}\b|sql ?server\b|\bmssql\b|mongo ?db|mongoserver"
    r"|cockroach|yugabyte|\bysql\b|\bti(?:db|kv)\b|\bspanner\b|cassandra|scylla|\bredis\b|neo4j|dynamo ?db|couchbase"
    r"|firebird|monetdb|starrocks|\bdoris\b|sqlite|\bdb2\b|foundationdb|snowflake|iceberg|delta lake|\bhudi\b"
    r"|atomikos|narayana|arjuna|bitronix|\bjta\b|\bxa(?:resource|exception|datasource|er_\w| transactions?\b)|\bmsdtc\b"
    r"|\bseata\b|system\.transactions|hibernate|\bjpa\b"
    r"|ethereum|\bsolana\b|bitcoin|blockchain|\bevm\b|\bweb3\b",
    re.IGNORECASE,
)
"""Databases, managers of transactions over several of them, and ledgers."""
_KAFKAS = regex(
    r"kafka|\bkop\b|redpanda|event ?hubs?\b|\bmsk\b|warpstream|automq|franz-go|\bsarama\b|кафк|卡夫卡|カフカ|카프카"
    r"|transactional[._ -]?id|__transaction_state|__consumer_offsets|\binit_?(?:producer_?id|transactions)\b"
    r"|\b(?:add_?(?:partitions|offsets)_?to|end)_?txn\b|txn_?offset_?commit|offsets_?to_?transaction"
    r"|isolation[._]level|read_(?:un)?committed|\blso\b|last[ _]stable[ _]offset|producer[ _.-]?epoch"
    r"|transactioncoordinator id=|min\.insync|\beos\b|exactly[-_ ]once[-_ ]v2|consumer lag",
    re.IGNORECASE,
)
"""What no other queue calls so."""
_OF_QUEUES = regex(
    r"\btopics?\b|\bpartitions?\b|\bproducers?\b|\bconsumers?\b|\bbrokers?\b|\boffsets?\b|checkpoint|exactly[-_ ]once"
    r"|idempoten|\bconnectors?\b|\bfenc(?:ed|ing)\b|\bsinks?\b",
    re.IGNORECASE,
)
"""What no database calls so, or what may as well be a client of Kafka's."""


def is_of_another_system(text: str) -> bool:
    """Whether a page names a system that has transactions of its own, and nothing of Kafka."""
    is_queues = QUEUES.search(text) is not None
    if not is_queues and DATABASES.search(text) is None:
        return False
    return _KAFKAS.search(text) is None and (is_queues or _OF_QUEUES.search(text) is None)
