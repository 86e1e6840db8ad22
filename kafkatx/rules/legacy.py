"""Rules that are still one function: their place in the graph, until each says it itself."""

from __future__ import annotations

import sys
from typing import Any

from kafkatx.rules.conditions import (
    by_settings,
    coordinator_of,
    same_id_and_time,
    same_time,
)
from kafkatx.rules.rule import Condition, Rule
from kafkatx.terms.events import Side

RANK = {
    **dict.fromkeys(("producer_id_collision", "shared_producer"), 1),
    **dict.fromkeys(("zombie_coordinator", "damaged_index"), 2),
    **dict.fromkeys(
        (
            "transaction_timed_out", "fenced_by_new_instance", "producer_state_expired",
            "partition_verification_failed", "fenced_by_group_generation", "sequence_gap",
            "duplicate_sequence",
        ),
        3,
    ),
    **dict.fromkeys(
        (
            "unresolved_sequence", "commit_outcome_unknown",
        ),
        4,
    ),
    **dict.fromkeys(("abort_after_fatal_error", "aborted_by_client"), 5),
    **dict.fromkeys(("pending_offset_commit",), 6),
    **dict.fromkeys(("committed_but_unreadable", "silent_failure"), 7),
}  # fmt: skip
"""How deep a rule's facts lie: 0 is outside, 7 what an application sees last."""

_AFTER_AN_ERROR = ("transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "unresolved_sequence")

CAUSES: dict[str, tuple[tuple[str, Condition], ...]] = {
    "unresolved_sequence": (
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("delivery.timeout.ms", "request.timeout.ms")),
    ),
    "commit_outcome_unknown": (("coordinator_unavailable", coordinator_of), ("broker_unreachable", same_time)),
    "abort_after_fatal_error": tuple((rule, same_id_and_time) for rule in _AFTER_AN_ERROR),
    "silent_failure": (
        ("abort_after_fatal_error", same_id_and_time),
        ("aborted_by_client", same_id_and_time),
        ("transaction_timed_out", same_id_and_time),
    ),
}
"""What can cause a finding, each with the condition that must be visible."""
BY_LOGS: dict[str, tuple[Side, ...]] = {
    "abort_after_fatal_error": (Side.client,),
    "commit_outcome_unknown": (Side.client,),
    "fenced_by_group_generation": (Side.client, Side.broker),
    "partition_verification_failed": (Side.client, Side.broker),
    "silent_failure": (Side.client,),
    "unresolved_sequence": (Side.client,),
}
"""Rules that can't look without logs, and whose logs would do."""


def adapted(name: str, rule: Any) -> Rule:
    """Return a rule in its form, whatever its module has."""
    if isinstance(rule, Rule):
        return rule
    check = sys.modules[f"kafkatx.rules.{name}"].check
    return Rule(
        find=check, words=(), depth=RANK[name], caused_by=CAUSES.get(name, ()), decided_by=BY_LOGS.get(name, ())
    )
