"""Data of a transaction that nobody will end: the coordinator does not know it, or is through with it.

Mechanism    A late write behind the ABORT marker (brokers before 3.6, or without partition verification) opens a
             transaction again in that partition; a partition that was never registered, a marker that was dropped or
             lost, a truncated `__transaction_state` do the same. The last stable offset stays there for ever, and the
             cleaner stops.
Evidence     data without a marker up to the log end, while the coordinator's latest row of the id is complete, of
             another epoch, or Ongoing without this partition; a row of `find-hanging`, which asks the coordinators too.
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

import numpy as np

from kafkatx.findings.conditions import by_settings
from kafkatx.findings.leaders_clocks import ahead_at_end
from kafkatx.findings.open_spans import OpenSpan
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.kernels.spans import OPEN
from kafkatx.kernels.transactions import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, PREPARE_ABORT
from kafkatx.rules.answers.disowned import DISOWNED_WORDS, disowned
from kafkatx.rules.answers.open_told import HANGING_WORDS, hanging_told
from kafkatx.rules.answers.skipped import SKIPPED_WORDS, skipped_markers
from kafkatx.rules.hanging.live_checks import AGAIN, COST, IS_STILL_OPEN, IS_UNKNOWN, NOT_YET, PARTITION, TOOL
from kafkatx.rules.hanging.reach import (
    CUT_OFF,
    DISPUTED,
    ENDS_EARLY,
    NO_PARTITION,
    NO_ROWS,
    NOT_REACHED,
    NOT_WHOLE,
    OpenData,
    is_beyond_timeouts,
    is_in_progress,
    longest_ms,
    may_be_cut_off,
    missing_rows,
    reaches,
)
from kafkatx.rules.settings.broker import VERIFICATION
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.times import clock
from kafkatx.terms.transaction_states import state_name
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import parts_of
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import Duration, Instant, OffsetRange, Refs, facts


class OfPartition:
    """Facts about data, whose partition a text may leave out."""

    __slots__ = ()
    data: OffsetRange

    @property
    def named(self) -> OffsetRange | None:
        """The data, where their partition is named: only then can a command be."""
        return self.data if self.data.partition >= 0 else None


@facts
class Facts(OfPartition):
    """Records that nobody will end; `id` and `state` are of the coordinator's latest row, None where it has none.

    `wait` is how long after its last write a transaction may still be ended, `not_before` when that is over.
    `highest_epoch` and `coordinator_epoch`
    are the highest ones of the producer id in this partition, None where tools find them themselves: brokers before 2.8
    can't be asked for a producer's state (KIP-664).
    """

    id: str | None
    producer_id: int
    data: OffsetRange
    state: str | None
    wait: Duration
    not_before: Instant | None
    is_torn: bool
    is_proved: bool
    highest_epoch: int | None
    coordinator_epoch: int | None
    last_marker: Refs
    written: Refs
    latest: Refs

    @property
    def has_start_offset(self) -> bool:
        """Whether brokers can be asked where the transaction begins in this partition."""
        return self.highest_epoch is None and self.named is not None


def find(model: CaptureModel) -> Found:
    """One case for each open span that no transaction holds, or only one that was aborted and completed.

    And one for each transaction that `find-hanging` lists, or that its coordinator answered it does not have, and for
    markers that a coordinator left out.
    """
    yield from hanging_told(model)
    yield from disowned(model)
    spans = (OpenSpan(model, int(number)) for number in np.flatnonzero((model.spans["flags"] & OPEN) != 0))
    found = [result for one in spans for result in judged(one)]
    yield from found
    yield from skipped_markers(model, {f"{one.topic}-{one.partition}" for one in found if isinstance(one, Case)})


def judged(one: OpenSpan) -> Found:
    """What is to be said of one open span; nothing where the coordinator will end it."""
    if one.transaction is not None and not _was_aborted(one.model, one.transaction):
        return
    where = OpenData(one.data, one.producer_id)
    if not one.model.state_log_extents:
        yield NO_ROWS.of(where)
    elif one.is_disputed:
        yield DISPUTED.of(where)
    elif _is_late_write_in_page(one):
        yield _case(one, Verdict.likely if _goes_on_for_long(one) else Verdict.possible)
    elif one.is_over_gap or one.log_extent.is_torn:
        yield NOT_WHOLE.of(where)
    elif one.transaction is not None and not _was_told(one, one.transaction):
        yield ENDS_EARLY.of(where)
    else:
        yield from _hanging(one, where)


def _is_late_write_in_page(one: OpenSpan) -> bool:
    """Whether a page shows data behind their producer's marker that are older than it, and no transaction is open.

    Records that are older than the marker before them were sent in the transaction that it ended; where the state says
    that none is open since, nobody is there to end them. A page always breaks off, so its end refutes nothing here; a
    marker may still stand behind it, so this is possible at most. A whole log is judged by what follows in it.
    """
    latest, log_extent, span = one.latest, one.log_extent, one.span
    if latest is None or not log_extent.is_printed or not log_extent.is_torn or log_extent.has_gaps:
        return False
    is_over = latest["state"] in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
    is_late = 0 <= span["first_timestamp"] < span["previous_marker_timestamp"]
    return bool(is_over and is_late and latest["producer_id"] == span["producer_id"])


def _goes_on_for_long(one: OpenSpan) -> bool:
    """Whether a page shows the partition without a marker for longer than any timeout, by what others wrote there."""
    return one.log_extent.newest - int(one.span["last_timestamp"]) > longest_ms(one.latest)


def _was_aborted(model: CaptureModel, transaction: int) -> bool:
    row = model.transactions[transaction]
    return bool(row["decision"] == PREPARE_ABORT and row["completion_offset"] >= 0)


def _was_told(one: OpenSpan, transaction: int) -> bool:
    """Whether the ABORT of a complete transaction is in the partition's log, or the log goes on without it."""
    model, log_extent = one.model, one.log_extent
    completed = int(model.transactions["completion_timestamp"][transaction])
    tolerance = BROKERS_TOLERANCE_MS if model.facts.brokers > 1 else 0
    parts = parts_of(model, transaction)
    marked = parts["marker"][parts["partition_code"] == log_extent.partition_code] >= 0
    ahead = ahead_at_end(model, log_extent.partition_code, model.transactions[transaction])
    goes_on = ahead is not None and log_extent.newest > completed + tolerance + ahead
    return bool(marked.any()) or goes_on


def _hanging(one: OpenSpan, where: OpenData) -> Found:
    model, latest = one.model, one.latest
    if latest is None and not model.has_all_state_partitions:
        yield NO_PARTITION.of(where)
    elif latest is not None and is_in_progress(one, latest):
        return
    elif not reaches(one):
        yield NOT_REACHED.of(where)
    elif may_be_cut_off(one):
        yield CUT_OFF.of(where)
    elif (behind := missing_rows(one, latest) if latest is not None else None) is not None:
        phrase, epoch = behind
        yield phrase.of(OpenData(one.data, one.producer_id, epoch))
    else:
        yield _case(one, Verdict.proved if latest is not None and is_beyond_timeouts(one, latest) else Verdict.likely)


def _case(one: OpenSpan, verdict: Verdict) -> Case:
    facts = _facts(one, verdict)
    return Case(
        facts=facts,
        verdict=verdict,
        severity=Severity.warning if verdict is Verdict.possible else Severity.error,
        transactional_id=facts.id,
        since=facts.written[0].at,
        until=one.model.facts.evidence_end,
        **one.columns(),
    )


def _facts(one: OpenSpan, verdict: Verdict) -> Facts:
    latest, (epoch, coordinator_epoch) = one.latest, _highest_epochs(one)
    wait, written = longest_ms(latest), known(one.span["last_timestamp"])
    return Facts(
        id=one.id if latest is not None else None,
        producer_id=one.producer_id,
        data=one.data,
        state=state_name(int(latest["state"])) if latest is not None else None,
        wait=Duration(wait),
        not_before=Instant(written + wait) if written is not None else None,
        is_torn=one.log_extent.is_torn,
        is_proved=verdict is Verdict.proved,
        highest_epoch=epoch,
        coordinator_epoch=coordinator_epoch,
        last_marker=_last_marker(one),
        written=one.written,
        latest=one.latest_row,
    )


def _last_marker(one: OpenSpan) -> Refs:
    offset, at = known(one.span["previous_marker_offset"]), int(one.span["previous_marker_timestamp"])
    if offset is None:
        return ()
    text = f"last marker of producer id {one.producer_id}, {clock(at)}"
    return (EvidenceRef(one.log_extent.topic, one.log_extent.partition, offset, at, text),)


def _highest_epochs(one: OpenSpan) -> tuple[int | None, int | None]:
    """The producer's and the coordinator's, as an abort names them to brokers that can't be asked for them."""
    if one.model.facts.describes_producers:
        return None, None
    spans = one.model.spans[one.model.spans_of(one.log_extent.partition_code)]
    spans = spans[spans["producer_id"] == one.producer_id]
    epoch = int(max(spans["producer_epoch"].max(), spans["marker_epoch"].max()))
    return epoch, max(int(spans["coordinator_epoch"].max()), 0)


WORDS = Words(
    Facts,
    title="a hanging transaction in {data.place}",
    summary="{data} is still open, without a COMMIT or ABORT marker in this evidence. The coordinator will[ {perhaps}] "
    "never write one; read_committed readers can't pass offset {data.first_offset}.",
    steps=(
        step(
            "This marker ended the previous transaction of producer id {producer_id} in {data.place}",
            cites="last_marker",
            needs="last_marker",
        ),
        step(
            (
                "Producer id {producer_id} wrote ",
                pick("data.records", {0: ""}, "{data.records:record}, "),
                "{data}",
                pick("last_marker", {(): ""}, ", behind it"),
                ", and no marker follows",
            ),
            pick("is_torn", {True: "nothing follows on this page"}, "the log was read to its end"),
            cites="written",
        ),
        step(
            pick(
                "state",
                {None: "No record of __transaction_state names producer id {producer_id}"},
                "The coordinator's last record of {id} is {state}: no open transaction with {data.place}",
            ),
            cites="latest",
        ),
    ),
    considered=(
        ruled_out("open_transaction", "the coordinator has none with {data.place}", cites="latest"),
        ruled_out("stuck_prepare", "no decision waits for {data.place}", cites="latest"),
        ruled_out(
            "a lost COMMIT marker",
            "no committed transaction of {id} owns these records",
            cites="latest",
            needs="state",
            unless="is_torn",
        ),
        left_open(
            "a marker that came later",
            pick(
                "is_torn",
                {True: "the page ends soon after these records"},
                "the evidence ends within {wait} of these records",
            ),
            needs="state",
            unless="is_proved",
            decided_by="the two checks on the live cluster",
        ),
        left_open(
            "a transaction that __transaction_state lost or forgot",
            "its records don't name the producer id",
            unless="is_proved state",
            decided_by="the two checks on the live cluster",
        ),
    ),
    remedies=(
        remedy(
            (IS_STILL_OPEN, NOT_YET),
            "operator",
            command=pick(
                "has_start_offset",
                {True: f"{TOOL} describe-producers {PARTITION}"},
                "kafka-dump-log.sh --files LOG_DIR/{named.topic}-{named.partition}/SEGMENT.log",
            ),
        ),
        remedy(
            IS_UNKNOWN,
            "operator",
            command=pick(
                "has_start_offset",
                {True: pick("id", {None: f"{TOOL} list"}, f"{TOOL} describe --transactional-id {{id}}")},
            ),
        ),
        remedy(
            (
                "[From {not_before} on, ]{wait} after the last write, repeat both checks. Only if both say that it "
                "hangs, abort this one partition: a diagnosis of files that reach so far prints the command. ",
                AGAIN,
            ),
            "operator",
            derived_from="{wait}: the longest timeout that brokers allow a transaction, and 5 min more",
            cost=COST,
            unless="is_proved",
        ),
        remedy(
            ("Only if both checks say that it hangs, abort this one partition. ", AGAIN),
            "operator",
            command=(
                f"{TOOL} abort {PARTITION} ",
                pick(
                    "highest_epoch",
                    {None: "--start-offset {data.first_offset}"},
                    "--producer-id {producer_id} --producer-epoch {highest_epoch} "
                    "--coordinator-epoch {coordinator_epoch}",
                ),
            ),
            cost=COST,
            needs="is_proved",
        ),
        remedy(
            "Prevent it: let leaders refuse writes outside a transaction (brokers 3.6.1 and later)",
            "broker",
            VERIFICATION,
            proposed="true",
            derived_from="the usual cause is a late write, accepted after its transaction had ended",
            restart_needed=False,
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, HANGING_WORDS, DISOWNED_WORDS, SKIPPED_WORDS),
    depth=4,
    eased_by=(("misconfiguration", by_settings(VERIFICATION)),),
    is_lasting=True,
)
