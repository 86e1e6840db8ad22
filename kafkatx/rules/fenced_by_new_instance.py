"""A new instance with the same transactional.id ended the open transaction of the one before.

Mechanism    initTransactions of a second producer finds a transaction of the same transactional.id open: the
             coordinator aborts it under the next epoch, answers CONCURRENT_TRANSACTIONS, and gives the newcomer the
             epoch after that on its retry. What the old instance sends from then on is refused
             (ProducerFencedException, InvalidProducerEpochException).
Evidence     Ongoing e, PrepareAbort e+1 before the transaction's own timeout had passed, CompleteAbort e+1, Empty e+2
             moments later. By logs alone: two instances that were given the same producer id, the later one inside the
             earlier one's transaction timeout, and the earlier one refused after that; epochs that rise by two from one
             "Initialized transactionalId" to the next (classic), without a rollback line in between.
Against      an abort at the data's own epoch (classic: the client itself); a duration beyond the timeout; no Empty row.
Look-alikes  transaction_timed_out followed by a prompt restart (told apart by the duration); aborted_by_client
             (classic: epoch unchanged; transactions v2: no Empty row at once); a client's own bump of its epoch
             (KIP-360: epoch unchanged by the abort); on disk a crashed and restarted application looks like two living
             instances; fenceProducers and forceTerminateTransaction of an operator run InitProducerId too (the row's
             timeout then differs from the id's usual one). A client's own words (ProducerFencedException, librdkafka's
             "fenced by newer producer instance") are the same after a timeout.
Remedy       one living producer for each transactional.id: derive the id from something stable and unique (input
             partition, ordinal of the pod), stop the old instance before the new one starts. Never a random id: it
             takes the fencing away.
Source       KIP-98, KIP-360, KIP-588, KIP-890; TransactionCoordinator.handleInitProducerId, prepareFenceProducerEpoch
             (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.growing import Array
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.transactions import EMPTY
from kafkatx.rules.finding import Finding
from kafkatx.rules.grouping import by_transactional_id, spread, subjects_of, weakest
from kafkatx.rules.in_logs.ended import hands_ids_on
from kafkatx.rules.in_logs.fenced import fenced_in_logs
from kafkatx.rules.in_logs.witnessed import was_alive, witnessed
from kafkatx.rules.without_rows import findings_without_rows
from kafkatx.terms.clocks import RETRY_WINDOW_MS
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Actor, Considered, Remedy, Step
from kafkatx.words.places import (
    after_start,
    begin_row,
    completion_row,
    data_of,
    data_phrase,
    data_place,
    decision_row,
    marker_place,
    next_row,
    parts_of,
    plural,
)

RULE = "fenced_by_new_instance"
REPEATED, REPEATED_WITHIN_MS = 5, 60_000
"""Take-overs of one id at this rate are two owners or a crash loop, not deployments."""


def check(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id of which open transactions were taken over."""
    rows = story.ends.ended(EndedBy.new_instance, ToldBy.rows)
    for transactional_id, group in by_transactional_id(story, rows):
        yield _fenced(story, transactional_id, group)
    yield from findings_without_rows(story, RULE, EndedBy.new_instance)
    yield from fenced_in_logs(story, _remedy)


def _fenced(story: Story, transactional_id: str, rows: list[int]) -> Finding:
    first = story.transactions[rows[0]]
    return Finding(
        rule=RULE,
        verdict=weakest(story, rows),
        severity=_severity(story, transactional_id, rows),
        summary=_summary(story, transactional_id, rows),
        transactional_id=transactional_id,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        actors=_actors(first),
        steps=_steps(story, rows[0]),
        considered=_considered(story, rows[0]),
        remedies=(_remedy(transactional_id),),
    )


def _severity(story: Story, transactional_id: str, rows: list[int]) -> Severity:
    """An error where logs show the old instance alive, unless its framework hands ids on by design."""
    if was_alive(story, rows) and not hands_ids_on(story, transactional_id):
        return Severity.error
    return Severity.warning if _is_loop(story, rows) else Severity.info


def _is_loop(story: Story, rows: list[int]) -> bool:
    """Whether half of the take-overs came within a minute of the one before."""
    pauses = np.sort(np.diff(story.transactions["decided_at"][rows]))
    return len(rows) >= REPEATED and int(pauses[len(rows) // 2 - 1]) <= REPEATED_WITHIN_MS


def _summary(story: Story, transactional_id: str, rows: list[int]) -> str:
    first = story.transactions[rows[0]]
    what = f"{plural(len(rows), 'open transaction')} of {transactional_id}"
    how = (
        f"aborted by initTransactions of a new instance (epoch {int(first['producer_epoch'])} fenced "
        f"at {clock(int(first['decided_at']))})"
    )
    return f"{what} {'was' if len(rows) == 1 else 'were'} {how}"


def _actors(transaction: Array) -> tuple[Actor, ...]:
    producer_id, epoch = int(transaction["producer_id"]), int(transaction["producer_epoch"])
    old = Actor(
        "T1", f"producer id {producer_id} epoch {epoch}, in a transaction since {clock(int(transaction['started_at']))}"
    )
    if transaction["next_state"] != EMPTY:
        return (old, Actor("T2", "whoever ran initTransactions; its own start is not recorded"))
    newcomer = f"producer id {int(transaction['next_producer_id'])} epoch {int(transaction['next_epoch'])}"
    return (old, Actor("T2", f"{newcomer}, since {clock(int(transaction['next_timestamp']))}"))


def _steps(story: Story, row: int) -> tuple[Step, ...]:
    transaction = story.transactions[row]
    data = data_of(story, row)
    markers = [story.spans[int(part["marker"])] for part in parts_of(story, row) if part["marker"] >= 0]
    old, new = int(transaction["producer_epoch"]), int(transaction["decision_epoch"])
    wrote = Step(
        f"T1 wrote {data_phrase(story, data)} in a transaction that had not ended",
        "the coordinator had it as Ongoing",
        (*begin_row(transaction), *(data_place(story, span) for span in data[:4])),
    )
    timeout = duration(int(transaction["timeout_ms"]))
    moved = Step(
        f"T2 asked for the same transactional.id {after_start(story, row)} after T1's start: the "
        f"coordinator moved from epoch {old} to {new}",
        f"only InitProducerId raises the epoch before the timeout of {timeout} has passed"
        if story.ends.protocol[row] == Protocol.classic
        else f"the abort came before the timeout of {timeout}, and InitProducerId followed at once",
        (*decision_row(transaction), *completion_row(transaction)),
    )
    aborted = Step(
        f"so T1's {plural(sum(int(span['records']) for span in data), 'record')} were aborted",
        "the ABORT markers carry the coordinator's new epoch",
        tuple(marker_place(story, span) for span in markers[:4]),
    )
    return (wrote, moved, *((aborted,) if markers else ()), *_taken_over(story, row), *witnessed(story, row))


def _taken_over(story: Story, row: int) -> tuple[Step, ...]:
    transaction = story.transactions[row]
    if transaction["next_state"] != EMPTY:
        return ()
    waited = max(0, int(transaction["next_timestamp"] - transaction["completion_timestamp"]))
    text = f"{duration(waited)} later T2 had the id with epoch {int(transaction['next_epoch'])}; every later call of T1"
    why = "the retry of InitProducerId after CONCURRENT_TRANSACTIONS writes Empty"
    if waited > RETRY_WINDOW_MS:
        why = "Empty is written by InitProducerId; its first try aborted the transaction, this one came late"
    return (Step(f"{text} is refused", why, tuple(next_row(transaction))),)


def _considered(story: Story, row: int) -> tuple[Considered, ...]:
    transaction = story.transactions[row]
    elapsed = (
        f"aborted {after_start(story, row)} after its start, the timeout is {duration(int(transaction['timeout_ms']))}"
    )
    if story.ends.reason[row] == Reason.v2_then_init:
        own = (
            "not refuted for certain: under transactions v2 a client's own abort raises the epoch "
            "too; the Empty row at once speaks against it"
        )
    else:
        own = "a client's own abort keeps the epoch; here it was raised"
    return (
        Considered("transaction_timed_out", elapsed, tuple(decision_row(transaction))),
        Considered("aborted_by_client", own, tuple(decision_row(transaction))),
        *_by_operator(transaction),
        *_by_restart(story, row),
    )


def _by_restart(story: Story, row: int) -> tuple[Considered, ...]:
    rule = "a restart of the same application after a crash"
    if was_alive(story, [row]):
        return (Considered(rule, "refuted: the old instance was alive, it was refused afterwards"),)
    return (Considered(rule, "the disk can't tell: the log of the old instance would (it is refused if it lives)"),)


def _by_operator(transaction: Array) -> tuple[Considered, ...]:
    """Another program's timeout in the newcomer's row: fenceProducers and forceTerminateTransaction bring their own."""
    usual, newcomer = int(transaction["timeout_ms"]), int(transaction["next_timeout_ms"])
    if transaction["next_state"] != EMPTY or usual == newcomer:
        return ()
    why = (
        f"likely: the Empty row has a timeout of {duration(newcomer)} instead of the id's {duration(usual)}, so "
        "another program initialised it, as kafka-transactions.sh forceTerminateTransaction or Admin.fenceProducers do"
    )
    return (Considered("an operator who ended the transaction by its id", why, tuple(next_row(transaction))),)


def _remedy(transactional_id: str) -> Remedy:
    return Remedy(
        text="if both instances were alive, give each its own transactional.id and stop the old one "
        "before the new one starts; "
        "if the old one had crashed, nothing: this is how its leftovers are cleaned up",
        where="application",
        config="transactional.id",
        current=transactional_id,
        proposed="an id of its own for each instance, stable over restarts (input partition or ordinal)",
        derived_from="the same id was initialised while its transaction was open",
        cost="none; a random id instead would remove the fencing of zombies",
        restart_needed=True,
    )
