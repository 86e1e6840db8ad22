"""Errors of Kafka that a page names in words, and what people say that does not work: no line of a program shows it.

Somebody writes `since Monday we get InvalidPidMappingException` or `the commit never returns` and pastes nothing that a
program printed; or a line of one stands in a comment, in a table, in a test. That is no failure that was seen, and no
rule builds on it. Where nothing else is told it must not end in a clean bill: the text is asked about this.
Met     somebody says so of himself, or a line that only a program prints stands in a comment; no talk about any case
        (text/logs/talk.py).
Rule    A line of a logger names nothing here: what it tells is read by text/logs. Which words say what does not work
        is data (terms/catalogue/symptoms.tsv); they count where the page speaks of transactions. A design that is
        described tells of nobody's case: what a reader would see stands beside what is done on each event. Frames of a
        client's call whose exception was cut off are such a symptom, too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate

from kafkatx.sources.files import OpenFile
from kafkatx.terms.catalogue.entries import Symptom, plain_name, simple_name
from kafkatx.terms.catalogue.loading import client_exceptions, symptoms
from kafkatx.terms.error_codes import GENERIC, ErrorCode, error_code
from kafkatx.terms.kept_tables import kept_table
from kafkatx.terms.regex import regex
from kafkatx.text.events import FAILED, FOREIGN, KAFKA_FAILED, MET, NAMED, SOLVED, SYMPTOM, Statement
from kafkatx.text.framed_pages import FramedPage, framed_page
from kafkatx.text.lines import Line, Page
from kafkatx.text.logs.sentences import Sentence, is_of_any_case, sentences_at
from kafkatx.text.logs.source_code import is_literal, is_of_code
from kafkatx.text.logs.spelled import all_spelled_in
from kafkatx.text.logs.talk import explained, taught
from kafkatx.text.printed.pasted import as_printed
from kafkatx.text.prose.spoken_cases import says_solved, spoken_cases, where_it_fails
from kafkatx.text.prose.statements import speaking_on
from kafkatx.text.whole_pages import MOST_PAGES, page_of, quoted_at

OF_CALLS = ("ransaction", "Txn", "roducerI", "_txn", "_pid")
"""Parts of the names of calls of a transactional producer, in any language."""
MOST = 32
"""Statements of a page that are kept."""
OF_KAFKAS_WORDS = frozenset(
    {"refused_sequence", "old_epoch", "unknown_producer", "unknown_mapping", "fenced", "no_right"}
)
"""Symptoms whose words are those of an error as well: a table of errors has them."""
OF_WAITS = frozenset({"TimeoutException", "REQUEST_TIMED_OUT", "KafkaTimeoutError", "_TIMED_OUT"})
"""What says of a call that does not come back less than the words for that call."""
_NAME = regex(r"(?<![\w$])(?:\w+\.)*(_?[A-Za-z](?:[\w$]{2,78}(?:Exception|Error)(?=s\b)|[\w$]{4,79}))")
"""A name; of several `ProducerFencedExceptions` the class."""
_IS_NAME = regex(r"[a-z][A-Z]|[A-Z]_[A-Z]|^_[A-Z]")
"""What makes a word a name of a program's, and none of a sentence."""
_LOOKALIKES = str.maketrans("\u0131\u017f", "is")
FEWEST_WORDS, FEWEST_LINES = 6, 2
"""Words that make a line prose, and lines of it that describe a case."""
_WORDS = regex(r"\b[a-z]{2,}\b|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
"""Words, of languages without blanks between them two letters."""
_OF_TRANSACTIONS = regex(
    r"transa(?:ct(?!ions-\w)|kt|cc|\u00e7)|exactly[- _]once|read_committed|idempot|\beos\b|\bLSO\b|last stable offset"
    r"|\u4e8b\u52a1|\u4e8b\u52d9|\u7cbe\u786e\u4e00\u6b21"
    r"|\ud2b8\ub79c\uc7ad\uc158|\u30c8\u30e9\u30f3\u30b6\u30af\u30b7\u30e7\u30f3|\u0442\u0440\u0430\u043d\u0437\u0430\u043a\u0446",
    re.IGNORECASE,
)
_OF_THEIR_PARTS = regex(
    r"isolation[._ -]level|\b(?:aborted|unstable) (?:messages?|records?)\b|(?<![a-z])producer[ _.-]?(?:ids?|epochs?)\b"
    r"|InitProducerId|ProducerState|\bproducers? (?:(?:is|was|are|were|gets?|got) )?fenced\b"
    r"|\bout of (?:order )?sequence\b|\bproducers?\b.{1,60}\bepoch\b|\bflush outstanding\b",
    re.IGNORECASE,
)
"""What speaks of producers or readers of transactions: enough for a symptom to count, not for a page to be theirs."""
_OF_PRODUCERS = regex(
    r"T(?:XN|xn|ransact|RANSACT)|P(?:roducer|RODUCER)|F(?:enced|ENCED)|E(?:poch|POCH)|S(?:equence|EQUENCE)"
    r"|C(?:luster|LUSTER_)A(?:uthorization|UTHORIZATION)"
)
"""Parts of names of errors that only producers with an id, or transactions, meet."""
FEWEST_CASES = 2
"""Sentences about any case that make a text the description of a design."""
_ANYBODY = regex(
    r"\b(?:an?|any|each|every) (?:[\w.-]+ ){0,3}?(?:reader|consumer|client|subscriber|application|producer)\b",
    re.IGNORECASE,
)
_ANY_CASE = regex(r"\b(?:when(?:ever)?|if|on (?:an?|each|every)|after (?:an?|each|every)) \w", re.IGNORECASE)
_OF_ONE_CASE = regex(
    r"[?!\d]|\b(?:I|my|mine|our|us|me)\b|\bwe (?:\w+ed|get|see|have|had|saw|got|did|went|ran|made|found|run)\b"
    r"|\b(?:since|yesterday|today|tonight|now|again|suddenly|sometimes|often|still|why|help|issue|problem|bug|wrong"
    r"|strange|weird|unexpected\w*|errors?|exceptions?|fail\w*|saw|got|was|were|happen\w*|observ\w*|notic\w*|despite"
    r"|although|though|broken|stuck|hangs?|anybody|anyone|somebody)\b",
    re.IGNORECASE,
)
"""What says of a text that it is about somebody's own case: a time, a first person, an error, a question."""
_SEEN = regex(
    r"\b(?:sometimes|occasionally|randomly|from time to time|now and then|intermittent\w*|sporadic\w*)\b", re.IGNORECASE
)
"""What is said only of what was seen, whatever the condition."""
_LISTED = regex(r"\s*(?:\||[-*+] )\s*\[?(?:[A-Z]{3,10}-|#)\d{1,6}\b")
"""An entry of a list of issues or changes."""
_FEARED = regex(
    r"\bto (?:avoid|prevent|stay clear of|not (?:get|see|run into|end (?:up )?with))\b|\b(?:avoid|prevent)(?:s|ing)\b"
    r"|\bothers? (?:\w+ )?(?:report|see|saw|get|got|meet|met|mention|describe)\w*"
    r"|\b(?:afraid of|worried about|fear of)\b|\bnot a single\b|\b(?:no (?:more|further)|gone since)\b"
    r"|\bso (?:that )?we (?:do not|don't|never|won't) (?:get|see|meet|run into)\b",
    re.IGNORECASE,
)
"""What nobody has met yet."""
_PRINTED = regex(
    r"%[0-7]\|\d|KafkaError\{[A-Z,]*code=|\d\d:\d\d:\d\d|\[(?:Producer|Consumer) clientId="
    r"|^[\s/#*>-]*(?:[a-z_]\w*\.)+[A-Z]\w+: [A-Z]"
)
"""What only programs print, with values filled in."""


def named_on_page(file: OpenFile) -> tuple[Statement, ...]:
    """Return what a page names, and what it says for the causes; nothing of what is too large for a page."""
    page = page_of(file)
    return _named_on(page) if page is not None else ()


@lru_cache(maxsize=MOST_PAGES)
def _named_on(page: Page) -> tuple[Statement, ...]:
    named = _named_in(framed_page(page))
    has_causes = any(one.name in (MET, SYMPTOM) and one.error not in (FAILED, KAFKA_FAILED) for one in named)
    return (*named, *speaking_on(page)) if has_causes else named


def names_something(file: OpenFile) -> bool:
    """Whether a page names an error or a symptom."""
    return any(one.name != FOREIGN for one in named_on_page(file))


def named_in(source: Iterable[Line]) -> tuple[Statement, ...]:
    """Return errors and symptoms that lines name, each once: where somebody met it, else where it stands first."""
    return _named_in(FramedPage(source))


def _named_in(page: FramedPage) -> tuple[Statement, ...]:
    is_about_transactions = any(_OF_TRANSACTIONS.search(line.text) for line in page.all_lines)
    source, own = page.lines, page.is_own
    found = [
        (line, name)
        for line in _lines_that_name(source)
        for name in dict.fromkeys(errors_in(line.text))
        if (is_about_transactions or is_of_producers(name)) and own(line)
    ]
    may_count = is_about_transactions or any(_OF_THEIR_PARTS.search(line.text) for line in page.all_lines)
    said = list(_symptoms_on(source, own)) if may_count else []
    talk = explained(source) if found else frozenset()
    named = [_named(line, name, is_talk=line.position in talk) for line, name in found]
    spoken_of = {one.line for one in named if one.name == NAMED}
    if said:
        manual = taught(source)
        spoken_of.update(line.number for line in source if line.position in manual)
    said = [one for one in said if one.line not in spoken_of]
    waits = {one.line for one in said if one.error.endswith("_hangs")}
    named = [one for one in named if one.line not in waits or one.error not in OF_WAITS]
    if said and _is_of_design(line.text for line in source if own(line)):
        said = []
    said = _without_code(source, said) if said else []
    of_calls = [line for line in source if any(part in line.text for part in OF_CALLS)]
    if said:
        said += _traits_beside(page, said)
    said += _symptoms_on(of_calls, of_frames=True)
    if named and not said and all(one.name == NAMED for one in named):
        from kafkatx.text.prose.reported_errors import as_met

        named = as_met(page, named, MET)
    if not (named or said):
        named = _retyped_on(page, is_about_transactions=is_about_transactions)
    if not (named or said):
        said = _failed_in(page, is_about_transactions=may_count)
    first: dict[str, Statement] = {}
    for one in sorted((*named, *said), key=lambda one: one.name == NAMED):
        first.setdefault(one.error, one)
    foreign = () if is_about_transactions else _foreign(line for line in source if own(line))
    return (*foreign, *tuple(first.values())[:MOST], *(_solved(page) if first else ()))


def _retyped_on(page: FramedPage, *, is_about_transactions: bool) -> list[Statement]:
    """Errors that somebody typed in words of his own: asked of texts that name none, so loaded for them."""
    own = [line for line in page.lines if " " in line.text.strip() and page.is_own(line)]
    if not own:
        return []
    from kafkatx.text.logs.retyped import retyped_in

    found = [
        (line, name)
        for line in own
        for name in dict.fromkeys(retyped_in(line.text))
        if is_about_transactions or is_of_producers(name)
    ]
    talk = explained(page.lines) if found else frozenset()
    return [_named(line, name, is_talk=line.position in talk) for line, name in found]


def _solved(page: FramedPage) -> Iterator[Statement]:
    """Yield the line, if there is one, that says that what a page tells of is over."""
    line = next((line for line in page.lines if says_solved(line.text) and page.is_own(line)), None)
    if line is not None:
        yield Statement(SOLVED, line.number, quoted_at(line.text, 0))


def _failed_in(page: FramedPage, *, is_about_transactions: bool) -> list[Statement]:
    """What a text says that failed, in words of no table; nothing of one that shows by itself what there was."""
    cases = list(spoken_cases(page, is_about_transactions=is_about_transactions))
    if cases and any(as_printed(line.text) for line in page.lines):
        return []
    talk = explained(page.lines) | taught(page.lines) if cases else frozenset()
    cases = [one for one in cases if page.lines[one.first].position not in talk]
    name = FAILED if is_about_transactions else KAFKA_FAILED
    failed = [
        Statement(SYMPTOM, page.lines[one.first].number, quoted_at(one.text, where_it_fails(one.text)), error=name)
        for one in cases
    ]
    return [*failed, *_traits(page, cases)] if failed and is_about_transactions else failed


def _traits_beside(page: FramedPage, said: Sequence[Statement]) -> list[Statement]:
    """What a text tells of the symptoms that it names, beside them."""
    begins = [page.lines[one.first].number for one in page.sentences]
    at = {bisect_right(begins, one.line) - 1 for one in said}
    return _traits(page, [page.sentences[place] for place in sorted(at) if place >= 0])


def _traits(page: FramedPage, cases: Sequence[Sentence]) -> list[Statement]:
    """What a text tells of failures that no table knows: asked of few texts, so loaded for them."""
    from kafkatx.text.prose.spoken_traits import traits_told

    return traits_told(page, cases)


def _foreign(words: Iterable[Line]) -> Iterator[Statement]:
    """Yield the first line of prose, if there is enough of it to describe a case."""
    prose = [line for line in words if len(_WORDS.findall(line.text)) >= FEWEST_WORDS]
    if len(prose) >= FEWEST_LINES:
        yield Statement(FOREIGN, prose[0].number, quoted_at(prose[0].text, 0))


def _lines_that_name(source: Sequence[Line]) -> Iterator[Line]:
    """Yield lines that may name an error: the names of a page are few, so they are told apart first."""
    text = "\n".join(line.text for line in source)
    names = {found[1] for found in _NAME.finditer(text)}
    known = [name for name in names if _IS_NAME.search(name) and _is_error(name)]
    for line in source:
        if any(name in line.text for name in known) or next(all_spelled_in(line.text), None) is not None:
            yield line


def _without_code(source: Sequence[Line], said: Sequence[Statement]) -> list[Statement]:
    """Statements but for strings of a program, or the rest of one, and for Kafka's words in comments of one."""
    texts = [line.text for line in source]
    places = {line.number: number for number, line in enumerate(source)}
    return [
        one
        for one in said
        if not is_literal(texts, places[one.line])
        and not (one.error in OF_KAFKAS_WORDS and is_of_code(texts, places[one.line]))
    ]


def _is_of_design(texts: Iterable[str]) -> bool:
    """Whether a text describes what is done in any case, and what anybody would see, and tells of no case."""
    text = " ".join(texts)
    is_any = len(_ANY_CASE.findall(text)) >= FEWEST_CASES and _ANYBODY.search(text) is not None
    return is_any and _OF_ONE_CASE.search(text) is None


def _named(line: Line, name: str, *, is_talk: bool) -> Statement:
    """What a line says that names an error."""
    at = line.text.find(name)
    is_met = (not is_talk and not _is_feared(line.text, at)) or _PRINTED.search(line.text) is not None
    return Statement(MET if is_met else NAMED, line.number, quoted_at(line.text, at), error=name)


def _is_feared(text: str, at: int) -> bool:
    """Whether the sentence around a place (-1: the line) is about what somebody wants to keep away, or heard of."""
    if at < 0:
        return _FEARED.search(text) is not None
    begin = max(text.rfind(end, 0, at) for end in (". ", "! ", "? ", "; ")) + 1
    end = min((found for end in (". ", "! ", "? ", "; ") if (found := text.find(end, at)) >= 0), default=len(text))
    return _FEARED.search(text[begin:end]) is not None


def errors_in(text: str) -> Iterator[str]:
    """Yield errors that a line names, by their names or by their words; of several spellings of one the first."""
    names = [match[1] for match in _NAME.finditer(text) if _IS_NAME.search(match[1])]
    names += [simple_name(spelled.name) for spelled in all_spelled_in(text)]
    known = [name for name in names if _is_error(name)]
    by_code = {error_code(name): name for name in reversed(known)}
    yield from (name for name in known if by_code[error_code(name)] == name or error_code(name) is ErrorCode.NONE)


def is_of_producers(name: str) -> bool:
    """Whether only producers with an id, or transactions, meet an error."""
    return _OF_PRODUCERS.search(name) is not None


@lru_cache(maxsize=4096)
def _is_error(name: str) -> bool:
    """Whether a name is an error that a mechanism of transactions shows itself by."""
    return name not in GENERIC and (error_code(name) is not ErrorCode.NONE or name in _classes())


@kept_table
def _classes() -> frozenset[str]:
    """Names of errors of clients for which the catalogue has a cause."""
    named = (name for row in client_exceptions() if row.rules for name in row.exceptions)
    return frozenset(plain_name(name) for name in named)


def _symptoms_on(
    source: Sequence[Line], is_told: Callable[[Line], bool] | None = None, *, of_frames: bool = False
) -> Iterator[Statement]:
    """Yield what lines say that does not work, if it is about one case; of frames the call they stand in."""
    asked = _patterns()
    texts = [line.text for line in source]
    by_line = _asked_of([_small(text) for text in texts], of_frames=of_frames)
    for number, which in sorted(by_line.items()):
        line = source[number]
        if is_told is not None and not is_told(line):
            continue
        sentences = [line.text] if of_frames else list(sentences_at(texts, number))
        for symptom, pattern, unless in (asked[one] for one in sorted(which)):
            found = next(_said_in(sentences, pattern, unless), None)
            if found is not None and _LISTED.match(line.text):
                break
            if found is not None:
                yield Statement(SYMPTOM, line.number, quoted_at(*found), error=symptom.name)


def _said_in(
    sentences: Iterable[str], pattern: re.Pattern[str], unless: re.Pattern[str] | None
) -> Iterator[tuple[str, int]]:
    """Yield sentences that say something of one case, each with where its words stand."""
    for text in sentences:
        found = pattern.search(text)
        is_met = found and (_SEEN.search(text) is not None or not is_of_any_case(text))
        if found and is_met and not (unless and unless.search(text)):
            yield text, found.start()


def _asked_of(texts: Sequence[str], *, of_frames: bool) -> dict[int, set[int]]:
    """Numbers of lines, and of the patterns that each must be asked, since it holds one of their literals."""
    page = "\n".join(texts)
    ends = [*accumulate(len(text) + 1 for text in texts)]
    found: dict[int, set[int]] = {}
    for literal, which in _literals(of_frames).items():
        at = page.find(literal)
        while at >= 0:
            number = bisect_right(ends, at)
            found.setdefault(number, set()).update(which)
            at = page.find(literal, ends[number])
    return found


@cache
def _literals(of_frames: bool) -> dict[str, tuple[int, ...]]:
    """Literals that symptoms hold, and the patterns of which each is one."""
    found: dict[str, list[int]] = {}
    for number, (symptom, _, _) in enumerate(_patterns()):
        for literal in symptom.holds if symptom.is_of_frames is of_frames else ():
            found.setdefault(literal, []).append(number)
    return {literal: tuple(numbers) for literal, numbers in found.items()}


def _small(text: str) -> str:
    """A text in small letters, those too that only a pattern that looks past case takes for `i` and `s`."""
    return text.lower() if text.isascii() else text.lower().translate(_LOOKALIKES)


@cache
def _patterns() -> tuple[tuple[Symptom, re.Pattern[str], re.Pattern[str] | None], ...]:
    return tuple(
        (
            row,
            regex(row.pattern, re.IGNORECASE),
            regex(row.unless, re.IGNORECASE) if row.unless else None,
        )
        for row in symptoms()
    )
