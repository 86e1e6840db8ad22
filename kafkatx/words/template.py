"""Templates: a sentence over the fields of a facts object.

Form      `"{count:open transaction} of {id} {count:was|were} aborted[ at {at}]"`: names are fields of the facts (dots
          go into them), what stands behind a colon is up to the value (`words/values.py`). A part in brackets drops out
          where a fact in it is absent (None); a sentence drops out whole where one outside brackets is.
Choice    `pick("reason", {Reason.commit: "...", ...}, otherwise="...")` says another sentence by the value of a fact.
Sequence  `("...", pick(...), "...")` are parts of one sentence.
Errors    a name that the facts don't have is an AttributeError: a test renders every sentence with sample facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from string import Formatter
from typing import Any

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex


@dataclass(frozen=True, slots=True)
class Pick:
    """One of several texts, by the value of a fact; `otherwise` where it has none (None: the text drops out)."""

    fact: str
    texts: Mapping[Any, Text]
    otherwise: Text | None = None


Text = str | Pick | tuple["Text", ...]
"""What a sentence is written as."""

_PARTS = regex(r"\[([^\[\]]*)\]")


def pick(fact: str, texts: Mapping[Any, Text], otherwise: Text | None = None) -> Pick:
    """Say one of several texts, by the value of a fact."""
    return Pick(fact, texts, otherwise)


def render(text: Text | None, facts: object) -> str | None:
    """Return the sentence over these facts; None where it is absent, or a fact that it needs is.

    Raises AttributeError for a name that the facts don't have.
    """
    if text is None:
        return None
    if isinstance(text, str):
        return _sentence(text, facts)
    if isinstance(text, Pick):
        return render(text.texts.get(value_of(facts, text.fact), text.otherwise), facts)
    parts = [render(part, facts) for part in text]
    return None if None in parts else "".join(part for part in parts if part is not None)


def value_of(facts: object, name: str) -> object:
    """Return a fact by its dotted name; None where it, or what it is a part of, is absent."""
    value: object = facts
    for part in name.split("."):
        if value is None:
            return None
        value = getattr(value, part)
    return value


def sentences(text: Text | None) -> Iterator[str]:
    """Yield every template of a text as it is said whole: of parts that are picked, each in turn."""
    if isinstance(text, str):
        yield text
    elif isinstance(text, Pick):
        for one in (*text.texts.values(), text.otherwise):
            yield from sentences(one)
    elif text is not None:
        parts = [list(sentences(part)) for part in text]
        first = [part[0] for part in parts]
        yield "".join(first)
        for at, part in enumerate(parts):
            yield from ("".join((*first[:at], other, *first[at + 1 :])) for other in part[1:])


def names_in(text: Text | None) -> set[str]:
    """Names of all facts that a text asks for."""
    found = {name for one in sentences(text) for part, _ in _parts(one) for _, name, _ in part if name is not None}
    return found | set(_picked(text))


def _picked(text: Text | None) -> Iterator[str]:
    if isinstance(text, Pick):
        yield text.fact
        for one in (*text.texts.values(), text.otherwise):
            yield from _picked(one)
    elif isinstance(text, tuple):
        for part in text:
            yield from _picked(part)


_Piece = tuple[str, str | None, str]
"""Literal text, then a name and its form (None: no name follows)."""


@cache
def _parts(template: str) -> tuple[tuple[tuple[_Piece, ...], bool], ...]:
    """Cut a template into parts, each with whether it may drop out, and those into pieces."""
    cut = _PARTS.split(template)
    return tuple((_pieces(part), number % 2 == 1) for number, part in enumerate(cut) if part)


def _pieces(part: str) -> tuple[_Piece, ...]:
    return tuple((literal, name, form or "") for literal, name, form, _ in Formatter().parse(part))


def _sentence(template: str, facts: object) -> str | None:
    said: list[str] = []
    for pieces, may_drop in _parts(template):
        part = _filled(pieces, facts)
        if part is None and not may_drop:
            return None
        said.append(part or "")
    return "".join(said)


def _filled(pieces: tuple[_Piece, ...], facts: object) -> str | None:
    said: list[str] = []
    for literal, name, form in pieces:
        said.append(literal)
        if name is not None:
            value = value_of(facts, name)
            if value is None:
                return None
            said.append(format(value, form))
    return "".join(said)
