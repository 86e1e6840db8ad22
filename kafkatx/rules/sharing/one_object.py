"""One producer object in several threads: calls that met a state which another thread had left."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import by_client, producer_at, times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.line_owners import is_network_thread
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.explanation import ActorWords, Bound, Words, included, remedy, ruled_out, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import client_seen, event_refs
from kafkatx.words.values import ClientName, Count, JoinedValues, NameList, Refs, facts

MOST_STATES = 3


@facts
class ObjectFacts:
    """A producer object that threads share: calls that met a wrong state, the threads, what states they met."""

    name: ClientName
    client: Bound[ActorWords]
    count: Count
    thread_count: Count
    threads: NameList
    states: JoinedValues[str]
    lines: Refs


def of_threads(model: CaptureModel) -> Iterator[Case]:
    """One case for each producer object that met wrong states in two or more of the application's threads."""
    rows = model.logs.saying(Saying.WRONG_STATE).tolist()
    for client, mine in by_client(model, rows):
        if client is not None and len(_threads(model.logs, mine)) > 1:
            yield _case(model, client, mine)


def _threads(logs: LogModel, rows: list[int]) -> list[str]:
    """The application's threads among the writers of rows."""
    names = dict.fromkeys(logs.string(row, "thread") for row in rows)
    return [name for name in names if name and not is_network_thread(name)]


def _case(model: CaptureModel, client: ClientInstance, rows: list[int]) -> Case:
    producer_id, epoch = producer_at(client, rows[0])
    since, until = times_of(model.logs, rows)
    return Case(
        facts=_facts(model, client, rows),
        verdict=Verdict.proved,
        severity=Severity.error,
        transactional_id=client.transactional_id,
        producer_id=producer_id,
        producer_epoch=epoch,
        since=since,
        until=until,
        count=len(rows),
    )


def _facts(model: CaptureModel, client: ClientInstance, rows: list[int]) -> ObjectFacts:
    logs, threads = model.logs, _threads(model.logs, rows)
    firsts = [next(row for row in rows if logs.string(row, "thread") == thread) for thread in threads]
    states = sorted({state for row in rows if (state := logs.wrong_state(row)) is not None})
    return ObjectFacts(
        name=client_name(client),
        client=client_seen(model, client),
        count=Count(len(rows)),
        thread_count=Count(len(threads)),
        threads=NameList(threads),
        states=JoinedValues(states[:MOST_STATES]),
        lines=event_refs(model, [*firsts, *rows], 6),
    )


OBJECT_WORDS = Words(
    ObjectFacts,
    title="one producer shared by {thread_count:thread}",
    summary="{thread_count:plain} threads shared one producer[ of {name.transactional_id}]: {count:call} failed "
    "because the transaction was in another state. One thread may have committed or aborted records of another.",
    actors=(included("client"),),
    steps=(
        step(
            "Calls of P in the threads {threads:4} failed: the transaction was in another state than they expected",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out(
            "commit_outcome_unknown",
            "no call met the state of an unanswered commit (COMMITTING_TRANSACTION to ABORTING_TRANSACTION)",
        ),
        ruled_out("one thread that calls in a wrong order", "the failed calls came from {thread_count:thread}"),
    ),
    remedies=(
        remedy(
            text="Give each thread a producer with a transactional.id of its own, or let one thread make all calls of "
            "a transaction",
            where="application",
            restart_needed=True,
        ),
        remedy(
            "Check which records of that time were committed and which aborted. One thread may have ended the "
            "transaction of another",
            "application",
        ),
    ),
)
