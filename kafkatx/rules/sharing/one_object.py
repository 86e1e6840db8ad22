"""One producer object in several threads: calls that met a state which another thread had left."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.logs.attributions import is_network_thread
from kafkatx.histories.logs.story import ClientInstance, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding
from kafkatx.rules.in_logs.clients import by_client, producer_at, times_of
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.facts import client_name
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import plural


def objects_of_threads(story: Story) -> Iterator[tuple[ClientInstance, list[int]]]:
    """Producer objects that met wrong states in two or more of the application's threads."""
    rows = story.logs.saying(Saying.WRONG_STATE).tolist()
    for client, mine in by_client(story, rows):
        if client is not None and len(_threads(story.logs, mine)) > 1:
            yield client, mine


def _threads(logs: LogStory, rows: list[int]) -> list[str]:
    """The application's threads among the writers of rows."""
    names = dict.fromkeys(logs.string(row, "thread") for row in rows)
    return [name for name in names if name and not is_network_thread(name)]


def shared_object(story: Story, rule: str, client: ClientInstance, rows: list[int]) -> Finding:
    """One finding for an object: its threads, and the calls that met a wrong state."""
    logs, threads = story.logs, _threads(story.logs, rows)
    producer, epoch = producer_at(client, rows[0])
    since, until = times_of(logs, rows)
    places = [next(row for row in rows if logs.string(row, "thread") == thread) for thread in threads]
    return Finding(
        rule=rule,
        verdict=Verdict.proved,
        severity=Severity.error,
        summary=f"{len(threads)} threads share {client_name(client)}: {plural(len(rows), 'call')} met a state that "
        "another thread had left",
        transactional_id=client.transactional_id,
        producer_id=producer,
        producer_epoch=epoch,
        since=since,
        until=until,
        count=len(rows),
        actors=(client_actor(story, client),),
        steps=(
            Step(
                f"calls of {', '.join(threads[:4])} failed for the state of P's transaction",
                "one object, one state: what a thread had begun or ended another one had not expected",
                event_places(story, [*places, *rows], 6),
            ),
            Step(
                "records of these threads stood in each other's transactions, or in none",
                "a transaction is the object's, not the thread's",
            ),
        ),
        considered=_considered_threads(logs, rows),
        remedies=(
            Remedy(
                text="give each thread that runs transactions a producer with a transactional.id of its own, or hand "
                "all calls of a transaction to one thread",
                where="application",
                derived_from=f"wrong states in {len(threads)} threads",
                restart_needed=True,
            ),
        ),
    )


def _considered_threads(logs: LogStory, rows: list[int]) -> tuple[Considered, ...]:
    states = sorted({state for row in rows if (state := logs.wrong_state(row)) is not None})[:3]
    return (
        Considered(
            "commit_outcome_unknown", f"the states are others than those of an unanswered commit: {'; '.join(states)}"
        ),
        Considered("one thread that calls in a wrong order", "the calls that failed came from several threads"),
    )
