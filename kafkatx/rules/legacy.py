"""Rules that are still one function: their place in the graph, until each says it itself."""

from __future__ import annotations

import sys
from typing import Any

from kafkatx.rules.conditions import same_id_and_time
from kafkatx.rules.rule import Condition, Rule
from kafkatx.terms.events import Side

RANK = {
    "shared_producer": 1,
    "abort_after_fatal_error": 5,
    "silent_failure": 7,
}
"""How deep a rule's facts lie: 0 is outside, 7 what an application sees last."""

_AFTER_AN_ERROR = ("transaction_timed_out", "fenced_by_new_instance", "transactional_id_expired", "unresolved_sequence")

CAUSES: dict[str, tuple[tuple[str, Condition], ...]] = {
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
