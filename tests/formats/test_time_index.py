from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.time_index import ENTRY_SIZE, TimeIndexEntry
from tests.formats.captures import broker_files


def test_an_entry_has_the_size_of_kafka():
    assert ENTRY_SIZE == 12


@given(st.binary(min_size=12, max_size=12))
def test_any_12_bytes_come_back(data):
    assert TimeIndexEntry.build(TimeIndexEntry.parse(data)) == data


def test_recorded_timestamps_ascend():
    count = 0
    for path in broker_files("*/*.timeindex"):
        data = path.read_bytes()
        entries = list(TimeIndexEntry.each(data[: len(data.rstrip(b"\0")) + ENTRY_SIZE - 1])) if any(data) else []
        assert [entry.timestamp for entry in entries] == sorted(entry.timestamp for entry in entries), path
        count += len(entries)
    assert count
