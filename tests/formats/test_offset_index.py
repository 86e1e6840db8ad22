from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.file_names import parse_segment_file
from kafkatx.formats.offset_index import ENTRY_SIZE, OffsetIndexEntry
from tests.declared import batches
from tests.formats.captures import broker_files


def test_an_entry_has_the_size_of_kafka():
    assert ENTRY_SIZE == 8


@given(st.binary(min_size=8, max_size=8))
def test_any_8_bytes_come_back(data):
    assert OffsetIndexEntry.build(OffsetIndexEntry.parse(data)) == data


def filled(data):
    return OffsetIndexEntry.each(data[: len(data.rstrip(b"\0")) + ENTRY_SIZE - 1]) if any(data) else ()


def test_every_recorded_entry_points_at_a_batch_that_begins_not_above_its_offset():
    count = 0
    for path in broker_files("*/*.index"):
        log = path.with_suffix(".log")
        file = parse_segment_file(path.name)
        if file is not None and log.exists():
            begins = {batch.position: batch.base_offset for batch in batches(log.read_bytes())}
            for entry in filled(path.read_bytes()):
                assert begins[entry.position] <= file.base_offset + entry.relative_offset, path
                count += 1
    assert count
