"""Command lines of README.md and docs/, wherever they stand: blocks of a shell, help texts, words in a line.

Examples (tests/house/examples.py) are left out: what they print is held to the page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.evidence import ROOT

PROGRAM = "kafkatx"
_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_IN_A_LINE = re.compile(r"(?<!`)`(kafkatx [a-z][^`]*)`(?!`)")
_EXAMPLES = re.compile(r"^Examples?: ((?:.+\n)+)", re.MULTILINE)
USAGE = "[OPTIONS]"
"""What a line has that only says what a command takes."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command line and the page that has it; between words of a sentence it may name a command and no more."""

    page: Path
    text: str
    in_prose: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether it calls kafkatx and nothing else."""
        return self.text.startswith(f"{PROGRAM} ")


def pages() -> list[Path]:
    """Return README.md and all documents but the change log, which tells of what was, and docs/cli.md.

    That is made of the help of the commands, whose examples tests/cli/test_examples.py runs.
    """
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if page.name not in ("changelog.md", "cli.md")]


def command_lines(page: Path) -> list[CommandLine]:
    """Return the command lines of a page."""
    text = page.read_text()
    prose = _BLOCK.sub("", text)
    return [
        *(CommandLine(page, line) for line in (*_in_blocks(text), *_in_help(prose))),
        *(CommandLine(page, " ".join(found.split()), in_prose=True) for found in _IN_A_LINE.findall(prose)),
    ]


def _in_blocks(page: str) -> Iterator[str]:
    for block in _BLOCK.finditer(page):
        if block["language"] == "sh":
            yield from lines_of(block["text"])
        elif block["language"] != "console":
            own = (line for line in lines_of(block["text"]) if line.startswith(f"{PROGRAM} "))
            yield from (line for line in own if USAGE not in line)


def _in_help(prose: str) -> Iterator[str]:
    for examples in _EXAMPLES.findall(prose):
        parts = re.split(r"[;\n] ?", examples)
        yield from (part.strip() for part in parts if part.startswith(f"{PROGRAM} "))


def lines_of(block: str) -> Iterator[str]:
    """Yield the lines of a block, those that go on behind a backslash as one."""
    yield from filter(None, (" ".join(line.split()) for line in block.replace("\\\n", " ").splitlines()))
