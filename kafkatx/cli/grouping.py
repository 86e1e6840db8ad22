"""Groups of options: dataclasses of typer's options, which a command takes whole and typer shows one by one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer: each group of options that it takes stands there as its fields, in its place."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @functools.wraps(command)
    def called(**values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    shown: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        shown += fields_of(groups[one.name]) if one.name in groups else [one.replace(annotation=hints[one.name])]
    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in shown]
    called.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in keywords}
    return called


@functools.cache
def fields_of(group: Any) -> tuple[inspect.Parameter, ...]:
    """The fields of a group, each with its default, as parameters; worked out once for all commands that take it."""
    hints, kind = get_type_hints(group, include_extras=True), inspect.Parameter.KEYWORD_ONLY
    return tuple(
        inspect.Parameter(field.name, kind, default=field.default, annotation=hints[field.name])
        for field in fields(group)
    )
