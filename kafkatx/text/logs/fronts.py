"""Lines of short texts whose layout nobody knows: what Kafka says in them parts them into a front and a message.

A known text, the words, the name or the constant of an error stands somewhere in the line; what a program prints before
its messages (around.py) stands before it, and in that the time and the level, wherever they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kafkatx.terms.catalogue.templates import one_blank
from kafkatx.terms.events import Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.around import is_front
from kafkatx.text.logs.error_names import CLASS, NOT_WITHIN, SIMPLE_CLASS
from kafkatx.text.logs.exceptions import known_classes
from kafkatx.text.logs.fragments import best_in
from kafkatx.text.logs.layouts import LEVELS
from kafkatx.text.logs.shown import shapes_in
from kafkatx.text.logs.spelled import all_spelled_in
from kafkatx.text.logs.stamps import NO_STAMP, STAMP, Stamp, read_stamp

LONGEST = 4_096
"""Characters of a line that are looked at."""
_CLASS = regex(rf"{NOT_WITHIN}(?:{CLASS}|{SIMPLE_CLASS}(?![\w$.(]))")
_BRACKET = regex(r"\[[^\[\]]{0,120}\b(?:clientId|transactionalId|id|brokerId|partition)=[^\[\]]{0,300}\][: ]*$")
"""Whose message it is, as clients and brokers print it before a message."""
_STAMP = regex(rf"(?<![\d.:/-])(?:{STAMP})")
_NAMES = "|".join(sorted((*LEVELS, "ERRO"), key=len, reverse=True))
_LEVEL = regex(rf"(?<![\w.$-])(?:({_NAMES})(?![\w.$-])|({_NAMES.lower()})(?=[\]\s:|>]))|\b[A-Z]?(E)(?= +$)")


@dataclass(frozen=True, slots=True)
class Parted:
    """A line: when and how severe its front says that it is, the message behind it, and what is known in that."""

    front: str
    stamp: Stamp
    level: Level
    message: str
    known: str


@lru_cache(maxsize=4096)
def known_at(text: str) -> int:
    """Return where in a line (one blank between words) what is known of Kafka begins, -1 where nothing is."""
    return min(_places(text[:LONGEST]), default=-1)


def _places(text: str) -> Iterator[int]:
    if (found := best_in(text)) is not None:
        yield found.start
    yield from (spelled.start for spelled in all_spelled_in(text))
    yield from (begin for begin, _ in shapes_in(text))
    for name in _CLASS.finditer(text):
        if "kafka" in name[0].lower() or name[0].rpartition(".")[2] in known_classes():
            yield name.start()


def parted(line: str) -> Parted | None:
    """Part a line into its front and what Kafka says; None where it has no front, or says nothing known."""
    text = one_blank(line[:LONGEST]).strip()
    at = known_at(text)
    if at <= 0 or text[0] == ">" or not is_front(text[:at]):
        return None
    known = text[at:]
    bracket = _BRACKET.search(text[:at])
    at = bracket.start() if bracket else at
    front = text[:at]
    time, level = _STAMP.search(front), _LEVEL.search(front)
    name = next(filter(None, level.groups()), "") if level else ""
    if level and name.islower() and not time and front[level.end()] == ":":
        name = ""
    return Parted(
        front,
        read_stamp(time[0]) if time else NO_STAMP,
        LEVELS.get({"E": "ERROR", "ERRO": "ERROR"}.get(name.upper(), name.upper()), Level.unknown),
        text[at:],
        known,
    )
