"""What is said of a capture does not depend on how many of its transactions are held and how many only counted."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.looking import LooksHere
from kafkatx.findings.diagnosis import Selection
from kafkatx.histories.counted import Counted
from kafkatx.histories.extremes import extremes
from kafkatx.histories.producers_clocks import median_with_zeros
from kafkatx.kernels.rows import COUNTED
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.decoding import facts_of_task
from kafkatx.stages.fact_batches import ORDER, ORDER_OF_CAPTURES
from kafkatx.stages.facts import CaptureFact
from kafkatx.stages.folding import RereadPolicy, folded
from kafkatx.stages.joined_partitions import joined_partitions
from kafkatx.stages.judging import diagnosed, united
from kafkatx.stages.models import JudgedCapture, Telling, models, open_evidence
from kafkatx.stages.passes import Marks, named_in, suspected
from kafkatx.stages.suspects import Suspect
from kafkatx.stages.tasks import tasks
from tests.benchmarks import generate, skewed
from tests.benchmarks.skewed_transactions import giant_state
from tests.evidence import all_cases, broker_folders
from tests.simulated.copies import choose, taken
from tests.simulated.faults import inject
from tests.simulated.scenarios import prepared
from tests.two_passes import named_here

ON_DISK = [case for case in all_cases() if broker_folders(case)]
STEP = 8
"""Every eighth case is tried in each run, the others with `-m repeats`."""
SEEDS, FEWEST_SEEDS = 400, 8
PLACES = {"first_offset": "at"}


def in_order(facts: Iterable[CaptureFact], order: tuple[str, ...]) -> list[CaptureFact]:
    """What Spark's shuffle does between two stages."""
    names = [PLACES.get(name, name) for name in order if name != "piece"]
    return sorted(facts, key=lambda fact: tuple(int(getattr(fact, name)) for name in names))


def stories_of(captures: list[Capture], held_up_to: int | None) -> Iterable[JudgedCapture]:
    """The models of captures, by the stages of Spark in this process."""
    found = tasks(captures, is_light=False)
    facts = in_order((fact for task in found for fact in facts_of_task(task)), ORDER)
    facts = in_order(folded(facts, RereadPolicy()), ORDER)
    facts = in_order(joined_partitions(facts), ORDER_OF_CAPTURES)
    return (model for _, model in models(facts, Telling(held_up_to=held_up_to)))


def told(paths: list[Path], held_up_to: int | None = 0) -> tuple[dict[str, Any], int, int]:
    """The document, and how many transactions were counted and held."""
    counted = held = 0
    parts = []
    for story in stories_of(open_evidence(paths).captures, held_up_to):
        counted += story.model.counted.transactions
        held += len(story.model.transactions)
        parts.append(diagnosed(story, Selection()))
    return document(united(parts, open_evidence(paths).others), ""), counted, held


def assert_alike(paths: list[Path]) -> tuple[int, int]:
    found, counted, held = told(paths)
    assert found == document(diagnose(paths), "")
    return counted, held


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=pytest.mark.repeats if number % STEP else ())
        for number, case in enumerate(ON_DISK)
    ],
)
def test_every_recorded_case(case: Path) -> None:
    assert_alike(broker_folders(case))


@pytest.mark.parametrize(
    "seed",
    [pytest.param(seed, marks=pytest.mark.repeats if seed % (SEEDS // FEWEST_SEEDS) else ()) for seed in range(SEEDS)],
)
def test_simulated_clusters(seed: int, tmp_path: Path) -> None:
    made = prepared(seed)
    inject(made)
    made.cluster.clockwork.run(made.end)
    assert_alike(taken(made, replace(choose(made), has_logs=False), tmp_path))


def test_nearly_all_of_a_large_cluster_are_counted(tmp_path: Path) -> None:
    transactions = 20 * 64 * 4
    counted, held = assert_alike([generate.spread(tmp_path / "spread", transactions, coordinators=4)])
    assert counted + held == transactions
    assert counted > 0.7 * transactions


@pytest.mark.parametrize("kept", [0, 1])
def test_data_whose_rows_are_gone_are_counted_too(kept: int, tmp_path: Path) -> None:
    directory = generate.spread(tmp_path / "spread", 3 * 64 * 8, coordinators=3)
    for folder in sorted(directory.glob("__transaction_state-*"))[kept:]:
        shutil.rmtree(folder)
    assert_alike([directory])
    (story,) = stories_of(open_evidence([directory]).captures, 0)
    alone, spans = int(story.model.counted.alone["spans"].sum()), len(story.model.spans)
    assert alone > spans
    assert alone + spans + 2 * story.model.counted.transactions == 2 * 3 * 64 * 8


def test_what_is_planted_among_many_is_found(tmp_path: Path) -> None:
    counted, held = assert_alike([skewed.write(tmp_path / "skewed", giant_state(400))])
    assert counted > held


def test_a_first_pass_names_what_it_would_of_all(tmp_path: Path) -> None:
    generated = generate.spread(tmp_path / "spread", 2 * 64 * 8, coordinators=2)
    for paths in ([generated], *(broker_folders(case) for case in ON_DISK[::STEP])):
        counted, named = 0, 0

        def name(captures: list[Capture], marks: list[Marks]) -> list[set[Suspect]]:
            nonlocal counted, named
            found = named_here(captures, marks)
            for told, of_capture, wanted in zip(stories_of(captures, 0), marks, found, strict=True):
                counted, named = counted + told.model.counted.transactions, named + len(wanted)
                at_hand = named_in(told, of_capture)
                assert [one for one in wanted if not any(covers(other, one) for other in at_hand)] == []
            return found

        suspected(open_evidence(paths).captures, name, LooksHere(), 0)
        assert paths != [generated] or (counted and named)


def covers(one: Suspect, other: Suspect) -> bool:
    """Whether who reads what is suspect by one reads what is by another."""
    same = one.key == other.key and one.is_serious >= other.is_serious
    if other.first_offset is not None:
        return same and (one.first_offset, one.last_offset) == (other.first_offset, other.last_offset)
    return same and one.first_offset is None and one.since <= other.since and one.until >= other.until


def test_few_transactions_are_all_held(tmp_path: Path) -> None:
    directory = generate.spread(tmp_path / "spread", 64 * 4, coordinators=2)
    assert told([directory], 64 * 4)[1:] == (0, 64 * 4)
    assert told([directory], None)[1:] == (0, 64 * 4)


def test_logs_may_ask_for_any_transaction() -> None:
    case = next(case for case in ON_DISK if case.name == "k39-healthy")
    paths = [*broker_folders(case), case / "logs"]
    assert told(paths)[1] == 0
    assert told(broker_folders(case))[1] > 0


def test_extremes_are_those_of_each_group() -> None:
    chance = np.random.default_rng(3)
    values, one, other = chance.integers(0, 50, 400), chance.integers(0, 5, 400), chance.integers(0, 3, 400)
    found = {(one[at], other[at], values[at]) for at in extremes(values, one, other).tolist()}
    alike = {key: values[(one == key[0]) & (other == key[1])] for key in zip(one, other, strict=True)}
    assert found == {(*key, end) for key, mine in alike.items() for end in (mine.min(), mine.max())}
    assert sorted(values[extremes(values)].tolist()) == [values.min(), values.max()]
    assert len(extremes(values[:0])) == 0


@pytest.mark.parametrize("zeros", [0, 1, 2, 7, 40])
def test_a_median_with_zeros_is_that_of_all(zeros: int) -> None:
    chance = np.random.default_rng(zeros)
    for size in range(1, 12):
        values = chance.integers(-9, 9, size)
        assert median_with_zeros(values, zeros) == int(np.median([*values.tolist(), *[0] * zeros]))


def test_what_is_counted_is_told_by_id_and_producer() -> None:
    rows = np.zeros(3, COUNTED)
    rows["id_code"], rows["producer_id"], rows["transactions"] = (0, 0, 2), (7, 8, 7), (5, 3, 1)
    counted = Counted(rows)
    assert (counted.transactions, counted.of_id(0), counted.of_id(0, 8), counted.of_id(1)) == (9, 8, 3, 0)
    assert counted.by_id(4).tolist() == [8, 0, 1, 0]
