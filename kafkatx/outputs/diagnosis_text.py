"""A diagnosis for a person, in the order in which somebody woken at night needs it.

Answer      one line; where there is more than one finding an index of them, numbered.
A finding   what happened; what to do; how sure that is, and what would decide; the evidence; what was ruled out.
The end     what could not be looked at, damage, what was read: a line each, the whole with --verbose. JSON has all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, OpenedRef
from kafkatx.findings.finding import Finding
from kafkatx.outputs.answer import answer, examined_in, named, totals
from kafkatx.outputs.diagnosis_end import damage, failures, not_checked
from kafkatx.outputs.diagnosis_order import Story, dates, folded, short_names, stories
from kafkatx.outputs.diagnosis_words import BECAUSE, how_sure, in_words, left_as, placed, would_decide
from kafkatx.outputs.text_lines import coverage_lines, marked, print_trimmed, shown, unbroken
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import iso
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import EvidenceRef, Remedy, Step
from kafkatx.words.plurals import plural

COLOURS = {Severity.error: "bold red", Severity.warning: "bold yellow", Severity.info: "bold cyan"}
MOST_PLACES = 3
"""Places printed under a step; JSON has all."""
MOST_LISTED = 10
"""Findings that the index names."""
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
    """The headline; of several findings an index, the worst first, and how many root causes they are.

    Where nothing is wrong and nothing failed that comes first.
    """
    if len(numbers) > 1:
        is_fine = told[0].worst.finding.severity is Severity.info and not diagnosis.failures.explained
        counted = totals(diagnosis)
        times = _times(diagnosis, counted)
        sums = shown(" ".join(filter(None, (counted, times, "For information:" if is_fine else ""))), "dim")
        yield from (sums, *_index(told, numbers)) if is_fine else (*_index(told, numbers), sums)
        return
    headline = answer(diagnosis).headline
    severity = told[0].worst.finding.severity if told else Severity.info
    rest = headline.removeprefix(f"{severity.name}: ")
    if rest == headline:
        yield shown(rest, "bold")
    else:
        yield marked(f"{severity.name}  ", rest, "bold", mark_style=COLOURS[severity])
    if told and severity is Severity.info and (looked_at := examined_in(diagnosis)):
        yield shown(looked_at, "dim")


def _times(diagnosis: Diagnosis, said: str) -> str:
    """`Times of 2026-11-21, UTC.`: the date and zone of the times in the index, where they are the same.

    Not where what was `said` before has them.
    """
    timed = [found.finding for found in diagnosis.findings if found.finding.moment is not None]
    days, zones = dates(timed), {finding.has_zone for finding in timed}
    if len(days) != 1:
        return ""
    zone = "" if len(zones) > 1 else ", UTC" if zones.pop() else ", zone not known"
    day = days.pop()
    return "" if day in said and "UTC" in said and zone == ", UTC" else f"Times of {day}{zone}."


def _index(told: list[Story], numbers: dict[str, int]) -> Iterator[RenderableType]:
    """A line for findings that are alike, what belongs to the worst of a chain below it, and what to do first.

    What is only worth knowing and caused nothing is counted, where there is anything worse.
    """
    by_id = {found.id: found for story in told for found in story.findings}
    roots = {story.worst.id for story in told}
    causes = {found.caused_by for found in by_id.values()}
    has_one_date = len(dates([found.finding for found in by_id.values()])) <= 1
    lines = _listed(told)
    width = max(len(str(numbers[alike[0].id])) for alike in lines)
    short = short_names({found.finding.who or "" for found in by_id.values()})
    advised: set[str] = set()
    for alike in lines:
        first = alike[0]
        indent = 0 if first.id in roots else 2
        if not indent:
            advised = set()
        yield from _entry(alike, numbers, by_id.get(first.caused_by or ""), width, indent, has_one_date, short)
        if first.finding.severity > Severity.info or first.id in causes or (not indent and _asks_for_something(first)):
            yield from _first_advice(first, advised, indent + width + 10)
    listed = {found.id for alike in lines for found in alike}
    left = [found.finding.severity for found in by_id.values() if found.id not in listed]
    if left:
        what = f"{len(left)} for information" if max(left) is Severity.info else f"{len(left)} more"
        yield marked("  ", f"and {what}, below", "dim")


def _listed(told: list[Story]) -> list[list[Diagnosed]]:
    """The findings that the index names, alike ones together."""
    findings = [found for story in told for found in story.findings]
    causes = {found.caused_by for found in findings}
    worst = max(found.finding.severity for found in findings)
    if worst > Severity.info:
        findings = [found for found in findings if found.finding.severity > Severity.info or found.id in causes]
    return folded(told, {found.id for found in findings})[:MOST_LISTED]


def _entry(
    alike: list[Diagnosed],
    numbers: dict[str, int],
    cause: Diagnosed | None,
    width: int,
    indent: int,
    has_one_date: bool,
    short: dict[str, str],
) -> Iterator[RenderableType]:
    """Severity, when, whom, what, how sure and why."""
    first = alike[0]
    finding = first.finding
    broker = f" ({cause.finding.who})" if cause is not None and cause.finding.nodes else ""
    why = "" if cause is None else f", {BECAUSE[cause.finding.verdict]} {numbers[cause.id]}{broker}"
    mark = Text.assemble(f"{numbers[first.id]:>{width}}. ", (f"{finding.severity.name:<8}", COLOURS[finding.severity]))
    time = (iso(finding.moment) or "")[11 if has_one_date else 0 : 19].replace("T", " ")
    yield marked(
        mark, f"{time} {named(finding, _others(alike[1:], numbers, short), short)}{why}".lstrip(), indent=indent
    )


def _others(alike: list[Diagnosed], numbers: dict[str, int], short: dict[str, str]) -> str:
    """Of whom the same is told: one by name, more by their number."""
    if not alike:
        return ""
    who = alike[0].finding.who or ""
    told = short.get(who, who) if len(alike) == 1 and who else f"{len(alike)} more"
    each = ", each" if any(letter.isdecimal() for letter in alike[0].finding.title) else ""
    return f" and {told} (see {_runs([numbers[found.id] for found in alike])}){each}"


def _runs(numbers: list[int]) -> str:
    """`2 to 6, 8`: numbers in order, runs of three and more by their ends."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _asks_for_something(found: Diagnosed) -> bool:
    """Whether there is something to do about it, where it is only worth knowing; of an open failure it stands below."""
    remedies = found.finding.remedies
    return bool(remedies) and not found.finding.is_unexplained and not remedies[0].text.startswith("Nothing")


def _first_advice(found: Diagnosed, advised: set[str], indent: int) -> Iterator[RenderableType]:
    """The first sentence of what to do, once in a chain, with what is to be typed for it."""
    if found.finding.remedies:
        first = found.finding.remedies[0].first_sentence
        if first not in advised:
            advised.add(first)
            yield marked("do: ", first, mark_style="bold green", indent=indent)
            if found.finding.remedies[0].command:
                yield unbroken(found.finding.remedies[0].command, "bold", indent + 4)


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
        yield Padding(shown(placed(self.found, captures=self.captures), "dim"), (0, 0, 0, INDENT))
        yield from self._causes()
        for remedy in finding.remedies:
            yield from _remedy(remedy)
        yield from _certainty(finding)
        yield from self._evidence(finding)
        refuted = [other for other in finding.considered if other.refuted]
        if refuted:
            yield _line("ruled out: ", "; ".join(f"{in_words(other)} ({other.because})" for other in refuted), "dim")

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
    yield _line("sure: ", how_sure(finding), mark_style="bold")
    left = [other for other in finding.considered if not other.refuted]
    for at, other in enumerate(left):
        is_last = at + 1 == len(left) or left[at + 1].decided_by != other.decided_by
        against = f"; against it: {other.against}" if other.against else ""
        decided = f"; {would_decide(other.decided_by)}" if other.decided_by and is_last else ""
        yield _line(f"      {left_as(finding)}: ", f"{in_words(other)} ({other.because}){against}{decided}")


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
        yield _line("   ", f"and {plural(len(step.places) - MOST_PLACES, 'more place')}", "dim")


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
    first, *means = remedy.lines
    yield _line("do: ", f"{first} ({remedy.where})", mark_style="bold green")
    for meaning in means:
        yield _line("    - ", meaning)
    if remedy.config:
        yield _line("    ", f"{remedy.config}: {_change(remedy)}")
    if remedy.derived_from:
        yield _line("    ", f"why: {remedy.derived_from}", "dim")
    if remedy.command:
        yield unbroken(remedy.command, "bold", INDENT + 4)
    if remedy.cost:
        yield _line("    ", f"cost: {remedy.cost}", "dim")


def _change(remedy: Remedy) -> str:
    """The value now and the one that it should have, as far as each is known."""
    if remedy.proposed is None:
        return "set it" if remedy.current is None else f"it is {remedy.current}"
    return remedy.proposed if remedy.current is None else f"{remedy.current} -> {remedy.proposed}"


def _line(mark: str, text: str, style: str = "", mark_style: str = "") -> RenderableType:
    return marked(mark, text, style, indent=INDENT, mark_style=mark_style)
