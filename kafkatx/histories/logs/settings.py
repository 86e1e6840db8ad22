"""Settings in force: what was set, else what a program printed at its start, else the default of its release.

Order   a `... values:` block of a client's own start says what it ran with; a file says so too unless the block differs
        (the file was changed later, or is another instance's). Defaults follow the release; where that is unknown and
        they differ between releases the newest is given and marked `default?`.
Owners  a client by its instance (its block, or files that name its transactional.id or client.id), a broker by node.id;
        the value of the whole cluster where all its brokers agree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from kafkatx.terms.catalogue.loading import configs
from kafkatx.terms.catalogue.releases import Release
from kafkatx.terms.catalogue.setting_names import kafka_name
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.times import duration
from kafkatx.text.events import LogSource, Setting

AUTOMATIC = frozenset({"", "null", "none"})
"""Values of client.id and transactional.id that name nobody."""
TRUE = frozenset({"true", "yes", "on", "1", "enabled"})


FRAMEWORKS, CLIENTS = frozenset({"streams", "connect"}), frozenset({"producer", "consumer"})
"""Scopes of blocks that frameworks print, and of those of their clients."""
_RELEASE = regex(r"v?([0-9]{1,4}(?:\.[0-9]{1,4}){1,3})")


class Origin(StrEnum):
    """Where a value comes from."""

    EXPLICIT = "explicit"
    PRINTED = "printed"
    DEFAULT = "default"
    PERHAPS_DEFAULT = "default?"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting in force. `setting` is where it stands (None for defaults); `defaults` those of the release.

    Of a release that is not known they are those of all releases.
    """

    scope: str
    name: str
    value: str | None
    origin: Origin
    setting: Setting | None = None
    defaults: tuple[str | None, ...] = ()

    @property
    def number(self) -> int | None:
        """The value as a whole number, None where it is none."""
        try:
            return int(self.value) if self.value is not None else None
        except ValueError:
            return None

    @property
    def is_true(self) -> bool:
        """Whether the value switches something on."""
        return self.value is not None and self.value.casefold() in TRUE

    @property
    def is_known(self) -> bool:
        """Whether evidence says so: set, or printed by the program; a default is only assumed."""
        return self.origin in (Origin.EXPLICIT, Origin.PRINTED)

    @property
    def is_chosen(self) -> bool:
        """Whether somebody decided on it: a file says so, or what was printed is no release's default."""
        return self.origin is Origin.EXPLICIT or (self.origin is Origin.PRINTED and self.value not in self.defaults)

    @property
    def time(self) -> int | None:
        """The value of a setting that is a time, in milliseconds; None of others."""
        return self.number if self.name.endswith(".ms") else None

    def __str__(self) -> str:
        """`60000`, `60000 (the default)`."""
        return said_value(self.value, self.origin)

    def __format__(self, spec: str) -> str:
        """`60000 (60 s, the default)`; `{setting:plain}` is as it stands in a file, `60000 (the default)`."""
        return str(self) if spec == "plain" else said_value(self.value, self.origin, self.time)


_NOTES = {Origin.DEFAULT: "the default", Origin.PERHAPS_DEFAULT: "the default of new releases"}
_NO_VALUE = {Origin.DIFFERS: "different values", Origin.UNKNOWN: "not known"}


def said_value(value: str | None, origin: Origin, time: int | None = None) -> str:
    """A value, as a time too from a second on, and whether it is a default: `120000 (2 min, the default)`."""
    if value is None:
        return _NO_VALUE.get(origin, "null")
    unit = duration(time).replace(".0 ", " ") if time is not None and time >= 1_000 else None
    notes = ", ".join(filter(None, (unit, _NOTES.get(origin))))
    return f"{value} ({notes})" if notes else value


class Configured(Protocol):
    """A client instance as far as its settings go (histories.logs.ClientInstance)."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        """What its configuration says."""

    @property
    def release(self) -> tuple[int, ...]:
        """Release of its library."""


@dataclass(frozen=True, slots=True)
class Block:
    """Settings that stand together, by Kafka's names; of a name that stands twice the last one."""

    scope: str
    source: int
    line: int
    is_printed: bool
    values: Mapping[str, Setting]

    def text(self, name: str) -> str | None:
        """Value of a setting, None where the block does not have it or it names nobody."""
        found = self.values.get(name)
        return None if found is None or found.value in AUTOMATIC else found.value

    def names(self, client_id: str | None, transactional_id: str | None) -> bool:
        """Whether the block is of a client by these names."""
        if transactional_id is not None:
            own, prefix = self.text("transactional.id"), self.text("transaction-id-prefix")
            if own is not None:
                return own == transactional_id
            return prefix is not None and transactional_id.startswith(prefix)
        own = self.text("client.id")
        return own is not None and own == client_id and self.text("transactional.id") is None


def blocks_of(settings: Iterable[Setting]) -> list[Block]:
    """Settings by the group that they stand in, in order of sources and lines."""
    groups: dict[tuple[int, int, str], list[Setting]] = defaultdict(list)
    for setting in settings:
        groups[setting.source, setting.block, setting.scope].append(setting)
    found = [
        Block(
            scope,
            source,
            min(setting.line for setting in group),
            group[0].is_printed,
            {kafka_name(setting.name): setting for setting in sorted(group, key=lambda setting: setting.line)},
        )
        for (source, _, scope), group in groups.items()
    ]
    return sorted(found, key=lambda block: (block.source, block.line, block.scope))


def _agreed(blocks: Sequence[Block]) -> Iterator[Setting]:
    """Settings that blocks do not contradict each other about: what one has, all have or leave at its default."""
    for name in dict.fromkeys(name for block in blocks for name in block.values):
        found = [block.values.get(name) for block in blocks]
        values = {plain_value(name, setting.value) if setting else None for setting in found}
        first = next(setting for setting in found if setting)
        if len(values) == 1:
            yield first


@dataclass(frozen=True)
class Settings:
    """All settings of a capture. `release` is the brokers' (empty: unknown)."""

    all: Sequence[Setting] = ()
    sources: Sequence[LogSource] = ()
    release: tuple[int, ...] = ()
    _cache: dict[str, tuple[Setting, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def blocks(self) -> list[Block]:
        """Settings by the group that they stand in."""
        return blocks_of(self.all)

    def value(self, scope: str, name: str, owner: Configured | str | int | None = None) -> Effective:
        """Return a setting in force.

        Args:
            scope: producer, consumer, broker, ...
            name: Kafka's name of the setting.
            owner: a client instance, a transactional.id, a broker's id; None for what holds in the whole capture: what
                all that have the scope agree on.
        """
        if owner is None or isinstance(owner, int):
            blocks = [block for block in self.blocks if block.scope == scope and self._is_of(block, owner)]
            found = [block.values[name] for block in blocks if name in block.values]
            lacking = scope != "broker" and len(found) < len(blocks)
            return self._agreed_value(scope, name, found, lacking)
        if isinstance(owner, str):
            return _effective(scope, name, self.of_id(owner), ())
        return _effective(scope, name, owner.settings, owner.release)

    def of_block(self, block: Block, name: str) -> Effective:
        """Return a setting as one group says it, else the default."""
        return _effective(block.scope, name, tuple(block.values.values()), ())

    def of_id(self, transactional_id: str) -> tuple[Setting, ...]:
        """Settings that all blocks and files of a transactional.id agree on."""
        if transactional_id not in self._cache:
            own = [block for block in self.blocks if block.names(None, transactional_id)]
            printed = [block for block in own if block.is_printed]
            files = [block for block in own if not block.is_printed]
            self._cache[transactional_id] = (*_agreed(printed), *_agreed(files))
        return self._cache[transactional_id]

    def in_force(self) -> Iterator[tuple[Block, Effective]]:
        """Every setting that stands somewhere, with its group; of a name that stands twice the last one."""
        for block in self.blocks:
            release = self.release if block.scope == "broker" else ()
            for name, setting in block.values.items():
                defaults = defaults_of(block.scope, name, release)
                yield (
                    block,
                    Effective(block.scope, name, plain_value(name, setting.value), _origin(setting), setting, defaults),
                )

    def broker_ids(self) -> list[int]:
        """Brokers of which settings are at hand."""
        return sorted({number for block in self.blocks if (number := self.broker_of(block)) is not None})

    def _is_of(self, block: Block, owner: int | None) -> bool:
        return owner is None or self.broker_of(block) == owner

    def broker_of(self, block: Block) -> int | None:
        """Broker that a group of settings is of, None where nothing tells it."""
        if block.scope != "broker":
            return None
        own = block.text("node.id") or block.text("broker.id")
        if own is not None and own.isascii() and own.isdigit():
            return int(own)
        return self.sources[block.source].broker_id if block.source < len(self.sources) else None

    def _agreed_value(self, scope: str, name: str, found: list[Setting], lacking: bool) -> Effective:
        """One value where all agree; a later block of one broker replaces its earlier one."""
        release = self.release if scope == "broker" else ()
        if not found:
            return default_of(scope, name, release)
        latest = {setting.source: setting for setting in found}
        values = {plain_value(name, setting.value) for setting in latest.values()}
        best = min(latest.values(), key=lambda setting: (setting.is_printed, setting.source, setting.line))
        defaults = defaults_of(scope, name, release)
        if len(values) > 1 or (lacking and plain_value(name, best.value) not in defaults):
            return Effective(scope, name, None, Origin.DIFFERS, best, defaults)
        return Effective(scope, name, plain_value(name, best.value), _origin(best), best, defaults)


def defaults_of(scope: str, name: str, release: tuple[int, ...] = ()) -> tuple[str | None, ...]:
    """Return the default of a release, or those of all releases where it is not known; the newest is last."""
    config = next((config for config in configs() if (config.scope, config.name) == (scope, name)), None)
    stated = config.defaults if config else ()
    held = [one for one in stated if not release or one.span.holds(Release(release))]
    return tuple(plain_value(name, one.text) for one in held)


def default_of(scope: str, name: str, release: tuple[int, ...] = ()) -> Effective:
    """Return the default of a release (empty: unknown), with origin `default?` where releases differ."""
    defaults = defaults_of(scope, name, release)
    if not defaults:
        return Effective(scope, name, None, Origin.UNKNOWN)
    origin = Origin.DEFAULT if len(set(defaults)) == 1 else Origin.PERHAPS_DEFAULT
    return Effective(scope, name, defaults[-1], origin, None, defaults)


def release_of(settings: Iterable[Setting], said: Iterable[str | None] = ()) -> tuple[int, ...]:
    """Release of the brokers: what they say of themselves, else the protocol version they print; empty if unknown.

    inter.broker.protocol.version is the release's own unless somebody holds it back; brokers of 4.0 have none.
    """
    protocol = "inter.broker.protocol.version"
    printed = [setting.value for setting in settings if setting.is_printed and setting.name == protocol]
    for text in (*said, *printed):
        match = _RELEASE.match(text or "")
        if match:
            return tuple(int(part) for part in match[1].split("."))
    return ()


def _effective(scope: str, name: str, settings: Sequence[Setting], release: tuple[int, ...]) -> Effective:
    """What a client's own settings say: its block before files, unless they say the same (then the file is cited)."""
    found = [one for one in settings if kafka_name(one.name) == name and not _is_of_another(one, scope, name)]
    defaults = defaults_of(scope, name, release)
    printed = next((setting for setting in reversed(found) if setting.is_printed), None)
    written = next((setting for setting in reversed(found) if not setting.is_printed), None)
    if written is not None and (
        printed is None or plain_value(name, printed.value) == plain_value(name, written.value)
    ):
        return Effective(scope, name, plain_value(name, written.value), Origin.EXPLICIT, written, defaults)
    if printed is not None:
        return Effective(scope, name, plain_value(name, printed.value), Origin.PRINTED, printed, defaults)
    if any(setting.is_printed and setting.scope == scope for setting in settings):
        return Effective(scope, name, None, Origin.UNKNOWN)  # a program prints all its values: this line is lost
    return default_of(scope, name, release)


def _is_of_another(setting: Setting, scope: str, name: str) -> bool:
    """Whether a framework's block prints a setting of its own by the name of its clients': Streams has request.timeout.

    What is meant for a producer bears its prefix there.
    """
    is_framework = setting.is_printed and setting.scope in FRAMEWORKS and scope in CLIENTS
    return is_framework and setting.name == name


def _origin(setting: Setting) -> Origin:
    return Origin.PRINTED if setting.is_printed else Origin.EXPLICIT


def plain_value(name: str, value: str | None) -> str | None:
    """One spelling for a value: None for null and nothing, `all` for acks=-1, small letters for booleans and modes."""
    if value is None or value.strip() in ("", "null"):
        return None
    plain = value.strip()
    if name == "acks":
        return "all" if plain in ("-1", "all") else plain
    return plain.lower() if plain.lower() in ("true", "false") else plain
