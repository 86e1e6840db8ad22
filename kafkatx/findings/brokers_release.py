"""The release of the brokers as far as evidence tells it, and advice held against it.

Order  what the user says; what brokers print of themselves; what a page says of Kafka, unless that is the release of a
       client on it (the library prints its own by the same words). Of several on a page the newest counts: advice for a
       newer one that brokers do not answer costs a try, a claim that they are older would hide what works.
"""

from __future__ import annotations

from dataclasses import replace

from kafkatx.histories.capture_model import DEFAULT_STATE_PARTITIONS, CaptureModel
from kafkatx.terms.catalogue.releases import parse_release
from kafkatx.terms.topics import partition_for
from kafkatx.words.explanation import Spoken
from kafkatx.words.tools import considered_for, remedy_for


def brokers_release(model: CaptureModel) -> tuple[int, ...]:
    """Return the release of the brokers, empty where nothing tells it."""
    return model.facts.release or model.logs.settings.release or _on_pages(model)


def _on_pages(model: CaptureModel) -> tuple[int, ...]:
    clients = {client.release for client in model.logs.clients}
    told = {
        parse_release(release).numbers
        for source in model.logs.facts.sources
        for product, release in source.releases
        if product == "Kafka"
    }
    return max(told - clients, default=())


def with_release(model: CaptureModel, said: Spoken) -> Spoken:
    """Say only what brokers of this release answer."""
    release = brokers_release(model)
    if not release:
        return said
    count = model.state_partition_count or DEFAULT_STATE_PARTITIONS
    return replace(
        said,
        considered=tuple(considered_for(one, release) for one in said.considered),
        remedies=tuple(remedy_for(one, release, lambda name: partition_for(name, count)) for one in said.remedies),
    )
