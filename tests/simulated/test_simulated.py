"""Legal clusters accuse nobody who is healthy; what was broken is found where the evidence is whole."""

import pytest

from tests.simulated.judging import judged
from tests.simulated.run import shown

SEEDS = 100
SHARE = 10
"""Clusters of one test."""
LEAST_FOUND = 0.95
"""Of the faults that were made; the rest is said to be not checkable."""


@pytest.mark.parametrize("first", range(0, SEEDS, SHARE))
def test_simulated_clusters_are_told_as_they_were(first):
    results = [judged(seed) for seed in range(first, first + SHARE)]
    assert {one.seed: shown(one.false) for one in results if one.false} == {}
    faults = [(one.seed, *fault) for one in results for fault in one.faults if not fault[0].endswith("compacted")]
    assert [fault for fault in faults if fault[2] == "missed"] == []
    assert sum(fault[2] == "found" for fault in faults) >= LEAST_FOUND * len(faults) - 1
