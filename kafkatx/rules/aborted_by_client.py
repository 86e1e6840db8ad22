"""The client itself (or an operator in its name) aborted transactions.

Mechanism    EndTxn(ABORT): abortTransaction(), close() with a transaction open, a framework's rollback. An operator's
             `kafka-transactions.sh abort` writes an ABORT marker into one partition without the coordinator's
             knowledge.
Evidence     classic: PrepareAbort and ABORT markers at the data's own epoch; transactions v2: an abort before the
             timeout that no
             InitProducerId followed at once, above all if the producer went on under the raised epoch. An operator:
             an ABORT at the
             data's own epoch with no row of the coordinator for it.
Against      a raised epoch (classic); a duration beyond the timeout; an Empty row at once (transactions v2).
Look-alikes  fenced_by_new_instance, transaction_timed_out; on 0.11.0.0 and 0.11.0.1 a timeout keeps the epoch too.
Remedy       none for single ones: it is what abort is for. At high rates find the exception before the abort (a
             poison record, a
             group that rebalances).
Source       KIP-98, KIP-664, KIP-890; TransactionCoordinator.endTransaction, WriteTxnMarkers (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Considered, Finding, Remedy, Step
from kafkatx.rules.grouping import MOST_NAMED, by_transactional_id, spread, subjects_of
from kafkatx.rules.wording import (
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
from kafkatx.terms.verdicts import Severity, Verdict

RULE = "aborted_by_client"
FEWEST_ENDED, FEWEST_ABORTED, SHARE_PERCENT, IN_A_ROW = 10, 5, 5, 3
"""From this many on a share of aborted transactions says something; fewer is chance, unless they come in a row."""


def check(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id and verdict."""
    endings = story.endings
    aborted = (story.transactions["decision"] == 3) & (endings.ended_by == EndedBy.client)
    for verdict in (Verdict.proved, Verdict.likely):
        for transactional_id, group in by_transactional_id(
            story, np.flatnonzero(aborted & (endings.verdict == verdict))
        ):
            yield _aborted(story, transactional_id, group, verdict)
    perhaps = np.flatnonzero(endings.reason == Reason.no_bump_release)
    for transactional_id, group in by_transactional_id(story, perhaps):
        yield _aborted(story, transactional_id, group, Verdict.possible)


def _aborted(story: Story, transactional_id: str, rows: list[int], verdict: Verdict) -> Finding:
    of_id = story.transactions_of(int(story.transactions["id_code"][rows[0]]))
    ended = int(np.count_nonzero(story.transactions["decision"][of_id] >= 2))
    often = _is_often(story, rows, ended)
    data = [span for row in rows[:MOST_NAMED] for span in data_of(story, row)]
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning if often and verdict is not Verdict.possible else Severity.info,
        summary=f"{transactional_id} aborted {len(rows):,} of its {plural(ended, 'ended transaction')} itself: {data_phrase(story, data)}",
        transactional_id=transactional_id,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        steps=_steps(story, rows[0]),
        considered=_considered(story, rows[0]),
        remedies=(_remedy(len(rows), ended),) if often else (),
    )


def _is_often(story: Story, rows: list[int], ended: int) -> bool:
    """A share worth a warning, or several in a row (by the order of the id's transactions)."""
    if ended >= FEWEST_ENDED and len(rows) >= FEWEST_ABORTED and 100 * len(rows) > SHARE_PERCENT * ended:
        return True
    of_id = story.transactions_of(int(story.transactions["id_code"][rows[0]]))
    aborted = np.isin(of_id, rows)
    runs = np.convolve(aborted, np.ones(IN_A_ROW, np.int64), "valid") if len(aborted) >= IN_A_ROW else np.zeros(1)
    return bool((runs == IN_A_ROW).any())


def _steps(story: Story, row: int) -> tuple[Step, ...]:
    transaction = story.transactions[row]
    data = data_of(story, row)
    markers = [story.spans[int(part["marker"])] for part in parts_of(story, row) if part["marker"] >= 0]
    wrote = Step(
        f"the producer wrote {data_phrase(story, data)} in a transaction",
        "the coordinator had it as Ongoing",
        (*begin_row(transaction), *(data_place(story, span) for span in data[:4])),
    )
    if story.endings.protocol[row] == Protocol.classic:
        why = "PrepareAbort has the data's own epoch: only the client's own EndTxn leaves it as it was"
    elif story.endings.reason[row] == Reason.v2_client_went_on:
        why = "the producer went on under the raised epoch without a new initTransactions: only EndTxn's answer told it that epoch"
    else:
        why = "before its timeout, and no InitProducerId followed"
    ended = Step(
        f"{after_start(story, row)} after the start it was aborted at its client's request",
        why,
        (
            *decision_row(transaction),
            *completion_row(transaction),
            *(marker_place(story, span) for span in markers[:4]),
        ),
    )
    return (wrote, ended)


def _considered(story: Story, row: int) -> tuple[Considered, ...]:
    transaction = story.transactions[row]
    if story.endings.reason[row] == Reason.no_bump_release:
        why = (
            "not refuted: 0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119), and the release is not known"
        )
    elif story.endings.reason[row] == Reason.own_epoch_late:
        why = "beyond the timeout, but the epoch was not raised, as the coordinator of this cluster does"
    else:
        why = f"aborted {after_start(story, row)} after its start, within the timeout of {int(transaction['timeout_ms'])} ms"
    return (
        Considered("transaction_timed_out", why, tuple(decision_row(transaction))),
        Considered(
            "fenced_by_new_instance", "no newer instance took the id over in the abort", tuple(next_row(transaction))
        ),
    )


def _remedy(aborted: int, ended: int) -> Remedy:
    return Remedy(
        text="look at what the application logged just before these aborts: a record that always fails, or exceptions that are no reason to abort",
        where="application",
        derived_from=f"{aborted} of {ended} ended transactions were aborted",
    )
