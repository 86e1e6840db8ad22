"""Writes the page: what text and JSON say, with pictures, in one HTML file that loads nothing.

Safe    everything of the evidence is escaped (by `printable`, then by the template); a policy in the page forbids what
        the page does not hold itself: its style, and a script of a few lines that is named by its digest.
Size    evidence is listed up to MOST_PLACES places a step, files up to MOST_FILES: JSON has all.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable
from importlib import resources
from typing import TYPE_CHECKING, Any, TextIO

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.findings.finding import EVERYWHERE
from kafkatx.outputs.answer import answer, examined_in
from kafkatx.outputs.diagnosis_end import failures_told, gaps
from kafkatx.outputs.page.pictures import Pictures
from kafkatx.outputs.page.views import MOST_CARDS, StoryView, cards, story_views, told_by
from kafkatx.outputs.text_lines import what_was_read
from kafkatx.terms.printable import printable
from kafkatx.words.plurals import plural

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_PLACES = 8
MOST_FILES = 400
MOST_DAMAGE = 100
MOST_FINDINGS = 100
"""Findings that are told in full, worst first; what follows is in JSON."""
TEMPLATES = "templates"


def write_page(stream: TextIO, diagnosis: Diagnosis, pictures: Pictures, version: str) -> None:
    """Write the whole page."""
    environment = _environment()
    style, script = _text("style.css"), _text("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"
    page = environment.get_template("page.html")
    for piece in page.generate(style=style, script=script, policy=policy, **_content(diagnosis, pictures, version)):
        stream.write(piece)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("kafkatx.outputs.page", TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _text(name: str) -> str:
    return resources.files("kafkatx.outputs.page").joinpath(TEMPLATES, name).read_text(encoding="utf-8").strip()


def _content(diagnosis: Diagnosis, pictures: Pictures, version: str) -> dict[str, Any]:
    """What the template is given."""
    told, said = story_views(diagnosis), answer(diagnosis)
    full, left = _bounded(told)
    listed = cards(diagnosis, full)
    return {
        "version": version,
        "answer": said,
        "headline": printable(said.headline),
        "examined": printable(examined_in(diagnosis)),
        "stories": full,
        "cards": listed[:MOST_CARDS],
        "more_cards": max(0, len(listed) - MOST_CARDS),
        "told": told_by(listed[:MOST_CARDS]),
        "more_findings": left,
        "numbered": _numbered({finding.id: finding.number for story in full for finding in story.findings}),
        "next": [_next(one.asked) for one in diagnosis.next],
        "pictures": pictures.captures,
        "pictured": set().union(*(capture.findings for capture in pictures.captures)),
        "most_places": MOST_PLACES,
        "scoped": gaps([entry for _, entry in diagnosis.not_checkable if entry.scope != EVERYWHERE]),
        "unscoped": gaps([entry for _, entry in diagnosis.not_checkable if entry.scope == EVERYWHERE]),
        "damage": [printable(one.sentence()) for one in diagnosis.damage[:MOST_DAMAGE]],
        "more_damage": max(0, len(diagnosis.damage) - MOST_DAMAGE),
        "files": [_file(entry) for entry in diagnosis.coverage[:MOST_FILES]],
        "paths": len({entry.path for entry in diagnosis.coverage}),
        "more_files": max(0, len(diagnosis.coverage) - MOST_FILES),
        "read": printable(what_was_read(diagnosis.coverage)),
        "failures": failures_told(diagnosis.failures),
        "plural": plural,
    }


def _bounded(told: tuple[StoryView, ...]) -> tuple[list[StoryView], int]:
    """The stories that are told in full, whole ones, and how many findings are left."""
    full: list[StoryView] = []
    count = 0
    for story in told:
        if full and count + len(story.findings) > MOST_FINDINGS:
            break
        full.append(story)
        count += len(story.findings)
    return full, sum(len(story.findings) for story in told) - count


def _numbered(numbers: dict[str, int]) -> Callable[[Iterable[str]], list[tuple[int, str]]]:
    """From ids of findings to numbers and ids of those that are told in full, in their order."""
    return lambda ids: sorted((numbers[id], id) for id in ids if id in numbers)


def _next(asked: Any) -> dict[str, str]:
    return {name: printable(getattr(asked, name) or "") for name in ("what", "why", "where", "command")}


def _file(entry: Any) -> dict[str, Any]:
    names = ("path", "kind", "status", "note", "verified")
    return {name: printable(str(getattr(entry, name) or "")) for name in names} | {"bytes": entry.bytes}
