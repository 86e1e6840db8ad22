"""Two owners of one transactional.id as brokers see them: by their request log, else by the coordinator's rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.story import LogStory
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.rules.finding import Finding
from kafkatx.rules.grouping import by_transactional_id, spread, subjects_of
from kafkatx.rules.in_logs.clients import only, times_of
from kafkatx.terms.catalogue.frameworks import CONNECT, FLINK, STREAMS
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, Remedy, Step
from kafkatx.words.log_places import event_places
from kafkatx.words.places import data_of, decision_row, next_row, plural

WINDOW_MS = 600_000
"""Take-overs further apart are deployments or accidents, not two owners at one time."""
TURNS = 2
"""Take-overs of a living owner that one id needs: one is an ordinary fence."""
ROWS_TURNS = 3
"""The same where only rows tell of them."""
TOO_SOON_MS = 1_000
"""No process dies, is noticed, starts and initialises within that time of its last activity."""


def is_frameworks(story: Story, transactional_id: str) -> bool:
    """Whether a framework moves its ids between its workers by itself: Streams' tasks, Connect's, Flink's sink."""
    found = framework_of(story, transactional_id)
    return found is not None and found.name in STREAMS | CONNECT | FLINK and found.certainty > Verdict.possible


def remedies_of(transactional_id: str) -> tuple[Remedy, ...]:
    """What to do about two owners of one id."""
    return (
        Remedy(
            text="give each owner a transactional.id of its own, or let only one of them run",
            where="application",
            config="transactional.id",
            current=transactional_id,
            proposed="an id of its own for each owner, stable over restarts (ordinal, environment in the prefix)",
            derived_from="living owners of this id fenced each other",
            cost="none; a random id instead would take the fencing of zombies away",
            restart_needed=True,
        ),
    )


def ids_of_requests(story: Story) -> Iterator[tuple[str, list[int]]]:
    """Ids that two clients initialised in turns while both were alive, as the brokers' request log shows."""
    logs = story.logs
    requests: dict[str, list[int]] = {}
    for row in logs.of_kind(EventKind.request_seen).tolist():
        name = logs.string(row, "transactional_id")
        if name is not None and logs.at(row) is not None:
            requests.setdefault(name, []).append(row)
    for name in sorted(requests):
        turns = _requests_in_turns(logs, sorted(requests[name], key=lambda row: int(logs.times[row])))
        if len(turns) > TURNS and not is_frameworks(story, name):
            yield name, turns


def _requests_in_turns(logs: LogStory, rows: list[int]) -> list[int]:
    """The longest run of InitProducerId requests each of which came while the client that asked before goes on."""
    inits = [row for row in rows if (logs.string(row, "api") or "").upper().replace("_", "") == "INITPRODUCERID"]
    newest = {_asker(logs, row): int(logs.times[row]) for row in rows}
    runs = [inits[:1]]
    for row in inits[1:]:
        last = runs[-1][-1]
        if _asker(logs, row) == _asker(logs, last):
            continue
        goes_on = newest[_asker(logs, last)] > logs.times[row]
        soon = logs.times[row] - logs.times[last] <= WINDOW_MS
        if goes_on and soon:
            runs[-1].append(row)
        else:
            runs.append([row])
    return max(runs, key=len)


def _asker(logs: LogStory, row: int) -> tuple[str, str]:
    """client.id and host behind a request."""
    return logs.string(row, "client_id") or "", (logs.string(row, "detail") or "").rpartition(":")[0]


def by_requests(story: Story, rule: str, transactional_id: str, rows: list[int]) -> Finding:
    """One finding for an id that clients initialised in turns."""
    logs = story.logs
    askers = list(dict.fromkeys(_asker(logs, row) for row in rows))
    since, until = times_of(logs, rows)
    return Finding(
        rule=rule,
        verdict=Verdict.likely,
        severity=Severity.error,
        summary=f"{len(askers)} clients initialised {transactional_id} in turns, {plural(len(rows), 'time')}",
        transactional_id=transactional_id,
        producer_id=only(number for row in rows if (number := logs.number(row, "producer_id")) is not None),
        since=since,
        until=until,
        count=len(rows) - 1,
        actors=tuple(Actor(f"P{n}", f"client.id {one}, host {host}") for n, (one, host) in enumerate(askers[:4], 1)),
        steps=(
            Step(
                "InitProducerId came from them in turns, each time while the other one went on asking",
                "the brokers' request log names who asked",
                event_places(story, rows, 6),
            ),
        ),
        considered=(
            Considered("a crash loop of one owner", "the requests come from several clients or hosts"),
            Considered("one application that fails over and back", "not refuted for certain: hosts may take turns"),
        ),
        remedies=remedies_of(transactional_id),
    )


def ids_of_rows(story: Story) -> Iterator[tuple[str, list[int]]]:
    """Ids whose open transactions were taken over ROWS_TURNS times within WINDOW_MS, by the coordinator's rows."""
    rows = story.ends.ended(EndedBy.new_instance, ToldBy.rows)
    for transactional_id, group in by_transactional_id(story, rows):
        times = np.sort(story.transactions["decided_at"][group])
        is_dense = bool((times[ROWS_TURNS - 1 :] - times[: len(times) - ROWS_TURNS + 1] <= WINDOW_MS).any())
        if (
            is_dense
            and not _is_crash_loop(story, transactional_id, len(group))
            and not is_frameworks(story, transactional_id)
        ):
            yield transactional_id, group


def _is_crash_loop(story: Story, transactional_id: str, taken_over: int) -> bool:
    """Whether logs show one process (one log) that started as often as the id was taken over, and nobody refused."""
    lives = [client for client in story.logs.clients_of(transactional_id) if client.initialisations]
    refused = any(failure.error in FENCED for client in lives for failure in client.failures)
    return len(lives) > taken_over and only(client.source for client in lives) is not None and not refused


def by_rows(story: Story, rule: str, transactional_id: str, rows: list[int]) -> Finding:
    """One finding for an id whose open transactions were taken over again and again."""
    living = [row for row in rows if _was_alive(story, row)]
    is_alive = len(living) >= ROWS_TURNS
    shown = (living or rows)[:3]
    return Finding(
        rule=rule,
        verdict=Verdict.likely if is_alive else Verdict.possible,
        severity=Severity.error if is_alive else Severity.warning,
        summary=f"open transactions of {transactional_id} were taken over {len(rows)} times: two owners in turns, "
        "or one that crashes and starts again",
        transactional_id=transactional_id,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        steps=tuple(_row_step(story, row) for row in shown),
        considered=(_crash_loop(is_alive),),
        remedies=remedies_of(transactional_id),
    )


def _was_alive(story: Story, row: int) -> bool:
    """Whether the former owner lived when it lost the id: it had just done something, or was seen refused later."""
    return 0 <= _pause(story, row) <= TOO_SOON_MS or int(story.ends.witnesses.refusal[row]) >= 0


def _pause(story: Story, row: int) -> int:
    """Milliseconds from the last sign of life of a transaction to the take-over that ended it, -1 if unknown."""
    transaction = story.transactions[row]
    signs = [int(transaction[name]) for name in ("started_at", "grown_at")]
    signs += [int(span["last_timestamp"]) for span in data_of(story, row)]
    decided = int(transaction["decided_at"])
    known = [at for at in signs if 0 <= at <= decided]
    return decided - max(known) if known else -1


def _row_step(story: Story, row: int) -> Step:
    transaction, refused = story.transactions[row], int(story.ends.witnesses.refusal[row])
    pause = _pause(story, row)
    why = "whether the former owner was alive the rows don't tell"
    if refused >= 0:
        why = "the former owner was alive: what it sent later was refused"
    elif 0 <= pause <= TOO_SOON_MS:
        why = "no process dies and starts anew in that time: the former owner was alive"
    after = f", {duration(pause)} after the last sign of life of its owner" if pause >= 0 else ""
    text = f"at {clock(int(transaction['decided_at']))} initTransactions aborted an open transaction{after}"
    seen = event_places(story, [refused]) if refused >= 0 else ()
    return Step(text, why, (*decision_row(transaction), *next_row(transaction), *seen))


def _crash_loop(is_alive: bool) -> Considered:
    alive = "former owners were alive when they lost the id, or the pauses are too short for a process to start anew"
    why = alive if is_alive else "not refuted: logs would tell"
    return Considered("a crash loop of one owner", why)
