"""Whom a remedy is for: the settings in force there, what they are called there, and the order they must have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.settings import Configured, Effective, Origin, Settings, default_of
from kafkatx.histories.logs.story import ClientInstance
from kafkatx.histories.story import Story
from kafkatx.terms.catalogue.frameworks import LIBRARIES, Framework, FrameworkName, own_defaults, setting_of

LIBRDKAFKA_NAMES = {"delivery.timeout.ms": "message.timeout.ms", "request.timeout.ms": "socket.timeout.ms"}


@dataclass(frozen=True, slots=True)
class Advised:
    """Whom a proposal is for: the settings in force there, and the framework whose names it is put in.

    `owner` is the client instance, else its transactional.id; `current` holds values that other evidence tells (the
    timeout in the coordinator's rows), by name; `release` is the client's, empty if unknown.
    """

    settings: Settings = field(default_factory=Settings)
    owner: Configured | str | None = None
    framework: Framework | None = None
    current: dict[str, int] = field(default_factory=dict)
    release: tuple[int, ...] = ()

    def client(self, name: str) -> Effective:
        """A producer's setting in force; frameworks have defaults (and librdkafka names) of their own."""
        if self.ends_with_transaction and name in LIBRDKAFKA_NAMES:
            return self._of_librdkafka(name)
        own = self.settings.value("producer", name, self.owner) if self.owner else default_of("producer", name)
        scope = own_defaults(self.framework)
        if own.is_known or scope is None:
            return own
        framed = default_of(scope, name, self.release)
        return own if framed.origin is Origin.UNKNOWN else framed

    @property
    def ends_with_transaction(self) -> bool:
        """Whether its sends may take as long as the transaction, not less: librdkafka makes them equal by itself."""
        return self.framework is not None and self.framework.name is FrameworkName.LIBRDKAFKA

    def _of_librdkafka(self, name: str) -> Effective:
        """By either name; what nobody set is the library's default, and a message's is lowered to the transaction's."""
        for spelled in (name, LIBRDKAFKA_NAMES[name]):
            found = self.settings.value("producer", spelled, self.owner)
            if found.is_known:
                return found
        default = default_of("librdkafka", LIBRDKAFKA_NAMES[name])
        limit = self.client("transaction.timeout.ms").number
        if name == "delivery.timeout.ms" and limit is not None and limit < (default.number or 0):
            return replace(default, value=str(limit))
        return default

    def consumer(self, name: str) -> Effective:
        """A consumer's setting in force."""
        return self.settings.value("consumer", name)

    def broker(self, name: str) -> Effective:
        """A setting of the brokers, as far as they agree."""
        return self.settings.value("broker", name)

    def now(self, name: str, effective: Effective) -> str:
        """The current value as a reader should see it: what rows say, else what is in force, marked if assumed."""
        return str(self.current[name]) if name in self.current else str(effective)

    def number(self, name: str, effective: Effective) -> int:
        """The current value as a number, 0 where nothing tells."""
        return self.current.get(name, effective.number or 0)

    def called(self, name: str) -> str:
        """What the framework calls a setting."""
        return setting_of(self.framework, name)

    @property
    def words(self) -> str:
        """`; in the terms of Kafka Streams (exactly_once_v2)`, or nothing."""
        return f" (it {_looks(self.framework)})" if self.framework else ""


def advised(story: Story, transactional_id: str | None, client: ClientInstance | None = None) -> Advised:
    """Whom a remedy for an id (or for one of its client instances) is for; the timeout is that of the id's last row."""
    chosen = client or _latest_client(story, transactional_id)
    current = {} if transactional_id is None else _timeout_of(story, transactional_id)
    return Advised(
        settings=story.logs.settings,
        owner=chosen if chosen is not None and chosen.settings else transactional_id,
        framework=framework_of(story, transactional_id, chosen),
        current=current,
        release=chosen.release if chosen is not None else (),
    )


def _latest_client(story: Story, transactional_id: str | None) -> ClientInstance | None:
    if transactional_id is None:
        return None
    return max(
        story.logs.clients_of(transactional_id), key=lambda client: (bool(client.settings), client.number), default=None
    )


def _timeout_of(story: Story, transactional_id: str) -> dict[str, int]:
    """transaction.timeout.ms as the coordinator recorded it for an id."""
    latest = story.latest_of(story.id_code(transactional_id))
    known = latest is not None and latest["timeout_ms"] > 0
    return {"transaction.timeout.ms": int(latest["timeout_ms"])} if latest is not None and known else {}


def ordering(advised: Advised, proposed: dict[str, int]) -> str:
    """The order that settings must have, with the values that a proposal leaves, and whether it holds."""
    broken = [f"{one} {a} is not {sign} {other} {b}" for one, a, sign, other, b in _pairs(advised, proposed)]
    below = "<=" if advised.ends_with_transaction else "<"
    chain = " <= ".join(
        [
            f"linger.ms + request.timeout.ms {_sum(advised, proposed)}",
            f"delivery.timeout.ms {_shown(advised, 'delivery.timeout.ms', proposed)} {below} transaction.timeout.ms "
            f"{_shown(advised, 'transaction.timeout.ms', proposed)}",
            f"transaction.max.timeout.ms {_shown(advised, 'transaction.max.timeout.ms', proposed)}",
        ]
    )
    return f"order: {chain}: " + (f"but {'; '.join(broken)}" if broken else "holds")


_CLIENT_NAMES = ("linger.ms", "request.timeout.ms", "delivery.timeout.ms", "max.block.ms", "transaction.timeout.ms")


_BROKER_NAMES = ("transaction.max.timeout.ms", "producer.id.expiration.ms", "transactional.id.expiration.ms")
_ORDER = (
    ("delivery.timeout.ms", "<", "transaction.timeout.ms"),
    ("transaction.timeout.ms", "<=", "transaction.max.timeout.ms"),
    ("request.timeout.ms", "<=", "max.block.ms"),
    ("delivery.timeout.ms", "<=", "producer.id.expiration.ms"),
    ("producer.id.expiration.ms", "<=", "transactional.id.expiration.ms"),
)


def _pairs(advised: Advised, proposed: dict[str, int]) -> list[tuple[str, int, str, str, int]]:
    """What is not in order: (one, value, sign, other, value)."""
    value = {name: _value(advised, name, proposed) for name in (*_CLIENT_NAMES, *_BROKER_NAMES)}
    sending = ("linger.ms + request.timeout.ms", value["linger.ms"] + value["request.timeout.ms"])
    rules = [(*sending, "<=", "delivery.timeout.ms", value["delivery.timeout.ms"])]
    below = "<=" if advised.ends_with_transaction else "<"
    rules += [(one, value[one], below if sign == "<" else sign, other, value[other]) for one, sign, other in _ORDER]
    return [rule for rule in rules if rule[1] and rule[4] and not _holds(rule[1], rule[2], rule[4])]


def _holds(one: int, sign: str, other: int) -> bool:
    return one < other if sign == "<" else one <= other


def _sum(advised: Advised, proposed: dict[str, int]) -> int:
    return _value(advised, "linger.ms", proposed) + _value(advised, "request.timeout.ms", proposed)


def _value(advised: Advised, name: str, proposed: dict[str, int]) -> int:
    if name in proposed:
        return proposed[name]
    return advised.number(name, _in_force(advised, name))


def _shown(advised: Advised, name: str, proposed: dict[str, int]) -> str:
    return str(proposed[name]) if name in proposed else advised.now(name, _in_force(advised, name))


def _in_force(advised: Advised, name: str) -> Effective:
    return advised.client(name) if name in _CLIENT_NAMES else advised.broker(name)


def _looks(framework: Framework) -> str:
    if framework.name in LIBRARIES:
        return f"runs on {framework.name}"
    return str(framework) if str(framework).startswith("looks") else f"is {framework.name}"
