"""Findings as models: chains together, the worst first, each chain where its worst finding stands."""

from dataclasses import replace
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


def replaced(one, name, **about):
    return replace(one, id=name, finding=replace(one.finding, **about))


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


def test_among_equally_bad_ones_a_likely_cause_stands_before_a_failure_without_one_and_a_guess_behind_it():
    failure = replaced(found("unexplained_failure"), "failed", verdict=Verdict.proved)
    guess = replaced(found("sequence_gap"), "guess", verdict=Verdict.possible)
    mild = replaced(found("misconfiguration"), "mild", severity=Severity.warning, verdict=Verdict.proved)
    assert order(failure, found("cause"), guess, mild) == ["cause", "failed", "guess", "mild"]


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
    assert totals == "1 root cause; findings: 3 errors."  # what contributed is none of its own
    assert "probably because of: title of timeout (likely), see 1" in text
    assert "contributing: see 3" in text


def test_the_index_says_what_to_do_first_where_something_is_wrong():
    do = (Remedy("Stop it. Then start it.", "application"),)
    text = printed(found("a", remedies=do), found("b", remedies=do, severity=Severity.info))
    assert text.splitlines()[:3] == [
        "1. error   title of a (likely)",
        "           do: Stop it",
        "  and 1 for information, below",
    ]


def test_the_index_says_what_to_do_about_a_cause_however_mild():
    do = (Remedy("Start it. Then look.", "operator"),)
    text = printed(found("a", "note"), found("note", severity=Severity.info, remedies=do))
    assert "do: Start it\n" in text


def test_the_index_has_the_time_of_what_happened_and_the_date_once():
    day = 1_700_000_000_000
    late = found("late", since=day, facts={"at": "2023-11-14T22:15:00.000Z"})
    text = printed(found("a", since=day), late)
    assert "1. error   22:13:20 title of a" in text
    assert "2. error   22:15:00 title of late" in text
    assert "findings: 2 errors. Times of 2023-11-14, UTC.\n" in text
    assert "Times of 2023-11-14.\n" in printed(found("a", since=day), found("b", since=day, has_zone=False))
    dated = printed(found("a", since=day), found("b", since=day + 86_400_000))
    assert "2023-11-15 22:13:20 title of b" in dated
    assert "Times of" not in dated


def test_alike_findings_of_several_share_a_line_of_the_index():
    six = [replaced(found("f"), f"f{number}", who=f"sink-{number}") for number in range(6)]
    text = printed(*six)
    assert text.splitlines()[0] == "1. error   sink-0 and 5 more (see 2 to 6): title of f (likely)"
    assert "6. Summary of f." in text
    assert "more, below" not in text


def test_one_that_is_alike_is_named_and_a_uuid_is_told_by_its_beginning():
    ids = [f"app-{number}5a03e34-c7e3-468b-949a-3a122952280f-1" for number in (5, 6)]
    text = printed(*(replaced(found("f"), f"f{number}", who=name) for number, name in enumerate(ids)))
    assert text.splitlines()[0] == "1. error   app-55a03e34..-1 and app-65a03e34..-1 (see 2): title of f (likely)"
    alike = [*ids[:1], ids[0].replace("468b", "468c")]
    text = printed(*(replaced(found("f"), f"f{number}", who=name) for number, name in enumerate(alike)))
    assert ".." not in text


def test_what_one_change_mends_has_one_root_cause():
    longer = (Remedy("Raise it", "client", "transaction.timeout.ms", "4000", "90000"),)
    one, other = (
        replaced(found("f", remedies=longer), f"f{number}", who=f"sink-{number}", transactional_id=f"sink-{number}")
        for number in range(2)
    )
    assert "1 root cause; findings: 2 errors." in printed(one, other)
    assert "2 root causes; findings: 2 errors." in printed(one, replaced(other, "f1", transactional_id="orders-1"))


def test_what_is_alike_of_one_only_or_has_another_cause_does_not_share_a_line():
    twice = [replaced(found("f"), f"f{number}", who="one") for number in range(2)]
    assert "2. error   one: title of f" in printed(*twice)
    mixed = replaced(found("f"), "f0", who="a"), replaced(found("f", "cause"), "f1", who="b"), found("cause")
    assert "and 1 more" not in printed(*mixed)


def test_effects_fold_below_causes_that_fold():
    pairs = [
        one
        for number in range(2)
        for one in (
            replaced(found("cause"), f"cause{number}", who=f"id-{number}"),
            replaced(found("effect", f"cause{number}"), f"effect{number}", who=f"id-{number}"),
        )
    ]
    assert printed(*pairs).splitlines()[:2] == [
        "1. error   id-0 and id-1 (see 3): title of cause (likely)",
        "  2. error   id-0 and id-1 (see 4): title of effect (likely), probably because of 1",
    ]


def test_readers_that_wait_are_no_clean_bill():
    wait = found(
        "read_committed_blocked", severity=Severity.info, who="readers of a-0", facts={"last_stable_offset": 4}
    )
    text = printed(wait, found("b", severity=Severity.info))
    assert text.startswith("Readers of a-0 wait at offset 4; no error and no warning")


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


def test_times_of_an_unknown_zone_are_printed_without_one_and_it_is_said():
    day = 1_700_000_000_000
    assert "2023-11-14 22:13:20.000 UTC" in printed(found("a", since=day))
    assert "2023-11-14 22:13:20.000, zone not known\n" in printed(found("a", since=day, until=day, has_zone=False))
    assert "zone not known" not in printed(found("a", has_zone=False))


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
    assert "More could be judged with: logs of clients." in text
    assert "- missing: logs of clients (one, two)" in printed(not_checkable=entries, verbose=True)
