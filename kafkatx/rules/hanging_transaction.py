"""Data of a transaction that nobody will end: the coordinator does not know it, or is through with it.

Mechanism    A late write behind the ABORT marker (brokers before 3.6, or without partition verification) opens a
             transaction again in
             that partition; a partition that was never registered, a marker that was dropped or lost, a truncated
             `__transaction_state` do the same. The last stable offset stays there for ever, and the cleaner stops.
Evidence     data without a marker up to the log end, while the coordinator's latest row of the id is complete, of
             another epoch, or
             Ongoing without this partition.
Against      an Ongoing or Prepare* row that lists the partition; a copy that ends before the marker could come; a
             coordinator's log
             that ends before the data.
Look-alikes  open_transaction, stuck_prepare; atomicity_violation (the transaction was committed: it owns the data);
             transactions of
             two-phase clients.
Remedy       look again at the living cluster, then `kafka-transactions.sh abort` for this partition. Prevent: brokers
             3.6 and later
             with transaction.partition.verification.enable, transactions v2.
Source       KIP-664, KIP-890; TransactionsCommand.findHanging (3.0 to 4.4), ProducerStateManager
             (LATE_TRANSACTION_BUFFER_MS).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.growing import Array
from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.spans import OPEN, OVER_GAP
from kafkatx.rules.finding import Considered, Finding, NotCheckable, Place, Remedy, Step
from kafkatx.rules.wording import data_place, latest_row, offsets, plural
from kafkatx.terms.clocks import LATE_TRANSACTION_BUFFER_MS, MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.transaction_states import state_name
from kafkatx.terms.verdicts import Severity, Verdict

RULE = "hanging_transaction"
PREPARE_COMMIT, PREPARE_ABORT = 2, 3


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each open span that no transaction of the coordinator holds (or only one that was aborted and
    completed).
    """
    for number in np.flatnonzero((story.spans["flags"] & OPEN) != 0):
        span, owner = story.spans[number], int(story.parts.owner[number])
        horizon = story.horizons[int(span["partition_code"])]
        where = f"{horizon.topic}-{horizon.partition} @ {offsets(span)}, producer id {int(span['producer_id'])}"
        if owner >= 0 and not _was_aborted(story, owner):
            continue
        if not story.state_horizons:
            yield NotCheckable(RULE, where, "__transaction_state: whether the coordinator knows the transaction")
        elif owner == -2:
            yield NotCheckable(RULE, where, "an evidence that tells which of two transactions the data belong to")
        elif span["flags"] & OVER_GAP and horizon.has_gaps or horizon.is_torn:
            yield NotCheckable(
                RULE, where, "the whole log of the partition: offsets are missing, and a marker may be among them"
            )
        else:
            yield from _hanging(story, span, horizon, where)


def _was_aborted(story: Story, transaction: int) -> bool:
    row = story.transactions[transaction]
    return bool(row["decision"] == PREPARE_ABORT and row["completion_offset"] >= 0)


def _hanging(story: Story, span: Array, horizon: Horizon, where: str) -> Iterator[Finding | NotCheckable]:
    code = story.owner_of_producer(int(span["producer_id"]))
    latest = story.latest_of(code) if code >= 0 else None
    if latest is None and not story.has_all_state_partitions:
        yield NotCheckable(RULE, where, "the partition of __transaction_state that knows this producer id")
        return
    if latest is not None and _is_in_progress(story, latest, int(span["partition_code"]), int(span["producer_id"])):
        return
    verdict = _verdict(story, span, latest)
    if verdict is None:
        yield NotCheckable(RULE, where, "a coordinator's log that reaches beyond the time of these records")
        return
    yield _finding(story, span, horizon, latest, verdict)


def _is_in_progress(story: Story, latest: Array, partition_code: int, producer_id: int) -> bool:
    """Whether the id's latest row lists the partition in a transaction that has not ended."""
    listed = (
        latest["partitions_code"] >= 0
        and partition_code in story.labels.partition_lists[int(latest["partitions_code"])]
    )
    return bool(1 <= latest["state"] <= PREPARE_ABORT and listed and latest["producer_id"] == producer_id)


def _verdict(story: Story, span: Array, latest: Array | None) -> Verdict | None:
    """None where the coordinator's log may simply end too early; proved only when no timeout can still be running."""
    written = int(span["last_timestamp"])
    if latest is None:
        reaches = min(horizon.newest for horizon in story.state_horizons.values()) >= written
    else:
        horizon = story.state_horizons[int(latest["state_partition"])]
        reaches = horizon.newest >= written and not horizon.is_torn
        ended_before = latest["state"] >= PREPARE_COMMIT + 2 and span["previous_marker_offset"] >= 0
        reaches = reaches or bool(ended_before and not horizon.is_torn and story.facts.evidence_end >= written)
    if not reaches:
        return None
    timeout = int(latest["timeout_ms"]) if latest is not None else 0
    is_late = story.age_ms(written) > max(timeout, MAX_TRANSACTION_TIMEOUT_MS) + LATE_TRANSACTION_BUFFER_MS
    return Verdict.proved if is_late and latest is not None else Verdict.likely


def _finding(story: Story, span: Array, horizon: Horizon, latest: Array | None, verdict: Verdict) -> Finding:
    name = story.transactional_id(int(latest["id_code"])) if latest is not None else None
    place = data_place(story, span)
    known = (
        f"the coordinator's latest row of {name} is {state_name(int(latest['state']))}"
        if latest is not None
        else "no row of the coordinator names this producer id"
    )
    behind = [_last_marker(horizon, span)] if span["previous_marker_offset"] >= 0 else []
    steps = (
        *(
            (
                Step(
                    "the producer's last transaction in this partition was ended",
                    "its marker stands here",
                    tuple(behind),
                ),
            )
            if behind
            else ()
        ),
        Step(
            f"{plural(int(span['records']), 'record')} of the same producer stand {'behind it' if behind else 'here'}, without a marker up to the log end",
            "the log was read to its end",
            (place,),
        ),
        Step(known, "so nobody will write a marker for them", (latest_row(latest),) if latest is not None else ()),
    )
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.error,
        summary=f"{plural(int(span['records']), 'record')} in {horizon.topic}-{horizon.partition} @ {offsets(span)} belong to no transaction that the coordinator will end: readers of read_committed stop there",
        transactional_id=name,
        producer_id=int(span["producer_id"]),
        producer_epoch=int(span["producer_epoch"]),
        topic=horizon.topic,
        partition=horizon.partition,
        first_offset=int(span["first_offset"]),
        last_offset=int(span["last_offset"]),
        since=place.at,
        until=story.facts.evidence_end,
        steps=steps,
        considered=(
            Considered(
                "open_transaction",
                f"{known}: not an open transaction with this partition",
                (latest_row(latest),) if latest is not None else (),
            ),
            Considered(
                "stuck_prepare",
                "nothing is prepared for this partition",
                (latest_row(latest),) if latest is not None else (),
            ),
        ),
        remedies=_remedies(story, span, horizon, verdict, latest),
    )


def _last_marker(horizon: Horizon, span: Array) -> Place:
    at = int(span["previous_marker_timestamp"])
    return Place(
        horizon.topic,
        horizon.partition,
        int(span["previous_marker_offset"]),
        at,
        f"last marker of producer id {int(span['producer_id'])}, {clock(at)}",
    )


def _remedies(
    story: Story, span: Array, horizon: Horizon, verdict: Verdict, latest: Array | None
) -> tuple[Remedy, ...]:
    check_again = (
        f"first look at the living cluster, since this evidence is old: `kafka-transactions.sh --bootstrap-server HOST:PORT describe-producers --topic {horizon.topic} "
        f"--partition {horizon.partition}` must still show the start offset {int(span['first_offset'])}, and `describe` must not list the partition"
    )
    prevent = Remedy(
        "let the leaders refuse writes outside a transaction (brokers 3.6 and later)", "broker",
        "transaction.partition.verification.enable", None, "true", "such writes were accepted here", restart_needed=True,
    )  # fmt: skip
    if verdict is not Verdict.proved or latest is None:
        wait = duration(MAX_TRANSACTION_TIMEOUT_MS + LATE_TRANSACTION_BUFFER_MS)
        return (
            Remedy(f"{check_again}. Abort it there only when it is older than {wait} and both still hold", "operator"),
            prevent,
        )
    abort = Remedy(
        f"the records @ {offsets(span)} will be lost to read_committed readers. {check_again}; then abort this one partition",
        "operator",
        command=f"kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic {horizon.topic} --partition {horizon.partition} --start-offset {int(span['first_offset'])}",
        derived_from=f"first offset of the transaction; older than {duration(MAX_TRANSACTION_TIMEOUT_MS + LATE_TRANSACTION_BUFFER_MS)}; {TRANSACTION_STATE} reaches beyond it",
        cost="the records become aborted; they can't be brought back for read_committed readers",
    )
    return (abort, prevent)
