"""What can be wrong with a consumer's settings beside transactions."""

from __future__ import annotations

from kafkatx.rules.settings.checks import Check, Fix, Seen, proposal, seen, set_to
from kafkatx.rules.settings.programs import Program, sends_offsets
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explanation import Bound, Phrase, StepWords
from kafkatx.words.values import Count

ABORTED = Phrase(Seen, seen("{count:transaction} {count:was|were} aborted"))
SENDS_OFFSETS = Phrase(Seen, seen("{who} commits offsets in its transactions", "they list __consumer_offsets"))
READ_COMMITTED = Phrase(
    Fix,
    set_to(
        text="Read only what was committed, unless readers may see aborted records",
        where="client",
        cost="readers wait for open transactions",
    ),
)
COMMIT_WITHIN = Phrase(
    Fix, set_to(text="Switch auto commit off: commit offsets only in the transaction", where="client")
)


def _aborted_data(program: Program) -> Bound[StepWords] | None:
    aborted = program.model.ends.rows().ended_by
    count = int(((program.model.transactions["decision"] == 3) & (aborted > 0)).sum())
    return ABORTED.of(Seen(count=Count(count))) if count else None


def _is_overtaken(program: Program) -> bool:
    """Whether the consumer loses its partitions before a transaction of a producer beside it would time out."""
    interval = program.number("max.poll.interval.ms")
    timeouts = [
        program.advised.settings.value("producer", "transaction.timeout.ms", name).number for name in _beside(program)
    ]
    return interval is not None and any(timeout is not None and interval < timeout for timeout in timeouts)


def _beside(program: Program) -> list[str]:
    """Transactional producers whose settings stand in the same source."""
    source = program.consumer.source if program.consumer else -1
    blocks = program.model.logs.settings.blocks
    return [name for block in blocks if block.source == source and (name := block.text("transactional.id"))]


def _sends_transactional_offsets(program: Program) -> Bound[StepWords] | None:
    """A transactional producer of the same source commits offsets in its transactions."""
    senders = [name for name in _beside(program) if sends_offsets(program.model, name)]
    return SENDS_OFFSETS.of(Seen(who=senders[0])) if senders else None


CONSUMER_CHECKS = (
    Check(
        "reads what was aborted",
        ("isolation.level",),
        lambda program: program.get("isolation.level").value == "read_uncommitted",
        "reads open and aborted transactions",
        "{held.first}",
        "Records of open and of aborted transactions are[ {perhaps}] read too.",
        Severity.info,
        Severity.warning,
        effect=_aborted_data,
        remedies=proposal(READ_COMMITTED, "isolation.level", lambda _: "read_committed"),
    ),
    Check(
        "commits offsets beside the transaction",
        ("enable.auto.commit",),
        lambda program: program.get("enable.auto.commit").is_true,
        "commits offsets outside of the transaction",
        "{held.first} beside a transactional producer",
        "Offsets are[ {perhaps}] committed even if the transaction aborts, and records are skipped then.",
        Severity.warning,
        Severity.warning,
        effect=_sends_transactional_offsets,
        remedies=proposal(COMMIT_WITHIN, "enable.auto.commit", lambda _: "false"),
        needs_effect=True,
        untouched=Severity.warning,
    ),
    Check(
        "loses its partitions before the transaction ends",
        ("max.poll.interval.ms",),
        _is_overtaken,
        "max.poll.interval.ms below the transaction timeout",
        "{held.first},[ {perhaps}] below the transaction.timeout.ms of the producer beside it",
        "The group may give its partitions away while the transaction goes on, and refuse its offsets.",
        Severity.info,
        Severity.info,
        effect=_sends_transactional_offsets,
        needs_effect=True,
    ),
)
