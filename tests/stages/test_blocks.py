"""Rows packed for the way come back as they were, whatever codes the other side gives their names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.evidence.plans import partition_plans
from kafkatx.kernels.rows import BATCH, STATE
from kafkatx.segments.names import Names, Renaming
from kafkatx.stages.blocks import named_anew, packed, states_of, unpacked
from kafkatx.stages.codec import decode, encode
from kafkatx.stages.fact_types import States
from kafkatx.stages.models import open_captures
from tests.evidence import broker_folders, fixture_cases


@given(st.binary(max_size=BATCH.itemsize * 40))
def test_any_rows_come_back(data):
    rows = np.frombuffer(data[: len(data) // BATCH.itemsize * BATCH.itemsize], BATCH)
    found = unpacked(packed({"rows": rows, "other": [1, "x"]}))
    assert found["other"] == [1, "x"]
    assert all((found["rows"][name] == rows[name]).all() for name in BATCH.names)


@pytest.mark.parametrize("case", [case for case in fixture_cases() if broker_folders(case)], ids=lambda case: case.name)
def test_coordinator_rows_are_named_anew(case):
    for found in open_captures(broker_folders(case)):
        for plan in partition_plans(found):
            if plan.is_state_log:
                names, others = Names(), Names()
                others.transactional_ids.code(b"another id")
                others.list_code((others.partition_code("another", 3),))
                for reading in plan.readings():
                    for rows in reading.state_rows(names):
                        found = decode(encode(states_of(rows, names)), States)
                        assert_named(named_anew(found, others), others, rows, names)


@pytest.mark.parametrize("case", [case for case in fixture_cases() if broker_folders(case)], ids=lambda case: case.name)
def test_coordinator_rows_are_renamed_while_others_go_on_naming(case):
    for found in open_captures(broker_folders(case)):
        for plan in partition_plans(found):
            if plan.is_state_log:
                names, others = Names(), Names()
                others.transactional_ids.code(b"another id")
                others.list_code((others.partition_code("another", 3),))
                renaming = Renaming(names, others)
                for reading in plan.readings():
                    for rows in reading.state_rows(names):
                        half = len(rows) // 2
                        for part in (rows[:half], rows[half:]):  # names of the second half are there at the first
                            assert_named(renaming.rename(part.copy()), others, part, names)


def test_names_are_renamed_in_the_order_in_which_they_were_met():
    names, others = Names(), Names()
    renaming = Renaming(names, others)
    for value in (b"c", b"a", b"b"):
        names.transactional_ids.code(value)
    rows = np.full(2, -1, STATE)
    rows["id_code"] = [1, 0]
    assert renaming.rename(rows)["id_code"].tolist() == [1, 0]
    assert others.transactional_ids.values == [b"c", b"a"]  # b is for those who come to it


def assert_named(found, others, rows, names):
    plain = [name for name in STATE.names if not name.endswith("_code")]
    assert all((found[name] == rows[name]).all() for name in plain)
    assert [others.transactional_id(code) for code in found["id_code"]] == [
        names.transactional_id(code) for code in rows["id_code"]
    ]
    assert [members(others, code) for code in found["partitions_code"]] == [
        members(names, code) for code in rows["partitions_code"]
    ]
    assert ((found["unknown_tags_code"] < 0) == (rows["unknown_tags_code"] < 0)).all()


def members(names, code):
    return {names.topic_partitions[member] for member in names.partition_lists[code]} if code >= 0 else None


def test_packing_leaves_the_rows_as_they_are():
    names = Names()
    rows = np.zeros(2, STATE)
    rows["id_code"] = [names.transactional_ids.code(b"a"), names.transactional_ids.code(b"b")]
    rows["partitions_code"] = rows["unknown_tags_code"] = -1
    states_of(rows[1:], names)
    assert rows["id_code"].tolist() == [0, 1]
