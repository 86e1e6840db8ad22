"""The order in which a person reads findings: chains of cause and effect together, in each the worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kafkatx.findings.diagnosis import Diagnosed
from kafkatx.findings.finding import Finding
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Verdict

_NUMBERS = regex(r"(?:[-_.]?\d+)+$")

_UUID = regex(r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


@dataclass(frozen=True, slots=True)
class Story:
    """Findings of one chain: the worst first; among equally bad ones the cause first."""

    root: Diagnosed
    findings: tuple[Diagnosed, ...]

    @property
    def worst(self) -> Diagnosed:
        """The one that a reader must know first."""
        return self.findings[0]


def stories(findings: list[Diagnosed]) -> list[Story]:
    """Lay findings (worst first) in chains, each chain where its worst finding stood.

    Among equally bad ones a failure whose cause is open stands behind a likely cause: who reads asks for causes.
    """
    findings = sorted(findings, key=_causes_before_failures)
    by_id = {found.id: found for found in findings}
    place = {found.id: number for number, found in enumerate(findings)}
    effects: dict[str, list[str]] = {}
    for found in findings:
        if found.caused_by in by_id and found.caused_by is not None:
            effects.setdefault(found.caused_by, []).append(found.id)
    chains: dict[str, dict[str, None]] = {}
    told: dict[str, None] = {}
    for found in findings:
        if found.id not in told:
            root = _root(found.id, by_id)
            chains[root] = _chain(root, effects, place)
            told |= chains[root]
    return [
        Story(by_id[root], tuple(sorted(map(by_id.__getitem__, chain), key=lambda one: -one.finding.severity)))
        for root, chain in chains.items()
    ]


def _causes_before_failures(found: Diagnosed) -> tuple[int, int]:
    """The worst first; that a failure happened is sure, but says less than a likely cause, and more than a guess."""
    finding = found.finding
    sure = min(finding.verdict, Verdict.possible) if finding.is_unexplained else finding.verdict
    return -finding.severity, -2 * sure - finding.is_unexplained


def _root(name: str, by_id: dict[str, Diagnosed]) -> str:
    """The first cause of a finding that is at hand."""
    seen = {name}
    while (cause := by_id[name].caused_by) in by_id and cause is not None and cause not in seen:
        seen.add(cause)
        name = cause
    return name


def _chain(root: str, effects: dict[str, list[str]], place: dict[str, int]) -> dict[str, None]:
    """A finding, then each of its effects with what that caused."""
    told: dict[str, None] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        if name not in told:
            told[name] = None
            waiting += sorted(effects.get(name, ()), key=lambda effect: -place[effect])
    return told


def folded(told: list[Story], listed: set[str]) -> list[list[Diagnosed]]:
    """Put findings together that an index can name in one line: alike by rule, title, verdict and kind of cause.

    Chains fold only as a whole, so that each effect stays below its cause.
    """
    by_id = {found.id: found for story in told for found in story.findings}
    lines: dict[object, list[Diagnosed]] = {}
    for story in told:
        kinds = {found.id: _kind(found, by_id) for found in story.findings if found.id in listed}
        shape = frozenset(kinds.values())
        for name, kind in kinds.items():
            found = by_id[name]
            alike = lines.setdefault((shape, kind), [])
            if found.finding.who in {None, *(other.finding.who for other in alike)} and alike:
                lines[name] = [found]
            else:
                alike.append(found)
    return list(lines.values())


def one_change(found: Diagnosed) -> object:
    """What findings have in common that one change of a setting mends: ids of one name but for their numbers.

    Transactions of one process that stood still have that in common. Else it is the finding itself.
    """
    finding = found.finding
    stall = finding.facts.get("stall")
    if stall is not None:
        return (finding.rule, found.capture, stall["since"], stall["until"])
    asked = ((one.config, one.current, one.proposed) for one in finding.remedies if (one.proposed or "").isdecimal())
    change, name = next(asked, None), finding.transactional_id
    return found.id if change is None or name is None else (finding.rule, change, _NUMBERS.sub("", name))


def _kind(found: Diagnosed, by_id: dict[str, Diagnosed]) -> tuple[object, ...]:
    """What a finding has in common with those that are alike: so have their causes."""
    kind: list[object] = []
    seen: set[str] = set()
    cause: Diagnosed | None = found
    while cause is not None and cause.id not in seen:
        seen.add(cause.id)
        kind.append((cause.finding.rule, cause.finding.title, cause.finding.verdict))
        cause = by_id.get(cause.caused_by or "")
    return tuple(kind)


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Names with a UUID in them by its first eight digits, where that tells them apart from all others."""
    short = {name: _UUID.sub(r"\1..", name) for name in names}
    counts = Counter(short.values())
    return {name: told for name, told in short.items() if told != name and counts[told] == 1}


def dates(findings: Iterable[Finding]) -> set[str]:
    """Dates of the times that an index prints."""
    return {text[:10] for finding in findings if (text := iso(finding.moment)) is not None}
