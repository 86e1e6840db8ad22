"""Readers of read_committed stand still before an open transaction, although committed records lie behind it.

Mechanism    The last stable offset is the first offset of the oldest transaction that has not ended in the partition;
             read_committed gives nothing at or above it, of any producer.
Evidence     an open span, and committed or non-transactional records behind its first offset.
Against      nothing committed behind it: then nobody waits.
Look-alikes  a consumer's lag of one on an idle topic is a marker's own offset; aborted data are skipped, not blocked.
Remedy       end the transaction that holds the offset (see what caused it), or make transactions shorter. Reading
             uncommitted gives readers what may yet be aborted.
Source       KIP-98; UnifiedLog.fetchLastStableOffsetMetadata, ProducerStateManager.firstUnstableOffset (0.11 to 4.4).
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.conditions import same_subject
from kafkatx.findings.open_spans import OpenSpan
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.ended import known
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OPEN
from kafkatx.rules import hanging_transaction
from kafkatx.terms.clocks import MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, data_ref, marker_ref, time_or_none
from kafkatx.words.explanation import Words, considered, remedy, step
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, OffsetRange, Refs, facts

WORTH_A_WARNING_MS = 60_000


@facts
class Facts:
    """What holds the last stable offset, and what lies behind it; `id` is None where no row names the producer id.

    `committed` records are those of `transactions`, `plain` those outside any; None where there are none.
    `high_watermark` is None where the checkpoint says no less than the log end.
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
    last_at: Instant
    held: Refs
    examples: Refs


def find(model: CaptureModel) -> Found:
    """One case for each partition whose last stable offset hides committed records."""
    held = model.spans[(model.spans["flags"] & OPEN) != 0]
    for code in np.unique(held["partition_code"]):
        if model.log_extents[int(code)].topic in INTERNAL:
            continue  # offsets that wait are told by group, not by partition
        of_partition = model.spans_of(int(code))
        of_partition = of_partition[(model.spans["flags"][of_partition] & OPEN) != 0]
        one = OpenSpan(model, int(of_partition[np.argmin(model.spans["first_offset"][of_partition])]))
        facts = _facts(one)
        if facts.records:
            yield _blocked(one, facts)


def _blocked(one: OpenSpan, facts: Facts) -> Case:
    columns = one.columns()
    columns["last_offset"] = one.log_extent.log_end - 1
    verdict, severity = _verdict(one), _severity(one, facts.age or 0)
    return Case(
        facts=facts,
        verdict=verdict,
        severity=min(severity, Severity.warning) if verdict is Verdict.possible else severity,
        transactional_id=one.id,
        since=_since(one),
        until=time_or_none(one.model.facts.evidence_end),
        **columns,
    )


def _facts(one: OpenSpan) -> Facts:
    model, log_extent, since, transaction = one.model, one.log_extent, _since(one), one.transaction
    stands_at = max(one.data.first_offset, log_extent.log_start)
    behind = _committed_behind(one, stands_at)
    committed, plain = (
        int(behind["records"].sum()),
        max(0, log_extent.plain_records - int(one.span["plain_records_before"])),
    )
    begin = begin_row(model.transactions[transaction]) if transaction is not None else ()
    return Facts(
        id=one.id or None,
        producer_id=one.producer_id,
        data=one.data,
        age=Duration(model.age_ms(since)) if since is not None else None,
        last_stable_offset=stands_at,
        log_end=log_extent.log_end,
        high_watermark=_lower_watermark(log_extent),
        records=Count(committed + plain),
        committed=Count(committed) if len(behind) else None,
        transactions=Count(len(behind)),
        plain=Count(plain) if plain else None,
        last_at=Instant(behind["marker_timestamp"].max() if len(behind) else log_extent.newest),
        held=(*one.written, *begin, *one.latest_row),
        examples=tuple(place for row in behind[:2] for place in (data_ref(model, row), marker_ref(model, row))),
    )


def _committed_behind(one: OpenSpan, offset: int) -> Array:
    """Committed spans of the partition at or above an offset."""
    spans = one.model.spans[one.model.spans_of(one.log_extent.partition_code)]
    return spans[(spans["marker_kind"] == 1) & (spans["first_offset"] >= offset)]  # type: ignore[no-any-return]


def _lower_watermark(log_extent: LogExtent) -> int | None:
    return log_extent.high_watermark if 0 <= log_extent.high_watermark < log_extent.log_end else None


def _since(one: OpenSpan) -> int | None:
    """When the holder began: by the coordinator's clock where it is known, else by the data's own."""
    started = known(one.model.transactions["started_at"][one.transaction]) if one.transaction is not None else None
    return started if started is not None else known(one.span["first_timestamp"])


def _verdict(one: OpenSpan) -> Verdict:
    """Proved where no other copy can hold the missing marker, or the coordinator itself says that none was sent."""
    if one.is_disputed or one.log_extent.is_torn or one.is_over_gap:
        return Verdict.possible
    is_only_copy = one.model.facts.brokers <= 1 and one.model.has_all_state_partitions
    return Verdict.proved if is_only_copy or _is_known_undecided(one) else Verdict.likely


def _is_known_undecided(one: OpenSpan) -> bool:
    """Whether the coordinator's rows of its transaction are the last of the id for certain, without a decision."""
    model, transaction = one.model, one.transaction
    if transaction is None or model.transactions["decision"][transaction] >= 0:
        return False
    latest = model.latest_of(int(model.transactions["id_code"][transaction]))
    return bool(latest is not None and latest["transaction_row"] == transaction and model.is_latest_known(latest))


def _severity(one: OpenSpan, age: int) -> Severity:
    """By how long it lasts; at once an error where nobody will end it."""
    if one.transaction is None:
        for_ever = any(isinstance(result, Case) for result in hanging_transaction.judged(one))
        return Severity.error if for_ever else _by_age(age, WORTH_A_WARNING_MS)
    transaction = one.model.transactions[one.transaction]
    if transaction["completion_offset"] >= 0:
        return Severity.error
    if transaction["decision"] >= 0:
        return Severity.error if age > WORTH_A_WARNING_MS else Severity.warning
    timeout = int(one.latest["timeout_ms"]) if one.latest is not None else WORTH_A_WARNING_MS
    return _by_age(age, min(timeout, WORTH_A_WARNING_MS))


def _by_age(age: int, worth_a_warning: int) -> Severity:
    if age > MAX_TRANSACTION_TIMEOUT_MS:
        return Severity.error
    return Severity.warning if age > worth_a_warning else Severity.info


WORDS = Words(
    Facts,
    summary=(
        "read_committed readers of {data.topic}-{data.partition} get nothing from offset {last_stable_offset} on"
        "[, for {age}]: {records:committed record} hidden behind a transaction of ",
        pick("id", {None: "producer id {producer_id}"}, "{id}"),
    ),
    steps=(
        step(
            "producer id {producer_id} wrote @ {data:offsets} in a transaction that has no end in this partition",
            "no marker of this producer follows up to the log end",
            cites="held",
        ),
        step(
            "so the last stable offset stands at {last_stable_offset}; the log ends at {log_end}",
            "it is the first offset of the oldest open transaction",
        ),
        step(
            (
                "behind it lie ",
                pick(
                    "committed",
                    {None: "{plain:record} outside transactions"},
                    "{committed:record} of {transactions:committed transaction}"
                    "[ and {plain:record} outside transactions]",
                ),
                ", the last of {last_at}",
            ),
            "read_committed gives nothing at or above the last stable offset",
            cites="examples",
        ),
    ),
    considered=(
        considered(
            "the high watermark",
            "the checkpoint says {high_watermark}, up to five seconds old; the log end {log_end} is taken instead",
        ),
    ),
    remedies=(
        remedy(
            "end the transaction that holds the offset (see what caused this), or make transactions shorter",
            "operator",
            derived_from="last stable offset {last_stable_offset}, log end {log_end}",
        ),
        remedy(
            "readers that may see what is aborted later can read on at once",
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
    words=(WORDS,),
    depth=6,
    caused_by=(
        ("atomicity_violation", same_subject),
        ("hanging_transaction", same_subject),
        ("stuck_prepare", same_subject),
        ("open_transaction", same_subject),
        ("unstable_transactional_id", same_subject),
    ),
)
