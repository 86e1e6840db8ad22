"""The catalogue: Kafka's error codes, exceptions, log texts, settings and transaction states, by release.

Facts only, as package data; what they mean for a diagnosis is the business of the rules that they name. `by_name`
finds an entry, `match_line` recognises a pasted log line, `containing` and `close_words` help where neither does.
"""

from kafkatx.terms.catalogue.entries import (
    ClientException,
    Config,
    Entry,
    EventTemplate,
    EventWords,
    LogTemplate,
    Named,
    ProtocolError,
    Stated,
    StateEntry,
    is_kafka_release,
    simple_name,
)
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    configs,
    error_codes,
    event_templates,
    event_words,
    states,
)
from kafkatx.terms.catalogue.lookup import by_name, close_texts, close_words, containing, failures_in
from kafkatx.terms.catalogue.releases import FIRST_RELEASE, NEWEST_RELEASE, Release, Span, parse_release
from kafkatx.terms.catalogue.templates import Match, match_line, one_blank

__all__ = [
    "FIRST_RELEASE",
    "NEWEST_RELEASE",
    "ClientException",
    "Config",
    "Entry",
    "EventTemplate",
    "EventWords",
    "LogTemplate",
    "Match",
    "Named",
    "ProtocolError",
    "Release",
    "Span",
    "StateEntry",
    "Stated",
    "broker_log_templates",
    "by_name",
    "client_exceptions",
    "client_log_templates",
    "close_texts",
    "close_words",
    "configs",
    "containing",
    "error_codes",
    "event_templates",
    "event_words",
    "failures_in",
    "is_kafka_release",
    "match_line",
    "one_blank",
    "parse_release",
    "simple_name",
    "states",
]
