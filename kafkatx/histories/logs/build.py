"""From the facts of logs to their model: clocks first, then the clients, whose times are the brokers' by then.

Clients that print their producer id and no transactional.id (librdkafka) have the id that the coordinator gave it to;
where that is another one than a client's context says, the context lies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.clients import clients
from kafkatx.histories.logs.clocks import Grants, References, clocks
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.text.events import LogFacts

MOST_GRANTS = 8
"""Grants of one client that are looked at; more tell nothing new."""

_Grants = tuple[tuple[Grants, Sequence[str]], ...]
"""Grants as rows and as brokers' logs show them, each with the names behind its numbers."""


def build_log_model(facts: LogFacts, references: References | None = None, log_zone_ms: int | None = None) -> LogModel:
    """Interpret logs and settings of one capture.

    `references` are times that the coordinator's rows know of events which logs show too; `log_zone_ms` is the zone of
    sources whose times name none (what is to be subtracted to get UTC), None to estimate it.
    """
    known = references or References()
    model = clients(LogModel(facts, clocks(facts, known, log_zone_ms)))
    grants = ((known.grants(), known.transactional_ids), (_told_by_brokers(model), facts.strings))
    return replace(model, clients=tuple(_named(client, grants) for client in model.clients))


def _told_by_brokers(model: LogModel) -> Grants:
    rows = model.of_kind(EventKind.initialized)
    e = model.events[rows]
    return Grants.of(e["producer_id"], e["producer_epoch"], e["transactional_id_code"], model.times[rows])


def _named(client: ClientInstance, grants: _Grants) -> ClientInstance:
    """Give a client the id that its producer ids were given to, or note that its context names another."""
    names = set(_names(client, grants))
    if client.transactional_id is None:
        return replace(client, transactional_id=names.pop()) if len(names) == 1 else client
    return replace(client, owns_producer_ids=False) if names and names != {client.transactional_id} else client


def _names(client: ClientInstance, grants: _Grants) -> Iterator[str]:
    """Ids that its producer ids were given to at that time; skew is not taken off, the same grants may have told it."""
    for given in client.initialisations[:MOST_GRANTS]:
        if given.at is None:
            continue
        for known, names in grants:
            near = known.names_near(given.producer_id, given.producer_epoch, given.at, CLIENT_TOLERANCE_MS)
            yield from (names[number] for number in near)
