"""The client itself (or an operator in its name) aborted transactions.

Mechanism    EndTxn(ABORT): abortTransaction(), close() with a transaction open, a framework's rollback. An operator's
             `kafka-transactions.sh abort` writes an ABORT marker into one partition without the coordinator's
             knowledge.
Evidence     classic: PrepareAbort and ABORT markers at the data's own epoch; transactions v2: an abort before the
             timeout that no InitProducerId followed at once, above all if the producer went on under the raised epoch.
             An operator: an ABORT at the data's own epoch, later than every row of its id. Without rows: the epochs of
             the markers, where a COMMIT shows the protocol.
             By logs alone: "Aborting incomplete transaction" that no refusal follows.
Against      a raised epoch (classic); a duration beyond the timeout; an Empty row at once (transactions v2).
Look-alikes  fenced_by_new_instance, transaction_timed_out; on 0.11.0.0 and 0.11.0.1 a timeout keeps the epoch too.
Remedy       none for single ones: it is what abort is for. At high rates find the exception before the abort (a poison
             record, a group that rebalances).
Source       KIP-98, KIP-664, KIP-890; TransactionCoordinator.endTransaction, WriteTxnMarkers (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.growing import Array
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, NotCheckable
from kafkatx.rules.grouping import MOST_NAMED, by_transactional_id, spread, subjects_of
from kafkatx.rules.in_logs.aborted import aborted_in_logs
from kafkatx.rules.in_logs.expired import not_expired
from kafkatx.rules.in_logs.witnessed import witnessed
from kafkatx.rules.without_rows import authors_not_checkable, findings_without_rows
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Remedy, Step
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

RULE = "aborted_by_client"
COMMIT, ABORT = 2, 3
MISSING = "the first rows of the transaction, or a time by one clock: who aborted it"
FEWEST_ENDED, FEWEST_ABORTED, SHARE_PERCENT, IN_A_ROW = 10, 5, 5, 3
"""From this many on a share of aborted transactions says something; fewer is chance, unless they come in a row."""


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each transactional.id and verdict; what is aborted by nobody knows whom is not checkable."""
    endings, is_abort = story.ends.rows(), story.transactions["decision"] == ABORT
    perhaps = endings.reason == Reason.no_bump_release
    by_client = (is_abort & (endings.ended_by == EndedBy.client)) | perhaps
    for verdict in (Verdict.proved, Verdict.likely, Verdict.possible):
        rows = np.flatnonzero(by_client & (endings.verdict == verdict))
        for transactional_id, group in by_transactional_id(story, rows):
            yield _aborted(story, transactional_id, group, verdict)
    yield from findings_without_rows(story, RULE, EndedBy.client)
    yield from aborted_in_logs(story)
    nobodys = np.flatnonzero(is_abort & (endings.ended_by == EndedBy.unknown) & ~perhaps)
    for transactional_id, group in by_transactional_id(story, nobodys):
        yield NotCheckable(RULE, f"{plural(len(group), 'aborted transaction')} of {transactional_id}", MISSING)
    yield from authors_not_checkable(story, RULE)


def _aborted(story: Story, transactional_id: str, rows: list[int], verdict: Verdict) -> Finding:
    of_id = story.transactions_of(int(story.transactions["id_code"][rows[0]]))
    ended = int(np.count_nonzero(story.transactions["decision"][of_id] >= COMMIT))
    often = _is_often(story, of_id)
    data = [span for row in rows[:MOST_NAMED] for span in data_of(story, row)]
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning if often and verdict is not Verdict.possible else Severity.info,
        summary=f"{transactional_id} aborted {len(rows):,} of its {plural(ended, 'ended transaction')} itself: "
        f"{data_phrase(story, data)}",
        transactional_id=transactional_id,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        steps=_steps(story, rows[0]),
        considered=_considered(story, rows[0]),
        remedies=(_remedy(len(rows), ended),) if often else (),
    )


def _is_often(story: Story, of_id: Array) -> bool:
    """Whether the id (its transactions, oldest first) aborted a share worth a warning, or several in a row."""
    decisions = story.transactions["decision"][of_id]
    by_client = story.ends.ended_by[of_id] == EndedBy.client
    aborted = (decisions == ABORT) & (by_client | (story.ends.reason[of_id] == Reason.no_bump_release))
    ended, count = int(np.count_nonzero(decisions >= COMMIT)), int(np.count_nonzero(aborted))
    if ended >= FEWEST_ENDED and count >= FEWEST_ABORTED and 100 * count > SHARE_PERCENT * ended:
        return True
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
    if story.ends.protocol[row] == Protocol.classic:
        why = "PrepareAbort has the data's own epoch: only the client's own EndTxn leaves it as it was"
    elif story.ends.reason[row] == Reason.v2_client_went_on:
        why = "the producer went on under the raised epoch without a new initTransactions: "
        why += "only EndTxn's answer told it that epoch"
    elif story.ends.reason[row] == Reason.v2_rows_end:
        why = "before its timeout; no InitProducerId followed as far as the rows go"
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
    return (wrote, ended, *witnessed(story, row))


def _considered(story: Story, row: int) -> tuple[Considered, ...]:
    transaction = story.transactions[row]
    if story.ends.reason[row] == Reason.no_bump_release:
        why = (
            "not refuted: 0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119), and the release is not known"
        )
    elif story.ends.reason[row] == Reason.own_epoch_late:
        why = "beyond the timeout, but the epoch was not raised, as the coordinator of this cluster does"
    else:
        why = (
            f"aborted {after_start(story, row)} after its start, within the timeout of "
            f"{int(transaction['timeout_ms'])} ms"
        )
    nobody = "no newer instance took the id over in the abort"
    if story.ends.reason[row] == Reason.v2_rows_end:
        nobody = "not refuted: under transactions v2 only the rows behind the abort tell, and they are not at hand"
    return (
        Considered("transaction_timed_out", why, tuple(decision_row(transaction))),
        Considered("fenced_by_new_instance", nobody, tuple(next_row(transaction))),
        *_not_expired(story, row),
    )


def _not_expired(story: Story, row: int) -> tuple[Considered, ...]:
    """An abort after idle days is not an expiry while the producer id goes on."""
    of_id = story.transactions_of(int(story.transactions["id_code"][row]))
    before = of_id[: int(np.flatnonzero(of_id == row)[0])]
    if not len(before):
        return ()
    last, now = story.transactions[before[-1]], story.transactions[row]
    is_same = last["completed_producer_id"] == now["producer_id"] and last["completion_timestamp"] >= 0
    idle = int(now["started_at"] - last["completion_timestamp"]) if is_same else 0
    return not_expired(idle, tuple(completion_row(last)))


def _remedy(aborted: int, ended: int) -> Remedy:
    return Remedy(
        text="look at what the application logged just before these aborts: a record that always fails, or exceptions "
        "that are no reason to abort",
        where="application",
        derived_from=f"{aborted} of {ended} ended transactions were aborted",
    )
