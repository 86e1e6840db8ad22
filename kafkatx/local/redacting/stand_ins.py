"""Stand-ins: topic-1, id-1, client-1, group-1, host-1, and addresses of 198.18.0.0/15; always the same for a name.

Shape     numbers, UUIDs and what frameworks put around a name stay (`producer-NAME`, `NAME-0_1`,
          `NAME-StreamThread-1-producer`), so that what is recognised by them is recognised again; names with one stem
          have stand-ins with one stem.
Partition the number in `id-N` is chosen so that the id belongs to the same partition of `__transaction_state` (Java's
          hash). Where ids of one stem can't all be had so, the random part of an id is changed, else its stem is its
          own; where that does not help either the mapping says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field

from kafkatx.formats.file_names import is_topic
from kafkatx.terms.catalogue.frameworks import UUID
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.topics import INTERNAL, partition_for

_PREFIX = regex(
    r"(?:_confluent-ksql-|connect-cluster-|connector-(?:producer|consumer|dlq-producer)-|producer-|consumer-|admin-)"
)
_TAIL = regex(
    rf"(?:[-_.]?{UUID}|-StreamThread-\d+|-(?:restore-)?consumer|-producer|-admin|-changelog|-repartition"
    r"|[-_]\d+(?:_\d+)?|-[0-9a-f]{16,64})+$"
)
_RANDOM_END = regex(r"(?P<digits>\d{6,})(?=\D*$)|(?P<hex>[0-9a-f]{8,})(?=[^0-9a-f]*(?:-\d{1,5})?$)")
MOST_TRIES = 3_000
"""Stems that are tried for several ids of one stem."""
MOST_NUMBERS = 50_000
"""Numbers that are gone through for one id, those that are taken too."""
ALL_TRIES = 1_000_000
"""Stems that are tried before each id is looked at alone."""


def split_name(name: str) -> tuple[str, str, str]:
    """What a framework put before a name, the name's own part, and numbers and the like behind it."""
    found = _PREFIX.match(name)
    begin = found.end() if found else 0
    tail = _TAIL.search(name, begin)
    end = tail.start() if tail else len(name)
    own = name[begin:end]
    return (name[:begin], own, name[end:]) if re.search("[A-Za-z]", own) else ("", name, "")


@dataclass(slots=True)
class StandIns:
    """Names and what stands for them, by kind; a name that was not known before gets a stand-in when asked for."""

    partitions: int = 50
    topics: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    clients: dict[str, str] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    hosts: dict[str, str] = field(default_factory=dict)
    stems: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    lowest: dict[str, int] = field(default_factory=dict)
    addresses: int = 0
    tries: int = ALL_TRIES
    moved: set[str] = field(default_factory=set)

    def id_of(self, name: str) -> str:
        """The stand-in of a transactional.id."""
        if name and name not in self.ids:
            self.add_ids([name])
        return self.ids.get(name, name)

    def topic_of(self, name: str) -> str:
        """The stand-in of a topic; internal ones are nobody's."""
        if name in INTERNAL or not is_topic(name):
            return name
        if name not in self.topics:
            self.topics[name] = self._elsewhere(name) or self._topic(name)
        return self.topics[name]

    def group_of(self, name: str) -> str:
        """The stand-in of a consumer group."""
        return self._plain(self.groups, name, "group") if name else name

    def client_of(self, name: str) -> str:
        """The stand-in of a client.id."""
        return self._plain(self.clients, name, "client") if name else name

    def host_of(self, name: str) -> str:
        """The stand-in of a host."""
        if name not in self.hosts:
            self.hosts[name] = self._next("host")
        return self.hosts[name]

    def address_of(self, name: str) -> str:
        """The stand-in of an address: one of those that are for tests of networks."""
        if name not in self.hosts:
            self.addresses += 1
            number = self.addresses
            plain = f"198.{18 + number // 65536}.{number // 256 % 256}.{number % 256}"
            self.hosts[name] = f"2001:db8::{number:x}" if ":" in name else plain
        return self.hosts[name]

    def add_ids(self, names: Iterable[str]) -> None:
        """Give ids their stand-ins, those of one stem together."""
        families: dict[tuple[str, str], list[str]] = {}
        for name in sorted(set(names) - set(self.ids)):
            families.setdefault(split_name(name)[:2], []).append(name)
        for (_, stem), members in sorted(families.items()):
            self._add_family(stem, members)

    def _add_family(self, stem: str, members: list[str]) -> None:
        known = self.stems.get(stem)
        if known is not None:
            self._accept({name: self._closest(name, known) for name in members})
            return
        base = self._base_for(members)
        if base is not None:
            self._take(stem, base)
            self._accept({name: _with_stem(name, base) for name in members})
            return
        if all(_RANDOM_END.search(name) for name in members):
            base = self._next("id")
            self._take(stem, base)
            self._accept({name: self._closest(name, base) for name in members})
            return
        for name in members:
            base = self._base_for([name]) or self._next("id")
            self.used.add(base)
            self._accept({name: _with_stem(name, base)})

    def _base_for(self, members: list[str]) -> str | None:
        """A stem with which all of these keep their partition; None where that takes too long to find."""
        needed = self.partitions ** len(members)
        if len(members) > 1 and needed > min(MOST_TRIES, self.tries):
            return None
        wanted = [partition_for(name, self.partitions) for name in members]
        frames = [_with_stem(name, "\0").split("\0") for name in members]
        for base in self._bases("id", max(8 * needed, MOST_NUMBERS)):
            self.tries -= 1
            made = (f"{before}{base}{behind}" for before, behind in frames)
            if all(partition_for(one, self.partitions) == number for one, number in zip(made, wanted, strict=True)):
                return base
        return None

    def _fits(self, name: str, other: str) -> bool:
        return partition_for(name, self.partitions) == partition_for(other, self.partitions)

    def _closest(self, name: str, base: str) -> str:
        """A stand-in on a stem that is given, its random part changed until the partition fits."""
        made = _with_stem(name, base)
        return next((one for one in _variants(made) if self._fits(name, one) and one not in self.used), made)

    def _accept(self, made: dict[str, str]) -> None:
        for name, other in made.items():
            self.ids[name] = other
            self.used.add(other)
            if not self._fits(name, other):
                self.moved.add(name)

    def _bases(self, kind: str, most: int) -> Iterator[str]:
        first = self.lowest.get(kind, 1)
        while f"{kind}-{first}" in self.used:
            first += 1
        self.lowest[kind] = first
        return (base for number in range(first, first + most) if (base := f"{kind}-{number}") not in self.used)

    def _next(self, kind: str) -> str:
        base = next(self._bases(kind, 1 << 60))
        self.used.add(base)
        return base

    def _take(self, stem: str, base: str) -> None:
        self.used.add(base)
        self.stems[stem] = base

    def _plain(self, known: dict[str, str], name: str, kind: str) -> str:
        """A stand-in on the stem's; what contains an id or a group as a whole has its stand-in in its place."""
        if name not in known and (other := self._elsewhere(name)) is not None:
            known[name] = other
        if name not in known:
            prefix, stem, tail = split_name(name)
            inner = name[len(prefix) :]
            if inner in self.ids:
                known[name] = prefix + self.ids[inner]
            else:
                if stem not in self.stems:
                    self._take(stem, self._next(kind))
                known[name] = prefix + self.stems[stem] + tail
        return known[name]

    def _elsewhere(self, name: str) -> str | None:
        """The stand-in that a name has as one of another kind: in free text nobody could tell which is meant."""
        kinds = (self.ids, self.groups, self.clients, self.topics)
        return next((known[name] for known in kinds if name in known), None)

    def _topic(self, name: str) -> str:
        """A topic that a framework made for an application begins with that one's stand-in."""
        tail = _TAIL.search(name)
        if name in self.stems:
            return self.stems[name]
        stems = self.stems if name.endswith(("-changelog", "-repartition")) else ()
        for stem in sorted(stems, key=len, reverse=True):
            if name.startswith(f"{stem}-"):
                return f"{self.stems[stem]}-{self._next('topic')}{tail[0] if tail else ''}"
        return self._next("topic") + (tail[0] if tail and tail.start() else "")

    def mapping(self) -> dict[str, object]:
        """What stands for what, for the file beside the bundle."""
        ids = [
            {
                "name": name,
                "stand_in": other,
                "partition": partition_for(name, self.partitions),
                "stand_in_partition": partition_for(other, self.partitions),
            }
            for name, other in sorted(self.ids.items())
        ]
        kinds = {"topics": self.topics, "client_ids": self.clients, "groups": self.groups, "hosts": self.hosts}
        return {
            "transaction_state_partitions": self.partitions,
            "transactional_ids": ids,
            **{kind: dict(sorted(known.items())) for kind, known in kinds.items()},
        }


def _with_stem(name: str, base: str) -> str:
    prefix, _, tail = split_name(name)
    return prefix + base + tail


def _variants(name: str) -> Iterator[str]:
    """A name, then the same with another random part of the same shape."""
    yield name
    found = _RANDOM_END.search(name)
    if found is None:
        return
    base, text = (10, found[0]) if found["digits"] else (16, found[0])
    width = min(5, len(text))
    for number in range(base**width):
        digits = f"{number:0{width}d}" if base == 10 else f"{number:0{width}x}"
        yield f"{name[: found.end() - width]}{digits}{name[found.end() :]}"
