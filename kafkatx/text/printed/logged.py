r"""Undoes what pasting does to the lines of logs: quotes, HTML, escapes, chat, JSON of a log shipper, foreign prefixes.

Each layer is taken off where its own signs show it; a line without such signs comes back as it is. One line of a page
may hold several of a log (`<br>`, `\n\tat ` in a string of JSON).
"""

from __future__ import annotations

import json
import re

from kafkatx.terms.regex import regex
from kafkatx.text.printed.letters import LETTERS, without_entities

LONGEST_LINE = 1 << 16
"""Characters of a line that are looked at; a longer one stays as it is."""
MOST_LAYERS = 8

_SIGNS = regex(r"[`\\<>&|*\x1b]|[^\x00-\x7f]|^\s*(?:[-+#!\[({\"'#/~$%]|\d{1,3}[.):]|\w{2,20}:)|\d\d:\d\d:\d\d")
"""A line without any of these was not changed by pasting."""
_LETTERS = str.maketrans(
    {
        **LETTERS,
        **dict.fromkeys("\u300c\u300d\u300e\u300f\u300a\u300b", '"'),
        **dict(zip("\uff1a\uff0c\uff08\uff09\u3010\u3011\uff1b\uff01\uff1f", ":,()[];!?", strict=True)),
        **dict.fromkeys("\u3001\u3002", "."),
    }
)
_TAG = regex(
    r"</?(?:p|pre|code|span|div|b|i|u|em|strong|tt|td|tr|th|table|tbody|blockquote|li|ul|ol|font|a|mark|samp|kbd|h\d)"
    r"(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_BREAK = regex(r"<br ?/?>|</?(?:p|pre|div|li|tr|blockquote)(?:\s[^<>]{0,300})?>", re.IGNORECASE)
_ENTITY = regex(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
_ESCAPED = regex(r"\\([_*\[\]()#+\-.!|<>~`{}$&@:=,])")
_EMPHASIS = regex(r"(?<![\w*])\*\*(?=\S)|(?<=\S)\*\*(?![\w*])")
_LINK = regex(r"\[([^\[\]|\n]{1,300})\|[a-z]{3,6}://[^\[\]\s]{1,600}\]")
"""What Jira makes of an address: its text is the address, too."""
_FRONT = regex(
    r"(?:>+ ?|[*\u2022\u00b7\u25aa] +|[-+] (?=\S)|#+ |// ?|/\*+ ?|\d{1,3}[.)] +|\|(?!\|) ?|`{1,3}|~{3}|\$ (?=\S)|"
    r"(?:!|\[(?i:error|warn|warning|info)\]) +"
    r"(?=(?:at [\w.$/<>]{3,250}\(|\.\.\. \d|Caused by: |(?:[a-z_]\w*\.){2,9}[A-Z])))"
)
_FRAME = regex(r"[\s>|*]*at [\w.$/<>@-]{3,250}\(")
_QUOTED = regex(r"""([\"'])(?P<text>.{10,})\1[,.;]?\s*$""", re.DOTALL)
_SPAN = regex(
    r"(?i:(?!.{0,30}\b(?:examples?|expect\w*|means|docs?|javadoc|documentation)\b))[\w .-]{1,30}: ?"
    r"`(?P<text>[^`]{40,})`[.,;]?\s*$"
)
"""A label that is none of talk, and a line in a code span behind it."""
_CHAT = regex(
    r"(?:\[?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?\]?,? {1,3}[-\u2013]? ?)"
    r"(?:[*_<@]{0,3})[^\W\d][\w .'-]{0,30}(?:[*_>]{0,3}): ?(?=\S)"
)
_FIELD = regex(
    r"""\s*["']?(?:[\w@-]+\.)*(?:message|msg|log|stack_?trace|exception(?:Message)?|error|thrown|throwable|textPayload|"""
    r"""body|trace|cause|reason|errorMessage|detail|full_message|short_message)["']?\s*:\s*"(?P<text>.*?)(?<!\\)"?\s*[},\]]*\s*$""",
    re.IGNORECASE | re.DOTALL,
)
_OF_NODE = regex(r"\s{1,8}(?:message|stack|reason|msg): (['\"`])(?P<text>.{10,})\1,?\s*$")
"""A field of an object as Node prints it over several lines."""
_STAMP = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d"
_SENT = regex(r'\{.{0,1000}?"(?P<key>logEvents|events|logs)": ?\[\{.*', re.DOTALL)
"""Lines of a log that a shipper sends in one object (CloudWatch by Firehose and by its command, Aiven)."""
LONGEST_CELLS = 1_000
"""Characters in which the cell of a line must begin."""
_ROW = regex(
    rf'(?:(?:"[^"]{{0,120}}"|[^",\s][^",]{{0,120}})?,){{1,6}}"(?P<text>\[?{_STAMP}(?:[^"]|""){{10,}})"(?:,.{{0,400}})?\s*'
)
"""Cells of an export (CloudWatch, Splunk), one of which is a whole line as the broker wrote it."""
_FOREIGN = regex(
    r"(?P<prefix>[^\s\[\"'{(][^\"'{]{0,80}?[\s|\]:>]{1,6})" + rf"(?=\[?{_STAMP}[\d.,:Z+-]{{0,16}}\]? +[\[A-Z(])"
)
_WRITER = regex(
    r"(?P<prefix>[A-Za-z][\w.-]{0,60}[\s|:]{1,6})"
    r"(?=\d\d:\d\d:\d\d[.,]\d{3} +[\[A-Z(]|(?:timestamp|time|ts)=\S+ level=)"
)
_NAMED = regex(r"[\w./-]{1,250}\.(?:log|out|txt|json)(?:[.-]\d{1,10})?[:-](?:\d{1,9}[:-])?|[\w.-]{1,120} {1,40}\| ")
"""Prefixes that tell the writers of a log apart: text/logs/wrappers.py reads them."""
_SENTENCE = regex(r"[a-z]+ [a-z]+ [a-z]+ ")


def logged(text: str) -> tuple[str, ...]:
    """Return the lines of a log that a line of a page holds, most often the line itself."""
    if len(text) > LONGEST_LINE or not _SIGNS.search(text):
        return (text,)
    plain = text if text.isascii() else text.translate(_LETTERS)
    found: list[str] = []
    for piece in _elements(plain) or _lines_of_html(plain):
        bare = _unescaped(_without_front(piece))
        found += _field(bare) or (_without_foreign(bare),)
    return tuple(found) or (text,)


def sent_in(text: str) -> list[str]:
    """Return the records that an object in one line holds, each as a line; nothing for any other text."""
    found = _SENT.fullmatch(text.strip()) if text[:1] == "{" else None
    if found is None:
        return []
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [json.dumps(one, ensure_ascii=False) for one in sent.get(found["key"], ()) if isinstance(one, dict)]


def cell_of(text: str) -> str | None:
    """Return the line of a log that a row of a spreadsheet holds in a cell of its own, with time and all; None else."""
    found = _ROW.fullmatch(text) if ',"' in text[:LONGEST_CELLS] else None
    return found["text"].replace('""', '"') if found is not None else None


def _elements(text: str) -> list[str]:
    """The objects of an array that a line is, each as a line."""
    if not text.lstrip().startswith("[{"):
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [json.dumps(one, ensure_ascii=False) for one in found if isinstance(one, dict)]


def _lines_of_html(text: str) -> list[str]:
    """The lines of a piece of HTML, without tags and entities; any other text as it is."""
    if "<" in text and (_BREAK.search(text) or _TAG.search(text)):
        pieces = [_TAG.sub("", piece) for piece in _BREAK.split(text)]
        text = "\n".join(piece for piece in pieces if piece.strip())
    if "&" in text and _ENTITY.search(text):
        text = without_entities(text).translate(_LETTERS)
    return text.split("\n") if "\n" in text else [text]


def _without_front(text: str) -> str:
    """A line without quote marks, list marks, comment signs and the like; what closes them again goes as well."""
    for _ in range(MOST_LAYERS):
        bare = text.lstrip()
        front = _FRONT.match(bare) or _CHAT.match(bare)
        if front is None:
            break
        sign, text = front[0].strip(), bare[front.end() :]
        if sign.startswith(("`", "|", "~")):
            closed = text.rstrip(" .,;")
            text = (closed if closed.endswith(sign[0]) else text.rstrip()).rstrip(sign[0]).rstrip()
        if sign.startswith(">") and _FRAME.match(text):
            break
    if quoted := _QUOTED.match(text.strip()) or _SPAN.match(text):
        text = quoted["text"].replace('""', '"') if quoted[0].startswith('"') else quoted["text"]
    return text.rstrip("`") if text.endswith("`") and text.count("`") % 2 else text


def _unescaped(text: str) -> str:
    """A line without the escapes of Markdown, marks of emphasis and the targets of Jira's links."""
    text = _LINK.sub(r"\1", text) if "://" in text and "|" in text else text
    if "\\" in text and _ESCAPED.search(text) and not text.lstrip().startswith(('"', "{")):
        text = _ESCAPED.sub(r"\1", text)
    return _EMPHASIS.sub("", text) if "**" in text else text


def _field(text: str) -> tuple[str, ...]:
    """The lines in a field of an object that was printed over several lines, or cut."""
    if of_node := _OF_NODE.match(text):
        return (of_node["text"],)
    found = _FIELD.match(text)
    if found is None:
        return ()
    value = found["text"]
    try:
        value = json.loads(f'"{value}"')
    except ValueError:
        value = value.replace("\\r", "").replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    return tuple(line for line in value.split("\n") if line.strip())


def _without_foreign(text: str) -> str:
    """A line without what another tool printed before its time."""
    found = _FOREIGN.match(text) or _WRITER.match(text)
    is_kept = found is None or _SENTENCE.search(found["prefix"]) or _NAMED.fullmatch(found["prefix"])
    return text if found is None or is_kept else text[found.end() :]
