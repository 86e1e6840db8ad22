"""Which framework an id of a capture belongs to, from all signs that the capture holds.

Rules ask for the same ids again and again, so answers are kept as long as the model, and what all ids share (names,
settings, the words of a source) is gathered once.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.kernels.distinct import distinct, distinct_rows
from kafkatx.kernels.growing import Array
from kafkatx.terms.catalogue.frameworks import Framework, Signs, recognise
from kafkatx.terms.catalogue.setting_names import kafka_name
from kafkatx.terms.events import EventKind

PREFIXES = ("transaction-id-prefix", "application.id")
MOST_SIBLINGS = 1_000
"""Ids beside it that are looked at; a family shows in fewer."""


def framework_of(
    model: CaptureModel, transactional_id: str | None, client: ClientInstance | None = None
) -> Framework | None:
    """Return the framework of a transactional.id; `client` is one of its instances, else all that bear the id count."""
    if transactional_id is None:
        return None
    return _shared(model).framework(model, transactional_id, client)


@once
def _shared(model: CaptureModel) -> _Shared:
    return _Shared(model)


class _Shared:
    """What the ids of a model have in common as signs, and the frameworks that were found with it."""

    def __init__(self, model: CaptureModel) -> None:
        ids, clients = model.labels.transactional_ids, model.logs.clients
        self.siblings = [
            *ids[:MOST_SIBLINGS],
            *(one.transactional_id or "" for one in clients[:MOST_SIBLINGS]),
            *_initialised(model.logs)[:MOST_SIBLINGS],
        ]
        self.words = {column: _by_source(model.logs, column) for column in ("logger", "group")}
        self.values = _values(model.logs, (*PREFIXES, "group.id"))
        self.found: dict[tuple[str, int | None], Framework | None] = {}

    def framework(self, model: CaptureModel, transactional_id: str, client: ClientInstance | None) -> Framework | None:
        """The framework behind an id, recognised the first time it is asked for."""
        key = transactional_id, client.number if client is not None else None
        if key not in self.found:
            self.found[key] = recognise(self._signs(model, transactional_id, client))
        return self.found[key]

    def _signs(self, model: CaptureModel, transactional_id: str, client: ClientInstance | None) -> Signs:
        clients = [client] if client else list(model.logs.clients_of(transactional_id))
        return Signs(
            transactional_id,
            client_id=next((one.client_id for one in clients if one.client_id), None),
            loggers=self._said("logger", clients),
            topics=model.topics_of(model.id_code(transactional_id)),
            groups=self._said("group", clients) | self.values["group.id"],
            siblings=self.siblings,
            prefixes=self._prefixes(transactional_id),
            implementation=next((one.implementation for one in clients if one.implementation != "unknown"), None),
        )

    def _said(self, column: str, clients: list[ClientInstance]) -> set[str]:
        """What stands in a column of the lines of the sources that these clients logged to."""
        of_sources = self.words[column]
        return {word for source in {client.source for client in clients} for word in of_sources.get(source, ())}

    def _prefixes(self, transactional_id: str) -> dict[str, str]:
        """The longest value of each setting that gives ids their beginning, of those that this id begins with."""
        found = {
            name: [value for value in self.values[name] if transactional_id.startswith(value)] for name in PREFIXES
        }
        return {name: max(values, key=len) for name, values in found.items() if values}


def _initialised(logs: LogModel) -> list[str]:
    """The ids that coordinators' lines name."""
    codes = distinct(logs.events["transactional_id_code"][logs.of_kind(EventKind.initialized)])
    return [logs.facts.strings[code] for code in codes.tolist() if code >= 0]


def _by_source(logs: LogModel, column: str) -> dict[int, set[str]]:
    """The strings in a column of the lines of each source."""
    events: Array = logs.events
    said = events[f"{column}_code"] >= 0
    pairs = np.stack((events["source"][said], events[f"{column}_code"][said]), axis=1)
    found: dict[int, set[str]] = defaultdict(set)
    for source, code in distinct_rows(pairs).tolist():
        found[source].add(logs.facts.strings[code])
    return found


def _values(logs: LogModel, names: tuple[str, ...]) -> dict[str, set[str]]:
    """What settings of these names are set to anywhere."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for setting in logs.facts.settings:
        if setting.value and (name := kafka_name(setting.name)) in found:
            found[name].add(setting.value)
    return found
