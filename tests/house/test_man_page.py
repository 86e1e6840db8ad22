"""The man page is roff that any man(7) reads: known macros, blocks that are closed, text in which nothing acts."""

import re

import pytest

from kafkatx.cli.manual import manual_of
from kafkatx.cli.program import GENERAL
from tests.house.generate_docs import commands, program
from tests.house.man_page import escaped, man_page

MACROS = {".TH": 5, ".SH": None, ".SS": None, ".PP": 0, ".TP": 0, ".RS": 1, ".RE": 0, ".nf": 0, ".fi": 0}
"""Macros of man(7), and how many words each takes; None for a heading."""
CLOSES = {".RE": ".RS", ".fi": ".nf"}
ESCAPE = re.compile(r"\\(?:[-e&]|\((?:aq|ga|ha|ti|dq)|f[BIR])")
WORDS = re.compile(r'"[^"]*"|\S+')
PRINTED = {"\\e": "\\", "\\&": "", "\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\(dq": '"', "\\-": "-"}


@pytest.fixture(scope="module")
def page() -> list[str]:
    return man_page(program(), commands()).splitlines()


def printed(line: str) -> str:
    """The text of a line, without fonts."""
    return ESCAPE.sub(lambda found: "" if found[0].startswith("\\f") else PRINTED[found[0]], line)


def complaints(lines: list[str]) -> list[str]:
    """What of the lines is no well-formed page."""
    wrong, begun, wants_text = [], list[str](), None
    for line in lines:
        macro, *words = WORDS.findall(line) or [""]
        if line.startswith('.\\"'):
            continue
        if not line.startswith((".", "'")):
            wrong += [f"acts: {line}"] if "\\" in ESCAPE.sub("", line) or not line.isprintable() else []
            wrong += [f"a font is left on: {line}"] if len(re.findall(r"\\f[BI]", line)) != line.count("\\fR") else []
            wants_text = None
            continue
        wrong += [f"{wants_text} without text"] if wants_text else []
        wrong += [f"unknown: {line}"] if macro not in MACROS else []
        wrong += [f"words: {line}"] if MACROS.get(macro) not in (None, len(words)) else []
        begun += [macro] if macro in CLOSES.values() else []
        if macro in CLOSES and (not begun or begun.pop() != CLOSES[macro]):
            wrong.append(f"closes nothing: {line}")
        wants_text = macro if macro == ".TP" else None
    return wrong + [f"left open: {macro}" for macro in begun]


def test_the_page_is_well_formed(page):
    assert page[1].startswith(".TH KAFKATX 1 ")
    assert not complaints(page)


def test_the_sections_are_those_that_a_man_page_has(page):
    headings = [line.removeprefix(".SH ") for line in page if line.startswith(".SH ")]
    assert headings[:4] == ["NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS"]
    assert "EXIT STATUS" in headings


def test_every_command_and_option_is_in_it(page):
    shown = [printed(line) for line in page]
    for name, command in commands().items():
        start = shown.index(f".SS kafkatx {name}")
        end = next(at for at in range(start + 1, len(shown)) if shown[at].startswith((".SS", ".SH")))
        text = " ".join(shown[start:end])
        for section in manual_of(name, command).sections:
            assert section.title == GENERAL or all(row.name in text and row.text in text for row in section.rows)


@pytest.mark.parametrize(
    "lines",
    [[".XX"], [".TP", ".PP"], [".RS 4", "text"], [".fi"], ["a \\n(.s b"], ["\\fBbold"], [".PP more"], ["a\x1b[1mb"]],
)
def test_what_is_not_well_formed_is_seen(lines):
    assert complaints(lines)


@pytest.mark.parametrize("text", [".so /etc/passwd", "'br", "a\\b", 'it\'s `x` ^~ "q" --id -1'])
def test_text_is_printed_as_it_is_written(text):
    assert printed(escaped(text)) == text
    assert not complaints([escaped(text)])
