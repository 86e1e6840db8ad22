"""Findings as models: chains together, the worst first, each chain where its worst finding stands."""

from io import StringIO

from rich.console import Console

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis
from kafkatx.findings.finding import EVERYWHERE, Finding, NotCheckable
from kafkatx.outputs.diagnosis_order import stories
from kafkatx.outputs.diagnosis_text import print_diagnosis
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Remedy


def found(name, caused_by=None, contributing=(), severity=Severity.error, **about):
    finding = Finding(name, Verdict.likely, severity, f"title of {name}", f"Summary of {name}.", **about)
    return Diagnosed(name, "capture", None, finding, [], caused_by, contributing)


def order(*findings):
    return [one.id for story in stories(list(findings)) for one in story.findings]


def printed(*findings, not_checkable=(), verbose=False):
    stream = StringIO()
    result = Diagnosis(findings=list(findings), not_checkable=[("capture", entry) for entry in not_checkable])
    print_diagnosis(Console(file=stream, width=100), result, verbose=verbose)
    return stream.getvalue()


def test_a_chain_of_equally_bad_ones_is_told_from_its_root():
    assert order(found("abort", "timeout"), found("timeout", "broker"), found("broker")) == [
        "broker",
        "timeout",
        "abort",
    ]


def test_a_cause_never_stands_above_what_is_worse_than_itself():
    chain = (
        found("lost"),
        found("effect", "cause"),
        found("cause", severity=Severity.warning),
        found("note", severity=Severity.info),
    )
    assert order(*chain) == ["lost", "effect", "cause", "note"]
    [_, story, _] = stories(list(chain))
    assert (story.root.id, story.worst.id) == ("cause", "effect")


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
    first, second, third, totals = text.splitlines()[:4]
    assert first == "1. error   title of timeout (likely)"
    assert second == "  2. error   title of abort (likely), probably because of 1"
    assert third == "3. error   title of setting (likely)"
    assert totals == "2 root causes; findings: 3 errors."
    assert "probably because of: title of timeout (likely), see 1" in text
    assert "contributing: see 3" in text


def test_the_index_says_what_to_do_first_where_something_is_wrong():
    do = (Remedy("Stop it. Then start it.", "application"),)
    text = printed(found("a", remedies=do), found("b", remedies=do, severity=Severity.info))
    assert text.splitlines()[:3] == ["1. error   title of a (likely)", "           do: Stop it", "  and 1 more, below"]


def test_what_is_only_worth_knowing_is_listed_where_it_caused_something_or_nothing_is_worse():
    note = found("note", severity=Severity.info)
    assert "2. info    title of note" in printed(found("a", "note"), note)
    assert "2. info    title of note" in printed(found("b", severity=Severity.info), note)


def test_what_to_do_and_how_sure_stand_before_the_evidence_and_what_is_left_open_beside_it():
    others = (
        Considered("transaction_timed_out", "too early"),
        Considered("a restart", "it looks the same", refuted=False, decided_by="the log of the old instance"),
    )
    text = printed(found("fenced", considered=others, remedies=(Remedy("Stop it", "application"),)))
    marks = ["do: Stop it (application)", "sure: likely", "not ruled out: a restart", "evidence:", "\n   ruled out: "]
    assert sorted(marks, key=text.index) == marks
    assert "(it looks the same); the log of the old instance would decide" in text
    assert "ruled out: transaction timed out (too early)" in text


def test_times_of_an_unknown_zone_are_printed_without_one():
    day = 1_700_000_000_000
    assert "2023-11-14 22:13:20.000 UTC" in printed(found("a", since=day))
    assert "2023-11-14 22:13:20.000\n" in printed(found("a", since=day, until=day, has_zone=False))


def test_a_long_index_is_cut_and_says_what_it_leaves_out():
    text = printed(*(found(f"f{number}") for number in range(20)))
    assert "10. error   title of f9 (likely)" in text
    assert "title of f10 (likely)" not in text
    assert "  and 10 more, below" in text


def test_what_no_rule_could_look_at_is_one_line_and_whole_with_verbose():
    entries = [NotCheckable(rule, EVERYWHERE, "logs of clients") for rule in ("one", "two")]
    entries += [NotCheckable("three", "orders-0", "the whole log")]
    text = printed(not_checkable=entries)
    assert "- three: orders-0; missing: the whole log" in text
    assert "Would let more rules look: logs of clients (2 rules)." in text
    assert "- one, two: the cluster; missing: logs of clients" in printed(not_checkable=entries, verbose=True)
