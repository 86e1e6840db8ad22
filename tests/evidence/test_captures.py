from itertools import permutations

from kafkatx.evidence.clusters import captures
from kafkatx.evidence.directories import data_directories
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.joining import evidence
from tests.building import batch, data_batch, segment
from tests.evidence import broker_folders, cases

META = "version=1\nnode.id={}\ncluster.id={}\n"
OLD_META = "version=0\nbroker.id={}\n"


def joined(*paths, forced=None):
    """Captures of some paths, each as the set of its directories' names."""
    found = captures(data_directories(inventory(paths)), forced)
    return [{directory.path.rsplit("/", 1)[1] for directory in capture.directories} for capture in found]


def as_sets(groups):
    return {frozenset(group) for group in groups}


BATCH = batch(0, b"x")


def broker(root, name, *, cluster=None, broker_id=None, partition="orders-0", data=BATCH):
    folder = root / name
    segment(folder / partition, data)
    if cluster:
        (folder / "meta.properties").write_text(META.format(broker_id or 1, cluster))
    elif broker_id is not None:
        (folder / "meta.properties").write_text(OLD_META.format(broker_id))
    return folder


def test_brokers_of_a_recorded_case_are_one_capture():
    for case in cases():
        if broker_folders(case):
            found = captures(data_directories(inventory(broker_folders(case))))
            assert len(found) == 1, case.name


def test_one_cluster_id_is_one_capture_and_another_is_another(tmp_path):
    broker(tmp_path, "one", cluster="A")
    broker(tmp_path, "two", cluster="A", partition="audit-0")
    broker(tmp_path, "three", cluster="B")
    assert as_sets(joined(tmp_path)) == {frozenset({"one", "two"}), frozenset({"three"})}


def test_replicas_without_a_cluster_id_are_known_by_their_batches(tmp_path):
    shared = batch(0, b"x") + batch(1, b"y")
    broker(tmp_path / "a", "one", broker_id=1, data=shared)
    broker(tmp_path / "b", "two", broker_id=2, data=batch(1, b"y") + batch(2, b"z"))
    broker(tmp_path / "c", "three", broker_id=1, data=batch(0, b"other"))
    assert as_sets(joined(tmp_path)) == {frozenset({"one", "two"}), frozenset({"three"})}


def test_the_same_batches_in_another_partition_make_no_replica(tmp_path):
    broker(tmp_path / "a", "one")
    broker(tmp_path / "b", "two", partition="orders-1")
    assert len(joined(tmp_path)) == 2


def test_a_directory_without_a_cluster_id_joins_the_cluster_whose_batches_it_holds(tmp_path):
    broker(tmp_path / "a", "one", cluster="A")
    broker(tmp_path / "b", "two", cluster="B", data=batch(0, b"other"))
    broker(tmp_path / "c", "copy")
    assert as_sets(joined(tmp_path)) == {frozenset({"one", "copy"}), frozenset({"two"})}


def test_two_clusters_stay_apart_though_a_third_directory_shares_batches_with_both(tmp_path):
    broker(tmp_path / "a", "one", cluster="A")
    broker(tmp_path / "b", "two", cluster="B")
    broker(tmp_path / "c", "copy")
    groups = as_sets(joined(tmp_path))
    assert len(groups) == 2
    assert not any({"one", "two"} <= group for group in groups)


def test_the_log_dirs_of_one_broker_are_one_capture(tmp_path):
    broker(tmp_path, "disk1", broker_id=1)
    broker(tmp_path, "disk2", broker_id=1, partition="orders-1")
    broker(tmp_path, "disk3", broker_id=2, partition="orders-2")
    assert as_sets(joined(tmp_path)) == {frozenset({"disk1", "disk2"}), frozenset({"disk3"})}


def test_directories_side_by_side_that_hold_one_partition_differently_are_no_log_dirs(tmp_path):
    broker(tmp_path, "monday", broker_id=1)
    broker(tmp_path, "tuesday", broker_id=1, data=batch(0, b"other"))
    assert len(joined(tmp_path)) == 2


def test_two_logs_under_one_name_are_two_captures(tmp_path):
    one = segment(tmp_path / "a" / "Topic-Test-0", data_batch(0, 1, b"a"))
    other = segment(tmp_path / "b" / "Topic-Test-0", data_batch(0, 2, b"b"))
    assert len(joined(one, other)) == 2
    assert len(joined(tmp_path)) == 2


def test_a_partition_folder_alone_is_a_capture_of_its_own(tmp_path):
    folder = segment(tmp_path / "orders-0", batch(0, b"x")).parent
    (capture,) = captures(data_directories(inventory([folder])))
    assert (capture.cluster_id, list(capture.segments())) == (None, [("orders", 0)])
    assert capture.why == "no cluster.id: a directory of its own"


def test_a_capture_is_forced_together_and_apart(tmp_path):
    one, two = broker(tmp_path / "a", "one"), broker(tmp_path / "b", "two", data=batch(0, b"other"))
    copy = broker(tmp_path / "c", "copy")
    together = {str(one): "incident", str(two): "incident"}
    (forced,) = [found for found in captures(data_directories(inventory([one, two])), together)]
    assert (forced.name, forced.why) == ("incident", "forced by --capture")
    assert len(joined(one, copy)) == 1
    assert len(joined(one, copy, forced={str(one): "x", str(copy): "y"})) == 2


def test_forcing_wins_over_the_cluster_id(tmp_path):
    one, two = broker(tmp_path, "one", cluster="A"), broker(tmp_path, "two", cluster="A", partition="audit-0")
    assert len(joined(one, two)) == 1
    assert len(joined(one, two, forced={str(two): "other"})) == 2
    three = broker(tmp_path, "three", cluster="B")
    assert len(joined(one, three, forced={str(tmp_path): "all"})) == 1


def test_names_and_fingerprints_depend_on_the_evidence_and_not_on_its_place_or_order(tmp_path):
    made = [broker(tmp_path / name, "data", data=batch(0, name.encode())) for name in "abc"]
    moved = tmp_path / "moved"
    for name in "cab":
        broker(moved / f"elsewhere-{name}", "copy", data=batch(0, name.encode()))
    expected = [(c.name, c.fingerprint) for c in captures(data_directories(inventory(made)))]
    assert len({name for name, _ in expected}) == 3
    for order in permutations(made):
        assert [(c.name, c.fingerprint) for c in captures(data_directories(inventory(order)))] == expected
    assert [(c.name, c.fingerprint) for c in captures(data_directories(inventory([moved])))] == expected


def test_files_beside_the_only_capture_belong_to_it(tmp_path):
    broker(tmp_path, "broker-1", cluster="A")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text("text")
    found = evidence(data_directories(inventory([tmp_path])))
    assert [item.path.rsplit("/", 1)[1] for item in found.captures[0].others] == ["server.log"]
    assert (len(found.captures), found.others) == (1, [])


def test_files_belong_to_the_capture_of_the_nearest_folder_or_to_none(tmp_path):
    for case, cluster in (("x", "A"), ("y", "B")):
        broker(tmp_path / case, "broker-1", cluster=cluster)
        (tmp_path / case / "server.log").write_text("text")
    (tmp_path / "app.log").write_text("text")
    found = evidence(data_directories(inventory([tmp_path])))
    assert [[item.path.rsplit("/", 2)[1] for item in capture.others] for capture in found.captures] == [["x"], ["y"]]
    assert [item.path.rsplit("/", 1)[1] for item in found.others] == ["app.log"]


def test_checkpoints_and_identity_are_read_and_what_can_not_be_is_said(tmp_path):
    folder = broker(tmp_path, "data", cluster="A", broker_id=3)
    (folder / "replication-offset-checkpoint").write_text("0\n1\norders 0 17\n")
    (folder / "cleaner-offset-checkpoint").write_text("0\n2\norders 0 5\nnonsense\n")
    (folder / "log-start-offset-checkpoint").write_bytes(b"\0\0\0")
    (directory,) = data_directories(inventory([folder]))
    assert (directory.cluster_id, directory.broker_id) == ("A", 3)
    assert directory.high_watermarks == {("orders", 0): 17}
    assert directory.first_dirty == {("orders", 0): 5}
    assert directory.log_starts == {}
