"""The skewed case is whole, is what it says, and tells the incidents that were planted in it and nothing else."""

import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google_crc32c import value as crc32c

from kafkatx.local.diagnosis import diagnose
from kafkatx.local.verification import verify
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.topics import partition_for
from tests.benchmarks import skewed, skewed_transactions, transactional_ids
from tests.benchmarks.skewed_transactions import STATE_PARTITIONS, Shape
from tests.benchmarks.test_generate import Batch, batches, entries

SHAPE = Shape(rounds=200, batches=20, ids=1000, segment_bytes=1 << 19)
PLANTED = {
    "transaction_timed_out": SHAPE.timed_out,
    "hanging_transaction": SHAPE.hanging,
    "read_committed_blocked": SHAPE.hanging,
    "committed_but_unreadable": None,  # whoever's records wait behind it
    "aborted_by_client": skewed_transactions.HOT,
    "fenced_by_new_instance": SHAPE.fenced,
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return skewed.write(tmp_path_factory.mktemp("skewed"), SHAPE)


@pytest.fixture(scope="module")
def log(directory: Path) -> list[Batch]:
    return list(batches(directory / "orders-0"))


def findings(directory: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(diagnose([directory]), "any")["findings"]
    return found


def test_one_producer_id_has_nearly_all_batches_beside_many_with_few(log: list[Batch]) -> None:
    data = Counter(batch.producer_id for batch in log if not batch.is_control)
    (hot, most), *others = data.most_common()
    assert hot == skewed.FIRST_PRODUCER_ID
    assert most == SHAPE.rounds * SHAPE.batches
    assert len(others) == SHAPE.rounds // 2 + 1
    assert {count for _, count in others} == {2, 4}


def test_every_crc_is_right_and_offsets_have_no_gap(directory: Path) -> None:
    for folder in sorted(directory.glob("*-*/")):
        found = list(batches(folder))
        assert all(batch.is_valid for batch in found)
        assert [batch.base for batch in found] == [0, *(batch.last + 1 for batch in found[:-1])][: len(found)]


def test_sequences_of_each_producer_follow_each_other(log: list[Batch]) -> None:
    following: dict[int, int] = {}
    for batch in log:
        if not batch.is_control:
            assert batch.sequence == following.get(batch.producer_id, 0)
            following[batch.producer_id] = batch.sequence + batch.record_count


def test_records_are_the_recorded_ones(log: list[Batch]) -> None:
    from tests.benchmarks.recorded import BROKER

    recorded = {batch.body for batch in batches(BROKER / "orders-0") if not batch.is_control}
    assert {batch.body for batch in log if not batch.is_control} <= recorded
    assert len({batch.body for batch in log}) > 4


def test_snapshot_holds_the_last_batch_of_every_producer(directory: Path, log: list[Batch]) -> None:
    last = {batch.producer_id: batch for batch in log if not batch.is_control}
    (file,) = (directory / "orders-0").glob("*.snapshot")
    raw = file.read_bytes()
    version, crc, count = struct.unpack_from(">hIi", raw)
    found = {entry[0]: entry for entry in struct.iter_unpack(">qhiqiqiq", raw[10:])}
    assert (version, crc, count) == (1, crc32c(raw[6:]), len(last))
    timed_out = skewed.FIRST_PRODUCER_ID + SHAPE.timed_out
    assert found.pop(timed_out)[1:5] == (1, -1, -1, 0)
    del last[timed_out]
    assert {pid: (entry[2], entry[3]) for pid, entry in found.items()} == {
        pid: (batch.sequence + batch.record_count - 1, batch.last) for pid, batch in last.items()
    }


def test_abort_index_agrees_with_a_replay_of_the_log(directory: Path, log: list[Batch]) -> None:
    expected, opened = [], dict[int, int]()
    for batch in log:
        if not batch.is_control:
            opened.setdefault(batch.producer_id, batch.base)
            continue
        first = opened.pop(batch.producer_id)
        if not batch.commits:
            expected.append((0, batch.producer_id, first, batch.base, min(opened.values(), default=batch.base + 1)))
    assert len(expected) == 2
    assert [entry for _, entry in entries(directory / "orders-0", "txnindex", ">hqqqq")] == expected


@pytest.mark.parametrize("shape", [SHAPE, replace(SHAPE, state_partition=7), replace(SHAPE, is_compacted=True)])
def test_kafkatx_finds_nothing_damaged(shape: Shape, tmp_path: Path) -> None:
    verification = verify([skewed.write(tmp_path, shape)], records=True)
    assert not verification.damage


@pytest.mark.parametrize("shape", [SHAPE, replace(SHAPE, state_partition=7)])
def test_what_was_planted_is_found_and_nothing_else(shape: Shape, tmp_path: Path) -> None:
    found = findings(skewed.write(tmp_path, shape))
    assert len(found) == len(PLANTED)
    whose = {finding["rule"]: finding["producer_id"] for finding in found}
    numbers = {rule: one - skewed.FIRST_PRODUCER_ID if one is not None else None for rule, one in whose.items()}
    assert numbers == PLANTED


def test_of_a_compacted_log_only_what_stays_is_told(tmp_path: Path) -> None:
    whole = skewed.write(tmp_path / "whole", SHAPE)
    compacted = skewed.write(tmp_path / "compacted", replace(SHAPE, is_compacted=True))
    told = {finding["rule"] for finding in findings(compacted)}
    assert "hanging_transaction" in told
    assert told <= set(PLANTED)
    before, after = (sum(len(list(batches(at))) for at in place.glob("__tr*")) for place in (whole, compacted))
    assert after < 0.8 * before


def test_ids_lie_where_kafka_puts_them() -> None:
    anywhere = transactional_ids.names(500, STATE_PARTITIONS)
    here = transactional_ids.names(500, STATE_PARTITIONS, only=7)
    assert [partition_for(name.decode(), STATE_PARTITIONS) for name in anywhere] == list(
        transactional_ids.partition_of(anywhere, STATE_PARTITIONS)
    )
    assert {partition_for(name.decode(), STATE_PARTITIONS) for name in here} == {7}
    assert len(np.unique(here)) == len(np.unique(anywhere)) == 500


def test_the_same_shape_gives_the_same_bytes(directory: Path, tmp_path: Path) -> None:
    again = skewed.write(tmp_path, SHAPE)
    files = [file.relative_to(directory) for file in sorted(directory.rglob("*")) if file.is_file()]
    assert len(files) > 100
    assert all((directory / file).read_bytes() == (again / file).read_bytes() for file in files)


def test_segments_roll_at_the_size_that_was_asked_for(directory: Path) -> None:
    sizes = [file.stat().st_size for file in sorted((directory / "orders-0").glob("*.log"))]
    assert len(sizes) > 1
    assert all(SHAPE.segment_bytes - 300 < size <= SHAPE.segment_bytes for size in sizes[:-1])
