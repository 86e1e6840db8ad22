"""Two owners of one transactional.id as the coordinator's rows show them: its open transactions taken over in turns."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np

from kafkatx.findings.client_lines import only
from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.grouping import by_transactional_id
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.rules.sharing.owners import CRASH_LOOP, SENT_AGAIN, WINDOW_MS, count_instances, id_of_its_own
from kafkatx.terms.clocks import TRANSACTIONS_V2_SINCE_MS
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import decision_row, next_row
from kafkatx.words.explanation import Words, left_open, ruled_out, step
from kafkatx.words.facts import lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, Refs, facts

ROWS_TURNS = 3
"""Take-overs that one id needs where only rows tell of them."""
TOO_SOON_MS = 1_000
"""No process dies, is noticed, starts and initialises within that time of its last activity."""


class SignOfLife(Enum):
    """What shows that a former owner lived when it lost the id."""

    none = 0
    refused = 1
    too_soon = 2


@dataclass(frozen=True, slots=True)
class TakenOver:
    """An open transaction that was taken over; `pause` is the time since the last activity of its owner."""

    at: Instant
    pause: Duration | None
    sign: SignOfLife
    rows: Refs


@facts
class RowFacts:
    """An id whose open transactions were taken over again and again; those are told whose owners lived, if any did.

    `is_alive`: several owners lived at once, by signs of life; without them one process that is started again as
    soon as it dies leaves the same rows.
    """

    id: str
    count: Count
    is_alive: bool
    told: tuple[TakenOver, ...]


def in_rows(model: CaptureModel) -> Iterator[Case]:
    """One case for each id whose open transactions were taken over ROWS_TURNS times within WINDOW_MS."""
    for name, rows in by_transactional_id(model, model.ends.ended(EndedBy.new_instance, ToldBy.rows)):
        is_told = _is_dense(model, rows) and not _is_crash_loop(model, name, len(rows))
        if is_told and not hands_ids_on(model, name):
            yield _case(EndGroup(model, ToldBy.rows, rows))


def _is_dense(model: CaptureModel, rows: list[int]) -> bool:
    times = np.sort(model.transactions["decided_at"][rows])
    return bool((times[ROWS_TURNS - 1 :] - times[: len(times) - ROWS_TURNS + 1] <= WINDOW_MS).any())


def _is_crash_loop(model: CaptureModel, transactional_id: str, taken_over: int) -> bool:
    """Whether logs show one process (one log) that started as often as the id was taken over, and nobody refused."""
    lives = [client for client in model.logs.clients_of(transactional_id) if client.initialisations]
    refused = any(failure.error in FENCED for client in lives for failure in client.failures)
    return len(lives) > taken_over and only(client.source for client in lives) is not None and not refused


def _case(group: EndGroup) -> Case:
    ends = [TransactionEnd(group.model, number) for number in group.numbers]
    living = [end for end in ends if _sign(end, _pause(end)) is not SignOfLife.none]
    is_alive = len(living) >= ROWS_TURNS
    told = tuple(_told(end) for end in (living or ends)[:3])
    return Case(
        facts=RowFacts(group.transactional_id or "", group.count, is_alive, told),
        verdict=Verdict.likely if is_alive else Verdict.possible,
        severity=Severity.error if is_alive else Severity.warning,
        **group.columns(),
    )


def _told(end: TransactionEnd) -> TakenOver:
    pause = _pause(end)
    refusals = [row for kind, row in end.witnesses.items() if kind == "refusal"]
    rows = (*decision_row(end.row), *next_row(end.row), *event_refs(end.model, refusals))
    return TakenOver(Instant(end.row["decided_at"]), lasting(pause), _sign(end, pause), rows)


def _sign(end: TransactionEnd, pause: int | None) -> SignOfLife:
    if end.was_alive:
        return SignOfLife.refused
    is_soon = pause is not None and pause <= TOO_SOON_MS
    return SignOfLife.too_soon if is_soon and not _may_be_own(end) else SignOfLife.none


def _may_be_own(end: TransactionEnd) -> bool:
    """Whether it may be of transactions v2: a client that aborts, closes and starts anew at once leaves the same."""
    row = end.row
    is_unstated = row["begin_version"] < 0 and row["decision_version"] < 0
    return end.reason is Reason.v2_then_init or bool(is_unstated and row["decided_at"] >= TRANSACTIONS_V2_SINCE_MS)


def _pause(end: TransactionEnd) -> int | None:
    """Milliseconds from the last sign of life of a transaction to the take-over that ended it, None if unknown."""
    row, decided = end.row, int(end.row["decided_at"])
    signs = [row["started_at"], row["grown_at"], *(span["last_timestamp"] for span in end.data)]
    known = [int(at) for at in signs if 0 <= at <= decided]
    return decided - max(known) if known else None


ROW_WORDS = Words(
    RowFacts,
    title=pick(
        "is_alive",
        {True: "used by several instances at once"},
        "{count:open transaction} aborted by new instances",
    ),
    summary=pick(
        "is_alive",
        {
            True: "Several instances[ {perhaps}] used {id} at the same time: new ones aborted {count:open transaction} "
            "of instances before them."
        },
        "New instances of {id} aborted {count:open transaction}. Either two instances use the id at the same time, or "
        "one crashes and restarts.",
    ),
    steps=(
        step(
            (
                "initTransactions of a new instance aborted an open transaction at {each.at}[, {each.pause} after its "
                "last activity]",
                pick(
                    "each.sign",
                    {
                        SignOfLife.refused: "; the former instance was alive and was refused later",
                        SignOfLife.too_soon: ", too soon for a restart",
                    },
                    "",
                ),
            ),
            cites="each.rows",
            each="told",
        ),
    ),
    considered=(
        ruled_out(CRASH_LOOP, "former instances were alive when they lost the id", needs="is_alive"),
        left_open(
            "one process that initialises again and again",
            "the coordinator's log does not name who initialised",
            decided_by="the logs of all instances of {id}",
            needs="is_alive",
        ),
        left_open(
            CRASH_LOOP,
            "too little shows that former instances were alive",
            decided_by="the logs of all instances of {id}",
            unless="is_alive",
        ),
    ),
    remedies=(
        id_of_its_own(needs="is_alive"),
        count_instances(unless="is_alive"),
        SENT_AGAIN,
    ),
)
