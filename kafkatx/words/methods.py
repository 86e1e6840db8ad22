"""What the methods of a transactional producer are called in each client library; Java's names stand for them.

Source  KafkaProducer; rdkafka.h (and confluent-kafka-python, rust-rdkafka); kafka-python and aiokafka, producer;
        kafkajs, producer/index.js; sarama, async_producer.go; franz-go, txn.go.
"""

from __future__ import annotations

from kafkatx.histories.logs.client_instance import ClientInstance

SNAKES = frozenset({"librdkafka", "kafka-python", "aiokafka"})
"""Clients whose methods are written init_transactions."""
OWN = {
    "kafkajs": {
        "initTransactions": "producer.transaction",
        "beginTransaction": "producer.transaction",
        "commitTransaction": "transaction.commit",
        "abortTransaction": "transaction.abort",
        "sendOffsetsToTransaction": "transaction.sendOffsets",
    },
    "sarama": {
        "initTransactions": "NewAsyncProducer",
        "beginTransaction": "BeginTxn",
        "commitTransaction": "CommitTxn",
        "abortTransaction": "AbortTxn",
        "sendOffsetsToTransaction": "AddOffsetsToTxn",
    },
    "franz-go": {
        "initTransactions": "NewClient",
        "beginTransaction": "BeginTransaction",
        "commitTransaction": "EndTransaction(TryCommit)",
        "abortTransaction": "EndTransaction(TryAbort)",
        "sendOffsetsToTransaction": "GroupTransactSession.End",
    },
}
"""Clients with names of their own."""
SENDS = {"librdkafka": "produce", "sarama": "Input", "franz-go": "Produce"}


def method(name: str, implementation: str | None) -> str:
    """Return a method of Java's producer as a client library calls it; other names, and those of Java, as they are."""
    if implementation in OWN and name in OWN[implementation]:
        return OWN[implementation][name]
    if name == "send":
        return SENDS.get(implementation or "", name)
    return spelled(name) if implementation in SNAKES else name


def method_of(name: str, client: ClientInstance | None) -> str:
    """Return a method as the library of a client calls it; as Java does where no client is known."""
    return method(name, None if client is None else client.implementation)


def spelled(call: str) -> str:
    """A method of Java in small letters: init_transactions."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in call)
