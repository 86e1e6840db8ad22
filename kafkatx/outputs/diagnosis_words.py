"""What text and page say of a finding beside its own sentences: how sure it is, what caused it, when it was."""

from __future__ import annotations

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.findings.finding import Finding
from kafkatx.terms.catalogue.entries import OF_FRAMES
from kafkatx.terms.times import span
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.explained import Considered

BECAUSE = {
    Verdict.proved: "because of",
    Verdict.likely: "probably because of",
    Verdict.possible: "possibly because of",
}
SURE = {
    Verdict.proved: "proved: no other reading fits this evidence",
    Verdict.likely: "likely: it fits best, but this evidence does not prove it",
    Verdict.possible: "possible: one of several explanations",
}
PROVED_SO_FAR = "proved: no other reading of what is said here fits this evidence"
"""What is proved beside a question that stays open: that is no other reading of it."""
UNEXPLAINED = "only that it failed; the cause is open"
NO_ZONE = ", zone not known"
COUNTED = {"unstable_transactional_id": "ids"}
"""What findings count, where it is not how often it happened."""
ONLY_WORDS = "nothing: these are somebody's words"
ONLY_FRAMES = "only which call it was; its error is not at hand"


def how_sure(finding: Finding) -> str:
    """Return what the verdict means; of a failure without a cause it is about the failure."""
    if finding.is_unexplained:
        is_cut = str(finding.facts.get("error", "")).startswith(OF_FRAMES)
        return (ONLY_FRAMES if is_cut else ONLY_WORDS) if finding.verdict is Verdict.possible else UNEXPLAINED
    is_open = finding.verdict is Verdict.proved and any(not other.refuted for other in finding.considered)
    return PROVED_SO_FAR if is_open else SURE[finding.verdict]


def left_as(finding: Finding) -> str:
    """Return what an explanation is that is left open."""
    if finding.is_unexplained:
        return "may be"
    return "open" if finding.verdict is Verdict.proved else "not ruled out"


def in_words(other: Considered) -> str:
    """Return the rule of another explanation in words."""
    return other.rule.replace("_", " ")


def when_of(finding: Finding) -> str:
    """From when to when, and that nothing tells the zone where nothing does."""
    when = span(finding.since, finding.until, has_zone=finding.has_zone)
    return f"{when}{NO_ZONE}" if when and not finding.has_zone else when


def placed(found: Diagnosed, *, captures: bool) -> str:
    """Return severity, rule, how often, when, and with `captures` in which of several."""
    finding = found.finding
    times = f"{finding.count:,} {COUNTED.get(finding.rule, 'times')}" if finding.count > 1 else ""
    when = when_of(finding)
    capture = f"capture {found.capture}" if captures else ""
    return ", ".join(filter(None, (f"{finding.severity.name} {finding.rule}", times, when, capture)))


def would_decide(evidence: str) -> str:
    """What would decide, as a sentence ends: before the evidence where that says what to look for in it."""
    return f"what would decide: {evidence}" if ": " in evidence else f"{evidence} would decide"
