"""Which finding caused which: the graph of mechanisms, each with the condition that must be visible.

Edges go from a lower to a higher rank, so there are no cycles; the only tie is stuck_prepare, which causes the storm of
its own id. Of several causes the surest and then the nearest one (highest rank, then time) is the primary; others are
contributing unless they are behind the primary already. A cause begins before its effect ends; stretches of different
clocks are compared with the tolerance of clients. Where logs tell who led a partition, a broker that did not is no
cause; where nothing tells, lying in the same time is all there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.terms.verdicts import Verdict

RANK = {
    "misconfiguration": 0,
    **dict.fromkeys(("broker_unreachable", "producer_id_collision", "shared_producer", "unstable_transactional_id"), 1),
    **dict.fromkeys(("coordinator_unavailable", "zombie_coordinator", "damaged_index"), 2),
    **dict.fromkeys(
        (
            "transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "producer_state_expired",
            "partition_verification_failed", "fenced_by_group_generation", "producer_epoch_exhausted", "sequence_gap",
            "duplicate_sequence",
        ),
        3,
    ),
    **dict.fromkeys(
        (
            "unresolved_sequence", "commit_outcome_unknown", "concurrent_transactions_storm", "stuck_prepare",
            "hanging_transaction", "open_transaction", "inconsistent_transaction_state",
        ),
        4,
    ),
    **dict.fromkeys(("abort_after_fatal_error", "aborted_by_client", "atomicity_violation"), 5),
    **dict.fromkeys(("read_committed_blocked", "pending_offset_commit"), 6),
    **dict.fromkeys(("committed_but_unreadable", "silent_failure"), 7),
}  # fmt: skip
"""How deep a rule's facts lie: 0 is outside, 7 what an application sees last."""

Condition = Callable[[Story, Finding, Finding], bool]


@dataclass(frozen=True, slots=True)
class Causes:
    """What caused a finding, by number: the primary cause, and what contributed besides."""

    primary: int | None = None
    contributing: tuple[int, ...] = ()


def causes(story: Story, findings: list[Finding]) -> list[Causes]:
    """Find the causes of every finding among all of them."""
    by_rule: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        by_rule.setdefault(finding.rule, []).append(number)
    candidates = [_candidates(story, findings, by_rule, number) for number in range(len(findings))]
    primary = [found[0] if found else None for found in candidates]
    return [
        Causes(primary[number], tuple(other for other in found[1:] if other not in _behind(primary, number)))
        for number, found in enumerate(candidates)
    ]


def _candidates(story: Story, findings: list[Finding], by_rule: dict[str, list[int]], number: int) -> list[int]:
    """Every finding that can have caused one, the best first."""
    effect = findings[number]
    found = [
        other
        for rule, condition in CAUSES.get(effect.rule, ())
        for other in by_rule.get(rule, ())
        if other != number and _precedes(findings[other], effect) and condition(story, findings[other], effect)
    ]
    return sorted(dict.fromkeys(found), key=lambda other: (*_order(findings[other], effect), other))


def _order(cause: Finding, effect: Finding) -> tuple[bool, int, int, int]:
    """Surer than a guess first, then the nearest mechanism, the surest, the nearest in time."""
    listed = [rule for rule, _ in CAUSES[effect.rule]].index(cause.rule)
    away = abs((effect.since or 0) - (cause.until or 0)) if cause.until is not None else 1 << 62
    return cause.verdict is Verdict.possible, -RANK[cause.rule], listed - 100 * cause.verdict, away


def _behind(primary: list[int | None], number: int) -> set[int]:
    """The chain of primary causes behind a finding."""
    found: set[int] = set()
    at = primary[number]
    while at is not None and at not in found:
        found.add(at)
        at = primary[at]
    return found


def _precedes(cause: Finding, effect: Finding) -> bool:
    """Whether a cause began before its effect was over, as far as both have a time."""
    return cause.since is None or effect.until is None or cause.since <= effect.until + CLIENT_TOLERANCE_MS


def same_subject(story: Story, cause: Finding, effect: Finding) -> bool:
    """The same partition where both have one, else the same id (or one of those that the cause is about)."""
    if cause.transactional_id is not None and cause.transactional_id != effect.transactional_id:
        return False
    here = (cause.topic, cause.partition)
    if cause.topic is not None and here not in ((effect.topic, effect.partition), (effect.topic, None)):
        return False
    if cause.transactional_id is not None:
        return True
    names = {subject.transactional_id for subject in cause.subjects}
    if names - {None}:
        return effect.transactional_id in names
    return cause.producer_id == effect.producer_id and cause.first_offset == effect.first_offset


def same_id(story: Story, cause: Finding, effect: Finding) -> bool:
    """The same transactional.id, or where neither has one the same producer id."""
    if cause.transactional_id is not None or effect.transactional_id is not None:
        return effect.transactional_id is not None and effect.transactional_id in _ids(cause)
    return cause.producer_id is not None and cause.producer_id == effect.producer_id


def same_id_and_time(story: Story, cause: Finding, effect: Finding) -> bool:
    """The same id, and stretches that touch: an earlier incident of an id does not explain a later one.

    One epoch of one producer id ends once: where both are about the same, a frozen client may learn of it much later.
    """
    if not same_id(story, cause, effect):
        return False
    is_known = cause.producer_id is not None and cause.producer_epoch is not None
    one, other = (cause.producer_id, cause.producer_epoch), (effect.producer_id, effect.producer_epoch)
    return (is_known and one == other) or _touch(cause, effect.since, effect.until)


def same_time(story: Story, cause: Finding, effect: Finding) -> bool:
    """A broker that was away while at least half of it happened: as leader, or as a replica that had to confirm."""
    stretches = _stretches(story, effect)
    touched = sum(_touch(cause, since, until) for since, until in stretches)
    return 2 * touched >= len(stretches) and touched > 0


def leads_a_partition(story: Story, cause: Finding, effect: Finding) -> bool:
    """A broker that was away when a decision waited for its partitions, unless logs name another leader of them."""
    if not same_time(story, cause, effect) or effect.topic is None or effect.partition is None or cause.since is None:
        return same_time(story, cause, effect)
    leader = _leader(story, effect.topic, effect.partition, cause.since)
    return not cause.nodes or leader is None or leader in cause.nodes


def coordinator_of(story: Story, cause: Finding, effect: Finding) -> bool:
    """A coordinator that was away at that time: of the id's own partition where both are known."""
    if not _touch(cause, effect.since, effect.until):
        return False
    count, name = story.state_partition_count, effect.transactional_id
    if cause.topic != TRANSACTION_STATE or cause.partition is None or name is None or count is None:
        return True
    return partition_for(name, count) == cause.partition


def overdue(story: Story, cause: Finding, effect: Finding) -> bool:
    """An open transaction that nobody timed out since its coordinator was away."""
    return effect.severity > 0 and coordinator_of(story, cause, effect)


def by_settings(*names: str) -> Condition:
    """A setting that has to do with it, of the same id or of all."""

    def condition(story: Story, cause: Finding, effect: Finding) -> bool:
        about = {remedy.config for remedy in cause.remedies}
        is_about = any(config is not None and name in config for config in about for name in names)
        return is_about and (cause.transactional_id is None or same_id(story, cause, effect))

    return condition


def _ids(finding: Finding) -> set[str | None]:
    return {finding.transactional_id, *(subject.transactional_id for subject in finding.subjects)}


def _touch(cause: Finding, since: int | None, until: int | None) -> bool:
    """Whether a cause shares time with a stretch; an unknown end is no obstacle."""
    if cause.since is None or cause.until is None or since is until is None:
        return False
    times = [time for time in (since, until) if time is not None]
    return cause.since <= max(times) + CLIENT_TOLERANCE_MS and min(times) <= cause.until + CLIENT_TOLERANCE_MS


def _stretches(story: Story, effect: Finding) -> list[tuple[int | None, int | None]]:
    """The times of each thing that a finding is about: of timed-out transactions their own, else its whole span."""
    if effect.rule == "transaction_timed_out":
        rows = story.transactions_of(story.id_code(effect.transactional_id))
        rows = rows[story.ends.ended_by[rows] == EndedBy.timeout]
        t = story.transactions[rows]
        if len(t):
            return list(zip(t["started_at"].tolist(), t["decided_at"].tolist(), strict=True))
    return [(effect.since, effect.until)]


def _leader(story: Story, topic: str, partition: int, at: int) -> int | None:
    """Who led a partition at a time, as logs of brokers tell; None where they don't."""
    logs = story.logs
    rows = logs.of_kind(EventKind.leader_changed)
    of_topic = [row for row in rows.tolist() if logs.string(row, "topic") == topic and 0 <= logs.times[row] <= at]
    nodes = [logs.number(row, "node") for row in of_topic if logs.events["partition"][row] == partition]
    return nodes[-1] if nodes else None


_AFTER_AN_ERROR = ("transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "unresolved_sequence")

CAUSES: dict[str, tuple[tuple[str, Condition], ...]] = {
    "coordinator_unavailable": (("broker_unreachable", same_time),),
    "transaction_timed_out": (
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("transaction.timeout.ms", "delivery.timeout.ms", "interval")),
    ),
    "fenced_by_new_instance": (("shared_producer", same_id),),
    "transactional_id_expired": (("misconfiguration", by_settings("transactional.id.expiration.ms")),),
    "unresolved_sequence": (
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("delivery.timeout.ms", "request.timeout.ms")),
    ),
    "stuck_prepare": (("broker_unreachable", leads_a_partition),),
    "commit_outcome_unknown": (("coordinator_unavailable", coordinator_of), ("broker_unreachable", same_time)),
    "concurrent_transactions_storm": (
        ("stuck_prepare", same_id),
        ("coordinator_unavailable", coordinator_of),
    ),
    "open_transaction": (("unstable_transactional_id", same_subject), ("coordinator_unavailable", overdue)),
    "abort_after_fatal_error": tuple((rule, same_id_and_time) for rule in _AFTER_AN_ERROR),
    "aborted_by_client": (
        ("fenced_by_group_generation", same_id_and_time),
        ("partition_verification_failed", same_id_and_time),
    ),
    "read_committed_blocked": (
        ("atomicity_violation", same_subject),
        ("hanging_transaction", same_subject),
        ("stuck_prepare", same_subject),
        ("open_transaction", same_subject),
        ("unstable_transactional_id", same_subject),
    ),
    "silent_failure": (
        ("abort_after_fatal_error", same_id_and_time),
        ("aborted_by_client", same_id_and_time),
        ("transaction_timed_out", same_id_and_time),
    ),
}
"""What can cause a finding, each with the condition that must be visible."""
