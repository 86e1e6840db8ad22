"""Legal clusters accuse nobody who is healthy; what was broken is found where the evidence is whole."""

import pytest

from tests.simulated.judging import judged
from tests.simulated.run import shown

SEEDS = 100
SHARE = 10
"""Clusters of one test."""


@pytest.mark.parametrize("first", range(0, SEEDS, SHARE))
def test_simulated_clusters_are_told_as_they_were(first):
    results = [judged(seed) for seed in range(first, first + SHARE)]
    assert {one.seed: shown(one.false) for one in results if one.false} == {}
    assert [(one.seed, fault) for one in results for fault in one.faults if fault[1] == "missed"] == []
