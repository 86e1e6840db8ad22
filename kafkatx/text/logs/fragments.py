"""Which event's text stands somewhere in a line, or is cut at either end of it.

match_message asks for a message from its first to its last character. Here a text is found by three words in a row of
one of its pieces, and followed from there to both sides: up to its own ends, or to an end of the line (then what is
missing is unknown, not false). Two texts that reach equally far and mean different events decide nothing.

What may stand around it: a label (`Caused by: `, `error="`, a class of exceptions, an application's own words that end
with a colon), a quotation mark, a word of the log behind it. A text in the middle of a sentence, in a string of source
code, or in a cell among others is talk about the text: see `is_label` and `is_rest`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache, lru_cache

from kafkatx.terms.catalogue.entries import KAFKA, message_of_exception
from kafkatx.terms.catalogue.loading import (
    client_exceptions,
    client_log_templates,
    error_codes,
)
from kafkatx.terms.catalogue.releases import Span
from kafkatx.terms.catalogue.templates import parse_template, trimmed
from kafkatx.terms.events import EventKind
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.around import is_front, is_quoted
from kafkatx.text.logs.matching import (
    Pattern,
    PatternRow,
    RecognisedText,
    count_of_patterns,
    pattern_at,
    pattern_of,
    patterns,
    row_of,
)
from kafkatx.text.logs.source_code import ENDINGS
from kafkatx.text.logs.stamps import DATED_ANYHOW

LONGEST_TEXT = 4_096
"""Characters of a line that are looked at."""
WORDS = 3
"""Words in a row that a text is found by."""
FEWEST_CHARACTERS = 12
"""Characters that those words must have, with the blanks between them."""
TELLING = 30
"""Characters of a text that must stand in a line where its beginning or end is missing."""
LONGEST_VALUE = 400
"""Characters that a value may have whose beginning or end nothing marks."""
MOST_PLACES = 24
"""Places of one line that are followed."""
ONE_WORD = frozenset({
    "task", "topic", "partition", "topicPartition", "offset", "node", "nodeId", "broker", "brokerId", "producerId",
    "pid", "epoch", "producerEpoch", "coordinatorEpoch", "correlationId",
})  # fmt: skip
"""Placeholders whose values have no blanks: other words behind such a value are another text, not a cut one."""

_ERRORS = "org.apache.kafka.common.errors."
_PACKAGES = {"KafkaException": "org.apache.kafka.common.", "IllegalStateException": "java.lang.",
             "IllegalArgumentException": "java.lang."}  # fmt: skip
_WORD = regex(r"\S+")
_ELLIPSIS = regex(r"^(?:\.{3}|\u2026|\[\.\.\.\])\s*|\s*(?:\.{2,3}|\u2026|\[\.\.\.\])$")
_LABEL = regex(
    r"(?:^|[:=>\])\"'`}{;(|-]|\b(?:due to|with|is|reason|error|exception\.?|Uncaught)|exception\.)\s*[\"'`(\[{]*$",
    re.IGNORECASE,
)
_REST = regex(
    r"[\s\"'`.,;:)\]}>|!*_-]{0,8}(?:$|(?:\([\w$.:-]{1,200}\)|\[[^\]]{0,300}\]|at [\w$.]+\(|[\w.]{1,40}=|[,;:(|{]).*)",
    re.DOTALL,
)
_LOGGER = regex(r"\s*(?:[\w$]+\.)*[A-Z][\w$]*[a-z][A-Z][\w$]* +")
"""The name of a class with nothing between it and the message."""
_TIME = regex(DATED_ANYHOW)
_CODE = regex(
    r"\b(?:throw |throws |new \w+\(|catch ?\(|instanceof |import |assert\w*\b(?!:)|"
    r"::class|::new|\.class\b|return (?!this exception)|const |val |def |var |public |"
    r"private |static (?!consumer|member)|final |@throws|@link|@code|String\.format|"
    r"\w*[lL]og(?:ger)?\.(?:trace|debug|info|warn|error)\(|"
    r"println\(|printf\()|= &\w+\{|= \d+,? *//|\b(?:side_effect|thenThrow|doThrow)\b"
    r"|^\s*(?:\*|//|/\*|#include)\s|\) => [A-Z\w]+[:.(]|, +// "
    rf"|{ENDINGS}"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A text in a line: where it stands, how many of its own characters do, and whether all of it does."""

    pattern: Pattern
    values: tuple[str, ...]
    start: int
    end: int
    weight: int
    is_whole: bool

    @property
    def recognised(self) -> RecognisedText:
        """What it is; values that are not all there are empty."""
        return RecognisedText(self.pattern, self.values)


_Place = tuple[Pattern, int, int]
"""Three words of a text: which text, which of its pieces, where in the piece they begin."""
_Numbers = tuple[int, ...]
"""Places, one behind the other: the number of the text, which of its pieces, where in the piece."""


def find_fragment(line: str) -> RecognisedText | None:
    """Return the text that a line holds besides a label, or that it is a piece of; None for talk about one."""
    found = best_in(line)
    return found.recognised if found is not None and stands_alone(line, found) else None


def stands_alone(line: str, found: Found) -> bool:
    """Whether what is around a text is a label before it and a rest behind it, and no source code."""
    text = _prepared(line)
    before, behind = text[: found.start], text[found.end :]
    fields = found.pattern.entry.fields
    if fields[-1:] == ("producer",) and found.values[-1] and "producerId" not in found.values[-1]:
        return False
    if _CODE.search(f"{before}\0{behind}") is not None:
        return False
    if is_quoted(before, behind) and found.weight >= TELLING:
        return True
    return is_front(before) or (is_label(before) and _REST.match(behind) is not None)


def is_label(before: str) -> bool:
    """Whether words may stand before a message: nothing, or what ends as a label does; a time begins a quotation."""
    if not before.strip() or _LOGGER.fullmatch(before):
        return True
    return _LABEL.search(before) is not None and not _TIME.search(before)


def is_code(line: str) -> bool:
    """Whether a line is one of source code or of its documentation; Kafka's own words in it are none."""
    if _CODE.search(line) is None:
        return False
    found = best_in(line)
    text = _prepared(line)
    return found is None or _CODE.search(f"{text[: found.start]}\0{text[found.end :]}") is not None


def best_in(line: str) -> Found | None:
    """Return the text of which most stands in a line; None if there is none, or several of different kinds."""
    best = _found_in(line)
    if not best:
        return None
    rivals = [other for other in best if other.weight == best[0].weight and other.is_whole == best[0].is_whole]
    kinds = {rival.pattern.entry.kind for rival in rivals} - {EventKind.other, EventKind.failure}
    if len(kinds) > 1 and not best[0].is_whole:
        return None
    told = [rival for rival in rivals if rival.pattern.entry.kind in kinds]
    failed = [rival for rival in rivals if rival.pattern.entry.kind is EventKind.failure]
    return (told or failed or rivals)[0]


def most_in(line: str) -> int:
    """Return how many characters of a text stand in a line, whichever it is; 0 if none does."""
    found = _found_in(line)
    return found[0].weight if found else 0


def most_over(line: str, place: int) -> int:
    """Return the same of a text that begins before a place and ends behind it."""
    return next((found.weight for found in _found_in(line) if found.start < place < found.end), 0)


@lru_cache(maxsize=4096)
def _found_in(line: str) -> tuple[Found, ...]:
    """Texts that stand in a line, the one first of which most does."""
    found = _all_in(_prepared(line))
    return tuple(sorted(found, key=lambda found: (-found.weight, not found.is_whole, found.start)))


def _prepared(line: str) -> str:
    """A line as its texts are: one blank between words."""
    return trimmed(line[:LONGEST_TEXT])


def _all_in(text: str) -> Iterator[Found]:
    if _longest_words().isdisjoint(text.split()):
        return
    words = [(word.start(), word.end()) for word in _WORD.finditer(text)]
    followed: set[tuple[int, int, int]] = set()
    index = _shingles()
    for number in range(len(words) - WORDS + 1):
        begin = words[number][0]
        numbers = iter(index.get(text[begin : words[number + WORDS - 1][1]], ()))
        for which, piece, at in zip(numbers, numbers, numbers, strict=True):
            key = which, piece, begin - at
            if key not in followed and len(followed) < MOST_PLACES * 8:
                followed.add(key)
                if (found := _follow(text, (_text_at(which), piece, at), begin)) is not None:
                    yield found


def error_of(pattern: Pattern) -> str:
    """Class of the exceptions whose message a text is; empty where several have it, or none of Kafka's does."""
    return _errors().get(trimmed(pattern.entry.template), "")


@kept_table
def _errors() -> dict[str, str]:
    """Messages of exceptions to their classes."""
    found: dict[str, set[str]] = defaultdict(set)
    for entry in client_exceptions():
        for text in entry.messages:
            found[trimmed(text)].update(name for name in entry.exceptions if entry.client == "java" and "." in name)
    for text, name in _messages_of_errors():
        found[text] = found[text] or {_ERRORS + name}
    for log_text in client_log_templates():
        if log_text.client == KAFKA and log_text.level.endswith("Exception") and not found[trimmed(log_text.template)]:
            found[trimmed(log_text.template)].add(_PACKAGES.get(log_text.level, _ERRORS) + log_text.level)
    return {text: names.pop() for text, names in found.items() if len(names) == 1}


def _messages_of_errors() -> Iterator[tuple[str, str]]:
    """What clients print of the protocol's errors: each message with the newest class that has it."""
    for error in error_codes():
        for message in error.messages if error.exceptions else ():
            yield trimmed(message.text), error.exceptions[-1].text.rpartition(".")[2]


@cache
def _text_at(number: int) -> Pattern:
    """A text: those of events, and behind them messages of exceptions of Kafka's that no line of a log consists of."""
    beside = number - count_of_patterns()
    return pattern_at(number) if beside < 0 else pattern_of(_messages()[beside])


@kept_table
def _messages() -> tuple[PatternRow, ...]:
    known = {trimmed(pattern.entry.template) for pattern in patterns()}
    return tuple(
        row_of(Pattern(entry, parse_template(text), frozenset()))
        for text in sorted(_errors().keys() - known)
        if len(text) >= TELLING
        for entry in [message_of_exception(text, KAFKA, Span())]
    )


@kept_table
def _shingles() -> dict[str, _Numbers]:
    """Every three whole words in a row of every piece of every text, and where they stand."""
    found: dict[str, list[int]] = defaultdict(list)
    for which in range(count_of_patterns() + len(_messages())):
        pattern = _text_at(which)
        if pattern.loggers:
            continue
        for number, piece in enumerate(pattern.template.pieces):
            if piece.count(" ") < WORDS - 1:
                continue
            words = [(word.start(), word.end()) for word in _WORD.finditer(piece)]
            for first in range(len(words) - WORDS + 1):
                begin, end = words[first][0], words[first + WORDS - 1][1]
                if end - begin >= FEWEST_CHARACTERS:
                    found[piece[begin:end]] += (which, number, begin)
    return {words: tuple(places) for words, places in found.items()}


@kept_table
def _longest_words() -> frozenset[str]:
    """The longest word of each of these: a line that has none of them holds no text."""
    return frozenset(max(words.split(), key=len) for words in _shingles())


def _follow(text: str, place: _Place, begin: int) -> Found | None:
    """Follow a text from three of its words to both sides."""
    pattern, number, within = place
    pieces = pattern.template.pieces
    piece = pieces[number]
    back = _same_back(text, begin, piece, within)
    if back < within and not _is_begin(text, begin - back):
        return None
    ahead = _same_ahead(text, begin, piece, within)
    if within + ahead < len(piece) and not _is_end(text, begin + ahead):
        return None
    start, before, weight_before, is_begun = _backward(text, begin - back, pieces[:number], back == within)
    is_all = within + ahead == len(piece)
    rest = zip(pattern.template.names[number:], pieces[number + 1 :], strict=True)
    end, behind, weight_behind, is_ended = _forward(text, begin + ahead, [*rest], is_all)
    weight = weight_before + back + ahead + weight_behind
    if start < 0 or end < 0 or (not (is_begun and is_ended) and weight < TELLING):
        return None
    return Found(pattern, (*before, *behind), start, end, weight, is_begun and is_ended)


def _backward(text: str, at: int, pieces: tuple[str, ...], is_whole: bool) -> tuple[int, list[str], int, bool]:
    """Where a text begins before `at`, the values there, how much of it that is, and whether it is all."""
    values: list[str] = []
    weight = 0
    for piece in reversed(pieces):
        if not is_whole:
            values.insert(0, "")
            continue
        begin = text.rfind(piece, max(0, at - LONGEST_VALUE - len(piece)), at) if piece else _value_start(text, at)
        if begin < 0:
            begin, is_whole = _cut_value(text, at), False
            if begin < 0:
                return -1, [], 0, False
            values.insert(0, text[begin:at])
        else:
            values.insert(0, text[begin + len(piece) : at])
            weight += len(piece)
        at = begin
    return at, values, weight, is_whole


def _forward(text: str, at: int, rest: list[tuple[str, str]], is_whole: bool) -> tuple[int, list[str], int, bool]:
    """The same behind `at`; `rest` are the placeholders and the pieces behind each."""
    values: list[str] = []
    weight = 0
    for number, (name, piece) in enumerate(rest):
        if not is_whole:
            values.append("")
            continue
        if not piece and number == len(rest) - 1:
            values.append(text[at:])
            return len(text), values, weight, True
        begin = text.find(piece, at, at + LONGEST_VALUE + len(piece))
        if begin >= 0:
            values.append(text[at:begin])
            weight, at = weight + len(piece), begin + len(piece)
            continue
        is_whole, shared = False, _shared_end(text, at, piece)
        values.append(text[at : len(text) - shared] if shared else "")
        weight += shared
        if len(text) - at > LONGEST_VALUE or (not shared and _is_another_text(name, text[at:])):
            return -1, [], 0, False
        at = len(text)
    return at, values, weight, is_whole


def _is_another_text(name: str, rest: str) -> bool:
    """Whether words stand behind a value that is one word, where its text would go on otherwise."""
    return name in ONE_WORD and " " in _ELLIPSIS.sub("", rest.strip())


def _same_back(text: str, at: int, piece: str, place: int) -> int:
    count = 0
    while count < place and count < at and text[at - 1 - count] == piece[place - 1 - count]:
        count += 1
    return count


def _same_ahead(text: str, at: int, piece: str, place: int) -> int:
    count = 0
    while at + count < len(text) and place + count < len(piece) and text[at + count] == piece[place + count]:
        count += 1
    return count


def _is_begin(text: str, at: int) -> bool:
    """Whether nothing stands before a place but a sign that something was left out."""
    return not _ELLIPSIS.sub("", text[:at]).strip(" \"'`>")


def _is_end(text: str, at: int) -> bool:
    """Whether nothing stands behind a place but a sign that something was left out."""
    return not _ELLIPSIS.sub("", text[at:]).strip(" \"'`<.")


def _value_start(text: str, at: int) -> int:
    """Where the value begins that a text begins with: one word."""
    return text.rfind(" ", 0, at) + 1


def _cut_value(text: str, at: int) -> int:
    """Where a value begins whose text was cut off before it: at the line's beginning, if it is one word."""
    head = text[:at].strip()
    return 0 if " " not in head else -1


def _shared_end(text: str, at: int, piece: str) -> int:
    """How many characters at the end of a line are the beginning of a piece."""
    longest = min(len(piece), len(text) - at)
    return next((count for count in range(longest, 1, -1) if text.endswith(piece[:count])), 0)
