"""Wrong command lines: what typer (and click below it) refuses, told like every other error of ours.

One line says what is wrong, one what there is or where to read it. Classes are told by their names, since releases of
typer keep them in different places.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args, get_type_hints

from kafkatx.cli.manual import argument_name, choices
from kafkatx.cli.program import PROGRAM
from kafkatx.terms.errors import UsageError
from kafkatx.terms.nearest import did_you_mean
from kafkatx.terms.regex import regex

_NUMBER = regex(r"\s*[+-]?\d+\s*")
_ENDS = ("min", "max")
_EXTRA = regex(r"Got unexpected extra arguments?\S* \((?P<words>.*)\)", re.DOTALL)


def usage_error(error: Any) -> UsageError:
    """Return what typer refused as an error of ours."""
    return UsageError(_told(error), [next(_advice(error))])


def unknown_command(word: str, commands: Mapping[str, Any]) -> UsageError:
    """Return the error about a command that does not exist; a path is offered to `diagnose`."""
    from pathlib import Path

    if "diagnose" in commands and Path(word).exists():
        return UsageError(f"{word!r} is no command", [f"to diagnose it: {PROGRAM} diagnose {word}"])
    names = [name for name, command in commands.items() if not command.hidden]
    return UsageError(
        f"there is no command {word!r}", [did_you_mean(word, names) or f"the commands are {', '.join(names)}"]
    )


def no_such(option: str, word: str, what: str, known: Iterable[str]) -> UsageError:
    """Return the error about the value of an option that must be one of those known."""
    names = list(known)
    told = f"{option} {word}: there is no such {what}"
    return UsageError(told, [did_you_mean(word, names) or f"the {what}s are {', '.join(names)}"])


def _told(error: Any) -> str:
    """What is wrong."""
    match type(error).__name__:
        case "NoSuchOption":
            return f"there is no option {error.option_name}"
        case "MissingParameter":
            return f"{_parameter(error)} is missing"
        case "BadOptionUsage" if "does not take" in error.message:
            return f"{error.option_name} takes no value"
        case "BadOptionUsage":
            return f"{error.option_name} needs a value"
        case "BadParameter" if error.param is not None:
            return f"{_parameter(error)}: {_bad_value(error)}"
    if extra := _EXTRA.fullmatch(error.message):
        return f"unexpected argument {extra['words']!r}"
    return _clause(error.message)


def _bad_value(error: Any) -> str:
    """Why a value is none; what typer says of it differs by release, so it is told by what the option takes."""
    value, takes = _given(error.param), _takes(error)
    if value is not None and choices(takes):
        return f"{value!r} is none of {', '.join(choices(takes))}"
    if value is not None and takes is int:
        return f"{value!r} is no number" if not _NUMBER.fullmatch(value) else f"{value} {_range(error.param)}"
    return _clause(error.message)


def _range(parameter: Any) -> str:
    least, most = (getattr(parameter, name, getattr(getattr(parameter, "type", None), name, None)) for name in _ENDS)
    if most is None:
        return f"is too small: it takes {least} or more"
    return f"is out of range: it takes {least} to {most}"


def _takes(error: Any) -> Any:
    """The type of the values of the option that an error is about."""
    hint = get_type_hints(error.ctx.command.callback).get(error.param.name) if error.ctx is not None else None
    while inner := [part for part in get_args(hint) if part is not type(None)]:
        hint = inner[0]
    return hint


def _given(parameter: Any) -> str | None:
    """The value that an option was given last on the command line."""
    found = None
    for at, word in enumerate(sys.argv):
        name, equals, value = word.partition("=")
        if name in parameter.opts:
            found = value if equals else next(iter(sys.argv[at + 1 :]), None)
    return found


def _clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def _parameter(error: Any) -> str:
    """The option or argument that an error is about, as the help spells it."""
    parameter = error.param
    if parameter is None:
        return str(error.param_hint or "a value")
    return argument_name(parameter) if parameter.param_type_name == "argument" else max(parameter.opts, key=len)


def _advice(error: Any) -> Iterator[str]:
    """What may have been meant, else where to read it."""
    if error.ctx is not None and type(error).__name__ == "NoSuchOption":
        yield from _other_options(error.option_name, error.ctx.command)
    if type(error).__name__ == "BadParameter" and (
        meant := did_you_mean(_given(error.param) or "", choices(_takes(error)))
    ):
        yield meant
    yield f"{_path(error)} --help shows how it is called"


def _other_options(word: str, command: Any) -> Iterator[str]:
    """Options like the one that does not exist: behind a command, or here."""
    commands = getattr(command, "commands", {})
    for name in sorted(commands, key=lambda name: name not in sys.argv):
        if any(word in option.opts for option in commands[name].params):
            yield f"it goes behind a command: {PROGRAM} {name} {word}"
    options = [name for option in command.params for name in option.opts if name.startswith("--")]
    if meant := did_you_mean(word, [*options, "--help"]):
        yield meant


def _path(error: Any) -> str:
    """The command that was called, as it is spelled."""
    context = error.ctx
    return f"{PROGRAM} {context.info_name}" if context is not None and context.parent is not None else PROGRAM
