"""Lines that have nothing of a log before their message: whether what they say happened, or is only talked about.

Rule    A line tells if it is a text of Kafka, whole or cut at an end, or an exception of Kafka with its message, behind
        nothing but a label (`Caused by: `, `e=`, an application's words up to a colon). A class in a sentence, a line
        of source code or of its documentation, a cell of a table of errors tell nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kafkatx.terms.regex import regex
from kafkatx.text.logs.around import is_front
from kafkatx.text.logs.contexts import split_context
from kafkatx.text.logs.error_names import CLASS, KINDS, NOT_WITHIN, SIMPLE_CLASS
from kafkatx.text.logs.exceptions import known_classes
from kafkatx.text.logs.fragments import find_fragment, is_code, is_label
from kafkatx.text.logs.matching import match_exception, match_message
from kafkatx.text.logs.shown import shows_error
from kafkatx.text.logs.suppositions import HAPPENED_IN_CLAUSE, SUPPOSED_CLAUSE

LONGEST_LABEL = 300
"""Characters of an application's own words before an exception."""
_FULL = regex(rf"{NOT_WITHIN}({CLASS})(?P<message>: ?\S.*)?", re.DOTALL)
_SIMPLE = regex(rf"{NOT_WITHIN}({SIMPLE_CLASS}): (?P<message>\S.*)", re.DOTALL)
_CLAUSE = regex(r"[.;!?] |: |, (?:but|and|so) | but ")
_QUOTATION = regex(rf"[`\"](?=[\w.: $]*(?:[A-Z]\w+{KINDS}|[A-Z_]{{4,40}}|server: |Broker: |Local: )\b|kafka server: )")
LONGEST_CLAUSE = 200
"""Characters before a quotation in which a sentence says whether it happened."""
_MEANT = regex(r"(?:Exception|Error)\b[^`\"]{0,600}[`\"] (?i:when|if|means|is thrown|is raised|indicates|tells)\b")
"""A quotation in a sentence about what can happen, not about what did."""
CELLS = regex(r"\s*\|(?:[^|]{1,300}\|){2,20}\s*$")
"""A row of a table of errors."""
_THREAD = regex(r'(?:\[\w+\] )?Exception in thread "|Process is terminated due to \w{3,79}Exception\.')


@lru_cache(maxsize=4096)
def tells(text: str) -> bool:
    """Whether a line without time, level and logger says that something happened."""
    if not text.strip() or is_code(text) or is_supposed(text) or CELLS.match(text):
        return False
    _, message = split_context(text.strip())
    if is_told_throw(message) or shows_error(text):
        return True
    return match_message(message) is not None or find_fragment(message) is not None


def is_supposed(text: str) -> bool:
    """Whether a sentence quotes an error as what can happen, or says what it means: not that anybody met it."""
    return _MEANT.search(text) is not None or any(
        _is_supposed(text[max(0, found.start() - LONGEST_CLAUSE) : found.start()])
        for found in _QUOTATION.finditer(text)
    )


def supposes(sentence: str, until: int) -> bool:
    """Whether what stands from a place on in a sentence is a case that is thought of, and nothing says that it was."""
    return SUPPOSED_CLAUSE.search(sentence[:until]) is not None and HAPPENED_IN_CLAUSE.search(sentence) is None


def _is_supposed(before: str) -> bool:
    """Whether the clause before a quotation is about what can happen."""
    clause = _CLAUSE.split(before)[-1]
    return SUPPOSED_CLAUSE.search(clause) is not None and HAPPENED_IN_CLAUSE.search(clause) is None


def is_told_throw(text: str) -> bool:
    """Whether a line is an exception of Kafka and its message, behind a label at most."""
    if is_code(text):
        return False
    if _THREAD.match(text):
        return True
    for found in _FULL.finditer(text[: 2 * LONGEST_LABEL]):
        if not _is_kafkas(found[1]):
            continue
        is_alone = found["message"] or not text[found.end() :].strip(" \t`\"'.)]}")
        return bool(is_alone) and _is_label(text[: found.start()])
    simple = _SIMPLE.search(text[: 2 * LONGEST_LABEL])
    if simple is None or not _is_label(text[: simple.start()]):
        return False
    message = simple["message"]
    return match_exception(message) is not None or find_fragment(message) is not None


def _is_kafkas(name: str) -> bool:
    return "kafka" in name.lower() or name.rpartition(".")[2] in known_classes()


def _is_label(before: str) -> bool:
    return len(before) <= LONGEST_LABEL and (is_label(before) or is_front(before))
