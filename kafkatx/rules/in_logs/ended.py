"""What the rules about ends have in common where logs are all there is: groups, actors, and the refusal afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.endings import LogEnding
from kafkatx.histories.logs.frameworks import framework_of
from kafkatx.histories.logs.story import Failure
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Actor, Step
from kafkatx.rules.log_wording import client_actor, failure_phrase, failure_places
from kafkatx.terms.catalogue.frameworks import CONNECT, FLINK, STREAMS
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Verdict


class Spanned(TypedDict):
    """The times of a finding."""

    since: int | None
    until: int | None


def by_name(endings: Iterable[LogEnding], ended_by: EndedBy) -> Iterator[tuple[str, list[LogEnding]]]:
    """Group ends of one kind by id; of one id only the surest count."""
    groups: dict[str, list[LogEnding]] = {}
    for ending in endings:
        if ending.ended_by is ended_by:
            groups.setdefault(ending.name, []).append(ending)
    for name in sorted(groups):
        best = max(ending.verdict for ending in groups[name])
        yield name, [ending for ending in groups[name] if ending.verdict is best]


def spanned(endings: list[LogEnding]) -> Spanned:
    """From when the first transaction had begun, as far as that is known, to what its client was answered last."""
    begun = [ending.began for ending in endings if ending.began is not None]
    answered = [failure.at for ending in endings for failure in ending.failures[:1] if failure.at is not None]
    ends = [ending.at for ending in endings]
    return Spanned(since=min([*begun, *ends]), until=max([*ends, *answered]))


def producer_of(endings: list[LogEnding]) -> tuple[int | None, int | None]:
    """Producer id and epoch where all agree."""
    ids, epochs = {ending.producer_id for ending in endings}, {ending.producer_epoch for ending in endings}
    return (ids.pop() if len(ids) == 1 else None, epochs.pop() if len(epochs) == 1 else None)


def actors(story: Story, endings: list[LogEnding]) -> tuple[Actor, ...]:
    """The client of the first end, where its log is at hand."""
    client = endings[0].client
    return (client_actor(story, client, "T1"),) if client is not None else ()


def refusal_step(story: Story, failures: list[Failure]) -> Step | None:
    """What the client was answered afterwards."""
    if not failures:
        return None
    first = failures[0]
    when = f"at {clock(first.at)} " if first.at is not None else ""
    places = tuple(place for failure in failures[:3] for place in failure_places(story, failure))
    return Step(f"{when}its client: {failure_phrase(first)}", "the epoch that it had was over", places)


def hands_ids_on(story: Story, name: str) -> bool:
    """Whether an id is of a framework that gives its ids to another owner by design (rebalance, restore, new tasks)."""
    framework = framework_of(story, name)
    known = framework is not None and framework.certainty >= Verdict.likely
    return known and framework is not None and framework.name in STREAMS | CONNECT | FLINK
