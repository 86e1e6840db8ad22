"""What is said of a path in front of it, and what tiered storage calls its files: a file without its name is read."""

import gzip
import shutil

import pytest

from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Kind
from kafkatx.local.diagnosis import diagnose
from kafkatx.local.verification import verify
from kafkatx.terms.errors import UsageError
from tests.building import batch, segment
from tests.evidence import fixtures

CASES = ("k39-hanging", "k4-tv2-fenced", "k39-unresolved", "k24-unresolved")
LOG = "00000000000000000000.log"
TOPIC_ID, SEGMENT_ID = "MWJ6FHTfRYy67jzwZdeq-2", "oAtiIQ95REujbuzNd_lkLQ"


def told(*paths):
    """What is found, without the names of files."""
    return {
        (one.rule, one.verdict, one.severity, one.transactional_id, one.topic, one.partition, one.first_offset)
        for one in (found.finding for found in diagnose(paths).findings)
    }


def logs(case):
    """Path of the log of each partition of a recorded case."""
    return {path.parent.name: path for path in sorted((fixtures() / case).rglob(LOG))}


@pytest.mark.parametrize("case", CASES)
def test_renamed_segments_of_named_partitions_are_diagnosed_as_in_their_folders(tmp_path, case):
    renamed = []
    for number, (partition, path) in enumerate(reversed(logs(case).items())):
        shutil.copy(path, tmp_path / f"{number}.bin")
        segment(tmp_path / "broker" / partition, path.read_bytes())
        renamed.append(f"{partition}={tmp_path / f'{number}.bin'}")
    assert told(*renamed) == told(tmp_path / "broker")
    assert told(*renamed)


def test_pieces_of_a_partition_are_in_the_order_of_their_offsets_whatever_they_are_called(tmp_path):
    pieces = [batch(number, b"x" * 30) for number in range(4)]
    (tmp_path / "a.bin").write_bytes(b"".join(pieces[2:]))
    (tmp_path / "b.bin").write_bytes(b"".join(pieces[:2]))
    found = verify([f"orders-0={tmp_path / name}.bin" for name in "ab"])
    assert not found.damage
    assert [(item.base_offset, item.folder.topic) for item in inventory([f"orders-0={tmp_path / 'a.bin'}"])] == [
        (2, "orders")
    ]


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_a_folder_and_a_packed_file_can_be_named(tmp_path, pack):
    (tmp_path / "copied").mkdir()
    (tmp_path / "copied" / "x.bin").write_bytes(pack(batch(0, b"x")))
    for path in (tmp_path / "copied", tmp_path / "copied" / "x.bin"):
        (item,) = inventory([f"orders-7={path}"])
        assert (item.kind, item.folder.topic, item.folder.partition) == (Kind.LOG, "orders", 7)


def test_a_name_with_its_own_sign_is_a_name(tmp_path):
    path = tmp_path / "orders-0=x.bin"
    path.write_bytes(batch(0, b"x"))
    for given in (path, f"payments-3={path}"):
        (item,) = inventory([given])
        assert item.folder.topic == (path.name if given is path else "payments")


def test_a_log_whose_beginning_is_destroyed_is_read_where_it_is_said_to_be_one(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"\xff" * 200 + batch(5, b"x"))
    (item,) = inventory([path])
    assert item.left_out == "not recognised"
    for given in (f"log=orders-0={path}", f"orders-0=log={path}"):
        (item,) = inventory([given])
        assert (item.kind, item.left_out, item.folder.topic) == (Kind.LOG, None, "orders")
    found = verify([f"log={path}"])
    assert found.damage[0].position == 0
    assert [entry.first_offset for entry in found.coverage] == [5]


@pytest.mark.parametrize(
    ("kind", "name", "of"),
    [
        ("txnindex", "index.bin", "00000000000000000000.txnindex"),
        ("meta.properties", "meta.txt", "meta.properties"),
        ("leader-epochs", "epochs.txt", "leader-epoch-checkpoint"),
    ],
)
def test_other_files_are_what_they_are_said_to_be(tmp_path, kind, name, of):
    source = next(path for path in sorted((fixtures() / "k39-client-aborts").rglob(of)) if path.stat().st_size)
    shutil.copy(source, tmp_path / name)
    (item,) = inventory([f"{kind}={tmp_path / name}"])
    assert (item.kind.value, item.left_out) == (kind, None)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("nonsense={}", "before = stands a partition"),
        ("orders-0={}/absent", "no such file"),
        ("log={}", "is a folder"),
        ("orders-0.0123456789abcdef0123456789abcdef-delete={}", "before = stands a partition"),
    ],
)
def test_what_says_nothing_is_a_wrong_argument(tmp_path, given, why):
    with pytest.raises(UsageError, match=why):
        inventory([given.format(tmp_path)])


@pytest.mark.parametrize(
    "folder", [f"orders.eu-1-2-{TOPIC_ID}", f"orders.eu-1-{TOPIC_ID}/2", "orders.eu-1-2"], ids=["local", "plugin", "as"]
)
def test_segments_in_tiered_storage_are_of_their_partition(tmp_path, folder):
    place = tmp_path / "store" / folder
    segment(place, batch(7, b"x"), f"{7:020}-{SEGMENT_ID}.log")
    for ending in ("index", "txnindex", "snapshot", "leader_epoch_checkpoint", "rsm-manifest", "indexes"):
        (place / f"{7:020}-{SEGMENT_ID}.{ending}").write_bytes(b"")
    found = {item.path.rpartition(".")[2]: item for item in inventory([tmp_path])}
    assert {(item.folder.topic, item.folder.partition, item.data_directory) for item in found.values()} == {
        ("orders.eu-1", 2, str(tmp_path / "store"))
    }
    assert (found["log"].kind, found["log"].base_offset, found["log"].left_out) == (Kind.LOG, 7, None)
    assert (found["txnindex"].kind, found["txnindex"].base_offset) == (Kind.TXNINDEX, 7)
    assert found["leader_epoch_checkpoint"].kind is Kind.LEADER_EPOCHS
    assert all(found[ending].left_out for ending in ("snapshot", "rsm-manifest", "indexes"))


def test_a_segment_that_a_plugin_compressed_is_said_to_be_one(tmp_path):
    place = tmp_path / f"orders-{TOPIC_ID}" / "0"
    segment(place, b"\x28\xb5\x2f\xfd not a batch" * 20, f"{0:020}-{SEGMENT_ID}.log")
    (item,) = inventory([tmp_path])
    assert "tiered storage" in item.left_out


def test_an_incident_whose_segments_were_tiered_is_diagnosed_as_before(tmp_path):
    for partition, path in logs("k39-hanging").items():
        segment(tmp_path / "broker" / partition, path.read_bytes())
        segment(tmp_path / "store" / f"{partition}-{TOPIC_ID}", path.read_bytes(), f"{0:020}-{SEGMENT_ID}.log")
    assert told(tmp_path / "store") == told(tmp_path / "broker")
    assert told(tmp_path / "store")
