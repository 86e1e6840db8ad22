"""Tasks follow from paths and sizes alone; what they hold is fixed, small, and enough to read the files anywhere."""

import pickle
import tarfile
from pathlib import Path

import pytest

from kafkatx.spark.planning import files_of, opened_evidence, tasks_of, tasks_of_settings
from kafkatx.spark.request import request
from kafkatx.spark.rows import rows_of
from kafkatx.stages import packing
from kafkatx.stages.packing import grouped
from kafkatx.terms.errors import UsageError
from tests.building import batch, segment
from tests.evidence import fixtures
from tests.spark.tables import here, in_tasks, whole

CASE = fixtures() / "k39-codecs"


def made(paths, *asked, **more):
    wanted = request(*asked, **more)
    return tasks_of(wanted, files_of(wanted, opened_evidence(paths, None)))


def names(tasks):
    return [[Path(source.item.path).parent.name for source in task.sources] for task in tasks]


def test_small_units_share_a_group_and_large_ones_are_alone(monkeypatch):
    monkeypatch.setattr(packing, "SMALLEST_TASK", 10)
    monkeypatch.setattr(packing, "LARGEST_TASK", 10)
    sizes = [3, 3, 3, 3, 25, 1, 9, 10, 11]
    assert list(grouped(sizes, lambda size: size)) == [[3, 3, 3], [3], [25], [1, 9], [10], [11]]
    assert list(grouped([], lambda size: size)) == []


def test_groups_grow_with_what_there_is_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(packing, "SMALLEST_TASK", 10)
    monkeypatch.setattr(packing, "LARGEST_TASK", 100)
    counts = {len(units): len(list(grouped(units, lambda size: size))) for units in ([1] * 5, [1] * 960, [1] * 9600)}
    assert counts == {5: 1, 960: 32, 9600: 96}


def test_a_task_holds_no_file_but_its_own():
    (task,) = made([CASE], "batches", topic="events")
    others = [path.name for path in next(CASE.glob("broker-*")).iterdir() if not path.name.startswith("events")]
    assert others
    assert not any(name.encode() in pickle.dumps(task) for name in others)
    assert {type(source.capture).__name__ for source in task.sources} == {"Capture"}
    assert not any(source.capture.directories or source.directory.items for source in task.sources)


def test_only_files_with_rows_of_the_table_are_read(tmp_path):
    for name in ("orders-0", "orders-1", "Orders-0", "__transaction_state-3"):
        segment(tmp_path / name, [batch(0, b"a")])
        segment(tmp_path / name, b"", "00000000000000000000.index")
    segment(tmp_path / "orders-0", b"\0" * 34, "00000000000000000000.txnindex")
    assert names(made([tmp_path], "batches")) == [["Orders-0", "__transaction_state-3", "orders-0", "orders-1"]]
    assert names(made([tmp_path], "batches", topic="orders")) == [["orders-0", "orders-1"]]
    assert names(made([tmp_path], "batches", topic=["Orders", "gone"])) == [["Orders-0"]]
    assert names(made([tmp_path], "transaction_states")) == [["__transaction_state-3"]]
    assert names(made([tmp_path], "aborted_transactions")) == [["orders-0"]]
    assert made([tmp_path], "producer_states") == []
    assert len(names(made([tmp_path], "files"))[0]) == 9


def test_tables_of_internal_topics_are_read_of_their_files_whatever_topic_a_row_names(tmp_path):
    for name in ("orders-0", "__consumer_offsets-3", "__cluster_metadata-0"):
        segment(tmp_path / name, [batch(0, b"a")])
    segment(tmp_path / "__cluster_metadata-0", [batch(0, b"a")], "00000000000000000009-0000000001.checkpoint")
    assert names(made([tmp_path], "offset_commits", topic="orders")) == [["__consumer_offsets-3"]]
    assert names(made([tmp_path], "cluster_events", topic="orders")) == [["__cluster_metadata-0"] * 2]
    assert len(names(made([tmp_path], "damage"))[0]) == 4


def test_what_is_appended_later_is_not_read(tmp_path):
    path = segment(tmp_path / "orders-0", [batch(0, b"a"), batch(1, b"b")])
    tasks = made([tmp_path], "batches")
    with path.open("ab") as file:
        file.write(batch(2, b"c") + batch(3, b"d"))
    assert [rows.num_rows for task in tasks for rows in rows_of(task)] == [2]


def test_a_file_that_was_cut_or_removed_meanwhile_gives_what_is_left(tmp_path):
    paths = [segment(tmp_path / f"orders-{number}", [batch(0, b"a"), batch(1, b"b")]) for number in range(2)]
    tasks = made([tmp_path], "batches")
    paths[0].write_bytes(batch(0, b"a"))
    paths[1].unlink()
    assert [rows.num_rows for task in tasks for rows in rows_of(task)] == [1]


def test_files_of_an_archive_are_one_task(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "SMALLEST_TASK", 1)
    monkeypatch.setattr(packing, "LARGEST_TASK", 1)
    for number in range(3):
        segment(tmp_path / "in" / f"orders-{number}", [batch(0, b"a")])
        segment(tmp_path / "out" / f"orders-{number}", [batch(0, b"a")])
    with tarfile.open(tmp_path / "out" / "bundle.tgz", "w:gz") as archive:
        archive.add(tmp_path / "in", "in")
    tasks = made([tmp_path / "out"], "batches")
    assert sorted(names(tasks)) == [["orders-0"], ["orders-0", "orders-1", "orders-2"], ["orders-1"], ["orders-2"]]


@pytest.mark.parametrize("suffix", [".gz", ""])
def test_a_packed_segment_is_read_to_its_end(tmp_path, suffix):
    import gzip

    content = b"".join(batch(number, b"a" * 100) for number in range(50))
    segment(tmp_path / "orders-0", gzip.compress(content), f"00000000000000000000.log{suffix}")
    assert in_tasks([tmp_path], "batches", 100).num_rows == 50


def test_settings_are_read_capture_by_capture():
    evidence = opened_evidence([CASE, fixtures() / "k39-fenced"], None)
    (task,) = tasks_of_settings(request("settings"), evidence)
    assert len(task.captures) == 2
    assert not any(capture.directories for capture in task.captures)
    found = whole(rows_of(task), task.request.schema)
    assert found == here([CASE, fixtures() / "k39-fenced"], "settings")


def test_standard_input_is_refused():
    with pytest.raises(UsageError, match="standard input"):
        opened_evidence(["-"], None)


def test_paths_become_absolute(monkeypatch):
    monkeypatch.chdir(CASE.parent)
    assert in_tasks([CASE.name], "files") == here([CASE], "files")
