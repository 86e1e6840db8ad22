"""A diagnosis for a person, in the order in which somebody woken at night needs it.

Answer      one line; where there is more than one finding an index of them, numbered.
A finding   what happened; what to do; how sure that is, and what would decide; the evidence; what was ruled out.
The end     what could not be looked at, damage, what was read: a line each, the whole with --verbose. JSON has all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, OpenedRef
from kafkatx.findings.finding import Finding
from kafkatx.outputs.answer import answer, named, totals
from kafkatx.outputs.diagnosis_end import damage, failures, not_checked
from kafkatx.outputs.diagnosis_order import Story, stories
from kafkatx.outputs.text_lines import coverage_lines, marked, print_trimmed, shown, unbroken
from kafkatx.terms.times import clock, span
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, EvidenceRef, Remedy, Step

COLOURS = {Severity.error: "bold red", Severity.warning: "bold yellow", Severity.info: "bold cyan"}
MOST_PLACES = 3
"""Places printed under a step; JSON has all."""
MOST_LISTED = 10
"""Findings that the index names."""
BECAUSE = {
    Verdict.proved: "because of",
    Verdict.likely: "probably because of",
    Verdict.possible: "possibly because of",
}
SURE = {
    Verdict.proved: "proved: no other reading fits this evidence",
    Verdict.likely: "likely: it fits best, but this evidence does not prove it",
    Verdict.possible: "possible: one of several explanations",
}
UNEXPLAINED = "that it failed is; the cause is open"
MOST_ASKED = 3
"""Things to bring that are printed; JSON has all."""
INDENT = 3


def print_diagnosis(console: Console, diagnosis: Diagnosis, *, verbose: bool = False) -> None:
    """Print the answer, the findings and what was read; lines end where their text ends."""
    print_trimmed(console, *_parts(diagnosis, verbose))


def _parts(diagnosis: Diagnosis, verbose: bool) -> Iterator[RenderableType]:
    told = stories(diagnosis.findings)
    findings = [found for story in told for found in story.findings]
    numbers = {found.id: number for number, found in enumerate(findings, 1)}
    yield from _answer(diagnosis, told, numbers)
    yield Text("")
    captures = len({found.capture for found in findings}) > 1
    for found in findings:
        yield from _Told(found, findings, numbers, captures).lines()
        yield Text("")
    yield from _next(diagnosis)
    yield from not_checked(diagnosis, verbose)
    yield from damage(diagnosis.damage, verbose)
    yield from failures(diagnosis)
    yield from coverage_lines(diagnosis.coverage, verbose=verbose)


def _answer(diagnosis: Diagnosis, told: list[Story], numbers: dict[str, int]) -> Iterator[RenderableType]:
    """The headline; of several findings an index, the worst first, and how many root causes they are."""
    if len(numbers) > 1:
        yield from _index(told, numbers)
        yield shown(totals(diagnosis), "dim")
        return
    headline = answer(diagnosis).headline
    severity = told[0].worst.finding.severity if told else Severity.info
    rest = headline.removeprefix(f"{severity.name}: ")
    if rest == headline:
        yield shown(rest, "bold")
    else:
        yield marked(f"{severity.name}  ", rest, "bold", mark_style=COLOURS[severity])


def _index(told: list[Story], numbers: dict[str, int]) -> Iterator[RenderableType]:
    """A line a finding, what belongs to the worst of a chain below it, and what to do first; the cause by its number.

    What is only worth knowing and caused nothing is counted, where there is anything worse.
    """
    by_id = {found.id: found for story in told for found in story.findings}
    listed = _listed(told)
    width = len(str(len(by_id)))
    for story in told:
        advised: set[str] = set()
        for found in story.findings:
            if found.id in listed:
                indent = 0 if found is story.worst else 2
                yield from _entry(found, numbers, by_id.get(found.caused_by or ""), width, indent)
                yield from _first_advice(found, advised, indent + width + 10)
    left = len(numbers) - len(listed)
    if left:
        yield marked("  ", f"and {left} more, below", "dim")


def _listed(told: list[Story]) -> set[str]:
    """Ids of the findings that the index names."""
    findings = [found for story in told for found in story.findings]
    causes = {found.caused_by for found in findings}
    worst = max(found.finding.severity for found in findings)
    matter = [found for found in findings if found.finding.severity > Severity.info or found.id in causes]
    return {found.id for found in (matter if worst > Severity.info else findings)[:MOST_LISTED]}


def _entry(
    found: Diagnosed, numbers: dict[str, int], cause: Diagnosed | None, width: int, indent: int
) -> Iterator[RenderableType]:
    """Severity, since when, whom, what, how sure and why."""
    finding = found.finding
    why = "" if cause is None else f", {BECAUSE[cause.finding.verdict]} {numbers[cause.id]}"
    mark = Text.assemble(f"{numbers[found.id]:>{width}}. ", (f"{finding.severity.name:<8}", COLOURS[finding.severity]))
    when = "" if finding.since is None else f"{clock(finding.since)[:8]} "
    yield marked(mark, f"{when}{named(finding)}{why}", indent=indent)


def _first_advice(found: Diagnosed, advised: set[str], indent: int) -> Iterator[RenderableType]:
    """The first sentence of what to do, once in a chain, where something is wrong."""
    finding = found.finding
    if finding.remedies and finding.severity > Severity.info:
        first, _, _ = finding.remedies[0].text.partition(". ")
        if first not in advised:
            advised.add(first)
            yield marked("do: ", first, mark_style="bold green", indent=indent)


def _next(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """What to bring next, the best first, with the command that gets it."""
    if not diagnosis.next:
        return
    yield Text("Bring next, and diagnose it together with this:", style="bold")
    for number, one in enumerate(diagnosis.next[:MOST_ASKED], 1):
        asked = one.asked
        yield marked(f"{number}. ", f"{asked.what}: {asked.why} ({asked.where})")
        if asked.command:
            yield unbroken(asked.command, "bold", INDENT)
    if len(diagnosis.next) > MOST_ASKED:
        yield marked("   ", f"and {len(diagnosis.next) - MOST_ASKED} more: --json lists them", "dim")
    yield Text("")


@dataclass(frozen=True)
class _Told:
    """One finding among all; `captures` says whether there are several."""

    found: Diagnosed
    findings: list[Diagnosed]
    numbers: dict[str, int]
    captures: bool

    def lines(self) -> Iterator[RenderableType]:
        """What happened, what to do, how sure, the evidence, what was ruled out."""
        finding = self.found.finding
        yield marked(f"{self.numbers[self.found.id]}. ", finding.summary, "bold")
        yield Padding(shown(self._placed(finding), "dim"), (0, 0, 0, INDENT))
        yield from self._causes()
        for remedy in finding.remedies:
            yield from _remedy(remedy)
        yield from _certainty(finding)
        yield from self._evidence(finding)
        refuted = [other for other in finding.considered if other.refuted]
        if refuted:
            yield _line("ruled out: ", "; ".join(f"{_name(other)} ({other.because})" for other in refuted), "dim")

    def _placed(self, finding: Finding) -> str:
        """Severity, rule, how often, when, and in which of several captures."""
        times = f"{finding.count:,} times" if finding.count > 1 else ""
        when = span(finding.since, finding.until, has_zone=finding.has_zone)
        capture = f"capture {self.found.capture}" if self.captures else ""
        return ", ".join(filter(None, (f"{finding.severity.name} {finding.rule}", times, when, capture)))

    def _causes(self) -> Iterator[RenderableType]:
        """What caused it, and what besides."""
        by_id = {found.id: found for found in self.findings}
        cause = by_id.get(self.found.caused_by or "")
        if cause is not None:
            mark = f"{BECAUSE[cause.finding.verdict]}: "
            yield _line(mark, f"{named(cause.finding)}, see {self.numbers[cause.id]}", mark_style="bold")
        others = [str(self.numbers[name]) for name in self.found.contributing if name in by_id]
        if others:
            yield _line("contributing: ", f"see {', '.join(others)}")

    def _evidence(self, finding: Finding) -> Iterator[RenderableType]:
        """Who is meant, then step by step with the places, then the files."""
        opened = {place.place: place for place in self.found.evidence}
        files = _files(opened[place] for step in finding.steps for place in step.places[:MOST_PLACES])
        yield _line("evidence:", "", mark_style="bold")
        yield from (_line(f"{actor.name} = ", actor.what) for actor in finding.actors)
        for at, step in enumerate(finding.steps, 1):
            yield from _step(at, step, opened, files)
        yield from (unbroken(f"[{number}] {path}", "dim", INDENT) for path, number in files.items())


def _certainty(finding: Finding) -> Iterator[RenderableType]:
    """How sure it is, which explanations are left, and what would decide."""
    yield _line("sure: ", UNEXPLAINED if finding.is_unexplained else SURE[finding.verdict], mark_style="bold")
    for other in finding.considered:
        if not other.refuted:
            against = f"; against it: {other.against}" if other.against else ""
            decided = f"; {other.decided_by} would decide" if other.decided_by else ""
            yield _line(f"      {_mark(finding)}", f"{_name(other)} ({other.because}){against}{decided}")


def _mark(finding: Finding) -> str:
    """What stands before an explanation that is left open."""
    if finding.is_unexplained:
        return "may be: "
    return "left open: " if finding.verdict is Verdict.proved else "not ruled out: "


def _name(other: Considered) -> str:
    """A rule by its name in words."""
    return other.rule.replace("_", " ")


def _files(places: Iterable[OpenedRef]) -> dict[str, int]:
    """Numbers of the files that are cited, in the order in which they are."""
    paths = dict.fromkeys(place.source for place in places if place.source)
    return {path: number for number, path in enumerate(paths, 1)}


def _step(
    number: int, step: Step, opened: dict[EvidenceRef, OpenedRef], files: dict[str, int]
) -> Iterator[RenderableType]:
    grounds = "" if step.because is None else f" (evidence: {step.because})"
    yield _line(f"{number}. ", f"{step.text}{grounds}")
    for place in step.places[:MOST_PLACES]:
        yield _place(opened[place], files)
    if len(step.places) > MOST_PLACES:
        yield _line("   ", f"and {len(step.places) - MOST_PLACES} more places", "dim")


def _place(opened: OpenedRef, files: dict[str, int]) -> RenderableType:
    """The file by its number, the byte or line in it, and what stands there."""
    place = opened.place
    if opened.source is None:
        return _line("   ", f"in no file any more: {_standing(place)}", "dim")
    if opened.line is not None:
        return _line(f"   [{files[opened.source]}] ", f"line {opened.line}: {place.text}", "dim")
    return _line(f"   [{files[opened.source]}] ", f"byte {opened.position}: {_standing(place)}", "dim")


def _standing(place: EvidenceRef) -> str:
    return f"{place.topic}-{place.partition} @ {place.offset}: {place.text}"


def _remedy(remedy: Remedy) -> Iterator[RenderableType]:
    yield _line("do: ", f"{remedy.text} ({remedy.where})", mark_style="bold green")
    if remedy.config:
        current = "" if remedy.current is None else f"{remedy.current} -> "
        yield _line("    ", f"{remedy.config}: {current}{remedy.proposed or 'set it'}")
    if remedy.derived_from:
        yield _line("    ", f"why: {remedy.derived_from}", "dim")
    if remedy.command:
        yield unbroken(remedy.command, "bold", INDENT + 4)
    if remedy.cost:
        yield _line("    ", f"cost: {remedy.cost}", "dim")


def _line(mark: str, text: str, style: str = "", mark_style: str = "") -> RenderableType:
    return marked(mark, text, style, indent=INDENT, mark_style=mark_style)
