import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.file_names import (
    FileSuffix,
    FolderState,
    MetadataSnapshotFile,
    PartitionFolder,
    SegmentFile,
    SegmentKind,
    is_remote_index_file,
    parse_metadata_snapshot_file,
    parse_partition_folder,
    parse_segment_file,
)
from tests.evidence import broker_folders, cases

HEX = "0123456789abcdef0123456789abcdef"
UUID = "uw-_TlAymdbNPSdgSJdyzA"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("00000000000000000000.log", SegmentFile(0, SegmentKind.LOG)),
        ("00000000000000000042.txnindex", SegmentFile(42, SegmentKind.TXNINDEX)),
        ("00000000000000000013.snapshot.deleted", SegmentFile(13, SegmentKind.SNAPSHOT, FileSuffix.DELETED)),
        ("00000000000000000013.log.cleaned", SegmentFile(13, SegmentKind.LOG, FileSuffix.CLEANED)),
        ("00000000000000000013.timeindex.swap", SegmentFile(13, SegmentKind.TIMEINDEX, FileSuffix.SWAP)),
        ("09223372036854775807.index", SegmentFile(2**63 - 1, SegmentKind.INDEX)),
    ],
)
def test_segment_files_are_known_by_name(name, file):
    assert parse_segment_file(name) == file


@pytest.mark.parametrize(
    "name",
    [
        "0.log",
        "00000000000000000000.LOG",
        "00000000000000000000.log\n",
        "00000000000000000000.log.gz",
        "00000000000000000000",
        "99999999999999999999.log",
        "\u0660" * 20 + ".log",
        "x00000000000000000000.log",
        "",
    ],
)
def test_other_names_are_no_segment_files(name):
    assert parse_segment_file(name) is None


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("orders-0", PartitionFolder("orders", 0)),
        ("orders-eu.v2-1-17", PartitionFolder("orders-eu.v2-1", 17)),
        ("__transaction_state-49", PartitionFolder("__transaction_state", 49)),
        (f"orders-3.{HEX}-delete", PartitionFolder("orders", 3, FolderState.DELETE, HEX)),
        (f"a.b-c-0.{HEX}-future", PartitionFolder("a.b-c", 0, FolderState.FUTURE, HEX)),
        (f"orders-3.{HEX}-stray", PartitionFolder("orders", 3, FolderState.STRAY, HEX)),
        (f"orders-3.{HEX}-0", PartitionFolder(f"orders-3.{HEX}", 0)),
        ("--1", PartitionFolder("-", 1)),
    ],
)
def test_partition_folders_are_split_at_the_last_dash(name, folder):
    assert parse_partition_folder(name) == folder


@pytest.mark.parametrize(
    "name",
    [
        *("orders", "orders-", "-0", "orders-x", "orders-01", "orders-2147483648", "my topic-0", ".-0", "..-0"),
        *("a" * 250 + "-0", "orders-0\n", "orders-\u0663", ""),
        *(f"orders-3.{HEX[:31]}-delete", f"orders-3.{HEX}-gone", f"orders.{HEX}-delete"),
    ],
)
def test_names_that_no_partition_can_have_are_refused(name):
    assert parse_partition_folder(name) is None


@pytest.mark.parametrize(
    ("name", "is_index"),
    [
        (f"42_{UUID}.index", True),
        (f"0_{UUID}_.index", True),
        (f"42_{UUID}.timeindex.deleted", True),
        (f"42_{UUID}.txnindex", True),
        (f"42_{UUID}.log", False),
        (f"42_{UUID[:-1]}.index", False),
        ("00000000000000000042.index", False),
    ],
)
def test_remote_indexes_are_known_by_name(name, is_index):
    assert is_remote_index_file(name) == is_index


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("00000000000000000100-0000000003.checkpoint", MetadataSnapshotFile(100, 3)),
        ("00000000000000000100-0000000003.checkpoint.part", MetadataSnapshotFile(100, 3, FileSuffix.PART)),
        ("00000000000000000100-0000000003.checkpoint.deleted", MetadataSnapshotFile(100, 3, FileSuffix.DELETED)),
        ("bootstrap.checkpoint", None),
        ("100-3.checkpoint", None),
    ],
)
def test_snapshots_of_kraft_are_known_by_name(name, file):
    assert parse_metadata_snapshot_file(name) == file


@given(st.text(max_size=60))
def test_any_name_is_read_without_an_error(name):
    for parse in (parse_segment_file, parse_partition_folder, is_remote_index_file, parse_metadata_snapshot_file):
        parse(name)


@given(
    st.from_regex(r"[A-Za-z0-9._-]{1,40}", fullmatch=True).filter(lambda topic: topic not in (".", "..")),
    st.integers(0, 2**31 - 1),
)
def test_every_partition_is_read_from_its_folder(topic, partition):
    folder = PartitionFolder(topic, partition)
    assert parse_partition_folder(f"{topic}-{partition}") == folder


def test_every_recorded_folder_is_a_partition_and_every_numbered_file_a_segment_file():
    files = 0
    for case in cases():
        for broker in broker_folders(case):
            for folder in (path for path in broker.iterdir() if path.is_dir()):
                assert parse_partition_folder(folder.name), folder
                for path in folder.glob("[0-9]*"):
                    assert parse_segment_file(path.name) or parse_metadata_snapshot_file(path.name), path
                    files += 1
    assert files
