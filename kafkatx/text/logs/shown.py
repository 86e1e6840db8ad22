"""Lines of a page that show an error of a client other than Java's, with nothing of a log before it.

Rule    The words, the class or the constant of an error (spelled.py, exceptions.py) stand behind a label at most: the
        beginning of the line, what ends with a colon or a bracket, an opening quotation mark. Behind them is the end of
        the line, a mark, or what a printed object goes on with. A sentence that goes on, a line of source code, a list
        of errors with their meanings show nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.terms.regex import regex
from kafkatx.text.logs.around import is_front, is_quoted
from kafkatx.text.logs.error_names import CONFLUENT, EPOCH_BUMP, KAFKAJS, TYPE_ARGUMENTS
from kafkatx.text.logs.exceptions import atom_in
from kafkatx.text.logs.source_code import BEGINNINGS, ENDINGS, THROWS
from kafkatx.text.logs.spelled import all_spelled_in

LONGEST = 4_096
"""Characters of a line that are looked at."""
MOST_WORDS = 24
"""Words of a sentence that may stand before an error."""
_SIGNS = (
    "Local: ", "Broker: ", "kafka server: ", "kafka: ", "KafkaError", "KafkaJS", "[Error ", "aiokafka", "(_", "code=",
    "code: ", "transaction manager: ", "transaction", "KafkaException", "TXN", "_TIMED_OUT", "timed out", "Producer ",
    "producer ", "valid in state ", "_", "cimpl.", "[thrd:", "RespErr", "failed with a",
    "outstanding messages", "API call", "failed delivery", "apiId", "Error code = ", "record", "broker ",
    "retry buffer", "panic: ", "` must be set",
    "` requires `", "Rdkafka::", "error, ", " :", "failed ",
)  # fmt: skip
"""One of these stands in every line that shows an error: quick to look for."""
_MATCHED = ("->", "=>", "<-")
"""Signs of a program that asks which error it was."""
_SHAPES = regex(
    rf"{CONFLUENT}[^}}]{{1,4000}}\}}?|KafkaError \([A-Z][\w /]{{2,40}} error: "
    rf"|\[Error \d{{1,4}}\] [A-Z]\w{{2,79}}|(?<![\w.$]){KAFKAJS}(?=: |:?$|:? ?\{{| \[KafkaJS)"
    r"|(?<![\w.$])(?:(?:aio)?kafka\.errors|cimpl|confluent_kafka(?:\.cimpl)?|Confluent\.Kafka)\.[A-Z]\w{2,79}"
    rf"(?:{TYPE_ARGUMENTS})?(?=: |$)"
    r"|(?<![\w.])[A-Z]+_[A-Z_]{3,50}: (?=[A-Z][a-z])"
    rf"|\((?:_[A-Z][A-Z_]{{3,60}})(?:{EPOCH_BUMP})?\)(?=\s*$)"
    r"|\bcode[=:] ?_[A-Z_]{3,40}\b|\[thrd:[^\]]{1,200}\]: |\bRD_KAFKA_RESP_ERR__?[A-Z]\w{2,60}"
    r"|\bapiId: '[A-Z]+_[A-Z_]{3,50}'"
    r"|(?:\bKafkaResponseError )?\bRdKafkaRespErr[A-Z]\w{2,60}"
    r"|#?<?Rdkafka::(?:\w{2,40}::)?\w{0,40}Error: .{1,300}? \([a-z_]{3,50}\)>?"
)
_LABEL = regex(
    r"(?:(?:^|[:=>|\])\"'`}{,;\[(-]|->|\b(?:with|is|was|reason|error|err|exception\.?|got|due to|by|Uncaught))\s*"
    r"[\"'`(\[{<#]*(?:\d+ )?|^\W{0,3}(?:error|failed|unable|could not)\b(?: [\w'-]{1,30}){0,6} )$",
    re.IGNORECASE,
)
"""What may stand before an error; `console.error('Error sending', error)` puts no colon between."""
_REST = regex(
    r"[\"'`)\]}\s]*(?:$|[.,;:|>!<({\\-]|\[-?\d{1,4}\]|at \S|in (?:/|[A-Z]:)|\w{1,40}=|[\w/]{1,120}\.swift:\d)",
    re.DOTALL,
)
_CODE = regex(
    rf"^\s*(?:{BEGINNINGS}|#(?!\d|<)|--|from \w+ import|except |catch |case |elif |else |assert|require\.|expect\("
    rf"|self\.|await )|{ENDINGS}|{THROWS}"
    r"|\blog(?:ger|ging)?\.\w+\(|[pP]rintf?(?:ln)?!?\(|console\.\w+\(|=> ?\{"
)
"""A line of source code."""
_LISTED = regex(
    r"^\s*(?:[-*\u2022] |\d+[.)] )?[`*]{0,3}(?:[A-Z]+_[A-Z_]+|_[A-Z_]{4,}|[A-Z]\w+(?:Error|Exception))[`*]{1,3}"
    r"\s*[-:\u2013=]"
)
"""A list of errors that says what each means."""


def shows_error(text: str) -> bool:
    """Whether a line shows an error, and does not only talk about one."""
    line = text[:LONGEST].strip()
    if not any(sign in line for sign in _SIGNS) or _CODE.search(line) or _is_listed(line):
        return False
    spans = [(found.start(), found.end()) for found in _SHAPES.finditer(line)]
    spans += [(found.start, found.end) for found in all_spelled_in(line)]
    return _shows_atom(line) or any(_is_alone(line, begin, end) for begin, end in spans)


def _is_listed(line: str) -> bool:
    """Whether a line is one of a list of errors that says what each means, which has marks around names."""
    return ("`" in line or "*" in line) and _LISTED.match(line) is not None


def _shows_atom(line: str) -> bool:
    """Whether a line shows an error as an atom of Erlang's, and matches none as programs do."""
    atom = None if any(sign in line for sign in _MATCHED) else atom_in(line)
    return atom is not None and ("{" in atom[0] or line.startswith("** (") or is_front(line[: atom.start()]))


def shapes_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the names and constants of errors stand in a text, but for those of a thread."""
    yield from ((found.start(), found.end()) for found in _SHAPES.finditer(text) if not found[0].startswith("[thrd"))


def _is_alone(line: str, begin: int, end: int) -> bool:
    """Whether what is around an error is a label and a rest."""
    before = line[:begin]
    if is_front(before) or is_quoted(before, line[end:]):
        return True
    is_label = _LABEL.search(before) is not None and len(before.split()) <= MOST_WORDS
    return is_label and (_REST.match(line, end) is not None or line[end - 2 : end] in (": ", " ("))
