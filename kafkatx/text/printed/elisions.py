"""What people write where they left something out: `...` for fields of a line, `...` or `[snip]` for lines.

In their own languages as well: Korean, Chinese and Japanese have a word for it that stands alone in its line.
"""

from __future__ import annotations

from kafkatx.terms.regex import regex

ELIDED_FIELDS = r"[\[(<]?(?:\.{2,}|…)[\])>]?"
"""Regular expression of what stands for fields."""
_BETWEEN_WORDS = regex(r"(?:^|\s)(?:\.{2,}|\u2026)(?:\s|$)")
_ELIDED_LINES = regex(
    r"(?:[>|*#/\s])*[\[(<{.…-]*\s*(?:\.{2,}|…+|snip(?:ped)?|truncated|omitted|cut|skipp\w*"
    r"|(?:이하 ?)?(?:중략|생략|후략)(?:됨|함)?|(?:以下|中间|此处)?(?:省略|中略|後略|后略|略)(?:了)?|пропущено|вырезано"
    r"|omitid[oa]s?|omis|gekürzt|ausgelassen"
    r"|.{0,40}(?:lines|records) (?:omitted|skipped|removed|cut|left out).{0,20})\s*[.…]*[\])>}-]*\s*"
)
LONGEST = 120


def leaves_out(text: str) -> bool:
    """Whether something was left out of a line (`...` between blanks)."""
    return _BETWEEN_WORDS.search(text) is not None


def is_elision(text: str) -> bool:
    """Whether a line says no more than that lines were left out (`...`, `[snip]`)."""
    return len(text) < LONGEST and _ELIDED_LINES.fullmatch(text) is not None
