"""Rules that are still one function: their place in the graph, until each says it itself."""

from __future__ import annotations

import sys
from typing import Any

from kafkatx.rules.conditions import (
    by_settings,
    coordinator_of,
    leads_a_partition,
    overdue,
    same_id,
    same_id_and_time,
    same_subject,
    same_time,
)
from kafkatx.rules.rule import Condition, Rule
from kafkatx.terms.events import Side

RANK = {
    "misconfiguration": 0,
    **dict.fromkeys(("broker_unreachable", "producer_id_collision", "shared_producer", "unstable_transactional_id"), 1),
    **dict.fromkeys(("coordinator_unavailable", "zombie_coordinator", "damaged_index"), 2),
    **dict.fromkeys(
        (
            "transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "producer_state_expired",
            "producer_epoch_exhausted", "sequence_gap",
            "duplicate_sequence",
        ),
        3,
    ),
    **dict.fromkeys(
        (
            "concurrent_transactions_storm", "stuck_prepare",
            "hanging_transaction", "open_transaction", "inconsistent_transaction_state",
        ),
        4,
    ),
    **dict.fromkeys(("abort_after_fatal_error", "aborted_by_client", "atomicity_violation"), 5),
    **dict.fromkeys(("read_committed_blocked", "pending_offset_commit"), 6),
    **dict.fromkeys(("committed_but_unreadable", "silent_failure"), 7),
}  # fmt: skip
"""How deep a rule's facts lie: 0 is outside, 7 what an application sees last."""

_AFTER_AN_ERROR = ("transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "unresolved_sequence")

CAUSES: dict[str, tuple[tuple[str, Condition], ...]] = {
    "coordinator_unavailable": (("broker_unreachable", same_time),),
    "transactional_id_expired": (("misconfiguration", by_settings("transactional.id.expiration.ms")),),
    "stuck_prepare": (("broker_unreachable", leads_a_partition),),
    "concurrent_transactions_storm": (
        ("stuck_prepare", same_id),
        ("coordinator_unavailable", coordinator_of),
    ),
    "open_transaction": (("unstable_transactional_id", same_subject), ("coordinator_unavailable", overdue)),
    "abort_after_fatal_error": tuple((rule, same_id_and_time) for rule in _AFTER_AN_ERROR),
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
BY_LOGS: dict[str, tuple[Side, ...]] = {
    "abort_after_fatal_error": (Side.client,),
    "broker_unreachable": (Side.client, Side.broker),
    "coordinator_unavailable": (Side.client, Side.broker),
    "silent_failure": (Side.client,),
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
