"""Readers of read_committed stand still before an open transaction, although committed records lie behind it.

Mechanism    The last stable offset is the first offset of the oldest transaction that has not ended in the partition;
             read_committed gives nothing at or above it, of any producer.
Evidence     an open span, and committed or non-transactional records behind its first offset; positions that tools
             print: a group that stands while the log goes on, an end for read_committed before the log end.
Against      nothing committed behind it: then nobody waits.
Look-alikes  a consumer's lag of one on an idle topic is a marker's own offset; aborted data are skipped, not blocked.
Remedy       end the transaction that holds the offset (see what caused it), or make transactions shorter. Reading
             uncommitted gives readers what may yet be aborted.
Source       KIP-98; UnifiedLog.fetchLastStableOffsetMetadata, ProducerStateManager.firstUnstableOffset (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from itertools import islice

import numpy as np

from kafkatx.findings.conditions import same_subject
from kafkatx.findings.leaders_clocks import goes_on
from kafkatx.findings.open_spans import OpenSpan
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.ended import known
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OPEN
from kafkatx.kernels.transactions import PREPARE_COMMIT
from kafkatx.rules import hanging_transaction
from kafkatx.rules.answers.open_asked import told_open
from kafkatx.rules.answers.positions import POSITION_WORDS, blocked_told
from kafkatx.rules.atomicity.lost_markers import is_left_out
from kafkatx.rules.hanging.live_checks import ASK, END_CUT, END_OPEN, FIND_HANGING
from kafkatx.terms.clocks import MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, data_ref, marker_ref, time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, OffsetRange, Refs, facts

WORTH_A_WARNING_MS = 60_000


class Holder(Enum):
    """The transaction that holds the last stable offset: how far it is, by the coordinator's log."""

    open = auto()
    two_phase = auto()
    decided = auto()
    committed = auto()
    aborted = auto()
    hanging = auto()
    unknown = auto()


class Doubt(Enum):
    """Why the transaction may have ended all the same."""

    missing = "part of the log is missing"
    disputed = "two transactions may own these records"
    ends_early = "this copy of the log ends before the coordinator completed the transaction"
    young = "it had only begun where this copy ends, as one has in every log in use"
    other_copy = "another copy of the log may hold it"


WHY = {doubt: doubt.value for doubt in Doubt}


@facts
class Facts(hanging_transaction.OfPartition):
    """What holds the last stable offset, and what lies behind it; `id` is None where no row names the producer id.

    `doubt` is None where the transaction is open for certain. `committed` records are those of `transactions`, `plain`
    those outside any; None where there are none. `high_watermark` is None where the checkpoint says no less than the
    log end.
    """

    id: str | None
    producer_id: int
    data: OffsetRange
    age: Duration | None
    last_stable_offset: int
    log_end: int
    high_watermark: int | None
    records: Count
    committed: Count | None
    transactions: Count
    plain: Count | None
    last_at: Instant | None
    evidence_end: Instant | None
    holder: Holder
    doubt: Doubt | None
    held: Refs
    examples: Refs

    @property
    def is_long(self) -> bool:
        """Whether it is longer than transactions commonly last."""
        return self.age is not None and self.age >= WORTH_A_WARNING_MS

    @property
    def is_deleted_in_part(self) -> bool:
        """Whether the log begins inside the open transaction."""
        return self.last_stable_offset > self.data.first_offset


def find(model: CaptureModel) -> Found:
    """One case for each partition whose last stable offset hides committed records, or whose readers stand still."""
    yield from blocked_told(model)
    for one in holders(model):
        facts = _facts(one)
        if facts.records:
            yield _blocked(one, facts)


def holders(model: CaptureModel) -> Iterator[OpenSpan]:
    """The oldest open data of each partition, which hold its last stable offset, but for those ended in a gap."""
    for code in distinct(model.spans["partition_code"][(model.spans["flags"] & OPEN) != 0]):
        if model.log_extents[int(code)].topic in INTERNAL:
            continue  # offsets that wait are told by group, not by partition
        numbers = model.spans_of(int(code))
        numbers = numbers[(model.spans["flags"][numbers] & OPEN) != 0]
        spans = (OpenSpan(model, int(numbers[at])) for at in np.argsort(model.spans["first_offset"][numbers]))
        yield from islice((one for one in spans if not one.is_ended_in_gap), 1)


def stands_at(one: OpenSpan) -> int:
    """The last stable offset that open data hold: where they begin, or the log where their beginning is deleted."""
    return max(one.data.first_offset, one.log_extent.log_start)


def severity_of(one: OpenSpan) -> Severity:
    """How bad it is that open data hold the last stable offset, by how long they do and whether anybody ends them."""
    return _severity(one, _holder(one), one.model.age_ms(since) if (since := since_of(one)) is not None else 0)


def _blocked(one: OpenSpan, facts: Facts) -> Case:
    columns = one.columns()
    columns["last_offset"] = one.log_extent.log_end - 1
    verdict, severity = verdict_of(facts.doubt), _severity(one, facts.holder, facts.age or 0)
    return Case(
        facts=facts,
        verdict=verdict,
        severity=min(severity, Severity.warning) if verdict is Verdict.possible else severity,
        transactional_id=one.id,
        since=since_of(one),
        until=time_or_none(one.model.facts.evidence_end),
        **columns,
    )


def _facts(one: OpenSpan) -> Facts:
    model, log_extent, since, transaction = one.model, one.log_extent, since_of(one), one.transaction
    behind = committed_behind(one, stands_at(one))
    committed, plain = int(behind["records"].sum()), _plain_behind(one)
    begin = begin_row(model.transactions[transaction]) if transaction is not None else ()
    return Facts(
        id=one.id or None,
        producer_id=one.producer_id,
        data=one.data,
        age=Duration(model.age_ms(since)) if since is not None else None,
        last_stable_offset=stands_at(one),
        log_end=log_extent.log_end,
        high_watermark=_lower_watermark(log_extent),
        records=Count(committed + plain),
        committed=Count(committed) if len(behind) else None,
        transactions=Count(len(behind)),
        plain=Count(plain) if plain else None,
        last_at=instant(behind["marker_timestamp"].max() if len(behind) else log_extent.newest),
        evidence_end=instant(model.facts.evidence_end),
        holder=_holder(one),
        doubt=doubt_of(one),
        held=tuple(dict.fromkeys((*one.written, *begin, *one.latest_row, *event_refs(model, told_open(one))))),
        examples=tuple(place for row in behind[:2] for place in (data_ref(model, row), marker_ref(model, row))),
    )


def committed_behind(one: OpenSpan, offset: int) -> Array:
    """Committed spans of the partition at or above an offset."""
    spans = one.model.spans[one.model.spans_of(one.log_extent.partition_code)]
    return spans[(spans["marker_kind"] == 1) & (spans["first_offset"] >= offset)]


def hidden_behind(one: OpenSpan) -> int:
    """How many records, committed or outside transactions, stand behind open data that hold the last stable offset."""
    return int(committed_behind(one, stands_at(one))["records"].sum()) + _plain_behind(one)


def _plain_behind(one: OpenSpan) -> int:
    return max(0, one.log_extent.plain_records - int(one.span["plain_records_before"]))


def _lower_watermark(log_extent: LogExtent) -> int | None:
    return log_extent.high_watermark if 0 <= log_extent.high_watermark < log_extent.log_end else None


def since_of(one: OpenSpan) -> int | None:
    """When the holder began: by the coordinator's clock where it is known, else by the data's own."""
    started = known(one.model.transactions["started_at"][one.transaction]) if one.transaction is not None else None
    return started if started is not None else known(one.span["first_timestamp"])


def doubt_of(one: OpenSpan) -> Doubt | None:
    """None where no other copy can hold the missing marker, or the leader or the coordinator says there is none."""
    if told_open(one):
        return None
    if one.is_over_gap or (one.log_extent.is_torn and not goes_on_in_page(one)):
        return Doubt.missing
    if one.is_disputed:
        return Doubt.disputed
    if _ends_early(one):
        return Doubt.ends_early
    if one.log_extent.is_torn:
        return Doubt.other_copy
    is_only_copy = one.model.facts.brokers <= 1 and one.model.has_all_state_partitions
    if is_only_copy or _is_known_undecided(one) or is_left_out(one):
        return None
    return Doubt.young if _is_young(one) else Doubt.other_copy


def _is_young(one: OpenSpan) -> bool:
    """Whether no row tells of the transaction, and it is no older than many are when they end."""
    since = since_of(one)
    return one.transaction is None and since is not None and one.model.age_ms(since) <= WORTH_A_WARNING_MS


def _ends_early(one: OpenSpan) -> bool:
    """Whether its transaction is complete, and nothing shows that this copy was taken after that.

    Partitions of a running broker are copied one after the other, and `__transaction_state` perhaps as the last.
    """
    if one.transaction is None:
        return False
    row = one.model.transactions[one.transaction]
    return bool(row["completion_timestamp"] >= 0) and not goes_on(one.model, one.log_extent, row)


def goes_on_in_page(one: OpenSpan) -> bool:
    """Whether a text shows what brokers wrote behind it for longer than a transaction may last.

    Of a text nobody knows whether lines were cut off its end; a marker among them would come too late.
    """
    log_extent = one.log_extent
    written = log_extent.newest if log_extent.topic in INTERNAL else log_extent.broker_time
    last = known(one.span["last_timestamp"])
    is_long = last is not None and written - last > MAX_TRANSACTION_TIMEOUT_MS
    return log_extent.is_printed and not log_extent.has_gaps and is_long


def verdict_of(doubt: Doubt | None) -> Verdict:
    """Proved without a doubt; another copy that may hold the marker leaves it likely."""
    if doubt is None:
        return Verdict.proved
    return Verdict.likely if doubt is Doubt.other_copy else Verdict.possible


def _is_known_undecided(one: OpenSpan) -> bool:
    """Whether the coordinator's rows of its transaction are the last of the id for certain, without a decision."""
    model, transaction = one.model, one.transaction
    if transaction is None or model.transactions["decision"][transaction] >= 0:
        return False
    latest = model.latest_of(int(model.transactions["id_code"][transaction]))
    return bool(latest is not None and latest["transaction_row"] == transaction and model.is_latest_known(latest))


def _holder(one: OpenSpan) -> Holder:
    if any(isinstance(result, Case) for result in hanging_transaction.judged(one)):
        return Holder.hanging
    if one.transaction is None:
        return Holder.unknown
    transaction = one.model.transactions[one.transaction]
    if transaction["completion_offset"] >= 0:
        return Holder.committed if transaction["decision"] == PREPARE_COMMIT else Holder.aborted
    if transaction["decision"] >= 0:
        return Holder.decided
    return Holder.two_phase if one.is_two_phase else Holder.open


def _severity(one: OpenSpan, holder: Holder, age: int) -> Severity:
    """By how long it lasts; at once an error where nobody will end it."""
    if holder is Holder.unknown:
        return _by_age(age, WORTH_A_WARNING_MS)
    if holder in (Holder.committed, Holder.aborted, Holder.hanging):
        return Severity.error
    if holder is Holder.decided:
        return Severity.error if age > WORTH_A_WARNING_MS else Severity.warning
    timeout = int(one.latest["timeout_ms"]) if one.latest is not None else WORTH_A_WARNING_MS
    return _by_age(age, min(timeout, WORTH_A_WARNING_MS))


def _by_age(age: int, worth_a_warning: int) -> Severity:
    if age > MAX_TRANSACTION_TIMEOUT_MS:
        return Severity.error
    return Severity.warning if age > worth_a_warning else Severity.info


HOLDER = pick("id", {None: "producer id {producer_id}"}, "{id}")
WORDS = Words(
    Facts,
    title=(
        "blocked at offset {last_stable_offset}",
        pick("is_long", {True: " for {age}"}, " until the evidence ends"),
    ),
    who="readers of {data.place}",
    summary=(
        "read_committed readers of {data.place} were[ {perhaps}] still blocked at offset {last_stable_offset} when "
        "the evidence ended[ at {evidence_end}]. The transaction of ",
        HOLDER,
        "[, {age} old,] held back {records:committed record} behind it.",
    ),
    steps=(
        step("Producer id {producer_id} wrote {data}, and no marker follows in this evidence", cites="held"),
        step(
            (
                "The last stable offset is stuck at {last_stable_offset}, the ",
                pick(
                    "is_deleted_in_part",
                    {True: "log start: the oldest open transaction began below it"},
                    "start of the oldest open transaction",
                ),
            ),
            "log end {log_end}",
        ),
        step(
            (
                "It hides ",
                pick(
                    "committed",
                    {None: "{plain:record} outside transactions"},
                    "{committed:record} of {transactions:committed transaction}"
                    "[ and {plain:record} outside transactions]",
                ),
                "[, the last of {last_at}]",
            ),
            cites="examples",
        ),
    ),
    considered=(
        ruled_out(
            "the high watermark",
            "its checkpoint, {high_watermark}, may be 5 s old: taken is the log end, {log_end}",
        ),
        left_open(
            "a marker that is not in this evidence",
            pick("doubt", WHY),
            decided_by="the leader's whole log of {data.place}, and __transaction_state",
            needs="doubt",
        ),
    ),
    remedies=(
        remedy(
            pick(
                "holder",
                {
                    Holder.open: pick("is_deleted_in_part", {True: END_CUT}, END_OPEN),
                    Holder.two_phase: "Commit or abort it[ ({id})] as its other half was decided. It is a two-phase "
                    "transaction: the coordinator never aborts it, and it may rightly wait. Do not start its producer "
                    "anew without keepPreparedTxn, and do not abort it by hand: both may undo what was promised",
                    Holder.decided: "Bring back the leaders of its partitions; do not abort it by hand. The "
                    "coordinator has decided it and sends its markers until they answer",
                    Holder.committed: "Do not abort {data.place} yet: the coordinator committed it, and an abort makes "
                    'the loss of its records final. First do what is said of {id} as "not atomic"; only then an '
                    "abort of {data.place} lets readers pass",
                    Holder.hanging: "Abort {data} only where both checks under hanging transaction say that it hangs",
                },
                ASK,
            ),
            pick("holder", {Holder.open: "application", Holder.two_phase: "application"}, "operator"),
            command=pick("holder", dict.fromkeys((Holder.aborted, Holder.unknown), FIND_HANGING)),
        ),
        remedy(
            "Or let readers read on at once, but only if they may see records that are aborted later",
            "client",
            "isolation.level",
            "read_committed",
            "read_uncommitted",
            cost="they read records of transactions that may be aborted",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, POSITION_WORDS),
    depth=6,
    caused_by=(
        ("atomicity_violation", same_subject),
        ("hanging_transaction", same_subject),
        ("stuck_prepare", same_subject),
        ("open_transaction", same_subject),
        ("unstable_transactional_id", same_subject),
    ),
    is_lasting=True,
)
