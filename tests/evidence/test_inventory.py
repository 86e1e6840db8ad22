import gzip
import os
import shutil

import pytest

from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Kind
from kafkatx.sources import files
from kafkatx.terms.errors import UsageError
from tests.building import batch, message, segment
from tests.evidence import broker_folders, cases

LOG = "00000000000000000000.log"


def found(*paths):
    return {os.path.relpath(item.path, paths[0]): item for item in inventory(paths)}


def names(*paths):
    return {place: (item.kind.value, item.left_out) for place, item in found(*paths).items()}


def place_of(item):
    return item.folder.topic, item.folder.partition


def test_every_recorded_segment_is_found_in_its_partition_and_directory():
    for case in cases():
        for broker in broker_folders(case):
            for item in inventory([broker]):
                if item.kind is Kind.LOG:
                    topic, _, partition = item.path.rsplit("/", 2)[1].rpartition("-")
                    assert place_of(item) == (topic, int(partition))
                    assert item.data_directory == str(broker)


def test_the_order_of_paths_and_their_repetition_change_nothing(tmp_path):
    for number in range(3):
        segment(tmp_path / f"orders-{number}", batch(0, b"x"))
    parts = [tmp_path / "orders-2", tmp_path / "orders-0", tmp_path / "orders-1" / LOG, tmp_path / "orders-0"]
    once = [(item.path, item.kind) for item in inventory([tmp_path])]
    assert [(item.path, item.kind) for item in inventory(parts)] == once
    assert [(item.path, item.kind) for item in inventory([tmp_path, *parts])] == once


def test_a_path_that_does_not_exist_is_a_wrong_argument(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        inventory([tmp_path / "absent"])


@pytest.mark.parametrize("mark", ["meta.properties", ".kafka_cleanshutdown", "replication-offset-checkpoint", ".lock"])
def test_a_data_directory_that_is_called_like_a_partition_folder_is_none(tmp_path, mark):
    broker = tmp_path / "broker-1"
    segment(broker / "orders-0", batch(0, b"x"))
    (broker / mark).write_text("")
    (broker / "notes").write_text("text")
    assert {item.data_directory for item in inventory([tmp_path])} == {str(broker)}
    assert found(tmp_path)["broker-1/notes"].folder is None
    (alone,) = inventory([broker / "notes"])
    assert (alone.folder, alone.data_directory) == (None, str(broker))


def test_files_are_taken_for_what_their_names_say(tmp_path):
    partition = tmp_path / "orders-0"
    segment(partition, batch(0, b"x"))
    for name in ("00000000000000000000.index", "00000000000000000007.snapshot", "leader-epoch-checkpoint"):
        (partition / name).write_bytes(b"")
    for name in ("00000000000000000000.timeindex", "00000000000000000000.txnindex", "partition.metadata"):
        (partition / name).write_bytes(b"")
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n0\n")
    assert {item.path.rsplit("/", 1)[1]: item.kind.value for item in inventory([tmp_path])} == {
        LOG: "log",
        "00000000000000000000.index": "index",
        "00000000000000000000.timeindex": "timeindex",
        "00000000000000000000.txnindex": "txnindex",
        "00000000000000000007.snapshot": "snapshot",
        "leader-epoch-checkpoint": "leader-epochs",
        "partition.metadata": "partition.metadata",
        "cleaner-offset-checkpoint": "checkpoint",
    }


@pytest.mark.parametrize("content", [batch(5, b"x" * 100), message(5, 0, b"x" * 100), message(5, 1, b"x" * 100)])
def test_a_segment_under_another_name_is_known_by_its_bytes(tmp_path, content):
    (tmp_path / "x.bin").write_bytes(content)
    (item,) = inventory([tmp_path / "x.bin"])
    assert (item.kind, place_of(item), item.base_offset, item.left_out) == (Kind.LOG, ("x.bin", -1), -1, None)


def test_a_renamed_segment_in_a_partition_folder_belongs_to_the_partition(tmp_path):
    path = segment(tmp_path / "orders-3", batch(5, b"x"), "copy of segment")
    assert place_of(inventory([path])[0]) == ("orders", 3)


def test_a_segment_outside_a_partition_folder_is_one_of_its_folder(tmp_path):
    path = segment(tmp_path / "taken along", batch(0, b"x"))
    (item,) = inventory([path])
    assert (item.kind, place_of(item), item.base_offset, item.left_out) == (Kind.LOG, ("taken along", -1), 0, None)


def test_a_text_called_log_is_no_segment_and_other_files_are_named(tmp_path):
    (tmp_path / "server.log").write_text("[2026-11-21 10:23:51,003] INFO started\n" * 9)
    (tmp_path / "picture").write_bytes(bytes(range(256)))
    (tmp_path / "nothing").write_bytes(b"")
    assert names(tmp_path) == {
        "server.log": ("text-log", None),
        "picture": ("other", "not recognised"),
        "nothing": ("other", "empty"),
    }


def test_what_is_packed_is_the_same_each_time_it_is_looked_at(tmp_path):
    segment(tmp_path / "in" / "orders-0", gzip.compress(batch(0, b"x") * 9), f"{LOG}.gz")
    shutil.make_archive(str(tmp_path / "in" / "inner"), "zip", tmp_path / "in", "orders-0")
    shutil.make_archive(str(tmp_path / "bundle"), "gztar", tmp_path / "in")
    first = found(tmp_path)
    assert sum(item.kind is Kind.LOG for item in first.values()) == 4
    assert found(tmp_path) == first


@pytest.mark.parametrize("suffix", ["deleted", "cleaned", "tmp", "part"])
def test_unfinished_and_deleted_files_are_left_out_and_named(tmp_path, suffix):
    segment(tmp_path / "orders-0", batch(0, b"x"))
    segment(tmp_path / "orders-0", batch(0, b"x"), f"{LOG}.{suffix}")
    assert found(tmp_path)[f"orders-0/{LOG}"].left_out is None
    assert found(tmp_path)[f"orders-0/{LOG}.{suffix}"].left_out is not None


def test_a_swap_file_replaces_all_segments_that_it_covers(tmp_path):
    folder = tmp_path / "orders-0"
    for base in (0, 10, 20, 30):
        segment(folder, batch(base, b"x"), f"{base:020d}.log")
        segment(folder, b"", f"{base:020d}.index")
    segment(folder, batch(0, b"x") + batch(20, b"y"), f"{LOG}.swap")
    segment(folder, b"", "00000000000000000020.snapshot")
    used = {place.rsplit("/", 1)[1] for place, item in found(tmp_path).items() if not item.left_out}
    assert used == {
        f"{LOG}.swap",
        "00000000000000000030.log",
        "00000000000000000030.index",
        "00000000000000000020.snapshot",
    }


def test_a_swap_file_of_another_partition_replaces_nothing(tmp_path):
    segment(tmp_path / "orders-0", batch(0, b"x"))
    segment(tmp_path / "orders-1", batch(0, b"x"), f"{LOG}.swap")
    assert found(tmp_path)[f"orders-0/{LOG}"].left_out is None


def test_files_of_a_deleted_topic_are_left_out(tmp_path):
    segment(tmp_path / f"orders-0.{'0' * 32}-delete", batch(0, b"x"))
    assert [item.left_out for item in inventory([tmp_path])] == ["the topic was deleted"]


def test_links_are_followed_once_and_loops_end(tmp_path):
    elsewhere = segment(tmp_path / "disk" / "orders-0", batch(0, b"x"))
    given = tmp_path / "given"
    given.mkdir()
    (given / "orders-0").symlink_to(elsewhere.parent)
    (given / "loop").symlink_to(given)
    (elsewhere.parent / "up").symlink_to(tmp_path)
    (given / "orders-0-again").symlink_to(elsewhere.parent)
    logs = [item for item in inventory([given]) if item.kind is Kind.LOG]
    assert [os.path.realpath(item.path) for item in logs] == [str(elsewhere)]


def test_what_can_not_be_read_is_named_with_the_reason(tmp_path, monkeypatch):
    (tmp_path / "dangling").symlink_to(tmp_path / "absent")
    (tmp_path / "secret").write_bytes(b"x" * 100)
    (tmp_path / "closed").mkdir()
    os.mkfifo(tmp_path / "pipe")
    opened, listed = os.open, os.scandir

    def refuse(path, *arguments, **options):
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    def refuse_folder(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(files.os, "open", refuse)
    monkeypatch.setattr(os, "scandir", refuse_folder)
    assert names(tmp_path) == {
        "dangling": ("unreadable", "No such file or directory"),
        "secret": ("unreadable", "Permission denied"),
        "closed": ("unreadable", "Permission denied"),
        "pipe": ("other", "not a regular file"),
    }


def test_names_that_are_no_text_are_found(tmp_path):
    segment(tmp_path / os.fsdecode(b"\xff-0"), batch(0, b"x"))
    (item,) = inventory([tmp_path])
    assert (item.kind, item.base_offset) == (Kind.LOG, 0)


def test_a_dump_without_its_header_is_of_the_partition_that_its_folder_names(tmp_path):
    """An id tells the topic; which of its partitions it guesses."""
    state = (
        "offset: 4 position: 400 CreateTime: 1795258939173 isvalid: true keysize: 12 valuesize: 53 magic: 2 "
        "compresscodec: NONE producerId: -1 sequence: -1 isTransactional: false headerKeys: [] key: "
        "transactionalId=ledger-0 payload:producerId:0,producerEpoch:0,state=Ongoing,partitions=Set(ledger-0),"
        "txnLastUpdateTimestamp=1795258939173,txnTimeoutMs=60000\n"
    )
    for folder, partition in (("__transaction_state-3", 3), ("pasted", 22), ("orders-3", 22)):
        path = tmp_path / folder / f"{LOG}.txt"
        path.parent.mkdir()
        path.write_text(state)
        (item,) = inventory([path])
        assert place_of(item) == ("__transaction_state", partition)
