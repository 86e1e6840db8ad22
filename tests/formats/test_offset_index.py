from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.file_names import parse_segment_file
from kafkatx.formats.offset_index import ENTRY_SIZE, OffsetIndexEntry, OffsetPosition, offset_positions
from tests.declared import batches
from tests.formats.captures import broker_files

TWO = bytes.fromhex("0000000a 00001000 00000014 00002345")


def test_offsets_are_relative_to_the_name_of_the_file():
    assert ENTRY_SIZE == 8
    assert list(offset_positions(TWO, 100)) == [OffsetPosition(110, 4096), OffsetPosition(120, 9029)]


def test_preallocated_zeros_and_a_part_of_an_entry_are_no_entries():
    assert list(offset_positions(TWO + bytes(80), 0)) == list(offset_positions(TWO, 0))
    assert list(offset_positions(TWO + TWO[:7], 0)) == list(offset_positions(TWO, 0))
    assert list(offset_positions(bytes(80), 0)) == []
    assert list(offset_positions(b"", 0)) == []


def test_a_first_entry_of_zeros_counts_when_others_follow():
    assert next(offset_positions(bytes(8) + TWO, 5)) == OffsetPosition(5, 0)


@given(st.binary(min_size=8, max_size=8))
def test_any_8_bytes_come_back(data):
    assert OffsetIndexEntry.build(OffsetIndexEntry.parse(data)) == data


def test_every_recorded_entry_points_at_a_batch_that_begins_not_above_its_offset():
    count = 0
    for path in broker_files("*/*.index"):
        log = path.with_suffix(".log")
        file = parse_segment_file(path.name)
        if file is not None and log.exists():
            begins = {batch.position: batch.base_offset for batch in batches(log.read_bytes())}
            for entry in offset_positions(path.read_bytes(), file.base_offset):
                assert begins[entry.position] <= entry.offset, path
                count += 1
    assert count
