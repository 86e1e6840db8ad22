"""What all commands have in common: how they are registered, explain themselves and refuse what they don't know."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import fields
from importlib import import_module
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

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


class ByNeed(MutableMapping[str, Any]):
    """Commands by name, each made when it is first asked for: a run makes use of one of ten."""

    def __init__(self, places: Mapping[str, str], made: Mapping[str, Any]) -> None:
        """Take names with their modules, which hold a function of that name, and commands that are there already.

        What a command wants of its context (`context_settings`) is `SETTINGS` of its module.
        """
        self._places = dict(places)
        self._made = dict(made)

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module = import_module(self._places[name])
            alone = Program(add_completion=False)
            alone.command(name, context_settings=getattr(module, "SETTINGS", None))(getattr(module, name))
            self._made[name] = get_command(alone)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._made

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._places, *self._made]))

    def __len__(self) -> int:
        return len(self._places.keys() | self._made.keys())

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._made.pop(name, None)
        self._places.pop(name, None)


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
