"""Errors by the words of their libraries, wherever they stand: `Local: Timed out`, `kafka server: Producer ...`.

librdkafka, sarama, KafkaJS, franz-go and aiokafka print the words of an error, mostly without a name or a number, and
whoever hands it on puts words before and behind it. The words are data: terms/catalogue/spellings.tsv, and for Kafka's
own the messages of errors.tsv.
Names   an error is named after its library where only that has the words (`_TIMED_OUT`, `sarama.ErrInvalidTxnState`,
        `kafkajs.GROUP_LOAD_IN_PROGRESS`); Kafka's own words lead to the protocol's name.
Method  where a word begins, its first characters lead to the few errors whose words may stand there.
Limits  words that are cut at the end of a line are known by `FEWEST` of their characters, if they are of one error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from kafkatx.terms.catalogue.loading import error_codes, spellings
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

FEWEST = 24
"""Characters by which words are known that the end of a line cuts; and which Kafka's own words must have."""
HEAD = 8
"""Characters by which words are looked for; none are shorter (a test holds it)."""
_BEGINS = regex(r"(?<![\w.])\S")
_BEGUN = regex(rf"(?<![\w.])(?=(\S.{{{HEAD - 1}}}))", re.DOTALL)
"""What stands where a word begins, as long as what words are looked for by."""
_NUMBERED = regex(r"Unknown error, how did this happen\? Error code = (\d{1,4})")
_SARAMA = "kafka server: "


@dataclass(frozen=True, slots=True)
class Spelled:
    """Words of an error in a text: its name and where they stand."""

    name: str
    start: int
    end: int


def spelled_in(text: str) -> Spelled | None:
    """Return the first error whose words stand in a text."""
    return next(all_spelled_in(text), None)


def all_spelled_in(text: str) -> Iterator[Spelled]:
    """Yield the errors whose words stand in a text, in their order; what a wrapper wraps comes behind it."""
    end = 0
    is_any = not _heads().keys().isdisjoint(_BEGUN.findall(text))
    for begin in _BEGINS.finditer(text) if is_any else ():
        at = begin.start()
        known = next((one for one in _heads().get(text[at : at + HEAD], ()) if text.startswith(one, at)), None)
        if at >= end and known is not None:
            end = at + len(known)
            yield Spelled(_names()[known], at, end)
    if found_number := _NUMBERED.search(text, end):
        name = _names_of_codes().get(int(found_number[1]), "UNKNOWN_SERVER_ERROR")
        yield Spelled(name, found_number.start(), found_number.end())
    elif cut := _cut(text, end):
        yield cut


@cache
def words() -> frozenset[str]:
    """The words of all errors."""
    return frozenset(_names())


@cache
def names() -> frozenset[str]:
    """Simple names of errors in all libraries."""
    return frozenset(entry.name for entry in spellings()) | frozenset(error.name for error in error_codes())


@kept_table
def _names() -> dict[str, str]:
    """Name of an error by its words; those that only a library has go before Kafka's own.

    A library may print the first sentence of what Kafka says (KafkaJS does for UNKNOWN_PRODUCER_ID): that is Kafka's.
    """
    own = {
        stated.text.rstrip(". "): error.name
        for error in error_codes()
        for stated in error.messages
        if len(stated.text) >= FEWEST
    }
    given = {entry.text: _in_full(entry.client, entry.name) for entry in spellings() if entry.text}
    kafkas = {text: name for text in given for words, name in own.items() if words.startswith(text)}
    return own | given | kafkas


def _in_full(client: str, name: str) -> str:
    """The name as it is known: constants of librdkafka are printed bare."""
    return name if client == "librdkafka" else f"{client}.{name}"


@cache
def _names_of_codes() -> dict[int, str]:
    return {error.code: error.name for error in error_codes()}


@cache
def _heads() -> dict[str, tuple[str, ...]]:
    """The words of all errors by their first characters, the longest first."""
    heads: dict[str, list[str]] = {}
    for text in sorted(_names(), key=len, reverse=True):
        heads.setdefault(text[:HEAD], []).append(text)
    return {head: tuple(texts) for head, texts in heads.items()}


def _cut(text: str, after: int) -> Spelled | None:
    """An error whose words the end of the text cuts."""
    if ": " not in text[after:]:
        return None
    end = text.rstrip(" .\u2026")
    for begin in ("Local: ", "Broker: ", _SARAMA):
        start = end.rfind(begin, after)
        left = end[start:]
        if start >= 0 and len(left) >= FEWEST:
            fits = {name for known, name in _names().items() if known.startswith(left)}
            if len(fits) == 1:
                return Spelled(fits.pop(), start, len(end))
    return None
