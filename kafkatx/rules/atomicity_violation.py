"""One transaction, two outcomes: committed in one partition, aborted or left without its end in another.

Mechanism    An operator aborts one partition by hand and the client commits afterwards; the end of a log was lost
             (unclean election, disk, restore) together with the marker; a coordinator skipped a partition without a
             leader (4.x, KAFKA-20734).
Evidence     the coordinator's decision and completion for a list of partitions, and what ended the data in each of
             them.
Against      a log that ends before the completion, has gaps, or was compacted; a match of markers that is not certain.
Look-alikes  stuck_prepare (not completed yet); repeated markers after a failover (harmless); markers without data.
Remedy       list the records on both sides, publish them again or compensate in the application. No tool writes a
             COMMIT, and an abort would make the loss final.
Source       KIP-98, KIP-664; TransactionMarkerChannelManager, UnifiedLog (0.11 to 4.4); KAFKA-20734.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.participations import Status
from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import AFTER_HOLE
from kafkatx.rules.finding import Finding, NotCheckable
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.times import clock
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.places import (
    completion_row,
    data_phrase,
    data_place,
    decision_row,
    marker_place,
    offsets,
    partition_name,
    parts_of,
    plural,
)

RULE = "atomicity_violation"
COMMIT, ABORT = 2, 3
COMPACTED = "compacted"
KINDS = ("ABORT", "COMMIT", "an emptied")


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each completed transaction with a partition that ended otherwise, or not at all."""
    rows, spans, t = story.parts.rows, story.spans, story.transactions
    completed = t["completion_offset"][rows["transaction"]] >= 0
    ended_otherwise = (rows["span"] >= 0) & (rows["span"] != rows["marker"])
    ended_otherwise[ended_otherwise] &= spans["marker_offset"][rows["span"][ended_otherwise]] >= 0
    ended_otherwise[ended_otherwise] &= (
        spans["marker_kind"][rows["span"][ended_otherwise]] != 3 - t["decision"][rows["transaction"][ended_otherwise]]
    )
    whole = (t["flags"][rows["transaction"]] & AFTER_HOLE) == 0
    unmarked = (rows["status"] == Status.UNMARKED) & (t["decision"][rows["transaction"]] == COMMIT) & whole
    candidates = np.flatnonzero(completed & (ended_otherwise | unmarked))
    transactions, begins = np.unique(rows["transaction"][candidates], return_index=True)
    for transaction, numbers in zip(transactions.tolist(), np.split(candidates, begins[1:]), strict=False):
        yield from _judged(story, transaction, [rows[number] for number in numbers])


def _judged(story: Story, transaction: int, parts: list[Array]) -> Iterator[Finding | NotCheckable]:
    proved = [part for part in parts if part["status"] != Status.UNMARKED]
    unmarked = [part for part in parts if part["status"] == Status.UNMARKED]
    reasons = [_why_absence_says_nothing(story, transaction, part) for part in unmarked]
    bad = [*proved, *(part for part, why in zip(unmarked, reasons, strict=True) if why is None)]
    if bad:
        yield _finding(story, transaction, bad, Verdict.proved if proved else Verdict.likely)
    name = story.transactional_id(int(story.transactions["id_code"][transaction]))
    for part, why in zip(unmarked, reasons, strict=True):
        if why is not None and why != COMPACTED:
            yield NotCheckable(RULE, f"{name} in {partition_name(story, int(part['partition_code']))}", why)


def _why_absence_says_nothing(story: Story, transaction: int, part: Array) -> str | None:
    """None where the partition's log covers the time in which the marker must have come."""
    horizon, row = story.horizons[int(part["partition_code"])], story.transactions[transaction]
    if horizon.is_compacted or horizon.topic in INTERNAL:
        return COMPACTED
    if not horizon.is_whole:
        return "the whole log: offsets are missing"
    if not _goes_on(story, horizon, int(row["completion_timestamp"])):
        return "a log that goes on after the completion"
    if part["span"] < 0 and not _reaches_back(story, horizon, int(row["decided_at"])):
        return "a log that begins before the transaction: its beginning, or the topic, was deleted"
    return None


def _goes_on(story: Story, horizon: Horizon, completed: int) -> bool:
    """Whether the log reaches beyond a time: by a broker's clock, or by data of a transaction that began later."""
    after = completed + (BROKERS_TOLERANCE_MS if story.facts.brokers > 1 else 0)
    if horizon.broker_time > after:
        return True
    owners = story.parts.owner[story.spans_of(horizon.partition_code)]
    return bool((story.transactions["started_at"][owners[owners >= 0]] > after).any())


def _reaches_back(story: Story, horizon: Horizon, time: int) -> bool:
    """Whether the log holds something from before a time: then what came later has not been deleted with it.

    A topic deleted and made again has the same name and a log that begins at 0.
    """
    spans = story.spans[story.spans_of(horizon.partition_code)]
    times = spans["marker_timestamp"][spans["marker_offset"] >= 0]
    begins_before = horizon.log_start == 0 and 0 <= horizon.first_timestamp < time
    return begins_before or bool(len(times) and times.min() < time)


def _finding(story: Story, transaction: int, bad: list[Array], verdict: Verdict) -> Finding:
    row = story.transactions[transaction]
    name = story.transactional_id(int(row["id_code"]))
    decision = "COMMIT" if row["decision"] == COMMIT else "ABORT"
    spans = [story.spans[int(part["span"])] for part in bad if part["span"] >= 0]
    only = bad[0] if len(bad) == 1 else None
    topic, partition = story.topic_partition(int(only["partition_code"])) if only is not None else (None, None)
    names = " and ".join(partition_name(story, int(part["partition_code"])) for part in bad)
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.error,
        summary=f"the transaction of {name} decided at {clock(int(row['decided_at']))} is {decision} "
        f"for the coordinator, but {names} ended otherwise: {_fates(story, bad)}",
        transactional_id=name,
        producer_id=int(row["producer_id"]),
        producer_epoch=int(row["producer_epoch"]) if row["producer_epoch"] >= 0 else None,
        topic=topic,
        partition=partition,
        first_offset=min((int(span["first_offset"]) for span in spans), default=None) if only is not None else None,
        last_offset=max((int(span["last_offset"]) for span in spans), default=None) if only is not None else None,
        since=int(row["started_at"]) if row["started_at"] >= 0 else None,
        until=int(row["completion_timestamp"]),
        steps=_steps(story, transaction, bad, decision),
        considered=(
            Considered(
                "stuck_prepare",
                "the coordinator completed the transaction; it will send no more markers",
                tuple(completion_row(row)),
            ),
            Considered(
                "hanging_transaction",
                "the data belong to a transaction that was decided; aborting them would make the loss final",
                tuple(decision_row(row)),
            ),
        ),
        remedies=_remedies(story, bad, decision),
    )


def _fates(story: Story, bad: list[Array]) -> str:
    return "; ".join(_fate(story, part) for part in bad[:3])


def _fate(story: Story, part: Array) -> str:
    name = partition_name(story, int(part["partition_code"]))
    if part["span"] < 0:
        return f"{name} has neither its records nor its marker"
    span = story.spans[int(part["span"])]
    if span["marker_offset"] >= 0:
        return f"{name} @ {offsets(span)} was ended by {KINDS[int(span['marker_kind'])]} @ {int(span['marker_offset'])}"
    return f"{name} @ {offsets(span)} has no marker"


def _steps(story: Story, transaction: int, bad: list[Array], decision: str) -> tuple[Step, ...]:
    row = story.transactions[transaction]
    odd = {int(part["partition_code"]) for part in bad}
    good = [
        part
        for part in parts_of(story, transaction)
        if part["status"] == Status.MARKED and int(part["partition_code"]) not in odd
    ]
    decided = Step(
        f"the coordinator decided {decision} for {plural(len(good) + len(bad), 'partition')} and completed it",
        "Prepare* lists them, Complete* says that all were told",
        (*decision_row(row), *completion_row(row)),
    )
    markers = tuple(marker_place(story, story.spans[int(part["marker"])]) for part in good[:4])
    as_decided = (Step(f"{plural(len(good), 'partition')} ended so", "their markers", markers),) if good else ()
    return (decided, *as_decided, *(_odd_step(story, part) for part in bad[:5]))


def _odd_step(story: Story, part: Array) -> Step:
    horizon = story.horizons[int(part["partition_code"])]
    why = f"the log goes on to offset {horizon.log_end - 1}, last written {clock(horizon.newest)}"
    places: list[Place] = []
    if part["span"] >= 0:
        span = story.spans[int(part["span"])]
        places.append(data_place(story, span))
        if span["marker_offset"] >= 0:
            places.append(marker_place(story, span))
            why = "that marker is not the coordinator's: it came before the decision, or has another kind"
    if part["marker"] >= 0:
        places.append(marker_place(story, story.spans[int(part["marker"])]))
        why += "; the coordinator's own marker came later and found nothing open"
    return Step(_fate(story, part), why, tuple(places))


def _remedies(story: Story, bad: list[Array], decision: str) -> tuple[Remedy, ...]:
    spans = [story.spans[int(part["span"])] for part in bad if part["span"] >= 0]
    lost = (
        f"the records concerned: {data_phrase(story, spans)}"
        if spans
        else "the records concerned are gone from that partition"
    )
    again = Remedy(
        f"{lost}. Publish them again or compensate in the application; do not abort "
        "by hand, "
        "it would "
        "make the loss final",
        "application",
        derived_from=f"the outcome {decision} holds elsewhere",
        cost="whoever read the other partitions has already acted on them",
    )
    prevent = Remedy(
        "see whether an operator aborted a partition, an unclean election took "
        "place, or a "
        "disk was "
        "restored at that time; "
        "keep min.insync.replicas at 2 of 3 and unclean.leader.election.enable "
        "off for all "
        "topics of "
        "the transaction",
        "operator",
    )
    return (again, prevent)
