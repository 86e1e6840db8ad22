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

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OPEN, OVER_GAP
from kafkatx.rules import hanging_transaction
from kafkatx.rules.finding import Finding
from kafkatx.terms.clocks import MAX_TRANSACTION_TIMEOUT_MS
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.places import begin_row, data_place, latest_row, marker_place, offsets, plural, time_or_none

RULE = "read_committed_blocked"
WORTH_A_WARNING_MS = 60_000


def check(story: Story) -> Iterator[Finding]:
    """One finding for each partition whose last stable offset hides committed records."""
    held = story.spans[(story.spans["flags"] & OPEN) != 0]
    for code in np.unique(held["partition_code"]):
        horizon = story.horizons[int(code)]
        if horizon.topic in INTERNAL:
            continue  # offsets that wait are told by group, not by partition
        of_partition = story.spans_of(int(code))
        of_partition = of_partition[(story.spans["flags"][of_partition] & OPEN) != 0]
        holder = int(of_partition[np.argmin(story.spans["first_offset"][of_partition])])
        blocked = _Blocked(story, horizon, holder)
        if blocked.records:
            yield _finding(story, horizon, holder, blocked)


class _Blocked:
    """What lies behind the last stable offset."""

    def __init__(self, story: Story, horizon: Horizon, holder: int) -> None:
        span = story.spans[holder]
        self.last_stable_offset = max(int(span["first_offset"]), horizon.log_start)
        all_spans = story.spans[story.spans_of(horizon.partition_code)]
        self.spans = all_spans[(all_spans["marker_kind"] == 1) & (all_spans["first_offset"] >= self.last_stable_offset)]
        self.plain_records = max(0, horizon.plain_records - int(span["plain_records_before"]))
        self.records = int(self.spans["records"].sum()) + self.plain_records


def _finding(story: Story, horizon: Horizon, holder: int, blocked: _Blocked) -> Finding:
    span, owner = story.spans[holder], int(story.parts.owner[holder])
    code = story.owner_of_producer(int(span["producer_id"]))
    name = story.transactional_id(code) if code >= 0 else None
    since = _since(story, span, owner)
    age = story.age_ms(since) if since is not None else 0
    long = f", for {duration(age)}" if since is not None else ""
    verdict, severity = _verdict(story, span, owner, horizon), _severity(story, holder, owner, code, age)
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=min(severity, Severity.warning) if verdict is Verdict.possible else severity,
        summary=f"read_committed readers of {horizon.topic}-{horizon.partition} get nothing from offset "
        f"{blocked.last_stable_offset} on{long}: {plural(blocked.records, 'committed record')} hidden "
        f"behind a transaction of {name or 'producer id ' + str(int(span['producer_id']))}",
        transactional_id=name,
        producer_id=int(span["producer_id"]),
        producer_epoch=int(span["producer_epoch"]),
        topic=horizon.topic,
        partition=horizon.partition,
        first_offset=int(span["first_offset"]),
        last_offset=horizon.log_end - 1,
        since=since,
        until=time_or_none(story.facts.evidence_end),
        steps=_steps(story, horizon, span, owner, code, blocked),
        considered=_considered(horizon),
        remedies=(
            Remedy(
                "end the transaction that holds the offset (see what caused this), or make transactions shorter",
                "operator",
                derived_from=f"last stable offset {blocked.last_stable_offset}, log end {horizon.log_end}",
            ),
            Remedy(
                "readers that may see what is aborted later can read on at once",
                "client",
                "isolation.level",
                "read_committed",
                "read_uncommitted",
                cost="they read records of transactions that may be aborted",
            ),
        ),
    )


def _since(story: Story, span: Array, owner: int) -> int | None:
    """When the holder began: by the coordinator's clock where it is known, else by the data's own."""
    if owner >= 0 and story.transactions["started_at"][owner] >= 0:
        return int(story.transactions["started_at"][owner])
    return int(span["first_timestamp"]) if span["first_timestamp"] >= 0 else None


def _verdict(story: Story, span: Array, owner: int, horizon: Horizon) -> Verdict:
    """Proved where no other copy can hold the missing marker, or the coordinator itself says that none was sent."""
    if owner == -2 or horizon.is_torn or (span["flags"] & OVER_GAP and horizon.has_gaps):
        return Verdict.possible
    undecided = owner >= 0 and story.transactions["decision"][owner] < 0 and _is_known_to_last(story, owner)
    if undecided or (story.facts.brokers <= 1 and story.has_all_state_partitions):
        return Verdict.proved
    return Verdict.likely


def _is_known_to_last(story: Story, owner: int) -> bool:
    """Whether the coordinator's rows of a transaction are the last of its id for certain."""
    latest = story.latest_of(int(story.transactions["id_code"][owner]))
    return latest is not None and latest["transaction_row"] == owner and story.is_latest_known(latest)


def _severity(story: Story, holder: int, owner: int, code: int, age: int) -> Severity:
    """By how long it lasts; at once an error where nobody will end it."""
    if owner < 0:
        for_ever = any(isinstance(result, Finding) for result in hanging_transaction.judged(story, holder))
        return Severity.error if for_ever else _by_age(age, WORTH_A_WARNING_MS)
    transaction = story.transactions[owner]
    if transaction["completion_offset"] >= 0:
        return Severity.error
    if transaction["decision"] >= 0:
        return Severity.error if age > WORTH_A_WARNING_MS else Severity.warning
    latest = story.latest_of(code) if code >= 0 else None
    timeout = int(latest["timeout_ms"]) if latest is not None else WORTH_A_WARNING_MS
    return _by_age(age, min(timeout, WORTH_A_WARNING_MS))


def _by_age(age: int, worth_a_warning: int) -> Severity:
    if age > MAX_TRANSACTION_TIMEOUT_MS:
        return Severity.error
    return Severity.warning if age > worth_a_warning else Severity.info


def _steps(story: Story, horizon: Horizon, span: Array, owner: int, code: int, blocked: _Blocked) -> tuple[Step, ...]:
    rows = begin_row(story.transactions[owner]) if owner >= 0 else []
    latest = story.latest_of(code) if code >= 0 else None
    held = Step(
        f"producer id {int(span['producer_id'])} wrote @ {offsets(span)} in a transaction that has no "
        "end in this partition",
        "no marker of this producer follows up to the log end",
        (data_place(story, span), *rows, *((latest_row(latest),) if latest is not None else ())),
    )
    stands = Step(
        f"so the last stable offset stands at {blocked.last_stable_offset}; the log ends at {horizon.log_end}",
        "it is the first offset of the oldest open transaction",
    )
    what = (
        [
            plural(int(blocked.spans["records"].sum()), "record")
            + f" of {plural(len(blocked.spans), 'committed transaction')}"
        ]
        if len(blocked.spans)
        else []
    )
    what += [plural(blocked.plain_records, "record") + " outside transactions"] if blocked.plain_records else []
    examples = tuple(place for row in blocked.spans[:2] for place in (data_place(story, row), marker_place(story, row)))
    last = clock(int(blocked.spans["marker_timestamp"].max())) if len(blocked.spans) else clock(horizon.newest)
    hidden = Step(
        f"behind it lie {' and '.join(what)}, the last of {last}",
        "read_committed gives nothing at or above the last stable offset",
        examples,
    )
    return (held, stands, hidden)


def _considered(horizon: Horizon) -> tuple[Considered, ...]:
    if horizon.high_watermark < 0 or horizon.high_watermark >= horizon.log_end:
        return ()
    why = (
        f"the checkpoint says {horizon.high_watermark}, up to five seconds old; the log end "
        f"{horizon.log_end} is taken instead"
    )
    return (Considered("the high watermark", why),)
