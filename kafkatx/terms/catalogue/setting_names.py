"""Names of settings: whose they are, and what Kafka calls what other programs spell their own way.

Why     one setting has many spellings: `transaction_timeout_ms` in Python, `producer.override.transaction.timeout.ms`
        in Connect, `spring.kafka.producer.transaction-id-prefix` in Spring, `KAFKA_TRANSACTION_MAX_TIMEOUT_MS` in the
        environment of a container.
Limits  names that producer, consumer and others have in common (request.timeout.ms) have no scope of their own: the
        settings beside them tell.
Source  ConfigDef of ProducerConfig, ConsumerConfig, KafkaConfig, TransactionLogConfig, StreamsConfig, WorkerConfig;
        Spring Boot's KafkaProperties; rdkafka_conf.c; the configure script of the cp-kafka image.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

from kafkatx.terms.catalogue.loading import configs

UNKNOWN = "unknown"
MOST_NAMES = 4096
"""Names of which it is kept what they are: a log prints the same some hundred again and again."""

_PREFIXES = (
    ("spring.kafka.producer.properties.", "producer"),
    ("spring.kafka.consumer.properties.", "consumer"),
    ("spring.kafka.admin.properties.", "admin"),
    ("spring.kafka.streams.properties.", "streams"),
    ("spring.kafka.producer.", "producer"),
    ("spring.kafka.consumer.", "consumer"),
    ("spring.kafka.admin.", "admin"),
    ("spring.kafka.streams.", "streams"),
    ("spring.kafka.properties.", None),
    ("spring.kafka.", None),
    ("ksql.streams.producer.", "producer"),
    ("ksql.streams.consumer.", "consumer"),
    ("ksql.streams.", "streams"),
    ("producer.override.", "producer"),
    ("consumer.override.", "consumer"),
    ("admin.override.", "admin"),
    ("main.consumer.", "consumer"),
    ("restore.consumer.", "consumer"),
    ("global.consumer.", "consumer"),
    ("producer.", "producer"),
    ("consumer.", "consumer"),
    ("admin.", "admin"),
)
"""Prefixes that name the owner of a setting, longest of a family first; None: all clients of the application."""

_OWN = {
    "producer": {
        "transactional.id", "transaction.timeout.ms", "acks", "enable.idempotence", "delivery.timeout.ms", "linger.ms",
        "max.block.ms", "batch.size", "buffer.memory", "max.in.flight.requests.per.connection", "retries",
        "compression.type", "key.serializer", "value.serializer", "partitioner.class", "transaction-id-prefix",
    },
    "consumer": {
        "isolation.level", "enable.auto.commit", "max.poll.records", "max.poll.interval.ms", "session.timeout.ms",
        "heartbeat.interval.ms", "auto.offset.reset", "group.instance.id", "key.deserializer", "value.deserializer",
        "auto.commit.interval.ms", "group.protocol", "partition.assignment.strategy", "fetch.min.bytes",
    },
    "broker": {
        "broker.id", "node.id", "log.dirs", "log.dir", "process.roles", "zookeeper.connect", "advertised.listeners",
        "controller.quorum.voters", "controller.listener.names", "inter.broker.protocol.version", "num.partitions",
        "auto.create.topics.enable", "default.replication.factor", "num.io.threads", "num.network.threads",
        "log.message.format.version", "log.retention.hours", "log.retention.ms", "log.retention.bytes",
    },
    "streams": {
        "application.id", "processing.guarantee", "num.stream.threads", "state.dir", "task.timeout.ms",
        "num.standby.replicas", "application.server", "commit.interval.ms",
    },
    "connect": {
        "exactly.once.source.support", "config.storage.topic", "offset.storage.topic", "status.storage.topic",
        "offset.storage.file.filename", "key.converter", "value.converter", "connector.class", "tasks.max",
        "offset.flush.timeout.ms", "transaction.boundary", "plugin.path", "rest.advertised.host.name",
    },
    "librdkafka": {"message.timeout.ms", "socket.timeout.ms", "message.send.max.retries", "queue.buffering.max.ms"},
    "topic": {"cleanup.policy", "message.format.version", "retention.ms", "segment.bytes", "delete.retention.ms"},
}  # fmt: skip
"""Names that one kind of program alone has, or that settle whose a group of settings is."""

_WEIGHT = {"broker": 3, "streams": 3, "connect": 3, "librdkafka": 2}
"""A worker's or application's file also holds settings of its clients, so its own names count more."""

_ALIASES = {
    "max.in.flight": "max.in.flight.requests.per.connection",
    "request.required.acks": "acks",
    "message.send.max.retries": "retries",
    "queue.buffering.max.ms": "linger.ms",
}
_SPRING = {
    "isolation-level": "isolation.level",
    "enable-auto-commit": "enable.auto.commit",
    "max-poll-records": "max.poll.records",
    "max-poll-interval": "max.poll.interval.ms",
    "auto-offset-reset": "auto.offset.reset",
    "client-id": "client.id",
    "group-id": "group.id",
    "application-id": "application.id",
    "bootstrap-servers": "bootstrap.servers",
    "transactionidprefix": "transaction-id-prefix",
}
_RUN_CLIENTS = frozenset({"streams", "connect", "flink", "librdkafka"})
"""Scopes whose rows of the catalogue also give their own defaults for a producer's settings."""
_ENVIRONMENT = "KAFKA_"


def scope_of(name: str) -> str:
    """Whose setting a name is: producer, consumer, admin, broker, topic, streams, connect, librdkafka, unknown."""
    scope, plain = split(name)
    if scope is not None:
        return scope
    return _scopes().get(plain, UNKNOWN)


def scope_of_group(names: Iterable[str]) -> str:
    """Whose settings a group is that stands together: what most of its names that tell anything say.

    Names with a prefix speak for themselves only; a worker or an application may carry settings of its clients.
    """
    votes: Counter[str] = Counter()
    for name in names:
        if _prefix(name)[0] is None and (scope := scope_of(name)) != UNKNOWN:
            votes[scope] += _WEIGHT.get(scope, 1)
    return max(sorted(votes), key=lambda scope: votes[scope], default=UNKNOWN)


def is_known(name: str) -> bool:
    """Whether a name, however it is spelled, is a setting that plays a part here."""
    return split(name)[1] in _known()


def prefix_scope(name: str) -> str | None:
    """Whose setting a name says it is by a prefix (`producer.override.`, `spring.kafka.consumer.`), else None."""
    return _prefix(name)[0]


def kafka_name(name: str) -> str:
    """Return Kafka's own name for a setting, however it is spelled; one that nobody knows is returned as it is."""
    return split(name)[1]


@lru_cache(maxsize=MOST_NAMES)
def split(name: str) -> tuple[str | None, str]:
    """Return (owner that the name itself tells, or None, and Kafka's name)."""
    if name.startswith(_ENVIRONMENT) and name.isupper():
        return _of_environment(name)
    scope, rest = _prefix(name)
    plain = _SPRING.get(rest.casefold(), rest) if name.startswith("spring.") else rest
    dotted = plain.replace("_", ".")
    if plain not in _known() and dotted in _known():
        plain = dotted
    return scope, _ALIASES.get(plain, plain)


def environment_name(name: str) -> str:
    """`KAFKA_LOG_DIRS` to `log.dirs`: `_` is a point, `__` an underscore, `___` a dash (cp-kafka images)."""
    rest = name.removeprefix(_ENVIRONMENT).lower()
    return rest.replace("___", "-").replace("__", "\0").replace("_", ".").replace("\0", "_")


def _of_environment(name: str) -> tuple[str | None, str]:
    plain = environment_name(name)
    return ("broker", plain) if _scopes().get(plain) == "broker" else (None, plain if plain in _known() else name)


@lru_cache(maxsize=MOST_NAMES)
def _prefix(name: str) -> tuple[str | None, str]:
    """Take a prefix off; `producer.id.expiration.ms` has none."""
    if name in _known():
        return None, name
    for prefix, scope in _PREFIXES:
        if name.startswith(prefix) and (prefix.count(".") > 1 or name.removeprefix(prefix) in _known()):
            return scope, name.removeprefix(prefix)
    return None, name


@cache
def _scopes() -> dict[str, str]:
    """Owner by name, of the names that have one owner only."""
    owners: dict[str, set[str]] = {}
    for config in configs():
        if config.scope not in _RUN_CLIENTS:
            owners.setdefault(config.name, set()).add(config.scope)
    found = {name: scopes.pop() for name, scopes in owners.items() if len(scopes) == 1}
    return found | {name: scope for scope, names in _OWN.items() for name in names}


@cache
def _known() -> frozenset[str]:
    return frozenset(_scopes()) | {config.name for config in configs()} | {
        "client.id", "group.id", "bootstrap.servers", *_ALIASES, *_ALIASES.values()
    }  # fmt: skip
