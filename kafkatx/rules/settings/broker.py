"""What can be wrong with the brokers' settings."""

from __future__ import annotations

from kafkatx.rules.settings.checks import Check, Fix, Seen, TimeOf, proposal, seen, set_to
from kafkatx.rules.settings.programs import Program, count_brokers, longest_gap
from kafkatx.terms.verdicts import Severity
from kafkatx.words import remedies
from kafkatx.words.explanation import Bound, Phrase, StepWords, measure
from kafkatx.words.proposals import Remedies
from kafkatx.words.values import Duration

STATE_FACTOR, STATE_ISR = "transaction.state.log.replication.factor", "transaction.state.log.min.isr"
OFFSETS_FACTOR, UNCLEAN = "offsets.topic.replication.factor", "unclean.leader.election.enable"
EXPIRATION, FORMAT = "transactional.id.expiration.ms", "log.message.format.version"
VERIFICATION = "transaction.partition.verification.enable"
INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
LOOKS_ONCE_A_MINUTE = ((0, 11, 0, 0), (0, 11, 0, 1))
IDLE = Phrase(TimeOf, measure("{who} was idle for {time}"))
AS_SET = Phrase(Fix, measure("the settings of the brokers"))
CAME_BACK = Phrase(Seen, seen("{who} came back after {took}"))
MORE_BROKERS = Phrase(
    Fix,
    set_to(
        text="keep __consumer_offsets on several brokers",
        where="broker",
        cost="counts when the topic is created: an existing one needs a reassignment",
    ),
)
CLEAN_ELECTIONS = Phrase(
    Fix,
    set_to(
        text="elect only replicas that have everything",
        where="broker",
        cost="a partition may stay without a leader",
    ),
)
VERIFY = Phrase(Fix, set_to(text="let leaders verify writes of transactions", where="broker"))


def _state_log_is_weak(program: Program) -> bool:
    factor, isr = program.number(STATE_FACTOR), program.number(STATE_ISR)
    if factor is None or isr is None:
        return False
    return (count_brokers(program.model) > 2 and (factor < 3 or isr < 2)) or (factor > 1 and isr == factor)


def _returned_late(program: Program) -> Bound[StepWords] | None:
    """An idle time above what is set; with rows at hand an expiry is found by a rule of its own, whatever is set."""
    gap, name = longest_gap(program.model)
    limit = program.number(EXPIRATION)
    told_by_rows = len(program.model.transactions) > 0 and not program.get(EXPIRATION).is_known
    if name is None or limit is None or gap <= limit or told_by_rows:
        return None
    return CAME_BACK.of(Seen(who=name, took=Duration(gap)))


def _keep_longer(program: Program) -> Remedies:
    gap, name = longest_gap(program.model)
    return remedies.id_expiration(program.advised, gap, IDLE.of(TimeOf(name or "", Duration(gap))))


def _is_format_too_old(program: Program) -> bool:
    parts = (program.get(FORMAT).value or "").split("-")[0].split(".")
    numbers = [int(part) for part in parts if part.isdigit()]
    return bool(numbers) and numbers < [0, 11]


BROKER_CHECKS = (
    Check(
        "coordinator's log on too few replicas",
        (STATE_FACTOR, STATE_ISR),
        _state_log_is_weak,
        "{held.first}, {held.second}",
        "the loss of one broker stops transactions, or loses what was decided",
        Severity.warning,
        Severity.warning,
        remedies=lambda program: remedies.state_log_replication(
            program.advised, count_brokers(program.model), AS_SET.of(Fix(STATE_FACTOR, program.get(STATE_FACTOR)))
        ),
    ),
    Check(
        "offsets on one replica",
        (OFFSETS_FACTOR,),
        lambda program: program.number(OFFSETS_FACTOR) == 1 and count_brokers(program.model) > 1,
        "{held.first} on more than one broker",
        "the loss of one broker takes offsets that transactions committed, and holds up their markers",
        Severity.warning,
        Severity.warning,
        remedies=proposal(MORE_BROKERS, OFFSETS_FACTOR, lambda program: min(3, count_brokers(program.model))),
    ),
    Check(
        "unclean elections",
        (UNCLEAN,),
        lambda program: program.get(UNCLEAN).is_true,
        "{held.first}",
        "a leader that lacks acknowledged batches or markers breaks committed transactions",
        Severity.warning,
        Severity.warning,
        remedies=proposal(CLEAN_ELECTIONS, UNCLEAN, lambda _: "false"),
    ),
    Check(
        "ids expire before they come back",
        (EXPIRATION,),
        lambda program: _returned_late(program) is not None,
        "{held.first} is below the time that an id was idle",
        "an id that expired begins anew with another producer id, and a living producer of it fails",
        Severity.warning,
        Severity.warning,
        effect=_returned_late,
        remedies=_keep_longer,
        needs_effect=True,
    ),
    Check(
        "verification switched off",
        (VERIFICATION,),
        lambda program: program.get(VERIFICATION).value == "false",
        "{held.first}",
        "a late write of an ended transaction is accepted and hangs",
        Severity.warning,
        Severity.warning,
        remedies=proposal(VERIFY, VERIFICATION, lambda _: "true"),
    ),
    Check(
        "records kept in a format without transactions",
        (FORMAT,),
        _is_format_too_old,
        "{held.first}: no transactions in topics that have no format of their own",
        "producer ids and transactions came with format 0.11.0",
        Severity.info,
        Severity.info,
    ),
    Check(
        "an interval that is not used",
        (INTERVAL,),
        lambda program: program.advised.settings.release in LOOKS_ONCE_A_MINUTE and program.number(INTERVAL) != 60_000,
        "{held.first} is printed, but 0.11.0.0 and 0.11.0.1 look once a minute",
        "KAFKA-6119; timeouts take effect up to a minute late",
        Severity.info,
        Severity.info,
    ),
)
