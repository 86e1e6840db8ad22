"""What to set, from what was measured: the same facts give the same numbers, rounded up, never above a cap unsaid.

Rounding   client timeouts to half a minute (max.poll.interval.ms to ten seconds), transaction.max.timeout.ms to a
           minute, producer.id.expiration.ms to an hour, transactional.id.expiration.ms to a week.
Order      linger + request <= delivery < transaction timeout <= transaction.max.timeout; request <= max.block;
           delivery <= producer.id.expiration <= transactional.id.expiration; each proposal says whether it holds.
Limits     a current value that only a default tells is marked `default?`; what was cut off (by the timeout itself) ran
           at least that long, hence the factors.
Source     ProducerConfig, TransactionStateManagerConfigs, KIP-91, KIP-98, KIP-447, KIP-588, KIP-854.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.terms.catalogue.frameworks import FLINK, STREAMS
from kafkatx.terms.catalogue.releases import Release, Span
from kafkatx.terms.times import duration
from kafkatx.words.advised import Advised, ordering
from kafkatx.words.explained import Remedy

SECOND, MINUTE, HOUR, WEEK = 1_000, 60_000, 3_600_000, 604_800_000
HALF_A_MINUTE = 30_000
LARGEST_INT = 2_147_483_647
"""transactional.id.expiration.ms and others are ints: 24.8 days."""
BOUNDED_SINCE = "2.3"
"""commitTransaction and abortTransaction wait for max.block.ms at most (KAFKA-7763)."""
COST_OF_TIMEOUT = "read_committed readers of its partitions may wait that long for a producer that died"
KEEP_IDS = (
    "let the expiration be longer than the longest idle time of an id that is used again, or make the producer anew "
    "before that time"
)
HEARTBEAT = (
    "make the producer anew before its id expires, or let it run a transaction now and then: no expiration can be set "
    "that covers such an idle time"
)
SHORTER = "or commit more often"


def up(value: int, step: int) -> int:
    """The next multiple of `step`, the value itself if it is one."""
    return -(-value // step) * step


def transaction_timeout(advised: Advised, need_ms: int, measured: str, outage_ms: int = 0) -> tuple[Remedy, ...]:
    """A longer transaction.timeout.ms; where brokers do not allow it their limit as a second step.

    Not for transactions that were fenced or that the client aborted.

    Args:
        advised: whom it is for.
        need_ms: from start to the last activity or commit attempt, of the longest transaction affected.
        measured: where that number comes from, in words.
        outage_ms: the longest time that a broker was down or unreachable meanwhile.
    """
    name = "transaction.timeout.ms"
    now, most = advised.client(name), advised.broker("transaction.max.timeout.ms")
    cap, current = most.number or 0, advised.number(name, now)
    wanted = up(max(_least_timeout(advised, need_ms, outage_ms), 2 * outage_ms), HALF_A_MINUTE)
    proposed = wanted if need_ms >= cap else min(wanted, cap)
    raised = _max_transaction_timeout(advised, proposed) if proposed > cap else ()
    if proposed <= current:
        return (_shorter(advised, current, measured),)
    held = f", held to transaction.max.timeout.ms {most}" if proposed < wanted else ""
    outage = f"; outage {duration(outage_ms)}" if outage_ms else ""
    remedy = Remedy(
        text="find out what held the producer up; if the work really takes that long, raise the timeout, "
        f"{SHORTER}{advised.words}",
        where="client",
        config=advised.called(name),
        current=advised.now(name, now),
        proposed=str(proposed),
        derived_from=f"{measured}{outage}; {_timeout_rule(outage_ms)}, up to the next half minute{held}; "
        f"{ordering(advised, {name: proposed, **_allowed(proposed, cap)})}",
        cost=COST_OF_TIMEOUT,
        restart_needed=True,
    )
    return (remedy, *raised)


def _least_timeout(advised: Advised, need_ms: int, outage_ms: int) -> int:
    """1.5 times the need, or two requests more; where retries had to outlast something, all that they may take."""
    request, delivery = advised.client("request.timeout.ms"), advised.client("delivery.timeout.ms")
    need = max(-(-3 * need_ms // 2), need_ms + 2 * (request.number or HALF_A_MINUTE))
    retries = (delivery.number or 0) + (request.number or 0)
    counts = (outage_ms or delivery.is_known) and retries <= (advised.broker("transaction.max.timeout.ms").number or 0)
    return max(need, retries) if counts else need


def _allowed(proposed: int, cap: int) -> dict[str, int]:
    """What brokers must allow, if it is more than now."""
    return {"transaction.max.timeout.ms": up(proposed, MINUTE)} if proposed > cap else {}


def _timeout_rule(outage_ms: int) -> str:
    rule = "1.5 times that or two request timeouts more"
    return f"{rule}, twice the outage, delivery.timeout.ms + request.timeout.ms" if outage_ms else rule


def _shorter(advised: Advised, current: int, measured: str) -> Remedy:
    return Remedy(
        text=f"find out what held the producer up, and commit more often: its timeout is long enough{advised.words}",
        where="application",
        config=advised.called("transaction.timeout.ms"),
        current=str(current),
        derived_from=f"{measured}; {ordering(advised, {})}",
    )


def max_transaction_timeout(advised: Advised, asked_ms: int, measured: str) -> tuple[Remedy, ...]:
    """A higher transaction.max.timeout.ms for a timeout that was asked for; none where brokers allow it already."""
    cap = advised.broker("transaction.max.timeout.ms").number or 0
    return _max_transaction_timeout(advised, asked_ms, measured) if asked_ms > cap else ()


def _max_transaction_timeout(advised: Advised, asked_ms: int, measured: str = "") -> tuple[Remedy, ...]:
    most = advised.broker("transaction.max.timeout.ms")
    proposed = min(up(asked_ms, MINUTE), LARGEST_INT)
    return (
        Remedy(
            text="before that, let brokers accept such a timeout",
            where="broker",
            config="transaction.max.timeout.ms",
            current=str(most),
            proposed=str(proposed),
            derived_from=f"{measured or f'the timeout proposed, {asked_ms}'}, up to the next minute",
            cost=f"{COST_OF_TIMEOUT}; brokers count a transaction as late only 5 min after that",
            restart_needed=True,
        ),
    )


def delivery_timeout(advised: Advised, outage_ms: int, measured: str) -> tuple[Remedy, ...]:
    """A delivery.timeout.ms that outlasts an outage and ends before the transaction does; none where it does already.

    A producer that is only idempotent has no transaction to stay below.
    """
    name = "delivery.timeout.ms"
    now, limit = advised.client(name), advised.client("transaction.timeout.ms")
    request, linger = advised.client("request.timeout.ms").number or 0, advised.client("linger.ms").number or 0
    proposed = max(up(outage_ms + request + linger, HALF_A_MINUTE), request + linger)
    if proposed <= (now.number or 0):
        return ()
    timeout = advised.number("transaction.timeout.ms", limit)
    longer = transaction_timeout(advised, outage_ms, measured, outage_ms) if 0 < timeout <= proposed else ()
    remedy = Remedy(
        text=f"let sends outlast the outage{advised.words}",
        where="client",
        config=advised.called(name),
        current=str(now),
        proposed=str(proposed),
        derived_from=f"{measured}; outage + request.timeout.ms + linger.ms, up to the next half minute; "
        f"{ordering(advised, {name: proposed})}",
        cost="a send that can't succeed is told that much later",
        restart_needed=True,
    )
    return (remedy, *longer)


def max_block(advised: Advised, waited_ms: int, measured: str) -> tuple[Remedy, ...]:
    """A max.block.ms that outlasts a coordinator's failover; none for clients before 2.3, whose commit never gives up.

    `waited_ms` is how long the coordinator stayed away.
    """
    name = "max.block.ms"
    now = advised.client(name)
    proposed = up(-(-3 * waited_ms // 2), HALF_A_MINUTE)
    too_old = bool(advised.release) and not Span(BOUNDED_SINCE).holds(Release(advised.release))
    if too_old or proposed <= (now.number or 0):
        return ()
    return (
        Remedy(
            text=f"let commit and init wait until the coordinator is back{advised.words}",
            where="client",
            config=advised.called(name),
            current=str(now),
            proposed=str(proposed),
            derived_from=f"{measured}; 1.5 times that, up to the next half minute; "
            f"{ordering(advised, {name: proposed})}",
            cost="the calling thread blocks that long",
            restart_needed=True,
        ),
    )


def id_expiration(advised: Advised, gap_ms: int, measured: str, is_default: bool = True) -> tuple[Remedy, ...]:
    """A transactional.id.expiration.ms above the longest time that an id which came back was idle, in whole weeks.

    `is_default`: where nobody says what is set, the default may be taken for it; not where an id expired sooner.
    """
    name = "transactional.id.expiration.ms"
    now = advised.broker(name)
    assumed = is_default or now.is_known
    proposed = min((gap_ms // WEEK + 1) * WEEK, LARGEST_INT)
    if assumed and gap_ms < proposed <= advised.number(name, now):
        return ()
    fits = proposed > gap_ms
    return (
        Remedy(
            text=KEEP_IDS if fits else HEARTBEAT,
            where="broker",
            config=name,
            current=advised.now(name, now) if assumed else None,
            proposed=str(proposed) if fits else None,
            derived_from=f"{measured}; whole weeks above that, at most {LARGEST_INT} ({duration(LARGEST_INT)}); the "
            "default is 7 days",
            cost="the coordinator keeps more ids in memory; where one-shot ids are many, make a heartbeat transaction "
            "instead",
            restart_needed=True,
        ),
    )


def producer_expiration(advised: Advised, gap_ms: int, measured: str) -> tuple[Remedy, ...]:
    """A producer.id.expiration.ms above the longest silence of a producer id that came back with an error.

    Before 3.4 brokers have no such setting: transactional.id.expiration.ms does it there.
    """
    name = "producer.id.expiration.ms"
    now = advised.broker(name)
    if advised.settings.release and not Span("3.4").holds(Release(advised.settings.release)):
        return id_expiration(advised, gap_ms, measured)
    delivery = advised.client("delivery.timeout.ms").number or 0
    proposed = up(max(2 * gap_ms, delivery), HOUR)
    if proposed <= (now.number or 0):
        return ()
    return (
        Remedy(
            text="let partitions remember an idle producer longer than its longest silence",
            where="broker",
            config=name,
            current=str(now),
            proposed=str(min(proposed, LARGEST_INT)),
            derived_from=f"{measured}; twice that, up to the next hour; {ordering(advised, {name: proposed})}",
            cost="brokers keep more producer ids in memory",
            restart_needed=False,
        ),
    )


def cleanup_interval(advised: Advised, timeouts_ms: Iterable[int], measured: str) -> tuple[Remedy, ...]:
    """A shorter look for timed out transactions where timeouts are short; none where all are 30 s or more."""
    name = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
    now, shortest = advised.broker(name), min(timeouts_ms, default=HALF_A_MINUTE)
    proposed = max(SECOND, -(-shortest // 3))
    if shortest >= HALF_A_MINUTE or proposed >= (now.number or 0):
        return ()
    return (
        Remedy(
            text="let the coordinator look for timed out transactions more often",
            where="broker",
            config=name,
            current=str(now),
            proposed=str(proposed),
            derived_from=f"{measured}; a third of the shortest timeout in use ({shortest} ms), at least a second",
            cost="work of the coordinator's scheduler",
            restart_needed=True,
        ),
    )


def max_poll(advised: Advised, gap_ms: int, measured: str, records: int | None = None) -> tuple[Remedy, ...]:
    """Room for the longest time between two polls: more time, or fewer records a poll. Not against producer fencing.

    `records` are those of the longest poll; None: unknown, then max.poll.records stands for them.
    """
    interval, most = advised.consumer("max.poll.interval.ms"), advised.consumer("max.poll.records")
    needed = -(-3 * gap_ms // 2)
    if needed <= (interval.number or 0) and gap_ms < (interval.number or 0):
        return ()
    longer = Remedy(
        text=f"allow as much time between two polls as the work takes{advised.words}",
        where="client",
        config=advised.called("max.poll.interval.ms"),
        current=str(interval),
        proposed=str(up(needed, 10 * SECOND)),
        derived_from=f"{measured}; 1.5 times that, up to the next ten seconds",
        cost="the group notices a consumer that hangs that much later",
        restart_needed=True,
    )
    count = records or most.number or 0
    fewer = count * (interval.number or 0) * 2 // (3 * gap_ms) if gap_ms else 0
    if fewer < 1:
        return (longer,)
    return (
        longer,
        Remedy(
            text="or take fewer records a poll",
            where="client",
            config=advised.called("max.poll.records"),
            current=str(most),
            proposed=str(fewer),
            derived_from=f"{measured} for {count} records; what fits 1.5 times into max.poll.interval.ms {interval}",
            cost="more and smaller transactions",
            restart_needed=True,
        ),
    )


def commit_interval(
    advised: Advised, work_ms: int, timeout_ms: int, measured: str, current_ms: int | None = None
) -> tuple[Remedy, ...]:
    """Shorter transactions: at most a third of the timeout each. `work_ms` is what one takes (the 95th percentile)."""
    third = max(timeout_ms // 3, 1)
    if work_ms <= third:
        return ()
    streams = advised.framework is not None and advised.framework.name in STREAMS | FLINK
    return (
        Remedy(
            text=f"commit more often{advised.words}",
            where="application",
            config=advised.called("commit.interval.ms") if streams else None,
            current=None if current_ms is None else str(current_ms),
            proposed=str(third) if streams else f"every n records: n = records a second x {third / 1000:g}",
            derived_from=f"{measured}; a third of transaction.timeout.ms {timeout_ms}",
            cost="more transactions, more markers; read_committed readers get data sooner",
            restart_needed=True,
        ),
    )


def larger_transactions(advised: Advised, interval_ms: int | None, measured: str) -> tuple[Remedy, ...]:
    """Fewer transactions where the coordinator can't keep up: the interval doubled until markers take a tenth of it."""
    return (
        Remedy(
            text="make fewer and larger transactions until writing the markers takes less than a tenth of the interval"
            f"{advised.words}",
            where="application",
            config=advised.called("commit.interval.ms") if interval_ms is not None else None,
            current=None if interval_ms is None else str(interval_ms),
            proposed=None if interval_ms is None else str(2 * interval_ms),
            derived_from=measured,
            cost="read_committed readers get data that much later",
            restart_needed=True,
        ),
    )


def state_log_replication(advised: Advised, brokers: int, measured: str) -> tuple[Remedy, ...]:
    """Three replicas of `__transaction_state`, two of them in sync; none where there are fewer than three brokers."""
    if brokers < 3:
        return ()
    wanted = (("transaction.state.log.min.isr", 2), ("transaction.state.log.replication.factor", 3))
    return tuple(
        Remedy(
            text="keep __transaction_state through the loss of one broker",
            where="broker",
            config=name,
            current=str(now),
            proposed=str(value),
            derived_from=f"{measured}; {brokers} brokers",
            cost="the setting counts when the topic is created: an existing one needs a reassignment of its partitions"
            if name.endswith("factor")
            else "with two of three replicas gone no transaction begins or ends",
            restart_needed=True,
        )
        for name, value in wanted
        if (now := advised.broker(name)).number != value
    )
