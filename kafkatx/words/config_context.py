"""Whom a remedy is for: the settings in force there, what they are called there, and what a proposal changes too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cache

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.settings import (
    Configured,
    Effective,
    Origin,
    Settings,
    default_of,
    defaults_of,
    said_value,
)
from kafkatx.terms.catalogue.frameworks import Framework, FrameworkName, own_defaults, setting_of
from kafkatx.terms.catalogue.loading import configs
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict

LIBRDKAFKA_NAMES = {"delivery.timeout.ms": "message.timeout.ms", "request.timeout.ms": "socket.timeout.ms"}


@cache
def scope_of(name: str) -> str:
    """Whose a setting is: Kafka Streams', a consumer's or the brokers' where no producer has it, else a producer's."""
    scopes = {config.scope for config in configs() if config.name == name}
    own = [scope for scope in ("streams", "consumer", "broker") if scope in scopes and "producer" not in scopes]
    return own[0] if own else "producer"


@dataclass(frozen=True, slots=True)
class Looks:
    """What a client is made with, in short: `Kafka Streams`, of a guess `probably Kafka Streams`."""

    framework: Framework

    def __format__(self, spec: str) -> str:
        name = self.framework.name.partition(" (")[0]
        return name if self.framework.certainty is Verdict.proved else f"probably {name}"


@dataclass(frozen=True, slots=True)
class ConfigContext:
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

    def in_force(self, name: str) -> Effective:
        """A setting in force: the producer's own, else what all consumers, brokers or Streams programs agree on."""
        scope = scope_of(name)
        return self.client(name) if scope == "producer" else self.settings.value(scope, name)

    def now(self, name: str) -> Effective:
        """A setting as it is now: what rows say, else what is in force."""
        found = self.in_force(name)
        return _set_to(found, self.current[name]) if name in self.current else found

    def is_chosen(self, effective: Effective) -> bool:
        """Whether somebody decided on a value: a default is nobody's choice, a framework's own neither."""
        scope = own_defaults(self.framework)
        framed = defaults_of(scope, effective.name, self.release) if scope is not None else ()
        return effective.is_chosen and not (effective.origin is Origin.PRINTED and effective.value in framed)

    def called(self, name: str) -> str:
        """What the framework calls a setting."""
        return setting_of(self.framework, name)

    def renamed_by(self, name: str) -> Looks | None:
        """The framework that has a name of its own for a setting, None where it is called as Kafka calls it."""
        return Looks(self.framework) if self.framework is not None and self.called(name) != name else None


def advised(model: CaptureModel, transactional_id: str | None, client: ClientInstance | None = None) -> ConfigContext:
    """Whom a remedy for an id (or for one of its client instances) is for; the timeout is that of the id's last row."""
    chosen = client or _latest_client(model, transactional_id)
    current = {} if transactional_id is None else _timeout_of(model, transactional_id)
    return ConfigContext(
        settings=model.logs.settings,
        owner=chosen if chosen is not None and chosen.settings else transactional_id,
        framework=framework_of(model, transactional_id, chosen),
        current=current,
        release=chosen.release if chosen is not None else (),
    )


def _latest_client(model: CaptureModel, transactional_id: str | None) -> ClientInstance | None:
    if transactional_id is None:
        return None
    return max(
        model.logs.clients_of(transactional_id), key=lambda client: (bool(client.settings), client.number), default=None
    )


def _timeout_of(model: CaptureModel, transactional_id: str) -> dict[str, int]:
    """transaction.timeout.ms as the coordinator recorded it for an id."""
    latest = model.latest_of(model.id_code(transactional_id))
    known = latest is not None and latest["timeout_ms"] > 0
    return {"transaction.timeout.ms": int(latest["timeout_ms"])} if latest is not None and known else {}


_ORDER = (
    ("delivery.timeout.ms", "<", "transaction.timeout.ms"),
    ("transaction.timeout.ms", "<=", "transaction.max.timeout.ms"),
    ("request.timeout.ms", "<=", "max.block.ms"),
    ("delivery.timeout.ms", "<=", "producer.id.expiration.ms"),
    ("producer.id.expiration.ms", "<=", "transactional.id.expiration.ms"),
)


def changes_too(whom: ConfigContext, proposed: Mapping[str, int]) -> str | None:
    """What must change beside a proposal so that settings keep their order; None where nothing must.

    Settings that were out of order before count only where somebody chose the other one: defaults never alarm.
    """
    return ". ".join(_changed_too(whom, proposed)) or None


def _changed_too(whom: ConfigContext, proposed: Mapping[str, int]) -> Iterator[str]:
    for lower, sign, upper in _ORDER:
        if (lower in proposed) == (upper in proposed):
            continue
        # Sends that end with the transaction may take as long as it.
        may_equal = sign == "<=" or whom.ends_with_transaction
        now = whom.now(lower).number, whom.now(upper).number
        left = proposed.get(lower, now[0]), proposed.get(upper, now[1])
        other = upper if lower in proposed else lower
        if _fits(*left, may_equal) or (not _fits(*now, may_equal) and not whom.is_chosen(whom.in_force(other))):
            continue
        if other is lower:
            verb, bound = "Lower", "to at most" if may_equal else "below"
        else:
            verb, bound = "Raise", "to at least" if may_equal else "above"
        given = next(proposed[name] for name in (lower, upper) if name in proposed)
        yield f"{verb} {whom.called(other)} {bound} {said_value(str(given), Origin.EXPLICIT, given)} as well"


def _fits(lower: int | None, upper: int | None, may_equal: bool) -> bool:
    """Whether two settings are in order; what nothing tells is no disorder."""
    return not lower or not upper or lower < upper or (may_equal and lower == upper)


def _set_to(effective: Effective, number: int) -> Effective:
    return replace(effective, value=str(number), origin=Origin.EXPLICIT)
