"""Lines of a program that speak of a failure of Kafka in words that nobody knows: asked last, of short texts only.

A line counts that a logger wrote (a time, a level, a writer of Kafka's), that is no quiet one, that names Kafka or what
transactions are made of, and that says that something failed. What went well all the same (`0 failed`, `no error`,
`recovered`, what a broker that starts is answered for a moment), source code and sentences of people count nothing. Of
a broker's own lines those do that name transactions or producers: a broker has a hundred other things to fail at, and a
controller that stops says of each event in its queue that it can't be processed any more.
"""

from __future__ import annotations

from kafkatx.terms.events import Level
from kafkatx.terms.regex import regex
from kafkatx.text.logs.around import is_front
from kafkatx.text.logs.contexts import CLIENTS, NOTHING
from kafkatx.text.logs.error_names import KINDS
from kafkatx.text.logs.fragments import is_code
from kafkatx.text.logs.framing import MESSAGE_ONLY, Framed

_FAILED = regex(
    r"(?i:\b(?:fail(?:s|ed|ing|ure)?|fatal|fenced|stuck|timed[ -]out|time-?out|unable|cannot|can't|could not|couldn't|"
    r"refused|rejected|denied|expired|invalid|unexpected(?:ly)?|illegal|corrupt(?:ed)?|lost|died|crash(?:ed)?|"
    r"gave up|giving up)\b)|"
    rf"\w{KINDS}\b|(?i:\berror\b)|\b[A-Z]{{3,}}_(?:[A-Z]+_)*[A-Z]{{3,}}\b"
)
_OF_KAFKA = regex(
    r"(?i:kafka|\btransact(?:ion|ional|ions)\b|\btxn?\b|\bproducer(?!\s*:)|\bcoordinator\b|\bepoch\b|\bbroker\b|"
    r"transactional[._]?id|\blso\b|exactly.once|\binit_?producer_?id\b|transaction(?:coordinator|state|marker)|"
    r"__(?:transaction_state|consumer_offsets)\b)"
)
_WENT_WELL = regex(
    r"(?i:\b(?:no|0|without|zero)(?: \w+)? (?:errors?|failures?|failed|exceptions?|timeouts?)\b|"
    r"\b(?:failed|errors?|failures?)[=: ]+0\b|\brecovered\b|\bsucceeded\b|\bsuccessful(?:ly)?\b|\bresumed\b|"
    r"\btimeout(?:\.ms)? ?[=:]|\bretry(?:ing)?\b|\bwill retry\b|\bretriable\b|"
    r"\bmay be returned transiently\b|\bTOPIC_ALREADY_EXISTS\b|\bTopic '[^']{1,250}' already exists\b)"
)
_OF_TRANSACTIONS = regex(r"(?i:transact|\btxn|producer|idempoten)")
_DIRECT = regex(rf"(?i:kafka)|\[(?:{CLIENTS}|Transaction)\b")


def speaks_of_failure(text: str) -> bool:
    """Whether a line may, by its words."""
    return _FAILED.search(text) is not None and _OF_KAFKA.search(text) is not None and not _WENT_WELL.search(text)


def is_about_transactions(text: str) -> bool:
    """Whether words name transactions or producers."""
    return _OF_TRANSACTIONS.search(text) is not None


def is_spoken_failure(framed: Framed, line: str) -> bool:
    """Whether a line of a logger speaks of a failure of Kafka's."""
    if framed.layout in ("", MESSAGE_ONLY) or Level.unknown < framed.level < Level.warn or is_code(line):
        return False
    text = framed.message
    if not text or not speaks_of_failure(f"{text} {framed.logger} {framed.context.text}"):
        return False
    is_kafkas = framed.context is not NOTHING or _DIRECT.search(f"{framed.logger} {text}") is not None
    return framed.level >= Level.warn or (is_kafkas and is_front(line[: max(0, line.find(text[:20]))]))
