"""A large file in stretches has the rows of one walk, whatever lies at their edges."""

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.segments import resync
from kafkatx.spark.planning import IN_STRETCHES, opened_evidence, planned
from kafkatx.spark.request import request
from kafkatx.spark.rows import rows_of
from kafkatx.stages import seams
from kafkatx.stages.seams import begun
from tests.building import batch, data_batch, marker, message, segment
from tests.evidence import broker_folders, fixtures
from tests.evidence.test_stretches import damaged
from tests.spark.tables import here, whole

LOOK_BACK = 800
CASES = ("c3-storm", "f-streams-frozen", "k011-legacy-formats", "k39-codecs", "k39-open", "k4-tv2-fenced")


@cache
def evidence() -> JoinedEvidence:
    return opened_evidence([folder for name in CASES for folder in broker_folders(fixtures() / name)], None)


@pytest.fixture(autouse=True)
def short_sight(monkeypatch):
    """Tails are as short as files of tests are small, and longer than what follows a damaged batch is looked for in."""
    monkeypatch.setattr(seams, "LOOK_BACK", LOOK_BACK)
    monkeypatch.setattr(resync, "WITNESS_BYTES", LOOK_BACK // 4)


@pytest.mark.parametrize("name", IN_STRETCHES)
@pytest.mark.parametrize("stretch_bytes", [500, 5000])
def test_recorded_files(name, stretch_bytes):
    wanted = request(name)
    found = planned(wanted, evidence(), stretch_bytes)
    expected = here([folder for name in CASES for folder in broker_folders(fixtures() / name)], name, stretch_bytes)
    assert whole((rows for task in found for rows in rows_of(task)), wanted.schema) == expected
    assert (
        len([source for task in found for source in task.sources if source.extent.start]) > 3 or stretch_bytes == 5000
    )


def made(count: int = 60) -> list[bytes]:
    """A log with transactions, old and plain batches."""
    log: list[bytes] = []
    for number in range(count):
        if number % 5 == 4:
            log.append(marker(number, 7))
        elif number % 5 == 3:
            log.append(batch(number, bytes([number]) * 40))
        else:
            log.append(data_batch(number, 7, bytes([number]) * (30 + 7 * number), base_sequence=number))
    return log


def assert_alike(folder: Path, stretch_bytes: int, names: tuple[str, ...] = ("batches", "records")) -> None:
    for name in names:
        wanted = request(name)
        found = planned(wanted, opened_evidence([folder], None), stretch_bytes)
        rows = whole((rows for task in found for rows in rows_of(task)), wanted.schema)
        assert rows == here([folder], name, stretch_bytes)


class Walked:
    """The bytes that tasks walk to learn where their stretches begin."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: list[tuple[int, int]] = []
        told = seams._Seams._told
        monkeypatch.setattr(
            seams._Seams,
            "_told",
            lambda one, begin, stop, after: self.found.append((begin, stop)) or told(one, begin, stop, after),
        )

    @property
    def bytes(self) -> int:
        return sum(stop - begin for begin, stop in self.found)


@pytest.mark.parametrize("stretch_bytes", [61, 100, 256, 1000])
def test_whole_files_are_walked_no_further_than_a_tail_before_each_stretch(tmp_path, stretch_bytes, monkeypatch):
    monkeypatch.setattr(seams, "LOOK_BACK", 1500)
    segment(tmp_path / "orders-0", made())
    walked = Walked(monkeypatch)
    assert_alike(tmp_path, stretch_bytes, ("batches",))
    assert walked.found
    assert max(stop - begin for begin, stop in walked.found) <= 1500
    assert len(walked.found) < len(b"".join(made())) / stretch_bytes


@pytest.mark.parametrize(("seed", "stretch_bytes"), [(seed, (100, 256, 1000)[seed % 3]) for seed in range(15)])
def test_damaged_files(tmp_path, stretch_bytes, seed):
    chance = random.Random(seed)
    data = bytearray(b"".join(made()))
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(data))
        data[at : at + 30] = chance.choice([bytes(30), chance.randbytes(30), b"", chance.randbytes(90)])
    segment(tmp_path / "orders-0", bytes(data))
    assert_alike(tmp_path, stretch_bytes)


@pytest.mark.parametrize("tail", [b"\0" * 700, b"\0" * 5, made()[-1][:50], b"\xff" * 300], ids=len)
def test_ends_of_files(tmp_path, tail):
    segment(tmp_path / "orders-0", b"".join(made()) + tail)
    assert_alike(tmp_path, 256)


@pytest.mark.parametrize("inner", [(3, 4, 5), (40, 50, 60)])
@pytest.mark.parametrize("look_back", [600, 10_000])
def test_batches_in_a_payload_are_not_taken_for_the_log(tmp_path, inner, look_back, monkeypatch):
    monkeypatch.setattr(seams, "LOOK_BACK", look_back)
    payload = b"".join(batch(offset, b"inner" * 10) for offset in inner)
    log = [batch(0, b"a"), batch(10, payload), batch(11, b"b" * 50), batch(12, b"c" * 50), batch(13, payload)]
    segment(tmp_path / "orders-0", log)
    assert_alike(tmp_path, 128)


def test_one_log_behind_another_is_as_damaged_in_stretches_as_in_one_walk(tmp_path):
    segment(tmp_path / "orders-0", [*made(), *made()])
    assert_alike(tmp_path, 500)


def test_a_leader_epoch_that_falls_back_is_noticed_in_every_stretch_behind(tmp_path):
    newer = [batch(number, b"value" * 9, partition_leader_epoch=5) for number in range(20)]
    older = [batch(20 + number, b"value" * 9, partition_leader_epoch=4) for number in range(40)]
    segment(tmp_path / "orders-0", [*newer, *older])
    assert_alike(tmp_path, 400)


RECORDED = [
    path
    for name in CASES
    for folder in broker_folders(fixtures() / name)
    for path in sorted(folder.rglob("*.log"))
    if 300 < path.stat().st_size < 40_000
]


@settings(max_examples=40, deadline=None)
@given(
    path=st.sampled_from(RECORDED),
    stretch_bytes=st.integers(100, 5000),
    seed=st.integers(0, 2**32),
    kinds=st.lists(st.sampled_from(["flip", "zero", "cut", "remove", "insert"]), min_size=1, max_size=3),
)
def test_damaged_recorded_files(tmp_path_factory, path, stretch_bytes, seed, kinds):
    chance, data = random.Random(seed), path.read_bytes()
    for kind in kinds:
        data = damaged(bytearray(data), kind, chance) or data
    folder = tmp_path_factory.mktemp("damaged")
    segment(folder / path.parent.name, data, path.name)
    assert_alike(folder, stretch_bytes, ("batches",))


@pytest.mark.parametrize("seed", range(8))
def test_recorded_files_of_which_a_part_stands_twice(tmp_path, seed):
    chance = random.Random(seed)
    path = chance.choice(RECORDED)
    segment(tmp_path / path.parent.name, damaged(bytearray(path.read_bytes()), "repeat", chance), path.name)
    assert_alike(tmp_path, chance.randrange(100, 5000), ("batches",))


def test_old_messages_between_batches(tmp_path):
    log = [message(0, 0), message(1, 1), batch(2, b"a"), message(3, 1), message(4, 0), batch(5, b"b" * 200)]
    segment(tmp_path / "orders-0", log)
    assert_alike(tmp_path, 64)


def test_several_segments_that_overlap(tmp_path):
    log = made()
    segment(tmp_path / "orders-0", log[:40])
    segment(tmp_path / "orders-0", log[30:], "00000000000000000030.log")
    assert_alike(tmp_path, 256)


def test_a_file_that_is_gone_when_it_is_looked_at(tmp_path):
    path = segment(tmp_path / "orders-0", made())
    segment(tmp_path / "orders-1", made())
    found = opened_evidence([tmp_path], None)
    path.unlink()
    wanted = request("batches")
    rows = [rows for task in planned(wanted, found, 256) for rows in rows_of(task)]
    assert sum(one.num_rows for one in rows) == len(made())


def test_multiples_of_the_stretch_on_this_machine_read_as_it_does(tmp_path):
    segment(tmp_path / "orders-0", made())
    found = planned(request("batches"), opened_evidence([tmp_path], None), 64 << 20)
    assert [source.extent.stretch_bytes for task in found for source in task.sources] == [None]


def test_stretches_behind_the_end_of_a_log_have_no_rows(tmp_path):
    segment(tmp_path / "orders-0", b"".join(made()) + bytes(3000))
    (task,) = planned(request("batches"), opened_evidence([tmp_path], None), 1000)
    starts = [source.extent.start for source in begun(task.sources)]
    assert len(starts) < len(task.sources)
    assert starts == sorted(starts)
