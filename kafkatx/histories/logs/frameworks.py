"""Which framework an id of a capture belongs to, from all signs that the capture holds."""

from __future__ import annotations

import numpy as np

from kafkatx.histories.growing import Array
from kafkatx.histories.logs.story import ClientInstance
from kafkatx.histories.story import Story
from kafkatx.terms.frameworks import Framework, Signs, recognise
from kafkatx.terms.setting_names import kafka_name

PREFIXES = ("transaction-id-prefix", "application.id")
MOST_SIBLINGS = 1_000
"""Ids beside it that are looked at; a family shows in fewer."""


def framework_of(story: Story, transactional_id: str | None, client: ClientInstance | None = None) -> Framework | None:
    """Return the framework of a transactional.id; `client` is one of its instances, else all that bear the id count."""
    if transactional_id is None:
        return None
    clients = [client] if client else list(story.logs.clients_of(transactional_id))
    ids = story.labels.transactional_ids
    return recognise(
        Signs(
            transactional_id,
            client_id=next((one.client_id for one in clients if one.client_id), None),
            loggers=_strings(story, clients, "logger"),
            topics=_topics(story, transactional_id),
            groups=_strings(story, clients, "group") | _set_in(story, "group.id"),
            siblings=[
                *ids[:MOST_SIBLINGS],
                *(one.transactional_id or "" for one in story.logs.clients[:MOST_SIBLINGS]),
            ],
            prefixes=_prefixes(story, transactional_id),
            implementation=next((one.implementation for one in clients if one.implementation != "unknown"), None),
        )
    )


def _strings(story: Story, clients: list[ClientInstance], column: str) -> set[str]:
    """What stands in a column of the lines of the sources that these clients logged to."""
    events: Array = story.logs.events
    codes = events[f"{column}_code"][np.isin(events["source"], [client.source for client in clients])]
    return {story.logs.facts.strings[code] for code in np.unique(codes).tolist() if code >= 0}


def _topics(story: Story, transactional_id: str) -> set[str]:
    """Topics that the transactions of an id list."""
    names = story.labels.transactional_ids
    if transactional_id not in names:
        return set()
    rows = story.transactions[story.transactions_of(names.index(transactional_id))]
    lists = {int(code) for code in np.unique(rows["partitions_code"]) if code >= 0}
    return {story.topic_partition(member)[0] for code in lists for member in story.labels.partition_lists[code]}


def _set_in(story: Story, name: str) -> set[str]:
    return {
        setting.value for setting in story.logs.facts.settings if kafka_name(setting.name) == name and setting.value
    }


def _prefixes(story: Story, transactional_id: str) -> dict[str, str]:
    """The longest value of each setting that gives ids their beginning, of those that this id begins with."""
    found = {name: [value for value in _set_in(story, name) if transactional_id.startswith(value)] for name in PREFIXES}
    return {name: max(values, key=len) for name, values in found.items() if values}
