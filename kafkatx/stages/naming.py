"""The names of a capture's partitions made common: each code is the place of its name among all of them, in order.

So codes say nothing of the order in which files were read, nor where. Grain: one capture.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

import numpy as np

from kafkatx.histories.story import Labels
from kafkatx.kernels.growing import Array
from kafkatx.segments.names import TopicPartition
from kafkatx.stages.partitions import PartitionStory

ID_COLUMNS = ("id_code",)
LIST_COLUMNS = ("partitions_code", "previous_partitions_code")


def named_alike(stories: list[PartitionStory]) -> Labels:
    """Give the partitions of a capture common codes, in place; returns what they stand for."""
    of_states = [story.names for story in stories if story.history is not None]
    ids = sorted(set(chain.from_iterable(names.transactional_ids.values for names in of_states)))
    listed = chain.from_iterable(names.topic_partitions for names in of_states)
    partitions = sorted({*(story.key for story in stories if story.spans is not None), *listed})
    code_of = {key: code for code, key in enumerate(partitions)}
    lists = sorted(set(chain.from_iterable(_lists(story, code_of) for story in stories if story.history is not None)))
    id_code, list_code = {name: code for code, name in enumerate(ids)}, {one: code for code, one in enumerate(lists)}
    for story in stories:
        if story.history is not None:
            new_ids = _codes(id_code[name] for name in story.names.transactional_ids.values)
            new_lists = _codes(list_code[members] for members in _lists(story, code_of))
            _recode(story, new_ids, new_lists)
        if story.spans is not None and story.horizon is not None:
            story.spans.spans["partition_code"] = code_of[story.key]
            story.horizon = replace(story.horizon, partition_code=code_of[story.key])
    return Labels([name.decode("utf-8", "replace") for name in ids], partitions, lists)


def _lists(story: PartitionStory, code_of: dict[TopicPartition, int]) -> Iterable[tuple[int, ...]]:
    """The partition lists of a state partition by common codes."""
    own = [code_of[key] for key in story.names.topic_partitions]
    return (tuple(sorted(own[code] for code in members)) for members in story.names.partition_lists)


def _codes(values: Iterable[int]) -> Array:
    """New codes by old ones; -1 stays -1."""
    return np.array([*values, -1], np.int32)


def _recode(story: PartitionStory, new_ids: Array, new_lists: Array) -> None:
    history = story.history
    assert history is not None
    for table in (history.transactions, history.initialisations, history.oddities, history.latest):
        for name in table.dtype.names or ():
            if name in ID_COLUMNS:
                table[name] = new_ids[table[name]]
            elif name in LIST_COLUMNS:
                table[name] = new_lists[table[name]]
