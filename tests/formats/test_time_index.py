from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.file_names import parse_segment_file
from kafkatx.formats.time_index import ENTRY_SIZE, TimeIndexEntry, TimestampOffset, timestamp_offsets
from tests.formats.captures import broker_files

TWO = bytes.fromhex("0000018bcfe5687b 0000000a 0000018bcfe5687c 00000014")


def test_offsets_are_relative_to_the_name_of_the_file():
    assert ENTRY_SIZE == 12
    assert list(timestamp_offsets(TWO, 100)) == [
        TimestampOffset(1700000000123, 110),
        TimestampOffset(1700000000124, 120),
    ]


def test_preallocated_zeros_and_a_part_of_an_entry_are_no_entries():
    assert list(timestamp_offsets(TWO + bytes(120), 0)) == list(timestamp_offsets(TWO, 0))
    assert list(timestamp_offsets(TWO + TWO[:11], 0)) == list(timestamp_offsets(TWO, 0))
    assert list(timestamp_offsets(bytes(120), 0)) == []


@given(st.binary(min_size=12, max_size=12))
def test_any_12_bytes_come_back(data):
    assert TimeIndexEntry.build(TimeIndexEntry.parse(data)) == data


def test_recorded_timestamps_ascend():
    count = 0
    for path in broker_files("*/*.timeindex"):
        file = parse_segment_file(path.name)
        entries = list(timestamp_offsets(path.read_bytes(), file.base_offset if file else 0))
        assert [entry.timestamp for entry in entries] == sorted(entry.timestamp for entry in entries), path
        count += len(entries)
    assert count
