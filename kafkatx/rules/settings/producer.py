"""What can be wrong with a producer's settings: among each other, against the brokers', against what happened."""

from __future__ import annotations

from collections.abc import Callable

from kafkatx.histories.logs.settings import Effective
from kafkatx.rules.settings.cases import Case, retries_at_abort
from kafkatx.rules.settings.checks import Check, above, proposal
from kafkatx.terms.catalogue.frameworks import STREAMS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity
from kafkatx.words import remedies
from kafkatx.words.explained import Place, Remedy
from kafkatx.words.places import begin_row, decision_row

TIMEOUT, MAX_TIMEOUT = "transaction.timeout.ms", "transaction.max.timeout.ms"
DELIVERY, REQUEST, LINGER, BLOCK = "delivery.timeout.ms", "request.timeout.ms", "linger.ms", "max.block.ms"
INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
PRODUCER_EXPIRATION = "producer.id.expiration.ms"
TWO_PHASE = "transaction.two.phase.commit.enable"
COMMIT_INTERVAL, MESSAGE = "commit.interval.ms", "message.timeout.ms"
FOREVER = 2_147_483_647
SLOW_ABORT = 1.5


def _is_above_limit(case: Case) -> bool:
    """Above what brokers allow, and never accepted: a producer that runs was not refused."""
    return above(TIMEOUT, MAX_TIMEOUT)(case) and (not case.has_run or bool(_refusals(case)))


def _is_refused_only(case: Case) -> bool:
    """Refused for its timeout, though the settings at hand don't show why."""
    return not _is_above_limit(case) and bool(_refusals(case))


def _refusals(case: Case) -> list[int]:
    logs = case.story.logs
    refused = [
        row
        for row in logs.of_kind(EventKind.init_refused).tolist()
        if logs.string(row, "transactional_id") == case.transactional_id
        and logs.error(row) is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    ]
    return [*case.failures(ErrorCode.INVALID_TRANSACTION_TIMEOUT), *refused]


def _refused(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    rows = _refusals(case)
    return ("initTransactions was refused with INVALID_TRANSACTION_TIMEOUT", case.cited(rows)) if rows else None


def _fit_timeout(case: Case) -> tuple[Remedy, ...]:
    asked = case.number(TIMEOUT) or 0
    lower = proposal(TIMEOUT, lambda one: one.number(MAX_TIMEOUT) or 0, "ask for no more than brokers allow", "")
    measured = f"{case.name} asks for {duration(asked)}"
    return (*lower(case), *remedies.max_transaction_timeout(case.advised, asked, measured))


def _config_exception(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    rows = case.failures(ErrorCode.CONFIG)
    return ("the client refused its configuration", case.cited(rows)) if rows else None


def _is_below_sending(case: Case) -> bool:
    delivery, request = case.number(DELIVERY), case.number(REQUEST)
    if delivery is None or request is None or case.has_run:
        return False
    return delivery < request + (case.number(LINGER) or 0)


def _sending(case: Case) -> int:
    return (case.number(LINGER) or 0) + (case.number(REQUEST) or 0)


def _refuses_idempotence(name: str) -> Check:
    """One override that a transactional producer refuses; old clients print defaults that they replace afterwards."""

    def is_refused(case: Case) -> bool:
        effective = case.get(name)
        return not case.has_run and effective.is_chosen and _IDEMPOTENCE[name](effective)

    def remove(case: Case) -> tuple[Remedy, ...]:
        called, now = case.advised.called(name), str(case.get(name))
        return (Remedy("remove this override", "client", called, now, restart_needed=True),)

    return Check(
        f"transactional beside {name}",
        (name,),
        is_refused,
        "a transactional.id beside {0}",
        "a transactional producer needs idempotence, acks=all, retries and at most 5 requests in flight",
        Severity.error,
        effect=_config_exception,
        remedies=remove,
    )


_IDEMPOTENCE: dict[str, Callable[[Effective], bool]] = {
    "enable.idempotence": lambda effective: effective.value == "false",
    "acks": lambda effective: effective.value != "all",
    "retries": lambda effective: effective.number == 0,
    "max.in.flight.requests.per.connection": lambda effective: (effective.number or 0) > 5,
}


def _outlives(case: Case) -> bool:
    """Whether sends may go on when the transaction's time is over."""
    if case.advised.ends_with_transaction:
        return above(DELIVERY, TIMEOUT)(case)
    return not above(TIMEOUT, DELIVERY)(case) and bool(case.number(DELIVERY))


def _retried_until_abort(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    rows = retries_at_abort(case)
    if not rows:
        return None
    t = case.story.transactions
    places = [place for row in case.timed_out[:1] for place in (*begin_row(t[row]), *decision_row(t[row]))]
    return "its transaction timed out while sends were still being repeated", (*places, *case.cited(rows))


def _raise_timeout(case: Case) -> tuple[Remedy, ...]:
    """From the longest transaction measured, else from what retries may take."""
    longest = max((int(case.story.ends.duration_ms[row]) for row in case.rows), default=0)
    need = max(longest, (case.number(DELIVERY) or 0) + _sending(case))
    measured = f"the longest transaction ran {duration(longest)}" if longest else "retries may take that long"
    found = remedies.transaction_timeout(case.advised, need, measured)
    return tuple(remedy for remedy in found if remedy.proposed)


def _aborted_late(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    """A transaction that was aborted much later than its timeout, since the coordinator looks only now and then."""
    t, endings = case.story.transactions, case.story.ends
    late = [row for row in case.timed_out if endings.duration_ms[row] > SLOW_ABORT * max(int(t["timeout_ms"][row]), 1)]
    if not late:
        return None
    took = duration(int(endings.duration_ms[late[0]]))
    return f"its transaction was aborted {took} after its start", (*begin_row(t[late[0]]), *decision_row(t[late[0]]))


def _faster_cleanup(case: Case) -> tuple[Remedy, ...]:
    timeout = case.number(TIMEOUT) or 0
    return remedies.cleanup_interval(case.advised, [timeout], f"{TIMEOUT} is {duration(timeout)}")


def _gave_up(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    rows = case.events(EventKind.await_timeout)
    return ("a call gave up waiting", case.cited(rows)) if rows else None


def _streams_interval(case: Case) -> bool:
    framework, interval, timeout = case.advised.framework, case.number(COMMIT_INTERVAL), case.number(TIMEOUT)
    if framework is None or framework.name not in STREAMS or interval is None or timeout is None:
        return False
    return interval >= timeout


def _fit_interval(case: Case) -> tuple[Remedy, ...]:
    interval, timeout = case.number(COMMIT_INTERVAL) or 0, case.number(TIMEOUT) or 0
    measured = f"{COMMIT_INTERVAL} is {interval}"
    shorter = remedies.commit_interval(case.advised, interval, timeout, measured, interval)
    return (*shorter, *remedies.transaction_timeout(case.advised, 3 * interval, measured))


PRODUCER_CHECKS = (
    Check(
        "timeout above the brokers' limit",
        (TIMEOUT, MAX_TIMEOUT),
        _is_above_limit,
        "{0} is above {1}",
        "brokers refuse such a producer with INVALID_TRANSACTION_TIMEOUT",
        Severity.error,
        effect=_refused,
        remedies=_fit_timeout,
        untouched=Severity.error,
        effect_proves=True,
    ),
    Check(
        "timeout refused",
        (),
        _is_refused_only,
        "transaction.timeout.ms is above the brokers' transaction.max.timeout.ms",
        "brokers refuse such a producer with INVALID_TRANSACTION_TIMEOUT",
        Severity.error,
        effect=_refused,
        remedies=lambda case: (
            Remedy(
                "ask for no more than transaction.max.timeout.ms, or raise that",
                "client",
                case.advised.called(TIMEOUT),
                str(case.get(TIMEOUT)),
            ),
        ),
        needs_effect=True,
        untouched=Severity.error,
        effect_proves=True,
    ),
    Check(
        "delivery shorter than sending",
        (DELIVERY, REQUEST, LINGER),
        _is_below_sending,
        "{0} is below {2} + {1}",
        "the client refuses that with a ConfigException where it was set, else it raises it and warns",
        Severity.warning,
        effect=_config_exception,
        remedies=proposal(DELIVERY, _sending, "let one attempt fit into the time of delivery", ""),
    ),
    *map(_refuses_idempotence, _IDEMPOTENCE),
    Check(
        "retries outlive the transaction",
        (DELIVERY, TIMEOUT),
        _outlives,
        "{0} is not below {1}",
        "the coordinator gives the transaction up while the client still repeats its sends",
        Severity.warning,
        Severity.warning,
        effect=_retried_until_abort,
        remedies=_raise_timeout,
        needs_effect=True,
    ),
    Check(
        "retries outlive the partitions' memory",
        (DELIVERY, PRODUCER_EXPIRATION),
        above(DELIVERY, PRODUCER_EXPIRATION),
        "{0} is above {1}",
        "a partition may forget the producer while it still repeats a batch",
        Severity.warning,
        Severity.warning,
        remedies=lambda case: remedies.producer_expiration(
            case.advised, (case.number(DELIVERY) or 0) // 2, f"{DELIVERY} is {case.get(DELIVERY)}"
        ),
    ),
    Check(
        "messages outlive the transaction",
        (MESSAGE, TIMEOUT),
        lambda case: case.get(MESSAGE).is_chosen and above(MESSAGE, TIMEOUT)(case),
        "{0} is above {1}",
        "librdkafka refuses that (it lowers only its own default)",
        Severity.error,
        effect=_config_exception,
        remedies=proposal(MESSAGE, lambda case: case.number(TIMEOUT) or 0, "let messages end with the transaction", ""),
    ),
    Check(
        "timeout below the coordinator's interval",
        (TIMEOUT, INTERVAL),
        above(INTERVAL, TIMEOUT),
        "{0} is below {1}",
        "the coordinator looks for timed out transactions only that often",
        Severity.info,
        Severity.info,
        effect=_aborted_late,
        remedies=_faster_cleanup,
        needs_effect=True,
    ),
    Check(
        "calls give up before a request does",
        (BLOCK, REQUEST),
        above(REQUEST, BLOCK),
        "{0} is below {1}",
        "commitTransaction and initTransactions give up before one request can be answered or fail",
        Severity.info,
        Severity.warning,
        effect=_gave_up,
        remedies=proposal(
            BLOCK,
            lambda case: 2 * (case.number(REQUEST) or 0),
            "let calls wait for a repeated request",
            "callers block longer",
        ),
    ),
    Check(
        "commits rarer than the timeout",
        (COMMIT_INTERVAL, TIMEOUT),
        _streams_interval,
        "{0} is not below {1}",
        "every transaction would time out; Kafka Streams refuses to start",
        Severity.error,
        remedies=_fit_interval,
    ),
    Check(
        "two-phase commit without an end",
        (TWO_PHASE,),
        lambda case: case.get(TWO_PHASE).is_true and _never_times_out(case),
        "{0}: transactions that never time out",
        "if its owner does not come back, only an operator can end them, and readers wait until then",
        Severity.warning,
        Severity.warning,
    ),
)


def _never_times_out(case: Case) -> bool:
    return any(int(case.story.transactions["timeout_ms"][row]) == FOREVER for row in case.rows)
