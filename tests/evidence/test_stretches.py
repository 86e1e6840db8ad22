"""A file read in stretches tells what one walk tells: rows, coverage, damage, and which offsets are lost."""

import random
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.plans import PartitionPlan, partition_plans
from kafkatx.evidence.stretches import SplitSummary, StretchReading, put_together, stretches
from kafkatx.segments import batches as walks
from kafkatx.segments.names import Names
from kafkatx.sources.files import observed
from kafkatx.stages.models import open_captures
from tests.building import batch, data_batch, marker, segment
from tests.evidence import broker_folders, fixture_cases

CASES = [case for case in fixture_cases() if broker_folders(case)]


class Whole:
    """One walk over a file."""

    def __init__(self, plan: PartitionPlan, number: int) -> None:
        self.file, self.names = plan.readings()[number], Names()
        rows = self.file.state_rows(self.names) if plan.is_state_log else self.file.batch_rows()
        self.rows = plain(rows, self.names)


class InStretches:
    """The same file in stretches, each read by itself and with names of its own."""

    def __init__(self, plan: PartitionPlan, number: int, stretch_bytes: int) -> None:
        self.plan, self.number, self.stretch_bytes = plan, number, stretch_bytes
        self.file = plan.readings()[number]
        self.again: dict[int, list[tuple[Any, ...]]] = {}
        cuts = stretches(self.file.item.size, stretch_bytes)
        found = {begin: self.read(begin, stop) for begin, stop in cuts}
        self.counted = put_together(self.file, [told for _, told in found.values()], self.read_again)
        kept = [found[begin][0] if begin in self.counted else self.again.get(begin, []) for begin, _ in cuts]
        self.rows = [row for rows in kept for row in rows]

    def read(
        self, begin: int, stop: int, after: SplitSummary | None = None
    ) -> tuple[list[tuple[Any, ...]], SplitSummary]:
        given, names = self.plan.readings()[self.number], Names()
        reading = StretchReading(given, begin, stop, self.stretch_bytes, after)
        rows = plain(reading.state_rows(names) if self.plan.is_state_log else reading.batch_rows(), names)
        assert reading.told is not None
        return rows, reading.told

    def read_again(self, begin: int, stop: int, after: SplitSummary) -> SplitSummary:
        self.again[begin], told = self.read(begin, stop, after)
        return told


def plain(chunks: Any, names: Names) -> list[tuple[Any, ...]]:
    """Rows with names instead of codes."""
    found = [rows for rows in chunks if len(rows)]
    if not found:
        return []
    rows = np.concatenate(found)
    if "id_code" not in (rows.dtype.names or ()):
        return rows.tolist()
    kept = rows[[name for name in rows.dtype.names if not name.endswith("_code")]].tolist()
    lists = [
        sorted(names.topic_partitions[member] for member in names.partition_lists[code]) if code >= 0 else None
        for code in rows["partitions_code"]
    ]
    return list(zip(kept, (names.transactional_id(code) for code in rows["id_code"]), lists, strict=True))


def told(file: FileReading) -> tuple[Any, ...]:
    return file.entry, file.damage, file.reach.read, file.reach.lost


def assert_alike(plan: PartitionPlan, number: int, stretch_bytes: int) -> InStretches:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "STRETCH_BYTES", stretch_bytes)
        whole = Whole(plan, number)
    parts = InStretches(plan, number, stretch_bytes)
    assert parts.rows == whole.rows
    assert told(parts.file) == told(whole.file)
    return parts


@cache
def plans(case: Path) -> list[PartitionPlan]:
    return [plan for found in open_captures(broker_folders(case)) for plan in partition_plans(found)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_recorded_file_in_stretches_of_any_size(case):
    for plan in plans(case):
        for number in range(len(plan.files)):
            for stretch_bytes in (257, 1000, 4096):
                assert_alike(plan, number, stretch_bytes)


SEGMENTS = [
    (plan, number)
    for case in CASES
    for plan in plans(case)
    for number, file in enumerate(plan.files)
    if 300 < file.item.size < 40_000
]


@settings(max_examples=60)
@given(
    chosen=st.integers(0, len(SEGMENTS) - 1),
    stretch_bytes=st.integers(100, 5000),
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(["flip", "zero", "cut", "remove", "insert", "repeat"]),
)
def test_damaged_files_in_stretches(tmp_path_factory, chosen, stretch_bytes, seed, kind):
    plan, number = SEGMENTS[chosen]
    given, chance = plan.files[number], random.Random(seed)
    data = damaged(bytearray(Path(given.item.path).read_bytes()), kind, chance)
    path = tmp_path_factory.mktemp("damaged") / Path(given.item.path).name
    path.write_bytes(data)
    item = replace(given.item, path=str(path), size=len(data))
    assert_alike(replace(plan, files=(replace(given, item=item),)), 0, stretch_bytes)


def damaged(data: bytearray, kind: str, chance: random.Random) -> bytes:
    first = chance.randrange(len(data))
    end = min(len(data), first + chance.choice([1, 4, 61, 300, 2000]))
    if kind == "flip":
        data[first] ^= 1 << chance.randrange(8)
    elif kind == "zero":
        data[first:end] = bytes(end - first)
    elif kind == "cut":
        del data[end:]
    elif kind == "remove":
        del data[first:end]
    elif kind == "insert":
        data[first:first] = chance.randbytes(end - first)
    else:
        data[first:first] = data[first:end]
    return bytes(data)


def only_plan(folder: Path) -> PartitionPlan:
    (found,) = open_captures([folder])
    (plan,) = partition_plans(found)
    return plan


def test_a_payload_that_holds_whole_batches_is_no_begin(tmp_path):
    inner = b"".join(data_batch(1000 + number, 9, b"inner" * 20) for number in range(20))
    outer = [data_batch(number, 7, inner, base_sequence=number) for number in range(6)]
    segment(tmp_path / "orders-0", [*outer, marker(6, 7)])
    for stretch_bytes in (150, 500, 1111):
        parts = assert_alike(only_plan(tmp_path), 0, stretch_bytes)
        assert [row[1] for row in parts.rows] == [0, 1, 2, 3, 4, 5, 6]


def test_a_batch_that_spans_several_stretches(tmp_path):
    segment(tmp_path / "orders-0", [data_batch(0, 7), data_batch(1, 7, b"x" * 5000, base_sequence=1), marker(2, 7)])
    parts = assert_alike(only_plan(tmp_path), 0, 500)
    assert [row[1] for row in parts.rows] == [0, 1, 2]
    assert not parts.again


def test_a_whole_file_is_not_read_twice(tmp_path):
    segment(tmp_path / "orders-0", [batch(number, b"value" * 10) for number in range(500)])
    assert not assert_alike(only_plan(tmp_path), 0, 1000).again


def test_a_stretch_whose_leader_epoch_is_lower_is_read_again_and_found_damaged(tmp_path):
    newer = [batch(number, b"value", partition_leader_epoch=5) for number in range(10)]
    older = [batch(10 + number, b"value", partition_leader_epoch=4) for number in range(10)]
    segment(tmp_path / "orders-0", [*newer, *older])
    parts = assert_alike(only_plan(tmp_path), 0, len(b"".join(newer)))
    assert parts.file.entry.status in ("damaged", "torn")
    assert parts.again


def test_zeros_at_the_end_are_told_once(tmp_path):
    segment(tmp_path / "orders-0", [batch(number, b"value") for number in range(10)])
    (log,) = (tmp_path / "orders-0").glob("*.log")
    log.write_bytes(log.read_bytes() + bytes(5000))
    parts = assert_alike(only_plan(tmp_path), 0, 400)
    assert parts.file.entry.preallocated == 5000


def test_a_file_that_is_gone_is_unreadable(tmp_path):
    segment(tmp_path / "orders-0", [batch(number, b"value") for number in range(10)])
    plan = only_plan(tmp_path)
    Path(plan.files[0].item.path).unlink()
    assert assert_alike(plan, 0, 400).file.entry.status == "unreadable"


def test_what_is_preallocated_is_not_searched_again_by_each_stretch(tmp_path):
    """A hole costs nothing, zeros no more than a reading."""
    path = segment(tmp_path / "t-0", [data_batch(0, 1, b"x" * 3000), bytes(1 << 22)])
    with path.open("r+b") as file:
        file.truncate(1 << 28)
    [plan] = partition_plans(open_captures([tmp_path])[0])
    read: list[int] = []
    with observed(lambda path, begin, end: read.append(end - begin)):
        found = InStretches(plan, 0, 1 << 22)
    assert len(found.rows) == 1
    assert sum(read) < 10 * (1 << 22)
