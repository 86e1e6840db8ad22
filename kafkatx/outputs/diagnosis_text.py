"""A diagnosis for a person: the worst first, each finding as a story whose sentences point at bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkatx.outputs.diagnosis_order import as_stories
from kafkatx.rules.diagnosis import Diagnosed, Diagnosis, OpenedPlace
from kafkatx.terms.printable import printable
from kafkatx.terms.times import iso
from kafkatx.words.explained import Place, Remedy, Step

COLOURS = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_TRAILING = re.compile(r"[ ]+$", re.MULTILINE)
MOST_PLACES = 3
"""Places printed under a step; JSON has all."""


def print_diagnosis(console: Console, diagnosis: Diagnosis) -> None:
    """Print findings, what could not be checked, damage and coverage; lines end where their text ends."""
    with console.capture() as capture:
        _print(console, diagnosis)
    text = _TRAILING.sub("", capture.get())
    console.file.write(text)


def _print(console: Console, diagnosis: Diagnosis) -> None:
    findings = as_stories(diagnosis.findings)
    ids = {found.id: number for number, found in enumerate(findings, 1)}
    for number, found in enumerate(findings, 1):
        console.print(_finding(number, found, ids))
    if not diagnosis.findings:
        console.print(Text("Nothing wrong was found in what could be read."))
    console.print(Group(*_rest(diagnosis)))


def _finding(number: int, found: Diagnosed, ids: dict[str, int]) -> RenderableType:
    finding = found.finding
    colour = COLOURS[finding.severity.name]
    head = Text.assemble(
        (f"{number}. {finding.severity.name}", colour), "  ", (finding.rule, "bold"), f"  {finding.verdict.name}"
    )
    if finding.count > 1:
        head.append(f"  {finding.count:,} times")
    parts: list[RenderableType] = [head, Padding(_text(finding.summary, "bold"), (0, 0, 0, 3))]
    when = " to ".join(time for time in (iso(finding.since), iso(finding.until)) if time)
    parts.append(Padding(_text(", ".join(filter(None, (when, f"capture {found.capture}"))), "dim"), (0, 0, 0, 3)))
    parts += [_line(f"{actor.name} = ", actor.what) for actor in finding.actors]
    opened = {place.place: place for place in found.evidence}
    shown = [opened[place] for step in finding.steps for place in step.places[:MOST_PLACES]]
    files = {
        path: number for number, path in enumerate(dict.fromkeys(place.source for place in shown if place.source), 1)
    }
    for at, step in enumerate(finding.steps, 1):
        parts += _step(at, step, opened, files)
    parts += [_line("considered ", f"{other.rule}: {other.because}") for other in finding.considered]
    parts += _causes(found, ids)
    for remedy in finding.remedies:
        parts += _remedy(remedy)
    parts += [_line(f"[{number}] ", path, "dim") for path, number in files.items()]
    return Group(*parts, Text(""))


def _causes(found: Diagnosed, ids: dict[str, int]) -> Iterator[RenderableType]:
    if found.caused_by in ids:
        yield _line("caused by: ", f"finding {ids[found.caused_by]}")
    others = [str(ids[name]) for name in found.contributing if name in ids]
    if others:
        yield _line("contributing: ", f"finding{'s' if len(others) > 1 else ''} {', '.join(others)}")


def _step(number: int, step: Step, opened: dict[Place, OpenedPlace], files: dict[str, int]) -> Iterator[RenderableType]:
    yield _line(f"{number}. ", f"{step.text}, because {step.because}")
    for place in step.places[:MOST_PLACES]:
        yield Padding(_place(opened[place], files), (0, 0, 0, 3))
    if len(step.places) > MOST_PLACES:
        yield Padding(_text(f"and {len(step.places) - MOST_PLACES} more places", "dim"), (0, 0, 0, 6))


def _place(opened: OpenedPlace, files: dict[str, int]) -> RenderableType:
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
        yield Padding(
            _text(f"{remedy.config}{current}{proposed}; {remedy.derived_from or ''}".rstrip("; ")),
            (0, 0, 0, 6),
        )
    if remedy.command:
        yield Padding(_text(remedy.command, "bold"), (0, 0, 0, 6))
    if remedy.cost:
        yield Padding(_text(f"cost: {remedy.cost}", "dim"), (0, 0, 0, 6))


def _line(mark: str, text: str, style: str = "") -> RenderableType:
    """A marked line whose continuation hangs under its text."""
    grid = Table.grid(padding=0)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(Text(mark, style=style), _text(text, style))
    return Padding(grid, (0, 0, 0, 3))


def _text(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="fold")


def _rest(diagnosis: Diagnosis) -> Iterable[RenderableType]:
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
        yield _text("[1]:1048 above means byte 1048 of file [1] of that finding.", "dim")
    yield _coverage(diagnosis)


def _coverage(diagnosis: Diagnosis) -> RenderableType:
    """What was read, in a line or two; --json names every file."""
    segments = [entry for entry in diagnosis.coverage if entry.batches]
    texts = [entry for entry in diagnosis.coverage if entry.status == "read" and not entry.batches]
    size = sum(entry.bytes for entry in segments)
    batches, checked = sum(entry.batches for entry in segments), sum(entry.checked_batches for entry in segments)
    names = Counter(entry.capture for entry in diagnosis.coverage)
    what = f"{len(segments):,} log segments ({size:,} bytes, {batches:,} batches, CRC checked of {checked:,})"
    if texts:
        told = f"{len(texts):,} logs and files of settings ({sum(entry.bytes for entry in texts):,} bytes)"
        what = f"{what} and {told}" if segments else told
    files = f"{len(diagnosis.coverage):,} file{'s' if len(diagnosis.coverage) != 1 else ''}"
    lines = [f"Read {what} of {files} in {len(names)} capture{'s' if len(names) != 1 else ''}."]
    left_out = Counter(entry.note for entry in diagnosis.coverage if entry.status in ("left out", "unreadable"))
    lines += [
        f"Left out: {count:,} file{'s' if count != 1 else ''}, {note}." for note, count in left_out.most_common(5)
    ]
    return Group(*(_text(line, "dim") for line in lines))
