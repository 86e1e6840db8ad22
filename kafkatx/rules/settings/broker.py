"""What can be wrong with the brokers' settings."""

from __future__ import annotations

from kafkatx.rules.settings.checks import Check, Fix, Seen, TimeOf, proposal, seen, set_to
from kafkatx.rules.settings.programs import Program, count_brokers, longest_gap
from kafkatx.terms.verdicts import Severity
from kafkatx.words import remedies
from kafkatx.words.explanation import Bound, Phrase, StepWords, measure, remedy
from kafkatx.words.proposals import ON_CREATION, Remedies
from kafkatx.words.values import Duration

STATE_FACTOR, STATE_ISR = "transaction.state.log.replication.factor", "transaction.state.log.min.isr"
OFFSETS_FACTOR, UNCLEAN = "offsets.topic.replication.factor", "unclean.leader.election.enable"
EXPIRATION, FORMAT = "transactional.id.expiration.ms", "log.message.format.version"
VERIFICATION = "transaction.partition.verification.enable"
INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
IDLE = Phrase(TimeOf, measure("{who} was idle for {time}"))
AS_SET = Phrase(Fix, measure("{config} is {now}"))
CAME_BACK = Phrase(Seen, seen("{who} came back after {took}", "the times of its transactions"))
MORE_BROKERS = Phrase(
    Fix,
    set_to(
        text=f"Reassign __consumer_offsets to {{proposed}} replicas; {ON_CREATION}",
        where="broker",
        cost="copying the partitions",
    ),
)
CLEAN_ELECTIONS = Phrase(
    Fix,
    set_to(
        text="Forbid unclean elections: elect only replicas that are in sync",
        where="broker",
        cost="a partition may stay without a leader",
    ),
)
UPGRADE = Phrase(Fix, remedy(text="Upgrade the brokers: releases after 0.11.0.1 use the interval", where="broker"))
VERIFY = Phrase(Fix, set_to(text="Let leaders verify writes of transactions", where="broker", restart_needed=False))


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
        "__transaction_state unsafe if a broker fails",
        "{held.first} and {held.second}",
        "The loss of one broker[ {perhaps}] stops transactions, or loses their outcome.",
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
        "__consumer_offsets has 1 replica",
        "{held.first}",
        "The loss of one broker takes committed offsets away and holds up their markers.",
        Severity.warning,
        Severity.warning,
        remedies=proposal(MORE_BROKERS, OFFSETS_FACTOR, lambda program: min(3, count_brokers(program.model))),
    ),
    Check(
        "unclean elections",
        (UNCLEAN,),
        lambda program: program.get(UNCLEAN).is_true,
        "unclean leader elections allowed",
        "{held.first}",
        "A leader that lacks acknowledged records or markers breaks committed transactions.",
        Severity.warning,
        Severity.warning,
        remedies=proposal(CLEAN_ELECTIONS, UNCLEAN, lambda _: "false"),
    ),
    Check(
        "ids expire before they come back",
        (EXPIRATION,),
        lambda program: _returned_late(program) is not None,
        "transactional.id.expiration.ms below the idle time",
        "{held.first},[ {perhaps}] less than ids were idle (up to {seen.took}, {seen.who})",
        "An expired id begins anew with another producer id, and a producer that is still alive fails.",
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
        "verification of transactional writes switched off",
        "{held.first}",
        "A late write of an ended transaction is then accepted, and blocks readers until it is aborted by hand.",
        Severity.warning,
        Severity.warning,
        remedies=proposal(VERIFY, VERIFICATION, lambda _: "true"),
    ),
    Check(
        "records kept in a format without transactions",
        (FORMAT,),
        _is_format_too_old,
        "default message format without transactions",
        "{held.first}",
        "Topics without a format of their own can't hold transactions: these came with format 0.11.0.",
        Severity.info,
        Severity.info,
    ),
    Check(
        "an interval that is not used",
        (INTERVAL,),
        lambda program: program.looks_once_a_minute and program.number(INTERVAL) != 60_000,
        "cleanup interval that this release does not use",
        "{held.first}, but 0.11.0.0 and 0.11.0.1 look once a minute (KAFKA-6119)",
        "Timeouts take effect up to a minute late.",
        Severity.info,
        Severity.info,
        remedies=lambda program: (UPGRADE.of(Fix(INTERVAL, program.get(INTERVAL))),),
    ),
)
