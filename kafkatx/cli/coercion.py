"""Values of options without pydantic, by which newer releases of typer read every word: 60 ms of each start.

A word that is plainly of its option's type is taken here as typer would take it. Any other, and a number that has
bounds, is typer's to read or to refuse; so are all in releases of typer that do without pydantic.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, get_args, get_origin

from kafkatx.terms.regex import regex

_NUMBER = regex(r"-?[0-9]{1,18}", re.ASCII)
_NOT_PLAIN = object()
"""Stands for what typer has to read."""


def read_plainly(parameter: Any) -> Any:
    """Return a parameter of typer's that takes values which are plainly of its type as they are."""
    described, whole = getattr(parameter, "type_descriptor", None), parameter.process_value
    if described is None or "process_value" in vars(parameter):
        return parameter

    def process_value(context: Any, value: Any) -> Any:
        is_read = value is None or not described.is_ranged
        read = _plain(described.annotation, value) if is_read else _NOT_PLAIN
        if read is _NOT_PLAIN or (parameter.required and not read):
            return whole(context, value)
        return read if parameter.callback is None else parameter.callback(context, parameter, read)

    parameter.process_value = process_value
    return parameter


def _plain(kind: Any, value: Any) -> Any:
    """A word, a default or several words as typer would read them, where they are plainly of a type."""
    if get_origin(kind) is list:
        return _several(get_args(kind)[0], value or ()) if value is None or type(value) in (list, tuple) else _NOT_PLAIN
    return None if value is None else _one(kind, value)


def _several(kind: Any, words: Any) -> Any:
    read = [_one(kind, word) for word in words]
    return read if _NOT_PLAIN not in read else _NOT_PLAIN


def _one(kind: Any, word: Any) -> Any:
    if type(word) is kind and kind in (str, bool, int):
        return word
    if kind is int and isinstance(word, str) and _NUMBER.fullmatch(word):
        return int(word)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if word is member or word == member.value), _NOT_PLAIN)
    return _NOT_PLAIN
