"""One file while it is read: whatever is read of it, its coverage and damage are carried along."""

from pathlib import Path

from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.extents import WHOLE, Extent
from kafkatx.evidence.file_entries import file_entries
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Kind
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.segments.batches import NO_LIMIT
from kafkatx.stages.models import open_captures
from tests.building import batch, segment
from tests.offset_commits import commits, key, value


def reading(folder: Path, kind: Kind = Kind.LOG) -> FileReading:
    (item,) = [
        one for capture in open_captures([folder]) for d in capture.directories for one in d.items if one.kind is kind
    ]
    return FileReading(item, coverage_of(None, item, None), FileReach(0, item.base_offset), NO_LIMIT)


def test_records_tell_the_same_coverage_as_batches(tmp_path: Path) -> None:
    segment(tmp_path / "orders-0", [batch(0, b"a", b"b"), batch(2, b"c")])
    batches, records = reading(tmp_path), reading(tmp_path)
    assert [len(rows) for rows in batches.batch_rows()] == [2]
    assert [len(part.records) for _, parts in records.records() for part in parts] == [3]
    assert batches.entry == records.entry
    assert (records.entry.status, records.entry.last_offset) == ("read", 2)


def test_records_that_nobody_takes_are_read_for_their_damage(tmp_path: Path) -> None:
    segment(tmp_path / "__consumer_offsets-0", commits(0, (key(), value()), (None, value())))
    taken, whole = reading(tmp_path), reading(tmp_path)
    assert sum(len(part.rows) for _, parts in taken.commits() for part in parts) == 1
    assert sum(len(rows) for rows in whole.whole()) == 1
    assert [one.kind for one in whole.damage] == [one.kind for one in taken.damage] == ["entry"]


def test_batches_behind_the_size_that_a_file_had_are_not_there(tmp_path: Path) -> None:
    path = segment(tmp_path / "orders-0", [batch(0, b"a"), batch(1, b"b")])
    first = Extent(size=len(batch(0, b"a")))
    assert [len(rows) for rows, _ in reading(tmp_path).batches(first)] == [1]
    assert [len(rows) for rows, _ in reading(tmp_path).batches(WHOLE)] == [2]
    assert path.stat().st_size > len(batch(0, b"a"))


def test_old_batches_are_not_decoded_but_are_still_accounted_for(tmp_path: Path) -> None:
    old, new = batch(0, b"a", max_timestamp=5_000), batch(1, b"b", max_timestamp=7_000)
    segment(tmp_path / "orders-0", [old, new])
    since = Extent(since=6_000)
    found = [
        (len(rows), [one for part in parts for one in part.records["offset"]])
        for rows, parts in reading(tmp_path).records(since)
    ]
    assert found == [(2, [1])]


def test_entries_of_a_file_that_is_gone_are_none_and_it_is_damage(tmp_path: Path) -> None:
    segment(tmp_path / "orders-0", batch(0, b"a"))
    index = tmp_path / "orders-0" / "00000000000000000000.txnindex"
    index.write_bytes(bytes(34 * 2 + 3))
    item = reading(tmp_path, Kind.TXNINDEX).item
    found = file_entries(item)
    assert (len(found.rows), found.positions.tolist(), [one.kind for one in found.damage]) == (2, [0, 34], ["torn"])
    index.unlink()
    gone = file_entries(item)
    assert (len(gone.rows), len(gone.positions), [one.kind for one in gone.damage]) == (0, 0, ["unreadable"])
