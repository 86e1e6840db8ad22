"""Prefixes of transactional.ids that several running instances have in common, where each should have its own.

spring-kafka counts its producers: prefix and a number, from 0 in every instance. Instances with one prefix use the same
ids and fence each other. Where living owners lose ids of one prefix to each other in both directions, none of them is
an old instance that somebody forgot to stop: both are wanted, and the prefix is what has to differ.

Limits    one direction alone may be a deployment; who the owners were only their logs tell.
Source    DefaultKafkaProducerFactory (transactionIdPrefix, transactionIdSuffix), spring-kafka 2.0 to 3.3.
"""

from __future__ import annotations

from typing import Any

from kafkatx.findings.client_lines import source_name
from kafkatx.findings.finding import Finding
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.fencings import fencings
from kafkatx.histories.logs.once import once
from kafkatx.terms.catalogue.frameworks import FrameworkName
from kafkatx.terms.records import dataclass
from kafkatx.words.values import NameList


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """A prefix and the logs of the instances that have it, by the numbers of their sources."""

    prefix: str
    sources: tuple[int, ...]


@once
def _shared(model: CaptureModel) -> dict[str, SharedPrefix]:
    """Prefixes by the ids that begin with them."""
    members: dict[str, set[str]] = {}
    for name in {client.transactional_id for client in model.logs.clients}:
        found = framework_of(model, name)
        if name is not None and found is not None and found.name is FrameworkName.SPRING and found.member:
            members.setdefault(found.member, set()).add(name)
    shared: dict[str, SharedPrefix] = {}
    for prefix, names in members.items():
        ways = {way for name in names for way in _ways(model, name)}
        sources = {source for way in ways if way[::-1] in ways for source in way}
        if sources:
            shared |= dict.fromkeys(names, SharedPrefix(prefix, tuple(sorted(sources))))
    return shared


def _ways(model: CaptureModel, name: str) -> set[tuple[int, int]]:
    """From which log to which other an id went while the first owner was alive."""
    pairs = ((taken.old_client, taken.new.client) for taken in fencings(model.logs, name) if taken.was_alive)
    found = {(old.source, new.source) for old, new in pairs if old is not None and new is not None}
    return {way for way in found if way[0] != way[1]}


def shared_prefix(model: CaptureModel, name: str | None) -> SharedPrefix | None:
    """Return the prefix of an id that several running instances have; None where nothing shows that."""
    return _shared(model).get(name) if name is not None else None


def prefix_facts(model: CaptureModel, name: str | None) -> dict[str, Any]:
    """Return what facts have of it: the `prefix`, and the logs of its `sharers`."""
    shared = shared_prefix(model, name)
    sources = shared.sources if shared is not None else ()
    return {
        "prefix": shared.prefix if shared is not None else None,
        "sharers": NameList(source_name(model, source) for source in sources),
    }


def same_prefix(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """The same id, or ids of one prefix that running instances share."""
    if cause.transactional_id is None or effect.transactional_id is None:
        return False
    one, other = shared_prefix(model, cause.transactional_id), shared_prefix(model, effect.transactional_id)
    return cause.transactional_id == effect.transactional_id or (one is not None and one == other)
