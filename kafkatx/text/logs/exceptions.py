"""Exceptions that a single line names: of Java, Python, .NET, Node and Rust, of librdkafka, sarama and franz-go.

Shapes  `org.apache.kafka.common.errors.TimeoutException: text` anywhere in a message (`failed: X: text`, `due to X`);
        `TimeoutException: text` where the class is one of the catalogue's or a colon follows; `[Error 90]
        ProducerFencedError` (kafka-python); `KafkaError{FATAL,code=_FENCED,val=-144,str="text"}` (confluent-kafka);
        `Local: text (_FENCED)` at the end (librdkafka's own lines); `PRODUCER_FENCED: text` (franz-go's kerr);
        `KafkaJSProtocolError: text`; `KafkaError (Transaction error: text)` (rust-rdkafka); `[47] Invalid Producer
        Epoch: text` (kafka-go); `code=_TIMED_OUT`; `apiId: 'INVALID_TXN_STATE'`; or nothing but the
        words of an error (spelled.py).
Rule    a message that holds the text of another exception (`KafkaException: org...InvalidPidMappingException: text`,
        `...; nested exception is X: text`) tells that one as its cause.
Limits  texts are cut at `LONGEST_MESSAGE`; every search is linear in the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from kafkatx.terms.catalogue.entries import Spelling, plain_name
from kafkatx.terms.catalogue.loading import client_exceptions, error_codes, spellings
from kafkatx.terms.error_codes import ErrorCode, atoms, error_code
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.regex import regex
from kafkatx.text.events import Thrown
from kafkatx.text.logs.error_names import CLASS, CONFLUENT, KAFKAJS, NOT_WITHIN, SIMPLE_CLASS, TYPE_ARGUMENTS
from kafkatx.text.logs.spelled import Spelled, all_spelled_in, names, spelled_in
from kafkatx.text.logs.stamps import DATED

LONGEST_MESSAGE = 4_096
"""Characters of a message that are kept."""
MOST_EMBEDDED = 4
"""Exceptions told inside the message of one."""

_QUOTED_LINE = regex("[\"'`\u201c\u00ab]" + rf"\[?{DATED}:\d\d")
_ANY = regex(
    r"Exception|Error|Fenced|Throwable|KafkaJS|\(_?[A-Z_]{5,40}\)|[A-Z]_[A-Z_]{2,40}: |\bcode[=:]|\[\d{1,3}\] [A-Z]"
    r"|RESP_ERR_|RespErr|Rdkafka::|[ :'][a-z]{3,20}_[a-z]{3,20}|\{:?error,"
    r"|kafka\.errors\.|[a-z]\(['\")]|\bapiId\b|\berror_?[nN]ame\b|\btype\b"
)
_FULL = regex(rf"{NOT_WITHIN}({CLASS})(?:{TYPE_ARGUMENTS})?(?:(?:: ?|\"?, ?\"?message\"?[=:] ?\"?)(.*))?", re.DOTALL)
_QUOTED_TO = regex(r"\"(?=\s+[\w.]{1,40}=|\s*$)")
"""Where the value of a field ends that an exception fills."""
_SIMPLE = regex(rf"{NOT_WITHIN}({SIMPLE_CLASS})(?![\w$.(])(?:: (.*))?", re.DOTALL)
_NUMBERED = regex(r"\[Error (\d{1,4})\] ([A-Z]\w{2,79})(?:: (.*))?", re.DOTALL)
_CONFLUENT = regex(rf'{CONFLUENT}([A-Z_0-9]{{2,60}}),val=-?\d{{1,6}}(?:,str=\\{{0,2}}"(.{{0,4000}}?)\\{{0,2}}")?\}}')
_LIBRDKAFKA = regex(r"(?:: |^)((?:Local|Broker): [^()]{1,400}?)? ?\((_?[A-Z][A-Z0-9_]{3,60})\)\s*$")
_REPR = regex(
    r"(?:^|[:=<(\[] ?)(?:[a-z]\w{1,40}\.){0,4}([A-Z][A-Za-z]{5,79})\((?:(['\"])(.{0,400})\2,?)?\)[\s'\"\])>.]*$"
)
"""What Python's %r shows of an exception, at the end of a message."""
_KERR = regex(r"(?:^|[ =:\"'`(\[])([A-Z][A-Z_]{5,60}): ([A-Z].{0,2000})", re.DOTALL)
_KAFKAJS = regex(rf"(?<![\w.$])({KAFKAJS})(?:(?: \[KafkaJS\w{{2,60}}\])?: (.*)|(?=:?\s*(?:$|[\n{{\]\[])))", re.DOTALL)
_RUST = regex(r"KafkaError \(([A-Z][\w /]{2,40} error): (.{0,2000})\)", re.DOTALL)
_TITLED = regex(r"\[(\d{1,3})\] ([A-Z][A-Za-z]{2,20}(?: [A-Z][A-Za-z]{1,20}){0,6}): ")
_CODED = regex(
    r"\b(?:code|errorCode|ErrorCode|err_code)[\"']?\s?[=:]\s?[\"']?(_[A-Z][A-Z_]{3,40}|Local_[A-Z]\w{2,40})\b"
)
_FIELD = regex(r"\b(?:apiId|errorName|error_name|type)[\"']?\s?[=:]\s?[\"']([A-Z][A-Z]+(?:_[A-Z]+){1,6})[\"']")
"""Fields of printed objects that hold the protocol's name of an error (@platformatic/kafka, KafkaJS)."""
_CONSTANT = regex(r"\bRD_KAFKA_RESP_ERR_(_?[A-Z][A-Z_]{2,60})\b|\bRdKafkaRespErr([A-Z][A-Za-z]{2,60})\b")
"""Constants of librdkafka in full, in C and as Haskell's binding shows them."""
_OF_NUMBER = regex(r"\b(?:code|errno|err)[\"']?(?:\s?[=:(]\s?|\s)[\"']?(-1[3-9]\d)\b(?!\.)")
"""Numbers that only librdkafka gives to errors."""
_TERMINATED = regex(r"Process is terminated due to (\w{3,79}Exception)\.")
"""What .NET says of an error that no program can catch."""
_RUBY = regex(r"\bRdkafka::(?:\w{2,40}::)?\w{0,40}Error: (.{0,400}?) ?\(([a-z][a-z_]{2,50})\)", re.DOTALL)
"""Ruby's binding, which prints the constant of an error in small letters without its first underscore."""
_ATOM = regex(
    r"(?:\{:?error, ?(?:[{\[]{1,3}[^{}\[\]\n]{1,120}, ?)?:?|[ (\[{,]:|\b(?:failed|error|reason)[:=]? :?"
    r"|\berror_code ?=> ?)'?([a-z]{3,20}(?:_[a-z]{2,20}){1,6})\b(?![\w.(/])"
)
"""An error as an atom of Erlang and Elixir (brod, kafka_ex); of partitions in a list (kpro_txn_lib), in a map."""
_MARKS = {'"': '"', "'": "'", "`": "`", "(": ")", "[": "]", "{": "}"}
_JAVA = ("org.apache.kafka.", "java.")
_LEADS = (":", " is", " due to", " caused by", " because of", "exception=")
"""What stands before the class of an exception that a message tells as its cause."""
_WRAPPERS = ("KafkaException", "ExecutionException", "RuntimeException")
"""Classes of Java that don't say which error they wrap."""


@lru_cache(maxsize=256)
def may_throw(message: str) -> bool:
    """Tell, cheaply, whether a message may name an exception."""
    return _ANY.search(message) is not None or spelled_in(message) is not None


def own_words(message: str) -> str:
    """Return a message up to where it quotes a line of a log: that line happened elsewhere, if at all."""
    quotation = _QUOTED_LINE.search(message)
    return message if quotation is None else message[: quotation.start()]


def thrown_in(message: str) -> tuple[Thrown, ...]:
    """Return the chain of exceptions that a message names, outermost first; empty if it names none."""
    if not may_throw(message):
        return ()
    first = _first(message[: 2 * LONGEST_MESSAGE])
    return with_embedded((first,)) if first is not None else ()


def with_embedded(chain: tuple[Thrown, ...]) -> tuple[Thrown, ...]:
    """Add the exceptions whose texts stand in the message of the last one."""
    for _ in range(MOST_EMBEDDED):
        inner = _embedded(chain[-1])
        if inner is None or any(_letters(inner) == _letters(link) for link in chain) or _is_told(chain[-1], inner):
            break
        chain = (*chain, _of_library(chain[0], inner))
    return chain


def _letters(link: Thrown) -> str:
    """What a class and the protocol's name of the same error share."""
    return link.name.replace("_", "").casefold()


def _is_told(outer: Thrown, inner: Thrown) -> bool:
    """Whether an exception already says what the words of its message do: Java's classes are errors themselves."""
    is_error = outer.error is not ErrorCode.NONE or (outer.exception.startswith(_JAVA) and outer.name not in _WRAPPERS)
    return is_error and "." not in inner.exception and not inner.name.startswith("_")


def _of_library(outer: Thrown, inner: Thrown) -> Thrown:
    """Kafka's own words in an exception of KafkaJS are KafkaJS's."""
    if outer.exception.startswith("KafkaJS") and "." not in inner.exception and not inner.name.startswith("_"):
        return Thrown(f"kafkajs.{inner.exception}", inner.message)
    return inner


def thrown(name: str, message: str) -> Thrown:
    """Return an exception; a message that repeats its class name or number (as Python's libraries do) loses it."""
    text = message.strip()
    if (found := _NUMBERED.match(text)) and found[2] == name.rpartition(".")[2]:
        text = found[3] or ""
    text = text.removeprefix(name.rpartition(".")[2] + ": ")
    return Thrown(name, "" if text == "None" else text[:LONGEST_MESSAGE])


@kept_table
def known_classes() -> frozenset[str]:
    """Simple names of the exceptions of the catalogue; librdkafka's and franz-go's errors as they are printed."""
    texts = [entry.text for error in error_codes() for entry in error.exceptions]
    texts += [name for entry in client_exceptions() for name in entry.exceptions]
    classes = {plain_name(text) for text in texts}
    return frozenset(name for name in classes if name.isidentifier()) | names()


@cache
def known_codes() -> frozenset[str]:
    """Names of the error codes of the protocol."""
    return frozenset(error.name for error in error_codes() if error.name != "NONE")


def _first(message: str) -> Thrown | None:
    """The exception that a message names first."""
    return next(filter(None, (read(message) for read in _READERS)), None)


def _confluent(message: str) -> Thrown | None:
    found = _CONFLUENT.search(message)
    return Thrown(found[1], found[2] or "") if found else None


def _full(message: str) -> Thrown | None:
    found = _FULL.search(message)
    if found is None:
        return None
    is_quoted = message[found.start() - 1 : found.start()] == '"'
    text = found[2] or ""
    return thrown(found[1], _QUOTED_TO.split(text, maxsplit=1)[0] if is_quoted else text)


def _numbered(message: str) -> Thrown | None:
    found = _NUMBERED.search(message)
    return thrown(f"kafka.errors.{found[2]}", found[3] or "") if found else None


def _simple(message: str) -> Thrown | None:
    """A class without its package: one of the catalogue's, or one with a text behind it."""
    for found in _SIMPLE.finditer(message):
        if found[1] in known_classes() or (found[2] is not None and found[1].endswith(("Exception", "Error"))):
            return thrown(found[1], found[2] or "")
    return None


def _kafkajs(message: str) -> Thrown | None:
    found = _KAFKAJS.search(message)
    return Thrown(found[1], (found[2] or "")[:LONGEST_MESSAGE]) if found else None


def _rust(message: str) -> Thrown | None:
    found = _RUST.search(message)
    return Thrown("rdkafka.KafkaError", f"{found[1]}: {found[2]}") if found else None


def _librdkafka(message: str) -> Thrown | None:
    found = _LIBRDKAFKA.search(message)
    if found is None or not (found[2].startswith("_") or found[2] in known_codes()):
        return None
    return Thrown(found[2], (found[1] or "").strip())


def _titled(message: str) -> Thrown | None:
    """kafka-go: number and title of an error."""
    for found in _TITLED.finditer(message):
        name = found[2].replace(" ", "")
        if error_code(name) == int(found[1]) != ErrorCode.NONE:
            return Thrown(f"kafka-go.{name}", message[found.end() :][:LONGEST_MESSAGE])
    return None


def _coded(message: str) -> Thrown | None:
    found = _CODED.search(message)
    return Thrown(found[1], message[:LONGEST_MESSAGE]) if found else None


def named_by_field(message: str) -> Thrown | None:
    """Return the error of the protocol that a field of a printed object names."""
    found = next((found for found in _FIELD.finditer(message) if found[1] in known_codes()), None)
    return Thrown(found[1], "") if found else None


def _shown(message: str) -> Thrown | None:
    """A class of the catalogue as Python's %r shows it."""
    found = _REPR.search(message)
    return thrown(found[1], found[3] or "") if found and found[1] in known_classes() else None


def _ruby(message: str) -> Thrown | None:
    found = _RUBY.search(message)
    name = found[2].upper() if found else ""
    if found is None or not (name in known_codes() or f"_{name}" in _own_names()):
        return None
    return Thrown(name if name in known_codes() else f"_{name}", found[1])


@cache
def _own_names() -> frozenset[str]:
    """Constants of the errors that librdkafka finds out by itself."""
    return frozenset(entry.name for entry in _of_librdkafka() if entry.name.startswith("_"))


def atom_in(message: str) -> re.Match[str] | None:
    """Return the error of the protocol that an atom names, where only producers and transactions meet it."""
    return next((found for found in _ATOM.finditer(message) if found[1] in atoms()), None)


def _atom(message: str) -> Thrown | None:
    found = atom_in(message)
    return Thrown(found[1].upper(), message[:LONGEST_MESSAGE]) if found else None


def _terminated(message: str) -> Thrown | None:
    found = _TERMINATED.search(message)
    return Thrown(f"System.{found[1]}", "") if found else None


def _constant(message: str) -> Thrown | None:
    """A constant in full, or only its number: nothing else is told."""
    if found := _CONSTANT.search(message):
        name = found[1] or _constants().get(found[2].casefold(), "")
        return Thrown(name, message[:LONGEST_MESSAGE]) if name else None
    number = _OF_NUMBER.search(message)
    name = _numbers().get(int(number[1]), "") if number else ""
    return Thrown(name, message[:LONGEST_MESSAGE]) if name else None


@cache
def _constants() -> dict[str, str]:
    """Constants of librdkafka by their letters alone; of two alike the protocol's is not meant."""
    return {entry.name.replace("_", "").casefold(): entry.name for entry in reversed(_of_librdkafka())}


@cache
def _numbers() -> dict[int, str]:
    """Librdkafka's own errors by their numbers."""
    return {entry.code: entry.name for entry in reversed(_of_librdkafka()) if entry.code is not None and entry.code < 0}


@cache
def _of_librdkafka() -> tuple[Spelling, ...]:
    return tuple(entry for entry in spellings() if entry.client == "librdkafka")


def _spelled(message: str) -> Thrown | None:
    """The words of an error and nothing of its class; the words around them say what was tried."""
    found = spelled_in(message)
    return Thrown(found.name, _words_of(message, found)) if found else None


def _words_of(message: str, found: Spelled) -> str:
    """The words of an error with those around them, within the quotation marks or brackets that hold them."""
    opened = {mark: _opening(message, mark, found.start) for mark in _MARKS}
    mark = max(opened, key=lambda one: opened[one])
    begin = opened[mark] + 1
    end = message.find(_MARKS[mark], found.end) if begin else -1
    return message[begin : end if end >= 0 else None][:LONGEST_MESSAGE].strip()


def _opening(message: str, mark: str, before: int) -> int:
    """Where the last such mark stands before a place; -1 for a bracket that is closed again before it."""
    at = message.rfind(mark, 0, before)
    return -1 if _MARKS[mark] != mark and message.find(_MARKS[mark], at, before) > 0 else at


def _kerr(message: str) -> Thrown | None:
    found = next((found for found in _KERR.finditer(message) if found[1] in known_codes()), None)
    return Thrown(f"kerr.{_camel(found[1])}", found[2][:LONGEST_MESSAGE]) if found else None


_READERS = (
    _confluent,
    _ruby,
    _full,
    _numbered,
    _kafkajs,
    _rust,
    _simple,
    _librdkafka,
    _kerr,
    _titled,
    _shown,
    _spelled,
    _coded,
    named_by_field,
    _constant,
    _atom,
    _terminated,
)
"""Forms in which exceptions are named; of a message that fits several, the first counts."""


def _embedded(outer: Thrown) -> Thrown | None:
    """The exception whose `class: text`, or whose words, stand in the message of another."""
    message = outer.message
    if _CONFLUENT.match(message):
        return _confluent(message)
    if found := _numbered(message):
        return found
    begin = named.start() if (named := _FULL.search(message)) else -1
    if begin == 0 or message[: max(begin, 0)].rstrip().endswith(_LEADS):
        return _full(message)
    return next((inner for inner in _all_words(message) if inner.name != outer.name), None)


def _all_words(message: str) -> Iterator[Thrown]:
    """The errors whose words stand in a message; what stands behind the first ones is theirs."""
    for found in all_spelled_in(message):
        yield Thrown(found.name, message[found.start :])


def _camel(code: str) -> str:
    """`PRODUCER_FENCED` as franz-go's Go name of it."""
    return "".join(word.capitalize() for word in code.split("_")).replace("Id", "ID")
