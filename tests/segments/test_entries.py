import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.aborted_txn import AbortedTxn
from kafkatx.formats.producer_snapshot import ProducerSnapshot
from kafkatx.segments.entries import aborted_transactions, leader_epochs, producer_states
from tests.declared import build_snapshot
from tests.formats.captures import broker_files

NAMES = {"open_since_offset": "current_txn_first_offset"}
"""Columns that are called by their meaning here and as Kafka calls them in the declaration."""


def aborted(**fields):
    content = {"version": 0, "producer_id": 7, "first_offset": 3, "last_offset": 9, "last_stable_offset": 10}
    return AbortedTxn.build(content | fields)


def producer(**fields):
    content = {"producer_id": 7, "producer_epoch": 1, "last_sequence": 5, "last_offset": 9, "offset_delta": 2}
    return content | {"timestamp": 99, "coordinator_epoch": -1, "current_txn_first_offset": 8} | fields


def test_recorded_aborted_transactions_are_those_of_the_declaration():
    compared = 0
    for path in broker_files("*/*.txnindex"):
        data = path.read_bytes()
        entries, damage = aborted_transactions(str(path), data)
        assert damage == []
        for row, expected in zip(entries, AbortedTxn.each(data), strict=True):
            assert all(row[name] == expected[name] for name in entries.dtype.names)
            compared += 1
    assert compared


def test_recorded_producer_states_are_those_of_the_declaration():
    compared = 0
    for path in broker_files("*/*.snapshot"):
        data = path.read_bytes()
        entries, damage = producer_states(str(path), data)
        assert damage == []
        for row, expected in zip(entries, ProducerSnapshot.parse(data).entries, strict=True):
            assert all(row[name] == expected[NAMES.get(name, name)] for name in entries.dtype.names)
            compared += 1
    assert compared


def test_an_index_cut_at_any_byte_keeps_its_whole_entries():
    data = aborted() + aborted(last_offset=20)
    for size in range(len(data) + 1):
        entries, damage = aborted_transactions("x", data[:size])
        assert len(entries) == size // 34
        expected = [("torn", size - size % 34, size % 34)] if size % 34 else []
        assert [(found.kind, found.position, found.bytes) for found in damage] == expected


@pytest.mark.parametrize("version", [1, -1, 256, 255])
def test_an_entry_of_another_version_is_damage_and_its_neighbours_are_read(version):
    entries, damage = aborted_transactions("x", aborted() + aborted(version=version) + aborted(producer_id=8))
    assert entries["producer_id"].tolist() == [7, 8]
    assert [(found.kind, found.position) for found in damage] == [("entry", 34)]


def test_the_list_of_damaged_entries_is_bounded():
    _, damage = aborted_transactions("x", aborted(version=9) * 5000)
    assert len(damage) == 100


def test_a_snapshot_with_any_bit_wrong_is_refused_whole():
    data = build_snapshot([producer(), producer(producer_id=8)])
    assert len(producer_states("x", data)[0]) == 2
    for at in range(len(data)):
        for bit in range(8):
            broken = data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
            entries, damage = producer_states("x", broken)
            assert len(entries) == 0
            assert len(damage) == 1


def test_a_snapshot_cut_at_any_byte_is_refused():
    data = build_snapshot([producer()])
    for size in range(len(data)):
        entries, damage = producer_states("x", data[:size])
        assert (len(entries), len(damage)) == (0, 1)


def test_a_snapshot_of_ten_bytes_has_no_producers():
    entries, damage = producer_states("x", build_snapshot([]))
    assert (len(entries), damage) == (0, [])


@given(count=st.integers(-(2**31), 2**31 - 1), body=st.binary(max_size=100))
def test_a_count_that_does_not_match_is_damage_though_the_crc_is_right(count, body):
    covered = count.to_bytes(4, "big", signed=True) + body
    data = b"\0\1" + google_crc32c.value(covered).to_bytes(4, "big") + covered
    entries, damage = producer_states("x", data)
    assert len(entries) * 46 == (len(body) if not damage else 0)
    assert bool(damage) is (count * 46 != len(body))


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("0\n2\n0 44\n3 90\n", [(0, 44), (3, 90)]),
        ("", []),
        ("0\n1\n", []),
        ("7\n1\n0 44\n", []),
        ("0\n2\nnonsense\n3 90\n", [(3, 90)]),
    ],
    ids=["whole", "empty", "cut", "another version", "a bad line"],
)
def test_leader_epochs_are_what_whole_lines_say(text, entries):
    assert leader_epochs(text.encode()).tolist() == entries
