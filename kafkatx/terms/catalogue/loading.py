"""The catalogue's tables: tab-separated package data, read when first asked for and then kept.

Format  the first line names the columns; a cell of several statements puts ` || ` between them, each of them with the
        span it holds for (`2.7+: text`); lists of names and codes are separated by commas.
Texts   log_texts.tsv has a row a text, class and span of releases; what a text means as an event (`event` and the
        columns behind it) stands in one of its rows and holds for all. Rows without a class are known as events only.
Source  Kafka's own source at 26 minor releases (0.11 to 4.4) for log texts and error codes; class and KIP are named
        where a row rests on one.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeVar

from kafkatx.terms.catalogue.entries import (
    ClientException,
    Config,
    EventTemplate,
    EventWords,
    Kip,
    KnownDefect,
    LogTemplate,
    ProtocolError,
    Signs,
    Spelling,
    SpokenCause,
    SpokenTrait,
    Stated,
    StateEntry,
    StatementPattern,
    StatementWeight,
    Symptom,
    Term,
    message_of_exception,
)
from kafkatx.terms.catalogue.releases import Span, parse_span
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.packaged import packaged_text

Row = dict[str, str]
E = TypeVar("E")


@cache
def error_codes() -> tuple[ProtocolError, ...]:
    """Return all error codes, by code; a code that was renamed has an entry a name."""
    return tuple(_error_code(row) for row in _rows("errors.tsv"))


@cache
def client_exceptions() -> tuple[ClientException, ...]:
    """Return all exceptions, client by client."""
    return tuple(_client_exception(row) for row in _rows("exceptions.tsv"))


@cache
def spellings() -> tuple[Spelling, ...]:
    """Return the names and words that libraries other than Java's have for errors."""
    return tuple(
        _entry(Spelling, row, code=int(row["code"]) if row["code"] else None) for row in _rows("spellings.tsv")
    )


@cache
def broker_log_templates() -> tuple[LogTemplate, ...]:
    """Return the texts that brokers log."""
    return tuple(entry for entry in _log_texts()[0] if entry.side == Side.broker.name)


@cache
def client_log_templates() -> tuple[LogTemplate, ...]:
    """Return the texts that clients log or throw."""
    return tuple(entry for entry in _log_texts()[0] if entry.side == Side.client.name)


@cache
def event_templates() -> tuple[EventTemplate, ...]:
    """Return the texts that make events of log lines.

    What rules name and no row explains is of kind `other`; the message of a client's exception is a failure.
    """
    named, own = _log_texts()
    explained = {entry.template for entry in own}
    return (*own, *(_unexplained(entry) for entry in named if entry.rules and entry.template not in explained))


@cache
def _log_texts() -> tuple[tuple[LogTemplate, ...], tuple[EventTemplate, ...]]:
    """Texts that Kafka's source names with a class, and those that are events; many are both."""
    rows = tuple(_rows("log_texts.tsv"))
    of_classes = (row for row in rows if row["logger"])
    named = tuple(_entry(LogTemplate, row, span=_span(row), rules=_names(row["rules"])) for row in of_classes)
    events = {row["template"]: row for row in rows if row["event"]}
    spans: dict[str, Span] = {}
    for entry in named:
        if entry.template in events:
            spans[entry.template] = spans.get(entry.template, entry.span) | entry.span
    return named, tuple(_event_template(row, spans.get(text) or _span(row)) for text, row in events.items())


@cache
def event_words() -> dict[EventKind, EventWords]:
    """Return what each kind of event is in our words."""
    return {
        EventKind[row["kind"]]: EventWords(row["phrase"], _names(row["columns"])) for row in _rows("event_words.tsv")
    }


@cache
def configs() -> tuple[Config, ...]:
    """Return the settings that bear on transactions; one name may have an entry a scope."""
    return tuple(_entry(Config, row, defaults=_stated(row["defaults"])) for row in _rows("configs.tsv"))


@cache
def framework_settings() -> dict[tuple[str, str], str]:
    """Return what settings of Kafka are called in frameworks: (framework, setting) to their own name."""
    return {(row["framework"], row["setting"]): row["property"] for row in _rows("framework_settings.tsv")}


@cache
def states() -> tuple[StateEntry, ...]:
    """Return the transaction states, by code."""
    return tuple(_state(row) for row in _rows("states.tsv"))


@cache
def kips() -> tuple[Kip, ...]:
    """Return the improvement proposals that changed transactions, by number."""
    return tuple(_changed(Kip, row, "changes") for row in _rows("kips.tsv"))


@cache
def terms() -> tuple[Term, ...]:
    """Return terms, requests, states of clients and feature levels."""
    return tuple(
        _changed(Term, row, "details", names=_names(row["names"]), see=_names(row["see"])) for row in _rows("terms.tsv")
    )


@cache
def known_defects() -> tuple[KnownDefect, ...]:
    """Return the known defects of clients and brokers, product by product."""
    return tuple(map(known_defect, range(len(_defect_rows()))))


@cache
def known_defect(number: int) -> KnownDefect:
    """Return one of them: of hundreds a text shows some."""
    row = _defect_rows()[number]
    return _entry(
        KnownDefect,
        row,
        names=_names(row["names"]),
        since=row["since"] or None,
        fixed=_names(row["fixed"]),
        **{name: _signs(row[name]) for name in ("shows", "beside", "unless")},
    )


@cache
def _defect_rows() -> tuple[Row, ...]:
    return tuple(_rows("known_defects.tsv"))


@cache
def statement_patterns() -> tuple[StatementPattern, ...]:
    """Return the words by which people say what matters beside the lines of programs."""
    return tuple(_entry(StatementPattern, row) for row in _rows("statements.tsv"))


@cache
def statement_weights() -> tuple[StatementWeight, ...]:
    """Return which statements speak for a cause, or against it, and how much."""
    return tuple(_entry(StatementWeight, row, weight=int(row["weight"])) for row in _rows("statement_weights.tsv"))


@cache
def symptoms() -> tuple[Symptom, ...]:
    """Return what people say that does not work, and what may be behind it."""
    return tuple(
        _entry(Symptom, row, rules=_names(row["rules"]), holds=_parts(row["holds"])) for row in _rows("symptoms.tsv")
    )


@cache
def spoken_traits() -> tuple[SpokenTrait, ...]:
    """Return what words of people tell of a failure, where no symptom fits."""
    return tuple(_entry(SpokenTrait, row, symptoms=_names(row["symptoms"])) for row in _rows("spoken_traits.tsv"))


@cache
def spoken_causes() -> tuple[SpokenCause, ...]:
    """Return which mechanisms explain what words tell together; of those that fit equally the commoner first."""
    return tuple(
        _entry(
            SpokenCause,
            row,
            needs=tuple(tuple(group.split("|")) for group in row["needs"].split(" & ")),
            unless=tuple(tuple(all_of.split(" & ")) for all_of in row["unless"].split(" | ")) if row["unless"] else (),
        )
        for row in _rows("spoken_causes.tsv")
    )


def _rows(name: str) -> Iterator[Row]:
    head, *lines = packaged_text(__package__, name).splitlines()
    columns = head.split("\t")
    for line in lines:
        yield dict(zip(columns, line.split("\t"), strict=True))


def _entry(kind: Callable[..., E], row: Row, **read: object) -> E:
    """A row as an entry: the fields in `read` as given, all others as they stand in the column of their name."""
    return kind(**{name: row[name] for name in _columns(kind, frozenset(read))}, **read)


@cache
def _columns(kind: Callable[..., E], read: frozenset[str]) -> tuple[str, ...]:
    """Fields of an entry that stand in columns of their names."""
    return tuple(name for name in kind.__annotations__ if name not in read)


def _changed(kind: Callable[..., E], row: Row, statements: str, **read: object) -> E:
    return _entry(
        kind, row, span=_span(row), rules=_names(row["rules"]), **{statements: _stated(row[statements])}, **read
    )


def _error_code(row: Row) -> ProtocolError:
    stated = {name: _stated(row[name]) for name in ("exceptions", "messages", "effects")}
    return _entry(ProtocolError, row, code=int(row["code"]), span=_span(row), rules=_names(row["rules"]), **stated)


def _client_exception(row: Row) -> ClientException:
    return _entry(
        ClientException,
        row,
        span=_span(row),
        exceptions=_names(row["exception"]),
        codes=tuple(map(int, _names(row["codes"]))),
        messages=_parts(row["messages"]),
        rules=_names(row["rules"]),
    )


def _event_template(row: Row, span: Span) -> EventTemplate:
    fields = [field.partition("=") for field in _names(row["fields"])]
    return EventTemplate(
        kind=EventKind[row["event"]],
        side=Side[row["event_side"] or row["side"]],
        client=row["client"],
        template=row["template"],
        span=span,
        fields=tuple(name for name, equals, _ in fields if not equals),
        constants=tuple((name, value) for name, equals, value in fields if equals),
        stands=row["stands"] or "line",
        loggers=_names(row["only_from"]),
    )


def _unexplained(entry: LogTemplate) -> EventTemplate:
    stands = "both" if entry.level == "MESSAGE" else "line" if entry.level.isupper() else "exception"
    side, constants = Side[entry.side], (("detail", entry.template),)
    if side is Side.client and stands == "exception":
        return message_of_exception(entry.template, entry.client, entry.span)
    return EventTemplate(
        EventKind.other, side, entry.client, entry.template, entry.span, constants=constants, stands=stands
    )


def _state(row: Row) -> StateEntry:
    names = {name: _names(row[name]) for name in ("predecessors", "added_predecessors", "rules")}
    flags = {name: row[name] == "yes" for name in ("on_disk", "expires")}
    return _entry(StateEntry, row, code=int(row["code"]), **names, **flags)


def _span(row: Row) -> Span:
    return _span_of(row["since"] or None, row["until"] or None)


_span_of = cache(Span)
"""Spans are few, rows are many."""


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(cell.split(" || ")) if cell else ()


def _signs(cell: str) -> Signs:
    """Alternatives of texts: ` && ` stands between those that a line must show together."""
    return tuple(tuple(part.split(" && ")) for part in _parts(cell))


def _stated(cell: str) -> tuple[Stated, ...]:
    pairs = (part.partition(": ") for part in _parts(cell))
    return tuple(Stated(parse_span(span), text) for span, _, text in pairs)


@cache
def _names(cell: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in cell.split(",")) if cell else ()
