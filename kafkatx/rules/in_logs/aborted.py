"""Aborts that a client's log shows and no row knows: asked for by the application, and not refused."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.story import Failure
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.rules.finding import Finding
from kafkatx.rules.in_logs.ended import actors, by_name, producer_of, spanned
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Considered, Step
from kafkatx.words.log_places import event_places, failure_phrase, failure_places
from kafkatx.words.places import plural

RULE = "aborted_by_client"
BEFORE_MS = 60_000
"""How long before an abort its reason may stand in the log."""


def aborted_in_logs(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id."""
    for name, endings in by_name(story.ends.logs, EndedBy.client):
        yield _finding(story, name, endings)


def _finding(story: Story, name: str, endings: list[LogEnding]) -> Finding:
    rows = [row for ending in endings for row in ending.rows]
    on_close = [row for row in rows if story.logs.kind(row) is EventKind.abort_on_close]
    how = "close()" if len(on_close) == len(rows) else "abortTransaction"
    reason = _reason(endings[0])
    return Finding(
        rule=RULE,
        verdict=endings[0].verdict,
        severity=Severity.info,
        summary=f"{name} aborted {plural(len(rows), 'transaction')} itself, by {how}, as its log says",
        transactional_id=name,
        producer_id=producer_of(endings)[0],
        producer_epoch=producer_of(endings)[1],
        **spanned(endings),
        count=len(endings),
        actors=actors(story, endings),
        steps=(
            *(_reason_step(story, failure) for failure in reason),
            Step(
                f"at {clock(endings[0].at)} its client aborted the transaction",
                "its log says so, and no refusal follows",
                event_places(story, rows),
            ),
        ),
        considered=(
            Considered(
                "an abort that came to nothing",
                "not refuted for certain: only rows or markers would tell whether anything was written, and who came "
                "first",
            ),
        ),
    )


def _reason(ending: LogEnding) -> list[Failure]:
    """What went wrong just before the first abort."""
    failures = ending.client.failures if ending.client is not None else ()
    before = [f for f in failures if f.at is not None and ending.at - BEFORE_MS <= f.at <= ending.at]
    return before[-1:]


def _reason_step(story: Story, failure: Failure) -> Step:
    return Step(f"before that {failure_phrase(failure)}", "the reason for the abort", failure_places(story, failure))
