"""The tables of a model with names in place of codes: equal for equal histories, however their files were met."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel

Table = np.ndarray[Any, np.dtype[Any]]


def named_tables(model: CaptureModel) -> dict[str, Table]:
    """Return every table in an order of its own, each code replaced by the rank of the name it stands for."""
    ranks = _Ranks(model)
    tables = {
        "transactions": model.transactions,
        "initialisations": model.initialisations,
        "oddities": model.oddities,
        "latest": model.latest,
        "spans": model.spans,
        "participations": model.parts.rows,
    }
    return {name: np.sort(ranks.named(table)) for name, table in tables.items()}


def names(model: CaptureModel) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the transactional.ids and the topic-partitions of a model, sorted."""
    return sorted(model.labels.transactional_ids), sorted(model.labels.topic_partitions)


def differences(one: CaptureModel, other: CaptureModel) -> list[str]:
    """Say which tables differ; empty for equal histories."""
    if names(one) != names(other):
        return ["names"]
    before, after = named_tables(one), named_tables(other)
    return [name for name in before if not np.array_equal(before[name], after[name])]


class _Ranks:
    """Rank of each code's name, by column."""

    def __init__(self, model: CaptureModel) -> None:
        labels = model.labels
        lists = [tuple(sorted(labels.topic_partitions[code] for code in codes)) for codes in labels.partition_lists]
        self.columns = {
            "id_code": _ranks(labels.transactional_ids),
            "partition_code": _ranks(labels.topic_partitions),
            "partitions_code": _ranks(lists),
            "previous_partitions_code": _ranks(lists),
        }

    def named(self, table: Table) -> Table:
        """Return a copy with ranks for codes; -1 stays."""
        result = table.copy()
        for column, ranks in self.columns.items():
            if column in (result.dtype.names or ()):
                codes = table[column]
                result[column] = np.where(codes >= 0, ranks[np.maximum(codes, 0)], -1)
        return result


def _ranks(labels: Sequence[Any]) -> Table:
    place = {label: rank for rank, label in enumerate(sorted(set(labels)))}
    return np.array([place[label] for label in labels] or [0], np.int64)
