"""What sentences tell that somebody wrote about a failure which no symptom fits: who, in doing what, when, how it ends.

`The sink is dead since the second broker was restarted` names no error and fits no symptom, but a reader knows where he
would look first. Which words tell a trait, in the languages in which people ask, is data
(terms/catalogue/spoken_traits.tsv); which mechanisms explain traits together is told by findings/spoken_causes.py.
Rule    The sentences that tell of the failure count, those near them, and the first of the page, which is its title.
        What was expected in place of it counts nothing, nor an occasion that is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from kafkatx.terms.catalogue.entries import SpokenTrait
from kafkatx.terms.catalogue.loading import spoken_traits
from kafkatx.terms.regex import regex
from kafkatx.text.events import TRAIT, Statement
from kafkatx.text.framed_pages import FramedPage
from kafkatx.text.logs.sentences import Sentence
from kafkatx.text.prose.spoken_cases import without_what_went_well

OCCASION = "when"
NEAR = 3
"""Sentences before and behind one that tells of a failure that belong to it."""
LONGEST_HEADING = 60
"""Characters of a heading; what is longer has below it what it announces."""
_HOPED = regex(
    r"\W*(?:expected(?: behaviou?r| results?)?|what (?:did|do) you expect|erwartet\w*|comportement attendu"
    r"|comportamiento esperado|comportamento esperado|\u671f\u671b|\u9884\u671f|\u671f\u5f85"
    r"|\u041e\u0436\u0438\u0434\u0430)",
    re.IGNORECASE,
)
"""The heading of what somebody expected."""
_UNHARMED = regex(r"\bwithout an? (?:error|exception|failure)\b", re.IGNORECASE)
"""What is no error, in a sentence that may tell of something else that failed."""
_DENIED = regex(
    r"(?:\b(?:no|not|without|never|neither|nor|isn't|wasn't|aren't|weren't|kein\w*|ohne|nicht|sin|sem|sans|aucun\w*"
    r"|\u0431\u0435\u0437|\u043d\u0435)\s+(?:\w+\s+){0,2}|\u6ca1\u6709?|\u672a|\u4e0d\u662f)$",
    re.IGNORECASE,
)
"""What takes an occasion back that stands behind it."""


def traits_told(page: FramedPage, cases: Sequence[Sentence]) -> list[Statement]:
    """Return the traits that a page tells of its failures (`cases` among its sentences), each where it stands first.

    The sentences of the failures themselves come before those near them.
    """
    first: dict[str, Statement] = {}
    for one in _that_count(page.sentences, cases):
        text = _UNHARMED.sub(" ", without_what_went_well(one.text))
        for trait, pattern in _patterns():
            if trait.name not in first and (found := _told(trait, pattern, text)) is not None:
                first[trait.name] = Statement(TRAIT, page.lines[one.first].number, found[0].strip(), error=trait.name)
    return list(first.values())


def _that_count(sentences: Sequence[Sentence], cases: Sequence[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences of the failures, then those near them and the first."""
    places = [at for at, one in enumerate(sentences) if one in cases]
    hoped = set(_hoped(sentences))
    near = {0, *(at + step for at in places for step in range(-NEAR, NEAR + 1))}
    for at in (*places, *sorted(near - set(places))):
        if 0 <= at < len(sentences) and at not in hoped:
            yield sentences[at]


def _hoped(sentences: Sequence[Sentence]) -> Iterator[int]:
    """Numbers of sentences that say what was expected: below the heading where it stands alone."""
    for at, one in enumerate(sentences):
        if _HOPED.match(one.text):
            yield at
            if len(one.text) <= LONGEST_HEADING:
                yield at + 1


def _told(trait: SpokenTrait, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Where a sentence tells a trait."""
    for found in pattern.finditer(text):
        if trait.kind != OCCASION or not _DENIED.search(text, 0, found.start()):
            return found
    return None


@cache
def _patterns() -> tuple[tuple[SpokenTrait, re.Pattern[str]], ...]:
    return tuple((row, regex(row.pattern, re.IGNORECASE)) for row in spoken_traits())
