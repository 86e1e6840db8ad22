"""Lines of a page that explain errors and tell of none: tables, glossaries, headings, tables of errors in source code.

Rule    A row of a table without a time, an error with its number and whether it can be retried, a term that a
        definition follows, an error with its meaning behind it, a test that passed explain. One heading or item names
        what happened, several are a list. Entries of a list of changes, and a manual of errors (labels for symptoms,
        causes and what to do, and nobody's case) tell of none either. What frames of a stack, or a cause, follow was
        thrown, whatever stands before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line
from kafkatx.text.logs.bare import CELLS, is_supposed
from kafkatx.text.logs.error_names import ANSWER, MENTIONED
from kafkatx.text.logs.sentences import speaks_of
from kafkatx.text.logs.source_code import is_of_code
from kafkatx.text.logs.stamps import TIMED
from kafkatx.text.logs.suppositions import OF_PEOPLE

LONGEST = 600
"""Characters of a line that are looked at: what people write and programs hold is shorter, hostile lines are not."""
FEWEST = 2
"""Headings, items or entries that make a list of errors."""
_ERROR = regex(MENTIONED)
_TIME = regex(TIMED)
_NUMBERED = regex(
    r"\b[A-Z]+_[A-Z_]{2,50}[\s|,\"']{1,60}-?\d{1,3}[\s|,\"']{1,60}(?i:true|false)\b"
    r"|^\W*-?\d{1,3}[,;\t] ?\W?[A-Z]+_[A-Z_]{2,50}\b"
)
"""A row of the protocol's table of errors: name, number, whether it can be retried; or number and name."""
_ANSWER = regex(ANSWER)
_LAST_WORDS = regex(r"\s*(?:thread '[^']{1,80}' panicked at |Unhandled exception\. )")
"""What a runtime (Rust's, .NET's) prints of the error that a program died of, whatever its words are."""
_DENIED = regex(
    rf"\b(?:no|without(?: an?y?)?|not an?y?|zero|never(?: an?y?)?|(?:must|should|shall|does|do|did|will)(?: not|n't) "
    rf"(?:throw|raise|see|get|fail with|produce|log|show)(?: an?y?)?) (?:more |further )?[`'\"]?(?:{MENTIONED})"
)
"""An error that a test, or a report that all is well, says was not met."""
_DIFF_HEADING = regex(r"\s*[+-] ?#{1,6} \S")
"""A heading in a change of documents."""
_BLANK = regex(r"\{[a-z]\}|\{[a-z]\w{1,20}\} ?ms\b|%[sd]\b")
"""Where a program would have printed a value."""
_PLACED = ("transactionalId", "producerId", "producerEpoch", "coordinatorEpoch", "topicPartition", "error", "exception")
_PLACEHOLDERS = tuple(f"{name} {marks[0]}{name}{marks[1]}" for name in _PLACED for marks in ("[]", "<>", "{}"))
"""A value that is its own name: documentation of what is logged."""
_PASSED = regex(
    r"\s*(?:[\u2713\u2714\u221a\u2611\u2705] |PASS(?:ED)?\b|ok \d+ |=== (?:RUN|PAUSE|CONT) |--- (?:PASS|SKIP):)"
    r"|.*\s(?:PASSED|SKIPPED)(?:\s+\[ *\d+%\])?\s*$|\s*test \S.* \.\.\. ok\s*$|.*\b[Ee]xpected (?:exception"
    r"|error)\b(?!.*\b(?:but|got)\b)"
)
"""A test that expects an error, and met it, as runners of tests print it."""
_AS_EXPECTED = regex(r".*\b(?:got|threw|caught|raised|saw|rejected with) .{1,300}(?<!not )\bas expected\b")
"""The same in the words of who wrote the test, whatever logger prints them."""
_TERM = regex(r"\S.{0,400}\w\W{0,3}::(?:\s|$)")
_HEADING = regex(r"\s*(?:#{1,6}|={2,6}) \S")
_ITEM = regex(
    r"\s*(?:[-*+\u2022] |\d{1,2}[.)] )?(?:`[^`]{8,400}`|\*\*[A-Z]\w{8,80}\*\*) ?"
    r"(?:[-:\u2013\u2014]|means\b|indicates\b) ?[A-Za-z]\w*\W+\w+"
)
"""An error in marks of code, and what it means."""
_REFERENCE = regex(
    r"\s*(?:(?:public|final|abstract) ){0,3}(?i:class|interface|exception|enum) (?:[a-z]\w*\.){0,8}[A-Z]\w{2,79}"
    r"(?: (?:extends|implements) .{1,200})?\s*$|\s*extends (?:[\w.]+\.)?[A-Z]\w+\s*$"
)
"""A line of the reference of a class: its name behind what it is."""
_SENTENCE = regex(r"(?:An? |The )[^:]{30,600}\.\s*$")
_CLASS_ALONE = regex(r"\s*(?:[-*] )?[A-Z]\w{2,79}(?:Exception|Error)(?:, [A-Z]\w{2,79})*\s*$")
_DEFINITION = regex(r"\s*: {1,3}\S")
"""What stands under a term of a list of definitions."""
_ROWS = regex(r"\s*\|?\s*:?-{3,}:?\s*\|[\s:|-]*$")
"""The rule under the heads of a table."""
_OBSERVED = regex(r"\b(?:time|when|pod|host|node|instance|count|last|status|run|day|partition)\b", re.IGNORECASE)
"""A head of a table of what was seen."""
_HTML_ITEM = regex(
    r"\s*(?:<tr>)?<td>[A-Z_]{3,50}</td>\s*<td>[^<]{3,300}</td>|\s*<(?:li|dt|dd|td)>(?:<\w{1,8}>){1,3}[^<]{3,200}</\w{1,8}>"
)
_NAME_ALONE = regex(
    r"\s*\+?\s*(?:[-*\u2022]|#{1,6}|\d{1,2}[.)]) [`*_]{0,3}(?:[A-Z]+:)?[A-Z]{2,20}(?:_[A-Z]{2,20})+[`*_:]{0,4}\s*$"
)
"""An item that is the name of an error and nothing else: what it means stands below it."""
_LABELS = (
    r"symptoms?|what you see|mechanism|(?:root |common |possible |likely )?causes?|(?:common )?solutions?"
    r"|(?:how to )?fix|resolution|remed(?:y|iation)|diagnosis|mitigation|prevention|meaning|what to do|what it means"
    r"|understanding [\w$]{8,80}"
)
_LABEL = regex(
    rf"\s*(?:#{{1,6}} |[-*] )?(?:\*\*)?({_LABELS})[.:]?(?:\*\*)?:?\s*$"
    rf"|\s*(?:[-*] )?\*\*({_LABELS})(?:[.:]\*\*|\*\*[.:])",
    re.IGNORECASE,
)
"""A part of a manual of errors, by its name."""
_BEGIN_LABELS = (
    "symptom", "what ", "mechanism", "root ", "common ", "possible ", "likely ", "cause", "solution", "how to fix",
    "fix", "resolution", "remed", "diagnosis", "mitigation", "prevention", "meaning", "understanding",
)  # fmt: skip
_TO_DO = regex(
    r"\s*(?:(?:[-*]|\d{1,2}[.)]) )?(?:\*\*)?(?:Increase|Reduce|Check|Set|Use|Ensure|Make sure|Follow|Close|Do not|Don't"
    r"|Avoid|Verify|Configure|Enable|Keep|Look|Raise|Lower|Upgrade|Never|Always|Learn)\b"
)
_TO_YOU = regex(r"\b(?:you (?:see|must|should|can|need)|(?:if|when) you)\b", re.IGNORECASE)
"""What a manual tells to do, and whom."""
_OF_REPORT = regex(
    r"\b(?:was|were|had|did|got|saw|since|reproduc\w+|environment|workaround)\b|\bactual (?:behaviou?r|result)"
    r"|#\d{2,6}\b|\d\.\d{1,2}\.\d|\bversions?:? ?v?\d",
    re.IGNORECASE,
)
"""What one tells who had the error, or who reports a defect: a past, a release, an issue, how it is seen again."""
_CHANGES = regex(
    r"\s*(?:#{1,6} )?(?:\w+ ){0,2}?(?:(?:bug ?)?fixes|enhancements|improvements|upgrade considerations|new features"
    r"|change ?log|what's changed):?\s*$",
    re.IGNORECASE,
)
"""The heading of a list of changes."""
_END_CHANGES = ("fixes", "enhancements", "improvements", "considerations", "features", "log", "changed")
FEWEST_NAMES = 3
MOST_DESCRIBED = 12
"""Lines right below the name of a class that describe it in its reference."""
_MEANING = regex(r"[.'\"`] It (?:means|indicates)\b")
_MESSAGE = regex(r"\s*[\"']?message[\"']?: *['\"`]")
_FIELD = regex(r"\s*[\"']?(?:type|code|retriable)[\"']?: *\S+,\s*$")
_DEFINED = regex(r"\s*(type|code|retriable): *\S+,\s*$")
_THROWN = regex(r"\s*(?:at [\w$.<>]+[\w$>]\(|at [\w/]|\.\.\. \d+ more|Caused by|File \"|---> )")
_COMMENTED = regex(r"\s*(?:\*|//+|#+|--|;+|(?:> ?)+)\s+at [\w$.<>/@-]{3,250}\([\w$. ]{1,120}:\d{1,6}\)")
"""A frame with its line behind the sign of a comment or a quotation: somebody put into a program what it printed."""
_EXAMPLES = regex(r"\b(?:may|might|will|would|could) .{0,120}\b(?:such as|like|for example|e\.g\.),?:?\s*$")


def explained(source: Sequence[Line]) -> frozenset[int]:
    """Positions of the lines of a page that only explain."""
    texts = [line.text[:LONGEST] for line in source]
    lists = [found for found in (_headings(texts), _items(texts), _entries(texts)) if len(found) >= FEWEST]
    listed = {number for found in lists for number in found} | set(_names_alone(texts))
    listed.update(number for number in _taught(texts) if _ERROR.search(texts[number]))
    return frozenset(
        line.position
        for number, line in enumerate(source)
        if (number in listed or _explains(texts, number)) and not _is_thrown(texts, number)
    )


def taught(source: Sequence[Line]) -> frozenset[int]:
    """Positions of the lines of a manual of errors, or of a list of changes."""
    numbers = _taught([line.text[:LONGEST] for line in source])
    return frozenset(source[number].position for number in numbers)


def _taught(texts: Sequence[str]) -> Iterable[int]:
    return range(len(texts)) if _is_manual(texts) else _changes(texts)


def _explains(texts: Sequence[str], number: int) -> bool:
    """Whether a line explains by itself, or is the example that the line above announces."""
    text = texts[number]
    if not text.strip() or (_TIME.search(text) and not _AS_EXPECTED.match(text)) or _ANSWER.search(text):
        return False
    if _LAST_WORDS.match(text):
        return False
    if _DENIED.search(text) or _DIFF_HEADING.match(text) or _is_of_reference(texts, number):
        return True
    if any(placeholder in text for placeholder in _PLACEHOLDERS):
        return True
    if _PASSED.match(text) or _AS_EXPECTED.match(text) or is_of_code(texts, number) or speaks_of(texts, number):
        return True
    if CELLS.match(text) or _NUMBERED.search(text) or _TERM.match(text) or _MEANING.search(text) or _BLANK.search(text):
        return _ERROR.search(text) is not None
    if _is_defined(texts, number) or _is_in_table(texts, number) or _is_entry(texts, number):
        return True
    return is_supposed(text) or (_is_quoted(text) and number > 0 and _is_example(texts, number))


def _is_of_reference(texts: Sequence[str], number: int) -> bool:
    """Whether a line is the name of a class in its reference, what describes it right below, or one that it lists."""
    at = number
    while at > 0 and number - at < MOST_DESCRIBED and texts[at].strip() and not _REFERENCE.match(texts[at]):
        at -= 1
    if _REFERENCE.match(texts[at]):
        return True
    return _CLASS_ALONE.match(texts[number]) is not None and any(map(_REFERENCE.match, texts))


def _is_defined(texts: Sequence[str], number: int) -> bool:
    """Whether a line says what the term above it means."""
    return number > 0 and _DEFINITION.match(texts[number]) is not None and _names_error(texts[number - 1])


def _is_in_table(texts: Sequence[str], number: int) -> bool:
    """Whether a line is a row of a table, by the rule above it, that does not list what was seen."""
    at = number
    while at > 0 and "|" in texts[at] and not _ROWS.match(texts[at]):
        at -= 1
    return 0 < at < number and _ROWS.match(texts[at]) is not None and not _OBSERVED.search(texts[at - 1])


def _is_quoted(text: str) -> bool:
    return text.strip()[:1] in "\"'`"


def _is_example(texts: Sequence[str], number: int) -> bool:
    """Whether the lines of quotations above a line begin below one that announces examples of what may come."""
    while number > 0 and _is_quoted(texts[number]):
        number -= 1
    return _EXAMPLES.search(texts[number]) is not None


def _headings(texts: Sequence[str]) -> list[int]:
    return [number for number, text in enumerate(texts) if _HEADING.match(text) and _names_error(text)]


def _items(texts: Sequence[str]) -> list[int]:
    found = enumerate(texts)
    return [number for number, text in found if (_ITEM.match(text) or _HTML_ITEM.match(text)) and _names_error(text)]


def _names_alone(texts: Sequence[str]) -> list[int]:
    """Items of a list of errors, each by itself above what it means."""
    found = [number for number, text in enumerate(texts) if _NAME_ALONE.match(text)]
    apart = [number for number in found if number + 1 not in found]
    terms = [number for number, text in enumerate(texts) if _CLASS_ALONE.match(text) and _is_described(texts, number)]
    return [one for names in (apart, terms) if len(names) >= FEWEST_NAMES for one in names]


def _is_described(texts: Sequence[str], number: int) -> bool:
    """Whether a sentence that is nobody's stands below the name of a class."""
    below = next((text for text in texts[number + 1 : number + 3] if text.strip()), "")
    return _SENTENCE.match(below) is not None and OF_PEOPLE.search(below) is None and not _TIME.search(below)


def _changes(texts: Sequence[str]) -> Iterator[int]:
    """Lines below the heading of a list of changes, up to the next heading or fence, that are nobody's own."""
    is_below = False
    for number, text in enumerate(texts):
        is_head = text.rstrip(" \t:").lower().endswith(_END_CHANGES) and _CHANGES.match(text) is not None
        if is_head or text.lstrip().startswith(("```", "#", "==")):
            is_below = is_head
        elif is_below and text.strip() and not (_TIME.search(text) or OF_PEOPLE.search(text)):
            yield number


def _is_manual(texts: Sequence[str]) -> bool:
    """Whether a page is a manual: it has labels for what is seen, why, and what is to be done, and tells of nobody."""
    may_be = [text for text in texts if text.lstrip(" \t#*-").lower().startswith(_BEGIN_LABELS)]
    if len(may_be) < FEWEST:
        return False
    labels = {(found[1] or found[2]).lower() for text in may_be if (found := _LABEL.match(text))}
    if len(labels) < FEWEST or not any(_TO_DO.match(text) or _TO_YOU.search(text) for text in texts):
        return False
    return not any(told.search(text) for text in texts for told in (_TIME, OF_PEOPLE, _OF_REPORT))


def _entries(texts: Sequence[str]) -> list[int]:
    """Messages in a table of errors of source code: type, number and message, one entry after the other."""
    return [
        number
        for number, text in enumerate(texts)
        if number > 1 and _MESSAGE.match(text) and all(_FIELD.match(one) for one in texts[number - 2 : number])
    ]


def _is_entry(texts: Sequence[str], number: int) -> bool:
    """Whether a message has type, number and what to do above it, in the order in which programs define errors."""
    above = texts[max(0, number - 3) : number]
    names = [found[1] for text in above if (found := _DEFINED.match(text))]
    return _MESSAGE.match(texts[number]) is not None and names == ["type", "code", "retriable"]


def _names_error(text: str) -> bool:
    return _ERROR.search(text) is not None and not _TIME.search(text)


def _is_thrown(texts: Sequence[str], number: int) -> bool:
    """Whether a stack follows a line."""
    below = next((text for text in texts[number + 1 : number + 3] if text.strip()), "")
    return _THROWN.match(below) is not None or _COMMENTED.match(below) is not None
