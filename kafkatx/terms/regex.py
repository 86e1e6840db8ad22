"""Regular expressions that are compiled when they are first asked: of hundreds a text makes use of some."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

from kafkatx.terms.kept_patterns import PATTERNS

ASKED = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn", "groups", "groupindex", "flags")
"""What a compiled pattern answers."""


def regex(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` does, of which nothing is compiled yet; a wrong pattern raises re.error when asked.

    What it is compiled to is kept for the next run (kept_patterns.py): for patterns that stand in the package.
    """
    return cast("re.Pattern[AnyStr]", _Regex(pattern, int(flags)))


def regex_of_names(pattern: AnyStr) -> re.Pattern[AnyStr]:
    """Return the same for a pattern that is made of what evidence holds; it goes with the process."""
    return cast("re.Pattern[AnyStr]", _PassingRegex(pattern, 0))


class _Regex:
    """A pattern that becomes its compiled one: from the first question on its methods are that one's."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern, self._given = pattern, (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in ASKED:
            raise AttributeError(f"a pattern has no {name!r}")
        compiled = self._compiled(*self._given)
        self.__dict__.update({one: getattr(compiled, one) for one in ASKED} | self._quicker(compiled))
        return self.__dict__[name]

    def _quicker(self, compiled: re.Pattern[Any]) -> dict[str, Any]:
        """What looks for the texts that each match holds (held_literals.py) before it asks the compiled pattern."""
        held, begins_anywhere = PATTERNS.held(*self._given)
        if not held:
            return {}
        names = ("search", "match", "fullmatch") if begins_anywhere else ("search",)
        return {name: _asked_if_held(held, getattr(compiled, name)) for name in names}

    def _compiled(self, pattern: Any, flags: int) -> re.Pattern[Any]:
        return PATTERNS.compiled(pattern, flags)

    def __reduce__(self) -> Any:
        return regex, self._given


def _asked_if_held(held: tuple[Any, ...], ask: Any) -> Any:
    def asked(text: Any, *within: int) -> Any:
        for one in held:
            if one in text:
                return ask(text, *within)
        return None

    def asked_of_bytes(text: Any, *within: int) -> Any:
        return asked(text, *within) if type(text) is bytes else ask(text, *within)

    return asked if isinstance(held[0], str) else asked_of_bytes


class _PassingRegex(_Regex):
    """One that is not kept."""

    def _quicker(self, compiled: re.Pattern[Any]) -> dict[str, Any]:
        return {}

    def _compiled(self, pattern: Any, flags: int) -> re.Pattern[Any]:
        return re.compile(pattern, flags)

    def __reduce__(self) -> Any:
        return regex_of_names, self._given[:1]
