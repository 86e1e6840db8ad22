import struct

import pytest

from kafkatx.formats.aborted_txn import AbortedTxn
from kafkatx.formats.offset_index import OffsetIndexEntry
from kafkatx.formats.time_index import TimeIndexEntry
from kafkatx.local.verification import verify
from kafkatx.segments import indexes
from kafkatx.terms.errors import UsageError
from tests.building import batch, data_batch, marker, message, segment, states, with_crc
from tests.declared import build_snapshot
from tests.evidence import all_cases, broker_folders

LOG = "00000000000000000000"


def names(places):
    return [(place.path.rsplit("/", 1)[1], place.kind, place.position) for place in places]


def damage(path, **options):
    return names(verify([path], **options).damage)


def status(path, **options):
    return {entry.path.rsplit("/", 1)[1]: entry.status for entry in verify([path], **options).coverage}


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]


def offsets_index(*entries):
    return b"".join(OffsetIndexEntry.build({"relative_offset": o, "position": p}) for o, p in entries)


def times_index(*entries):
    return b"".join(TimeIndexEntry.build({"timestamp": t, "relative_offset": o}) for t, o in entries)


def aborted_index(*entries):
    names = ("producer_id", "first_offset", "last_offset")
    return b"".join(
        AbortedTxn.build({"version": 0, "last_stable_offset": 99} | dict(zip(names, entry, strict=True)))
        for entry in entries
    )


class Partition:
    """A folder of segments that a test fills file by file."""

    def __init__(self, folder):
        self.folder = folder / "orders-0"
        self.folder.mkdir()

    def put(self, suffix, data, base_offset=0):
        (self.folder / f"{base_offset:020d}.{suffix}").write_bytes(data)

    def damage(self, **options):
        return damage(self.folder, **options)


@pytest.fixture
def partition(tmp_path):
    return Partition(tmp_path)


BATCHES = [batch(2 * number, b"a", b"b") for number in range(6)]
"""Of two records each; the time of a batch is 1000 + its offset."""
ENDS = [sum(map(len, BATCHES[:number])) for number in range(7)]


@pytest.mark.parametrize("records", [False, True])
def test_every_recorded_broker_is_whole(records):
    for case in all_cases():
        if broker_folders(case):
            found = verify(broker_folders(case), records=records)
            assert (names(found.damage), names(found.ordinary)) == ([], []), case.name
            assert found.has_read


def test_the_coverage_says_what_was_verified_of_each_file(partition):
    partition.put("log", b"".join(BATCHES) + batch(12, b"c"))
    partition.put("index", offsets_index((3, ENDS[1])))
    partition.put("timeindex", b"")
    found = {entry.kind: entry for entry in verify([partition.folder], records=True).coverage}
    log = found["log"]
    assert (log.first_offset, log.last_offset, log.batches, log.records, log.status) == (0, 12, 7, 13, "read")
    assert (log.first_timestamp, log.last_timestamp) == (1000, 1012)
    assert log.verified == "CRC of every batch, 13 records"
    assert found["index"].verified == "1 entries against the segment"
    assert found["timeindex"].status == "empty"


def test_a_wrong_crc_is_found_where_it_is(partition):
    partition.put("log", flipped(b"".join(BATCHES), ENDS[2] + 65))
    assert partition.damage() == [(f"{LOG}.log", "crc", ENDS[2])]
    assert status(partition.folder) == {f"{LOG}.log": "damaged"}


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrong_crc_of_an_old_message_is_found(partition, magic):
    messages = [message(number, magic) for number in range(3)]
    partition.put("log", messages[0] + flipped(messages[1], len(messages[1]) - 1) + messages[2])
    assert partition.damage() == [(f"{LOG}.log", "crc", len(messages[0]))]


def test_a_torn_end_is_ordinary_in_the_last_segment_and_damage_in_an_earlier_one(partition):
    torn = b"".join(BATCHES)[:-5]
    partition.put("log", torn)
    found = verify([partition.folder])
    assert (names(found.damage), names(found.ordinary)) == ([], [(f"{LOG}.log", "torn", ENDS[5])])
    assert found.coverage[0].status == "torn"
    partition.put("log", batch(20, b"x"), 20)
    assert partition.damage() == [(f"{LOG}.log", "torn", ENDS[5])]


def test_preallocated_zeros_are_ordinary_in_the_last_segment_and_damage_in_an_earlier_one(partition):
    partition.put("log", b"".join(BATCHES) + bytes(500))
    found = verify([partition.folder])
    assert (found.damage, found.coverage[0].status) == ([], "read")
    assert found.coverage[0].note == "500 preallocated bytes at the end"
    partition.put("log", batch(20, b"x"), 20)
    assert partition.damage() == [(f"{LOG}.log", "torn", ENDS[6])]


def test_segments_that_hold_the_same_offsets_are_damage(partition):
    partition.put("log", b"".join(BATCHES))
    partition.put("log", batch(8, b"x"), 8)
    assert partition.damage() == [(f"{LOG}.log", "header", ENDS[4])]


def test_offsets_that_do_not_ascend_are_damage(partition):
    partition.put("log", BATCHES[0] + BATCHES[2] + BATCHES[1] + BATCHES[3])
    assert [kind for _, kind, _ in partition.damage()] == ["header"]


HEALTHY_OFFSETS = [
    pytest.param(offsets_index((3, ENDS[1]), (9, ENDS[4])), id="last offset of the batch"),
    pytest.param(offsets_index((2, ENDS[1]), (8, ENDS[4])), id="base offset, as old recoveries write"),
    pytest.param(offsets_index((7, ENDS[1]), (9, ENDS[4])), id="last offset of a follower's append of many batches"),
    pytest.param(offsets_index((3, ENDS[1])) + bytes(800), id="preallocated"),
    pytest.param(bytes(800), id="nothing but zeros"),
    pytest.param(b"", id="empty"),
]


@pytest.mark.parametrize("data", HEALTHY_OFFSETS)
def test_shapes_of_offset_indexes_that_brokers_write_are_whole(partition, data):
    partition.put("log", b"".join(BATCHES))
    partition.put("index", data)
    assert partition.damage() == []


@pytest.mark.parametrize(
    ("data", "positions"),
    [
        (offsets_index((3, ENDS[1] + 1), (9, ENDS[4])), [0]),
        (offsets_index((3, ENDS[1]), (9, ENDS[4] - 7)), [8]),
        (offsets_index((1, ENDS[1]), (9, ENDS[4])), [0]),
        (offsets_index((8, ENDS[1]), (9, ENDS[4])), [0]),
        (offsets_index((5, ENDS[2]), (3, ENDS[1])), [8]),
        (offsets_index((5, ENDS[2]), (5, ENDS[2])), [8]),
        (offsets_index((-3, ENDS[1])), [0]),
        (offsets_index((3, ENDS[1])) + bytes(16) + offsets_index((9, ENDS[4])), [8, 16]),
        (offsets_index((3, ENDS[1])) + b"\0\0\1", [8]),
        (offsets_index((3, ENDS[1])) + bytes(3), [8]),
    ],
)
def test_an_offset_index_that_leads_astray_is_damage(partition, data, positions):
    partition.put("log", b"".join(BATCHES))
    partition.put("index", data)
    found = partition.damage()
    assert [position for name, _, position in found] == positions
    assert {name for name, _, _ in found} == {f"{LOG}.index"}


@pytest.mark.parametrize("data", [times_index((1003, 3), (1009, 9)), times_index((1011, 11)) + bytes(24), b""])
def test_shapes_of_time_indexes_that_brokers_write_are_whole(partition, data):
    partition.put("log", b"".join(BATCHES))
    partition.put("timeindex", data)
    assert partition.damage() == []


@pytest.mark.parametrize(
    ("data", "positions"),
    [
        (times_index((1001, 3)), [0]),
        (times_index((1003, 3), (1002, 9)), [12]),
        (times_index((1003, 3), (1003, 5)), [12]),
        (times_index((1003, -1)), [0]),
        (times_index((1003, 3)) + b"\1", [12]),
    ],
)
def test_a_time_index_that_leads_astray_is_damage(partition, data, positions):
    partition.put("log", b"".join(BATCHES))
    partition.put("timeindex", data)
    assert partition.damage()[:1] == [(f"{LOG}.timeindex", partition.damage()[0][1], positions[0])]


def test_an_older_time_behind_a_newer_one_is_no_damage(partition):
    late = [batch(0, b"a", base_timestamp=5000, max_timestamp=5000), batch(1, b"b"), batch(2, b"c")]
    partition.put("log", b"".join(late))
    partition.put("timeindex", times_index((5000, 0)))
    assert partition.damage() == []
    partition.put("timeindex", times_index((1001, 1)))
    assert len(partition.damage()) == 1


@pytest.mark.parametrize(
    ("suffix", "ahead"), [("index", offsets_index((40, 9999))), ("timeindex", times_index((1999, 40)))]
)
def test_an_index_ahead_of_its_log_is_ordinary_in_the_last_segment_only(partition, suffix, ahead):
    partition.put("log", b"".join(BATCHES))
    partition.put(suffix, ahead)
    found = verify([partition.folder])
    assert found.damage == []
    assert [entry.note for entry in found.coverage if entry.note] == [
        "1 entries are ahead of the log: it was being written, or lost its end"
    ]
    partition.put("log", batch(50, b"x"), 50)
    assert partition.damage() == [(f"{LOG}.{suffix}", "entry", 0)]


def test_the_list_of_wrong_entries_of_a_file_is_bounded(partition):
    partition.put("log", b"".join(BATCHES))
    partition.put("index", offsets_index(*((number, 1) for number in range(1, 4000))))
    assert 0 < len(partition.damage()) <= 2 * indexes.MOST_ENTRIES


ABORTED = [data_batch(0, 7), data_batch(1, 8), marker(2, 7, commit=False), marker(3, 8), data_batch(4, 9)]
"""Producer 7 aborted from 0 to 2, producer 8 committed, producer 9 open."""


def test_aborted_transactions_that_markers_confirm_are_whole(partition):
    partition.put("log", b"".join(ABORTED))
    partition.put("txnindex", aborted_index((7, 0, 2)))
    assert partition.damage() == []


def test_an_aborted_transaction_whose_beginning_was_deleted_is_whole(partition):
    partition.put("log", data_batch(10, 7) + marker(11, 7, commit=False), 10)
    partition.put("txnindex", aborted_index((7, 3, 11)), 10)
    assert partition.damage() == []


def test_an_aborted_transaction_without_data_may_be_listed_or_not(partition):
    partition.put("log", marker(0, 7, commit=False) + batch(1, b"x"))
    partition.put("index", b"")
    assert partition.damage() == []
    partition.put("txnindex", aborted_index((7, 0, 0)))
    assert partition.damage() == []


def test_what_compaction_took_from_the_log_may_still_be_listed(partition):
    emptied = batch(2, attributes=0x30, producer_id=7, producer_epoch=0, records_count=0, last_offset_delta=0)
    partition.put("log", emptied + batch(8, b"x"))
    partition.put("txnindex", aborted_index((7, 0, 2), (7, 3, 5)))
    assert partition.damage() == []


@pytest.mark.parametrize(
    ("entries", "positions"),
    [
        ([], [0]),
        ([(7, 1, 2)], [34]),
        ([(7, 0, 1)], [0, 34]),
        ([(7, 0, 2), (8, 1, 3)], [34]),
        ([(9, 0, 2)], [0, 34]),
        ([(7, 0, 2), (9, 4, 4)], [34]),
        ([(7, 0, 2), (7, 3, 2)], [34, 34]),
    ],
)
def test_an_index_of_aborted_transactions_that_the_markers_contradict_is_damage(partition, entries, positions):
    partition.put("log", b"".join(ABORTED))
    partition.put("txnindex", aborted_index(*entries))
    assert partition.damage() == [(f"{LOG}.txnindex", "entry", position) for position in positions]


def test_an_absent_index_of_aborted_transactions_is_damage_where_the_other_indexes_are_at_hand(partition):
    partition.put("log", b"".join(ABORTED))
    assert partition.damage() == []
    partition.put("index", b"")
    (found,) = verify([partition.folder]).damage
    assert found.path.endswith(f"{LOG}.txnindex")
    assert (found.expected, found.found) == ("an entry for producer 7, aborted from offset 0 to 2", "no entry")


def test_data_in_an_earlier_segment_count_for_the_index_of_the_marker(partition):
    partition.put("log", data_batch(0, 7))
    partition.put("log", marker(1, 7, commit=False), 1)
    for base_offset in (0, 1):
        partition.put("index", b"", base_offset)
    assert partition.damage() == [(f"{1:020d}.txnindex", "entry", 0)]
    partition.put("txnindex", aborted_index((7, 0, 1)), 1)
    assert partition.damage() == []


def test_a_version_of_an_aborted_transaction_that_kafka_never_wrote_is_damage(partition):
    partition.put("log", b"".join(ABORTED))
    partition.put("txnindex", aborted_index((7, 0, 2)) + b"\0\1" + bytes(32))
    assert partition.damage() == [(f"{LOG}.txnindex", "entry", 34)]


def producer(**fields):
    content = {"producer_id": 7, "producer_epoch": 1, "last_sequence": 5, "last_offset": 9, "offset_delta": 2}
    return content | {"timestamp": 99, "coordinator_epoch": -1, "current_txn_first_offset": -1} | fields


def test_snapshots_have_the_crc_and_the_offsets_they_state(partition):
    partition.put("snapshot", build_snapshot([producer()]), 10)
    assert partition.damage() == []
    partition.put("snapshot", flipped(build_snapshot([producer()]), 20), 10)
    assert partition.damage() == [(f"{10:020d}.snapshot", "crc", 0)]
    partition.put("snapshot", build_snapshot([producer(), producer(last_offset=10)]), 10)
    assert partition.damage() == [(f"{10:020d}.snapshot", "entry", 56)]


@pytest.mark.parametrize(
    ("name", "text", "position"),
    [
        ("replication-offset-checkpoint", "0\n1\norders zero 1\n", 4),
        ("cleaner-offset-checkpoint", "1\n0\n", 0),
        ("recovery-point-offset-checkpoint", "0\n3\norders 0 1\n", 2),
        ("log-start-offset-checkpoint", "\0\0\0\0", 0),
        ("leader-epoch-checkpoint", "0\n2\n1 0\n0 5\n", 8),
        ("leader-epoch-checkpoint", "0\n2\n0 9\n1 5\n", 8),
        ("partition.metadata", "version: 0\ntopic_id: short", 11),
        ("meta.properties", "version=zero\n", 0),
        (".kafka_cleanshutdown", "{", 0),
    ],
)
def test_small_files_that_do_not_parse_are_damage_at_their_line(tmp_path, name, text, position):
    (tmp_path / name).write_text(text)
    assert damage(tmp_path) == [(name, "entry", position)]


@pytest.mark.parametrize("name", ["replication-offset-checkpoint", "leader-epoch-checkpoint", ".kafka_cleanshutdown"])
def test_empty_small_files_are_legal(tmp_path, name):
    (tmp_path / name).write_text("")
    assert (damage(tmp_path), status(tmp_path)) == ([], {name: "empty"})


def test_records_are_read_only_when_asked_for(partition):
    broken = with_crc(BATCHES[1][:61] + b"\xff" * (len(BATCHES[1]) - 61))
    partition.put("log", BATCHES[0] + broken + BATCHES[2])
    assert partition.damage() == []
    assert partition.damage(records=True) == [(f"{LOG}.log", "entry", ENDS[1])]


def test_a_compressed_batch_that_can_not_be_decompressed_is_damage_with_records(partition):
    partition.put("log", batch(0, b"no gzip at all", attributes=1))
    assert partition.damage() == []
    assert partition.damage(records=True) == [(f"{LOG}.log", "entry", 0)]


def test_a_state_that_can_not_be_decoded_is_damage_with_records(tmp_path):
    path = segment(tmp_path / "__transaction_state-3", states(0, ("id", b"\0\7nonsense" + bytes(30)), ("x", None)))
    assert damage(path) == []
    assert damage(path, records=True) == [(f"{LOG}.log", "entry", 0)]


def test_a_segment_under_another_name_and_one_without_folder_are_verified(tmp_path):
    (tmp_path / "x.bin").write_bytes(flipped(b"".join(BATCHES), ENDS[1] + 63))
    path = segment(tmp_path / "somewhere", flipped(b"".join(BATCHES), ENDS[3] + 63))
    assert damage(tmp_path / "x.bin") == [("x.bin", "crc", ENDS[1])]
    assert damage(path) == [(f"{LOG}.log", "crc", ENDS[3])]


def test_snapshots_of_the_metadata_log_are_verified(tmp_path):
    (tmp_path / "bootstrap.checkpoint").write_bytes(flipped(b"".join(BATCHES), 63))
    assert damage(tmp_path) == [("bootstrap.checkpoint", "crc", 0)]


def test_a_file_that_can_not_be_opened_is_named_as_damage(partition, monkeypatch):
    import os

    partition.put("log", b"".join(BATCHES))
    partition.put("index", offsets_index((3, ENDS[1])))
    opened = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith((".log", ".index")):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    found = verify([partition.folder])
    assert names(found.damage) == [(f"{LOG}.index", "unreadable", 0), (f"{LOG}.log", "unreadable", 0)]
    assert found.damage[0].found == "Permission denied"
    assert not found.has_read


def test_two_copies_of_a_partition_are_each_verified_by_themselves(tmp_path):
    for broker in ("one", "two"):
        made = a_partition_in(tmp_path / broker)
        made.put("log", flipped(b"".join(BATCHES), 63) if broker == "two" else b"".join(BATCHES))
    (found,) = verify([tmp_path]).damage
    assert "/two/" in found.path


def a_partition_in(folder):
    folder.mkdir()
    return Partition(folder)


def test_nothing_is_written_and_a_path_that_is_not_there_is_a_wrong_argument(partition):
    partition.put("log", b"".join(BATCHES))
    before = sorted(partition.folder.iterdir())
    verify([partition.folder], records=True)
    assert sorted(partition.folder.iterdir()) == before
    with pytest.raises(UsageError):
        verify([partition.folder / "absent"])


def test_progress_is_told_of_every_file(partition):
    partition.put("log", b"".join(BATCHES))
    partition.put("index", b"")
    told = []
    verify([partition.folder], progress=lambda path, size: told.append((path.rsplit(".", 1)[1], size)))
    assert sorted(told) == [("index", 0), ("log", ENDS[6])]


def test_the_entries_have_the_sizes_of_their_declarations():
    assert indexes.OFFSET_ENTRY.itemsize == struct.calcsize(">ii") == len(offsets_index((0, 0)))
    assert indexes.TIME_ENTRY.itemsize == struct.calcsize(">qi") == len(times_index((0, 0)))
