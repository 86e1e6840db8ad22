"""Sentences of a page, and which of them speak of an error: what can happen, what it means, what a program shall do.

Cut     A paragraph goes over the lines up to an empty one, an item, a heading, a fence or what a program printed. It is
        cut behind a stop before what begins a sentence in any of the scripts in which people ask. Symptoms, what else
        failed and its traits are looked for in the same sentences.
Rule    The whole sentence around an error decides, over all lines that it is written on. A condition, a question, a
        definition, a change or a step of a test speaks of any case; whoever says what befell himself, or what was
        seen, tells of one. A sentence without a sign of either tells.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.error_names import MENTIONED
from kafkatx.text.logs.stamps import TIMED
from kafkatx.text.logs.suppositions import (
    ASKED,
    DEFINING,
    IS_CONDITION,
    MEANS,
    MET_IN_SENTENCE,
    OF_MEANING,
    OF_PEOPLE,
    SUPPOSED_SENTENCE,
)

MOST_LINES = 6
"""Lines above and below that a sentence is looked for on."""
_MENTION = regex(
    rf"(?<![\w])(?:[a-z]\w*\.){{0,8}}{MENTIONED}"
    r"|(?<=\s)[\"'`\u201c][A-Z][^\"`\u201c]{12,400}|\b(?:Broker|Local|kafka server|kafka): "
)
END_OF_SENTENCE = regex(
    r"[.?!][\"'`)*_]*\s+(?=[*_]{0,2}[A-Z\u00c0-\u00de\u0110\u0400-\u042f\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3"
    r"\"'`(\u00bf\u00a1\u00ab\u201c])|[\u3002\uff01\uff1f]\s*"
)
"""What stands between two sentences: of Latin and Cyrillic letters the next one begins with a capital."""
_QUOTED = regex(r"(`[^`]{1,11}`|\"[^\"]{1,11}\"(?!\w))|(?:[\"`\u201c]|(?<!\w)')[^\"`\u201d]{12,400}[\"'`\u201d]")
"""A word or two in marks, or more words: the end of the one does not begin the other, nor does an apostrophe."""
_SHOWN = regex(r"\b(?:kafka server|kafka|Broker|Local): [A-Z][^.\"`]{8,300}")
_ITEM = regex(r"(?:[-*+\u2022]|\d{1,2}[.)]|#{1,6}|[+-]\d(?= \())\s+|(?:> ?)+|\|\s*")
_FENCES = ("```", "~~~", "{code")
_BEGINNING = regex(r"\s*(?:(?:> ?)+\s*)?(?:(?:[-*+\u2022]|\d{1,2}[.)]|#{1,6})\s|\*\*[A-Z]|\|\s)")
_ALONE = regex(r"\s*(?:#{1,6} \S|\*\*[^*]{1,60}\*\*(?: \(\w+\))?:?\s*$)")
"""A heading, or who says what stands below: no sentence goes on behind it."""
FEWEST_LETTERS = 8
"""Letters of a script other than Latin that make a sentence."""
_WORDS = regex(r"\b[a-z\u00e4\u00f6\u00fc]{2,}\b")
_HAN = regex(r"[\u3041-\u30fa\u4e00-\u9fff\uac00-\ud7a3\u0430-\u044f]")
_LOGGED = regex(
    rf"{TIMED}|(?:^|^\S{{1,40}} |[\[|<(]) *(?:ERROR|WARN(?:ING)?|FATAL|SEVERE|INFO|DEBUG)\b|^\s*at "
    r"|Caused by|^Traceback|^\s*File \""
)
_MACHINE = regex(
    r"\w=\S|\[[^\] ]+[:=|][^\]]*\]|\{[\"']?@?\w+[\"']?:|\w\.\w{1,5}:\d+|^\s*\w+: ['\"`]|[\^|]\w+[\^|]|\(after \d+"
    r"|^[\w.$]+(?:Exception|Error)\b(?::|$)"
    r"|^[\w.$-]+:\s*$|^\[\w+ clientId="
)
"""What programs print and nobody writes in a sentence."""
_CHANGED = regex(
    r"(?:(?P<issue>\[?[A-Z]{3,12}-\d{2,6}\]?:? )|#\d+:? |\(#\d+\) |[\w/-]{2,30}: )?"
    r"(?:Fix(?:ed|es)?|Improve[ds]?|Add(?:ed|s)?|Remove[ds]?|Change[ds]?|Deprecate[ds]?|Handle[ds]?|Support(?:ed|s)?"
    r"|Treat(?:ed|s)?|Avoid(?:ed|s)?|Prevent(?:ed|s)?|Allow(?:ed|s)?|Rename[ds]?|Make|Bump(?:ed|s)?|Return|Raise"
    r"|Map|Have(?! (?:you|I|we|any\w*)\b)|Ensure[ds]?|[Pp]reserve[ds]?|Reject(?:ed|s)?|Introduce[ds]?|Retry|Ignore)\b"
)
"""How an entry of a list of changes begins."""
_STEP = regex(r"\s*(?:Given|When|Then|And|But|Scenario:|Feature:)\s+\S")
"""A step of a test in words."""
_SEARCH = regex(
    r"\s*(?:[$%#>]\s*)?(?:sudo )?(?:grep|egrep|zgrep|rg|ag|ack|journalctl|kubectl logs|docker logs|jq|awk"
    r"|sed)\s.*[\"'\w]"
    r"|.*[\"']\s+(?:OR|AND)\s+[\"']|.*\|\s*(?:stats|where|timechart|count_over_time|count by|summarize)\b"
    r"|.*\|[=~]\s*[\"`]"
)
_EXPECTED = regex(
    r"\W*expected (?:behaviou?r|results?|outcome|output)\W{1,8}\w(?!.*\b(?:but|instead|got|however|actual\w*)\b)",
    re.IGNORECASE,
)
"""What should have been, by its heading on the same line."""
_FAQ = regex(r"\s*(?:#{1,6} |\*\*|Q\d*[:.] ).*\?\W*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, and the numbers of the first and the last line that it is written on."""

    first: int
    last: int
    text: str


def speaks_of(texts: Sequence[str], number: int) -> bool:
    """Whether a line speaks of an error without telling of one."""
    text = texts[number]
    if _LOGGED.search(text):
        return False
    if "xpected " in text and _EXPECTED.match(text):
        return True
    if _SEARCH.match(text) or _is_step(texts, number) or _is_of_commit(texts, number):
        return True
    found = _MENTION.search(text)
    if found is None or _is_printed(_plain(text[: found.end() + 2])):
        return False
    sentence, is_first = _sentence(texts, number, found)
    if _is_answer(texts, number):
        return MET_IN_SENTENCE.search(sentence) is None
    changed = _CHANGED.match(sentence)
    if not (_is_prose(sentence) or (changed and changed["issue"])):
        return False
    if is_first and changed and not MET_IN_SENTENCE.search(sentence.replace("we ", "", 1)):
        return True
    return is_of_any_case(sentence)


def is_of_any_case(sentence: str) -> bool:
    """Whether a sentence is about any case rather than one."""
    if ASKED.match(sentence) and sentence.rstrip("\"'`)> ").endswith("?"):
        return True
    if IS_CONDITION.search(sentence):
        return True
    if any(verb in sentence for verb in MEANS) and OF_MEANING.search(sentence) and OF_PEOPLE.search(sentence) is None:
        return True
    is_about = SUPPOSED_SENTENCE.search(sentence) or DEFINING.search(sentence)
    return is_about is not None and MET_IN_SENTENCE.search(sentence) is None


def _is_printed(plain: str) -> bool:
    """Whether a line is as programs print, up to its error; an entry of a list of changes may look so."""
    return _CHANGED.match(plain) is None and _MACHINE.search(plain) is not None


def _is_prose(sentence: str) -> bool:
    """Whether words make up a sentence, and not the label of a program's message."""
    return len(_WORDS.findall(sentence)) >= 4 or len(_HAN.findall(sentence)) >= FEWEST_LETTERS


def sentences_at(texts: Sequence[str], number: int) -> Iterator[str]:
    """Yield the sentences that a line has words of, each over all lines that it is written on."""
    for one in sentences_of(texts, *_paragraph(texts, number)):
        if one.first <= number <= one.last:
            yield one.text


def sentences_of(texts: Sequence[str], first: int, last: int) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph, by the numbers of its first and its last line."""
    written = [_plain(text) for text in texts[first : last + 1]]
    ends = [*accumulate(len(text) + 1 for text in written)]
    whole, at = " ".join(written), 0
    for stop in (*(found.end() for found in END_OF_SENTENCE.finditer(whole)), len(whole)):
        if text := whole[at:stop].strip():
            yield Sentence(first + bisect_right(ends, at), first + bisect_right(ends, stop - 1), text)
        at = stop


def paragraphs(texts: Sequence[str], is_own: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Yield first and last lines of the paragraphs of lines that are `is_own`, and stand in no fence."""
    begun, is_fenced = -1, False
    for number, text in enumerate(texts):
        is_fence = _plain(text).startswith(_FENCES)
        is_fenced ^= is_fence
        goes_on = not (is_fence or is_fenced) and is_own(number)
        if begun >= 0 and not (goes_on and _is_one(texts, number)):
            yield begun, number - 1
            begun = -1
        if goes_on and begun < 0:
            begun = number
    if begun >= 0:
        yield begun, len(texts) - 1


def _paragraph(texts: Sequence[str], number: int) -> tuple[int, int]:
    """Numbers of the first and the last line that a sentence of a line may be written on."""
    first = last = number
    while first > max(0, number - MOST_LINES) and _is_one(texts, first) and _goes_on(texts[first - 1]):
        first -= 1
    while last < min(len(texts) - 1, number + MOST_LINES) and _goes_on(texts[last + 1]) and _is_one(texts, last + 1):
        last += 1
    return first, last


def _sentence(texts: Sequence[str], number: int, found: re.Match[str]) -> tuple[str, bool]:
    """The sentence around an error of a line without the error's own words, and whether it begins its paragraph."""
    first, last = _paragraph(texts, number)
    before = " ".join(_plain(text) for text in (*texts[first:number], texts[number][: found.start()])).lstrip()
    before = _masked(before)
    ends = list(END_OF_SENTENCE.finditer(before))
    begin = ends[-1].end() if ends else 0
    behind = " ".join(_plain(text) for text in texts[number + 1 : last + 1])
    rest = f"{_without_message(texts[number], found)} {behind}"
    stop = END_OF_SENTENCE.search(rest)
    return f"{before[begin:]} {rest[: stop.end()] if stop else rest}".strip(), begin == 0


def _masked(text: str) -> str:
    """A text with an X for the words that it quotes."""
    return _QUOTED.sub(lambda found: found[1] or "X", text)


def _without_message(text: str, found: re.Match[str]) -> str:
    """What stands in a line from an error on, without the words that Kafka prints for it."""
    rest = text[found.start() :]
    if rest[:1] in "\"'`\u201c":
        return _SHOWN.sub("X", _masked(rest))
    if found[0].endswith(": "):
        return "X"
    rest = "X" + text[found.end() :]
    if rest[1:3] == ": ":
        return "X" + _QUOTED.sub("", rest[3:]) if rest[3:4] in "\"'`" else "X"
    return _SHOWN.sub("X", _masked(rest))


def _plain(text: str) -> str:
    """A line without the signs of quotations, items and headings before it."""
    text = text.strip()
    while found := _ITEM.match(text):
        text = text[found.end() :]
    return text


def _begins(text: str) -> bool:
    """Whether an item, a heading or a label begins with a line."""
    return _BEGINNING.match(text) is not None


def _is_one(texts: Sequence[str], number: int) -> bool:
    """Whether nothing begins with a line, and the line above it is no heading, nor who speaks."""
    return not _begins(texts[number]) and not (number and _is_alone(texts[number - 1]))


def _is_alone(text: str) -> bool:
    return text.lstrip().startswith(("#", "**")) and _ALONE.match(text) is not None


def _goes_on(text: str) -> bool:
    """Whether a sentence may go on over a line: it is neither empty nor one of a program."""
    plain = _plain(text)
    is_words = bool(plain) and not plain.startswith((*_FENCES, "|", "at "))
    return is_words and _LOGGED.search(text) is None and _MACHINE.search(plain) is None


def _is_step(texts: Sequence[str], number: int) -> bool:
    """Whether a line is one of several steps of a test."""
    if not _STEP.match(texts[number]):
        return False
    near = texts[max(0, number - 3) : number + 4]
    return sum(1 for text in near if _STEP.match(text)) >= 3


def _is_of_commit(texts: Sequence[str], number: int) -> bool:
    """Whether a line is of the message of a commit, as git prints it."""
    at = number
    while at >= 0 and (texts[at].startswith("    ") or not texts[at].strip()):
        at -= 1
    return 0 <= at < number and re.match(r"(?:Author|AuthorDate|Date|Commit|CommitDate): ", texts[at]) is not None


def _is_answer(texts: Sequence[str], number: int) -> bool:
    """Whether a line is of an answer on a page of questions."""
    heads = [at for at, text in enumerate(texts) if "?" in text and _FAQ.match(text)]
    return len(heads) >= 2 and any(at < number for at in heads)
