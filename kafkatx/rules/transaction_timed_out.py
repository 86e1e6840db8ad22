"""The coordinator ended the transaction because transaction.timeout.ms had passed.

Mechanism    Every transaction.abort.timed.out.transaction.cleanup.interval.ms the coordinator looks for Ongoing
             transactions with start + timeout < now, raises the epoch, writes PrepareAbort and the ABORT markers. The
             clock starts with the first partition and no progress stops it. The client's next call is refused, in words
             that also mean a second instance.
Evidence     PrepareAbort longer after the start than the row's own timeout, by the same coordinator's clock; classic:
             under epoch e+1. By logs alone: the coordinator's line "Completed rollback of ongoing transaction ... due
             to timeout"; a client refused as too old when its transaction had been open longer than its timeout.
Against      Empty within a second of CompleteAbort: then InitProducerId may have come between timeout and look;
             classic: an abort at the data's own epoch (a client that aborted late); transactions v2: the producer goes
             on under the raised epoch without a new Empty row, which only the client that ended the transaction itself
             can do.
Look-alikes  fenced_by_new_instance (earlier than the timeout, Empty row at once); aborted_by_client; on 0.11.0.0 and
             0.11.0.1 a timeout keeps the epoch (KAFKA-6119), there only logs decide.
Remedy       raise transaction.timeout.ms above the longest transaction measured (not above transaction.max.timeout.ms),
             or shorten the work. Readers of read_committed may have to wait as long as the timeout.
Source       KIP-98, KIP-588, KIP-890; TransactionCoordinator.abortTimedOutTransactions (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.logs.outages import outages
from kafkatx.histories.story import Story
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.rules.finding import Finding
from kafkatx.rules.grouping import by_transactional_id, spread, subjects_of, weakest
from kafkatx.rules.in_logs.timed_out import timed_out_in_logs
from kafkatx.rules.in_logs.witnessed import witnessed
from kafkatx.rules.without_rows import findings_without_rows
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.advised import advised
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
from kafkatx.words.remedies import transaction_timeout

RULE = "transaction_timed_out"


def check(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id of which transactions timed out, or may have (0.11.0.0, 0.11.0.1)."""
    rows = story.ends.ended(EndedBy.timeout, ToldBy.rows)
    for transactional_id, group in by_transactional_id(story, rows):
        yield _timed_out(story, transactional_id, group)
    yield from findings_without_rows(story, RULE, EndedBy.timeout)
    yield from timed_out_in_logs(story)
    undecided = np.flatnonzero(story.ends.rows().reason == Reason.no_bump_release)
    for transactional_id, group in by_transactional_id(story, undecided):
        yield _perhaps(story, transactional_id, group)


def _timed_out(story: Story, transactional_id: str, rows: list[int]) -> Finding:
    first = story.transactions[rows[0]]
    again, known = _committed_later(story, rows[-1]), _is_all_known(story, rows[-1])
    records = sum(int(span["records"]) for row in rows for span in data_of(story, row))
    what = (
        f"{plural(len(rows), 'transaction')} of {transactional_id} ran longer than "
        f"transaction.timeout.ms ({duration(int(first['timeout_ms']))})"
    )
    return Finding(
        rule=RULE,
        verdict=weakest(story, rows),
        severity=Severity.warning if again or not known else Severity.error,
        summary=f"{what} and {'was' if len(rows) == 1 else 'were'} aborted by the coordinator: "
        f"{plural(records, 'record')} thrown away",
        transactional_id=transactional_id,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        actors=(
            Actor(
                "T1",
                f"producer id {int(first['producer_id'])} epoch {int(first['producer_epoch'])}, since "
                f"{clock(int(first['started_at']))}",
            ),
        ),
        steps=_steps(story, rows[0], _afterwards(again, known)),
        considered=_considered(story, rows[0]),
        remedies=_remedies(story, transactional_id, rows),
    )


def _committed_later(story: Story, row: int) -> bool:
    """Whether the id committed something after this transaction: the work may have been done again."""
    of_id = story.transactions[story.transactions_of(int(story.transactions["id_code"][row]))]
    return bool(((of_id["decision"] == 2) & (of_id["decided_at"] > story.transactions["decided_at"][row])).any())


def _is_all_known(story: Story, row: int) -> bool:
    """Whether no row of the id behind this transaction can be lost."""
    latest = story.latest_of(int(story.transactions["id_code"][row]))
    return latest is not None and story.is_latest_known(latest)


def _afterwards(again: bool, known: bool) -> str:
    if again:
        return "the id committed again later"
    return "the id committed nothing after that" if known else "what the id did after that is lost with its rows"


def _steps(story: Story, row: int, after: str) -> tuple[Step, ...]:
    transaction = story.transactions[row]
    data = data_of(story, row)
    markers = [story.spans[int(part["marker"])] for part in parts_of(story, row) if part["marker"] >= 0]
    timeout = duration(int(transaction["timeout_ms"]))
    began = Step(
        f"T1 began a transaction at {clock(int(transaction['started_at']))} and wrote {data_phrase(story, data)}",
        f"its transaction.timeout.ms is {timeout}",
        (*begin_row(transaction), *(data_place(story, span) for span in data[:4])),
    )
    ended = Step(
        f"{after_start(story, row)} after the start the coordinator aborted it, epoch "
        f"{int(transaction['decision_epoch'])}",
        f"that is {_later(story, row)} start + timeout ({timeout}), by the coordinator's own clock",
        (*decision_row(transaction), *completion_row(transaction)),
    )
    fenced = "" if story.ends.reason[row] == Reason.over_timeout_went_on else " and T1 is fenced"
    lost = Step(
        f"so T1's {plural(sum(int(span['records']) for span in data), 'record')} were aborted{fenced}",
        "the ABORT markers carry the raised epoch",
        tuple(marker_place(story, span) for span in markers[:4]),
    )
    return (
        began,
        ended,
        *((lost,) if markers else ()),
        *witnessed(story, row),
        Step(after, "rows of the id behind the abort", tuple(next_row(transaction))),
    )


def _later(story: Story, row: int) -> str:
    """How the abort lies to the timeout; the clocks of two coordinators may differ."""
    return "about" if story.ends.reason[row] == Reason.near_timeout else "later than"


def _considered(story: Story, row: int) -> tuple[Considered, ...]:
    transaction = story.transactions[row]
    rule = "fenced_by_new_instance"
    if story.ends.reason[row] == Reason.over_timeout_then_init:
        why = (
            "not refuted for certain: InitProducerId followed within a second, so it may have come "
            "between timeout and the coordinator's look"
        )
        return (Considered(rule, why, tuple(next_row(transaction))),)
    if story.ends.reason[row] == Reason.over_timeout_went_on:
        why = (
            "not refuted for certain: under transactions v2 its own abort leaves the same rows; but it went on only "
            f"{duration(int(transaction['next_timestamp'] - transaction['completion_timestamp']))} later"
        )
        return (Considered("aborted_by_client", why, tuple(next_row(transaction))),)
    if transaction["next_state"] == 0:
        gap = duration(int(transaction["next_timestamp"] - transaction["completion_timestamp"]))
        return (
            Considered(
                rule,
                f"the next InitProducerId came {gap} after the abort was complete, not as its retry",
                tuple(next_row(transaction)),
            ),
        )
    return (Considered(rule, "no InitProducerId (Empty row) followed the abort", tuple(completion_row(transaction))),)


def _remedies(story: Story, transactional_id: str, rows: list[int]) -> tuple[Remedy, ...]:
    """A timeout from the longest transaction measured of the id, and from what a broker was away meanwhile."""
    of_id = story.transactions_of(int(story.transactions["id_code"][rows[0]]))
    needed = int(story.ends.duration_ms[of_id].max())
    t = story.transactions[rows]
    known = t[(t["started_at"] >= 0) & (t["decided_at"] >= 0)]
    away = [
        outage.duration_ms
        for outage in outages(story.logs)
        if ((known["started_at"] <= outage.until) & (known["decided_at"] >= outage.since)).any()
    ]
    measured = f"the longest transaction of the id ran {duration(needed)} (at least: it was cut off)"
    return transaction_timeout(advised(story, transactional_id), max(0, needed), measured, max(away, default=0))


def _perhaps(story: Story, transactional_id: str, rows: list[int]) -> Finding:
    """The same epoch, but beyond the timeout: a late client, or the coordinator of 0.11.0.0/0.11.0.1."""
    return Finding(
        rule=RULE,
        verdict=Verdict.possible,
        severity=Severity.warning,
        summary=f"{plural(len(rows), 'transaction')} of {transactional_id} ended "
        f"{after_start(story, rows[0])} after the start, beyond the timeout, at an unchanged epoch",
        transactional_id=transactional_id,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        steps=(
            Step(
                "the transaction was aborted beyond its timeout",
                "start and PrepareAbort by the coordinator's clock",
                (*begin_row(story.transactions[rows[0]]), *decision_row(story.transactions[rows[0]])),
            ),
        ),
        considered=(
            Considered(
                "aborted_by_client",
                "0.11.0.0 and 0.11.0.1 time out without a new epoch (KAFKA-6119); the coordinator's log would tell",
            ),
        ),
    )
