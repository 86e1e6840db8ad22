"""Segments written once more: batches as they were but for names and payloads, also old ones and damaged ones."""

import re

import pytest

from kafkatx.formats.layout import Malformed
from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.local.redacting.internal_records import changer
from kafkatx.local.redacting.segments import write_segment
from kafkatx.local.redacting.stand_ins import StandIns
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.records import RecordWalk
from kafkatx.sources.files import OpenFile
from tests.building import data_batch, marker
from tests.evidence import ROOT

SAME = ["base_offset", "last_offset", "magic", "attributes", "leader_epoch", "producer_id", "producer_epoch",
        "base_sequence", "base_timestamp", "max_timestamp"]  # fmt: skip


def rewritten(path, tmp_path, topic):
    target = tmp_path / path.name
    write_segment(str(path), int(path.stem), changer(topic, StandIns(50)), target)
    return target


def batches(path):
    with OpenFile(str(path)) as file:
        walk = RecordWalk(file, check=CHECK_ALL, first_offset=int(path.stem))
        found = [[row[name].item() for name in SAME] for chunk in walk.chunks() for row in chunk.rows]
        return found, [damage.kind for damage in walk.damage]


SEGMENTS = [
    path
    for case in ("k011-legacy-formats", "k39-codecs", "k25-eos-groups", "k4-tv2-fenced", "k27-client-versions")
    for path in sorted(ROOT.glob(f"fixtures/{case}/broker-1/*/*.log"))
    if re.fullmatch(r"\d{20}\.log", path.name) and not path.parent.name.startswith("__cluster") and path.stat().st_size
]


@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: str(path.relative_to(ROOT / "fixtures")))
def test_batches_of_every_kind_stay_what_they_were(path, tmp_path):
    target = rewritten(path, tmp_path, path.parent.name.rpartition("-")[0])
    assert batches(target) == batches(path)


def test_a_wrong_crc_stays_wrong_and_what_is_no_batch_is_masked(tmp_path):
    path = tmp_path / "in" / "00000000000000000000.log"
    path.parent.mkdir()
    good = data_batch(0, 7, b"open secret")
    bad = bytearray(data_batch(1, 7, b"open secret", base_sequence=1))
    bad[20] ^= 0xFF
    torn = data_batch(3, 7, b"open secret" * 9, base_sequence=2)[:-20]
    path.write_bytes(good + bytes(bad) + marker(2, 7) + torn)
    target = rewritten(path, tmp_path, "orders")
    assert batches(target) == batches(path)
    assert target.stat().st_size == path.stat().st_size
    assert b"secret" not in target.read_bytes()
    assert b"secret" in path.read_bytes()


def test_a_record_that_is_none_is_masked_whole(tmp_path):
    from tests.building import batch

    path = tmp_path / "in" / "00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(batch(0, content=b"\x7fopen secret", records_count=1))
    target = rewritten(path, tmp_path, "orders")
    with OpenFile(str(target)) as file:
        assert len(next(SegmentWalk(file, check=CHECK_ALL).chunks()).rows) == 1
    assert b"secret" not in target.read_bytes()


def test_malformed_states_are_masked():
    key, value = changer("__transaction_state", StandIns(50))(b"\0\0\0\x40payments", b"what is this")
    assert (key, value) == (b"x" * 12, b"x" * 12)
    assert issubclass(Malformed, ValueError)
