"""Which finding is which: by key, by what is left of it, by what came back; one to one, in any order, from either side.

Each pair is named by the ids of its findings: small letters before, capitals after.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.outputs.comparing import pairs as module
from kafkatx.outputs.comparing.pairs import pairs
from tests.outputs.comparing.diagnoses import EVENT, LASTING, PAYMENTS, compared, diagnosis, document, found

BROKER = {"nodes": (1,), "rule": "broker_unreachable"}
DATA = {"topic": "orders", "partition": 0, "first_offset": 5, "last_offset": 9}


def paired(before: list[Diagnosed], after: list[Diagnosed]) -> set[str]:
    told = pairs(document(*before).findings, document(*after).findings)
    mirrored = pairs(document(*after).findings, document(*before).findings)
    assert {(one.id, other.id) for one, other in told} == {(other.id, one.id) for one, other in mirrored}
    return {f"{one.id}-{other.id}" for one, other in told}


def test_a_key_is_an_incident_whatever_else_changed():
    assert paired([found("a", **PAYMENTS)], [found("B", minute=0.5, count=2, title="else", **PAYMENTS)]) == {"a-B"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PAYMENTS, {"transactional_id": "payments-1", "count": 3}),
        ({"producer_id": 7}, PAYMENTS),
        ({"topic": "orders", "partition": 0}, {"topic": "orders", "partition": 0, "producer_id": 7}),
        ({**DATA, "producer_id": 7}, {**DATA, "first_offset": 8, "producer_id": 7}),
        ({**PAYMENTS, "cluster_id": None}, PAYMENTS),
    ],
    ids=["repeats now", "id known now", "producer known now", "head of the data gone", "cluster known now"],
)
def test_a_part_of_a_key_that_only_one_side_knows_parts_nothing(before, after):
    first, second = found("a", **before), found("B", **after)
    assert first.key != second.key
    assert paired([first], [second]) == {"a-B"}


@pytest.mark.parametrize(
    "after",
    [
        {**PAYMENTS, "producer_epoch": 2},
        {**PAYMENTS, "cluster_id": "cluster-2"},
        {**PAYMENTS, "rule": "transaction_timed_out"},
        {"transactional_id": "payments-2", "producer_id": 7, "producer_epoch": 0},
        {**PAYMENTS, **DATA, "first_offset": 10, "last_offset": 12},
    ],
    ids=["another epoch", "another cluster", "another rule", "another id", "other data"],
)
def test_what_contradicts_at_the_same_time_is_another_incident(after):
    before = {**PAYMENTS, **DATA} if "topic" in after else PAYMENTS
    assert paired([found("a", **before)], [found("B", **after)]) == set()


def test_what_came_back_at_another_time_is_paired():
    again = found("B", minute=5, **{**PAYMENTS, "producer_epoch": 2})
    assert paired([found("a", **PAYMENTS)], [again]) == {"a-B"}
    assert paired([found("a", cluster_id="cluster-2", **PAYMENTS)], [again]) == set()
    assert paired([found("a", producer_id=7)], [found("B", minute=5, **PAYMENTS)]) == set()


def test_of_findings_that_share_a_key_the_nearest_in_time_are_one():
    before = [found("a", minute=0, **BROKER), found("b", minute=20, **BROKER)]
    after = [found("B", minute=20, **BROKER), found("C", minute=40, **BROKER)]
    assert before[0].key == after[1].key
    assert paired(before, after) == {"b-B", "a-C"}
    assert paired(before, after[:1]) == {"b-B"}
    assert paired([found("a", minute=0, minutes=9, **BROKER)], [found("A", minute=3, **BROKER), *after]) == {"a-A"}


def test_a_title_counts_less_than_the_time():
    after = [found("B", minute=20, **BROKER), found("C", title="else", **BROKER)]
    assert paired([found("a", **BROKER)], after) == {"a-C"}


def test_a_key_that_names_nobody_pairs_only_what_has_one_title():
    before = [found("a", "misconfiguration", title="acks=1"), found("b", "misconfiguration", title="too short")]
    after = [found("B", "misconfiguration", title="too short"), found("C", "misconfiguration", title="too long")]
    assert before[0].key == after[1].key
    assert paired(before, after) == {"b-B"}


def test_times_of_unknown_zones_set_nothing_apart():
    before = found("a", has_zone=False, **PAYMENTS)
    assert paired([before], [found("B", minute=500, **{**PAYMENTS, "producer_epoch": 2})]) == set()


def test_groups_that_are_too_large_to_weigh_are_paired_in_time(monkeypatch):
    monkeypatch.setattr(module, "MOST_TRIED", 3)
    before, after = (
        [found(name, minute=20 * at, **BROKER) for at, name in enumerate(names)] for names in ("abc", "aBC")
    )
    assert paired(before, list(reversed(after))) == {"a-a", "b-B", "c-C"}


_FINDINGS = st.lists(
    st.builds(
        found,
        st.sampled_from("abcdef"),
        st.sampled_from([EVENT, LASTING]),
        cluster_id=st.sampled_from([None, "c", "d"]),
        title=st.sampled_from(["x", "y"]),
        minute=st.sampled_from([None, 0, 0.5, 20, 40]),
        transactional_id=st.sampled_from([None, "t", "u"]),
        producer_id=st.sampled_from([None, 1, 2]),
        producer_epoch=st.sampled_from([None, 0, 1]),
        topic=st.sampled_from([None, "orders"]),
        partition=st.sampled_from([None, 0]),
        first_offset=st.sampled_from([None, 0, 5]),
        count=st.sampled_from([1, 2]),
        has_zone=st.booleans(),
    ),
    max_size=6,
)


def _said(findings: list[Diagnosed]) -> list[Diagnosed]:
    """Ids of a document are its own."""
    for number, one in enumerate(findings):
        object.__setattr__(one, "id", f"{one.id}{number}")
    return findings


@settings(max_examples=80)
@given(_FINDINGS, _FINDINGS, st.randoms(use_true_random=False))
def test_either_side_and_any_order_tell_the_same(before, after, lot):
    one, other = diagnosis(*_said(before)), diagnosis(*_said(after))
    told, mirrored = compared(one, other), compared(other, one)
    assert [each.found.id for each in told.new] == [each.found.id for each in mirrored.gone]
    assert [each.found.id for each in told.gone] == [each.found.id for each in mirrored.new]
    assert len(told.changed) == len(mirrored.changed)
    assert len(told.new) + len(told.changed) + len(told.same) == len(after)
    assert len(told.gone) + len(told.changed) + len(told.same) == len(before)
    lot.shuffle(one.findings)
    lot.shuffle(other.findings)
    shuffled = compared(one, other)
    for name in ("new", "gone", "changed", "same"):
        assert list(map(_names, getattr(told, name))) == list(map(_names, getattr(shuffled, name)))


def _names(one: object) -> list[object]:
    if hasattr(one, "found"):
        return [one.found.id, one.absence]
    return [one.before.id, one.after.id, one.changes, one.has_recurred]  # type: ignore[attr-defined]


@settings(max_examples=40)
@given(_FINDINGS)
def test_a_diagnosis_is_as_itself(findings):
    one = diagnosis(*_said(findings))
    told = compared(one, one)
    assert (told.new, told.gone, told.changed) == ((), (), ())
    assert all(each.before.id == each.after.id for each in told.same)
