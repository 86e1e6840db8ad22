"""Regular expressions that are compiled when they are first asked: of hundreds a text makes use of some."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

ASKED = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn", "groups", "groupindex", "flags")
"""What a compiled pattern answers."""


def regex(pattern: AnyStr, flags: int | re.RegexFlag = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` does, of which nothing is compiled yet; a wrong pattern raises re.error when asked."""
    return cast("re.Pattern[AnyStr]", _Regex(pattern, int(flags)))


class _Regex:
    """A pattern that becomes its compiled one: from the first question on its methods are that one's."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self.pattern, self._given = pattern, (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name not in ASKED:
            raise AttributeError(f"a pattern has no {name!r}")
        compiled = re.compile(*self._given)
        self.__dict__.update({one: getattr(compiled, one) for one in ASKED})
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        return regex, self._given
