"""What can be wrong with a producer's settings: among each other, against the brokers', against what happened."""

from __future__ import annotations

from collections.abc import Callable

from kafkatx.histories.logs.settings import Effective
from kafkatx.rules.settings.checks import Check, Fix, Seen, TimeOf, above, proposal, seen, set_to
from kafkatx.rules.settings.programs import Program, retries_at_abort
from kafkatx.terms.catalogue.frameworks import STREAMS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity
from kafkatx.words import remedies
from kafkatx.words.evidence_refs import begin_row, decision_row
from kafkatx.words.explanation import Bound, Phrase, StepWords, measure, remedy
from kafkatx.words.proposals import Remedies
from kafkatx.words.template import pick
from kafkatx.words.values import Duration

TIMEOUT, MAX_TIMEOUT = "transaction.timeout.ms", "transaction.max.timeout.ms"
DELIVERY, REQUEST, LINGER, BLOCK = "delivery.timeout.ms", "request.timeout.ms", "linger.ms", "max.block.ms"
INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
PRODUCER_EXPIRATION = "producer.id.expiration.ms"
TWO_PHASE = "transaction.two.phase.commit.enable"
COMMIT_INTERVAL, MESSAGE = "commit.interval.ms", "message.timeout.ms"
FOREVER = 2_147_483_647
SLOW_ABORT = 1.5
REFUSED = Phrase(Seen, seen("initTransactions was refused with INVALID_TRANSACTION_TIMEOUT"))
REFUSED_CONFIGURATION = Phrase(Seen, seen("the client refused its configuration"))
RETRIED = Phrase(Seen, seen("its transaction timed out while sends were still being repeated"))
ABORTED_LATE = Phrase(Seen, seen("its transaction was aborted {took} after its start"))
GAVE_UP = Phrase(Seen, seen("a call gave up waiting"))
ASKS = Phrase(TimeOf, measure("{who} asks for {time}"))
IS_SET = Phrase(TimeOf, measure("{who} is {time}"))
IS_NUMBER = Phrase(TimeOf, measure("{who} is {time:ms}"))
AS_SET = Phrase(Fix, measure("{config} is {now}"))
LONGEST = Phrase(
    Seen, measure(pick("took", {None: "retries may take that long"}, "the longest transaction ran {took}"))
)
ASK_FOR_LESS = Phrase(Fix, set_to(text="ask for no more than brokers allow", where="client"))
LESS_OR_MORE = Phrase(
    Fix,
    remedy(
        text="ask for no more than transaction.max.timeout.ms, or raise that",
        where="client",
        config="{config}",
        current="{now}",
    ),
)
LEAVE_OUT = Phrase(Fix, set_to(text="remove this override", where="client"))
ONE_ATTEMPT = Phrase(Fix, set_to(text="let one attempt fit into the time of delivery", where="client"))
END_TOGETHER = Phrase(Fix, set_to(text="let messages end with the transaction", where="client"))
WAIT_LONGER = Phrase(
    Fix, set_to(text="let calls wait for a repeated request", where="client", cost="callers block longer")
)


def _is_above_limit(program: Program) -> bool:
    """Above what brokers allow, and never accepted: a producer that runs was not refused."""
    return above(TIMEOUT, MAX_TIMEOUT)(program) and (not program.has_run or bool(_refusals(program)))


def _is_refused_only(program: Program) -> bool:
    """Refused for its timeout, though the settings at hand don't show why."""
    return not _is_above_limit(program) and bool(_refusals(program))


def _refusals(program: Program) -> list[int]:
    logs = program.model.logs
    refused = [
        row
        for row in logs.of_kind(EventKind.init_refused).tolist()
        if logs.string(row, "transactional_id") == program.transactional_id
        and logs.error(row) is ErrorCode.INVALID_TRANSACTION_TIMEOUT
    ]
    return [*program.failures(ErrorCode.INVALID_TRANSACTION_TIMEOUT), *refused]


def _refused(program: Program) -> Bound[StepWords] | None:
    rows = _refusals(program)
    return REFUSED.of(Seen(program.cited(rows))) if rows else None


def _fit_timeout(program: Program) -> Remedies:
    asked = program.number(TIMEOUT) or 0
    lower = proposal(ASK_FOR_LESS, TIMEOUT, lambda one: one.number(MAX_TIMEOUT) or 0)
    measured = ASKS.of(TimeOf(program.name, Duration(asked)))
    return (*lower(program), *remedies.max_transaction_timeout(program.advised, asked, measured))


def _config_exception(program: Program) -> Bound[StepWords] | None:
    rows = program.failures(ErrorCode.CONFIG)
    return REFUSED_CONFIGURATION.of(Seen(program.cited(rows))) if rows else None


def _is_below_sending(program: Program) -> bool:
    delivery, request = program.number(DELIVERY), program.number(REQUEST)
    if delivery is None or request is None or program.has_run:
        return False
    return delivery < request + (program.number(LINGER) or 0)


def _sending(program: Program) -> int:
    return (program.number(LINGER) or 0) + (program.number(REQUEST) or 0)


def _refuses_idempotence(name: str) -> Check:
    """One override that a transactional producer refuses; old clients print defaults that they replace afterwards."""

    def is_refused(program: Program) -> bool:
        effective = program.get(name)
        return not program.has_run and effective.is_chosen and _IDEMPOTENCE[name](effective)

    def remove(program: Program) -> Remedies:
        return (LEAVE_OUT.of(Fix(program.advised.called(name), program.get(name))),)

    return Check(
        f"transactional beside {name}",
        (name,),
        is_refused,
        "a transactional.id beside {held.first}",
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


def _outlives(program: Program) -> bool:
    """Whether sends may go on when the transaction's time is over."""
    if program.advised.ends_with_transaction:
        return above(DELIVERY, TIMEOUT)(program)
    return not above(TIMEOUT, DELIVERY)(program) and bool(program.number(DELIVERY))


def _retried_until_abort(program: Program) -> Bound[StepWords] | None:
    rows = retries_at_abort(program)
    if not rows:
        return None
    t = program.model.transactions
    places = [place for row in program.timed_out[:1] for place in (*begin_row(t[row]), *decision_row(t[row]))]
    return RETRIED.of(Seen((*places, *program.cited(rows))))


def _raise_timeout(program: Program) -> Remedies:
    """From the longest transaction measured, else from what retries may take."""
    longest = max((int(program.model.ends.duration_ms[row]) for row in program.rows), default=0)
    need = max(longest, (program.number(DELIVERY) or 0) + _sending(program))
    measured = LONGEST.of(Seen(took=Duration(longest) if longest else None))
    found = remedies.transaction_timeout(program.advised, need, measured)
    return tuple(bound for bound in found if bound.words.proposed is not None)


def _aborted_late(program: Program) -> Bound[StepWords] | None:
    """A transaction that was aborted much later than its timeout, since the coordinator looks only now and then."""
    t, endings = program.model.transactions, program.model.ends
    late = [
        row for row in program.timed_out if endings.duration_ms[row] > SLOW_ABORT * max(int(t["timeout_ms"][row]), 1)
    ]
    if not late:
        return None
    first = late[0]
    return ABORTED_LATE.of(
        Seen((*begin_row(t[first]), *decision_row(t[first])), took=Duration(endings.duration_ms[first]))
    )


def _faster_cleanup(program: Program) -> Remedies:
    timeout = program.number(TIMEOUT) or 0
    return remedies.cleanup_interval(program.advised, [timeout], IS_SET.of(TimeOf(TIMEOUT, Duration(timeout))))


def _gave_up(program: Program) -> Bound[StepWords] | None:
    rows = program.events(EventKind.await_timeout)
    return GAVE_UP.of(Seen(program.cited(rows))) if rows else None


def _streams_interval(program: Program) -> bool:
    framework, interval, timeout = program.advised.framework, program.number(COMMIT_INTERVAL), program.number(TIMEOUT)
    if framework is None or framework.name not in STREAMS or interval is None or timeout is None:
        return False
    return interval >= timeout


def _fit_interval(program: Program) -> Remedies:
    interval, timeout = program.number(COMMIT_INTERVAL) or 0, program.number(TIMEOUT) or 0
    measured = IS_NUMBER.of(TimeOf(COMMIT_INTERVAL, Duration(interval)))
    shorter = remedies.commit_interval(program.advised, interval, timeout, measured, interval)
    return (*shorter, *remedies.transaction_timeout(program.advised, 3 * interval, measured))


PRODUCER_CHECKS = (
    Check(
        "timeout above the brokers' limit",
        (TIMEOUT, MAX_TIMEOUT),
        _is_above_limit,
        "{held.first} is above {held.second}",
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
        remedies=lambda program: (LESS_OR_MORE.of(Fix(program.advised.called(TIMEOUT), program.get(TIMEOUT))),),
        needs_effect=True,
        untouched=Severity.error,
        effect_proves=True,
    ),
    Check(
        "delivery shorter than sending",
        (DELIVERY, REQUEST, LINGER),
        _is_below_sending,
        "{held.first} is below {held.third} + {held.second}",
        "the client refuses that with a ConfigException where it was set, else it raises it and warns",
        Severity.warning,
        effect=_config_exception,
        remedies=proposal(ONE_ATTEMPT, DELIVERY, _sending),
    ),
    *map(_refuses_idempotence, _IDEMPOTENCE),
    Check(
        "retries outlive the transaction",
        (DELIVERY, TIMEOUT),
        _outlives,
        "{held.first} is not below {held.second}",
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
        "{held.first} is above {held.second}",
        "a partition may forget the producer while it still repeats a batch",
        Severity.warning,
        Severity.warning,
        remedies=lambda program: remedies.producer_expiration(
            program.advised, (program.number(DELIVERY) or 0) // 2, AS_SET.of(Fix(DELIVERY, program.get(DELIVERY)))
        ),
    ),
    Check(
        "messages outlive the transaction",
        (MESSAGE, TIMEOUT),
        lambda program: program.get(MESSAGE).is_chosen and above(MESSAGE, TIMEOUT)(program),
        "{held.first} is above {held.second}",
        "librdkafka refuses that (it lowers only its own default)",
        Severity.error,
        effect=_config_exception,
        remedies=proposal(END_TOGETHER, MESSAGE, lambda program: program.number(TIMEOUT) or 0),
    ),
    Check(
        "timeout below the coordinator's interval",
        (TIMEOUT, INTERVAL),
        above(INTERVAL, TIMEOUT),
        "{held.first} is below {held.second}",
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
        "{held.first} is below {held.second}",
        "commitTransaction and initTransactions give up before one request can be answered or fail",
        Severity.info,
        Severity.warning,
        effect=_gave_up,
        remedies=proposal(WAIT_LONGER, BLOCK, lambda program: 2 * (program.number(REQUEST) or 0)),
    ),
    Check(
        "commits rarer than the timeout",
        (COMMIT_INTERVAL, TIMEOUT),
        _streams_interval,
        "{held.first} is not below {held.second}",
        "every transaction would time out; Kafka Streams refuses to start",
        Severity.error,
        remedies=_fit_interval,
    ),
    Check(
        "two-phase commit without an end",
        (TWO_PHASE,),
        lambda program: program.get(TWO_PHASE).is_true and _never_times_out(program),
        "{held.first}: transactions that never time out",
        "if its owner does not come back, only an operator can end them, and readers wait until then",
        Severity.warning,
        Severity.warning,
    ),
)


def _never_times_out(program: Program) -> bool:
    return any(int(program.model.transactions["timeout_ms"][row]) == FOREVER for row in program.rows)
