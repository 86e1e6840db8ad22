"""What people say beside what programs printed: how many instances run, how long the work took, when it began.

A page that somebody wrote tells things that no log line does: that nobody else uses the id, that a second copy was
started, that a batch takes five minutes. That is testimony and proves nothing, but where one error has two causes it
may tell which is the likelier one (histories/logs/testimony.py). Which words say what is data
(terms/catalogue/statements.tsv). Kafka's own lines are no testimony: their words are the same whatever happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from math import prod

from kafkatx.sources.files import OpenFile
from kafkatx.terms.catalogue.loading import statement_patterns
from kafkatx.terms.regex import regex
from kafkatx.text.connect_status import failed_in_status
from kafkatx.text.events import Statement
from kafkatx.text.levels import OF_KAFKA
from kafkatx.text.lines import Page, lines
from kafkatx.text.logs.bare import is_supposed, supposes, tells
from kafkatx.text.logs.contexts import NOTHING
from kafkatx.text.logs.error_names import CONSTANT, KINDS
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed, Framer, continues
from kafkatx.text.logs.stamps import STAMP, read_stamp
from kafkatx.text.printed.elisions import is_elision
from kafkatx.text.printed.pasted import as_printed
from kafkatx.text.whole_pages import MOST_PAGES, page_of, quoted_at

LONGEST = 600
"""Characters of a line that are looked at; people's sentences that are longer are seldom about one thing."""
MOST = 64
"""Statements of a page that are kept."""
TIMED = frozenset({"began", "initialised"})
"""Statements that count only with a time before them."""
TIMEOUT, LEFT_OUT = "timeout_told", "left_out"
ONLY_IDEMPOTENT = "only_idempotent"
"""That a producer is idempotent, or writes to a product without transactions: it counts where nobody speaks of any."""
_TRANSACTIONAL = regex(
    r"\btransactional[._]id\b|\btransactional (?:producers?|writers?|applications?|services?|clients?|sinks?)\b"
    r"|\b(?:begin|init|commit|abort)[_ ]?transactions?\b|\bexactly[- _]once\b|\bread_committed\b|\u4e8b\u52a1",
    re.IGNORECASE,
)
ANYWHERE = (" abort --", "Task{id=")
"""In lines that say something wherever they stand: a call of kafka-transactions.sh, a task of Kafka Connect."""
LONGEST_FRONT = 80
"""Characters before the words of a line in which its time stands."""
_STAMPED = regex(STAMP)
_LEVEL = regex(rf"^.{{0,80}}?\b(?:{OF_KAFKA})\b[\s:|\]]{{1,4}}")
_KAFKAS = regex(r"^(?:org\.apache\.kafka|o\.a\.k|kafka|state\.change|rdkafka)\b")
_OF_SETTING = r"(?:\bKAFKA_[A-Z_]{3,80}\b|\b[A-Z_]*CONFIG\b|\b[A-Z_]*TRANSACTION(?:AL)?_ID\b)"
"""A constant of the clients, or a variable of an image, that is the name of a setting."""
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


@lru_cache(maxsize=MOST_PAGES)
def _said_on(page: Page) -> tuple[Statement, ...]:
    texts = [(line.number, line.text[:LONGEST]) for line in lines(page)]
    framer = Framer([text for _, text in texts])
    found = [*_left_out(texts), *failed_in_status(page)]
    for number, text in texts:
        framed = framer.frame(text)
        if not _is_programs(text, framed) or any(one in text for one in ANYWHERE):
            found += _statements(number, framed)
    if any(one.name == ONLY_IDEMPOTENT for one in found) and any(_TRANSACTIONAL.search(text) for _, text in texts):
        found = [one for one in found if one.name != ONLY_IDEMPOTENT]
    return tuple(found[:MOST])


def _left_out(texts: list[tuple[int, str]]) -> Iterator[Statement]:
    """The first line that stands for lines which were left out, unless these are frames of a stack trace."""
    before = ""
    for number, text in texts:
        if is_elision(text) and not (before.strip() and continues(before)):
            yield Statement(LEFT_OUT, number, text.strip(), -1, -1, -1)
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
    message, at, of_day = _told_at(framed)
    seen = set[str]()
    for name, pattern, unless in _patterns():
        found = pattern.search(message) if name not in seen else None
        if found is None or (unless is not None and unless.search(message) is not None):
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
def _patterns() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (
            row.name,
            regex(row.pattern, re.IGNORECASE),
            regex(row.unless, re.IGNORECASE) if row.unless else None,
        )
        for row in statement_patterns()
    )
