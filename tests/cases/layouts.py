"""Texts in all layouts of the world: how its loggers, shippers and pastes show one message (layouts.txt)."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import wrap

AT = "2026-11-21T10:23:51.003Z"
"""When every layout with a date says that its message was printed."""
_HEAD = re.compile(r"== (?P<name>.+?) \| (?P<time>ms|s|none)")
_PLACE = re.compile(r"<m(?::([\w ]+))?>")
_ESCAPES: dict[str, Callable[[str], str]] = {
    "json": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "html": lambda text: html.escape(text),
    "quoted": lambda text: text.replace("\\", "\\\\").replace('"', '\\"'),
    "doubled": lambda text: text.replace('"', '""'),
    "wrapped": lambda text: "\n".join(wrap(text, 80, break_long_words=False, break_on_hyphens=False)),
    "indented": lambda text: "\n    ".join(wrap(text, 60, break_long_words=False, break_on_hyphens=False)),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """A text around a message, and how exactly it says when that was printed."""

    name: str
    text: str
    time: str

    def show(self, message: str) -> str:
        """Return the text with the message in it, escaped as its place asks."""
        return _PLACE.sub(lambda place: _escaped(message, (place[1] or "").split()), self.text)

    def tells(self, time: str | None) -> bool:
        """Whether a time is the one that this layout prints."""
        return {"ms": time == AT, "s": str(time)[:19] == AT[:19], "none": True}[self.time]


def _escaped(message: str, escapes: list[str]) -> str:
    for escape in escapes:
        message = _ESCAPES[escape](message)
    return message


@cache
def layouts() -> tuple[Layout, ...]:
    """Every layout, in the order of the file."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if head := _HEAD.fullmatch(line):
            found.append((head, []))
        elif found:
            found[-1][1].append(line.replace("\\e", "\x1b"))
    return tuple(Layout(head["name"], "\n".join(lines) + "\n", head["time"]) for head, lines in found)
