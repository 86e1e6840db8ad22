"""What all commands have in common: how they are registered, explain themselves and refuse what they don't know."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from kafkatx.cli.coercion import read_plainly
from kafkatx.cli.grouping import fields_of
from kafkatx.cli.program import GENERAL
from kafkatx.terms.records import dataclass

REFUSED: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for a wrong command line: click's UsageError, or typer's own."""


def show_version(wanted: bool) -> None:
    """Print the version and end, where that is wanted."""
    if wanted:
        from kafkatx import __version__

        typer.echo(f"kafkatx {__version__}")
        raise typer.Exit


@dataclass(frozen=True, slots=True)
class GeneralOptions:
    """What the program takes, before a command or behind it."""

    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            callback=show_version,
            is_eager=True,
            help="Print the version.",
            rich_help_panel=GENERAL,
        ),
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of a bug of ours.", rich_help_panel=GENERAL)
    ] = False


class Command(TyperCommand):
    """A command whose help is ours, and who reads plain words itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]

    def get_help(self, ctx: Any) -> str:
        """Return the help text."""
        return _help(self.name or "", self)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the words of a command line; what is refused knows of which command it is."""
        try:
            return super().parse_args(ctx, args)
        except REFUSED as error:
            error.ctx = getattr(error, "ctx", None) or ctx  # type: ignore[attr-defined]
            raise


COMPLETION = {
    "install_completion": "Let this shell (bash, zsh, fish) complete commands, options, rules, tables, topics and ids.",
    "show_completion": "Print what --install-completion would add to the shell's settings.",
}
"""What typer's own options do."""


class Group(TyperGroup):
    """The program: its help is ours, and a command that does not exist is answered with one that does."""

    def __init__(self, **settings: Any) -> None:
        """Make the group; what typer adds to it is explained in our words."""
        super().__init__(**settings)
        for option in self.params:
            option.help = COMPLETION.get(option.name or "", getattr(option, "help", None))  # type: ignore[attr-defined]

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, `--help` among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]

    def get_help(self, ctx: Any) -> str:
        """Return the help text."""
        return _help("", self)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return name, command and the rest of the words; raises UsageError where there is no such command."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            from kafkatx.cli.usage_errors import unknown_command

            raise unknown_command(args[0], self.commands)
        return super().resolve_command(ctx, args)


class Program(typer.Typer):
    """An application of typer whose commands are of our kind and take the general options as well."""

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Register a function as a command, as typer's own decorator does."""
        register = super().command(name, **{"cls": Command, **settings})

        def registered(function: Callable[..., None]) -> Callable[..., None]:
            register(_with_general_options(function))
            return function

        return registered


def _help(name: str, command: Any) -> str:
    from kafkatx.cli.help import help_text
    from kafkatx.cli.manual import manual_of

    return help_text(manual_of(name, command))


def _with_general_options(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the general options behind its own; their callbacks do all that they do."""
    hints = get_type_hints(function, include_extras=True) if not hasattr(function, "__signature__") else {}
    own = [
        one.replace(annotation=hints.get(one.name, one.annotation), kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(function).parameters.values()
    ]
    parameters = [*own, *fields_of(GeneralOptions)]

    @functools.wraps(function)
    def called(**values: Any) -> None:
        function(**{name: value for name, value in values.items() if name not in _GENERAL})

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


_GENERAL = frozenset(field.name for field in fields(GeneralOptions))
