"""Finding entries of the catalogue: by name, by code, by whole words, by likeness.

Names of errors are found in the spellings of all clients: `ErrProducerFenced` (sarama, Go), `kerr.ProducerFenced`
(franz-go), `ProducerFencedError` and `ProducerFenced` (Python), `Local_Fenced` (.NET), `ERR__FENCED` (node-rdkafka),
`RDKafkaErrorCode::Fenced` (Rust) beside Kafka's and librdkafka's own.
"""

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache

from kafkatx.terms.catalogue.entries import (
    JAVA_CLIENTS,
    ClientException,
    Config,
    Entry,
    Kip,
    KnownDefect,
    Named,
    ProtocolError,
    StateEntry,
    Term,
    plain_name,
)
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    configs,
    error_codes,
    kips,
    known_defects,
    states,
    terms,
)
from kafkatx.terms.catalogue.whole_words import folded, split, words_in
from kafkatx.terms.error_codes import error_code
from kafkatx.terms.regex import regex

LONGEST_NAME = 120
"""Characters of a word that are compared with names; no name is longer, and likeness is dear."""

MANY_MEANINGS = "TimeoutException"
"""A class of the Java client that an answer of a broker is the least meaning of."""

LIKENESS = 0.6
"""Share of a message's own words that a phrase must have to be like it."""

FEWEST_LETTERS = 24
"""Letters that Kafka's words for an error must have to be known within other words."""

LONGEST_QUESTION, LONGEST_TERM = 10, 4
"""Words of a phrase in which names are looked for, and of such a name."""

_WORD = regex(r"[A-Za-z_](?:[\w.$]|::)*")
_OF_A_LIBRARY = regex(r"^(?:RD_KAFKA_RESP_ERR_|ERR_|Err(?=[A-Z])|Local(?=_))")
_SUFFIX = regex(r"(?:exception|error)$")
_PLACEHOLDER = regex(r"<[\w.]+>")


def by_name(word: str) -> tuple[Named, ...]:
    """Return the entries that `word` names, however it is written: `last stable offset`, `LSO`, `ErrProducerFenced`.

    A name is an error's name, code or exception class (with or without its package) in the spelling of any client, an
    exception class or error constant of a client, a state's name, Java constant or code, a config (also by its name in
    a topic), a KIP, or a term.
    """
    if len(word) > LONGEST_NAME:
        return ()
    named = _index().get(word.strip().casefold()) or _folded_index().get(folded(word.strip())) or ()
    if all(isinstance(entry, ClientException) and entry.client not in JAVA_CLIENTS for entry in named):
        return tuple(dict.fromkeys((*errors_spelled(word), *named)))
    return named


def failures_in(line: str) -> tuple[ProtocolError | ClientException, ...]:
    """Return the errors and exceptions that a line names somewhere, in the order of the line, then those it words."""
    found: dict[ProtocolError | ClientException, None] = {}
    for word in dict.fromkeys(_WORD.findall(line)):
        name = word.rstrip(".$:")
        if name == name.casefold() and "_" not in name:
            continue  # prose: names of errors have capitals or underscores
        found.update((entry, None) for entry in by_name(name) if isinstance(entry, ProtocolError | ClientException))
    return (*found, *(entry for entry in _worded(line) if entry not in found))


def _worded(line: str) -> Iterator[ProtocolError | ClientException]:
    """Errors whose own words stand in a line: clients put other words before and behind them."""
    text = " ".join(line.split())
    yield from (entry for words, entry in _words_of_errors() if words in text)


@cache
def _words_of_errors() -> tuple[tuple[str, ProtocolError | ClientException], ...]:
    told: list[tuple[str, ProtocolError | ClientException]] = [
        (stated.text, error) for error in error_codes() for stated in error.messages
    ]
    told += [(text, row) for row in client_exceptions() if row.client not in JAVA_CLIENTS for text in row.messages]
    bare = ((text.rstrip(". "), entry) for text, entry in told if not _PLACEHOLDER.search(text))
    return tuple((text, entry) for text, entry in bare if len(text) >= FEWEST_LETTERS or text.startswith("Local: "))


def containing(phrase: str) -> tuple[Entry, ...]:
    """Return the entries with the words of `phrase` in a name or a text of Kafka's; failing that, in their meaning."""
    wanted = folded(phrase).lstrip("_")
    own = tuple(entry for entry in _all() if words_in(_own_words(entry)).hold(wanted))
    return own or tuple(entry for entry in _all() if words_in(entry.meaning).hold(wanted))


def holding_all(phrase: str) -> tuple[Entry, ...]:
    """Return the entries that have every word of `phrase`, in any order; none for words of one letter."""
    wanted = set(split(phrase))
    if len(wanted) < 2 or any(len(word) < 2 for word in wanted):
        return ()
    return tuple(
        entry for entry in _all() if all(words_in(f"{_own_words(entry)} {entry.meaning}").hold(w) for w in wanted)
    )


def names_within(phrase: str) -> tuple[Named, ...]:
    """Return the entries that a short question names, the longest names first: `what is the LSO`."""
    words = [word.strip("?!,;:.()'\"") for word in phrase.split()]
    if len(words) > LONGEST_QUESTION:
        return ()
    found: dict[Named, None] = {}
    taken: set[int] = set()
    for length in range(min(len(words), LONGEST_TERM), 0, -1):
        for start in range(len(words) - length + 1):
            places = set(range(start, start + length))
            if places & taken or (length == 1 and words[start].lstrip("-").isdigit()):
                continue
            named = by_name(" ".join(words[start : start + length]))
            found |= dict.fromkeys(named)
            taken |= places if named else set()
    return tuple(found)


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
    named: tuple[Named, ...] = (
        *terms(),
        *error_codes(),
        *client_exceptions(),
        *states(),
        *configs(),
        *kips(),
        *known_defects(),
    )
    for entry in named:
        for key in map(str.casefold, _keys(entry)):
            if key not in of_errors or not isinstance(entry, ClientException):
                index[key][entry] = None
    return {key: tuple(entries) for key, entries in index.items()}


@cache
def _folded_index() -> dict[str, tuple[Named, ...]]:
    """Entries by their names with the spelling taken out; codes are found as they stand only."""
    index: dict[str, dict[Named, None]] = defaultdict(dict)
    for key, entries in _index().items():
        if not key.lstrip("-").isdigit():
            index[folded(key)].update(dict.fromkeys(entries))
    return {key: tuple(entries) for key, entries in index.items()}


def errors_spelled(word: str) -> tuple[ProtocolError | ClientException, ...]:
    """Return the errors that a name of some client's spelling means: Kafka's, or those that librdkafka finds out.

    Go's and Rust's names (`ErrFenced`, `RDKafkaErrorCode::Fenced`) leave out the underscore of librdkafka's own.
    """
    last = re.split(r"\.|::", word.strip())[-1]
    bare = _OF_A_LIBRARY.sub("", last)
    key = _error_key(bare)
    own = _errors_by_key().get(key, ())
    if not own and (last.startswith("Err") or "::" in word):
        own = _errors_by_key().get(f"_{key}", ())
    code = error_code(last) or error_code(bare)
    of_code = (error for error in error_codes() if code and error.code == code)
    return own if any(isinstance(entry, ProtocolError) for entry in own) else (*own, *of_code)


def _error_key(name: str) -> str:
    return _SUFFIX.sub("", folded(name))


@cache
def _errors_by_key() -> dict[str, tuple[ProtocolError | ClientException, ...]]:
    index: dict[str, dict[ProtocolError | ClientException, None]] = defaultdict(dict)
    for error in error_codes():
        newest = [stated.text for stated in error.exceptions[-1:] if stated.text != MANY_MEANINGS]
        for name in (error.name, *newest):
            index[_error_key(name)][error] = None
    for row in client_exceptions():
        if row.client == "librdkafka":
            for name in row.exceptions:
                index[_error_key(plain_name(name))].setdefault(row, None)
    return {
        key: tuple(e for e in entries if isinstance(e, ProtocolError)) or tuple(entries)
        for key, entries in index.items()
    }


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
                yield from (name, plain_name(name))
        case StateEntry():
            yield from (entry.state, entry.java_constant, str(entry.code))
        case Config():
            yield from filter(None, (entry.name, entry.topic_name))
        case Kip():
            yield entry.kip
        case KnownDefect():
            yield from (entry.id, *entry.names)
        case Term():
            for name in (entry.name, *entry.names):
                yield from (name, f"{name}es" if name.endswith("ch") else f"{name}s")


@cache
def _all() -> tuple[Entry, ...]:
    return (
        *terms(),
        *error_codes(),
        *client_exceptions(),
        *states(),
        *configs(),
        *kips(),
        *known_defects(),
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
        case Kip():
            words = (entry.kip, entry.title)
        case KnownDefect():
            words = (entry.id, *entry.names)
        case Term():
            words = (entry.name, *entry.names)
        case _:
            words = (entry.template,)
    return "\n".join(words)
