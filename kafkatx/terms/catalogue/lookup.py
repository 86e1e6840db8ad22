"""Finding entries of the catalogue: by name, by code, by part of a text, by likeness."""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

from kafkatx.terms.catalogue.entries import (
    ClientException,
    Config,
    Entry,
    Named,
    ProtocolError,
    StateEntry,
    simple_name,
)
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    configs,
    error_codes,
    states,
)

LONGEST_NAME = 120
"""Characters of a word that are compared with names; no name is longer, and likeness is dear."""

LIKENESS = 0.6
"""Share of a message's own words that a phrase must have to be like it."""

_LIBRDKAFKA = "RD_KAFKA_RESP_ERR_"
_WORD = re.compile(r"[A-Za-z_][\w.$]*")
_PLACEHOLDER = re.compile(r"<[\w.]+>")


def by_name(word: str) -> tuple[Named, ...]:
    """Return the entries that `word` names exactly, upper and lower case alike.

    A name is an error's name, code or exception class (with or without its package), an exception class or error
    constant of a client, a state's name, Java constant or code, or a config (also by its name in a topic).
    """
    return _index().get(word.strip().casefold(), ())


def failures_in(line: str) -> tuple[ProtocolError | ClientException, ...]:
    """Return the error codes and exceptions that a line names somewhere, in the order of the line."""
    found: dict[ProtocolError | ClientException, None] = {}
    for word in dict.fromkeys(_WORD.findall(line)):
        name = word.rstrip(".$")
        entries = by_name(name) if len(name) <= LONGEST_NAME else ()
        found.update((entry, None) for entry in entries if isinstance(entry, ProtocolError | ClientException))
    return tuple(found)


def containing(part: str) -> tuple[Entry, ...]:
    """Return the entries with `part` in a name or a text of Kafka's; failing that, those with it in their meaning."""
    wanted = " ".join(part.split()).casefold()
    if not wanted:
        return ()
    own = tuple(entry for entry in _all() if wanted in _own_words(entry))
    return own or tuple(entry for entry in _all() if wanted in entry.meaning.casefold())


def close_words(word: str, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return names that look like `word`, best first; `more` are names from outside the catalogue."""
    spelled: dict[str, str] = {}
    for name in (*_spellings(), *more):
        spelled.setdefault(name.casefold(), name)
    near = difflib.get_close_matches(word.strip().casefold()[:LONGEST_NAME], spelled, n=5, cutoff=0.6)
    return tuple(spelled[name] for name in near)


def close_texts(phrase: str) -> tuple[str, ...]:
    """Return the log messages that share most of their words with `phrase`, best first, three at most."""
    words = set(_WORD.findall(phrase))
    shared = {text: len(words & own) / len(own) for text, own in _template_words().items() if len(words & own) >= 3}
    likely = [text for text, share in shared.items() if share >= LIKENESS]
    return tuple(sorted(likely, key=lambda text: (-shared[text], text))[:3])


@cache
def _index() -> dict[str, tuple[Named, ...]]:
    """Entries by folded name; what an error's own explanation lists is not found beside it."""
    index: dict[str, dict[Named, None]] = defaultdict(dict)
    of_errors = {key.casefold() for error in error_codes() for key in (error.name, str(error.code))}
    named: tuple[Named, ...] = (*error_codes(), *client_exceptions(), *states(), *configs())
    for entry in named:
        for key in map(str.casefold, _keys(entry)):
            if key not in of_errors or not isinstance(entry, ClientException):
                index[key][entry] = None
    return {key: tuple(entries) for key, entries in index.items()}


@cache
def _spellings() -> tuple[str, ...]:
    keys = (key for entries in _index().values() for entry in entries for key in _keys(entry))
    return tuple(dict.fromkeys(key for key in keys if not key.lstrip("-").isdigit()))


@cache
def _template_words() -> dict[str, frozenset[str]]:
    templates = (*broker_log_templates(), *client_log_templates())
    return {
        t.template: frozenset(_WORD.findall(_PLACEHOLDER.sub(" ", t.template))) or frozenset("?") for t in templates
    }


def _keys(entry: Named) -> Iterator[str]:
    match entry:
        case ProtocolError():
            yield from (entry.name, str(entry.code))
            for exception in entry.exceptions:
                yield from (exception.text, f"org.apache.kafka.common.errors.{exception.text}")
        case ClientException():
            yield from map(str, entry.codes if entry.client == "librdkafka" else ())
            for name in entry.exceptions:
                yield from (name, simple_name(name), name.removeprefix(_LIBRDKAFKA))
        case StateEntry():
            yield from (entry.state, entry.java_constant, str(entry.code))
        case Config():
            yield from filter(None, (entry.name, entry.topic_name))


@cache
def _all() -> tuple[Entry, ...]:
    return (
        *error_codes(),
        *client_exceptions(),
        *states(),
        *configs(),
        *broker_log_templates(),
        *client_log_templates(),
    )


@cache
def _own_words(entry: Entry) -> str:
    match entry:
        case ProtocolError():
            words = (entry.name, *(stated.text for stated in (*entry.exceptions, *entry.messages)))
        case ClientException():
            words = (*entry.exceptions, *entry.messages)
        case StateEntry():
            words = (entry.state, entry.java_constant)
        case Config():
            words = (entry.name, entry.topic_name)
        case _:
            words = (entry.template,)
    return "\n".join(words).casefold()
