"""The clients that a nameless line may be of: gathered once a source, since lines and clients may both be many."""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.growing import Array
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Fitting:
    """Producers, or consumers, of a source: in order, as a set, and those of them with a transactional.id."""

    numbers: list[int]
    set: frozenset[int]
    transactional: list[int]


@dataclass(frozen=True, slots=True)
class NamedOwner:
    """Times in order, and whose line it was; `changes` counts how often that changed so far."""

    times: Array
    owners: Array
    changes: Array

    @staticmethod
    def of(told: list[tuple[int, int]]) -> NamedOwner:
        """Put (time, owner) in order."""
        times, owners = np.array(sorted(told), np.int64).T
        return NamedOwner(times, owners, np.cumsum(np.diff(owners, prepend=owners[0]) != 0))
