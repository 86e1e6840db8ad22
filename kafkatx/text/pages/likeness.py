"""What a line of no tool is like: a line of a log, the rest of one above, a heading, a setting.

This decides only where a log begins and ends in a page, so it asks for little: a time or a level where a line begins, a
frame of a stack trace, the name of an exception, a client's prefix. What a line means is read by text/logs.
"""

from __future__ import annotations

import re

from kafkatx.terms.catalogue.setting_names import is_known
from kafkatx.terms.catalogue.templates import one_blank
from kafkatx.terms.events import LOUD_LEVELS
from kafkatx.terms.regex import regex
from kafkatx.terms.transaction_states import TransactionState
from kafkatx.text.logs.bare import tells
from kafkatx.text.logs.defect_texts import shows_defect
from kafkatx.text.logs.error_names import ANSWER, PACKAGES
from kafkatx.text.logs.fronts import known_at
from kafkatx.text.logs.json_lines import read_record
from kafkatx.text.logs.wrappers import LOST_COLOUR, unwrap
from kafkatx.text.printed.logged import logged
from kafkatx.text.remembered import remembered

_TIME = (
    r"\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d[:.]\d\d|\d{1,2}:\d\d:\d\d[.,]\d{3}|\d\d:\d\d:\d\d[\s\]]"
    r"|\d{8}[ T]\d\d:?\d\d:?\d\d"
    r"|\d{1,2}[./ -](?:\d\d|[A-Z][a-z]{2})[./ -]\d{2,4}[ ,T:]+\d{1,2}:\d\d"
    r"|(?:[A-Z][a-z]{2},? )?[A-Z][a-z]{2} +\d{1,2},? (?:\d{4},? )?\d{1,2}:\d\d:\d\d|\d{10,13}(?:\.\d{3,6})?[ |]"
)
_LEVEL = rf"(?:{LOUD_LEVELS})\b[\]:|]?\s"
_OPENING = rf"(?:\x1b\[[0-9;]*m|{LOST_COLOUR}|[\[(\"'`<]|<\d{{1,3}}>(?:\d )?)*"
_LOG = regex(
    rf"{_OPENING}(?:{_TIME}|{_LEVEL})|\[[\w.-]{{1,40}}\] (?:{_TIME})"
    r"|(?:trce|dbug|info|warn|fail|crit): [A-Za-z_][\w.`+-]{1,249}\[\d{1,9}\]"
    r"|%\d\|\d{10}|[IWEF]\d{4} \d\d:\d\d:\d\d|[DIWEFA], \[\d{4}-\d\d-\d\dT|\[(?:main|[\w|. -]*thread[^\]]*)\] "
    r'|\{"(?:@?timestamp|time|ts|@t|level|severity|log|message|msg|thread|thread_name|logger|@version|instant)"\s*:'
    r'|\{.{0,400}"(?:message|msg|log|stack_trace|textPayload)"\s*:\s*"'
    r'|\s*"(?:@timestamp|timestamp|level|severity|message|logger_name|loggerName|thread_name|stack_trace)"\s*:\s*"'
    r"|\[(?:pod/[^\]]{1,250}|(?:Producer|Consumer|AdminClient|Transactional|\w{0,12}ducer|\w{0,12}sumer)\b[^\]]{0,500}clientId=)"
    r"|\[TransactionalId |\[(?:Transaction ?(?:Coordinator|State|Marker)|GroupCoordinator|ReplicaManager)\b"
    r"|(?:[\w.$]+\.)?\w+Config(?:\$\w+)? values:|(?:stdout|stderr) [FP] "
    r'|(?:(?:time(?:stamp)?|ts)="?\d[\dT:.,Z+-]{9,40}"?|(?:level|lvl)="?[A-Za-z]{4,8}"?) [\w.]{1,40}='
)
_CONTAINER = regex(
    rf"[\w.-]{{1,60}}\s+\| {_OPENING}(?:{_TIME}|{_LEVEL})|\[[\w./:-]{{1,60}}\]\s+\[?(?:{_TIME})"
    rf"|[\w./-]{{1,200}}[:-](?:\d{{1,9}}[:-])?{_OPENING}(?:{_TIME})"
)
_THROWN = rf"{PACKAGES}[\w$]{{1,99}}(?:Exception|Error|Throwable)"
_TRACE = regex(
    r"\s*at [\w.$<>/@-]{1,250}\(|\s*Caused by: |\s*Suppressed: |\s*\.\.\. \d+ (?:more|common frames)"
    rf"|\s*(?:Wrapped by: )?{_THROWN}\b(?::|\s*$|: )"
    r"|Exception in thread \"|Traceback \(most recent call last\):|\s+File \"[^\"]{1,250}\", line \d+"
    r"|#\d{1,3} [^\s:]{1,300}\(\d{1,7}\): "
)
_HEAD = regex(rf"{_THROWN}(?::|\s*$)|Exception in thread \"")
_ANSWER = regex(ANSWER)
_QUOTE = regex(r"(?:[>|*#]+|//+|&gt;|\s)+")
_FENCE = regex(
    r"(?:[>|*#/\s])*(?:`{3,}|~{3,})\s*\w{0,20}\s*|\s*\{(?:code|noformat|quote)(?::[^{}]{0,100})?\}\s*"
    r"|\s*</?(?:pre|code|p|br|div)\b[^<>]{0,100}>\s*"
)
_HEADING = regex(
    r"\s*(?:#{1,6}\s+\S|h[1-6]\. |\W{0,3}(?:incident|case|problem|scenario|example)\s*#?\d{1,4}\b"
    r"|\W{0,3}(?:the )?(?:first|second|third|fourth|fifth|\d(?:st|nd|rd|th)|erste\w?|zweite\w?|dritte\w?)\s+"
    r"(?:incident|case|problem|scenario|example|attempt|fall|vorfall)\W{0,5}$)",
    re.IGNORECASE,
)
_RULE = regex(r"\s*(?:={4,}|-{4,}|\*{4,}|_{4,})\s*")
_SETTING = regex(
    r"\s*(?:[-*>]\s+)?\"?(?![\w.-]+\.(?:log|txt|out|json):)([A-Za-z][\w-]*(?:\.[\w-]+)*)\"?"
    r"\s*[=:](?:\s*\S.{0,4000})?$"
)
_OTHER = regex(r"\b(?:other|another|second|different|andere\w*|zweite\w*|otr[ao]s?|autres?)\b|其他|另", re.IGNORECASE)
LONGEST_FRONT = 2_000
LONGEST_HEADING = 200
MOST_CELLS = 16


def is_log_line(text: str) -> bool:
    """Whether a line begins like one of a log, or is a line of a stack trace."""
    text = text[:LONGEST_FRONT]
    if _begins(text) or _TRACE.match(text) or _ANSWER.search(text):
        return True
    if text[:1] == "{" and read_record(text) is not None:
        return True
    quote = _QUOTE.match(text)
    if quote is not None and any(shape.match(text, quote.end()) for shape in (_LOG, _TRACE, _CONTAINER)):
        return True
    return any(
        shows_defect(line) or (tells(line) and not _is_setting(text)) or (line != text and begins_line(line))
        for line in logged(text)
    )


def _is_setting(text: str) -> bool:
    """Whether a line gives a setting, and says nothing that is known of Kafka."""
    return setting_name(text) is not None and known_at(one_blank(text).strip()) < 0


@remembered
def begins_line(text: str) -> bool:
    """Whether a line begins as one of a log or of a stack trace does, so that it is not the rest of one above."""
    text = text[:LONGEST_FRONT]
    return _begins(text) or _TRACE.match(text) is not None


def begins_entry(text: str) -> bool:
    """Whether a line begins as one of a log does, or is the first one of a stack trace."""
    text = text[:LONGEST_FRONT]
    return _begins(text) or _HEAD.match(text) is not None


@remembered
def _begins(text: str) -> bool:
    """Whether a line begins with what a logger prints first, or with the name of its writer and that."""
    return bool(_LOG.match(text) or _CONTAINER.match(text)) or bool(unwrap(text).writer)


def goes_on(text: str) -> bool:
    """Whether a line may belong to the line of a log above it: indented, or a further line of a stack trace."""
    return text[:1] in (" ", "\t") or _TRACE.match(text[:LONGEST_FRONT]) is not None


def is_fence(text: str) -> bool:
    """Whether a line only opens or closes a quotation (Markdown, Jira, HTML)."""
    return len(text) < 120 and _FENCE.fullmatch(text) is not None


def is_heading(text: str) -> bool:
    """Whether a line heads a section of a page: Markdown, a wiki's, the number of a case."""
    return len(text) < LONGEST_HEADING and _HEADING.match(text) is not None


def is_rule(text: str) -> bool:
    """Whether a line is a rule between sections."""
    return len(text) < LONGEST_HEADING and _RULE.fullmatch(text) is not None


def setting_name(text: str) -> str | None:
    """Return the name of the setting that a line gives, None for a line that gives none that Kafka's programs know."""
    found = _SETTING.match(text) if len(text) < 4_200 else None
    return found[1] if found and ("." in found[1] or "_" in found[1] or is_known(found[1])) else None


def is_row_of_numbers(text: str) -> bool:
    """Whether a line may be a row of a table that was pasted with one blank between its columns."""
    words = text.split(maxsplit=MOST_CELLS)
    numbers = sum(1 for word in words if word in ("None", "-") or word.lstrip("-").isdecimal())
    return len(words) >= 4 and numbers >= 2


def is_row_of_state(text: str) -> bool:
    """Whether a line may be a row of a list of transactional.ids of which columns were cut out."""
    words = text.split(maxsplit=MOST_CELLS)
    return 2 <= len(words) <= MOST_CELLS and words[-1] in TransactionState.__members__


def speaks_of_another(text: str) -> bool:
    """Whether prose leads over to something else than what was shown before it."""
    return _OTHER.search(text[:LONGEST_FRONT]) is not None
