"""Findings as models: chains together, causes first, each chain where its worst finding stands."""

from io import StringIO

from rich.console import Console

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis
from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.outputs.diagnosis_order import as_stories
from kafkatx.outputs.diagnosis_text import print_diagnosis
from kafkatx.terms.verdicts import Severity, Verdict


def found(name, caused_by=None, contributing=()):
    finding = Finding(name, Verdict.proved, Severity.error, f"summary of {name}")
    return Diagnosed(name, "capture", None, finding, [], caused_by, contributing)


def order(*findings):
    return [one.id for one in as_stories(list(findings))]


def printed(*findings, not_checkable=()):
    stream = StringIO()
    result = Diagnosis(findings=list(findings), not_checkable=[("capture", entry) for entry in not_checkable])
    print_diagnosis(Console(file=stream, width=100), result)
    return stream.getvalue()


def test_a_chain_is_told_from_its_root():
    assert order(found("abort", "timeout"), found("timeout", "broker"), found("broker")) == [
        "broker",
        "timeout",
        "abort",
    ]


def test_a_chain_stands_where_its_worst_finding_stood():
    assert order(found("lone"), found("effect", "root"), found("other"), found("root")) == [
        "lone", "root", "effect", "other",
    ]  # fmt: skip


def test_effects_of_one_cause_keep_their_order_and_their_own_effects_follow_them():
    told = order(found("a", "root"), found("b", "root"), found("c", "a"), found("root"))
    assert told == ["root", "a", "c", "b"]


def test_a_cause_that_is_not_shown_leaves_its_effects_where_they_are():
    assert order(found("b", "hidden"), found("a")) == ["b", "a"]


def test_a_circle_of_causes_ends():
    assert sorted(order(found("a", "b"), found("b", "a"))) == ["a", "b"]


def test_every_finding_is_told_once():
    names = [f"f{number}" for number in range(40)]
    chain = [found(name, names[number // 3] if number else None) for number, name in enumerate(names)]
    assert sorted(order(*reversed(chain))) == sorted(names)


def test_the_text_points_from_effects_to_causes_by_number():
    text = printed(found("abort", "timeout", ("setting",)), found("timeout"), found("setting"))
    assert text.index("1. error  timeout") < text.index("2. error  abort") < text.index("3. error  setting")
    assert "caused by: finding 1" in text
    assert "contributing: finding 3" in text


def test_what_could_not_be_checked_is_grouped_by_what_is_missing():
    entries = [NotCheckable(rule, "the cluster", "logs of clients") for rule in ("one", "two")]
    text = printed(not_checkable=[*entries, NotCheckable("three", "the cluster", "logs of brokers")])
    assert "- one, two: the cluster; missing: logs of clients" in text
    assert "- three: the cluster; missing: logs of brokers" in text
