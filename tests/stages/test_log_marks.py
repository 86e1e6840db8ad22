"""Small files beside a log: the newest snapshot, entries of indexes, times before the zeros of a preallocated file."""

import struct

import google_crc32c
import pytest

from kafkatx.stages.log_marks import UNKNOWN, AbortedMark, MarksAsked, OpenMark, marks_of, times_of


def time_index(path, entries, zeros=0):
    path.write_bytes(b"".join(struct.pack(">qi", *entry) for entry in entries) + bytes(12 * zeros))
    return str(path)


def snapshot(path, entries):
    """Entries are (producer id, last time, first offset of what is open, -1: nothing)."""
    rows = b"".join(
        struct.pack(">qhiqiqiq", producer, 0, 5, 90, 0, time, 3, since) for producer, time, since in entries
    )
    body = struct.pack(">i", len(entries)) + rows
    path.write_bytes(struct.pack(">hI", 1, google_crc32c.value(body)) + body)
    return str(path)


def index(path, entries):
    """Entries are (producer id, first offset, last offset)."""
    path.write_bytes(b"".join(struct.pack(">hqqqq", 0, *entry, entry[-1] + 1) for entry in entries))
    return str(path)


@pytest.mark.parametrize("zeros", [0, 1, 2, 1000])
@pytest.mark.parametrize("count", [1, 2, 3, 50])
def test_times_are_those_before_the_zeros(tmp_path, count, zeros):
    entries = [(1_000 + number, number) for number in range(count)]
    assert times_of(time_index(tmp_path / "0.timeindex", entries, zeros)) == (1_000, 999 + count)


def test_no_entry_no_file_and_no_path_tell_no_time(tmp_path):
    assert times_of(time_index(tmp_path / "0.timeindex", [], 5)) == (UNKNOWN, UNKNOWN)
    assert times_of(str(tmp_path / "absent")) == (UNKNOWN, UNKNOWN)
    assert times_of(None) == (UNKNOWN, UNKNOWN)


def test_what_the_newest_snapshot_has_open_and_had_open_before(tmp_path):
    older = snapshot(tmp_path / "00000000000000000100.snapshot", [(7, 1_000, 40), (8, 1_500, -1)])
    newer = snapshot(tmp_path / "00000000000000000200.snapshot", [(7, 1_000, 40), (8, 9_000, 190), (9, 9_500, -1)])
    told = marks_of(MarksAsked((older, newer), None, (), 0))
    assert told.open == (OpenMark(7, 40, 1_000, lasted=True), OpenMark(8, 190, 9_000, lasted=False))
    assert (told.rolled_at, told.damaged) == (9_500, ())


def test_entries_of_an_index_are_counted_by_producer_between_the_times_of_segments(tmp_path):
    before = time_index(tmp_path / "00.timeindex", [(1_000, 1), (2_000, 9)])
    own = time_index(tmp_path / "10.timeindex", [(2_500, 1), (3_000, 9)], zeros=3)
    path = index(tmp_path / "10.txnindex", [(5, 11, 12), (5, 14, 15), (6, 16, 19)])
    told = marks_of(MarksAsked((), None, ((path, 10, before, own),), 0))
    assert told.aborted == (AbortedMark(10, 19, 2_000, 3_000, ((5, 2), (6, 1))),)


def test_small_files_that_are_none_are_damaged(tmp_path):
    broken = tmp_path / "00000000000000000200.snapshot"
    broken.write_bytes(b"\0\1garbage that is no snapshot")
    backwards = index(tmp_path / "00000000000000000100.txnindex", [(5, 140, 120)])
    told = marks_of(MarksAsked((str(broken),), None, ((backwards, 100, None, None),), 0))
    assert told.damaged == (100, 200)
    assert told.says_something
