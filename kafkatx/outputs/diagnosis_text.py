"""A diagnosis for a person: the worst first, each finding as a model whose sentences point at bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from kafkatx.evidence.coverage import Coverage
from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, OpenedRef
from kafkatx.findings.finding import Finding
from kafkatx.outputs.diagnosis_order import as_stories
from kafkatx.outputs.text_lines import left_out, marked, print_trimmed, segments_read, shown
from kafkatx.terms.times import iso
from kafkatx.words.evidence_refs import plural
from kafkatx.words.explained import EvidenceRef, Remedy, Step

COLOURS = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
MOST_PLACES = 3
"""Places printed under a step; JSON has all."""


def print_diagnosis(console: Console, diagnosis: Diagnosis) -> None:
    """Print findings, what could not be checked, damage and coverage; lines end where their text ends."""
    print_trimmed(console, *_parts(diagnosis))


def _parts(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    findings = as_stories(diagnosis.findings)
    ids = {found.id: number for number, found in enumerate(findings, 1)}
    for number, found in enumerate(findings, 1):
        yield _head(number, found.finding)
        yield from _finding(found, ids)
        yield Text("")
    if not findings:
        yield Text("Nothing wrong was found in what could be read.")
    yield from _rest(diagnosis)


def _head(number: int, finding: Finding) -> Text:
    """Severity, rule and verdict in one line."""
    severity = finding.severity.name
    return Text.assemble(
        (f"{number}. {severity}", COLOURS[severity]),
        "  ",
        (finding.rule, "bold"),
        f"  {finding.verdict.name}",
        f"  {finding.count:,} times" if finding.count > 1 else "",
    )


def _finding(found: Diagnosed, ids: dict[str, int]) -> Iterator[RenderableType]:
    """What happened and when, step by step, what else was considered, what caused it, what to do."""
    finding = found.finding
    opened = {place.place: place for place in found.evidence}
    files = _files(opened[place] for step in finding.steps for place in step.places[:MOST_PLACES])
    times = filter(None, (iso(finding.since), iso(finding.until)))
    yield _below(finding.summary, "bold")
    yield _below(", ".join(filter(None, (" to ".join(times), f"capture {found.capture}"))), "dim")
    yield from (_line(f"{actor.name} = ", actor.what) for actor in finding.actors)
    for at, step in enumerate(finding.steps, 1):
        yield from _step(at, step, opened, files)
    yield from (_line("considered ", f"{other.rule}: {other.because}") for other in finding.considered)
    yield from _causes(found, ids)
    for remedy in finding.remedies:
        yield from _remedy(remedy)
    yield from (_line(f"[{number}] ", path, "dim") for path, number in files.items())


def _files(places: Iterable[OpenedRef]) -> dict[str, int]:
    """Numbers of the files that are cited, in the order in which they are."""
    paths = dict.fromkeys(place.source for place in places if place.source)
    return {path: number for number, path in enumerate(paths, 1)}


def _causes(found: Diagnosed, ids: dict[str, int]) -> Iterator[RenderableType]:
    if found.caused_by in ids:
        yield _line("caused by: ", f"finding {ids[found.caused_by]}")
    others = [str(ids[name]) for name in found.contributing if name in ids]
    if others:
        yield _line("contributing: ", f"finding{'s' if len(others) > 1 else ''} {', '.join(others)}")


def _step(
    number: int, step: Step, opened: dict[EvidenceRef, OpenedRef], files: dict[str, int]
) -> Iterator[RenderableType]:
    yield _line(f"{number}. ", f"{step.text}, because {step.because}")
    for place in step.places[:MOST_PLACES]:
        yield Padding(_place(opened[place], files), (0, 0, 0, 3))
    if len(step.places) > MOST_PLACES:
        yield _below(f"and {len(step.places) - MOST_PLACES} more places", "dim", 6)


def _place(opened: OpenedRef, files: dict[str, int]) -> RenderableType:
    """[file]:byte or [file] line n, then topic, partition and offset, and what stands there."""
    place = opened.place
    if opened.line is not None and opened.source is not None:
        return _line(f"[{files[opened.source]}] line {opened.line}: ", place.text, "dim")
    where = f"[{files[opened.source]}]:{opened.position} " if opened.source is not None else "in no file any more: "
    return _line(where, f"{place.topic}-{place.partition} @ {place.offset}: {place.text}", "dim")


def _remedy(remedy: Remedy) -> Iterator[RenderableType]:
    yield _line("do: ", f"{remedy.text} ({remedy.where})")
    if remedy.config:
        current = "" if remedy.current is None else f" from {remedy.current}"
        proposed = "" if remedy.proposed is None else f" to {remedy.proposed}"
        yield _below(f"{remedy.config}{current}{proposed}; {remedy.derived_from or ''}".rstrip("; "), indent=6)
    if remedy.command:
        yield _below(remedy.command, "bold", 6)
    if remedy.cost:
        yield _below(f"cost: {remedy.cost}", "dim", 6)


def _line(mark: str, text: str, style: str = "") -> RenderableType:
    return marked(mark, text, style, indent=3)


def _below(text: str, style: str = "", indent: int = 3) -> RenderableType:
    return Padding(shown(text, style), (0, 0, 0, indent))


def _rest(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if diagnosis.not_checkable:
        yield Text("Could not be checked", style="bold")
        alike: dict[tuple[str, str], list[str]] = {}
        for _, entry in diagnosis.not_checkable:
            alike.setdefault((entry.scope, entry.missing), []).append(entry.rule)
        for (scope, missing), rules in alike.items():
            yield _line("- ", f"{', '.join(dict.fromkeys(rules))}: {scope}; missing: {missing}")
        yield Text("")
    if diagnosis.damage:
        yield Text("Damage", style="bold")
        for damage in diagnosis.damage[:20]:
            yield _line("- ", damage.sentence())
        if len(diagnosis.damage) > 20:
            yield _line("  ", f"and {len(diagnosis.damage) - 20} more")
        yield Text("")
    if diagnosis.findings:
        yield shown("[1]:1048 above means byte 1048 of file [1] of that finding.", "dim")
    yield from (shown(line, "dim") for line in _coverage(diagnosis.coverage))


def _coverage(coverage: list[Coverage]) -> list[str]:
    """What was read, in a line or two; --json names every file."""
    texts = [entry for entry in coverage if entry.status == "read" and not entry.batches]
    told = []
    if not texts or any(entry.batches for entry in coverage):
        told.append(segments_read(coverage))
    if texts:
        told.append(f"{len(texts):,} logs and files of settings ({sum(entry.bytes for entry in texts):,} bytes)")
    captures = len({entry.capture for entry in coverage})
    where = f"{plural(len(coverage), 'file')} in {plural(captures, 'capture')}"
    return [f"Read {' and '.join(told)} of {where}.", *left_out(coverage)]
