"""A large file in stretches has the rows of one walk, whatever lies at their edges."""

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.spark.planning import opened_evidence
from kafkatx.spark.reading import IN_STRETCHES
from kafkatx.spark.request import request
from kafkatx.spark.rows import rows_of
from kafkatx.spark.seams import look_again, look_at
from tests.building import batch, data_batch, marker, message, segment
from tests.evidence import broker_folders, fixtures
from tests.spark.tables import here, in_tasks, run, tasks, whole

CASES = ("c3-storm", "f-streams-frozen", "k011-legacy-formats", "k39-codecs", "k39-open", "k4-tv2-fenced")


@cache
def evidence() -> JoinedEvidence:
    return opened_evidence([folder for name in CASES for folder in broker_folders(fixtures() / name)], None)


@pytest.mark.parametrize("name", IN_STRETCHES)
@pytest.mark.parametrize("stretch_bytes", [256, 1000, 5000])
def test_recorded_files(name, stretch_bytes):
    wanted = request(name)
    found = tasks(evidence(), wanted, stretch_bytes)
    expected = here([folder for name in CASES for folder in broker_folders(fixtures() / name)], name, stretch_bytes)
    assert whole((rows for task in found for rows in rows_of(task)), wanted.schema) == expected
    cut = [source for task in found for source in task.sources if source.extent.start]
    assert {source.extent.fit is not None for source in cut} == {True}


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


def assert_alike(folder: Path, stretch_bytes: int, calls: list[str] | None = None) -> None:
    def counted(function: Any, values: list[Any]) -> list[Any]:
        if calls is not None:
            calls.extend([function.__name__] * len(values))
        return run(function, values)

    for name in ("batches", "records"):
        wanted = request(name)
        found = tasks(opened_evidence([folder], None), wanted, stretch_bytes, counted)
        rows = whole((rows for task in found for rows in rows_of(task)), wanted.schema)
        assert rows == here([folder], name, stretch_bytes)


@pytest.mark.parametrize("stretch_bytes", [61, 100, 256, 1000])
def test_whole_files_are_joined_without_a_second_look(tmp_path, stretch_bytes):
    segment(tmp_path / "orders-0", made())
    calls: list[str] = []
    assert_alike(tmp_path, stretch_bytes, calls)
    assert set(calls) == {look_at.__name__}


@pytest.mark.parametrize("stretch_bytes", [100, 256, 1000])
@pytest.mark.parametrize("seed", range(12))
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
def test_batches_in_a_payload_are_not_taken_for_the_log(tmp_path, inner):
    payload = b"".join(batch(offset, b"inner" * 10) for offset in inner)
    log = [batch(0, b"a"), batch(10, payload * 3), batch(11, b"b" * 50), batch(12, b"c" * 50), batch(13, payload)]
    segment(tmp_path / "orders-0", log)
    calls: list[str] = []
    assert_alike(tmp_path, 128, calls)
    assert (look_again.__name__ in calls) == (inner[0] < 10)


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
    rows = [rows for task in tasks(found, wanted, 256) for rows in rows_of(task)]
    assert sum(one.num_rows for one in rows) == len(made())


def test_stretches_that_are_all_older_are_not_read(tmp_path):
    log = [batch(number, b"a" * 100, base_timestamp=number, max_timestamp=number) for number in range(100)]
    segment(tmp_path / "orders-0", log)
    wanted = request("batches", since=70)
    found = tasks(opened_evidence([tmp_path], None), wanted, 1000)
    starts = [source.extent.start for task in found for source in task.sources]
    assert min(starts) > sum(map(len, log[:60]))
    assert in_tasks([tmp_path], wanted, 1000)["base_offset"].to_pylist() == list(range(70, 100))


def test_multiples_of_the_stretch_on_this_machine_read_as_it_does(tmp_path):
    segment(tmp_path / "orders-0", made())
    found = tasks(opened_evidence([tmp_path], None), request("batches"), 64 << 20)
    assert [source.extent.stretch_bytes for task in found for source in task.sources] == [None]
