"""client_bug of a client that raises its epoch and counts on in its other partitions, as leaders refuse it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.verdicts import Verdict

WORDINGS = (
    "Invalid sequence number for new epoch of producer {producer}at offset {offset} in partition multi-{partition}: "
    "{epoch} (request epoch), {sequence} (seq. number), {known} (current producer epoch)",
    "Invalid sequence number for new epoch of producer {producer} at offset {offset} in partition multi-{partition}: "
    "{epoch} (request epoch), {sequence} (seq. number), {known} (current producer epoch)",
)
"""Of 3.5 and later, and of 2.8 to 3.4."""
Refusal = tuple[int, int, int]
"""Partition, epoch, sequence."""


def _log(refusals: list[Refusal], wording: str, producers: tuple[int, ...] = (9,)) -> str:
    lines = []
    for at, (partition, epoch, sequence) in enumerate(refusals):
        said = wording.format(
            producer=producers[at % len(producers)], offset=300 + at, partition=partition, epoch=epoch,
            sequence=sequence, known=3,
        )  # fmt: skip
        lines.append(
            f"[2026-09-15 17:20:{at:02},611] ERROR [ReplicaManager broker=1] Error processing append operation on "
            f"partition multi-{partition} (kafka.server.ReplicaManager)\n"
            f"org.apache.kafka.common.errors.OutOfOrderSequenceException: {said}\n"
        )
    return "".join(lines)


def _told(folder: Path, text: str) -> dict[str, Verdict]:
    path = folder / "server.log"
    path.write_text(text)
    return {one.finding.rule: one.finding.verdict for one in diagnose([path]).findings}


@pytest.mark.parametrize("wording", WORDINGS, ids=["3.5", "2.8"])
@pytest.mark.parametrize("partitions", [*permutations(range(3)), (1, 2, 1), (2, 0)], ids=str)
def test_each_refusal_under_a_higher_epoch_in_another_partition(partitions, wording, tmp_path):
    refusals = [(partition, 4 + at, 117 + at) for at, partition in enumerate(partitions)]
    told = _told(tmp_path, _log(refusals, wording))
    assert told["client_bug"] is Verdict.likely
    assert told["sequence_gap"] is Verdict.possible


def test_a_refusal_that_is_repeated_is_still_one(tmp_path):
    told = _told(tmp_path, _log([(1, 4, 120), (1, 4, 120), (2, 5, 117)], WORDINGS[0]))
    assert told["client_bug"] is Verdict.likely


@pytest.mark.parametrize(
    "refusals",
    [
        [(1, 4, 120)],
        [(1, 4, 120), (2, 4, 117)],
        [(1, 4, 120), (1, 5, 121), (1, 6, 122)],
        [(1, 5, 120), (2, 4, 117)],
        [(1, 3, 120), (2, 3, 117)],
    ],
    ids=["once", "one epoch", "one partition", "epochs fall", "an epoch that the leader knows"],
)
def test_one_epoch_or_one_partition_may_have_lost_its_first_batch(refusals, tmp_path):
    told = _told(tmp_path, _log(refusals, WORDINGS[0]))
    assert "client_bug" not in told
    assert told["sequence_gap"] is Verdict.likely


def test_two_producers_are_two_stories(tmp_path):
    assert "client_bug" not in _told(tmp_path, _log([(1, 4, 120), (2, 5, 117)], WORDINGS[0], producers=(9, 10)))
