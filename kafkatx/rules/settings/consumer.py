"""What can be wrong with a consumer's settings beside transactions."""

from __future__ import annotations

from kafkatx.rules.settings.cases import Case, sends_offsets
from kafkatx.rules.settings.checks import Check, proposal
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Place


def _aborted_data(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    aborted = case.story.ends.rows().ended_by
    count = int(((case.story.transactions["decision"] == 3) & (aborted > 0)).sum())
    return (f"{count} transactions were aborted meanwhile", ()) if count else None


def _is_overtaken(case: Case) -> bool:
    """Whether the consumer loses its partitions before a transaction of a producer beside it would time out."""
    interval = case.number("max.poll.interval.ms")
    timeouts = [
        case.advised.settings.value("producer", "transaction.timeout.ms", name).number for name in _beside(case)
    ]
    return interval is not None and any(timeout is not None and interval < timeout for timeout in timeouts)


def _beside(case: Case) -> list[str]:
    """Transactional producers whose settings stand in the same source."""
    source = case.consumer.source if case.consumer else -1
    blocks = case.story.logs.settings.blocks
    return [name for block in blocks if block.source == source and (name := block.text("transactional.id"))]


def _sends_transactional_offsets(case: Case) -> tuple[str, tuple[Place, ...]] | None:
    """A transactional producer of the same source commits offsets in its transactions."""
    senders = [name for name in _beside(case) if sends_offsets(case.story, name)]
    if not senders:
        return None
    return f"{senders[0]} sends offsets with its transactions", ()


CONSUMER_CHECKS = (
    Check(
        "reads what was aborted",
        ("isolation.level",),
        lambda case: case.get("isolation.level").value == "read_uncommitted",
        "{0}",
        "it is given records of open and of aborted transactions",
        Severity.info,
        Severity.warning,
        effect=_aborted_data,
        remedies=proposal(
            "isolation.level",
            lambda _: "read_committed",
            "read what was committed only",
            "readers wait for open transactions",
        ),
    ),
    Check(
        "commits offsets beside the transaction",
        ("enable.auto.commit",),
        lambda case: case.get("enable.auto.commit").is_true,
        "{0}",
        "offsets are committed even where the transaction is aborted: records are skipped",
        Severity.warning,
        Severity.warning,
        effect=_sends_transactional_offsets,
        remedies=proposal("enable.auto.commit", lambda _: "false", "commit offsets with the transaction only", ""),
        needs_effect=True,
        untouched=Severity.warning,
    ),
    Check(
        "loses its partitions before the transaction ends",
        ("max.poll.interval.ms",),
        _is_overtaken,
        "{0} is below transaction.timeout.ms of the producer beside it",
        "the group gives its partitions away while the transaction may go on; its offsets are refused then",
        Severity.info,
        Severity.info,
        effect=_sends_transactional_offsets,
        needs_effect=True,
    ),
)
