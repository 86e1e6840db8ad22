"""A comparison for a person: the answer in one line, then what is new, came back, is gone, changed, is as before.

Each list has the worst first. At the end what either diagnosis looked at, since nothing else says what absence means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from kafkatx.findings.diagnosis import FailureCounts
from kafkatx.outputs.answer import amount, named
from kafkatx.outputs.comparing.compared import Change, Comparison, ComparisonState, Matched, Missing
from kafkatx.outputs.comparing.covered import Covers, Reason
from kafkatx.outputs.comparing.document import DiagnosisDocument, DocumentFinding
from kafkatx.outputs.diagnosis_text import COLOURS
from kafkatx.outputs.text_lines import marked, print_trimmed, shown
from kafkatx.terms.times import span
from kafkatx.terms.verdicts import Severity
from kafkatx.words.explained import Remedy
from kafkatx.words.plurals import plural

INDENT = 9
"""Where what is said of a finding begins, under its name."""
MOST_LISTED = 20
"""Findings of each list that are printed; JSON has all."""
STYLES = {
    ComparisonState.worse: "bold red",
    ComparisonState.remains: "bold yellow",
    ComparisonState.unknown: "bold yellow",
    ComparisonState.nothing_to_judge: "bold yellow",
    ComparisonState.held: "bold green",
    ComparisonState.clear: "bold green",
}
MEANS = {
    Covers.covered: "covered, and not found again",
    Covers.not_covered: "not covered",
    Covers.unknown: "not proved to be over",
}


def print_comparison(console: Console, found: Comparison) -> None:
    """Print everything; lines end where their text ends."""
    print_trimmed(console, *_parts(found))


def _parts(found: Comparison) -> Iterator[RenderableType]:
    yield shown(found.headline, STYLES[found.state])
    again = [one for one in found.changed if one.has_recurred]
    yield from _listed("New", [_new(one) for one in found.new])
    yield from _listed("Again", [_changed(one, found) for one in again])
    yield from _listed("Gone", [_gone(one, found) for one in found.gone])
    rest = [one for one in found.changed if not one.has_recurred]
    yield from _listed("Changed", [_changed(one, found) for one in rest])
    yield from _listed("As before", [iter((_name(one.after),)) for one in found.same])
    yield Text("")
    yield from _examined("before: ", found.before)
    yield from _examined("after:  ", found.after)


def _listed(title: str, told: Sequence[Iterator[RenderableType]]) -> Iterator[RenderableType]:
    if told:
        yield Text("")
        yield Text(title, style="bold")
        yield from (line for one in told[:MOST_LISTED] for line in one)
    if len(told) > MOST_LISTED:
        yield _line(f"and {len(told) - MOST_LISTED:,} more: --json lists them", "dim")


def _new(one: Missing) -> Iterator[RenderableType]:
    yield _name(one.found)
    yield from _when(one.found)
    if one.absence.reason is not Reason.files_differ:
        yield _line(f"{one.absence.why[0].upper()}{one.absence.why[1:]}.", "dim")
    if one.found.finding.remedies:
        yield marked("do: ", one.found.finding.remedies[0].first_sentence, mark_style="bold green", indent=INDENT)


def _gone(one: Missing, found: Comparison) -> Iterator[RenderableType]:
    said = one.absence
    yield _name(one.found)
    yield from _when(one.found)
    instead = {other.id: other for other in found.after.findings}
    names = "; ".join(named(instead[name].finding) for name in said.instead if name in instead)
    means = "ended" if one.has_ended else MEANS[said.covers]
    style = "green" if one.has_ended else "" if said.covers is Covers.covered else "yellow"
    yield _line(f"{means}: {said.why}{f': {names}' if names else ''}", style)


def _changed(one: Matched, found: Comparison) -> Iterator[RenderableType]:
    yield _name(one.after)
    yield from (_line(f"{change.name}: {_change(change, found)}") for change in one.changes)


def _change(change: Change, found: Comparison) -> str:
    if change.name == "remedies":
        return _advice(change.before, change.after)
    before, after = change.before, change.after
    if change.name in ("from", "to"):
        before, after = (None if text is None else text[:-1].replace("T", " ") for text in (before, after))
    if change.name == "caused_by":
        before, after = _cause(before, found.before), _cause(after, found.after)
    return f"{_value(before)} -> {_value(after)}"


def _value(value: object) -> str:
    return "not known" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _cause(id: str | None, document: DiagnosisDocument) -> str | None:
    cause = next((one for one in document.findings if one.id == id), None)
    return None if cause is None else named(cause.finding)


def _advice(before: tuple[Remedy, ...], after: tuple[Remedy, ...]) -> str:
    """What is advised now and was not, else that less is."""
    added = [remedy.first_sentence for remedy in after if remedy not in before]
    if added:
        return f"now also: {'; '.join(added)}" if len(after) > len(before) else f"now: {'; '.join(added)}"
    return (
        f"{plural(len(before) - len(after), 'piece', 'pieces')} of advice less"
        if len(after) < len(before)
        else "in another order"
    )


def _name(found: DocumentFinding) -> RenderableType:
    severity = found.finding.severity
    return marked(Text(f"{severity.name:<{INDENT}}", COLOURS[severity]), named(found.finding))


def _when(found: DocumentFinding) -> Iterator[RenderableType]:
    finding = found.finding
    when = span(finding.since, finding.until, has_zone=finding.has_zone)
    told = ", ".join(filter(None, (f"{finding.count:,} times" if finding.count > 1 else "", when)))
    if told:
        yield _line(told, "dim")


def _examined(mark: str, document: DiagnosisDocument) -> Iterator[RenderableType]:
    """How many findings there are, in how much, and what became of the failures that were told."""
    counted = Counter(one.finding.severity for one in document.findings)
    wrong = ", ".join(plural(counted[severity], severity.name) for severity in (Severity.error, Severity.warning))
    about = amount(document.examined)
    told = [f"{wrong} in {about}" if about else "nothing to judge", _failures(document.failures)]
    yield marked(mark, "; ".join(filter(None, told)), "dim")


def _failures(count: FailureCounts) -> str:
    """`failures: 3 told, 2 explained, 1 unexplained`; nothing where none was told."""
    kinds = (
        (count.told, "told"),
        (count.explained, "explained"),
        (count.unexplained, "unexplained"),
        (count.excused, "excused"),
    )
    return f"failures: {', '.join(f'{number:,} {kind}' for number, kind in kinds if number)}" if count.told else ""


def _line(text: str, style: str = "") -> RenderableType:
    return Padding(shown(text, style), (0, 0, 0, INDENT))
