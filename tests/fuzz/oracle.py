"""What must hold of a diagnosis of what was left of a case; each way to fail is one sentence.

1. Nothing that `case.json` calls a wrong conclusion, and no warning or error at likely or proved about a healthy id.
2. No claim (a warning or an error at likely or proved) is surer or graver than what the whole evidence says by that
   rule of that id.
3. No claim by a rule that the whole evidence has refuted of that id, and no proof that the whole evidence has not.

What explains a difference, so that it is no failure:

- `unexplained_failure` claims nothing: a failure is told without its cause, and the cause may be what was lost.
- A loss that leaves no trace makes an older copy (`traced` is false). It rightly says what was the case then: so a
  finding may be graver than it is with what came later, and rules about the end of a copy (`OF_THE_END`) may be new.
- What `case.json` asks for or allows is right: the whole evidence may tell it by a wider rule.
- A likely claim says that one other reading can't be excluded: where it names that and the whole evidence says just
  that, it has told so. (An ABORT marker of a coordinator is a timeout's or a new instance's; without rows and settings
  the default timeout decides.)
- Less evidence may know of another rule for the same thing (an abort whose author was lost). That is likely at the
  most, and must be neither refuted nor a wrong conclusion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError
from tests.cases.findings import inputs
from tests.cases.judging import answers_to, shortfalls
from tests.cases.weakening import SEVERITIES, VERDICTS, Finding, ids_of
from tests.evidence import COLLECTION, all_cases, expectations, fixture_cases

SURE = ("likely", "proved")
TOLD = "unexplained_failure"
KINDS = ("disk", "all", "text", "logs", "dump", "client", "broker")
"""Kinds of evidence of a case that together are the whole, the cheapest first."""

OF_THE_END = frozenset({"open_transaction", "stuck_prepare", "read_committed_blocked", "pending_offset_commit"})
"""Rules about what is so at the end of a copy, and no more when it goes on."""


def case_named(name: str) -> Path:
    """The folder of a recorded case: of the repository, else of the collection."""
    return next(case for case in (*fixture_cases(), *COLLECTION.glob(name)) if case.name == name)


def drawn_from(collection: bool) -> list[str]:
    """Names of the cases that seeds are drawn among."""
    return [case.name for case in (all_cases() if collection else fixture_cases())]


def told(paths: Iterable[Path | str]) -> list[Finding]:
    """Findings of some evidence; none where nothing is readable."""
    try:
        found: list[Finding] = document(diagnose(paths), __version__)["findings"]
    except NothingReadableError:
        return []
    return found


@cache
def said_of(name: str, kind: str) -> list[Finding]:
    """What one kind of evidence of a case says, nothing lost of it."""
    paths = inputs(case_named(name), kind)
    return told(paths) if paths else []


def false_claims(name: str, found: list[Finding], *, traced: bool = True, kinds: tuple[str, ...] = KINDS) -> list[str]:
    """Say what of the findings must not be said; `kinds` of evidence are what the whole of the case is."""
    claims = [one for one in found if one["verdict"] in SURE and one["severity"] != "info" and one["rule"] != TOLD]
    wrong = shortfalls(case_named(name), claims, frozenset())
    return [*wrong, *(said for one in claims if (said := _unsupported(name, one, traced, kinds)))]


def _unsupported(name: str, claim: Finding, traced: bool, kinds: tuple[str, ...]) -> str | None:
    """What is wrong with a claim; the kinds of the whole evidence are asked one after the other."""
    weaker: list[Finding] = []
    for other in _about(name, claim, kinds):
        if other["rule"] == claim["rule"]:
            if _carries(other, claim, traced):
                return None
            weaker.append(other)
    if _is_asked_for(name, claim) or (not traced and claim["rule"] in OF_THE_END):
        return None
    if claim["verdict"] == "likely" and _names_it(claim, _about(name, claim, kinds)):
        return None
    summary = f"{claim['severity']} {claim['verdict']} {claim['rule']}: {claim['summary']}"
    if weaker:
        best = max(weaker, key=lambda one: (VERDICTS.index(one["verdict"]), SEVERITIES.index(one["severity"])))
        return f"surer or graver than {best['severity']} {best['verdict']} with all: {summary}"
    considered = (other for one in _about(name, claim, kinds) for other in one["considered"])
    if any(other["refuted"] and other["rule"] == claim["rule"] for other in considered):
        return f"refuted by the whole evidence: {summary}"
    return f"new: {summary}" if claim["verdict"] == "proved" else None


def _names_it(claim: Finding, others: Iterator[Finding]) -> bool:
    """Whether a likely claim leaves open what the whole evidence says."""
    left_open = {other["rule"] for other in claim["considered"] if not other["refuted"]}
    return any(other["rule"] in left_open and other["verdict"] in SURE for other in others)


def _is_asked_for(name: str, claim: Finding) -> bool:
    """Whether `case.json` has it as right; the whole evidence may tell it by a wider rule."""
    expected = expectations(case_named(name))
    return any(
        answers_to(claim, wanted) and SEVERITIES.index(claim["severity"]) <= SEVERITIES.index(_most(wanted))
        for wanted in (*expected.get("must_find", []), *expected.get("may_find", []))
    )


def _most(wanted: dict[str, Any]) -> str:
    return wanted.get("severity") or SEVERITIES[-1]


def _about(name: str, claim: Finding, kinds: tuple[str, ...]) -> Iterator[Finding]:
    """Findings of the whole evidence about an id of the claim; of all, where what was lost told its ids."""
    wanted = ids_of(claim)
    return (
        one for kind in kinds for one in said_of(name, kind) if not wanted or not ids_of(one) or wanted & ids_of(one)
    )


def _carries(other: Finding, claim: Finding, traced: bool) -> bool:
    return VERDICTS.index(other["verdict"]) >= VERDICTS.index(claim["verdict"]) and (
        not traced or SEVERITIES.index(other["severity"]) >= SEVERITIES.index(claim["severity"])
    )


def failed(error: BaseException) -> str:
    """Say what was raised, and where."""
    trace, places = error.__traceback__, []
    while trace:
        places.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {str(error)[:160]} ({' '.join(places[-3:])})"


Trial = dict[str, Any]
