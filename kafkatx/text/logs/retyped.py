"""Errors of Kafka that somebody typed: names in words (`producer fenced exception`), messages by their letters.

A screen is photographed and read off, a log is told on the telephone, and telephones correct what is typed: case,
blanks and signs are lost, and a word becomes another one.
Name     the words of a class in a row, however they are parted and whatever their case.
Message  what a sentence of the protocol's errors begins with, of which only letters count: what comes behind may be
         cut, or misspelt.
Limits   asked only where a text names nothing that is written as programs write it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.terms.catalogue.entries import plain_name, simple_name
from kafkatx.terms.catalogue.loading import client_exceptions, error_codes
from kafkatx.terms.error_codes import GENERIC
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.regex import regex

FEWEST = 36
"""Letters by which the sentence of an error is known."""
MOST_WORDS = 7
_CLASS = regex(rf"\b(?:[A-Za-z]+[ -]){{0,{MOST_WORDS - 1}}}[A-Za-z]*[Ee](?:xception|XCEPTION|rror|RROR)(?=s?\b)")
_BETWEEN = regex(r"[ -]+")


def retyped_in(text: str) -> Iterator[str]:
    """Yield the names of errors that a line has in words, in their order; of words in two names the longer one."""
    for words in _CLASS.finditer(text):
        parts = _BETWEEN.split(words[0].lower())
        joined = ("".join(parts[first:]) for first in range(len(parts)))
        if name := next((_classes()[one] for one in joined if one in _classes()), None):
            yield name
    letters, end = _letters(text), 0
    found = ((letters.find(begin), name) for begin, name in _sentences().items())
    for at, name in sorted(one for one in found if one[0] >= 0):
        if at >= end:
            end = at + FEWEST
            yield name


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).lower()


@kept_table
def _classes() -> dict[str, str]:
    """Classes of Java's client by their names in small letters, but for those that say nothing."""
    entries = (entry for entry in client_exceptions() if entry.client == "java")
    named = [plain_name(name) for entry in entries for name in entry.exceptions]
    named += [simple_name(one.text) for error in error_codes() for one in error.exceptions]
    return {name.lower(): name for name in named if name.endswith("Exception") and name not in GENERIC}


@kept_table
def _sentences() -> dict[str, str]:
    """Names of the protocol's errors by the first letters of each sentence of theirs; of several the first."""
    found: dict[str, str] = {}
    for error in error_codes():
        for message in error.messages:
            for sentence in message.text.split(". "):
                if len(letters := _letters(sentence)) >= FEWEST:
                    found.setdefault(letters[:FEWEST], error.name)
    return found
