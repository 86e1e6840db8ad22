"""Takeovers that logs tell and no row: two instances' logs, or the epochs that the coordinator's lines grant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.takeovers import Excluded, Grant, Takeover
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.rules.finding import Finding
from kafkatx.rules.in_logs.ended import by_name, hands_ids_on, producer_of, refusal_step, spanned
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, Remedy, Step
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import plural

RULE = "fenced_by_new_instance"


def fenced_in_logs(story: Story, remedy: Callable[[str], Remedy]) -> Iterator[Finding]:
    """One finding for each transactional.id."""
    for name, endings in by_name(story.ends.logs, EndedBy.new_instance):
        yield _finding(story, name, endings, remedy(name))


def _finding(story: Story, name: str, endings: list[LogEnding], remedy: Remedy) -> Finding:
    first = next((ending for ending in endings if _was_alive(ending)), endings[0])
    return Finding(
        rule=RULE,
        verdict=first.verdict,
        severity=_severity(story, name, endings),
        summary=_summary(name, endings, first),
        transactional_id=name,
        producer_id=producer_of(endings)[0],
        producer_epoch=producer_of(endings)[1],
        **spanned(endings),
        count=len(endings),
        actors=tuple(_actors(story, first)),
        steps=tuple(_steps(story, first)),
        considered=(Considered("transaction_timed_out", _not_timed_out(first)), *_by_operator(first.takeover)),
        remedies=(remedy,) if first.verdict is not Verdict.possible else (),
    )


def _was_alive(ending: LogEnding) -> bool:
    return ending.takeover.was_alive if ending.takeover is not None else bool(ending.failures)


def _severity(story: Story, name: str, endings: list[LogEnding]) -> Severity:
    """An error where a living instance was thrown out; frameworks hand their ids on like that."""
    if all(ending.verdict is Verdict.possible and ending.takeover is None for ending in endings):
        return Severity.warning
    if not any(_was_alive(ending) for ending in endings) or hands_ids_on(story, name):
        return Severity.info
    return Severity.error if endings[0].verdict is not Verdict.possible else Severity.warning


def _summary(name: str, endings: list[LogEnding], first: LogEnding) -> str:
    taken = first.takeover
    if taken is None and first.verdict is not Verdict.possible:
        return f"{name} was refused as too old before its transaction could time out: somebody else had taken it over"
    if taken is None:
        return f"{name} was refused as too old: a new instance may have taken it over, or its transaction timed out"
    times = f", {plural(len(endings), 'time')} in all" if len(endings) > 1 else ""
    if taken.was_alive:
        return (
            f"a new instance took {name} over at {clock(taken.new.at)} while the old one was alive and at work{times}"
        )
    return f"a new instance took {name} over at {clock(taken.new.at)} and aborted what was left open{times}"


def _actors(story: Story, ending: LogEnding) -> Iterator[Actor]:
    taken = ending.takeover
    if taken is None:
        if ending.client is not None:
            yield client_actor(story, ending.client, "T1")
        return
    for name, grant, client in (("T1", taken.old, taken.old_client), ("T2", taken.new, taken.new.client)):
        yield client_actor(story, client, name) if client is not None else Actor(name, _who(grant))


def _who(grant: Grant) -> str:
    who = f"producer id {grant.producer_id} epoch {grant.producer_epoch}"
    return f"{who}, since {clock(grant.at)} (its own log is not at hand)"


def _steps(story: Story, ending: LogEnding) -> Iterator[Step]:
    taken = ending.takeover
    if taken is None:
        step = refusal_step(story, list(ending.failures))
        if step is not None:
            yield step
        return
    had = f"T1 had the id since {clock(taken.old.at)}{_epoch(taken.old)}"
    yield Step(had, _told(taken.old), event_places(story, [taken.old.row]))
    why = _told(taken.new)
    if taken.was_open:
        why += "; the epoch rose by two: a transaction of T1 was open and the coordinator aborted it"
    yield Step(
        f"T2 was given it at {clock(taken.new.at)}{_epoch(taken.new)}", why, event_places(story, [taken.new.row])
    )
    if taken.was_alive:
        because = "its epoch was over; that it tried shows that it was alive"
        yield Step("what T1 sent after that was refused", because, event_places(story, taken.refusals, 4))


def _epoch(grant: Grant) -> str:
    return f": producer id {grant.producer_id}, epoch {grant.producer_epoch}" if grant.producer_id >= 0 else ""


def _told(grant: Grant) -> str:
    return "its own log says so" if grant.client is not None else "the coordinator's log says so"


def _not_timed_out(ending: LogEnding) -> str:
    excluded = ending.takeover.excluded if ending.takeover is not None else ending.excluded
    if excluded is Excluded.NOTHING:
        return "not refuted: clients are answered the same words after a timeout"
    return str(excluded)


def _by_operator(taken: Takeover | None) -> tuple[Considered, ...]:
    if taken is None or taken.new.client is not None:
        return ()
    why = "not refuted: no log of T2 is at hand; forceTerminateTransaction and Admin.fenceProducers do the same"
    return (Considered("an operator who ended the transaction by its id", why),)
