"""Rules that are still one function: their place in the graph, until each says it itself."""

from __future__ import annotations

import sys
from typing import Any

from kafkatx.rules.rule import Rule

RANK = {"misconfiguration": 0}
"""How deep a rule's facts lie: 0 is outside, 7 what an application sees last."""


def adapted(name: str, rule: Any) -> Rule:
    """Return a rule in its form, whatever its module has."""
    if isinstance(rule, Rule):
        return rule
    return Rule(find=sys.modules[f"kafkatx.rules.{name}"].check, words=(), depth=RANK[name])
