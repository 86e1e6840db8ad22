"""One transactional.id, or one producer object, is used by two owners that are alive at the same time.

Mechanism    Two processes with equal configuration, two producers of one process, or one producer object in several
             threads. Owners with an object each fence each other in turns: each initTransactions aborts the other's
             open transaction, and the other, refused, initialises again. Threads that share an object meet states they
             don't expect, and their records mix in one transaction.
Evidence     logs of two owners: one initialises, the other is refused, initialises again, and the first is refused;
             the request logger with InitProducerId from two clients in turns; invalid state transitions of one object
             in several threads; on disk alone: open transactions of one id taken over again and again within minutes,
             too soon after their last activity for a process to have died and started anew.
Against      an owner that was silent, closed or dead when the next one came: a restart, however often.
Look-alikes  a crash loop (one owner, growing pauses); a rolling deployment (each instance is fenced once and doesn't
             come back); frameworks that initialise ids as they start (Connect's fencing round, Flink's probing, Streams
             after a rebalance); transactions v2, where every transaction raises the epoch; a commit that timed out
             (COMMITTING_TRANSACTION to ABORTING_TRANSACTION).
Remedy       an id of its own for each owner, stable over restarts; one thread for each transactional producer.
Source       KIP-98, KIP-447, KIP-588; TransactionCoordinator.handleInitProducerId, TransactionManager.transitionTo.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kafkatx.histories.logs.story import ClientInstance, Failure, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.ends import hands_ids_on
from kafkatx.rules.finding import Finding
from kafkatx.rules.in_logs.clients import only, producer_at, times_of
from kafkatx.rules.sharing.one_id import (
    TURNS,
    WINDOW_MS,
    by_requests,
    by_rows,
    ids_of_requests,
    ids_of_rows,
    remedies_of,
)
from kafkatx.rules.sharing.one_object import objects_of_threads, shared_object
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, Step
from kafkatx.words.log_places import client_actor, event_place, event_places
from kafkatx.words.places import plural

RULE = "shared_producer"


@dataclass(frozen=True, slots=True)
class _Turn:
    """An owner took the id over from another one that was alive: `given` is its producer id, `refused` the refusal."""

    old: ClientInstance
    new: ClientInstance
    given: int
    refused: int
    at: int | None


def check(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id, and one for each object that threads share."""
    told: set[str] = set()
    for transactional_id, turns in _ids_in_turns(story):
        told.add(transactional_id)
        yield _two_owners(story, transactional_id, turns)
    for client, failed in objects_of_threads(story):
        told.add(client.transactional_id or "")
        yield shared_object(story, RULE, client, failed)
    for transactional_id, requests in ids_of_requests(story):
        if transactional_id not in told:
            told.add(transactional_id)
            yield by_requests(story, RULE, transactional_id, requests)
    for transactional_id, rows in ids_of_rows(story):
        if transactional_id not in told:
            yield by_rows(story, RULE, transactional_id, rows)


def _ids_in_turns(story: Story) -> Iterator[tuple[str, list[_Turn]]]:
    """Ids that living owners took from each other at least TURNS times, as their logs show."""
    owners: dict[str, list[ClientInstance]] = {}
    for client in story.logs.clients:
        if client.transactional_id is not None and client.owns_producer_ids and not client.is_consumer:
            owners.setdefault(client.transactional_id, []).append(client)
    for transactional_id in sorted(owners):
        turns = _dense(_turns(story.logs, owners[transactional_id]))
        if len(turns) >= TURNS and not _is_rolling(turns) and not hands_ids_on(story, transactional_id):
            yield transactional_id, turns


def _turns(logs: LogStory, owners: list[ClientInstance]) -> list[_Turn]:
    """Take-overs of owners that were refused afterwards, in the order in which the producer id was given."""
    given = [(one.producer_id, one.producer_epoch, owner, one.row) for owner in owners for one in owner.initialisations]
    given.sort(key=lambda entry: (entry[0], entry[1]))
    found: list[_Turn] = []
    for (_, _, old, _), (_, _, new, row) in pairwise(given):
        refused = _refused_after(logs, old, row) if new is not old else None
        if refused is not None:
            found.append(_Turn(old, new, row, refused, logs.at(row)))
    return sorted(found, key=lambda turn: turn.at if turn.at is not None else -1)


def _refused_after(logs: LogStory, old: ClientInstance, row: int) -> int | None:
    """Row that shows that an owner was alive, and refused, after another had been given its producer id."""
    at = logs.at(row)
    for failure in old.failures:
        later = failure.row > row if failure.at is None or at is None else failure.at >= at
        if later and (failure.row > row or not _same_source(logs, failure, row)) and failure.error in FENCED:
            return failure.row
    return None


def _same_source(logs: LogStory, failure: Failure, row: int) -> bool:
    return bool(logs.events["source"][failure.row] == logs.events["source"][row])


def _dense(turns: list[_Turn]) -> list[_Turn]:
    """The longest run of take-overs none of which is further than WINDOW_MS from the one before."""
    runs: list[list[_Turn]] = [[]]
    for turn in turns:
        last = runs[-1][-1] if runs[-1] else None
        if last is not None and turn.at is not None and last.at is not None and turn.at - last.at > WINDOW_MS:
            runs.append([])
        runs[-1].append(turn)
    return max(runs, key=len)


def _is_rolling(turns: list[_Turn]) -> bool:
    """Whether nobody came back, and they are too few for anything but a deployment."""
    return len(turns) <= TURNS and not _alternates(turns)


def _alternates(turns: list[_Turn]) -> bool:
    """Whether an owner that had lost the id took it again: by its process (its log), not by the object."""
    return any(later.new.source in {turn.old.source for turn in turns[: at + 1]} for at, later in enumerate(turns[1:]))


def _two_owners(story: Story, transactional_id: str, turns: list[_Turn]) -> Finding:
    logs = story.logs
    given = [producer_at(turn.new, turn.given) for turn in turns]
    since, until = times_of(logs, [row for turn in turns for row in (turn.given, turn.refused)])
    sources = list(dict.fromkeys(source for turn in turns for source in (turn.old.source, turn.new.source)))
    where = "two producers of one process" if len(sources) == 1 else f"{len(sources)} processes"
    return Finding(
        rule=RULE,
        verdict=Verdict.proved if _alternates(turns) and len(sources) > 1 else Verdict.likely,
        severity=Severity.error,
        summary=f"{where} use {transactional_id} at the same time: living owners were fenced "
        f"{plural(len(turns), 'time')} in turns",
        transactional_id=transactional_id,
        producer_id=only(producer for producer, _ in given),
        since=since,
        until=until,
        count=len(turns),
        actors=_owners(story, turns),
        steps=_turn_steps(story, turns),
        considered=_considered_turns(story, turns),
        remedies=remedies_of(transactional_id),
    )


def _owners(story: Story, turns: list[_Turn]) -> tuple[Actor, ...]:
    """The instances, numbered as the steps name them."""
    names = _names(turns)
    instances = {client.number: client for turn in turns for client in (turn.old, turn.new)}
    return tuple(client_actor(story, instances[number], name) for number, name in names.items())[:6]


def _names(turns: list[_Turn]) -> dict[int, str]:
    """P1, P2, ... for the instances, in the order in which they appear."""
    numbers = dict.fromkeys(client.number for turn in turns for client in (turn.old, turn.new))
    return {number: f"P{count}" for count, number in enumerate(numbers, start=1)}


def _turn_steps(story: Story, turns: list[_Turn]) -> tuple[Step, ...]:
    names, steps = _names(turns), []
    for turn in [*turns[:3], *turns[3:][-1:]]:
        producer, epoch = producer_at(turn.new, turn.given)
        when = f" at {clock(turn.at)}" if turn.at is not None else ""
        text = f"{names[turn.new.number]} initialised the id{when} (producer id {producer}, epoch {epoch}); "
        text += f"{names[turn.old.number]}, still alive, was refused after that"
        why = "the refusal stands in the log of the former owner, behind the grant of the newer epoch"
        steps.append(Step(text, why, (event_place(story, turn.given), event_place(story, turn.refused))))
    return tuple(steps)


def _considered_turns(story: Story, turns: list[_Turn]) -> tuple[Considered, ...]:
    places = event_places(story, [turn.refused for turn in turns], 3)
    found = [
        Considered("a crash loop of one owner", "each former owner was alive: it was refused after it had lost", places)
    ]
    back = "a former owner took the id again, which an instance that was replaced doesn't do"
    if not _alternates(turns):
        back = "not refuted for certain: no owner is seen to take the id again, but they are many within minutes"
    found.append(Considered("a rolling deployment", back))
    found.append(
        Considered(
            "fenced_by_new_instance",
            "each of these take-overs is one; together they are two owners and one fact",
            event_places(story, [turn.given for turn in turns], 3),
        )
    )
    return tuple(found)
