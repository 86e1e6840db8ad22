"""The names of a capture's partitions made common: each code is the place of its name among all of them, in order.

So codes say nothing of the order in which files were read, nor where. Grain: one capture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TypeVar

import numpy as np

from kafkatx.histories.capture_model import Labels
from kafkatx.kernels.growing import Array
from kafkatx.segments.names import TopicPartition
from kafkatx.stages.partitions import PartitionStory
from kafkatx.terms.records import dataclass

T = TypeVar("T")
ID_COLUMNS = ("id_code",)
LIST_COLUMNS = ("partitions_code", "previous_partitions_code")


@dataclass(frozen=True, slots=True)
class CommonNames:
    """All names of a capture in order: ids as they are stored, partitions, and lists of these by their codes."""

    ids: list[bytes]
    partitions: list[TopicPartition]
    lists: list[tuple[int, ...]]

    @property
    def labels(self) -> Labels:
        """What the common codes stand for."""
        return Labels([name.decode("utf-8", "replace") for name in self.ids], self.partitions, self.lists)


def common_names(models: list[PartitionStory]) -> CommonNames:
    """Collect the names of a capture's partitions."""
    states = _states(models)
    ids = sorted(set(chain.from_iterable(one.names.transactional_ids.values for one in states)))
    listed = chain.from_iterable(one.names.topic_partitions for one in states)
    partitions = sorted({*(one.key for one in models if one.spans is not None), *listed})
    code_of = _places(partitions)
    return CommonNames(ids, partitions, sorted(set(chain.from_iterable(_lists(one, code_of) for one in states))))


def rename(models: list[PartitionStory], names: CommonNames) -> None:
    """Give the names of a capture's partitions their common codes, in place."""
    id_code, code_of, list_code = _places(names.ids), _places(names.partitions), _places(names.lists)
    for model in _states(models):
        new_ids = _codes(id_code[name] for name in model.names.transactional_ids.values)
        _recode(model, new_ids, _codes(list_code[members] for members in _lists(model, code_of)))
        if model.history is not None:
            listed, own = model.history.listed, _codes(code_of[key] for key in model.names.topic_partitions)
            listed["partition_code"] = own[listed["partition_code"]]
    for model in models:
        if model.spans is not None and model.log_extent is not None:
            for rows in (model.spans.spans, model.spans.breaks, model.spans.hiding, model.spans.alone):
                rows["partition_code"] = code_of[model.key]
            model.log_extent = replace(model.log_extent, partition_code=code_of[model.key])


def _states(models: list[PartitionStory]) -> list[PartitionStory]:
    """Those of the coordinator's log."""
    return [model for model in models if model.history is not None]


def _places(names: Iterable[T]) -> dict[T, int]:
    """The code of each name: its place."""
    return {name: code for code, name in enumerate(names)}


def _lists(model: PartitionStory, code_of: dict[TopicPartition, int]) -> Iterable[tuple[int, ...]]:
    """The partition lists of a state partition by common codes."""
    own = [code_of[key] for key in model.names.topic_partitions]
    return (tuple(sorted(own[code] for code in members)) for members in model.names.partition_lists)


def _codes(values: Iterable[int]) -> Array:
    """New codes by old ones; -1 stays -1."""
    return np.array([*values, -1], np.int32)


def _recode(model: PartitionStory, new_ids: Array, new_lists: Array) -> None:
    history = model.history
    assert history is not None
    of_ids = (history.transactions, history.initialisations, history.oddities, history.latest)
    for table in (*of_ids, history.counted, history.listed):
        for name in table.dtype.names or ():
            if name in ID_COLUMNS:
                table[name] = new_ids[table[name]]
            elif name in LIST_COLUMNS:
                table[name] = new_lists[table[name]]
