"""Data of a transaction that nobody will end: the coordinator does not know it, or is through with it.

Mechanism    A late write behind the ABORT marker (brokers before 3.6, or without partition verification) opens a
             transaction again in that partition; a partition that was never registered, a marker that was dropped or
             lost, a truncated `__transaction_state` do the same. The last stable offset stays there for ever, and the
             cleaner stops.
Evidence     data without a marker up to the log end, while the coordinator's latest row of the id is complete, of
             another epoch, or Ongoing without this partition.
Against      an Ongoing or Prepare* row that lists the partition; a copy that ends before the marker could come; a
             coordinator's log that ends before the data.
Look-alikes  open_transaction, stuck_prepare; atomicity_violation (the transaction was committed: it owns the data);
             transactions of two-phase clients.
Remedy       look again at the living cluster, then `kafka-transactions.sh abort` for this partition. Prevent: brokers
             3.6 and later with transaction.partition.verification.enable, transactions v2.
Source       KIP-664, KIP-890; TransactionsCommand.findHanging (3.0 to 4.4), ProducerStateManager
             (LATE_TRANSACTION_BUFFER_MS).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OPEN, OVER_GAP
from kafkatx.kernels.transactions import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, ONGOING, PREPARE_ABORT
from kafkatx.rules.finding import Finding, NotCheckable
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS, LATE_TRANSACTION_BUFFER_MS, MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkatx.terms.transaction_states import state_name
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.places import data_place, latest_row, offsets, parts_of, plural

RULE = "hanging_transaction"
IN_FLIGHT_MS = 60_000
"""Twice request.timeout.ms: as long as the request that adds a partition may be on its way."""
ON_THE_WAY_MS = 1_000
"""How long records may wait in their client and on their way before they stand in the log."""
TOOL = "kafka-transactions.sh --bootstrap-server HOST:PORT"


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each open span that no transaction holds, or only one that was aborted and completed."""
    for number in np.flatnonzero((story.spans["flags"] & OPEN) != 0):
        yield from judged(story, int(number))


def judged(story: Story, number: int) -> Iterator[Finding | NotCheckable]:
    """What is to be said of one open span, by its number; nothing where the coordinator will end it."""
    span, owner = story.spans[number], int(story.parts.owner[number])
    horizon = story.horizons[int(span["partition_code"])]
    where = f"{horizon.topic}-{horizon.partition} @ {offsets(span)}, producer id {int(span['producer_id'])}"
    if owner >= 0 and not _was_aborted(story, owner):
        return
    if not story.state_horizons:
        yield NotCheckable(RULE, where, "__transaction_state: whether the coordinator knows the transaction")
    elif owner == -2:
        yield NotCheckable(RULE, where, "an evidence that tells which of two transactions the data belong to")
    elif _is_late_write_in_page(story, span, horizon):
        latest = story.latest_of(story.owner_of_producer(int(span["producer_id"])))
        yield _finding(story, span, horizon, latest, Verdict.possible)
    elif (span["flags"] & OVER_GAP and horizon.has_gaps) or horizon.is_torn:
        yield NotCheckable(
            RULE, where, "the whole log of the partition: offsets are missing, and a marker may be among them"
        )
    elif owner >= 0 and not _was_told(story, owner, horizon):
        yield NotCheckable(RULE, where, "a log that goes on after the abort was complete: its marker may be behind")
    else:
        yield from _hanging(story, span, horizon, where)


def _is_late_write_in_page(story: Story, span: Array, horizon: Horizon) -> bool:
    """Whether a page shows data behind their producer's marker that are older than it, and no transaction is open.

    The page may end before the marker, so this is possible at most; the whole log is judged by its own rules.
    """
    code = story.owner_of_producer(int(span["producer_id"]))
    latest = story.latest_of(code) if code >= 0 else None
    if latest is None or not horizon.is_printed or not horizon.is_torn or horizon.has_gaps:
        return False
    is_over = (latest["state"] == EMPTY or latest["state"] >= COMPLETE_COMMIT) and latest["state"] <= COMPLETE_ABORT
    is_late = 0 <= span["first_timestamp"] < span["previous_marker_timestamp"]
    return bool(is_over and is_late and latest["producer_id"] == span["producer_id"])


def _was_aborted(story: Story, transaction: int) -> bool:
    row = story.transactions[transaction]
    return bool(row["decision"] == PREPARE_ABORT and row["completion_offset"] >= 0)


def _was_told(story: Story, transaction: int, horizon: Horizon) -> bool:
    """Whether the ABORT of a complete transaction is in the partition's log, or the log goes on without it."""
    completed = int(story.transactions["completion_timestamp"][transaction])
    tolerance = BROKERS_TOLERANCE_MS if story.facts.brokers > 1 else 0
    parts = parts_of(story, transaction)
    marked = parts["marker"][parts["partition_code"] == horizon.partition_code] >= 0
    return bool(marked.any()) or horizon.newest > completed + tolerance


def _hanging(story: Story, span: Array, horizon: Horizon, where: str) -> Iterator[Finding | NotCheckable]:
    code = story.owner_of_producer(int(span["producer_id"]))
    latest = story.latest_of(code) if code >= 0 else None
    if latest is None and not story.has_all_state_partitions:
        yield NotCheckable(RULE, where, "the partition of __transaction_state that knows this producer id")
        return
    if latest is not None and _is_in_progress(story, latest, int(span["partition_code"]), int(span["producer_id"])):
        return
    missing = _what_is_missing(story, span, latest)
    if missing is not None:
        yield NotCheckable(RULE, where, missing)
        return
    verdict = Verdict.proved if latest is not None and _is_late(story, span, latest) else Verdict.likely
    yield _finding(story, span, horizon, latest, verdict)


def _is_in_progress(story: Story, latest: Array, partition_code: int, producer_id: int) -> bool:
    """Whether the id's latest row lists the partition in a transaction that has not ended."""
    listed = (
        latest["partitions_code"] >= 0
        and partition_code in story.labels.partition_lists[int(latest["partitions_code"])]
    )
    return bool(ONGOING <= latest["state"] <= PREPARE_ABORT and listed and latest["producer_id"] == producer_id)


def _what_is_missing(story: Story, span: Array, latest: Array | None) -> str | None:
    """None where the coordinator's log reaches far enough to know nothing of the data."""
    if not _reaches(story, span, latest):
        return "a coordinator's log that reaches beyond the time of these records"
    if latest is None:
        return None
    horizon = story.state_horizons[int(latest["state_partition"])]
    of_producer = story.spans[story.spans["producer_id"] == span["producer_id"]]
    newest = int(of_producer["coordinator_epoch"].max())
    if newest > horizon.leader_epoch >= 0:
        return f"the rows of coordinator epoch {newest}, which wrote markers of this producer id"
    marked = int(of_producer["marker_epoch"].max())
    if latest["producer_id"] == span["producer_id"] and marked > latest["producer_epoch"]:
        return f"the row behind the marker of epoch {marked}: those at hand end before it"
    if latest["state"] == ONGOING and story.age_ms(int(span["first_timestamp"])) < IN_FLIGHT_MS:
        return "evidence from a minute later: the partition may be on its way into the transaction that is open"
    return None


def _reaches(story: Story, span: Array, latest: Array | None) -> bool:
    """Whether rows are at hand that are younger than the data.

    Data behind the marker of a completed transaction belong to nobody by their place alone; there another partition of
    `__transaction_state` may show that the copy is young enough, if there is only one copy.
    """
    written, one_copy = _stood_by(story, span), story.facts.brokers <= 1
    ends = [horizon.newest for horizon in story.state_horizons.values() if horizon.newest >= 0]
    if latest is None:
        return bool(ends) and (max(ends) if one_copy else min(ends)) >= written
    horizon = story.state_horizons[int(latest["state_partition"])]
    if not story.is_latest_known(latest) or not story.is_whole_since(horizon.partition, int(span["first_timestamp"])):
        return False
    if latest["state"] >= COMPLETE_COMMIT and _sent_before_the_decision(story, span, latest):
        return True
    ended_before = latest["state"] >= COMPLETE_COMMIT and span["previous_marker_offset"] >= 0
    return horizon.newest >= written or bool(ended_before and one_copy and max(ends) >= written)


def _sent_before_the_decision(story: Story, span: Array, latest: Array) -> bool:
    """Whether the data are older than the decision of the id's last transaction: what comes next is sent after it."""
    rows = story.transactions_of(int(latest["id_code"]))
    decided = int(story.transactions["decided_at"][rows].max()) if len(rows) else -1
    return bool(latest["producer_id"] == span["producer_id"] and int(span["last_timestamp"]) < decided)


def _stood_by(story: Story, span: Array) -> int:
    """Time by which the data were in the log; their own is from before the coordinator heard of them."""
    others = story.spans[story.spans_of(int(span["partition_code"]))]
    behind = others["marker_timestamp"][others["marker_offset"] > span["last_offset"]]
    topic, _ = story.topic_partition(int(span["partition_code"]))
    sent = int(span["last_timestamp"]) + (0 if topic == CONSUMER_OFFSETS else ON_THE_WAY_MS)
    return min(sent, int(behind.min())) if len(behind) else sent


def _is_late(story: Story, span: Array, latest: Array) -> bool:
    """Whether no timeout can still be running, as far as the id's own partition of `__transaction_state` reaches."""
    reached = min(story.facts.evidence_end, story.state_horizons[int(latest["state_partition"])].newest)
    return reached - int(span["last_timestamp"]) > _longest_ms(latest)


def _longest_ms(latest: Array | None) -> int:
    """How long after its last write a transaction may still be ended by the coordinator."""
    timeout = int(latest["timeout_ms"]) if latest is not None else 0
    return max(timeout, MAX_TRANSACTION_TIMEOUT_MS) + LATE_TRANSACTION_BUFFER_MS


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
            f"{plural(int(span['records']), 'record')} of the same producer stand "
            f"{'behind it' if behind else 'here'}, without a marker up to the log end",
            "the page ends here" if horizon.is_torn else "the log was read to its end",
            (place,),
        ),
        Step(known, "so nobody will write a marker for them", (latest_row(latest),) if latest is not None else ()),
    )
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning if verdict is Verdict.possible else Severity.error,
        summary=f"{plural(int(span['records']), 'record')} in {horizon.topic}-{horizon.partition} @ "
        f"{offsets(span)} belong to no transaction that the coordinator will end: readers of read_committed stop there",
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
    again, wait = _look_again(story, span, horizon), duration(_longest_ms(latest))
    prevent = Remedy(
        "let the leaders refuse writes outside a transaction (brokers 3.6 and later)",
        "broker",
        "transaction.partition.verification.enable",
        None,
        "true",
        "such writes were accepted here",
        restart_needed=True,
    )
    if verdict is not Verdict.proved:
        text = f"{again}. Abort it there only when it is older than {wait} and both still hold"
        return (Remedy(text, "operator"), prevent)
    abort = Remedy(
        f"the records @ {offsets(span)} will be lost to read_committed readers. {again}; then abort this one partition",
        "operator",
        command=_abort(story, span, horizon),
        derived_from=f"first offset of the transaction; older than {wait}; {TRANSACTION_STATE} reaches beyond it",
        cost="the records become aborted; they can't be brought back for read_committed readers",
    )
    return (abort, prevent)


def _look_again(story: Story, span: Array, horizon: Horizon) -> str:
    if not story.facts.describes_producers:
        return (
            "first look at the living cluster, since this evidence is old: the leader's log of "
            f"{horizon.topic}-{horizon.partition} must still hold no marker behind offset {int(span['last_offset'])}, "
            "and the coordinator no open transaction with this partition"
        )
    return (
        f"first look at the living cluster, since this evidence is old: `{TOOL} describe-producers --topic "
        f"{horizon.topic} --partition {horizon.partition}` must still show the start offset "
        f"{int(span['first_offset'])}, and `describe` must not list the partition"
    )


def _abort(story: Story, span: Array, horizon: Horizon) -> str:
    """The command for this release: brokers before 2.8 can't be asked for a producer's state (KIP-664)."""
    where = f"{TOOL} abort --topic {horizon.topic} --partition {horizon.partition}"
    if story.facts.describes_producers:
        return f"{where} --start-offset {int(span['first_offset'])}"
    of_producer = story.spans[story.spans_of(horizon.partition_code)]
    of_producer = of_producer[of_producer["producer_id"] == span["producer_id"]]
    epoch = int(max(of_producer["producer_epoch"].max(), of_producer["marker_epoch"].max()))
    coordinator = max(int(of_producer["coordinator_epoch"].max()), 0)
    producer = f"--producer-id {int(span['producer_id'])} --producer-epoch {epoch}"
    return f"{where} {producer} --coordinator-epoch {coordinator}"
