"""A file that several threads read in stretches tells what one walk tells: rows, coverage, damage, what is lost."""

import random
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.parted import PartedFile, Reads
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.kernels import engine
from kafkatx.segments import batches as walks
from kafkatx.sources.ahead import Ahead
from kafkatx.stages.read_ahead import _batches, _state_walk, _states
from tests.building import batch
from tests.evidence.test_stretches import CASES, SEGMENTS, damaged, plans, told
from tests.sources.test_ahead import until

WORKERS = (0, 1, 3)


def read(plan: PartitionPlan, number: int, threads: int, stretch_bytes: int):
    """Rows of a file (of the coordinator's log its batches), and what is told of it."""
    given, file = plan.readings()[number], plan.readings()[number]
    with Ahead(threads) as ahead:
        parted = planned(given, plan.is_state_log, ahead, stretch_bytes)
        until(lambda: sum(task.is_claimed for _, task in parted._parts) >= min(threads, len(parted._parts)))
        found = list(parted.blocks(file))
    rows = [row for block in found for row in block.batches.tolist()]
    states = [states for block in found for states in block.held if states is not None]
    named = [(names.transactional_ids.values[row["id_code"]], row["offset"]) for rows, names in states for row in rows]
    return rows, named, told(file)


def planned(given: FileReading, is_state_log: bool, ahead: Ahead, stretch_bytes: int):
    reads = Reads(partial(_state_walk, given), _states) if is_state_log else Reads(given.batch_walk, _batches)
    return PartedFile(given, reads, ahead, stretch_bytes)


def assert_alike(plan: PartitionPlan, number: int, stretch_bytes: int):
    whole = read(plan, number, 0, stretch_bytes)
    for threads in WORKERS[1:]:
        assert read(plan, number, threads, stretch_bytes) == whole
    return whole


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.name)
def test_recorded_files_by_any_number_of_threads(case):
    for plan in plans(case):
        for number in range(len(plan.files)):
            assert_alike(plan, number, 1000)


@settings(max_examples=60)
@given(
    chosen=st.integers(0, len(SEGMENTS) - 1),
    stretch_bytes=st.integers(100, 5000),
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(["flip", "zero", "cut", "remove", "insert", "repeat"]),
)
def test_damaged_files_by_any_number_of_threads(tmp_path_factory, chosen, stretch_bytes, seed, kind):
    plan, number = SEGMENTS[chosen]
    file = plan.files[number]
    data = damaged(bytearray(Path(file.item.path).read_bytes()), kind, random.Random(seed))
    path = tmp_path_factory.mktemp("damaged") / Path(file.item.path).name
    path.write_bytes(data)
    item = replace(file.item, path=str(path), size=len(data))
    assert_alike(replace(plan, files=(replace(file, item=item),)), 0, stretch_bytes)


@pytest.fixture
def plan_of(tmp_path):
    """A plan of one file of these bytes."""
    plan = next(plan for plan, _ in SEGMENTS if not plan.is_state_log)
    path = tmp_path / "00000000000000000000.log"

    def make(data):
        path.write_bytes(data)
        item = replace(plan.files[0].item, path=str(path), size=len(data), base_offset=0)
        return replace(plan, files=(replace(plan.files[0], item=item),))

    return make


LOG = [batch(number, b"value %d" % number) for number in range(300)]


def test_batches_inside_a_payload_are_found_out_at_the_seam(plan_of):
    inner = b"".join(batch(number, b"inner") for number in range(1000, 1100))
    data = b"".join([*LOG[:100], batch(100, inner), *(batch(number, b"behind") for number in range(101, 200))])
    begin = sum(map(len, LOG[:100]))
    for stretch_bytes in (begin + 200, begin + 1000, len(inner) // 3):
        rows, _, _ = assert_alike(plan_of(data), 0, stretch_bytes)
        assert len(rows) == 200


def test_a_file_that_vanishes_while_it_is_read_is_read_to_its_end(plan_of):
    plan = plan_of(b"".join(LOG))
    file, path = plan.readings()[0], Path(plan.files[0].item.path)
    with Ahead(2) as ahead:
        blocks = planned(plan.readings()[0], False, ahead, 500).blocks(file)
        first = next(blocks)
        path.unlink()
        rest = list(blocks)
    assert sum(len(block.batches) for block in [first, *rest]) == len(LOG)
    assert file.entry.status == "read"


@pytest.mark.parametrize("threads", WORKERS)
def test_a_file_that_is_gone_is_told_as_that(plan_of, threads):
    plan = plan_of(b"".join(LOG))
    Path(plan.files[0].item.path).unlink()
    rows, _, (entry, damage, read_ranges, lost) = read(plan, 0, threads, 500)
    assert (rows, damage, read_ranges) == ([], [], [])
    assert entry.status == "unreadable"
    assert lost


@pytest.mark.parametrize("threads", WORKERS)
def test_a_file_that_shrank_since_it_was_listed_ends_where_it_ends(plan_of, threads):
    plan = plan_of(b"".join(LOG))
    Path(plan.files[0].item.path).write_bytes(b"".join(LOG[:50]))
    rows, _, _ = read(plan, 0, threads, 500)
    assert len(rows) == 50


def test_blocks_are_large_however_small_pieces_are(plan_of, monkeypatch):
    monkeypatch.setattr(walks, "BUFFER_SIZE", 1000)
    plan = plan_of(b"".join(LOG))
    with Ahead(0) as ahead:
        (block,) = planned(plan.readings()[0], False, ahead, 1 << 20).blocks(plan.readings()[0])
    assert len(block.batches) == len(LOG)
    assert np.all(np.diff(block.batches["base_offset"]) == 1)


def test_a_call_follows_its_buffer_whatever_other_threads_have_counted():
    kernel = engine.Kernel(lambda data: "plain", None)
    kernel._compiled = lambda data: "compiled"
    view = kernel.view(b"abc")
    kernel.count(engine.COMPILE_ABOVE_ROWS)
    assert kernel(view) == "plain"
    assert kernel(kernel.view(b"abc")) == "compiled"
