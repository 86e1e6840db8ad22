"""Timeouts that logs tell and no row: the coordinator's own line, or a refused client whose transaction was overdue."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.outages import outages
from kafkatx.histories.logs.takeovers import timeout_of
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.rules.finding import Finding
from kafkatx.rules.in_logs.ended import actors, by_name, producer_of, refusal_step, spanned
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.advised import advised
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.log_places import event_places
from kafkatx.words.places import plural
from kafkatx.words.remedies import transaction_timeout

RULE = "transaction_timed_out"
HELD_UP = "find out what held the producer up; the timeout must be longer than its longest transaction"


def timed_out_in_logs(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id and verdict."""
    for name, endings in by_name(story.ends.logs, EndedBy.timeout):
        yield _finding(story, name, endings)


def _finding(story: Story, name: str, endings: list[LogEnding]) -> Finding:
    first = endings[0]
    told_by_line = first.verdict is Verdict.proved
    dead = [failure for ending in endings for failure in ending.failures if failure.category == "fatal"]
    return Finding(
        rule=RULE,
        verdict=first.verdict,
        severity=_severity(first, bool(dead)),
        summary=_summary(story, name, endings),
        transactional_id=name,
        producer_id=producer_of(endings)[0],
        producer_epoch=producer_of(endings)[1],
        **spanned(endings),
        count=len(endings),
        actors=actors(story, endings),
        steps=tuple(_steps(story, endings)),
        considered=(Considered("fenced_by_new_instance", _not_fenced(told_by_line)),),
        remedies=_remedies(story, name, first) if first.verdict is not Verdict.possible else (),
    )


def _severity(first: LogEnding, is_dead: bool) -> Severity:
    if first.verdict is Verdict.possible:
        return Severity.warning
    return Severity.error if is_dead else Severity.warning


def _summary(story: Story, name: str, endings: list[LogEnding]) -> str:
    first, what = endings[0], plural(len(endings), "transaction")
    were = "was" if len(endings) == 1 else "were"
    timeout, is_known = timeout_of(story.logs, name, first.client)
    limit = f"transaction.timeout.ms ({duration(timeout)})" if is_known else "transaction.timeout.ms"
    if first.verdict is Verdict.proved:
        return f"{what} of {name} {were} aborted by the coordinator since {limit} had passed"
    if first.began is not None and first.verdict is Verdict.likely:
        return (
            f"{name} was refused {duration(first.at - first.began)} after its transaction had begun: {limit} had passed"
        )
    return f"{name} was refused as too old: its transaction may have timed out, or a new instance came"


def _steps(story: Story, endings: list[LogEnding]) -> Iterator[Step]:
    first = endings[0]
    if first.verdict is Verdict.proved:
        rows = [row for ending in endings for row in ending.rows]
        text = f"at {clock(first.at)} the coordinator rolled the transaction back"
        yield Step(text, "its own line names the timeout", event_places(story, rows))
    elif first.began is not None:
        because = f"its refusal came {duration(first.at - first.began)} later"
        yield Step(f"the transaction had begun at {clock(first.began)} at the latest", because)
    step = refusal_step(story, [failure for ending in endings for failure in ending.failures])
    if step is not None:
        yield step


def _not_fenced(told_by_line: bool) -> str:
    if told_by_line:
        return "the coordinator's own line says that it was the timeout"
    return (
        "not refuted: clients are answered the same words, and no log of a second instance or of the coordinator tells"
    )


def _remedies(story: Story, name: str, first: LogEnding) -> tuple[Remedy, ...]:
    """From the longest time that is known: of the transaction at least, and of what a broker was away meanwhile."""
    timeout, is_known = timeout_of(story.logs, name, first.client)
    if not is_known and first.began is None:
        return (Remedy(HELD_UP, "client", "transaction.timeout.ms", derived_from="no log says how long it was open"),)
    ends = [failure.at for failure in first.failures if failure.at is not None] or [first.at]
    began = first.began if first.began is not None else first.at - timeout
    away = [outage.duration_ms for outage in outages(story.logs) if outage.overlaps(began, first.at)]
    need = max(timeout, max(ends) - began)
    measured = f"the transaction was open for {duration(need)} at least"
    return transaction_timeout(advised(story, name, first.client), need, measured, max(away, default=0))
