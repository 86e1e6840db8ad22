"""What a comparison amounts to: its state, its first line, what changed, and what counts as worse."""

from typing import Any

import pytest

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, FailureCounts, Selected
from kafkatx.outputs.comparing.as_json import document
from kafkatx.outputs.comparing.compared import Comparison
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Remedy
from tests.outputs.comparing.diagnoses import (
    LASTING,
    ORDERS,
    PAYMENTS,
    compared,
    diagnosis,
    found,
    place,
    segment,
)

INFO, WARNING = Severity.info, Severity.warning
READ_ON: dict[str, Any] = {"files": (segment(last=20), segment("__transaction_state", 30)), "until": 60}
LATER: dict[str, Any] = {"since": 20, "until": 60}
OPEN = found("a", LASTING, places=(place(),), title="transaction still open", **PAYMENTS, **ORDERS)
EVENT = found("b", who="payments-1", title="fenced", **PAYMENTS)
NOTE = found("c", "aborted_by_client", severity=INFO, title="aborted", minute=30, **PAYMENTS)


@pytest.mark.parametrize(
    ("before", "after", "state", "headline"),
    [
        (
            diagnosis(OPEN),
            diagnosis(NOTE, **READ_ON),
            "held",
            "The fix held, and no error and no warning is new. Ended: payments-1: transaction still open (proved).",
        ),
        (
            diagnosis(OPEN, EVENT),
            diagnosis(**READ_ON),
            "unknown",
            "2 gone (1 ended, 1 unproved). Whether a fix held can't be told.",
        ),
        (
            diagnosis(EVENT),
            diagnosis(**LATER),
            "unknown",
            "1 gone (not covered). Whether a fix held can't be told.",
        ),
        (
            diagnosis(OPEN, EVENT),
            diagnosis(EVENT, **READ_ON),
            "remains",
            "1 gone (ended), 1 as before. Still found: payments-1: fenced (proved).",
        ),
        (
            diagnosis(EVENT),
            diagnosis(found("B", minute=30, **PAYMENTS), **LATER),
            "worse",
            "1 error again.",
        ),
        (
            diagnosis(OPEN),
            diagnosis(found("B", severity=WARNING, minute=30, transactional_id="x"), NOTE, **READ_ON),
            "worse",
            "1 new warning, 1 new info, 1 gone (ended).",
        ),
        (
            diagnosis(found("a", severity=WARNING, **PAYMENTS)),
            diagnosis(found("a", **PAYMENTS)),
            "worse",
            "1 changed.",
        ),
        (
            diagnosis(EVENT),
            diagnosis(found("b", severity=INFO, who="payments-1", title="fenced", **PAYMENTS)),
            "unknown",
            "1 changed. Whether a fix held can't be told.",
        ),
        (
            diagnosis(EVENT),
            diagnosis(transactions=0),
            "nothing_to_judge",
            "No answer: the later diagnosis had nothing to judge; 1 gone (not covered).",
        ),
        (
            diagnosis(transactions=0),
            diagnosis(),
            "nothing_to_judge",
            "No answer: the earlier diagnosis had nothing to judge.",
        ),
        (
            diagnosis(EVENT),
            diagnosis(selected=Selected(0, 1, True, False)),
            "unknown",
            "1 gone (unproved). Whether a fix held can't be told.",
        ),
        (diagnosis(), diagnosis(), "clear", "No finding in either diagnosis."),
        (diagnosis(), diagnosis(NOTE), "clear", "1 new info."),
    ],
    ids=[
        "ended", "one of two ended", "later evidence", "one is left", "again", "new", "more severe", "less severe",
        "nothing after", "nothing before", "limited", "none", "only info",
    ],
)  # fmt: skip
def test_the_answer_is_never_more_than_what_is_proved(before: Diagnosis, after: Diagnosis, state: str, headline: str):
    told = compared(before, after)
    assert (told.state, told.headline) == (state, headline)


def changes(one: Diagnosed, other: Diagnosed, *more: Diagnosed) -> dict[str, tuple[Any, Any]]:
    told = compared(diagnosis(one, *more), diagnosis(other, *more))
    (changed,) = told.changed
    return {change.name: (change.before, change.after) for change in changed.changes}


def test_what_changed_is_told_value_by_value():
    after = found(
        "B", severity=WARNING, verdict=Verdict.likely, minute=-1, minutes=3, count=2, title="else", **PAYMENTS
    )
    assert changes(EVENT, after) == {
        "verdict": ("proved", "likely"),
        "severity": ("error", "warning"),
        "count": (1, 2),
        "from": ("2026-11-21T10:00:00.000Z", "2026-11-21T09:59:00.000Z"),
        "to": ("2026-11-21T10:01:00.000Z", "2026-11-21T10:02:00.000Z"),
    }
    remedy = Remedy("Stop one", "operator")
    assert changes(EVENT, found("b", remedies=(remedy,), **PAYMENTS)) == {"remedies": ((), (remedy,))}


def test_a_cause_that_both_diagnoses_have_is_the_same_under_another_id():
    def caused(name: str, cause: str | None) -> Diagnosed:
        return found(name, caused_by=cause, **PAYMENTS)

    outages = [found(name, "broker_unreachable", nodes=(1,)) for name in ("x", "y")]
    told = compared(diagnosis(caused("a", "x"), outages[0]), diagnosis(caused("A", "y"), outages[1]))
    assert (len(told.same), told.changed) == (2, ())
    assert changes(caused("a", None), caused("A", "x"), outages[0]) == {"caused_by": (None, "x")}


def again(before: Diagnosed, after: Diagnosed, **about: Any) -> bool:
    told = compared(diagnosis(before), diagnosis(after, **about))
    (changed,) = told.changed
    assert (told.worsened == [changed.after]) == changed.has_recurred
    return changed.has_recurred


def test_it_has_recurred_where_it_began_after_its_end_or_happened_more_often_behind_the_earlier_evidence():
    assert again(EVENT, found("B", minute=2, **PAYMENTS))
    assert not again(found("a", minute=2, **PAYMENTS), found("B", **PAYMENTS))
    assert not again(EVENT, found("B", minute=0.5, **PAYMENTS))
    assert again(EVENT, found("B", minutes=30, count=2, **PAYMENTS), until=60)
    assert not again(EVENT, found("B", minutes=5, count=2, **PAYMENTS))
    assert not again(EVENT, found("B", minutes=30, **PAYMENTS), until=60)


def test_lists_have_the_worst_first():
    findings = [
        found(name, severity=severity, verdict=verdict, minute=minute, transactional_id=name)
        for name, severity, verdict, minute in [
            ("a", INFO, Verdict.proved, 0),
            ("b", WARNING, Verdict.proved, 0),
            ("c", Severity.error, Verdict.likely, 0),
            ("d", Severity.error, Verdict.proved, 5),
            ("e", Severity.error, Verdict.proved, 0),
        ]
    ]
    whole, empty = diagnosis(*findings), diagnosis()
    assert [one.found.id for one in compared(empty, whole).new] == ["e", "d", "c", "b", "a"]
    assert [one.found.id for one in compared(whole, empty).gone] == ["e", "d", "c", "b", "a"]
    assert [one.after.id for one in compared(whole, whole).same] == ["e", "d", "c", "b", "a"]


def test_the_document_has_both_answers_and_what_absence_says():
    before = diagnosis(OPEN, EVENT, failures=FailureCounts(3, 1, 1, 1))
    told: Comparison = compared(before, diagnosis(found("B", minute=30, count=2, **PAYMENTS), NOTE, **READ_ON))
    written = document(told, "1")
    assert [*written] == ["kafkatx", "schema", "answer", "new", "gone", "changed", "same"]
    assert [*written["answer"]] == ["state", "headline", "counts", "before", "after"]
    assert written["answer"]["before"]["failures"] == {"told": 3, "explained": 1, "unexplained": 1, "excused": 1}
    assert written["answer"]["before"]["examined"]["to"] == "2026-11-21T10:10:00.000Z"
    assert written["answer"]["counts"]["recurred"] == {"error": 1, "warning": 0, "info": 0}
    (gone,) = written["gone"]
    assert {name: gone[name] for name in ("covered", "reason", "instead", "has_ended")} == {
        "covered": "unknown", "reason": "told_otherwise", "instead": ["B"], "has_ended": False
    }  # fmt: skip
    (changed,) = written["changed"]
    assert (changed["before"], changed["after"], changed["has_recurred"]) == ("b", "B", True)
    assert [change["field"] for change in changed["changes"]] == ["count", "from", "to"]
    assert changed["finding"]["transactional_id"] == "payments-1"
