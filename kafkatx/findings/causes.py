"""Which finding caused which: the graph of mechanisms that the rules name, each edge with its condition.

Edges go from a lower to a higher depth, so there are no cycles. Two go another way: stuck_prepare causes the storm of
its own id, and an abort that its client did not send lets a leader refuse what it writes next. Of several causes the
surest and then the nearest one (greatest depth, then time) is the primary; others are contributing unless they are
behind the primary already. A cause begins before its effect ends. Of many alike things some may have one cause and some
another one: each that had a part in them is told.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkatx.findings.conditions import same_time, shared
from kafkatx.findings.finding import Finding
from kafkatx.findings.rule import Condition, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Graph:
    """The rules by name, as causes and effects of each other."""

    rules: Mapping[str, Rule]

    def edges(self, effect: str) -> tuple[tuple[str, Condition], ...]:
        """What can cause findings of a rule: what it names itself, then those that name it."""
        named = [(name, to, condition) for name, rule in self.rules.items() for to, condition in rule.causes]
        return (*self.rules[effect].caused_by, *((name, condition) for name, to, condition in named if to == effect))


@dataclass(frozen=True, slots=True)
class Causes:
    """What caused a finding, by number: the primary cause, and what contributed besides."""

    primary: int | None = None
    contributing: tuple[int, ...] = ()


def causes(model: CaptureModel, findings: list[Finding], rules: Mapping[str, Rule]) -> list[Causes]:
    """Find the causes of every finding among all of them."""
    graph = Graph(rules)
    by_rule: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        by_rule.setdefault(finding.rule, []).append(number)
    candidates = [_candidates(model, findings, by_rule, number, graph) for number in range(len(findings))]
    primary = [found[0] if found else None for found in candidates]
    eased = [_eased(model, findings, by_rule, number, graph) for number in range(len(findings))]
    return [
        Causes(primary[number], tuple(other for other in others if other not in _behind(primary, number)))
        for number, others in enumerate((*found[1:], *more) for found, more in zip(candidates, eased, strict=True))
    ]


def _eased(
    model: CaptureModel, findings: list[Finding], by_rule: dict[str, list[int]], number: int, graph: Graph
) -> list[int]:
    """Findings that made one possible, and caused nothing by themselves."""
    effect = findings[number]
    return [
        other
        for rule, condition in graph.rules[effect.rule].eased_by
        for other in by_rule.get(rule, ())
        if other != number and condition(model, findings[other], effect)
    ]


def _candidates(
    model: CaptureModel, findings: list[Finding], by_rule: dict[str, list[int]], number: int, graph: Graph
) -> list[int]:
    """Every finding that can have caused one, the best first."""
    effect = findings[number]
    found = [
        other
        for rule, condition in graph.edges(effect.rule)
        for other in by_rule.get(rule, ())
        if other != number and _precedes(findings[other], effect) and condition(model, findings[other], effect)
    ]
    best = sorted(dict.fromkeys(found), key=lambda other: (*_order(findings[other], effect, graph), other))
    return [*best, *_in_part(model, findings, by_rule, number, graph, best)]


def _in_part(
    model: CaptureModel,
    findings: list[Finding],
    by_rule: dict[str, list[int]],
    number: int,
    graph: Graph,
    best: list[int],
) -> list[int]:
    """Those that each have a smaller part in it, the largest first: of many alike things some fell into each of them.

    They count beside a cause, or where together they had a part in half of it.
    """
    effect, parts, of = findings[number], dict[int, frozenset[int]](), 0
    for rule, condition in graph.edges(effect.rule):
        for other in by_rule.get(rule, ()) if condition is same_time else ():
            if other != number and other not in best and _precedes(findings[other], effect):
                touched, of = shared(model, findings[other], effect)
                parts |= {other: touched} if touched else {}
    together = frozenset[int]().union(*parts.values())
    return sorted(parts, key=lambda other: (-len(parts[other]), other)) if best or 2 * len(together) >= of else []


def _order(cause: Finding, effect: Finding, graph: Graph) -> tuple[bool, int, int, int]:
    """Surer than a guess first, then the nearest mechanism, the surest, the nearest in time."""
    listed = [rule for rule, _ in graph.edges(effect.rule)].index(cause.rule)
    away = abs((effect.since or 0) - (cause.until or 0)) if cause.until is not None else 1 << 62
    return cause.verdict is Verdict.possible, -graph.rules[cause.rule].depth, listed - 100 * cause.verdict, away


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
