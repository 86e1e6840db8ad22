"""What is to be said of a command, as data: the help, the page of commands and the man page show the same.

A docstring is paragraphs with an empty line between them. Lines that begin with two blanks stay as they are: examples,
programs. Each of them that begins with `kafkatx` is an example that a test runs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from enum import Enum, EnumType
from itertools import groupby
from typing import Any, Literal, get_args, get_origin, get_type_hints

from kafkatx.cli.program import EXIT_CODES, GENERAL, PROGRAM
from kafkatx.terms.records import dataclass

INDENT = "  "
"""What lines of a docstring begin with that stay as they are."""
ARGUMENTS, OPTIONS = "Arguments", "Options"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of prose, or lines that stay as they are."""

    lines: tuple[str, ...]
    is_verbatim: bool = False

    @property
    def text(self) -> str:
        """Prose in one line."""
        return " ".join(self.lines)


@dataclass(frozen=True, slots=True)
class Row:
    """A name (an argument, an option with its spellings and value, a command, an exit code) and what it means."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Manual:
    """A command, or the program: what it is called, what it does, what it takes."""

    name: str
    usage: str
    paragraphs: tuple[Paragraph, ...]
    sections: tuple[Section, ...]

    @property
    def summary(self) -> str:
        """The first paragraph."""
        return self.paragraphs[0].text if self.paragraphs else ""

    @property
    def examples(self) -> list[str]:
        """The command lines that it gives as examples."""
        shown = (line for paragraph in self.paragraphs if paragraph.is_verbatim for line in paragraph.lines)
        return [line for line in shown if line.startswith(f"{PROGRAM} ")]


HELP = Row("-h, --help", "Show this help.")


def manual_of(name: str, command: Any) -> Manual:
    """Return the manual of a command of click's tree."""
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    path = f"{PROGRAM} {name}" if name else PROGRAM
    takes = ["COMMAND ..."] if hasattr(command, "commands") else map(argument_name, arguments)
    return Manual(
        path,
        " ".join([path, "[OPTIONS]", *takes]),
        tuple(_paragraphs(command.help or "")),
        tuple(_sections(command, arguments, options)),
    )


def _sections(command: Any, arguments: list[Any], options: list[Any]) -> Iterator[Section]:
    commands = [(name, one) for name, one in getattr(command, "commands", {}).items() if not one.hidden]
    if commands:
        yield Section("Commands", tuple(Row(name, manual_of(name, one).summary) for name, one in commands))
    if explained := tuple(Row(argument_name(one), described(one)) for one in arguments if one.help):
        yield Section(ARGUMENTS, explained)
    groups = _options(options, get_type_hints(command.callback) if command.callback else {})
    general = [HELP, *groups.pop(GENERAL, [])]
    yield from (Section(title, tuple(rows)) for title, rows in groups.items() if rows)
    yield Section(GENERAL, tuple(general))
    if commands:
        yield Section("Exit codes", tuple(Row(str(code), f"{text}.") for code, text in EXIT_CODES.items()))


def _options(options: list[Any], takes: dict[str, Any]) -> dict[str, list[Row]]:
    """Rows by heading, the command's own options first."""
    groups: dict[str, list[Row]] = {OPTIONS: []}
    for option in options:
        title = getattr(option, "rich_help_panel", None) or OPTIONS
        groups.setdefault(title, []).append(Row(option_name(option, takes), described(option)))
    return groups


def _paragraphs(text: str) -> Iterator[Paragraph]:
    for part in inspect.cleandoc(text).strip().split("\n\n"):
        for is_verbatim, group in groupby(part.splitlines(), key=lambda line: line.startswith(INDENT)):
            lines = [*group]
            margin = min(len(line) - len(line.lstrip()) for line in lines)
            yield Paragraph(tuple(line[margin:] for line in lines), is_verbatim)


def argument_name(argument: Any) -> str:
    """Return an argument as usage lines show it: `PATH...`, `[FILE...]`."""
    name = argument.metavar or argument.name.upper()
    repeated = f"{name}..." if argument.nargs == -1 and not name.endswith("...") and " " not in name else name
    return repeated if argument.required or name.startswith("[") else f"[{repeated}]"


def option_name(option: Any, takes: dict[str, Any]) -> str:
    """Return an option's spellings and what it takes: `-o, --out FILE`; `takes` are the types of the command."""
    spellings = ", ".join([*sorted(option.opts, key=len), *option.secondary_opts])
    if option.is_flag or option.count:
        return spellings
    return f"{spellings} {option.metavar or value_name(takes.get(option.name, str))}"


def value_name(hint: Any) -> str:
    """Return what an option of this type takes: its choices, or the type's name.

    Read off the function's own types, since releases of typer keep them in different places.
    """
    inner = [part for part in get_args(hint) if part is not type(None)]
    if get_origin(hint) is Literal:
        return "|".join(map(str, inner))
    if inner:
        return value_name(inner[0])
    return "|".join(choices(hint)) or ("N" if hint in (int, float) else "TEXT")


def choices(kind: Any) -> list[str]:
    """Return what an option of an enumeration takes; nothing for another type."""
    members: Iterable[Enum] = kind if isinstance(kind, EnumType) else ()
    return [str(member.value) for member in members]


def described(parameter: Any) -> str:
    """Return the help of a parameter, and its default where it has one that says something."""
    text = " ".join((parameter.help or "").split())
    default = getattr(parameter.default, "value", parameter.default)
    if parameter.param_type_name == "option" and parameter.required:
        return f"{text} Required."
    if isinstance(default, str | int | float) and not isinstance(default, bool) and default != "":
        return f"{text} Default: {default}."
    return text
