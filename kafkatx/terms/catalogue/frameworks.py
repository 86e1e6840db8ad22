"""Frameworks that run transactions for an application, known by the names they give, and their names for settings.

Signs   the shape of the transactional.id (tightest first), then client.id, topics, groups and loggers. A shape alone
        can be imitated, so it is likely at best; a second sign of another kind makes it certain.
Limits  `producer-<transactional.id>` is what every Java client is called that was given no client.id, and what
        spring-kafka calls its own: it tells nothing. Flink's and spring-kafka's ids look like anybody's.
Source  StreamsProducer, Worker.taskTransactionalId and DistributedConfig.transactionalProducerId (Kafka 2.6 to 4.3),
        Flink's TransactionalIdFactory, spring-kafka's DefaultKafkaProducerFactory; recordings of each but ksqlDB and
        Flink's older producer, whose shapes are only known from their documentation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import field
from enum import StrEnum

from kafkatx.terms.catalogue.loading import framework_settings
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.verdicts import Verdict

UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
KSQL_PREFIX = "_confluent-ksql-"
_STREAMS_V2 = regex(rf"(?P<application>.+)-(?P<uuid>{UUID})-(?P<thread>[0-9]{{1,6}})")
_STREAMS_V1 = regex(r"(?P<application>.+)-(?P<subtopology>[0-9]{1,6})_(?P<partition>[0-9]{1,6})")
_STREAMS_CLIENT = regex(rf"(?P<application>.+)-{UUID}-StreamThread-[0-9]+(?:-[0-9]+_[0-9]+)?-producer")
_FLINK = regex(r"(?P<prefix>.+)-(?P<subtask>[0-9]{1,6})-(?P<counter>[0-9]{1,9})")
_FLINK_LEGACY = regex(r"(?P<task>.+)-(?P<uid>[0-9a-f]{32})-(?P<counter>[0-9]{1,9})")
_CONNECT_LEADER = "connect-cluster-"
_CONNECT_TASK = regex(r"(?P<group>.+)-(?P<connector>.+)-(?P<task>[0-9]{1,6})")
_CONNECT_CLIENT = "connector-producer-"
_MIRROR_CLIENT = regex(r".+->.+\|.+|.*MirrorSourceConnector.*")
_TRAILING_NUMBER = regex(r"(?P<prefix>.*?)(?P<number>[0-9]{1,9})")


class FrameworkName(StrEnum):
    """What a producer may belong to; the values are names as people know them."""

    STREAMS_V1 = "Kafka Streams (exactly_once)"
    STREAMS_V2 = "Kafka Streams (exactly_once_v2)"
    KSQLDB = "ksqlDB"
    CONNECT_TASK = "Kafka Connect source task"
    CONNECT_LEADER = "Kafka Connect leader"
    MIRROR_MAKER = "MirrorMaker 2"
    FLINK = "Flink KafkaSink"
    FLINK_LEGACY = "Flink FlinkKafkaProducer"
    SPRING = "spring-kafka"
    LIBRDKAFKA = "librdkafka"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    FRANZ_GO = "franz-go"


LIBRARIES = frozenset(
    {FrameworkName.LIBRDKAFKA, FrameworkName.KAFKA_PYTHON, FrameworkName.AIOKAFKA, FrameworkName.FRANZ_GO}
)
"""Client libraries: the application chooses its ids itself, only the names of settings are the library's."""

STREAMS = frozenset({FrameworkName.STREAMS_V1, FrameworkName.STREAMS_V2, FrameworkName.KSQLDB})
CONNECT = frozenset({FrameworkName.CONNECT_TASK, FrameworkName.CONNECT_LEADER, FrameworkName.MIRROR_MAKER})
FLINK = frozenset({FrameworkName.FLINK, FrameworkName.FLINK_LEGACY})


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework that was recognised: how surely, and by which sign.

    `member` is the part of the id that all of its own share (application.id, prefix, group.id), empty where none is
    known.
    """

    name: FrameworkName
    certainty: Verdict
    sign: str
    member: str = ""

    def __str__(self) -> str:
        """Words for a reader: a guess says that it is one."""
        return str(self.name) if self.certainty is Verdict.proved else f"looks like {self.name}"


@dataclass(frozen=True, slots=True)
class Signs:
    """What may tell who made a transactional.id.

    `loggers` are names of classes that logged beside it in the same log; `topics` those of its transactions; `groups`
    consumer groups or group.ids; `siblings` other ids of the capture; `prefixes` values of settings that give a
    framework its prefix (transaction-id-prefix, application.id), by that setting's name; `implementation` the client
    library by the form of its log lines.
    """

    transactional_id: str | None = None
    client_id: str | None = None
    loggers: Collection[str] = ()
    topics: Collection[str] = ()
    groups: Collection[str] = ()
    siblings: Collection[str] = ()
    prefixes: dict[str, str] = field(default_factory=dict)
    implementation: str | None = None


def recognise(signs: Signs) -> Framework | None:
    """Return the framework (else the client library) behind a transactional.id, None where nothing tells.

    The tightest shape is tried first; of several guesses the surest stands, of equal ones the first.
    """
    found = [framework for test in _TESTS for framework in test(signs)]
    return max(found, key=lambda framework: framework.certainty, default=None)


def recognise_id(transactional_id: str) -> Framework | None:
    """The same where nothing but the id is known."""
    return recognise(Signs(transactional_id))


def is_of_one_process(transactional_id: str) -> bool:
    """Whether an id holds the UUID that a process of Kafka Streams makes for itself (exactly_once_v2, ksqlDB)."""
    return _STREAMS_V2.fullmatch(transactional_id) is not None


def commits_at_once(transactional_id: str, client_id: str | None) -> bool:
    """Whether a producer commits each of its writes at once: that of Connect's leader, to its config topic."""
    found = recognise(Signs(transactional_id, client_id=client_id))
    return found is not None and found.name is FrameworkName.CONNECT_LEADER and found.certainty is Verdict.proved


def setting_of(framework: Framework | None, name: str) -> str:
    """Return what a setting of a Kafka producer or consumer is called in a framework's own configuration.

    A mere guess (possible) changes no name.
    """
    if framework is None or framework.certainty is Verdict.possible:
        return name
    return framework_settings().get((framework.name.name.lower(), name), name)


def own_defaults(framework: Framework | None) -> str | None:
    """Scope of the catalogue that holds a framework's own defaults, None where it has none or is only guessed."""
    if framework is None or framework.certainty is Verdict.possible:
        return None
    named = {**dict.fromkeys(STREAMS, "streams"), **dict.fromkeys(CONNECT, "connect"), **dict.fromkeys(FLINK, "flink")}
    return {**named, FrameworkName.LIBRDKAFKA: "librdkafka"}.get(framework.name)


def _streams_v2(signs: Signs) -> Iterable[Framework]:
    match = _STREAMS_V2.fullmatch(signs.transactional_id or "")
    if match is None:
        return
    application = match["application"]
    name = FrameworkName.KSQLDB if application.startswith(KSQL_PREFIX) else FrameworkName.STREAMS_V2
    shape = "its id is application.id, UUID and thread"
    yield _supported(name, shape, application, _streams_signs(signs, application))


def _streams_v1(signs: Signs) -> Iterable[Framework]:
    match = _STREAMS_V1.fullmatch(signs.transactional_id or "")
    if match is None:
        return
    application = match["application"]
    shape = "its id is application.id, subtopology and partition"
    yield _supported(FrameworkName.STREAMS_V1, shape, application, _streams_signs(signs, application), Verdict.possible)


def _streams_signs(signs: Signs, application: str) -> str | None:
    client = _STREAMS_CLIENT.fullmatch(signs.client_id or "")
    if client and client["application"] == application:
        return f"client.id {signs.client_id}"
    if signs.prefixes.get("application.id") == application:
        return f"application.id={application}"
    inner = [topic for topic in signs.topics if topic.startswith(f"{application}-") and _is_streams_topic(topic)]
    if inner:
        return f"it writes {min(inner)}"
    return f"the group {application}" if application in signs.groups else None


def _is_streams_topic(topic: str) -> bool:
    return topic.endswith(("-changelog", "-repartition"))


def _connect(signs: Signs) -> Iterable[Framework]:
    name, client = signs.transactional_id or "", signs.client_id or ""
    group = name.removeprefix(_CONNECT_LEADER)
    if name.startswith(_CONNECT_LEADER) and group:
        sure = client == f"{group}-configs-leader" or group in signs.groups
        yield _supported(
            FrameworkName.CONNECT_LEADER, "its id is connect-cluster- and a group", group, sure and f"the group {group}"
        )
    task = client.removeprefix(_CONNECT_CLIENT)
    if client.startswith(_CONNECT_CLIENT) and task and name.endswith(f"-{task}"):
        kind = FrameworkName.MIRROR_MAKER if _mirrors(signs) else FrameworkName.CONNECT_TASK
        yield Framework(kind, Verdict.proved, f"client.id {client}", name.removesuffix(f"-{task}"))
    elif match := _CONNECT_TASK.fullmatch(name):
        yield from _perhaps_task(signs, match["group"])


def _perhaps_task(signs: Signs, group: str) -> Iterable[Framework]:
    """A task's id without its client.id: only the leader's id, or Connect's own lines, tell it from anybody's."""
    name = signs.transactional_id or ""
    leaders = (other.removeprefix(_CONNECT_LEADER) for other in signs.siblings if other.startswith(_CONNECT_LEADER))
    cluster = max((leader for leader in leaders if name.startswith(f"{leader}-")), key=len, default=None)
    if cluster:
        sign = f"its id begins with the Connect cluster {cluster}"
        yield Framework(FrameworkName.CONNECT_TASK, Verdict.likely, sign, cluster)
    elif _logged_by(signs, "org.apache.kafka.connect."):
        yield Framework(FrameworkName.CONNECT_TASK, Verdict.likely, "Kafka Connect logs beside it", group)


def _mirrors(signs: Signs) -> bool:
    return _logged_by(signs, "org.apache.kafka.connect.mirror.") or any(
        _MIRROR_CLIENT.fullmatch(other) for other in (*signs.siblings, signs.client_id or "")
    )


def _flink(signs: Signs) -> Iterable[Framework]:
    name = signs.transactional_id or ""
    logs = _logged_by(signs, "org.apache.flink.")
    legacy, sink = _FLINK_LEGACY.fullmatch(name), _FLINK.fullmatch(name)
    if legacy:
        shape = "its id is a task's name, an operator's uid and a number"
        yield _supported(FrameworkName.FLINK_LEGACY, shape, legacy["task"], logs and "Flink logs beside it")
    elif sink and (logs or _counts_checkpoints(sink["prefix"], signs.siblings)):
        sign = "its id is prefix, subtask and checkpoint" + (", and Flink logs beside it" if logs else "")
        yield Framework(FrameworkName.FLINK, Verdict.proved if logs else Verdict.likely, sign, sink["prefix"])


def _counts_checkpoints(prefix: str, siblings: Collection[str]) -> bool:
    """Whether ids of one prefix count on: two subtasks, five counters or more, as no pool of ids does."""
    pairs = {
        (found["subtask"], int(found["counter"]))
        for found in map(_FLINK.fullmatch, siblings)
        if found and found["prefix"] == prefix
    }
    subtasks, counters = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return len(counters) >= 5 and len(counters) > 2 * len(subtasks)


def _spring(signs: Signs) -> Iterable[Framework]:
    name = signs.transactional_id or ""
    logs = _logged_by(signs, "org.springframework.kafka.")
    prefix = signs.prefixes.get("transaction-id-prefix")
    if prefix and name.startswith(prefix):
        yield Framework(FrameworkName.SPRING, Verdict.proved, f"transaction-id-prefix={prefix}", prefix)
    elif (match := _TRAILING_NUMBER.fullmatch(name)) and logs:
        yield Framework(FrameworkName.SPRING, Verdict.likely, "spring-kafka logs beside it", match["prefix"])


def _libraries(signs: Signs) -> Iterable[Framework]:
    for name in LIBRARIES:
        if signs.implementation == name:
            yield Framework(name, Verdict.proved, f"its log lines are {name}'s")


def _supported(
    name: FrameworkName, shape: str, member: str, support: str | bool | None, alone: Verdict = Verdict.likely
) -> Framework:
    """A shape alone is likely (a loose one possible), with another sign certain."""
    if not support:
        return Framework(name, alone, shape, member)
    return Framework(name, Verdict.proved, f"{shape}; {support}", member)


def _logged_by(signs: Signs, package: str) -> bool:
    return any(logger.startswith(package) for logger in signs.loggers)


_TESTS: tuple[Callable[[Signs], Iterable[Framework]], ...] = (
    _streams_v2,
    _connect,
    _flink,
    _streams_v1,
    _spring,
    _libraries,
)
