"""The order in which a person reads findings: what belongs to one chain of causes together, the root first."""

from __future__ import annotations

from kafkatx.findings.diagnosis import Diagnosed


def as_stories(findings: list[Diagnosed]) -> list[Diagnosed]:
    """Lay findings (worst first) in chains: each chain where its worst finding stood, causes before their effects."""
    by_id = {found.id: found for found in findings}
    place = {found.id: number for number, found in enumerate(findings)}
    effects: dict[str, list[str]] = {}
    for found in findings:
        if found.caused_by in by_id and found.caused_by is not None:
            effects.setdefault(found.caused_by, []).append(found.id)
    told: dict[str, None] = {}
    for found in findings:
        _tell(_root(found.id, by_id), effects, place, told)
    return [by_id[name] for name in told]


def _root(name: str, by_id: dict[str, Diagnosed]) -> str:
    """The first cause of a finding that is at hand."""
    seen = {name}
    while (cause := by_id[name].caused_by) in by_id and cause is not None and cause not in seen:
        seen.add(cause)
        name = cause
    return name


def _tell(root: str, effects: dict[str, list[str]], place: dict[str, int], told: dict[str, None]) -> None:
    """Tell a finding, then each of its effects with what that caused."""
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in told:
            told[name] = None
            waiting += sorted(effects.get(name, ()), key=lambda effect: -place[effect])
