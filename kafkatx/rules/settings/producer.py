"""What can be wrong with a producer's settings: among each other, against the brokers', against what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kafkatx.histories.logs.settings import Effective, Origin
from kafkatx.rules.settings.checks import Check, Fix, Seen, TimeOf, above, proposal, seen, set_to
from kafkatx.rules.settings.programs import Program, retries_at_abort
from kafkatx.terms.catalogue.frameworks import STREAMS
from kafkatx.terms.clocks import TWO_PHASE_TIMEOUT_MS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity
from kafkatx.words import remedies
from kafkatx.words.evidence_refs import begin_row, decision_row
from kafkatx.words.explanation import Bound, Phrase, StepWords, measure, remedy
from kafkatx.words.proposals import Longer, Remedies
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration

TIMEOUT, MAX_TIMEOUT = "transaction.timeout.ms", "transaction.max.timeout.ms"
DELIVERY, REQUEST, LINGER, BLOCK = "delivery.timeout.ms", "request.timeout.ms", "linger.ms", "max.block.ms"
INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
PRODUCER_EXPIRATION = "producer.id.expiration.ms"
TWO_PHASE = "transaction.two.phase.commit.enable"
COMMIT_INTERVAL, MESSAGE = "commit.interval.ms", "message.timeout.ms"
SLOW_ABORT = 1.5
REFUSED_WITH_IT = "The client refused its configuration."
REFUSED = Phrase(Seen, seen("Brokers refused initTransactions with INVALID_TRANSACTION_TIMEOUT"))
REFUSED_AS_TOLD = Phrase(
    Seen, seen("Brokers refused initTransactions with INVALID_TRANSACTION_TIMEOUT; the text says that it is {took}")
)
REFUSED_CONFIGURATION = Phrase(Seen, seen("The client refused its configuration"))
RETRIED = Phrase(Seen, seen("A transaction timed out while the client still repeated its sends"))
ABORTED_LATE = Phrase(Seen, seen("A transaction was aborted {took} after its start"))
GAVE_UP = Phrase(Seen, seen("{count:A call|Calls} timed out before the coordinator answered"))
ASKS = Phrase(TimeOf, measure("{who} asks for {time}"))
IS_SET = Phrase(TimeOf, measure("{who} is {time}"))
INTERVALS = Phrase(TimeOf, measure("three times {who} is {time}"))
AS_SET = Phrase(Fix, measure("{config} is {now}"))
LONGEST = Phrase(TimeOf, measure("the longest transaction of {who} ran {time}"))
RETRIES = Phrase(TimeOf, measure("retries of {who} may take {time}"))
ASK_FOR_LESS = Phrase(Fix, set_to(text="Lower {config} to what brokers allow", where="client"))
LESS_OR_MORE = Phrase(
    Fix,
    remedy(
        text="Lower {config} to the brokers' transaction.max.timeout.ms (900000 unless they set it), or raise that",
        where="client",
        config=pick("is_proposed", {True: "{config}"}),
        current=pick("is_proposed", {True: "{now:plain}"}),
        proposed="{proposed}",
    ),
)
LOOK_SOONER = Phrase(
    Fix,
    remedy(
        text="Upgrade the brokers: 0.11.0.0 and 0.11.0.1 look once a minute, whatever the interval is",
        where="broker",
        config="{config}",
        current="{now:plain}",
    ),
)
WATCH_OPEN = Phrase(
    Fix,
    remedy(text="Alert on transactions that stay open: only their owner or an operator ends them", where="operator"),
)
LEAVE_OUT = Phrase(Fix, set_to(text="Remove {config}: the client refuses it beside a transactional.id", where="client"))
ONE_ATTEMPT = Phrase(Fix, set_to(text="Raise {config}: one attempt must fit into it", where="client"))
END_TOGETHER = Phrase(Fix, set_to(text="Lower {config}: messages must end with the transaction", where="client"))
WAIT_LONGER = Phrase(
    Fix,
    set_to(
        text="Raise {config}: blocking calls must outlast two request timeouts",
        where="client",
        cost="the calling thread blocks that long",
    ),
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
    if not rows:
        return None
    told = program.told_timeout(rows) if not program.get(TIMEOUT).is_known else None
    if told is None:
        return REFUSED.of(Seen(program.cited(rows)))
    return REFUSED_AS_TOLD.of(Seen((told[1], *program.cited(rows)), took=Duration(told[0])))


def _less_or_more(program: Program) -> Remedies:
    """From the value that is known or told, if it is above what brokers allow; a default was not refused."""
    now = program.get(TIMEOUT)
    if not now.is_known and (told := program.told_timeout(_refusals(program))) is not None:
        now = replace(now, value=str(told[0]), origin=Origin.EXPLICIT)
    most = program.number(MAX_TIMEOUT) or 0
    is_above = now.is_known and (now.number or 0) > most > 0
    return (LESS_OR_MORE.of(Fix(program.advised.called(TIMEOUT), now, f"{most} or less" if is_above else None)),)


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
        "{held.first} beside a transactional.id",
        "{held.first} beside a transactional.id",
        f"The client refuses that: a transactional producer needs {_NEEDS[name]}.",
        Severity.error,
        led_to=f"The client refused its configuration: a transactional producer needs {_NEEDS[name]}.",
        effect=_config_exception,
        remedies=remove,
    )


_NEEDS = {
    "enable.idempotence": "idempotence",
    "acks": "acks=all",
    "retries": "retries",
    "max.in.flight.requests.per.connection": "at most 5 requests in flight",
}
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
    retries = (program.number(DELIVERY) or 0) + _sending(program)
    need, measure = (retries, RETRIES) if retries >= longest else (longest, LONGEST)
    measured = measure.of(TimeOf(program.name, Duration(need)))
    found = remedies.transaction_timeout(program.advised, need, measured, why=Longer.retries)
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
    if program.looks_once_a_minute:
        return (LOOK_SOONER.of(Fix(INTERVAL, program.get(INTERVAL))),)
    return remedies.cleanup_interval(program.advised, [timeout], IS_SET.of(TimeOf(TIMEOUT, Duration(timeout))))


def _gave_up(program: Program) -> Bound[StepWords] | None:
    rows = program.events(EventKind.await_timeout)
    return GAVE_UP.of(Seen(program.cited(rows), count=Count(len(rows)))) if rows else None


def _streams_interval(program: Program) -> bool:
    framework, interval, timeout = program.advised.framework, program.number(COMMIT_INTERVAL), program.number(TIMEOUT)
    if framework is None or framework.name not in STREAMS or interval is None or timeout is None:
        return False
    return interval >= timeout


def _fit_interval(program: Program) -> Remedies:
    interval, timeout = program.number(COMMIT_INTERVAL) or 0, program.number(TIMEOUT) or 0
    measured = IS_SET.of(TimeOf(COMMIT_INTERVAL, Duration(interval)))
    shorter = remedies.commit_interval(program.advised, interval, timeout, measured, interval)
    thrice = INTERVALS.of(TimeOf(COMMIT_INTERVAL, Duration(3 * interval)))
    return (*shorter, *remedies.transaction_timeout(program.advised, 3 * interval, thrice, why=Longer.interval))


PRODUCER_CHECKS = (
    Check(
        "timeout above the brokers' limit",
        (TIMEOUT, MAX_TIMEOUT),
        _is_above_limit,
        "transaction.timeout.ms above the brokers' limit",
        "{held.first},[ {perhaps}] above {held.second}",
        "Brokers refuse such a producer with INVALID_TRANSACTION_TIMEOUT.",
        Severity.error,
        led_to="Brokers refused the producer with INVALID_TRANSACTION_TIMEOUT.",
        effect=_refused,
        remedies=_fit_timeout,
        untouched=Severity.error,
        effect_proves=True,
    ),
    Check(
        "timeout refused",
        (),
        _is_refused_only,
        "transaction.timeout.ms above the brokers' limit",
        "a transaction.timeout.ms above the brokers' transaction.max.timeout.ms",
        "Brokers refused the producer with INVALID_TRANSACTION_TIMEOUT.",
        Severity.error,
        effect=_refused,
        remedies=_less_or_more,
        needs_effect=True,
        untouched=Severity.error,
        effect_proves=True,
    ),
    Check(
        "delivery shorter than sending",
        (DELIVERY, REQUEST, LINGER),
        _is_below_sending,
        "delivery.timeout.ms below one attempt",
        "{held.first},[ {perhaps}] below {held.third} + {held.second}",
        pick(
            "held.first.origin",
            {Origin.EXPLICIT: "The client refuses that with a ConfigException."},
            "The client refuses that with a ConfigException, or raises it with a warning where it is the default.",
        ),
        Severity.warning,
        led_to=REFUSED_WITH_IT,
        effect=_config_exception,
        remedies=proposal(ONE_ATTEMPT, DELIVERY, _sending),
    ),
    *map(_refuses_idempotence, _IDEMPOTENCE),
    Check(
        "retries outlive the transaction",
        (DELIVERY, TIMEOUT),
        _outlives,
        "{held.first:name} outlasts {held.second:name}",
        "{held.first},[ {perhaps}] too long for {held.second}",
        "A transaction timed out while the client still repeated its sends.",
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
        "delivery.timeout.ms above producer.id.expiration.ms",
        "{held.first},[ {perhaps}] above {held.second}",
        "A partition may forget the producer while it still repeats a batch.",
        Severity.warning,
        Severity.warning,
        remedies=lambda program: remedies.producer_expiration(
            program.advised, program.number(DELIVERY) or 0, AS_SET.of(Fix(DELIVERY, program.get(DELIVERY)))
        ),
    ),
    Check(
        "messages outlive the transaction",
        (MESSAGE, TIMEOUT),
        lambda program: program.get(MESSAGE).is_chosen and above(MESSAGE, TIMEOUT)(program),
        "message.timeout.ms above transaction.timeout.ms",
        "{held.first},[ {perhaps}] above {held.second}",
        "librdkafka refuses that: it lowers only its own default.",
        Severity.error,
        led_to=REFUSED_WITH_IT,
        effect=_config_exception,
        remedies=proposal(END_TOGETHER, MESSAGE, lambda program: program.number(TIMEOUT) or 0),
    ),
    Check(
        "timeout below the coordinator's interval",
        (TIMEOUT, INTERVAL),
        above(INTERVAL, TIMEOUT),
        "transaction.timeout.ms below the cleanup interval",
        "{held.first},[ {perhaps}] below {held.second}",
        "The coordinator looks for timed out transactions only now and then, and aborted one late.",
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
        "max.block.ms below request.timeout.ms",
        "{held.first},[ {perhaps}] below {held.second}",
        "commitTransaction and initTransactions time out before one request is answered or fails.",
        Severity.info,
        Severity.warning,
        led_to="{seen.count:A call|Calls} timed out before the coordinator answered.",
        effect=_gave_up,
        remedies=proposal(WAIT_LONGER, BLOCK, lambda program: 2 * (program.number(REQUEST) or 0)),
    ),
    Check(
        "commits rarer than the timeout",
        (COMMIT_INTERVAL, TIMEOUT),
        _streams_interval,
        "{held.first:name} too long for {held.second:name}",
        "{held.first},[ {perhaps}] too long for {held.second}",
        "Every transaction would time out; Kafka Streams refuses to start.",
        Severity.error,
        remedies=_fit_interval,
    ),
    Check(
        "two-phase commit without an end",
        (TWO_PHASE,),
        lambda program: program.get(TWO_PHASE).is_true and _never_times_out(program),
        "two-phase commit without a timeout",
        "{held.first} and transactions that never time out",
        "If their owner does not come back, readers wait until an operator ends them.",
        Severity.warning,
        Severity.warning,
        remedies=lambda program: (WATCH_OPEN.of(Fix(program.advised.called(TWO_PHASE), program.get(TWO_PHASE))),),
    ),
)


def _never_times_out(program: Program) -> bool:
    return any(int(program.model.transactions["timeout_ms"][row]) == TWO_PHASE_TIMEOUT_MS for row in program.rows)
