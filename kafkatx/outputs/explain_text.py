"""An answer of `explain` as text for a terminal, or as JSON.

Text    everything goes through `printable`: what a user pasted comes from evidence.
JSON    one document; absent is null; `kafka_version` is the release that the answer was narrowed to.
"""

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from kafkatx.outputs.explain_word import Answer, Mention
from kafkatx.outputs.explanations import Explanation, Section
from kafkatx.terms.catalogue.releases import NEWEST_RELEASE, Release
from kafkatx.terms.printable import printable
from kafkatx.words.plurals import plural

MENTIONS_SHOWN = 30
"""Entries that text lists where words were found in many; JSON lists all."""

LONGEST_ITEM = 600
"""Characters of one item that text shows."""


def print_answer(answer: Answer, console: Console) -> None:
    """Write the answer for a reader; nothing is written for an unknown phrase."""
    for number, explanation in enumerate(answer.explanations):
        if number:
            console.print()
        _print_explanation(explanation, answer.release, console)
    if answer.mentions:
        _print_mentions(answer.mentions, console)
    for note in notes(answer):
        console.print()
        _print(note, console, style="dim")


def notes(answer: Answer) -> Iterator[str]:
    """Yield what limits the answer: lines left out, a release that the catalogue does not know yet."""
    if answer.lines_left_out:
        yield f"{plural(answer.lines_left_out, 'more line was', 'more lines were')} not looked at."
    if answer.release and answer.release.numbers[:2] > tuple(map(int, NEWEST_RELEASE.split("."))):
        yield f"The catalogue was checked up to {NEWEST_RELEASE}; {answer.release} may differ."


def to_json(answer: Answer) -> str:
    """Return the answer as one JSON document, with a line end."""
    document = {
        "schema": 1,
        "word": answer.phrase,
        "kafka_version": str(answer.release) if answer.release else None,
        "explanations": [asdict(explanation) for explanation in answer.explanations],
        "mentions": [asdict(mention) for mention in answer.mentions],
        "notes": list(notes(answer)),
    }
    return json.dumps(document, indent=2) + "\n"


def unknown_text(answer: Answer) -> list[str]:
    """Return what to tell a user whose phrase nobody knows, in lines: what is near to it behind the first."""
    known = f"nothing is known about '{printable(answer.phrase.strip(), 80)}'"
    if not answer.suggestions:
        return [f"{known}: give a finding, an error code or name, a state, a setting, a term, a KIP or a log line"]
    return [f"{known}; did you mean:", *answer.suggestions]


def _print_explanation(explanation: Explanation, release: Release | None, console: Console) -> None:
    _print(explanation.name, console, style="bold")
    if not explanation.in_release:
        _print(f"Not in {release}: {explanation.releases}.", console, style="yellow")
    _print(_sentence(explanation.summary), console, indent=2)
    releases = f", Kafka {explanation.releases}" if explanation.releases[:1].isdigit() else ""
    releases = releases or (f", {explanation.releases}" if explanation.releases != "all" else "")
    _print(f"({explanation.kind}{releases})", console, indent=2, style="dim")
    for section in explanation.sections:
        _print_section(section, console)
    if explanation.rules:
        _print_section(
            Section("Findings that it may point to (kafkatx explain FINDING)", (", ".join(explanation.rules),)), console
        )


def _sentence(text: str) -> str:
    """The text as a sentence: with a capital, unless a name begins it, and a full stop."""
    first = text.partition(" ")[0]
    begins = text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
    return begins if not begins or begins.endswith((".", "?", "!", ":")) else f"{begins}."


def _print_section(section: Section, console: Console) -> None:
    console.print()
    _print(section.heading, console, indent=2, style="bold")
    bullet = "- " if len(section.items) > 1 else "  "
    for item in section.items:
        _print(item, console, indent=2, bullet=bullet)


def _print_mentions(mentions: tuple[Mention, ...], console: Console) -> None:
    _print(
        f"Found in {plural(len(mentions), 'entry', 'entries')}; explain one of them for more.", console, style="cyan"
    )
    for mention in mentions[:MENTIONS_SHOWN]:
        console.print()
        _print(f"{mention.kind}: {mention.name}", console, style="bold")
        _print(_sentence(mention.text), console, indent=2)
    if len(mentions) > MENTIONS_SHOWN:
        _print(f"and {len(mentions) - MENTIONS_SHOWN} more", console, style="dim")


def _print(text: str, console: Console, *, indent: int = 0, bullet: str = "", style: str = "") -> None:
    """Write one item, wrapped, its further lines under the first; no blanks at line ends, so that text can be piped."""
    margin = " " * indent
    shown = printable(text, LONGEST_ITEM).encode(console.encoding, "backslashreplace").decode(console.encoding)
    lines = textwrap.wrap(
        shown,
        width=max(console.width, 20),
        initial_indent=margin + bullet,
        subsequent_indent=margin + " " * len(bullet),
        break_on_hyphens=False,
    )
    for line in lines:
        console.print(Text(line, style), soft_wrap=True)
