"""Lines that speak of a failure in words that nobody knows: told for information, with the lines."""

from __future__ import annotations

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Quoted, Refs, facts

MOST_SHOWN = 4
"""Lines that are shown."""


@facts
class SpokenFacts:
    """Lines that speak of a failure in words that nobody knows: the first one, and how many there are."""

    said: Quoted
    count: Count
    lines: Refs


def spoken_case(model: CaptureModel, told: ToldFailure) -> Case:
    """The case of lines that speak of a failure."""
    since, until = times_of(model.logs, list(told.rows))
    return Case(
        facts=SpokenFacts(Quoted(told.message), Count(told.count), event_refs(model, list(told.rows), MOST_SHOWN)),
        verdict=Verdict.proved,
        severity=Severity.info,
        since=since,
        until=until,
        count=told.count,
    )


SPOKEN_WORDS = Words(
    SpokenFacts,
    title=("a failure that kafkatx does not know",),
    summary=(
        pick("count", {1: "A line speaks"}, "{count:line} speak"),
        " of a failure that kafkatx does not know: {said}.",
        " Whether a transaction is touched, this text does not show.",
    ),
    steps=(step(pick("count", {1: "The line was logged"}, "The lines were logged"), cites="lines"),),
    remedies=(
        remedy(
            "Look for the first error before these lines, in the same log: that one may be known",
            "application",
        ),
    ),
)
