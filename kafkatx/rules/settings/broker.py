"""What can be wrong with the brokers' settings."""

from __future__ import annotations

from kafkatx.rules.settings.cases import Case, count_brokers, longest_gap
from kafkatx.rules.settings.checks import Check, proposal
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity
from kafkatx.words import remedies
from kafkatx.words.explained import Place, Remedy

STATE_FACTOR, STATE_ISR = "transaction.state.log.replication.factor", "transaction.state.log.min.isr"
OFFSETS_FACTOR, UNCLEAN = "offsets.topic.replication.factor", "unclean.leader.election.enable"
EXPIRATION, FORMAT = "transactional.id.expiration.ms", "log.message.format.version"
VERIFICATION = "transaction.partition.verification.enable"
INTERVAL = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
LOOKS_ONCE_A_MINUTE = ((0, 11, 0, 0), (0, 11, 0, 1))


def _state_log_is_weak(case: Case) -> bool:
    factor, isr = case.number(STATE_FACTOR), case.number(STATE_ISR)
    if factor is None or isr is None:
        return False
    return (count_brokers(case.story) > 2 and (factor < 3 or isr < 2)) or (factor > 1 and isr == factor)


def _returned_late(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    """An idle time above what is set; with rows at hand an expiry is found by a rule of its own, whatever is set."""
    gap, name = longest_gap(case.story)
    limit = case.number(EXPIRATION)
    told_by_rows = len(case.story.transactions) > 0 and not case.get(EXPIRATION).is_known
    if name is None or limit is None or gap <= limit or told_by_rows:
        return None
    return f"{name} came back after {duration(gap)}", ()


def _keep_longer(case: Case) -> tuple[Remedy, ...]:
    gap, name = longest_gap(case.story)
    return remedies.id_expiration(case.advised, gap, f"{name} was idle for {duration(gap)}")


def _is_format_too_old(case: Case) -> bool:
    parts = (case.get(FORMAT).value or "").split("-")[0].split(".")
    numbers = [int(part) for part in parts if part.isdigit()]
    return bool(numbers) and numbers < [0, 11]


BROKER_CHECKS = (
    Check(
        "coordinator's log on too few replicas",
        (STATE_FACTOR, STATE_ISR),
        _state_log_is_weak,
        "{0}, {1}",
        "the loss of one broker stops transactions, or loses what was decided",
        Severity.warning,
        Severity.warning,
        remedies=lambda case: remedies.state_log_replication(
            case.advised, count_brokers(case.story), "the settings of the brokers"
        ),
    ),
    Check(
        "offsets on one replica",
        (OFFSETS_FACTOR,),
        lambda case: case.number(OFFSETS_FACTOR) == 1 and count_brokers(case.story) > 1,
        "{0} on more than one broker",
        "the loss of one broker takes offsets that transactions committed, and holds up their markers",
        Severity.warning,
        Severity.warning,
        remedies=proposal(
            OFFSETS_FACTOR,
            lambda case: min(3, count_brokers(case.story)),
            "keep __consumer_offsets on several brokers",
            "counts when the topic is created: an existing one needs a reassignment",
        ),
    ),
    Check(
        "unclean elections",
        (UNCLEAN,),
        lambda case: case.get(UNCLEAN).is_true,
        "{0}",
        "a leader that lacks acknowledged batches or markers breaks committed transactions",
        Severity.warning,
        Severity.warning,
        remedies=proposal(
            UNCLEAN,
            lambda _: "false",
            "elect only replicas that have everything",
            "a partition may stay without a leader",
        ),
    ),
    Check(
        "ids expire before they come back",
        (EXPIRATION,),
        lambda case: _returned_late(case) is not None,
        "{0} is below the time that an id was idle",
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
        lambda case: case.get(VERIFICATION).value == "false",
        "{0}",
        "a late write of an ended transaction is accepted and hangs",
        Severity.warning,
        Severity.warning,
        remedies=proposal(VERIFICATION, lambda _: "true", "let leaders verify writes of transactions", ""),
    ),
    Check(
        "records kept in a format without transactions",
        (FORMAT,),
        _is_format_too_old,
        "{0}: no transactions in topics that have no format of their own",
        "producer ids and transactions came with format 0.11.0",
        Severity.info,
        Severity.info,
    ),
    Check(
        "an interval that is not used",
        (INTERVAL,),
        lambda case: case.advised.settings.release in LOOKS_ONCE_A_MINUTE and case.number(INTERVAL) != 60_000,
        "{0} is printed, but 0.11.0.0 and 0.11.0.1 look once a minute",
        "KAFKA-6119; timeouts take effect up to a minute late",
        Severity.info,
        Severity.info,
    ),
)
