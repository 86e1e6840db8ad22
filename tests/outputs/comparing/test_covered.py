"""What absence proves: next to nothing, unless the partitions themselves, read on, show that it has ended."""

from dataclasses import replace
from typing import Any

import pytest

from kafkatx.findings.diagnosis import Diagnosis, Selected
from kafkatx.findings.finding import NotCheckable
from kafkatx.outputs.comparing.compared import Missing
from kafkatx.outputs.comparing.covered import Covers, Reason
from kafkatx.outputs.comparing.named_findings import MOST_ASKED
from kafkatx.terms.verdicts import Severity, Verdict
from tests.outputs.comparing.diagnoses import (
    EVENT,
    FILES,
    LASTING,
    ORDERS,
    PAYMENTS,
    compared,
    diagnosis,
    found,
    line,
    place,
    program_log,
    segment,
)

STATE = "__transaction_state"
OPEN = found("a", LASTING, places=(place(), place(STATE, 0, 4)), **PAYMENTS, **ORDERS)
BEFORE = diagnosis(OPEN, files=(*FILES, program_log()))
READ_ON = (segment(last=20), segment(STATE, 30))
AFTER: dict[str, Any] = {"files": READ_ON, "until": 60}


def gone(after: Diagnosis, before: Diagnosis = BEFORE) -> Missing:
    return compared(before, after).gone[0]


def reason(after: Diagnosis, before: Diagnosis = BEFORE) -> Reason:
    return gone(after, before).absence.reason


def after(**about: Any) -> Diagnosis:
    return diagnosis(**{**AFTER, **about})


def test_what_lasted_has_ended_where_its_partitions_are_read_on_without_it():
    told = gone(after())
    assert told.has_ended
    assert told.absence.covers is Covers.covered
    assert told.absence.why == "orders-0 goes on in the later evidence, and there it has ended"


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ((segment(last=9), READ_ON[1]), "nothing was appended to it"),
        ((segment(first=7, last=20), READ_ON[1]), "its beginning was deleted"),
        ((segment(last=20, since=3), READ_ON[1]), "another log of that name"),
        ((segment(last=20, bytes=500), READ_ON[1]), "it holds less"),
        ((segment(last=7, bytes=2_000), segment(first=8, last=20), READ_ON[1]), "its segment ends earlier"),
        ((segment(last=20, status="torn"), READ_ON[1]), "it breaks off"),
        ((segment(last=20), segment(first=21, last=30, status="damaged"), READ_ON[1]), "a later file is damaged"),
        ((segment(last=20), segment(STATE, 8)), "the coordinators' log ends earlier"),
        ((segment(last=20),), "the coordinators' log is not there"),
        ((segment(last=20, path="dump.txt"), READ_ON[1]), "a tool printed it"),
        ((segment(last=20, status="left out"), READ_ON[1]), "it was left out"),
        ((segment(last=20, cluster_id=None), READ_ON[1]), "of no known cluster"),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_of_partitions_that_do_not_show_it_nothing_has_ended(files, why):
    assert not gone(after(files=files)).has_ended


@pytest.mark.parametrize(
    "about",
    [
        {"until": 10},
        {"selected": Selected(0, 3, True, False)},
        {"gaps": (NotCheckable(LASTING, "orders-0", "its log"),)},
        {"transactions": 0},
    ],
    ids=["not later", "limited by options", "its rule could not look", "nothing judged"],
)
def test_a_diagnosis_that_may_not_have_looked_ends_nothing(about):
    told = gone(after(**about))
    assert not told.has_ended
    assert told.absence.covers is not Covers.covered


@pytest.mark.parametrize(
    "other",
    [
        found("B", "hanging_transaction", severity=Severity.info, **ORDERS),
        found("B", "transaction_timed_out", severity=Severity.warning, minute=30, **PAYMENTS),
        found("B", "silent_failure", producer_id=7),
        found("B", "hanging_transaction", topic="orders", cluster_id=None),
        found("B", "atomicity_violation", transactional_id="other", **ORDERS),
    ],
    ids=["lasts as well", "of the same id", "of the same producer", "somewhere in the topic", "of the same data"],
)
def test_what_is_told_under_another_name_has_not_ended(other):
    told = compared(BEFORE, diagnosis(other, **AFTER)).gone[0]
    assert told.absence.reason is Reason.told_otherwise
    assert (told.absence.covers, told.absence.instead) == (Covers.unknown, ("B",))


def test_a_partition_that_nothing_is_cited_of_shows_no_end():
    before = diagnosis(found("a", LASTING, places=(place(STATE, 0, 4),), **PAYMENTS, **ORDERS))
    assert not gone(after(), before).has_ended
    of_no_partition = diagnosis(found("a", LASTING, places=(place(STATE, 0, 4),), **PAYMENTS))
    assert gone(after(), of_no_partition).has_ended


def test_of_a_transaction_in_several_partitions_each_one_is_asked():
    places = (place(), place("payments"), place(STATE, 0, 4))
    before = diagnosis(found("a", LASTING, places=places, **PAYMENTS), files=(*FILES, segment("payments")))
    assert gone(after(files=(*READ_ON, segment("payments", last=20))), before).has_ended
    assert not gone(after(files=(*READ_ON, segment("payments"))), before).has_ended
    other = found("B", "hanging_transaction", topic="payments", partition=0, first_offset=5)
    told = compared(before, diagnosis(other, files=(*READ_ON, segment("payments", last=20)), until=60)).gone[0]
    assert told.absence.instead == ("B",)


def test_what_tells_how_it_ended_does_not_speak_against_it():
    aborted = found("B", "aborted_by_client", severity=Severity.info, minute=20, **PAYMENTS)
    other = found("C", "fenced_by_new_instance", minute=20, transactional_id="payments-2")
    assert gone(diagnosis(aborted, other, **AFTER)).has_ended


def test_of_more_findings_than_are_asked_one_by_one_all_speak_against_it():
    """These are of other data of the topic; so many might hide one that is not."""
    others = [
        found(f"B{number}", "atomicity_violation", topic="orders", partition=1, transactional_id=f"id-{number}")
        for number in range(MOST_ASKED + 1)
    ]
    assert gone(diagnosis(*others[:-1], **AFTER)).has_ended
    assert not gone(diagnosis(*others, **AFTER)).has_ended


def test_a_guess_may_have_been_dropped_for_two_others():
    guesses = [
        found(name, rule, verdict=Verdict.possible, severity=Severity.info, minute=20, **PAYMENTS)
        for name, rule in (("B", "aborted_by_client"), ("C", "shared_producer"))
    ]
    assert not gone(diagnosis(*guesses, **AFTER)).has_ended
    assert gone(diagnosis(*guesses[:1], **AFTER)).has_ended


def test_an_event_never_ends_however_far_its_partitions_are_read():
    event = diagnosis(found("a", EVENT, places=OPEN.finding.steps[0].places, **PAYMENTS))
    told = gone(after(), event)
    assert not told.has_ended
    assert (told.absence.reason, told.absence.covers) == (Reason.files_differ, Covers.unknown)


def test_an_effect_on_partitions_ends_with_its_cause_and_a_failure_of_a_client_does_not():
    on_disk = found("b", "committed_but_unreadable", places=(place(offset=7),), caused_by="a", topic="orders")
    told = found("c", "commit_outcome_unknown", places=(place(), line()), caused_by="a", transactional_id="other")
    before = diagnosis(on_disk, told, OPEN, files=(*FILES, program_log()))
    ended = {one.found.id: one.has_ended for one in compared(before, after()).gone}
    assert ended == {"a": True, "b": True, "c": False}


@pytest.mark.parametrize(
    ("about", "expected", "words"),
    [
        ({"transactions": 0}, Reason.nothing_judged, "there was nothing to judge"),
        ({"files": (segment(cluster_id="cluster-2"),)}, Reason.other_cluster, "not of its cluster, cluster-1"),
        ({"since": 5}, Reason.begins_late, "it began before the later evidence does (2026-11-21 10:05:00.000 UTC)"),
        ({"until": 0.5}, Reason.ends_early, "it went on behind the end of the later evidence"),
        ({"until": -1}, Reason.ends_early, "it happened after the end of the later evidence"),
        ({"files": (segment(last=4),)}, Reason.place_missing, "lacks orders-0 @ 5, which it rests on"),
        ({"files": (segment(),)}, Reason.place_missing, "lacks app.log, which it rests on"),
        (
            {"gaps": (NotCheckable(EVENT, "payments-1", "its client's log"),)},
            Reason.not_checkable,
            "its rule could not look at payments-1 in the later evidence; missing: its client's log",
        ),
    ],
)
def test_an_event_is_not_covered_by_evidence_that_lacks_it(about, expected, words):
    before = diagnosis(found("a", places=(place(), line()), **PAYMENTS), files=(*FILES, program_log()))
    told = gone(diagnosis(**{"files": (*FILES, program_log("else.log")), **about}), before)
    assert (told.absence.reason, told.absence.covers) == (expected, Covers.not_covered)
    assert words in told.absence.why


def test_times_of_an_unknown_zone_are_not_held_against_the_evidence():
    before = diagnosis(found("a", has_zone=False, **PAYMENTS))
    assert reason(diagnosis(since=5, files=(segment(last=20),)), before) is Reason.files_differ


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ((*FILES, program_log()), Reason.same_files),
        ((*FILES, program_log(), segment("more")), Reason.same_files),
        ((*FILES, program_log(size=2_000, end=50, path="copied/app.log")), Reason.same_files),
        ((*FILES, program_log(size=900)), Reason.files_differ),
        ((*FILES, program_log(size=2_000, end=50, first_timestamp=5)), Reason.files_differ),
        ((segment(last=12), FILES[1], program_log()), Reason.files_differ),
        ((replace(FILES[0], bytes=7), FILES[1], program_log()), Reason.files_differ),
        ((FILES[0], FILES[1]), Reason.files_differ),
        ((FILES[0], replace(FILES[1], first_offset=None, last_offset=None), program_log()), Reason.files_differ),
    ],
    ids=[
        "the same", "and more", "a log that grew", "a log that shrank", "another log of that name",
        "a segment that grew", "a compacted one", "without the log", "emptied",
    ],
)  # fmt: skip
def test_an_event_is_covered_only_by_all_files_that_were_there(files, expected):
    before = diagnosis(found("a", places=(place(),), **PAYMENTS), files=(*FILES, program_log()))
    assert reason(diagnosis(files=files), before) is expected


def test_of_what_is_new_the_same_is_asked_of_the_earlier_evidence():
    (told,) = compared(diagnosis(), diagnosis(found("B", minute=30, **PAYMENTS), until=60)).new
    assert told.absence.reason is Reason.ends_early
    assert told.absence.why.startswith("it happened after the end of the earlier evidence (2026-11-21 10:10")
    (told,) = compared(diagnosis(OPEN), diagnosis(replace(OPEN, id="B", finding=replace(OPEN.finding, rule=EVENT)))).new
    assert told.absence.reason is Reason.same_files
