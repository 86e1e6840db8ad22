"""Names of captures without a cluster.id, which stay the same over the runs of an export.

Such a capture is called after its first batches, and retention takes these away. So a manifest keeps some batches of
each, the first one of its newest segments; a capture of a later run that holds one of them is the same, and is given
its name. `first` are the first batches of its partitions: of all runs together they are what findings' ids begin with.
Of captures of logs alone the beginnings of the logs are kept: one that grew, or was rotated away, begins as before.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.clusters import BatchKey, first_batches
from kafkatx.evidence.item import Item, Kind
from kafkatx.sources.files import OpenFile
from kafkatx.stages.logs import log_items

SEGMENTS_KEPT = 4
"""Segments of a partition, the newest, of which the first batch is kept: a run finds one of them while any is there."""
MOST_KEPT = 4_096
"""Batches that are kept of a capture."""
SHORTEST, BEGINNING = 256, 16_384
"""Bytes of a log that tell it again: at least and at most so many of its beginning."""


def captures_kept(captures: Iterable[Capture]) -> list[dict[str, Any]]:
    """Return what a manifest keeps of captures: their names, of nameless ones with batches that tell them again."""
    return [{"name": one.name, **({} if one.cluster_id else _kept(one) | _logs_kept(one))} for one in captures]


def _kept(capture: Capture) -> dict[str, list[Any]]:
    files = [items for _, items in sorted(_segments(capture).items())]
    newest = [_first(item) for items in files for item in items[-SEGMENTS_KEPT:]]
    return {
        "first": [key for items in files for item in items[:1] for key in _first(item)],
        "batches": [key for keys in newest for key in keys][:MOST_KEPT],
    }


def _logs_kept(capture: Capture) -> dict[str, list[Any]]:
    """Bytes and SHA-256 of the beginnings of logs, where there is nothing else."""
    if any(directory.partitions for directory in capture.directories):
        return {}
    sizes = ((min(item.size, BEGINNING), item) for item in _logs(capture))
    return {"logs": [[size, sum_of] for size, item in sizes if (sum_of := _sum(item, size)) is not None]}


def _logs(capture: Capture) -> list[Item]:
    return [item for item in log_items(capture) if item.kind is Kind.TEXT_LOG]


def _sum(item: Item, size: int) -> str | None:
    """SHA-256 of the first bytes of a log; None where it has not so many, or too few to tell it from others."""
    if not SHORTEST <= size <= item.size:
        return None
    with contextlib.suppress(OSError), OpenFile(item.path) as file:
        return hashlib.sha256(file.read(item.part.position if item.part else 0, size)).hexdigest()
    return None


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
    known, begun = ([*_known(manifest)], [*_begun(manifest)]) if manifest else ([], [])
    found: dict[str, str] = {}
    for capture in captures if known or begun else ():
        if capture.cluster_id is None:
            keys = {key for items in _segments(capture).values() for item in items for key in first_batches(item)}
            name = next((name for name, batches in known if batches & keys), None) or _name_by_logs(capture, begun)
            if name is not None:
                found.update({directory.path: name for directory in capture.directories})
                found.update({item.data_directory: name for item in capture.others} if not keys else {})
    return found


def _name_by_logs(capture: Capture, begun: list[tuple[str, int, str]]) -> str | None:
    """The name of a capture whose log begins as one of this one does."""
    logs = _logs(capture)
    return next((name for name, size, known in begun if any(_sum(item, size) == known for item in logs)), None)


def _begun(manifest: dict[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Names of captures of logs alone, with bytes and SHA-256 of the beginning of each log, the newest run first."""
    for one in _captures(manifest):
        yield from ((str(one["name"]), int(size), str(sum_of)) for size, sum_of in one.get("logs", ()))


def _known(manifest: dict[str, Any]) -> Iterator[tuple[str, set[BatchKey]]]:
    """Names and batches of nameless captures, those of the newest run first."""
    for one in _captures(manifest):
        batches = keys_of(one, "batches")
        if batches:
            yield str(one["name"]), batches


def _captures(manifest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the manifest keeps of captures, that of the newest run first."""
    runs = manifest.get("runs")
    for run in reversed(runs if isinstance(runs, list) else []):
        yield from run.get("captures", ())


def keys_of(kept: dict[str, Any], name: str) -> set[BatchKey]:
    """Return batches that a manifest keeps of a capture: `first` or `batches`; none of one with a cluster.id."""
    return {(str(topic), int(number), int(at), int(crc)) for topic, number, at, crc in kept.get(name, ())}
