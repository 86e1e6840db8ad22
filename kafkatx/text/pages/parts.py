"""The parts of a text file, whatever its size.

Small texts are cut line by line. Of a large one the beginning and places all over it are looked at: where they show
nothing but lines of logs, it is a log, and only the literals that dumps begin with are searched in it; what surrounds
them is cut line by line. Any other large text is cut as a small one is. A page without a line of any tool that names
errors of Kafka is a part all the same: what people say of them (text/prose/named_errors.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from kafkatx.sources.files import OpenFile
from kafkatx.terms.regex import regex
from kafkatx.text.lines import HEAD, Line, encoding_of, lines
from kafkatx.text.logs.bare import tells
from kafkatx.text.logs.json_lines import read_record
from kafkatx.text.pages.cutting import cut, cut_file
from kafkatx.text.pages.growing import TOOLS
from kafkatx.text.pages.likeness import goes_on, is_log_line
from kafkatx.text.pages.part import PartKind, TextPart
from kafkatx.text.printed.pasted import LONGEST_PREFIX, as_printed
from kafkatx.text.printed.tool_lines import tool_lines
from kafkatx.text.prose.named_errors import errors_in, is_of_producers, names_something
from kafkatx.text.prose.statements import statements_on_page
from kafkatx.text.settings.files import is_settings
from kafkatx.text.whole_pages import page_of

LARGE = 4 << 20
"""Bytes above which a text is not read line by line when it is a log."""
ONE_LOG, MOST_FOREIGN = 50, 4
"""Lines from which on a text is one log; lines of it for each that is none."""
SAMPLES, SAMPLE = 16, 1 << 15
LITERALS = (b"Dumping ", b"ffset: ")
"""What dumps that people paste into logs hold. (Entries of txnindexes, consoles: in texts that are no logs.)"""
BLOCK = 1 << 22
BEFORE, BEHIND = 1 << 14, 1 << 16
"""Bytes around a literal that are cut line by line."""
MOST_SETTINGS = 1 << 20
"""Bytes of a file of settings."""
MOST_SETTING_LINES = 5_000
MOST_DOCUMENT = 1 << 20
"""Bytes of a file that is one JSON object."""
OF_SHIPPERS = frozenset(
    {
        "_source", "hits", "result", "results", "data", "logs", "events", "logEvents", "records", "rows", "entries",
        "tasks", "errorMessage",
    }
)  # fmt: skip
"""Keys under which shippers and searches of logs put what they found."""
OF_ANSWERS = frozenset(
    {"status", "statusCode", "error_code", "errorCode", "code", "stackTrace", "stack_trace", "trace"}
)
"""Keys beside the message in what a service answers to a call that failed."""
OF_WORDS = frozenset({"error", "err", "exception", "message", "msg", "detail", "details", "cause", "reason"})
OF_CLASSES = frozenset({"type", "class", "name", "kind"})
"""Keys of the words of an error in such an answer, and of its class beside them."""
MOST_NESTED, FEWEST_LISTED = 4, 3
"""Objects around such a key, and errors that make a list of them."""
SAMPLE_LINES = 100
OVERLAP = 1 << 14
"""Bytes of a line that are looked at around a literal."""
_LOGGED = regex(rb"[\[(<\"]?(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|INFO|DEBUG|WARN|ERROR|TRACE|FATAL)")


def parts(file: OpenFile) -> list[TextPart]:
    """Return what stands where in a text file; its parts do not overlap. Raises nothing for what the text holds."""
    if file.size == 0:
        return []
    if file.size <= MOST_SETTINGS and _is_settings(file):
        return [TextPart(PartKind.SETTINGS, 0, file.size, 1)]
    if file.size <= MOST_DOCUMENT and _is_document(file):
        is_told = _is_failed_answer(file) and names_something(file) and not _is_another_systems(file)
        kind = PartKind.WORDS if is_told else PartKind.PROSE
        return [TextPart(kind, 0, file.size, 1)]
    if file.size > LARGE and _is_log(file):
        return _cut_log(file)
    found = cut_file(file)
    if not any(part.kind in TOOLS for part in found) and _is_another_systems(file):
        return [TextPart(PartKind.PROSE, 0, file.size, 1)]
    if all(part.kind is PartKind.PROSE for part in found):
        return [TextPart(PartKind.WORDS, 0, file.size, 1)] if names_something(file) else found
    return [TextPart(PartKind.LOG, 0, file.size, 1)] if _is_one_log(file, found) else _with_words(file, found)


def _is_another_systems(file: OpenFile) -> bool:
    """Whether a page is about another system's transactions, and no error of Kafka's producers is in it."""
    page = page_of(file)
    if page is None or b"kafka" in page.content.lower():
        return False
    from kafkatx.text.products import is_of_another_system

    told = [line.text for line in lines(page)]
    return is_of_another_system("\n".join(told)) and not any(
        is_of_producers(name) for text in told for name in errors_in(text)
    )


def _with_words(file: OpenFile, found: list[TextPart]) -> list[TextPart]:
    """Parts of a page; where no log is among them that would carry what people say, its first prose does."""
    first = next((number for number, part in enumerate(found) if part.kind is PartKind.PROSE), -1)
    if first < 0 or any(part.kind is PartKind.LOG for part in found):
        return found
    if not (names_something(file) or statements_on_page(file)):
        return found
    return [*found[:first], replace(found[first], kind=PartKind.WORDS), *found[first + 1 :]]


def _is_one_log(file: OpenFile, found: list[TextPart]) -> bool:
    """Whether a text is one log with a few lines in it that are none: what is damaged does not make two of it."""
    if (
        not found
        or found[0].kind is not PartKind.LOG
        or {part.kind for part in found} != {PartKind.LOG, PartKind.PROSE}
    ):
        return False
    length = {PartKind.LOG: 0, PartKind.PROSE: 0}
    for part in found:
        length[part.kind] += _ends_of_lines(file, part.position, part.end)
    return length[PartKind.LOG] >= ONE_LOG and MOST_FOREIGN * length[PartKind.PROSE] <= length[PartKind.LOG]


def _is_settings(file: OpenFile) -> bool:
    """Whether a whole file is one of settings."""
    texts = [line.text for line in islice(lines(file), MOST_SETTING_LINES)]
    return is_settings(texts) and not any(as_printed(text) for text in texts[:SAMPLE_LINES])


def _is_listing(found: dict[str, Any]) -> bool:
    """Whether an object is what a tool lists of transactions; their reader is loaded for what may be one."""
    names = {name.replace("_", "").replace("-", "").lower() for name in found}
    if names.isdisjoint({"command", "producerid", "txnstartoffset"}):
        return False
    from kafkatx.text.printed.listed_objects import kind_of_objects

    return kind_of_objects(json.dumps(found)) is not None


def _is_document(file: OpenFile) -> bool:
    """Whether a whole file is one JSON object that is no record of a log: what it quotes is told, not logged.

    What a tool lists of transactions is none. What a service answers to a call that failed is one whose message is
    the error.
    """
    if file.read(0, 1) != b"{":
        return False
    try:
        found = json.loads(file.read(0, file.size))
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict) or OF_SHIPPERS & found.keys() or _is_listing(found):
        return False
    record = read_record(json.dumps(found))
    return record is None or not (record.is_logged or (OF_ANSWERS & found.keys() and tells(record.message)))


def _is_failed_answer(file: OpenFile) -> bool:
    """Whether a document is what somebody got for a call: the keys of errors hold one, and no table lists them."""
    told = set(_errors_under_keys(json.loads(file.read(0, file.size))))
    return len(told) in range(1, FEWEST_LISTED)


def _errors_under_keys(value: Any, depth: int = MOST_NESTED) -> Iterator[str]:
    """Errors that an object names, under keys of words, or of a class beside words; as deep as answers are."""
    if not isinstance(value, dict) or not depth:
        return
    asked = OF_WORDS | OF_CLASSES if OF_WORDS & value.keys() else frozenset()
    for key, one in value.items():
        if isinstance(one, str) and key in asked:
            yield from errors_in(one)
        else:
            yield from _errors_under_keys(one, depth - 1)


def _is_log(file: OpenFile) -> bool:
    """Whether a large text shows nothing but lines of logs wherever it is looked at."""
    if encoding_of(file.read(0, HEAD)).unit > 1:
        return False
    filled = fitting = 0
    for number in range(SAMPLES):
        at = number * (file.size - SAMPLE) // (SAMPLES - 1)
        texts = [line.text for line in lines(file, at, at + SAMPLE)][int(at > 0) :]
        for text in filter(str.strip, texts[:SAMPLE_LINES]):
            if as_printed(text) is not None:
                return False
            filled += 1
            fitting += is_log_line(text) or goes_on(text)
    return 10 * fitting >= 7 * filled > 0


def _cut_log(file: OpenFile) -> list[TextPart]:
    """Cut a log in which dumps may stand: they are parts, all the rest of it is log."""
    found: list[TextPart] = []
    at, number = 0, 1
    for part in cut(tool_lines(_surroundings(file))):
        if part.kind in TOOLS:
            if part.position > at:
                found.append(TextPart(PartKind.LOG, at, part.position, number))
            found.append(part)
            at, number = part.end, part.line + _ends_of_lines(file, part.position, part.end)
    if at < file.size:
        found.append(TextPart(PartKind.LOG, at, file.size, number))
    return found


def _surroundings(file: OpenFile) -> Iterator[Line]:
    """The lines around everything that looks like the beginning of a dump."""
    at, number = 0, 1
    for begin, end in _regions(file):
        number += _ends_of_lines(file, at, begin)
        yield from lines(file, begin, end, number)
        number += _ends_of_lines(file, begin, end)
        at = end


def _regions(file: OpenFile) -> Iterator[tuple[int, int]]:
    """Stretches of whole lines around literals, in order and apart from each other."""
    region: tuple[int, int] | None = None
    for hit in _hits(file):
        begin, end = _line_start(file, max(0, hit - BEFORE)), min(file.size, hit + BEHIND)
        if region is not None and begin > region[1]:
            yield region[0], _line_start(file, region[1])
            region = None
        region = (begin if region is None else region[0], end)
    if region is not None:
        yield region[0], _line_start(file, region[1])


def _hits(file: OpenFile) -> Iterator[int]:
    """Positions of literals in lines that a tool printed; close to one another only one of them."""
    buffer, passed = bytearray(BLOCK + OVERLAP), 0
    for at in range(0, file.size, BLOCK):
        begin = max(0, at - OVERLAP)
        size = file.read_into(memoryview(buffer)[: min(file.size, at + BLOCK) - begin], begin)
        for place in sorted({hit for literal in LITERALS for hit in _finds(buffer, size, literal)}):
            if begin + place >= passed and _is_printed(buffer, size, place):
                yield begin + place
                passed = begin + place + BEHIND // 4


def _finds(buffer: bytearray, size: int, literal: bytes) -> Iterator[int]:
    at = buffer.find(literal, 0, size)
    while at >= 0:
        yield at
        at = buffer.find(literal, at + 1, size)


def _is_printed(buffer: bytearray, size: int, place: int) -> bool:
    """Whether the line around a literal is one that a tool printed."""
    start = buffer.rfind(b"\n", max(0, place - LONGEST_PREFIX), place) + 1
    if (start == 0 and place > LONGEST_PREFIX) or _LOGGED.match(buffer, start):
        return False
    end = buffer.find(b"\n", place, min(size, place + OVERLAP))
    line = buffer[start : end if end >= 0 else min(size, place + OVERLAP)]
    return as_printed(line.decode("utf-8", "replace")) is not None


def _line_start(file: OpenFile, position: int) -> int:
    """Beginning of the line that byte `position` stands in, looked for within a block; the position itself else."""
    begin = max(0, position - OVERLAP)
    found = file.read(begin, position - begin).rfind(b"\n")
    return begin + found + 1 if found >= 0 or begin == 0 else position


def _ends_of_lines(file: OpenFile, begin: int, end: int) -> int:
    return sum(file.read(at, min(BLOCK, end - at)).count(b"\n") for at in range(begin, end, BLOCK))
