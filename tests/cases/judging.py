"""Holds findings against what `case.json` says of a recorded case; every way to fall short is one sentence.

An expectation counts where the evidence given suffices for it (`needs`). A finding answers it if it has its rule (or
one that
absorbs it, `or_rules`), is about the id asked for, and does not name another place.
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.registry import RULES
from tests.evidence import broker_folders, expectations

Finding = dict[str, Any]
Expectation = dict[str, Any]

VERDICTS = ("possible", "likely", "proved")
LEAST_VERDICT = "likely"
MOST_GUESSES = 2
"""Findings with verdict `possible` about one id; more are noise."""


LOGS = frozenset({"client_log", "broker_log", "config"})
SUFFICES = {"disk": frozenset({"disk"}), "logs": LOGS, "text": LOGS | {"disk"}, "all": LOGS | {"disk"}}
"""What each kind of evidence counts as: text is what kafka-dump-log printed of the disk, beside the logs."""


def evidence_of(case: Path, kind: str) -> list[Path]:
    """Return the paths of a case that are one kind of evidence."""
    logs = [path for path in (case / "logs", case / "config") if path.exists()]
    disk = broker_folders(case)
    return {"disk": disk, "logs": logs, "text": [case / "kafka-dump-log", *logs], "all": disk + logs}[kind]


@cache
def diagnosed(case: Path, kind: str = "disk") -> dict[str, Any]:
    """Return the document of one kind of evidence of a case, made once."""
    return document(diagnose(evidence_of(case, kind)), __version__)


def shortfalls(case: Path, findings: list[Finding], evidence: frozenset[str] = frozenset({"disk"})) -> list[str]:
    """Say where the findings are not what the case asks for; empty when all is well."""
    expected = expectations(case)
    return [
        *_unanswered(expected, findings, evidence),
        *_guesses(expected, findings),
        *_noise(expected, findings),
        *_wrong(expected, findings),
    ]


def _unanswered(expected: dict[str, Any], findings: list[Finding], evidence: frozenset[str]) -> Iterator[str]:
    for wanted in expected.get("must_find", []):
        if wanted["rule"] not in RULES or not evidence.issuperset(wanted.get("needs", ["disk"])):
            continue
        about = f"{wanted['rule']} about {_who(wanted)}"
        answers = [finding for finding in findings if answers_to(finding, wanted)]
        if not answers:
            yield f"missed: {about}"
        elif max(_rank(finding) for finding in answers) < VERDICTS.index(
            wanted.get("verdict_at_least") or LEAST_VERDICT
        ):
            yield f"weak: {about} is {answers[0]['verdict']}, the evidence carries {wanted['verdict_at_least']}"
        elif wanted.get("severity") and all(finding["severity"] != wanted["severity"] for finding in answers):
            yield f"severity: {about} is {answers[0]['severity']}, not {wanted['severity']}"


def _guesses(expected: dict[str, Any], findings: list[Finding]) -> Iterator[str]:
    known = [*expected.get("may_find", []), *expected.get("must_find", [])]
    guesses = [f for f in findings if f["verdict"] == "possible" and not any(answers_to(f, other) for other in known)]
    for who, count in Counter(_who(finding) for finding in guesses).items():
        if who is not None and count > MOST_GUESSES:
            yield f"guesses: {count} about {who}"


def _noise(expected: dict[str, Any], findings: list[Finding]) -> Iterator[str]:
    allowed = [other for other in expected.get("may_find", []) if other.get("severity") != "info"]
    allowed += expected.get("must_find", [])
    for finding in findings:
        loud = finding["severity"] != "info" and finding["transactional_id"] in expected.get("quiet", [])
        if loud and not any(answers_to(finding, other) for other in allowed):
            yield f"noise: {finding['rule']} {finding['severity']} on healthy {finding['transactional_id']}"


def _wrong(expected: dict[str, Any], findings: list[Finding]) -> Iterator[str]:
    sure = [finding for finding in findings if finding["verdict"] != "possible"]
    for trap in expected.get("must_not_find", []):
        about_no_id = _who(trap) is None
        for finding in sure:
            if answers_to(finding, trap) and not (about_no_id and finding["transactional_id"] is not None):
                yield f"wrong: {finding['rule']} {finding['verdict']} about {_who(finding)}: {trap.get('why')}"


def answers_to(finding: Finding, wanted: Expectation) -> bool:
    """Whether a finding is what an expectation speaks of."""
    if finding["rule"] not in (wanted["rule"], *wanted.get("or_rules", ())) or not _same_place(finding, wanted):
        return False
    if wanted.get("any_of"):
        return any(name in json.dumps(finding) for name in wanted["any_of"])
    asked = [name for name in ("transactional_id", "producer_id") if wanted.get(name) is not None]
    return not asked or any(finding[name] == wanted[name] for name in asked)


def _same_place(finding: Finding, wanted: Expectation) -> bool:
    named = [name for name in ("topic", "partition") if wanted.get(name) is not None and finding[name] is not None]
    return all(finding[name] == wanted[name] for name in named)


def _who(about: dict[str, Any]) -> str | int | None:
    """Id that an expectation or a finding is about; 0 is a producer id."""
    transactional_id: str | None = about.get("transactional_id")
    return transactional_id or about.get("producer_id")


def _rank(finding: Finding) -> int:
    return VERDICTS.index(finding["verdict"])
