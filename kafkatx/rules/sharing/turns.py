"""Two owners of one transactional.id as their own logs show them: they take it from each other in turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kafkatx.findings.client_lines import only, producer_at, times_of
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import ClientInstance, Failure, LogModel
from kafkatx.rules.sharing.owners import CRASH_LOOP, ID_OF_ITS_OWN, TURNS, WINDOW_MS
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Words, considered, included, step
from kafkatx.words.facts import instant, producer
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Instant, Producer, Refs, facts

MOST_OWNERS = 6


@facts
class TurnFacts:
    """An id that living owners took from each other; `sources` are their logs, `turns` the first ones and the last.

    `comes_back`: a former owner took it again.
    """

    id: str
    count: Count
    sources: Count
    comes_back: bool
    owners: tuple[Bound[ActorWords], ...]
    turns: tuple[ToldTurn, ...]
    refusals: Refs
    grants: Refs


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """An owner, by its name in the steps, got the id, and the former one was refused after that."""

    new: str
    old: str
    at: Instant | None
    given: Producer | None
    lines: Refs


@dataclass(frozen=True, slots=True)
class Turn:
    """An owner took the id over from another one that was alive: rows of the grant and of the refusal."""

    old: ClientInstance
    new: ClientInstance
    given: int
    refused: int
    at: int | None


def in_turns(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that living owners took from each other at least TURNS times, as their logs show."""
    owners: dict[str, list[ClientInstance]] = {}
    for client in model.logs.clients:
        if client.transactional_id is not None and client.owns_producer_ids and not client.is_consumer:
            owners.setdefault(client.transactional_id, []).append(client)
    for transactional_id in sorted(owners):
        turns = _dense(_turns(model.logs, owners[transactional_id]))
        if len(turns) >= TURNS and not _is_rolling(turns) and not hands_ids_on(model, transactional_id):
            yield _case(model, transactional_id, turns)


def _turns(logs: LogModel, owners: list[ClientInstance]) -> list[Turn]:
    """Take-overs of owners that were refused afterwards, in the order in which the producer id was given."""
    given = [(one.producer_id, one.producer_epoch, owner, one.row) for owner in owners for one in owner.initialisations]
    given.sort(key=lambda entry: (entry[0], entry[1]))
    found: list[Turn] = []
    for (_, _, old, _), (_, _, new, row) in pairwise(given):
        refused = _refused_after(logs, old, row) if new is not old else None
        if refused is not None:
            found.append(Turn(old, new, row, refused, logs.at(row)))
    return sorted(found, key=lambda turn: turn.at if turn.at is not None else -1)


def _refused_after(logs: LogModel, old: ClientInstance, row: int) -> int | None:
    """Row that shows that an owner was alive, and refused, after another had been given its producer id."""
    at = logs.at(row)
    for failure in old.failures:
        later = failure.row > row if failure.at is None or at is None else failure.at >= at
        if later and (failure.row > row or not _same_source(logs, failure, row)) and failure.error in FENCED:
            return failure.row
    return None


def _same_source(logs: LogModel, failure: Failure, row: int) -> bool:
    return bool(logs.events["source"][failure.row] == logs.events["source"][row])


def _dense(turns: list[Turn]) -> list[Turn]:
    """The longest run of take-overs none of which is further than WINDOW_MS from the one before."""
    runs: list[list[Turn]] = [[]]
    for turn in turns:
        last = runs[-1][-1] if runs[-1] else None
        if last is not None and turn.at is not None and last.at is not None and turn.at - last.at > WINDOW_MS:
            runs.append([])
        runs[-1].append(turn)
    return max(runs, key=len)


def _is_rolling(turns: list[Turn]) -> bool:
    """Whether nobody came back, and they are too few for anything but a deployment."""
    return len(turns) <= TURNS and not _alternates(turns)


def _alternates(turns: list[Turn]) -> bool:
    """Whether an owner that had lost the id took it again: by its process (its log), not by the object."""
    return any(later.new.source in {turn.old.source for turn in turns[: at + 1]} for at, later in enumerate(turns[1:]))


def _case(model: CaptureModel, transactional_id: str, turns: list[Turn]) -> Case:
    facts = _facts(model, transactional_id, turns)
    since, until = times_of(model.logs, [row for turn in turns for row in (turn.given, turn.refused)])
    return Case(
        facts=facts,
        verdict=Verdict.proved if facts.comes_back and facts.sources > 1 else Verdict.likely,
        severity=Severity.error,
        transactional_id=transactional_id,
        producer_id=only(producer_at(turn.new, turn.given)[0] for turn in turns),
        since=since,
        until=until,
        count=len(turns),
    )


def _facts(model: CaptureModel, transactional_id: str, turns: list[Turn]) -> TurnFacts:
    owners = {client.number: client for turn in turns for client in (turn.old, turn.new)}
    names = {number: f"P{count}" for count, number in enumerate(owners, start=1)}
    shown = list(names)[:MOST_OWNERS]
    return TurnFacts(
        id=transactional_id,
        count=Count(len(turns)),
        sources=Count(len({client.source for client in owners.values()})),
        comes_back=_alternates(turns),
        owners=tuple(client_seen(model, owners[number], names[number]) for number in shown),
        turns=tuple(_told(model, turn, names) for turn in [*turns[:3], *turns[3:][-1:]]),
        refusals=event_refs(model, [turn.refused for turn in turns], 3),
        grants=event_refs(model, [turn.given for turn in turns], 3),
    )


def _told(model: CaptureModel, turn: Turn, names: dict[int, str]) -> ToldTurn:
    lines = (*event_refs(model, [turn.given]), *event_refs(model, [turn.refused]))
    given = producer(*producer_at(turn.new, turn.given))
    return ToldTurn(names[turn.new.number], names[turn.old.number], instant(turn.at), given, lines)


TURN_WORDS = Words(
    TurnFacts,
    summary=(
        pick("sources", {1: "two producers of one process"}, "{sources:plain} processes"),
        " use {id} at the same time: living owners were fenced {count:time} in turns",
    ),
    actors=(included("owners"),),
    steps=(
        step(
            "{each.new} initialised the id[ at {each.at}][ (producer id {each.given.id}, epoch {each.given.epoch})]; "
            "{each.old}, still alive, was refused after that",
            "the refusal stands in the log of the former owner, behind the grant of the newer epoch",
            cites="each.lines",
            each="turns",
        ),
    ),
    considered=(
        considered(CRASH_LOOP, "each former owner was alive: it was refused after it had lost", cites="refusals"),
        considered(
            "a rolling deployment",
            pick(
                "comes_back",
                {True: "a former owner took the id again, which an instance that was replaced doesn't do"},
                "not refuted for certain: no owner is seen to take the id again, but they are many within minutes",
            ),
        ),
        considered(
            "fenced_by_new_instance",
            "each of these take-overs is one; together they are two owners and one fact",
            cites="grants",
        ),
    ),
    remedies=(ID_OF_ITS_OWN,),
)
