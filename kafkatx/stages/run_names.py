"""Names of captures without a cluster.id, which stay the same over the runs of an export.

Such a capture is called after its first batches, and retention takes these away. So a manifest keeps some batches of
each, the first one of its newest segments; a capture of a later run that holds one of them is the same, and is given
its name. `first` are the first batches of its partitions: of all runs together they are what findings' ids begin with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.clusters import BatchKey, first_batches
from kafkatx.evidence.item import Item, Kind

SEGMENTS_KEPT = 4
"""Segments of a partition, the newest, of which the first batch is kept: a run finds one of them while any is there."""
MOST_KEPT = 4_096
"""Batches that are kept of a capture."""


def captures_kept(captures: Iterable[Capture]) -> list[dict[str, Any]]:
    """Return what a manifest keeps of captures: their names, of nameless ones with batches that tell them again."""
    return [{"name": one.name, **({} if one.cluster_id else _kept(one))} for one in captures]


def _kept(capture: Capture) -> dict[str, list[Any]]:
    files = [items for _, items in sorted(_segments(capture).items())]
    newest = [_first(item) for items in files for item in items[-SEGMENTS_KEPT:]]
    return {
        "first": [key for items in files for key in _first(items[0])],
        "batches": [key for keys in newest for key in keys][:MOST_KEPT],
    }


def _first(item: Item) -> list[BatchKey]:
    return sorted(first_batches(item))[:1]


def _segments(capture: Capture) -> dict[tuple[str, int], list[Item]]:
    logs = capture.entries(Kind.LOG)
    return {
        key: sorted((item for item in items if item.part is None), key=lambda item: (item.base_offset, item.path))
        for key, items in logs.items()
    }


def names_kept(captures: Iterable[Capture], manifest: dict[str, Any] | None) -> dict[str, str]:
    """Return the names that captures had in earlier runs, by the paths of their data directories.

    `manifest` is that of the export, None where there is none.
    """
    known = [*_known(manifest)] if manifest else []
    found: dict[str, str] = {}
    for capture in captures if known else ():
        if capture.cluster_id is None and capture.directories:
            keys = {key for items in _segments(capture).values() for item in items for key in first_batches(item)}
            name = next((name for name, batches in known if batches & keys), None)
            if name is not None:
                found.update({directory.path: name for directory in capture.directories})
    return found


def _known(manifest: dict[str, Any]) -> Iterator[tuple[str, set[BatchKey]]]:
    """Names and batches of nameless captures, those of the newest run first."""
    runs = manifest.get("runs")
    for run in reversed(runs if isinstance(runs, list) else []):
        for one in run.get("captures", ()):
            batches = keys_of(one, "batches")
            if batches:
                yield str(one["name"]), batches


def keys_of(kept: dict[str, Any], name: str) -> set[BatchKey]:
    """Return batches that a manifest keeps of a capture: `first` or `batches`; none of one with a cluster.id."""
    return {(str(topic), int(number), int(at), int(crc)) for topic, number, at, crc in kept.get(name, ())}
