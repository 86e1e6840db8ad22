"""What is kept of compiled kernels: whoever trusts it runs it, so only what is whole and ours is used."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kafkatx.kernels import kept_kernels
from kafkatx.kernels.compiled import Compiled
from kafkatx.kernels.crc32c import crc32c
from kafkatx.kernels.engine import COMPILE_ABOVE_ROWS, LOAD_ABOVE_ROWS, Kernel
from kafkatx.kernels.kept_kernels import FIRST, MOST, keep, kept
from kafkatx.kernels.native_calls import KernelError, Objects, loaded, taken_apart, told
from tests.evidence import FIXTURES, ROOT

OBJECTS = Objects(b"kernel", b"entry", 3, "(iub)", ("memcpy",))
NOBODY = 65534


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def written(place) -> Path:
    keep("some.kernel", "|u1 1 1 int", OBJECTS)
    (path,) = place.iterdir()
    return path


def found() -> Objects | None:
    return kept("some.kernel", "|u1 1 1 int")


def test_what_was_kept_is_found_again_by_its_name_and_kinds_alone(written):
    assert found() == OBJECTS
    assert kept("some.kernel", "|u1 1 1 bool") is None
    assert kept("some.kernels", "|u1 1 1 int") is None


def test_a_file_that_was_cut_anywhere_is_none(written):
    whole = written.read_bytes()
    for size in range(len(whole)):
        written.write_bytes(whole[:size])
        assert found() is None


def test_a_file_with_any_other_byte_is_none(written):
    whole = written.read_bytes()
    for at in range(len(whole)):
        written.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert found() is None
    written.write_bytes(whole + b"\0")
    assert found() is None


def test_a_whole_file_of_another_kernel_is_none(written, place):
    keep("another.kernel", "|u1 1 1 int", OBJECTS)
    (other,) = set(place.iterdir()) - {written}
    other.replace(written)
    assert found() is None


@pytest.mark.parametrize("rights", [0o664, 0o646, 0o666])
def test_a_file_that_others_may_write_is_none(written, rights):
    written.chmod(rights)
    assert found() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_none(written):
    os.chown(written, NOBODY, -1)
    assert found() is None


def test_what_is_kept_can_be_written_by_nobody_else_whatever_the_mask(place):
    before = os.umask(0)
    try:
        keep("some.kernel", "|u1 1 1 int", OBJECTS)
    finally:
        os.umask(before)
    assert found() == OBJECTS


def test_a_file_that_is_none_of_ours_is_written_over(written):
    written.write_bytes(b"")
    keep("some.kernel", "|u1 1 1 int", OBJECTS)
    assert found() == OBJECTS


def test_where_nothing_can_be_written_nothing_is_kept(monkeypatch, tmp_path):
    taken = tmp_path / "cache"
    taken.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(taken))
    keep("some.kernel", "|u1 1 1 int", OBJECTS)
    assert found() is None
    assert taken.read_bytes() == b""


def test_the_oldest_of_a_kernel_go_and_those_of_others_stay(place):
    keep("some.kernel_2", "int", OBJECTS)
    for number in range(MOST + 2):
        keep("some.kernel", str(number), OBJECTS)
        for path in place.glob("some.kernel-*"):
            os.utime(path, ns=(path.stat().st_mtime_ns - 10**9,) * 2)
    assert [kept("some.kernel", str(number)) is not None for number in range(MOST + 2)] == [False] * 2 + [True] * MOST
    assert kept("some.kernel_2", "int") == OBJECTS


def test_kinds_tell_types_apart_that_compile_to_different_code():
    rows = np.zeros(4, [("a", "i4"), ("b", "i8")])
    aligned = np.zeros(4, np.dtype([("a", "i4"), ("b", "i8")], align=True))
    moved = np.zeros(4, np.dtype({"names": ["a", "b"], "formats": ["i4", "i8"], "offsets": [8, 0], "itemsize": 16}))
    read = np.zeros(4, np.int64)
    read.flags.writeable = False
    square = np.zeros((4, 4), np.int64)
    alike = [1, True, np.int32(1), np.uint32(1), np.int64(1), np.bool_(1)]
    arrays = [rows, aligned, moved, rows["a"], rows["b"], aligned["b"], read, np.zeros(4, np.int64), np.zeros(4, ">i8")]
    arrays += [square, square.T, square[:, ::2], np.zeros(4, np.uint8), np.zeros(4, "m8[s]")]
    assert len({told((taken_apart((value,)) or ((), []))[0]) for value in [*alike, *arrays]}) == len(alike + arrays)


def test_kinds_that_no_word_stands_for_are_left_to_numba():
    for value in ((1, 2), 1.5, None, "text", b"bytes", memoryview(b""), np.zeros(3).view(np.matrix), np.float64(1)):
        assert taken_apart((value,)) is None


def sums(rows, table, number, is_negative, small):
    total = 0
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            total += table[row, column]
    for row in range(len(rows)):
        total += rows["b"][row]
        rows["a"][row] += 1
    return total, (-number if is_negative else number), total == 0, small + np.uint64(1)


def test_words_carry_arrays_of_any_shape_and_stride_numbers_and_truths(place):
    kernel = Kernel(sums)
    rows = np.zeros(40, np.dtype([("a", "i2"), ("b", "i4")]))
    rows["b"] = np.arange(40)
    table = np.arange(-60, 60, dtype=np.int64).reshape(3, 4, 10)
    for of_rows in (rows, rows[5:], rows[::3], rows[::-2], rows[:0]):
        for of_table in (table[0], table[:, 1], table[1].T, table[2, ::2, ::-1], table[:, 3, :0]):
            for number, truth in ((0, False), (1, True), (-(1 << 63) + 1, True), ((1 << 63) - 1, False)):
                before = rows["a"].copy()
                answer = kernel.compiled(of_rows, of_table, number, truth, np.uint64((1 << 63) - 1))
                assert answer == (
                    of_table.sum() + of_rows["b"].sum(),
                    -number if truth else number,
                    of_table.sum() + of_rows["b"].sum() == 0,
                    1 << 63,
                )
                assert [type(value) for value in answer] == [int, int, bool, int]
                assert (rows["a"] - before).sum() == len(of_rows)
    assert kernel.compiled.is_native


def nothing(data, at):
    data[at] = 7


def divided(data, at):
    return data[at] // (at - 1)


def copied(data, at):
    part = data[at:]
    data[: len(part)] = part
    return len(part)


def an_array(data, at):
    return data[at:]


def made(data, at):
    return np.zeros(at, np.int64).sum() + data[0]


def same(data, at):
    return at


def array_of(*values):
    return np.array(values, np.int64)


def test_a_kernel_that_returns_nothing_returns_none(place):
    data = array_of(1, 2)
    assert Kernel(nothing).compiled(data, 1) is None
    assert data.tolist() == [1, 7]


def test_an_error_in_a_kernel_names_it_and_not_the_data(place):
    kernel = Kernel(divided)
    assert kernel.compiled(array_of(5, 6), 0) == -5
    with pytest.raises(KernelError, match=r"^the compiled kernel test_kept_kernels\.divided ended with status"):
        kernel.compiled(array_of(5, 6), 1)
    assert kernel.compiled(array_of(5, 6), 0) == -5


def test_arrays_are_not_counted_and_may_go_after_a_call(place):
    kernel, data = Kernel(nothing), array_of(1, 2, 3)
    held = sys.getrefcount(data)
    kernel.compiled(data, 1)
    assert (sys.getrefcount(data), kernel.compiled.is_native) == (held, True)


@pytest.mark.parametrize(("function", "answer"), [(an_array, [2]), (made, 1), (copied, 1)])
def test_kernels_that_hand_out_or_make_arrays_are_left_to_numba(function, answer, place):
    kernel = Kernel(function)
    found = kernel.compiled(array_of(1, 2), 1)
    assert (found.tolist() if function is an_array else found, kernel.compiled.is_native) == (answer, False)
    assert list(place.glob("*.kernel")) == []


def test_a_number_beyond_a_word_is_left_to_numba(place):
    kernel = Kernel(same)
    assert kernel.compiled(array_of(1), 5) == 5
    assert kernel.compiled(array_of(1), 1 << 63) == 1 << 63


def test_code_that_needs_what_the_process_has_not_is_not_loaded():
    assert loaded(OBJECTS._replace(needed=("NRT_allocate_of_nobody",)), "some.kernel") is None


def test_threads_that_come_at_once_load_a_kernel_once_and_agree(place):
    fresh = Kernel(crc32c.function, crc32c.plain, crc32c._faster)
    data = np.random.default_rng(1).integers(0, 256, 1 << 20).astype(np.uint8)
    fresh.compiled(data, 0, 1, 0)
    again, loads = Compiled(fresh.compiled.name, fresh.by_numba, threading.RLock()), []
    native = again._native
    again._native = lambda *given: (loads.append(1), native(*given))[1]  # type: ignore[method-assign]
    start, found = threading.Barrier(8), []

    def run():
        start.wait()
        found.extend(again(data, at, len(data), 0) for at in range(50))

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted([crc32c.plain(data, at, len(data), 0) for at in range(50)] * 8)
    assert loads == [1]


DIAGNOSED = (
    "import sys\n"
    "if sys.argv[1] == 'kept': sys.modules['numba.core'] = None\n"
    "import kafkatx; from kafkatx.kernels import engine; from kafkatx.outputs.diagnosis_json import to_json\n"
    "with engine.forced('interpreted' if sys.argv[1] == 'interpreted' else 'compiled'):\n"
    "    print(to_json(kafkatx.diagnose([sys.argv[2]]), '1'))\n"
)


def test_a_process_that_cannot_import_numba_says_the_same_by_what_another_kept(place):
    def said(how):
        command = [sys.executable, "-c", DIAGNOSED, how, str(FIXTURES / "k39-fenced")]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert said("interpreted") == said("compiled") == said("kept")
    assert {path.name.partition("-")[0] for path in place.glob("*.kernel")} >= {
        "batches.walk_batches",
        "spans.fold_spans",
        "transaction_log.walk_states",
        "transactions.fold_states",
    }
    assert all(path.read_bytes().startswith(FIRST) for path in place.glob("*.kernel"))
    assert list(place.rglob("*.nb?")) == []


def test_another_release_of_anything_makes_another_key(monkeypatch):
    def digest():
        kept_kernels._made_by.cache_clear()
        return kept_kernels._made_by()

    here = digest()
    try:
        with monkeypatch.context() as patch:
            for target, name in ((np, "__version__"), (sys, "version")):
                patch.setattr(target, name, "0")
                assert digest() != here
                patch.undo()
            patch.setattr(kept_kernels, "_release_of_numba", lambda: "0")
            assert digest() != here
            patch.undo()
            patch.setattr(kept_kernels, "sources", lambda: "0")
            assert digest() != here
    finally:
        assert digest() == here


def test_a_kept_kernel_is_loaded_sooner_than_one_is_compiled(place):
    def after(rows):
        fresh = Kernel(crc32c.function, crc32c.plain, crc32c._faster)
        fresh.count(rows)
        return fresh.is_compiled

    fitting = range(0, COMPILE_ABOVE_ROWS + 1, LOAD_ABOVE_ROWS)
    assert [after(rows) for rows in fitting] == [rows >= COMPILE_ABOVE_ROWS for rows in fitting]
    name = crc32c.compiled.name
    (place / f"{name}-0123456789abcdef-0123456789abcdef.kernel").touch()  # of another release
    assert not after(LOAD_ABOVE_ROWS)
    keep(name, "int", OBJECTS)
    assert [after(rows) for rows in (0, LOAD_ABOVE_ROWS - 1, LOAD_ABOVE_ROWS)] == [False, False, True]
