"""What to set, from what was measured: the same facts give the same numbers, rounded up, never above a cap unsaid.

Rounding   client timeouts to half a minute (max.poll.interval.ms to ten seconds), transaction.max.timeout.ms to a
           minute, producer.id.expiration.ms to an hour, transactional.id.expiration.ms to a week.
Order      linger + request <= delivery < transaction timeout <= transaction.max.timeout; request <= max.block;
           delivery <= producer.id.expiration <= transactional.id.expiration; what a proposal breaks of it is said.
Limits     a current value that only a default tells is marked as one; what was cut off (by the timeout itself) ran at
           least that long, hence the factors.
Source     ProducerConfig, TransactionStateManagerConfigs, KIP-91, KIP-98, KIP-447, KIP-588, KIP-854.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.terms.catalogue.frameworks import FLINK, STREAMS
from kafkatx.terms.catalogue.releases import Release, Span
from kafkatx.words.config_context import ConfigContext
from kafkatx.words.proposals import (
    COMMIT_MORE_OFTEN,
    COMMIT_OFTEN,
    FEWER_RECORDS,
    HIGHER_LIMIT,
    KEPT_IDS,
    KEPT_PRODUCERS,
    LARGER_TRANSACTIONS,
    LARGEST_INT,
    LONGER_BLOCK,
    LONGER_DELIVERY,
    LONGER_POLL,
    LONGER_TIMEOUT,
    MAX_TIMEOUT,
    REPLICATION,
    SOONER_CLEANUP,
    STATE_FACTOR,
    WEEK,
    BesideTimeout,
    CommitInterval,
    FewerRecords,
    HigherLimit,
    KeptIds,
    Longer,
    LongerTimeout,
    Margin,
    Measured,
    Proposal,
    Remedies,
    Replicas,
)
from kafkatx.words.values import Duration

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
HALF_A_MINUTE = 30_000
TIMEOUT, COMMIT_INTERVAL = "transaction.timeout.ms", "commit.interval.ms"
POLL_INTERVAL, POLL_RECORDS = "max.poll.interval.ms", "max.poll.records"
BOUNDED_SINCE = "2.3"
"""commitTransaction and abortTransaction wait for max.block.ms at most (KAFKA-7763)."""


def up(value: int, step: int) -> int:
    """The next multiple of `step`, the value itself if it is one."""
    return -(-value // step) * step


def transaction_timeout(
    whom: ConfigContext, need_ms: int, measured: Measured, outage_ms: int = 0, why: Longer | None = None
) -> Remedies:
    """A longer transaction.timeout.ms; where brokers do not allow it their limit as a second step.

    Not for transactions that were fenced or that the client aborted.

    Args:
        whom: whom it is for.
        need_ms: from start to the last activity or commit attempt, of the longest transaction affected.
        measured: where that number comes from.
        outage_ms: the longest time that a broker was down or unreachable meanwhile.
        why: what needs the time, where it is neither the outage nor the work. Of a call that came late no request is
            repeated.
    """
    most = whom.in_force(MAX_TIMEOUT)
    cap = most.number or 0
    is_whole = why is Longer.late_call and not outage_ms
    least, margin = (-(-3 * need_ms // 2), Margin.half) if is_whole else _least_timeout(whom, need_ms, outage_ms)
    wanted = up(least, HALF_A_MINUTE)
    proposed = wanted if need_ms >= cap else min(wanted, cap)
    current = whom.now(TIMEOUT).number or 0
    if proposed <= current:
        return (COMMIT_OFTEN.of(BesideTimeout(whom=whom, name=TIMEOUT, source=measured, timeout=Duration(current))),)
    is_outage = outage_ms > 0 and 2 * outage_ms >= need_ms
    longer = LongerTimeout(
        whom=whom,
        name=TIMEOUT,
        source=measured,
        proposed=proposed,
        why=why or _why(whom, is_outage=is_outage),
        margin=margin,
        outage=Duration(outage_ms) if is_outage or margin is Margin.outage else None,
        limit=up(proposed, MINUTE) if proposed > cap else None,
        held_to=most if proposed < wanted else None,
    )
    return (LONGER_TIMEOUT.of(longer), *max_transaction_timeout(whom, proposed))


def _ends_by_checkpoints(whom: ConfigContext) -> bool:
    """Whether a checkpoint ends each transaction, however long sends may be repeated."""
    return whom.framework is not None and whom.framework.name in FLINK


def _why(whom: ConfigContext, *, is_outage: bool) -> Longer:
    if is_outage:
        return Longer.outage
    return Longer.checkpoints if _ends_by_checkpoints(whom) else Longer.work


def _least_timeout(whom: ConfigContext, need_ms: int, outage_ms: int) -> tuple[int, Margin]:
    """The longest of what it must cover: the need with a margin, an outage twice, all that retries may take.

    Retries count where they had to outlast something or are known, as far as brokers allow that.
    """
    request, delivery = whom.client("request.timeout.ms"), whom.client("delivery.timeout.ms")
    retries = (delivery.number or 0) + (request.number or 0)
    is_known = not _ends_by_checkpoints(whom) and (outage_ms or delivery.is_known)
    counts = is_known and retries <= (whom.in_force(MAX_TIMEOUT).number or 0)
    least = {
        Margin.half: -(-3 * need_ms // 2),
        Margin.requests: need_ms + 2 * (request.number or HALF_A_MINUTE),
        Margin.outage: 2 * outage_ms,
        Margin.retries: retries if counts else 0,
    }
    decisive = max(least, key=lambda margin: least[margin])
    return least[decisive], decisive


def max_transaction_timeout(whom: ConfigContext, asked_ms: int, measured: Measured | None = None) -> Remedies:
    """A higher transaction.max.timeout.ms for a timeout that was asked for; none where brokers allow it already."""
    if asked_ms <= (whom.in_force(MAX_TIMEOUT).number or 0):
        return ()
    proposed = min(up(asked_ms, MINUTE), LARGEST_INT)
    higher = HigherLimit(whom=whom, name=MAX_TIMEOUT, source=measured, proposed=proposed, asked=Duration(asked_ms))
    return (HIGHER_LIMIT.of(higher),)


def delivery_timeout(whom: ConfigContext, outage_ms: int, measured: Measured) -> Remedies:
    """A delivery.timeout.ms that outlasts an outage and ends before the transaction does; none where it does already.

    A producer that is only idempotent has no transaction to stay below.
    """
    name = "delivery.timeout.ms"
    sending = (whom.client("request.timeout.ms").number or 0) + (whom.client("linger.ms").number or 0)
    proposed = max(up(outage_ms + sending, HALF_A_MINUTE), sending)
    if proposed <= (whom.client(name).number or 0):
        return ()
    timeout = whom.now(TIMEOUT).number or 0
    longer = transaction_timeout(whom, outage_ms, measured, outage_ms) if 0 < timeout <= proposed else ()
    return (LONGER_DELIVERY.of(Proposal(whom=whom, name=name, source=measured, proposed=proposed)), *longer)


def max_block(whom: ConfigContext, waited_ms: int, measured: Measured) -> Remedies:
    """A max.block.ms that outlasts a coordinator's failover; none for clients before 2.3, whose commit never gives up.

    `waited_ms` is how long the coordinator stayed away.
    """
    name = "max.block.ms"
    proposed = up(-(-3 * waited_ms // 2), HALF_A_MINUTE)
    too_old = bool(whom.release) and not Span(BOUNDED_SINCE).holds(Release(whom.release))
    if too_old or proposed <= (whom.client(name).number or 0):
        return ()
    return (LONGER_BLOCK.of(Proposal(whom=whom, name=name, source=measured, proposed=proposed)),)


def id_expiration(whom: ConfigContext, gap_ms: int, measured: Measured, is_default: bool = True) -> Remedies:
    """A transactional.id.expiration.ms above the longest time that an id which came back was idle, in whole weeks.

    `is_default`: where nobody says what is set, the default may be taken for it; not where an id expired sooner.
    """
    name = "transactional.id.expiration.ms"
    assumed = is_default or whom.in_force(name).is_known
    proposed = min((gap_ms // WEEK + 1) * WEEK, LARGEST_INT)
    if assumed and gap_ms < proposed <= (whom.now(name).number or 0):
        return ()
    fitting = proposed if proposed > gap_ms else None
    return (KEPT_IDS.of(KeptIds(whom=whom, name=name, source=measured, proposed=fitting, is_assumed=assumed)),)


def producer_expiration(whom: ConfigContext, least_ms: int, measured: Measured) -> Remedies:
    """A producer.id.expiration.ms of at least so much.

    Before 3.4 brokers have no such setting: transactional.id.expiration.ms does it there.
    """
    name = "producer.id.expiration.ms"
    if whom.settings.release and not Span("3.4").holds(Release(whom.settings.release)):
        return id_expiration(whom, least_ms, measured)
    proposed = min(up(max(least_ms, whom.client("delivery.timeout.ms").number or 0), HOUR), LARGEST_INT)
    if proposed <= (whom.in_force(name).number or 0):
        return ()
    return (KEPT_PRODUCERS.of(Proposal(whom=whom, name=name, source=measured, proposed=proposed)),)


def cleanup_interval(whom: ConfigContext, timeouts_ms: Iterable[int], measured: Measured) -> Remedies:
    """A shorter look for timed out transactions where timeouts are short; none where all are 30 s or more."""
    name = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    shortest = min(timeouts_ms, default=HALF_A_MINUTE)
    proposed = max(SECOND, -(-shortest // 3))
    if shortest >= HALF_A_MINUTE or proposed >= (whom.in_force(name).number or 0):
        return ()
    return (SOONER_CLEANUP.of(Proposal(whom=whom, name=name, source=measured, proposed=proposed)),)


def max_poll(whom: ConfigContext, gap_ms: int, measured: Measured, records: int | None = None) -> Remedies:
    """Room for the longest time between two polls: more time, or fewer records a poll. Not against producer fencing.

    `records` are those of the longest poll; None: unknown, then max.poll.records stands for them.
    """
    interval, count = whom.in_force(POLL_INTERVAL), records or whom.in_force(POLL_RECORDS).number or 0
    needed, limit = -(-3 * gap_ms // 2), interval.number or 0
    if needed <= limit and gap_ms < limit:
        return ()
    proposed = up(needed, 10 * SECOND)
    longer = LONGER_POLL.of(Proposal(whom=whom, name=POLL_INTERVAL, source=measured, proposed=proposed))
    fewer = count * limit * 2 // (3 * gap_ms) if gap_ms else 0
    if fewer < 1:
        return (longer,)
    smaller = FewerRecords(
        whom=whom, name=POLL_RECORDS, source=measured, proposed=fewer, records=count, interval=interval
    )
    return (longer, FEWER_RECORDS.of(smaller))


def commit_interval(
    whom: ConfigContext, work_ms: int, timeout_ms: int, measured: Measured, current_ms: int | None = None
) -> Remedies:
    """Shorter transactions: at most a third of the timeout each. `work_ms` is what one takes (the 95th percentile)."""
    third = max(timeout_ms // 3, 1)
    if work_ms <= third:
        return ()
    is_set = whom.framework is not None and whom.framework.name in STREAMS | FLINK
    shorter = CommitInterval(
        whom=whom,
        name=COMMIT_INTERVAL,
        source=measured,
        proposed=third,
        is_set=is_set,
        current=current_ms,
        timeout=Duration(timeout_ms),
    )
    return (COMMIT_MORE_OFTEN.of(shorter),)


def larger_transactions(whom: ConfigContext, interval_ms: int | None, measured: Measured) -> Remedies:
    """Fewer transactions where the coordinator can't keep up: the interval doubled until markers take a tenth of it."""
    larger = CommitInterval(
        whom=whom,
        name=COMMIT_INTERVAL,
        source=measured,
        proposed=None if interval_ms is None else 2 * interval_ms,
        is_set=interval_ms is not None,
        current=interval_ms,
        timeout=None,
    )
    return (LARGER_TRANSACTIONS.of(larger),)


def state_log_replication(whom: ConfigContext, brokers: int, measured: Measured) -> Remedies:
    """Three replicas of `__transaction_state`, two of them in sync; none where there are fewer than three brokers."""
    if brokers < 3:
        return ()
    return tuple(
        REPLICATION.of(Replicas(whom=whom, name=name, source=measured, proposed=value, brokers=brokers))
        for name, value in (("transaction.state.log.min.isr", 2), (STATE_FACTOR, 3))
        if whom.in_force(name).number != value
    )
