"""Errors that a page speaks of as of any case, and of which the sentence beside it says that somebody saw it.

Somebody writes `the coordinator may answer CONCURRENT_TRANSACTIONS` and, in the next sentence, `all sends fail until
the pod is restarted`: the sentence with the error explains (text/logs/talk.py), the one beside it tells. Asked only of
pages on which nobody met an error and nothing else is said to fail, so it is loaded for them.
Rule    The sentence with the error, the one before or the one behind it says that people saw, reported or ended it, or
        that a program does what nobody wants; a list stands under one that says what was seen; or a comment of a
        program begins with the error and says what had happened before. Nothing that is asked, promised or feared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kafkatx.terms.regex import regex
from kafkatx.text.events import Statement
from kafkatx.text.framed_pages import FramedPage
from kafkatx.text.logs.sentences import Sentence

MOST_ITEMS = 6
"""Items of a list below the sentence that says what it lists."""
_REPORTED = regex(
    r"\b(?:we|users|customers|people|operators|some(?:one|body))(?:'ve| have| had)? (?:\w+ly )?"
    r"(?:observed?|noticed|reported|encountered|experienced)\b"
    r"|\buntil (?:[\w-]+ ){1,8}?(?:is|are|was|were|gets?|got) (?:re(?:started|created|booted|deployed)|killed)\b"
    r"|\buntil (?:we|I|they|you) (?:\w+ )?(?:restart|reboot|redeploy|kill)"
    r"|\bthe affected \w+ (?:\w+ )?(?:die[sd]|fail(?:s|ed)|stop(?:s|ped)|crash(?:es|ed)|hangs?)\b"
    r"|\b(?:sometimes|occasionally|randomly|from time to time|now and then)\b.{1,80}\b(?:us|our|we|me|my)\b"
    r"|\b(?:inadvertently|erroneously|blindly|mistakenly|by mistake)\b|\b(?:doomed|deemed) to fail\b"
    r"|(?:开发者|用户|有人|团队|客户|运维)们?(?:在.{1,20})?(?:发现|反馈|报告|遇到|反映)",
    re.IGNORECASE,
)
"""What is said only of what somebody saw, or of what a program does wrong."""
_SEEN_LIST = regex(
    r"\b(?:I|we)(?:'m| am|'re| are|'ve)? (?:\w+ )?(?:see|seeing|seen|saw|observed?|get|getting|got)\b[^.?!]{0,80}:\W*$"
)
"""What stands above a list of what was seen."""
_COMMENTED = regex(
    r"\s*(?://|#|--)\s*(?:\w+\.)*\w+(?:Exception|Error)\b.{0,12}\b(?:because|since|as)\b"
    r".{1,60}\b(?:was|were|ha[sd] been)\b"
)
"""A comment of a program that says what came of a call, and why."""
_PROMISED = regex(
    r"\b(?:ensur|guarante|prevent|avoid|protect)\w*|\bmak(?:es?|ing) sure\b|\bno longer\b|\?\W*$", re.IGNORECASE
)
"""What is asked, or does not happen."""


def as_met(page: FramedPage, named: Sequence[Statement], met: str) -> list[Statement]:
    """Return the errors that a page names, those by the name `met` of which it says beside them that they were seen."""
    told = [one for number, one in enumerate(page.sentences) if _tells_beside(page.sentences, number)]
    comments = {line.number for line in page.lines if _COMMENTED.match(line.text)}
    return [
        replace(one, name=met) if one.line in comments or any(_holds(page, each, one) for each in told) else one
        for one in named
    ]


def _holds(page: FramedPage, sentence: Sentence, error: Statement) -> bool:
    """Whether an error stands in a sentence: by its name, or by Kafka's words for it on the lines of the sentence."""
    if error.error in sentence.text:
        return True
    is_on = page.lines[sentence.first].number <= error.line <= page.lines[sentence.last].number
    return is_on and error.error not in error.text


def _tells_beside(sentences: Sequence[Sentence], number: int) -> bool:
    """Whether a sentence, or one beside it, says that what it names was seen."""
    if _PROMISED.search(sentences[number].text):
        return False
    if any(_REPORTED.search(one.text) for one in sentences[max(0, number - 1) : number + 2]):
        return True
    return any(_SEEN_LIST.search(one.text) for one in sentences[max(0, number - MOST_ITEMS) : number])
