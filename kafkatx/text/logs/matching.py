"""Which event a message is: the texts of terms/catalogue/log_texts.tsv against messages of lines and exceptions.

Method   a text is its literal pieces; they must stand in the message in order, the first one at its very beginning and
         the last one at its end (terms/catalogue/templates.py; time is linear in the message). Of the texts that begin
         as the message does the longest is tried first, so the most specific wins.
Loggers  short texts (`started`, `Shutting down.`) mean something only from the class that writes them.
Literals each text has one literal that its lines hold: the prefilter (kernels/literals.py) looks for those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from kafkatx.kernels.literals import LiteralSearch, shortest
from kafkatx.terms.catalogue.entries import EventTemplate, simple_name
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    error_codes,
    event_templates,
)
from kafkatx.terms.catalogue.releases import Span
from kafkatx.terms.catalogue.templates import Template, parse_template, trimmed
from kafkatx.terms.error_codes import atoms
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.calls import BEGUN, INITIALISED
from kafkatx.text.logs.spelled import words

LONGEST_LITERAL = 20
"""Characters of a piece that the prefilter looks for."""
SHORTEST_LITERAL = 10
"""Characters below which a text is looked for by the loggers that write it, if only they do."""
TELLING = 24
"""Literal characters from which on a text needs no logger to be known by."""
HEAD = 4
"""Characters of a message by which the texts that may fit are found."""
_BROKER = regex(r"(?:TxnCoordinator|GroupCoordinator|[\w.-]{1,250}:\d{1,5})/(?:\d{1,10}|bootstrap): ")
"""A broker as librdkafka names it."""
_BESIDE = regex(r"; [A-Za-z][\w.-]{0,39}: ")
"""What a structured line says beside its message, of which only texts of franz-go are a part."""
_BRACKET = regex(r"\[\w+ <\w+>\] ")
"""A bracket in front of a text (`[GroupId <groupId>] `): lines come without it, as its words are their context."""
TROUBLE = (
    b"Exception", b"Caused by: ", b"Traceback (most recent", b" values:", b"FencedError", b"KafkaError", b"KafkaJS",
    b"[Error ", b"aiokafka.errors.", b"kafka.errors.", b"code=_", b"code: _", b"Error code = ",
    b"RD_KAFKA_RESP_ERR_", b"RdKafkaRespErr", b"Rdkafka::",
)  # fmt: skip
"""Literals of lines that matter whatever text they hold: exceptions, and blocks of settings."""
REQUESTS = (
    b"INIT_PRODUCER_ID", b"END_TXN", b"ADD_PARTITIONS_TO_TXN", b"ADD_OFFSETS_TO_TXN", b"TXN_OFFSET_COMMIT",
    b"WRITE_TXN_MARKERS", b"api_key=22,", b"api_key=24,", b"api_key=25,", b"api_key=26,", b"api_key=27,",
    b"api_key=28,", b"api_key=0,", b"=PRODUCE,", b'"PRODUCE"',
)  # fmt: skip
"""Literals of the request logger's lines that matter."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """An event's text, cut into pieces; `loggers` are the only classes it is known from, empty for any."""

    entry: EventTemplate
    template: Template
    loggers: frozenset[str]

    def values(self, message: str, logger: str) -> tuple[str, ...] | None:
        """What stands for the placeholders, None if `message` (blanks and end trimmed) is another text."""
        if self.loggers and simple_name(logger.rstrip("$")) not in self.loggers:
            return None
        return self.template.whole_values(message)


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """An event's text recognised, with what stands for its placeholders."""

    pattern: Pattern
    values: tuple[str, ...]

    @property
    def kind(self) -> EventKind:
        """Kind of the event."""
        return self.pattern.entry.kind

    @property
    def text(self) -> str:
        """The text with its values; empty where a part of it is not known."""
        if not all(self.values):
            return ""
        first, *rest = self.pattern.template.pieces
        return first + "".join(value + piece for value, piece in zip(self.values, rest, strict=False))


def match_message(message: str, logger: str = "") -> RecognisedText | None:
    """Recognise the message of a log line, with or without the name of the broker that librdkafka puts before some."""
    text, texts = trimmed(message), texts_of("line")
    found = _match(text, logger, *texts)
    if found is None and (more := _BESIDE.search(text)):
        text = text[: more.start()]
        found = _match(text, logger, *texts)
    named = _BROKER.match(text) if found is None else None
    return _match(text[named.end() :], logger, *texts) if named else found


def match_exception(message: str) -> RecognisedText | None:
    """Recognise the message of an exception."""
    return _match(trimmed(message), "", *texts_of("exception"))


def tells_of_call(message: str) -> bool:
    """Tell whether the message of an exception is a framework's that says which call of its producer failed."""
    found = match_exception(message)
    return found is not None and any(name == "api" for name, _ in found.pattern.entry.constants)


@cache
def patterns() -> tuple[Pattern, ...]:
    """All texts: events before what is none yet, the most telling first; of equal texts of one place the first."""
    return tuple(map(pattern_at, range(count_of_patterns())))


@cache
def pattern_at(number: int) -> Pattern:
    """Return one of `patterns()`; of hundreds a text asks for some."""
    return pattern_of(_rows()[number])


def count_of_patterns() -> int:
    """Return how many there are."""
    return len(_rows())


@kept_table
def _rows() -> tuple[PatternRow, ...]:
    return tuple(row_of(pattern) for pattern in _patterns())


def _patterns() -> list[Pattern]:
    found: dict[tuple[object, ...], Pattern] = {}
    for entry in map(_without_bracket, event_templates()):
        template = parse_template(entry.template)
        if template.weight:
            pattern = Pattern(entry, template, _loggers(entry, template))
            found.setdefault((template.pieces, entry.stands, pattern.loggers), pattern)
    return sorted(found.values(), key=_rank)


PatternRow = tuple[Any, ...]
"""A pattern as plain data: kind, side, span and other fields of its entry, then those of its template, its loggers."""


def row_of(pattern: Pattern) -> PatternRow:
    """Return a pattern as plain data, which is kept."""
    entry, template = pattern.entry, pattern.template
    kind = int(entry.kind), int(entry.side), entry.span.since, entry.span.until
    text = entry.client, entry.template, entry.fields, entry.constants, entry.stands, entry.loggers
    return (*kind, *text, template.pieces, template.names, pattern.loggers)


def pattern_of(row: PatternRow) -> Pattern:
    """Return the pattern that a row is."""
    kind, side, since, until, client, text, fields, constants, stands, only_from, pieces, names, loggers = row
    span = _span_of(since, until)
    entry = EventTemplate(EventKind(kind), Side(side), client, text, span, fields, constants, stands, only_from)
    return Pattern(entry, Template(pieces, names), loggers)


_span_of = cache(Span)


@cache
def prefilter() -> LiteralSearch:
    """The search for all literals."""
    return LiteralSearch(_shortest(), are_shortest=True)


@kept_table
def _shortest() -> tuple[bytes, ...]:
    """The literals that hold no other one."""
    own = (literal for pattern in patterns() for literal in _literals(pattern))
    spelled = (text[:LONGEST_LITERAL].encode() for text in words())
    named = (f"{error.name}: ".encode() for error in error_codes())
    of_erlang = (atom.encode() for atom in atoms())
    return shortest((*TROUBLE, *REQUESTS, *INITIALISED, *BEGUN, *own, *spelled, *named, *of_erlang, *_python_classes()))


def _python_classes() -> Iterator[bytes]:
    """Names of Python's classes of errors, which may end as no other's do."""
    for entry in client_exceptions():
        if entry.client in ("aiokafka", "kafka-python"):
            yield from (simple_name(name)[:LONGEST_LITERAL].encode() for name in entry.exceptions if "." in name)


def _without_bracket(entry: EventTemplate) -> EventTemplate:
    bracket = _BRACKET.match(entry.template)
    if bracket is None:
        return entry
    return replace(entry, template=entry.template[bracket.end() :], fields=entry.fields[1:])


def _rank(pattern: Pattern) -> tuple[object, ...]:
    is_other = pattern.entry.kind is EventKind.other
    return is_other, -pattern.template.weight, len(pattern.template.pieces), pattern.template.pieces


def _literals(pattern: Pattern) -> Iterator[bytes]:
    longest = max(pattern.template.pieces, key=len)
    if pattern.loggers and len(longest) < SHORTEST_LITERAL:
        yield from (name.encode() for name in pattern.loggers)
    else:
        yield longest[:LONGEST_LITERAL].encode()


def _loggers(entry: EventTemplate, template: Template) -> frozenset[str]:
    if entry.loggers or template.weight >= TELLING:
        return frozenset(entry.loggers)
    return _loggers_of_texts().get(entry.template, frozenset()) if entry.kind is EventKind.other else frozenset()


@cache
def _loggers_of_texts() -> dict[str, frozenset[str]]:
    found = defaultdict(set)
    for entry in (*broker_log_templates(), *client_log_templates()):
        found[entry.template].add(simple_name(entry.logger))
    return {text: frozenset(names) for text, names in found.items()}


PLACES = ("line", "exception")
"""Where a text stands."""
Keyed = tuple[str, int]
"""The number of a text behind its longest piece, which a message holds that it fits: looking for that costs least."""
Texts = tuple[dict[str, tuple[Keyed, ...]], tuple[Keyed, ...]]
"""Texts by the first HEAD characters of a message, and those without such."""


def texts_of(place: str) -> Texts:
    """Texts of one of PLACES."""
    return _texts()[place]


@kept_table
def _texts() -> dict[str, Texts]:
    return {place: _texts_of(place) for place in PLACES}


def _texts_of(place: str) -> Texts:
    heads: dict[str, list[Keyed]] = defaultdict(list)
    rest: list[Keyed] = []
    for number, pattern in enumerate(patterns()):
        if pattern.entry.stands in (place, "both"):
            first = pattern.template.pieces[0]
            keyed = (max(pattern.template.pieces, key=len), number)
            (heads[first[:HEAD]] if len(first) >= HEAD else rest).append(keyed)
    return {head: tuple(found) for head, found in heads.items()}, tuple(rest)


def _match(
    message: str, logger: str, heads: dict[str, tuple[Keyed, ...]], rest: tuple[Keyed, ...]
) -> RecognisedText | None:
    for candidates in (heads.get(message[:HEAD], ()), rest):
        for longest, number in candidates:
            if longest in message and (values := pattern_at(number).values(message, logger)) is not None:
                return RecognisedText(pattern_at(number), values)
    return None
