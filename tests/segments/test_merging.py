from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.rows import BATCH
from kafkatx.segments.merging import BATCH_SHAPE, BEGIN, Merge, Stream, in_order
from tests.work import lines_run


def row(base_offset, last_offset=None, *, records=None, epoch=0, crc=None, **fields):
    out = np.zeros((), BATCH)
    last_offset = base_offset if last_offset is None else last_offset
    records = last_offset - base_offset + 1 if records is None else records
    content = {"base_offset": base_offset, "last_offset": last_offset, "record_count": records, "leader_epoch": epoch}
    for name, value in (content | {"crc": base_offset if crc is None else crc, "magic": 2} | fields).items():
        out[name] = value
    return out


def table(rows):
    return np.array([row.item() for row in rows], BATCH)


def merge(*files, chunk=2):
    """The merged rows of files (lists of rows), read in chunks; and what was set aside, with its file's number."""
    streams = []
    for number, rows in enumerate(files):
        parts = [table(rows[at : at + chunk]) for at in range(0, len(rows), chunk)]
        first = int(rows[0]["base_offset"]) if rows else 0
        streams.append(Stream(first, number, lambda parts=parts: iter(parts)))
    merged = Merge(BATCH_SHAPE, in_order(streams))
    windows = list(merged.windows())
    found = [row for window in windows for row in window]
    return found, merged.diverged


def offsets(found):
    return [int(row["base_offset"]) for row in found]


def log(sizes, epochs=()):
    """Batches of these sizes, back to back; the epoch grows where `epochs` says so."""
    made, offset, epoch = [], 0, 0
    for number, size in enumerate(sizes):
        epoch += number in epochs
        made.append(row(offset, offset + size - 1, epoch=epoch))
        offset += size
    return made


LOGS = st.builds(log, st.lists(st.integers(1, 4), min_size=1, max_size=20), st.sets(st.integers(0, 20), max_size=3))
PIECES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6)


@given(
    whole=LOGS, pieces=PIECES, cuts=st.lists(st.integers(0, 20), max_size=3), data=st.data(), chunk=st.integers(1, 5)
)
def test_any_cut_any_overlap_and_any_order_give_the_same_stream(whole, pieces, cuts, data, chunk):
    borders = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    files = [whole[first:end] for first, end in pairwise(borders)]
    files += [whole[first:end] for first, end in pieces if first < end]
    files = data.draw(st.permutations(files))
    found, diverged = merge(*files, chunk=chunk)
    assert (table(found) == table(whole)).all()
    assert diverged == []


@given(whole=LOGS, kept=st.sets(st.integers(0, 20)), chunk=st.integers(1, 4), first=st.booleans())
def test_of_a_whole_and_a_compacted_copy_the_fuller_version_stands(whole, kept, chunk, first):
    compacted = []
    for number, batch in enumerate(whole):
        if number in kept:
            emptied = batch.copy()
            emptied["record_count"], emptied["crc"], emptied["base_timestamp"] = 0, 77, -1
            compacted.append(emptied)
    files = [compacted, whole] if first else [whole, compacted]
    found, diverged = merge(*(rows for rows in files if rows), chunk=chunk)
    assert (table(found) == table(whole)).all()
    assert diverged == []


def test_what_only_the_compacted_copy_still_holds_is_kept():
    found, _ = merge([row(0, 9, records=1), row(10)], [row(10), row(11)])
    assert offsets(found) == [0, 10, 11]


def test_the_chain_of_the_highest_leader_epoch_stands():
    common = [row(0), row(1)]
    old = [*common, row(2, crc=1), row(3, crc=1), row(4, crc=1)]
    new = [*common, row(2, epoch=1), row(3, epoch=1)]
    for files in ([old, new], [new, old]):
        found, diverged = merge(*files)
        assert [(int(batch["base_offset"]), int(batch["leader_epoch"])) for batch in found] == [
            (0, 0),
            (1, 0),
            (2, 1),
            (3, 1),
        ]
        assert sorted(int(batch["base_offset"]) for _, batch in diverged) == [2, 3, 4]
        assert {source for source, _ in diverged} == {files.index(old)}


def test_a_row_that_reaches_over_a_newer_epoch_is_set_aside_wherever_windows_end():
    newer = [row(8, epoch=1), row(9, epoch=1)]
    for chunk in (1, 2, 3):
        for older in ([row(5, 8)], [row(5, 8), row(9), row(10)], [row(4), row(5, 8)]):
            found, diverged = merge(older, newer, chunk=chunk)
            assert 5 not in offsets(found), chunk
            assert offsets(found)[-2:] == [8, 9]
            assert 5 in [int(batch["base_offset"]) for _, batch in diverged]


DIVERGED = st.tuples(LOGS, LOGS, st.integers(0, 20))


@given(
    logs=DIVERGED, chunks=st.tuples(st.integers(1, 5), st.integers(1, 5)), swap=st.booleans(), cut=st.integers(0, 20)
)
def test_what_stands_of_diverged_replicas_depends_on_neither_order_nor_cut(logs, chunks, swap, cut):
    common, tail, fork = logs
    fork = min(fork, len(common))
    start = int(common[fork - 1]["last_offset"]) + 1 if fork else 0
    new = common[:fork]
    for batch in tail:
        moved = batch.copy()
        moved["base_offset"] += start
        moved["last_offset"] += start
        moved["leader_epoch"] += 10
        new.append(moved)
    found, _ = merge(common, new, chunk=chunks[0])
    files = [common[:cut], common[cut:], new]
    again, _ = merge(*(rows for rows in (files[::-1] if swap else files) if rows), chunk=chunks[1])
    assert (table(found) == table(again)).all()
    assert (table([batch for batch in found if batch["base_offset"] >= start]) == table(new[fork:])).all()


def test_batches_of_two_logs_under_one_name_are_not_mixed_silently():
    one = [row(0, 1, producer_id=1), row(2, 3, producer_id=1)]
    other = [row(0, 2, producer_id=2), row(3, 3, producer_id=2)]
    found, diverged = merge(one, other)
    assert len(diverged) >= 1
    assert len(found) + len(diverged) == 4


@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize("first", [0, 1])
def test_bytes_stand_before_what_a_tool_printed_of_them_wherever_their_chunks_begin(first, cut):
    whole = [row(offset, size=70, control_type=0) for offset in range(3)]
    printed = [row(offset, size=-1, control_type=-1) for offset in range(3)]
    blocks = [(whole[:cut], first), (whole[cut:], first), (printed, 1 - first)]
    streams = [
        Stream(int(rows[0]["base_offset"]), number, lambda rows=rows: iter([table(rows)]))
        for rows, number in blocks
        if rows
    ]
    windows = [*Merge(BATCH_SHAPE, in_order(streams)).windows()]
    assert [row.tolist() for rows in windows for row in rows] == [row.tolist() for row in whole]


def test_a_file_whose_beginning_is_not_known_is_merged_too():
    streams = [
        Stream(BEGIN, 0, lambda: iter([table([row(5), row(6)])])),
        Stream(0, 1, lambda: iter([table([row(0), row(1)]), table([row(6)])])),
    ]
    assert offsets([found for window in Merge(BATCH_SHAPE, in_order(streams)).windows() for found in window]) == [
        0,
        1,
        5,
        6,
    ]


def test_files_are_opened_only_when_the_merge_reaches_them():
    opened = []

    def begin(number):
        opened.append(number)
        return iter([table([row(10 * number)])])

    windows = Merge(
        BATCH_SHAPE, [Stream(10 * number, number, lambda number=number: begin(number)) for number in range(5)]
    )
    next(iter(windows.windows()))
    assert opened == [0, 1]


def test_nothing_merges_to_nothing():
    assert merge() == ([], [])
    assert merge([], []) == ([], [])


def test_the_list_of_diverged_rows_is_bounded(monkeypatch):
    from kafkatx.segments import merging

    monkeypatch.setattr(merging, "MOST_DIVERGED", 3)
    _, diverged = merge([row(number, crc=1) for number in range(50)], [row(number, epoch=1) for number in range(50)])
    assert len(diverged) == 3


def test_four_times_as_many_pieces_of_one_batch_are_four_times_the_work():
    few, many = ([log([1])] * count for count in (100, 400))
    assert offsets(merge(*many)[0]) == [0]
    assert lines_run(lambda: merge(*many)) < 5 * lines_run(lambda: merge(*few))
