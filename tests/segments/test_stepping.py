"""Steps from header to header tell what blocks tell: of whole, damaged, torn, shrinking, cold and unreadable files."""

import errno
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL, CHECK_NONE, HEADER_SIZE
from kafkatx.kernels.engine import forced
from kafkatx.kernels.stepping import STEP_BYTES, address_of_preadv2
from kafkatx.segments import batches as walks
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources.files import OpenFile, observed
from kafkatx.sources.held import HeldFile
from tests.building import batch, data_batch, marker, segment
from tests.evidence.test_stretches import SEGMENTS, damaged
from tests.segments.roads import by_blocks, by_steps

pytestmark = pytest.mark.skipif(not hasattr(os, "RWF_NOWAIT"), reason="this system does not tell what is at hand")

CHECKS = (CHECK_NONE, CHECK_CONTROL)
MODES = ("interpreted", "compiled")


def read(path, **options):
    """What a walk tells: batches, damage and how it ended."""
    with OpenFile(str(path)) as file:
        walk = SegmentWalk(file, **options)
        rows = [row for chunk in walk.chunks() for row in chunk.rows.tolist()]
    return rows, walk.damage, walk.torn, walk.preallocated, walk.end, walk.fit


def in_blocks(path, **options):
    with by_blocks():
        return read(path, **options)


def in_steps(path, buffer_bytes=100, **options):
    """The same by steps, which were taken."""
    with by_steps(buffer_bytes) as taken:
        found = read(path, **options)
    assert taken or len(found[0]) <= 6
    return found


def assert_alike(path, **options):
    whole = in_blocks(path, **options)
    for mode in MODES:
        with forced(mode):
            for buffer_bytes in (62, 400):
                assert in_steps(path, buffer_bytes, **options) == whole
    return whole


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("plan", "number"), SEGMENTS[::3])
def test_recorded_files(plan, number, check):
    file = plan.files[number].item
    for stretch_bytes in (1000, None):
        assert_alike(file.path, check=check, first_offset=file.base_offset, stretch_bytes=stretch_bytes)


@settings(max_examples=80)
@given(
    chosen=st.integers(0, len(SEGMENTS) - 1),
    check=st.sampled_from(CHECKS),
    seed=st.integers(0, 2**32),
    kinds=st.lists(st.sampled_from(["flip", "zero", "cut", "remove", "insert", "repeat"]), min_size=1, max_size=3),
)
def test_damaged_files(tmp_path_factory, chosen, check, seed, kinds):
    plan, number = SEGMENTS[chosen]
    file, chance = plan.files[number].item, random.Random(seed)
    data = Path(file.path).read_bytes()
    for kind in kinds:
        data = damaged(bytearray(data or b"\0"), kind, chance)
    path = tmp_path_factory.mktemp("damaged") / Path(file.path).name
    path.write_bytes(data)
    assert_alike(path, check=check, first_offset=file.base_offset)


def large_log(count=60):
    """Batches of 20 to 60 KiB of two producers, markers among them: now and then a new epoch, and a lost sequence."""
    made, sequences = [], {7: 0, 8: 0}
    for number in range(count):
        producer = 7 + number % 2
        if number % 10 == 9:
            made.append(marker(number, producer))
            continue
        sequences[producer] += 5 if number == 33 else 0
        value = bytes([number]) * (20_000 + 700 * number)
        made.append(data_batch(number, producer, value, base_sequence=sequences[producer], epoch=number // 40))
        sequences[producer] += 1
    return made


def ends_of(made):
    return [sum(map(len, made[:number])) for number in range(len(made) + 1)]


@pytest.mark.parametrize("kind", ["flip", "zero", "cut", "remove", "insert", "repeat"])
@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_of_large_batches(tmp_path, seed, kind):
    chance = random.Random(seed)
    path = segment(tmp_path, damaged(bytearray(b"".join(large_log())), kind, chance))
    assert_alike(path, check=CHECK_CONTROL)


@pytest.mark.parametrize("at", range(HEADER_SIZE + 1))
def test_any_byte_of_a_header(tmp_path, at):
    made = large_log(12)
    data = bytearray(b"".join(made))
    data[ends_of(made)[5] + at] ^= 1 << at % 8
    assert_alike(segment(tmp_path, bytes(data)), check=CHECK_CONTROL)


@pytest.mark.parametrize("left", [0, 1, 11, 16, 17, 26, 34, 60, 61, 62, 77, 78, 79, 5000])
@pytest.mark.parametrize("zeros", [0, 3, 61, 5000])
def test_any_end(tmp_path, left, zeros):
    made = large_log(12)
    data = b"".join(made)[: ends_of(made)[11] + left] + bytes(zeros)
    assert_alike(segment(tmp_path, data), check=CHECK_CONTROL)


@pytest.mark.parametrize("mode", MODES)
def test_large_batches_are_stepped_over_and_small_ones_are_not(tmp_path, mode, monkeypatch):
    """Nothing but `are_cheap` is as it is for a test here."""
    for size, expected in ((20_000, True), (2_000, False)):
        path = segment(tmp_path, [batch(number, b"x" * size) for number in range(800_000 // size)])
        with forced(mode), by_steps() as taken, monkeypatch.context() as patch:
            patch.setattr("kafkatx.segments.stepping.WORTH_A_STEP", 8 << 10)
            patch.setattr(walks, "BUFFER_SIZE", 2 << 20)
            found = read(path, check=CHECK_NONE)
        assert found == in_blocks(path, check=CHECK_NONE)
        assert bool(taken) is expected


@pytest.mark.parametrize("check", [CHECK_ALL, CHECK_CONTROL])
def test_who_asks_for_bodies_or_all_crcs_gets_blocks(tmp_path, check):
    path = segment(tmp_path, large_log(12))
    with by_steps() as taken:
        read(path, check=check, bodies=check != CHECK_ALL)
    assert not taken


def test_a_file_without_a_descriptor_is_read_in_blocks(tmp_path):
    data = b"".join(large_log(12))
    with by_steps() as taken:
        walk = SegmentWalk(HeldFile(data), check=CHECK_NONE)
        rows = [row for chunk in walk.chunks() for row in chunk.rows.tolist()]
    assert (taken, rows) == ([], in_blocks(segment(tmp_path, data), check=CHECK_NONE)[0])


@pytest.fixture
def reads(monkeypatch):
    """How many bytes were read where, while kernels are plain Python; `reads.answer` may answer in place of the system.

    It is given descriptor, buffer, position, flags.
    """

    class Reads(list):
        answer = staticmethod(lambda descriptor, buffer, position, flags: None)

    found, preadv = Reads(), os.preadv

    def noted(descriptor, buffers, position, flags=0):
        answer = found.answer(descriptor, buffers[0], position, flags)
        count = preadv(descriptor, buffers, position, flags) if answer is None else answer
        found.append((position, count))
        return count

    monkeypatch.setattr(os, "preadv", noted)
    return found


def test_of_ordinary_batches_the_header_is_read_and_of_others_the_whole(tmp_path, reads):
    made = [data_batch(number, 7, b"x" * 20_000, base_sequence=number) for number in range(50)]
    made[40] = data_batch(40, 7, b"x" * 20_000, base_sequence=77)  # a sequence that is not the next one
    made[45] = marker(45, 7)  # in place of a batch: the one behind it has a sequence too high
    path, ends = segment(tmp_path, made), ends_of(made)
    with forced("interpreted"):
        in_steps(path, 30_000, check=CHECK_CONTROL)
    behind = [(at, count) for at, count in reads if at >= ends[2]]
    assert {at for at, count in behind if count > STEP_BYTES} == {ends[40], ends[41], ends[46]}
    assert sum(count for _, count in behind) < 3 * len(made[0]) + 2 * STEP_BYTES * len(made)


def test_a_bar_is_told_of_steps_as_of_reads(tmp_path):
    path, told = segment(tmp_path, large_log()), []
    with by_steps() as taken, observed(lambda path, begin, end: told.append((begin, end))):
        read(path, check=CHECK_CONTROL)
    within = 0
    for begin, end in told:
        within = end if begin <= within < end else within
    assert within == path.stat().st_size
    assert sum(end - begin for begin, end in taken) > within * 0.9


def cut_at_step(path, reads, step, size):
    """Truncate a file when so many steps were taken."""
    taken = []

    def answer(descriptor, buffer, position, flags):
        taken.append(position)
        if len(taken) == step:
            os.truncate(path, size)

    reads.answer = answer


@pytest.mark.parametrize("step", [3, 10, 11])
@pytest.mark.parametrize("kept", ["nothing", "what was read", "half a header", "half a batch", "all but the last"])
def test_a_file_that_shrinks_between_two_steps_ends_there(tmp_path, reads, step, kept):
    made = [data_batch(number, 7, b"x" * 20_000, base_sequence=number) for number in range(20)]
    ends = ends_of(made)
    sizes = {
        "nothing": 0,
        "what was read": ends[step],
        "half a header": ends[step] + 30,
        "half a batch": ends[step + 1] + 9000,
        "all but the last": ends[19],
    }
    path = segment(tmp_path, made)
    whole = in_blocks(path, check=CHECK_CONTROL)[0]
    cut_at_step(path, reads, step, sizes[kept])
    with forced("interpreted"):
        rows, damage, _, _, end, _ = in_steps(path, check=CHECK_CONTROL)
    assert [row[:-1] for row in rows] == [row[:-1] for row in whole[: len(rows)]]
    assert len(rows) <= max(step + 1, sum(end <= sizes[kept] for end in ends[1:]))
    assert len(damage) <= 1
    assert end >= ends[len(rows)]


def test_a_file_that_is_not_at_hand_is_read_in_blocks(tmp_path, reads):
    path = segment(tmp_path, large_log())
    whole = in_blocks(path, check=CHECK_CONTROL)
    chance = random.Random(5)

    def cold(descriptor, buffer, position, flags):
        if flags and chance.random() < 0.3:
            raise BlockingIOError(errno.EAGAIN, "not at hand")
        return None

    reads.answer = cold
    with forced("interpreted"):
        assert in_steps(path, check=CHECK_CONTROL) == whole


def test_a_system_that_refuses_such_reads_is_asked_no_more_than_once_a_block(tmp_path, reads):
    path, refused = segment(tmp_path, large_log()), []

    def never(descriptor, buffer, position, flags):
        if flags:
            refused.append(position)
            raise OSError(errno.EOPNOTSUPP, "not here")

    reads.answer = never
    with forced("interpreted"):
        assert in_steps(path, 100_000, check=CHECK_CONTROL) == in_blocks(path, check=CHECK_CONTROL)
    assert 10 < len(refused) <= path.stat().st_size / (100_000 - 61_300)


@pytest.mark.parametrize("sector", [5, 24, 25, 60])
def test_a_sector_that_the_disk_refuses(tmp_path, reads, sector):
    """Steps meet one only where a header or what is needed whole lies in it, and hand it to the blocks."""
    path, begin = segment(tmp_path, large_log(20)), sector * 4096

    def refuse(descriptor, buffer, position, flags):
        if begin <= position < begin + 4096:
            raise OSError(errno.EIO, "Input/output error")
        if position >= begin:
            return None
        data = os.pread(descriptor, min(len(buffer), begin - position), position)
        buffer[: len(data)] = data
        return len(data)

    reads.answer = refuse
    with forced("interpreted"):
        assert in_steps(path, check=CHECK_CONTROL) == in_blocks(path, check=CHECK_CONTROL)


@pytest.mark.parametrize("mode", MODES)
def test_pages_that_the_cache_does_not_hold(tmp_path, mode):
    path = segment(tmp_path, large_log())
    with path.open("r+b") as file:
        os.fsync(file.fileno())
        whole = in_blocks(path, check=CHECK_CONTROL)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with forced(mode):
        assert in_steps(path, check=CHECK_CONTROL) == whole


def test_the_system_has_the_call():
    assert address_of_preadv2() > 0
    assert np.dtype(np.int64).itemsize * 2 == 16, "a struct iovec: where to, and how many bytes"
