import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import aborted_txn
from kafkatx.formats.aborted_txn import AbortedTxn
from kafkatx.formats.layout import Malformed
from tests.formats.captures import broker_files, dumped, fields_of

ENTRY = bytes.fromhex("0000 0000000000001389 0000000000000004 0000000000000009 000000000000000a")


def test_an_entry_has_34_bytes_and_is_read_field_by_field():
    assert aborted_txn.ENTRY_SIZE == 34
    entry = AbortedTxn.parse(ENTRY)
    assert (entry.version, entry.producer_id, entry.first_offset) == (0, 5001, 4)
    assert (entry.last_offset, entry.last_stable_offset) == (9, 10)


def test_a_part_of_an_entry_at_the_end_is_no_entry():
    assert len(list(AbortedTxn.each(ENTRY + ENTRY[:33]))) == 1
    with pytest.raises(Malformed):
        AbortedTxn.parse(ENTRY[:33])


def test_a_version_in_the_low_byte_is_seen():
    assert AbortedTxn.parse(b"\x00\x07" + ENTRY[2:]).version == 7


@given(st.binary(min_size=34, max_size=34))
def test_any_34_bytes_come_back(data):
    assert AbortedTxn.build(AbortedTxn.parse(data)) == data


def recorded():
    return [*broker_files("*/*.txnindex"), *broker_files("*/*.txnindex.deleted")]


def test_every_recorded_index_is_rebuilt_and_keeps_its_limits():
    count = 0
    for path in recorded():
        entries = list(AbortedTxn.each(path.read_bytes()))
        assert b"".join(AbortedTxn.build(entry) for entry in entries) == path.read_bytes()
        assert all(entry.version == aborted_txn.VERSION for entry in entries)
        assert all(entry.first_offset <= entry.last_offset for entry in entries)
        assert [entry.last_offset for entry in entries] == sorted(entry.last_offset for entry in entries)
        count += len(entries)
    assert count


def test_entries_are_those_that_kafka_dump_log_prints():
    names = ("version", "producerId", "firstOffset", "lastOffset", "lastStableOffset")
    compared = 0
    for path, lines in dumped("*/*.txnindex"):
        printed = [[int(fields_of(line)[name]) for name in names] for line in lines if line.startswith("version: ")]
        entries = AbortedTxn.each(path.read_bytes())
        assert printed == [
            [entry.version, entry.producer_id, entry.first_offset, entry.last_offset, entry.last_stable_offset]
            for entry in entries
        ]
        compared += len(printed)
    assert compared
