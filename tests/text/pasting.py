"""What people do to the output of tools when they show it to others, as functions over its lines."""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

from kafkatx.sources.files import OpenFile
from kafkatx.text.lines import Line
from kafkatx.text.pages.part import TextPart
from kafkatx.text.pages.parts import parts
from tests.evidence import cases

Pasting = Callable[[list[str]], list[str]]
PREFIXES = {
    "quoted": "> ",
    "quoted twice": ">> ",
    "quoted without blank": ">",
    "indented": "    ",
    "tab": "\t",
    "comment of C": "// ",
    "comment of a shell": "# ",
    "comment of Java": " * ",
    "quoted in a comment": " * > ",
    "HTML quote": "&gt; ",
    "grep": "dump.txt:",
    "compose": "kafka-1  | ",
    "list": "- ",
    "diff": "+",
}
SIGNS = re.compile(r"([\\`*_{}\[\]()#+!|<>~])")


def prefixed(prefix: str) -> Pasting:
    return lambda lines: [prefix + line for line in lines]


def numbered(lines: list[str]) -> list[str]:
    return [f"{number:>6}  {line}" for number, line in enumerate(lines, 1)]


def grepped(lines: list[str]) -> list[str]:
    return [
        f"broker-1/dump.txt{'-:'[number % 2]}{number}{'-:'[number % 2]}{line}" for number, line in enumerate(lines, 1)
    ]


def in_a_table(lines: list[str]) -> list[str]:
    return [f"| {line} |" for line in lines]


def in_backquotes(lines: list[str]) -> list[str]:
    return [f"`{line}`" for line in lines]


def with_breaks(lines: list[str]) -> list[str]:
    """HTML: entities, and a break behind each line."""
    return [line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") + "<br>" for line in lines]


def in_bold(lines: list[str]) -> list[str]:
    return [f"**{line}**" for line in lines]


def escaped(lines: list[str]) -> list[str]:
    """Markdown escapes of every sign, as editors write them."""
    return [SIGNS.sub(r"\\\1", line) for line in lines]


def with_hard_blanks(lines: list[str]) -> list[str]:
    """Blanks of a web page: in the fields, where a record's content is not touched."""
    return [head(line).replace(" ", "\u00a0") + line[len(head(line)) :] for line in lines]


def head(line: str) -> str:
    """The fields of a line, without a record's content."""
    return re.split(r" (?=key: |payload: )", line, maxsplit=1)[0]


def double_spaced(lines: list[str]) -> list[str]:
    return [line for pair in zip(lines, [""] * len(lines), strict=True) for line in pair]


def broken_at(width: int) -> Pasting:
    """As a terminal breaks lines: in the middle of a word."""
    return lambda lines: [line[begin : begin + width] for line in lines for begin in range(0, max(len(line), 1), width)]


def folded_at(width: int, prefix: str = "> ") -> Pasting:
    """As mail breaks lines: at a blank, which goes."""
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    return lambda lines: [prefix + piece for line in lines for piece in (wrapper.wrap(line) or [""])]


def numbered_lines(texts: list[str]) -> list[Line]:
    """Lines as a file of them gives."""
    found, position = [], 0
    for number, text in enumerate(texts, 1):
        size = len(text.encode())
        found.append(Line(number, position, text, position + size + 1, size=size))
        position += size + 1
    return found


def dumps(ending: str = "", most: int = 60) -> list[Path]:
    """Recorded outputs of kafka-dump-log, some of every case."""
    found = [
        path
        for case in cases()
        for path in sorted(case.glob(f"kafka-dump-log/*/*/*{ending}.txt"))
        if path.stat().st_size
    ]
    return found[:: max(1, len(found) // most)]


def printed(path: Path, most: int = 120) -> list[str]:
    """Lines of a dump without broken characters, its first `most`."""
    return path.read_bytes().decode("utf-8", "replace").rstrip("\n").split("\n")[:most]


def cut_text(folder: Path, text: str | bytes) -> list[TextPart]:
    """Parts of a page."""
    path = folder / "page.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with OpenFile(str(path)) as file:
        return parts(file)
