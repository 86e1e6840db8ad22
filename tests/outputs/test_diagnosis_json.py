"""The document of a diagnosis: the answer before all else, and what each finding says to programs."""

import json
from dataclasses import replace

import pytest

import kafkatx
from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined, Selected
from kafkatx.findings.finding import Finding
from kafkatx.outputs.answer import answer
from kafkatx.outputs.diagnosis_json import document, to_json
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import fixtures

SOME = Examined(transactions=412, transactional_ids=6, producers=1, groups=0, since=0, until=60_000)
DATA = {"topic": "orders", "partition": 3}
LEFT = Selected(findings=0, of=3, occurs=True, may_hide=False)


def found(name, severity=Severity.error, caused_by=None, cluster_id=None, **about):
    finding = Finding("rule", Verdict.proved, severity, f"title of {name}", f"summary of {name}", **about)
    return Diagnosed(name, "capture", cluster_id, finding, [], caused_by)


def said(*findings, examined=SOME, selected=None):
    return document(Diagnosis(list(findings), examined=examined, selected=selected), "1")


def roots(*findings):
    return said(*findings)["answer"]["root_causes"]


def test_the_fields_are_those_of_the_contract_in_its_order():
    told = said(found("a"))
    assert [*told] == ["kafkatx", "schema", "answer", "next", "coverage", "findings", "not_checkable", "damage"]
    assert told["schema"] == 2
    assert [*told["answer"]] == [
        "state", "headline", "worst", "counts", "root_causes", "examined", "failures", "selected",
    ]  # fmt: skip
    assert told["next"] == told["findings"][0]["candidates"] == []
    assert told["answer"]["failures"] == {"told": 0, "explained": 0, "unexplained": 0, "excused": 0}


def test_a_warning_or_an_error_is_what_state_and_headline_tell():
    told = said(found("a"), found("b", Severity.warning), found("c", Severity.warning), found("d", Severity.info))
    assert told["answer"]["state"] == "findings"
    assert told["answer"]["headline"] == "error: title of a (proved); and 2 more (2 warnings)"
    assert told["answer"]["worst"] == "error"
    assert told["answer"]["counts"] == {"error": 1, "warning": 2, "info": 1}


def test_what_was_looked_at_makes_a_clean_bill():
    counted = (
        "no error and no warning in 412 transactions, 6 transactional ids, 1 producer id, "
        "1970-01-01 00:00:00.000 to 00:01:00.000 UTC"
    )
    assert said()["answer"]["headline"] == f"Clear: {counted}."
    told = said(found("a", Severity.info), found("b", Severity.info))["answer"]
    assert told["state"] == "clear"
    assert told["headline"] == "No error and no warning. For information: title of a (proved) and 1 more"
    assert (told["worst"], told["root_causes"]) == ("info", [])
    assert told["examined"] == {
        "transactions": 412,
        "transactional_ids": 6,
        "producers": 1,
        "groups": 0,
        "from": "1970-01-01T00:00:00.000Z",
        "to": "1970-01-01T00:01:00.000Z",
        "unread_segments": 0,
    }


def test_a_clean_bill_says_what_was_not_read():
    left = "were not read (nothing made them suspect; --thorough reads them)"
    some = replace(SOME, unread_segments=3400)
    assert said(examined=some)["answer"]["headline"].endswith(f" UTC; 3,400 segments of data {left}.")
    told = said(found("b", Severity.info), examined=some)["answer"]["headline"]
    assert told.endswith(f"; 3,400 segments of data {left}")
    one = said(examined=Examined(unread_segments=1))["answer"]["headline"]
    assert one.endswith("; 1 segment of data was not read (nothing made it suspect; --thorough reads it).")
    assert "not read" not in said(found("a"), examined=some)["answer"]["headline"]


def test_where_nothing_was_looked_at_there_is_nothing_to_judge():
    told = said(examined=Examined())["answer"]
    assert told["state"] == "nothing_to_judge"
    assert told["headline"] == (
        "Nothing to judge: what could be read tells of no transaction, and of nothing that failed."
    )
    assert told["worst"] is told["examined"]["from"] is None


@pytest.mark.parametrize(
    ("selected", "state", "words"),
    [
        (LEFT, "clear", "in what the filters name."),
        (replace(LEFT, occurs=False), "nothing_to_judge", "does not occur"),
        (replace(LEFT, may_hide=True), "nothing_to_judge", "leave out findings"),
    ],
    ids=["another one's findings", "names nothing", "hides"],
)
def test_filters_are_no_clean_bill_unless_they_name_somebody_and_hide_nothing(selected, state, words):
    told = said(selected=selected)["answer"]
    assert told["state"] == state
    assert words in told["headline"]
    assert told["selected"] == {
        "findings": 0,
        "of": 3,
        "occurs": selected.occurs,
        "may_hide": selected.may_hide,
        "transactional_ids": (),
        "producer_ids": (),
        "topics": (),
    }


def test_filters_that_name_nobody_say_who_there_is():
    offered = replace(LEFT, occurs=False, transactional_ids=tuple("abcdefg"), topics=("orders",))
    told = said(selected=offered)["answer"]["headline"]
    assert "transactional ids a, b, c, d, e and 2 more; topics orders; 1970-01-01 00:00:00.000 to" in told


def test_the_headline_of_one_incident_names_effect_and_cause():
    effect = found("effect", caused_by="root", who="orders-sink-0")
    told = said(effect, found("root", Severity.warning, who="broker 1"))["answer"]["headline"]
    assert told == "error: orders-sink-0: title of effect (proved), because of broker 1: title of root (proved)"


def test_a_root_is_what_no_other_error_or_warning_caused():
    assert roots(found("effect", caused_by="root"), found("root", Severity.warning)) == ["root"]


def test_a_cause_that_is_only_worth_knowing_is_no_root_and_hides_none():
    assert roots(found("effect", caused_by="note"), found("note", Severity.info)) == ["effect"]
    chain = (found("a", caused_by="b"), found("b", Severity.info, caused_by="c"), found("c"))
    assert roots(*chain) == ["c"]


def test_a_cause_that_is_not_at_hand_and_causes_in_a_circle_hide_nothing_for_ever():
    assert roots(found("effect", caused_by="left out")) == ["effect"]
    circle = found("a", Severity.info, caused_by="b"), found("b", Severity.info, caused_by="a")
    assert roots(found("effect", caused_by="a"), *circle) == ["effect"]


def test_facts_are_what_the_rule_says():
    told = said(found("a", facts={"epoch": 3, "partitions": ["orders-0"], "waited_ms": None}), found("b"))
    first, second = told["findings"]
    assert first["facts"] == {"epoch": 3, "partitions": ["orders-0"], "waited_ms": None}
    assert second["facts"] == {}
    assert json.loads(to_json(Diagnosis([found("a", facts={"epoch": 3})]), "1"))["findings"][0]["facts"] == {"epoch": 3}


@pytest.mark.parametrize(
    ("about", "key"),
    [
        ({"transactional_id": "a/b c", "producer_id": 7, "producer_epoch": 1}, "X/rule/a%2Fb%20c/7/1/"),
        ({**DATA, "producer_id": 7, "first_offset": 5}, "X/rule/orders-3/7//orders-3@5"),
        ({"transactional_id": "a", "topic": "__transaction_state", "partition": 3, "first_offset": 9}, "X/rule/a///"),
        ({"topic": "orders"}, "X/rule/orders///"),
        ({"nodes": (1, 2)}, "X/rule/1,2///"),
        ({}, "X/rule////"),
    ],
    ids=["id", "data", "rows", "topic", "brokers", "nothing"],
)  # fmt: skip
def test_the_key_names_the_incident(about, key):
    assert found("a", cluster_id="X", **about).key == key
    assert found("a", **about).key == key.removeprefix("X")


def test_the_key_has_no_times_and_no_counts():
    assert found("a", since=1, until=2, count=3).key == found("b", since=5, until=9).key


def test_less_evidence_of_an_incident_gives_the_same_key():
    case = fixtures() / "k39-fenced"
    whole = kafkatx.diagnose([case])
    without_logs = kafkatx.diagnose([path for path in case.iterdir() if path.name.startswith("broker")])
    assert [one.key for one in whole.findings] == [one.key for one in without_logs.findings]
    assert answer(whole).root_causes == tuple(one.id for one in whole.findings)
