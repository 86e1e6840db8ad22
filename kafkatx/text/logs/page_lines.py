"""Lines of a log as it wrote them, out of a page: pasting undone, broken lines joined, printed objects in one line.

Broken lines   A line is joined with the next one where the two together hold more of a text of Kafka's than each by
               itself, or a class, a frame or a client's bracket that neither has whole. A line that begins as lines of
               logs do (a time, a level, a frame) is never the rest of the one above.
Flat lines     An exception right behind the logger at the end of a broker's line stood below it: shippers of logs turn
               the end of a line into a blank.
Objects        JSON that was printed over many lines is one line again where all of it is there.
Places         A joined line has number and place of its first, lines that stood in one have the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kafkatx.terms.catalogue.templates import one_blank
from kafkatx.terms.events import LEVELS_OF_LOG4J
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line
from kafkatx.text.logs.contexts import CLIENTS
from kafkatx.text.logs.error_names import ANSWER, CLASS, NOT_WITHIN
from kafkatx.text.logs.fragments import TELLING, most_in, most_over
from kafkatx.text.logs.stamps import DATED, STAMP
from kafkatx.text.pages.likeness import begins_entry, begins_line, goes_on, is_fence
from kafkatx.text.printed.logged import cell_of, logged, sent_in

MOST_OBJECT_LINES = 400
"""Lines that one JSON object is printed over."""
MOST_WRAPS = 12
"""Lines that one line may have been broken into."""
LONGEST_JOINED = 4_096
NEAR_THE_END, FEWEST_BROKEN, MOST_OF_THEM = 8, 3, 0.6
"""A terminal breaks at one column: so many lines end there, and so large a share of those that end near it."""
FEWEST_OF_LOG = 3
"""Lines of a log to each that is none, from which on nobody has put signs before its lines."""
_ESCAPED = regex(
    r"\\[_\[\]*<>#-]|&(?:lt|gt|amp|quot|nbsp|#\d{1,5});|<br ?/?>|</\w|^\s*[`<]|^\s+(?:message|stack|reason|msg): ['`]"
    r"|^\"[\d\[].*\"[,;]?\s*$"
)
_COMMENTED = regex(r"\s*(?:\*|//+|#+|(?:> ?)+)\s+(?:at [\w.$<>/@-]{3,250}\(|Caused by: |\.\.\. \d{1,4} more)")
"""A line of a stack trace that somebody put into a comment."""
_ANSWER = regex(ANSWER)
_FIELD_BELOW = regex(
    r"\s+[\"']?(?P<name>broker|clientId|error|correlationId|size|timestamp|logger|groupId)[\"']?: "
    r"(?P<value>.{1,600}?),?\s*"
)
_CUT_FRAME = regex(r"\s*at [\w.$<>/@]{3,250}(?:\([^()]{0,120})?$")
_FRAME = regex(r"\s*at [\w.$<>/@]{3,250}\([^()]{0,120}\)")
_ROOTS = r"(?:org|com|io|net|java|javax|scala|akka|kafka|reactor|zio)\."
_ROOT = regex(_ROOTS)
_CUT_CLASS = regex(rf"{NOT_WITHIN}{_ROOTS}(?:[\w$]+\.)*[\w$]*$")
_CLASS = regex(CLASS)
_OPEN_END = regex(r"(?:Exception|Error|Throwable|Caused by|due to|Error Message):$|\bdue to$")
_OPEN_FRONT = regex(rf"\[?{DATED}:\d\d.{{0,250}}(?:\b(?:{LEVELS_OF_LOG4J})|[\]:-])$", re.DOTALL)
_CLIENT = regex(rf"\[(?:{CLIENTS})\b")
_WRITER = regex(r"[A-Za-z][\w.-]{3,120}(?: [\w.-]{1,120})?[\s|:]{1,6}")
_NAMED_FRONT = regex(r"[A-Za-z][\w.-]{0,60}[\s|:]{1,6}\S")
_IN_OBJECT = regex(r'\s+"(?:@timestamp|timestamp|time|level|message|logger_name|thread_name|stack_trace)"\s*:\s*"')
_OPEN_ERROR = regex(r"KafkaError\{[^{}]{0,1000}$")
_TIMED_HEAD = regex(rf"(?:{STAMP})(?: (?:[\w$]+\.){{1,20}}[\w$]+ [\w$<>]+)?")
"""A time, or the first of the two lines of java.util.logging."""
_LEVEL_FIRST = regex(r"(?:SEVERE|WARNING|INFO|CONFIG|FINE(?:R|ST)?): ")
_FLAT = regex(
    r"(?<=\S \()(?:[a-z]\w*\.){1,12}[A-Z][\w$]{2,79}(?::\d{1,5})?\) "
    r"(?=(?:[a-z]\w*\.){2,12}[A-Z]\w{2,79}(?:: |$))"
)
"""The logger at the end of a line, and an exception behind it."""
_TYPED = regex(
    r"\s{0,8}(?:>>> (?=(?:await|from|import|for|with|if|try|del|async|def)\b|[a-z_][\w.]{0,80}(?: ?= ?\S|\(|$))"
    r"|In \[\d{1,5}\]: )"
)
_OPEN_BRACKET = regex(rf"\[(?:{CLIENTS})(?: [^\[\]]{{0,300}})?$")


def page_lines(source: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines of a log that a page shows."""
    filled = [line for line in source if line.text.strip()]
    foreign = sum(not (begins_line(line.text) or goes_on(line.text)) for line in filled)
    whole = list(_unfolded(_objects(source)))
    undone = _without_writers(whole, list(_undone(whole, is_log=foreign * FEWEST_OF_LOG < len(filled))))
    return _joined(_objects(_answers(_without_indent(undone))))


def _unfolded(source: Iterable[Line]) -> Iterator[Line]:
    """Lines with what was printed below a broker's line, and pasted behind it, below it again."""
    for line in source:
        found = _FLAT.search(line.text) if ") " in line.text else None
        if found is None:
            yield line
            continue
        yield replace(line, text=line.text[: found.end() - 1])
        yield replace(line, text=line.text[found.end() :])


def _without_writers(source: list[Line], undone: list[Line]) -> list[Line]:
    """Lines without the name that a tool prints before every line, where it was taken off before some of them."""
    texts = {line.number: line.text for line in source}
    fronts = {
        texts[line.number][: -len(line.text)]
        for line in undone
        if line.text and line.text != texts[line.number] and texts[line.number].endswith(line.text)
    }
    names = tuple(front for front in fronts if _WRITER.fullmatch(front))
    return [_without_writer(line, names) for line in undone] if names else undone


def _without_writer(line: Line, names: tuple[str, ...]) -> Line:
    front = next((name for name in names if line.text.startswith(name)), "")
    return replace(line, text=line.text[len(front) :]) if front else line


def _without_indent(found: list[Line]) -> list[Line]:
    """Lines without the blanks that stand before all that begin an entry."""
    first = next((line.text for line in found if begins_entry(line.text.lstrip())), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return found
    return [replace(line, text=line.text.removeprefix(indent)) for line in found]


def _undone(source: Iterable[Line], is_log: bool) -> Iterator[Line]:
    """Lines without what pasting did to them; of a log only those that show escapes of Markdown or HTML."""
    for line in source:
        if is_fence(line.text) or _is_typed(line.text):
            yield replace(line, text="")
            continue
        if (cell := cell_of(line.text)) is not None or (sent := sent_in(line.text)):
            yield from (replace(line, text=text) for text in ([cell] if cell is not None else sent))
            continue
        is_own = is_log or begins_line(line.text)
        is_pasted = not is_own or _ESCAPED.search(line.text) or _COMMENTED.match(line.text)
        found = logged(line.text) if is_pasted else _without_name(line.text)
        if found == (line.text,):
            yield line
        else:
            yield from (replace(line, text=text) for text in found)


def _without_name(text: str) -> tuple[str]:
    """A line among those of a log without the name that somebody wrote before it, if it then begins as a log's does."""
    if begins_line(text) or goes_on(text) or not _NAMED_FRONT.match(text):
        return (text,)
    found = logged(text)
    return (found[0],) if len(found) == 1 and begins_line(found[0]) else (text,)


def _is_typed(text: str) -> bool:
    """Whether a line is what somebody typed at the prompt of Python: it ends what was printed above it."""
    found = _TYPED.match(text)
    return found is not None and not begins_line(text[found.end() :])


def _answers(source: Iterable[Line]) -> Iterator[Line]:
    """Lines with each answer in one of which a logger of KafkaJS printed the fields below it, the error among them."""
    head: Line | None = None
    for line in source:
        if head is not None and (field := _FIELD_BELOW.fullmatch(line.text)):
            head = replace(head, text=f"{head.text.rstrip()} {field['name']}: {field['value']}", end=line.end)
            continue
        if head is not None:
            yield head
        head = line if _ANSWER.search(line.text) else None
        if head is None:
            yield line
    if head is not None:
        yield head


def _objects(source: Iterable[Line]) -> Iterator[Line]:
    """Lines with every JSON object that is printed over several of them in one."""
    waiting: list[Line] = []
    for line in source:
        if not waiting and line.text.strip() != "{" and not _IN_OBJECT.match(line.text):
            yield line
            continue
        waiting.append(line)
        if line.text.rstrip().rstrip(",") == "}" or line.text.rstrip() == "}" or len(waiting) > MOST_OBJECT_LINES:
            text = "\n".join(one.text for one in waiting).strip().rstrip(",")
            text = text if text.startswith("{") else "{" + text
            if (whole := _one_line(text)) is not None:
                yield replace(waiting[0], text=whole, end=line.end)
                waiting = []
            elif len(waiting) > MOST_OBJECT_LINES:
                yield from waiting
                waiting = []
    yield from waiting


def _one_line(text: str) -> str | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return json.dumps(found) if isinstance(found, dict) else None


def _joined(source: Iterable[Line]) -> Iterator[Line]:
    """Lines with those that were broken in one."""
    lines = list(source)
    width = _width(lines)
    last: Line | None = None
    count, piece = 0, ""
    for line in lines:
        is_within = 0 < len(piece) == width and not (piece[-1].isspace() or line.text[:1].isspace())
        text = _together(last.text, line.text, is_within) if last is not None and count < MOST_WRAPS else None
        piece = line.text
        if last is not None and text is not None:
            last, count = replace(last, text=text, end=line.end), count + 1
            continue
        if last is not None:
            yield last
        last, count = line, 0
    if last is not None:
        yield last


def _width(lines: Sequence[Line]) -> int:
    """The column at which a terminal broke all longer lines, words or not; 0 where none did."""
    lengths = Counter(len(line.text) for line in lines)
    longest = max(lengths, default=0)
    near = sum(count for length, count in lengths.items() if length > longest - NEAR_THE_END)
    return longest if lengths[longest] >= max(FEWEST_BROKEN, MOST_OF_THEM * near) else 0


def _together(first: str, second: str, is_within: bool = False) -> str | None:
    """The line that two were broken from, None where they are two; `is_within`: a word may have been broken, too."""
    head, rest = first.rstrip(), second.strip()
    if not head or not rest or len(head) > LONGEST_JOINED or head[-1] in "{}":
        return None
    if _CUT_FRAME.match(head) and _FRAME.match(head + rest):
        return head + rest
    if _CUT_CLASS.search(head) and not _ROOT.match(rest) and (joined := _class_over(head, rest)):
        return joined
    if _TIMED_HEAD.fullmatch(head) and (_LEVEL_FIRST.match(rest) or _CLASS.match(rest)):
        return f"{head} {rest}"
    is_rest = _CLIENT.match(rest) is not None or not (second[0].isspace() or begins_line(second))
    if is_rest and _OPEN_FRONT.match(head) and not most_in(head):
        return f"{head} {rest}"
    if begins_line(second) and rest[0] != "(":
        return f"{head} {rest}" if head.endswith(("due to", "Caused by:", "due to:")) and _CLASS.match(rest) else None
    if _OPEN_BRACKET.search(head) and "]" in rest:
        return head + (" " if head[-1] == "," or " " not in head[head.rindex("[") :] else "") + rest
    if _OPEN_ERROR.search(head) and "}" in rest:
        return f"{head} {rest}"
    if _OPEN_END.search(head):
        return f"{head} {rest}"
    return _text_over(head, rest, is_within)


def _class_over(head: str, rest: str) -> str | None:
    """Two lines whose break stands in the name of a class."""
    joined = head + rest
    return joined if any(found.start() < len(head) < found.end() for found in _CLASS.finditer(joined)) else None


def _text_over(head: str, rest: str, is_within: bool) -> str | None:
    """Two lines that together hold more of a text than each by itself."""
    known, place = most_in(head), len(one_blank(head))
    known = known if known >= TELLING else max(known, most_in(rest))
    both = (head + rest, f"{head} {rest}") if is_within else (f"{head} {rest}", head + rest)
    ways = [(most_over(joined, place), joined) for joined in both]
    weight, joined = max(ways, key=lambda way: way[0])
    return joined if weight > known else None
