"""What people say beside what programs printed: how many instances run, how long the work took, when it began.

A page that somebody wrote tells things that no log line does: that nobody else uses the id, that a second copy was
started, that a batch takes five minutes. That is testimony and proves nothing, but where one error has two causes it
may tell which is the likelier one (histories/logs/testimony.py). Which words say what is data
(terms/catalogue/statements.tsv). Kafka's own lines are no testimony: their words are the same whatever happened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from math import prod

from kafkatx.sources.files import OpenFile
from kafkatx.terms.catalogue.loading import statement_patterns
from kafkatx.terms.events import LEVELS_OF_KAFKA
from kafkatx.terms.regex import regex
from kafkatx.text.connect_status import failed_in_status
from kafkatx.text.events import Statement
from kafkatx.text.framed_pages import FramedPage, framed_page
from kafkatx.text.lines import Page
from kafkatx.text.logs.bare import is_supposed, supposes, tells
from kafkatx.text.logs.contexts import NOTHING
from kafkatx.text.logs.error_names import CONSTANT, KINDS
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed, continues
from kafkatx.text.logs.sentences import END_OF_SENTENCE
from kafkatx.text.logs.stamps import STAMP, read_stamp
from kafkatx.text.printed.elisions import is_elision
from kafkatx.text.printed.pasted import as_printed
from kafkatx.text.whole_pages import MOST_PAGES, page_of, quoted_at

MOST, MOST_LEFT_OUT = 64, 16
"""Statements of a page that are kept, and of them places where lines were left out."""
TIMED = frozenset({"began", "initialised"})
"""Statements that count only with a time before them."""
TIMEOUT, LEFT_OUT = "timeout_told", "left_out"
OF_CAUSES = {
    "brokers_away": (
        "broker", "node", "leader", "rolling restart", "cluster", "network", "connecti", "kafka is", "kafka was",
        "kafka were", "kafka being", "kafka become",
    ),
    "each_record": ("each", "every", "single", "transaction per", "retry.backoff", "retry_backoff"),
    "isr_of_all": ("min.isr", "min_isr"),
    "long_transaction": (
        "transaction of", "transactions of", "transaction for", "transactions for", "transaction that",
        "transactions that", "transaction take", "transactions take", "transaction last", "transactions last",
        "transaction run", "transactions run", "checkpoint", "long", "huge", "large", "big",
    ),
    "no_owner": ("no transactional", "find-hanging"),
    "other_reader_reads": ("console", "java", "kcat", "kafkacat"),
    "reads_by_default": ("kafka-console-consumer", "isolation"),
    "reads_committed": ("read_committed", "read-committed", "readcommitted"),
    "short_retention": ("retention",),
    "timeout_named": (
        "transaction tim", "transactions tim", "ing out", "es out", "ed out", "by broker", "by the broker",
        "by coordinator", "by the coordinator", "by server", "by the server",
    ),
}  # fmt: skip
"""Statements that speak for a cause of what a page names and are nothing by themselves: asked where it names something.

Each with literals in small letters of which one stands in every text that says so.
"""
ONLY_IDEMPOTENT = "only_idempotent"
"""That a producer is idempotent, or writes to a product without transactions: it counts where nobody speaks of any."""
_TRANSACTIONAL = regex(
    r"\btransactional[._]id\b|\btransactional (?:producers?|writers?|applications?|services?|clients?|sinks?)\b"
    r"|\b(?:begin|init|commit|abort)[_ ]?transactions?\b|\bexactly[- _]once\b|\bread_committed\b|\u4e8b\u52a1",
    re.IGNORECASE,
)
ANYWHERE = (" abort --", "Task{id=", "Task due to unrecov", "kafka-console-consumer")
"""In lines that say something wherever they stand: a call of a tool of Kafka's, a task of Kafka Connect."""
LONGEST_FRONT = 80
"""Characters before the words of a line in which its time stands."""
_STAMPED = regex(STAMP)
_LEVEL = regex(rf"^.{{0,80}}?\b(?:{LEVELS_OF_KAFKA})\b[\s:|\]]{{1,4}}")
_KAFKAS = regex(r"^(?:org\.apache\.kafka|o\.a\.k|kafka|state\.change|rdkafka)\b")
_OF_SETTING = r"(?:\bKAFKA_[A-Z_]{3,80}\b|\b[A-Z_]*CONFIG\b|\b[A-Z_]*TRANSACTION(?:AL)?_ID\b|\b[A-Z_]+_ONCE\b)"
"""A constant of the clients, or a variable of an image, that is the name of a setting or its value."""
_ERROR = regex(rf"{KINDS}\b|(?!{_OF_SETTING}){CONSTANT}|%\d\|")
_COPIED = tuple(f"{kind}{end}: " for kind in ("Exception", "Error") for end in ("", "s", "`", "'", '"'))
"""Of an error whose words follow its name: a line of a program, or a copy of one."""
_ONLY_WHEN = regex(r"^\s*#|\b(?:only|or|and) when\b|\bTODO\b", re.IGNORECASE)
"""Before what is no saying about this case: a heading, a condition, a plan."""
_INDENTED_WORDS = regex(
    r"\s+(?:[-*\u2022] )?(?!(?:at|File|throw|return|await|import|private|public|static) )(?=[A-Z\u00c0-\uffff])"
    r"(?:.{0,200}?(?:\b[A-Za-z][a-z']*,? ){5}|.{0,200}?[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4})"
)
"""A sentence that stands behind blanks, as in a list, and is none of what programs print below a line."""
_ENDS = (". ", "! ", "? ", "; ")
"""Of a sentence; what is thought of in one says nothing about the next."""
_DURATION = regex(
    r"(?:PT(?:(?P<ph>\d{1,3})H)?(?:(?P<pm>\d{1,4})M)?(?:(?P<ps>\d{1,5})(?:\.\d{1,9})?S)?"
    r"|(?<![\w.])(?P<number>\d{1,6}(?:[.,]\d{1,3})?) ?(?P<unit>ms|s|secs?|seconds?|mins?|minutes?|m|h|hours?)\b)"
)
_SET_TO = regex(r"(?P<number>\d{1,9}(?:[.,]\d{1,3})?)(?: ?(?P<unit>ms|s|secs?|seconds?|mins?|minutes?|m|h|hours?)\b)?")
_PRODUCT = regex(r"\d{1,9}(?: ?\* ?\d{1,5}){1,3}")
"""Milliseconds as programmers write them: 10 * 60 * 1000."""
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


def statements_on_page(file: OpenFile) -> tuple[Statement, ...]:
    """Return what a page says; nothing of what is too large for a page."""
    page = page_of(file)
    return _said_on(page) if page is not None else ()


def speaking_on(page: Page) -> tuple[Statement, ...]:
    """Return what a page says for one cause or another of what it names (OF_CAUSES)."""
    looked_at = framed_page(page)
    page_text = "\n".join(line.text for line in looked_at.lines).lower()
    asked = frozenset(name for name, held in OF_CAUSES.items() if any(one in page_text for one in held))
    return tuple(_said_in(looked_at, lambda number, framed: _those(number, framed, asked)))[:MOST] if asked else ()


@lru_cache(maxsize=MOST_PAGES)
def _said_on(page: Page) -> tuple[Statement, ...]:
    looked_at = framed_page(page)
    texts = [(line.number, line.text) for line in looked_at.lines]
    found = [*_left_out(texts), *failed_in_status(page), *_said_in(looked_at, _statements)]
    is_idempotent = any(one.name == ONLY_IDEMPOTENT for one in found)
    if is_idempotent and any(_TRANSACTIONAL.search(line.text) for line in looked_at.all_lines):
        found = [one for one in found if one.name != ONLY_IDEMPOTENT]
    return tuple(found[:MOST])


def _said_in(page: FramedPage, told: Callable[[int, Framed], Iterator[Statement]]) -> Iterator[Statement]:
    """Yield what lines say that are no program's; `told` says what one does."""
    for line, framed in zip(page.lines, page.framed, strict=True):
        number, text = line.number, line.text
        if not _is_programs(text, framed) or any(one in text for one in ANYWHERE):
            yield from told(number, framed)
        elif framed.layout in ("", MESSAGE_ONLY) and END_OF_SENTENCE.search(text):
            yield from _in_other_sentences(page, number, text, told)


def _in_other_sentences(
    page: FramedPage, number: int, text: str, told: Callable[[int, Framed], Iterator[Statement]]
) -> Iterator[Statement]:
    """What a paragraph on one line says beside the sentences that name an error, or hold words of Kafka's."""
    said: dict[str, Statement] = {}
    for sentence in END_OF_SENTENCE.split(text):
        framed = page.frame(sentence)
        if not _is_programs(sentence, framed):
            for one in told(number, framed):
                said.setdefault(one.name, one)
    yield from said.values()


def _left_out(texts: list[tuple[int, str]]) -> Iterator[Statement]:
    """Lines that stand for others which were left out, unless these are frames of a stack trace; the first ones."""
    before, count = "", 0
    for number, text in texts:
        if is_elision(text) and not (before.strip() and continues(before)):
            yield Statement(LEFT_OUT, number, text.strip(), -1, -1, -1)
            count += 1
        if count == MOST_LEFT_OUT:
            return
        before = text


def _is_programs(text: str, framed: Framed) -> bool:
    """Whether a line is a message of Kafka's, a part of a stack trace, or a tool's."""
    is_framed = framed.layout not in (MESSAGE_ONLY, REMNANT, "")
    is_printed = _ERROR.search(text) is not None and (is_framed or not _is_sentence(text))
    if framed.context != NOTHING or _KAFKAS.match(framed.logger) or is_printed or as_printed(text) is not None:
        return True
    return (
        (not framed.layout and bool(text.strip()) and continues(text) and not _INDENTED_WORDS.match(text))
        or any(map(tells, {text, framed.message}))
        or is_supposed(text)
    )


def _is_sentence(text: str) -> bool:
    """Whether a line that names an error is a sentence of somebody's, and copies no line of a program."""
    words = [word.strip("`'\",") for word in text.strip(" \t>*-").split(None, 3)[:3]]
    are_words = len(words) == 3 and all(word.replace("'", "").replace("-", "").isalpha() for word in words)
    return are_words and words[0][0].isupper() and not any(one in text for one in _COPIED)


def _statements(number: int, framed: Framed) -> Iterator[Statement]:
    """What one line says, each kind once."""
    return _those(number, framed, None)


def _those(number: int, framed: Framed, asked: frozenset[str] | None) -> Iterator[Statement]:
    """Those that are something by themselves, or those of causes whose names are asked."""
    message, at, of_day = _told_at(framed)
    seen = set[str]()
    for name, pattern, unless in _patterns(asked):
        found = _found(message, pattern, unless) if name not in seen else None
        if found is None:
            continue
        begin = max(message.rfind(end, 0, found.start()) for end in _ENDS) + 1
        if supposes(message[begin:], found.start() - begin) or _ONLY_WHEN.search(message[: found.start()]):
            continue
        if name in TIMED and at < 0 and of_day < 0:
            continue
        seen.add(name)
        around = message[found.start() : found.end() + 24]
        lasted = _timeout(around) if name == TIMEOUT else _duration(around)
        yield Statement(name, number, quoted_at(message, found.start()), lasted, at, of_day)


def _found(message: str, pattern: re.Pattern[str], unless: re.Pattern[str] | None) -> re.Match[str] | None:
    """Where a line says something: what is said against it in one of its sentences counts in that one only."""
    found = pattern.search(message)
    if found is None or unless is None or unless.search(message) is None:
        return found
    begin = 0
    for end in (*(between.end() for between in END_OF_SENTENCE.finditer(message)), len(message)):
        if (found := pattern.search(message, begin, end)) and unless.search(message, begin, end) is None:
            return found
        begin = end
    return None


def _told_at(framed: Framed) -> tuple[str, int, int]:
    """The words of a line and its time: whatever stands before the time, and the level behind it, are left out."""
    message, at, of_day = framed.message.strip(), framed.at, framed.of_day
    if at < 0 and of_day < 0 and (found := _STAMPED.search(message[:LONGEST_FRONT])) is not None:
        stamp = read_stamp(found[0])
        message, at, of_day = message[found.end() :].strip(), stamp.at, stamp.of_day
    return _LEVEL.sub("", message, count=1), at, of_day


def _duration(text: str) -> int:
    """Milliseconds that a text names, -1 where it names none."""
    for found in _DURATION.finditer(text):
        if found["number"]:
            unit = found["unit"] if found["unit"] == "ms" else found["unit"][0]
            return int(float(found["number"].replace(",", ".")) * _UNITS[unit])
        parts = ((found["ph"], "h"), (found["pm"], "m"), (found["ps"], "s"))
        if any(part for part, _ in parts):
            return sum(int(part) * _UNITS[unit] for part, unit in parts if part)
    return -1


def _timeout(text: str) -> int:
    """Milliseconds that a setting is said to have: a number without a unit counts them."""
    found = _SET_TO.search(text)
    if found is None:
        return -1
    unit = found["unit"] or "ms"
    if product := _PRODUCT.search(text, found.start("number")):
        return prod(map(int, product[0].split("*")))
    return int(float(found["number"].replace(",", ".")) * _UNITS[unit if unit == "ms" else unit[0]])


@cache
def _patterns(asked: frozenset[str] | None) -> tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (
            row.name,
            regex(row.pattern, re.IGNORECASE),
            regex(row.unless, re.IGNORECASE) if row.unless else None,
        )
        for row in statement_patterns()
        if (row.name not in OF_CAUSES if asked is None else row.name in asked)
    )
