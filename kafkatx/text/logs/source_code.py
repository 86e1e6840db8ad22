"""Stretches of source code in a page: a message there is what a program may print, not what one printed.

Rule    A line is code if it stands among lines of code, and is itself what holds a message there: a literal in
        quotation marks, a comment, an expression. A block of documentation is code by its own signs. An exception at
        the beginning of a line is output, even right below a program. A line with a blank that no value has filled, or
        that closes a call behind a literal, is code by itself.
What pasting puts before lines (quotation, signs of a diff, numbers, the path that grep prints) is looked through.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafkatx.terms.regex import regex
from kafkatx.text.printed.letters import without_entities
from kafkatx.text.remembered import remembered

BEGINNINGS = r"//|/\*|\* |import |const |let |var |func |fn |def |class |throw |raise |return |if |\}|@|<"
"""How a line of source code begins: no line of a log does."""
ENDINGS = r"\) ?\{\s*$|;\s*$"
"""How one ends."""
THROWS = r"\b(?:new|throw|raise) \w+\("
"""An exception that is made."""
NEAR = 4
"""Lines before and behind a line that tell whether it stands in code, empty ones not counted."""
FEWEST = 2
"""Lines of code among them."""
MOST_DOCUMENTED = 40
"""Lines of a block of documentation to each side of one."""
MOST_BLANK = 2
"""Empty lines in a row that code may have."""
_FRONT = regex(
    r"(?:[\w./-]{3,300}\.[a-z]{1,8}[:-]\d{1,6}[:-]|\s*>?\s*\d{1,6}(?: ?[|:]|\t| {1,2}(?=\S| {2}))|(?:> ?)+"
    r"|[+-](?=\s|\w|$|[\"'/*}]))"
)
_TAG = regex(r"</?\w[^<>]{0,300}>")
_KEYWORD = (
    r"(?:public|private|protected|internal|static|final|override|sealed|async|export|default|abstract|virtual"
    r"|inline|unsafe|pub)\s+\w"
    r"|(?:def|func|fn|class|interface|struct|enum|trait|object|module|namespace|impl|typedef"
    r"|record)\s+\w.*[({:]\s*\w*$"
    r"|(?:func|fn|def|class)\s+\(?\w+.*\)?"
    r"|(?:const|let|var|val|final)\s+(?:\w+|\{.*\}|\(.*\))(?:\s*:\s*[\w<>\[\].]+)?\s*(?:=|$|;)"
    r"|(?:if|while|for|switch|catch|elif|else if|unless|match|with|except|using|foreach)\b.*(?:[{:(]|\)|&&|\|\|"
    r"|->)\s*$"
    r"|(?:else|try|finally|do|begin|ensure|rescue)\s*[{:]?\s*$|\}\s*(?:else|catch|finally|while)\b"
    r"|(?:return|throw|raise|yield|await|assert|panic|defer|go|new|delete|goto)\b(?:\s+\S+)?\s*[\w.]*[(;]"
    r"|(?:return|raise|yield|break|continue|pass|end)\s*[\w.]*;?$"
    r"|(?:import|package|use|using|require|include)\s+[\w.\"'{<*:]+.*;?$|from\s+[\w.]+\s+import\b"
    r"|case\s+[\w.\"'(].*(?::|=>|\{)|default:\s*$|#(?:include|define|if|ifdef|ifndef|endif|else|undef|pragma|\[)"
    r"|@[A-Z]\w+(?:\(.*)?$|@\w+\(.*\)$|(?:it|test|describe|expect|beforeEach|afterEach)\(|assert\w*[\s.(!]"
    r"|self\.\w|this\.\w"
    r"|\*?\s*@(?:param|return|throws|see|deprecated|since|locality|remark|sa|brief)\b|\.\w+\("
)
_STRONG = regex(
    rf"\s*(?:{_KEYWORD})"
    r"|.*(?:\)\s*(?:->|=>|throws [\w, .]+)?\s*\{|=>\s*[{(]|\)\s*;|\w\s*;|['\"]\s*;|[\])}]\s*;|\w\(|\(\s*|&&|\|\|"
    r"|\\|\+ ?=.*|:=.*|\{@(?:link|code).*)$"
    r"|\s*[\w.\[\]>*-]{1,80}\s*(?::=|=|\+=|<-|\|=)\s*[\w.&*]{1,80}\("
    r"|\s*[\w.:>-]{2,80}\(.*\)?[,;]?$|\s*_?[A-Z][A-Z_]+(?:\s*=\s*-?\d+)?,$|\s*(?:[\w.:]+::)?[A-Za-z]*[A-Z]+_\w+,$"
    r"|\s*\w+\s*[:=]\s*\w+\(|\s*\w+\s+\w+\s*=\s*.*;|\s*\w+ \w+ = [\w.]+$|\s*\w+ = (?:-?\d+|True|False|None"
    r"|[\"'].*[\"']),?$"
    r"|\s*[\w:.]{2,80} => [\"'].*|.*\w\) =>$|\s*(?:case )?[\w.@(]+ \|$"
    r"|\s*\w+=[^\s,;]+,$|\s*[A-Za-z]\w*:\s+(?:\[\]\w|-?\d+,$|\w+\{)"
    r"|\s*[A-Z][a-z]+(?:[A-Z][a-z]+)+,$|\s*\{-?\d{1,4}, ?:\w+\},?$|\s*\w+ = [\[({]\s*$"
    r"|\s*(?:test|describe|context|setup|it|for|if|unless|case|while|with|try|quote|defp?|defmodule)\b.*\sdo"
    r"(?: \|.*\|)?$"
)
_COMMENT = regex(r"\s*(?:/\*|\*/|\*(?:\s|$)|//|#(?:\s|:)|--\s|;;|\"\"\"|'''|<!--)|.*\*/\s*$|.{1,200}\s//\s")
_DOCUMENTED = regex(r"\s*(?:\*(?!\*)|/\*\*)")
_DOCUMENTING = regex(r"\s*(?:/\*\*(?:\s|$)|\*/\s*$|\*\s*@[A-Za-z]{3,20}\b)")
"""A line of a block of documentation, and one that shows that it is none of a list."""
_CLOSING = regex(r"\s*[\])}]+[;,]?\s*$")
_LITERAL = regex(
    r"\s*[frbu]?[\"'`].*[\"'`]?\s*[+\\,;:)\]}]*$|.*[\"'`][^\"'`]{3,}[\"'`]\s*(?:\}|\)|,|;|:|\]|\+"
    r"|\\|=>)*\s*\S{0,20}$|.*\w\([frbuL]?[\"'`]"
)
_DECLARED = regex(
    r"\s*(?:pub|public|private|protected|static|export)\s+(?:const|static|final)\s+\w.*[=(,;]\s*$"
    r"|.*\w\s=\snew \w+\(.*\);$|\s*\w+ \w+ = \w+\(-?\d+\)$"
)
"""A constant, or an object that is made, whatever stands around it."""
_EXPRESSION = regex(r".*(?:[,(){;\\:]|\s\||\|\||&&|==.*)\s*$|.*\w\(.*\)|\s*[\w:]+\s*(?:=|:=)\s")
_UNFILLED = regex(
    r"%(?:[-+]?\d{0,3}\.?\*?(?:l{0,2}[dius]|zu|[svqxT]|\+v))(?![\w%])|%\{\w+\}"
    r"|[\"'`].*[$#]\{\w[^}]{0,80}\}.*[\"'`]|\"\s?PRI[diux]\d\d"
)
_FORMAT = regex(r"[\"'`].*%(?:l{0,2}[diusv]|zu)(?![\w%])")
_UNFILLED_LITERAL = regex(
    r"[\"'`].*(?<![\w=])\{\w{0,30}(?::[^}]{0,8}|![rs])?\}.*[\"'`]?|.*(?<![\w=])\{\}.*[\"'`][,)+;]"
)
_CLOSED_CALL = regex(r".*[\"'`]\s*(?:\)+[,;]|\)\)+|\)\s*\{|;)\s*$|.*[\"'`]\s\+\s*(?:\w|$)")
_ENTRY = regex(r"\s*[A-Z][A-Za-z]{2,60} ?= ?-?\d{1,4},\s*$")
"""An entry of an enumeration."""
_DESCRIBED = regex(
    r"\s*(?:description|doc|help|title|signal|symptom|solution|example|question)\s*[=:]\s*[\"'(`]"
    r"|\s*#!?\[\w+\([\"']"
    r"|\s*(?:case )?(?:(?-i:[A-Z])\w*(?:(?:::|\.)\w+)*|\w+::\w+) ?[=-]> ?[\"']|\s*when [\"'].{1,200}[\"'] then [\"']",
    re.IGNORECASE,
)
"""What a table in a program, an attribute of Rust or an arm of a choice says of an error."""
_ELEMENT = regex(r"\s*['`][^'`]{0,600}['`],\s*$")
"""An element of an array in JavaScript or Python, one a line; JSON, which logs are kept in, has other marks."""
_OPEN_CALL = regex(
    r".*[\w\]]\(\s*$|\s*(?:(?:public|private|protected|internal|static|final|const|readonly|let|var|val|export|String"
    r"|string|char|auto)\b[\w<>&*: ]{0,80} )?\w+ ?[=:]\s*\(?\s*$"
)
_CLOSED = regex(r"\s*\)+[;,)]*")
_OUTPUT = regex(
    r"(?:[a-z_$][\w$]*\.){1,20}[A-Z]\w{2,90}(?:Exception|Error)\b(?::|\s*$)|(?:Caused by|Traceback"
    r"|Exception in thread|panic:|%[0-7]\|)"
    r"|[A-Z]\w{2,80}(?:Exception|Error)(?:: | \[)"
    r"|(?:\S{1,120} ){4,60}\((?:[A-Z]\w{0,60}::){1,6}\w{0,60}(?:Exception|Error)\)\s*$"
)
"""What programs print when they fail: no line of code begins like this."""
_FRAME = regex(r"\s*File \".{1,300}\", line \d|\s*at [\w$.<>]+\(|^goroutine \d|\s*at \S+:\d+")
_FRAME_WORDS = ("File ", "at", "goroutine ")
_SAME = regex(r"\s*(?:`{3,}|~{3,}|\{code)")


def is_of_code(texts: Sequence[str], number: int) -> bool:
    """Whether a line holds what a program may print, not what one has printed."""
    text = unfronted(texts[number])
    if not text.strip() or _OUTPUT.match(text.lstrip()) or _is_in_trace(texts, number):
        return False
    if _is_code_alone(text) or _is_argument(texts, number) or _is_documentation(texts, number):
        return True
    if _is_element(texts, number):
        return True
    is_documented = number > 0 and texts[number - 1].strip() == "*/" and _is_strong(text)
    return is_documented or (_may_hold(text) and _stands_in_code(texts, number))


@remembered
def _may_hold(text: str) -> bool:
    """Whether a line of code may hold a message."""
    return any(shape.match(text) for shape in (_COMMENT, _LITERAL, _EXPRESSION, _STRONG))


@remembered
def unfronted(text: str) -> str:
    """A line without what pasting put before it."""
    for _ in range(2):
        found = _FRONT.match(text)
        if found is None:
            break
        text = text[found.end() :]
    if "</" in text:
        text = _TAG.sub("", text)
    return without_entities(text)


def _is_code_alone(text: str) -> bool:
    """Whether a line is code whatever stands around it."""
    may_be_unfilled = any(sign in text for sign in ("%", "{", "PRI"))
    if may_be_unfilled and (_UNFILLED.search(text) or _UNFILLED_LITERAL.search(text)):
        return True
    if _ENTRY.match(text) or _is_declared(text):
        return True
    is_quoting = any(sign in text for sign in "\"'`")
    return (is_quoting and _CLOSED_CALL.match(text) is not None) or _DESCRIBED.match(text) is not None


def _is_declared(text: str) -> bool:
    return any(sign in text for sign in (" = ", "const ", "static ", "final ")) and _DECLARED.match(text) is not None


def _is_element(texts: Sequence[str], number: int) -> bool:
    """Whether a line is an element of an array of strings in a program: those beside it are as well, and no frames."""
    near = [unfronted(texts[at]) for at in (number - 1, number + 1) if 0 <= at < len(texts)]
    is_array = _ELEMENT.match(unfronted(texts[number])) is not None and any(map(_ELEMENT.match, near))
    return is_array and not any(text.lstrip(" '`").startswith("at ") for text in near)


def is_literal(texts: Sequence[str], number: int) -> bool:
    """Whether a line is a string of a program: it is given to a call, to a variable, or joined with the next one."""
    text = unfronted(texts[number])
    is_joined = number + 1 < len(texts) and unfronted(texts[number + 1]).lstrip()[:2] in ("+ ", '+"')
    is_string = text.strip()[:1] in "\"'`" and (is_joined or _is_argument(texts, number) or _is_element(texts, number))
    return is_string or (text.lstrip()[:2] in ("+ ", '+"') and _CLOSED_CALL.match(text) is not None)


def _is_documentation(texts: Sequence[str], number: int) -> bool:
    """Whether a line stands in a block of documentation; what was thrown there has frames (text/logs/talk.py)."""
    if _DOCUMENTED.match(texts[number]) is None:
        return False
    first, last = number, number
    while first > 0 and number - first < MOST_DOCUMENTED and _DOCUMENTED.match(texts[first - 1]):
        first -= 1
    while last + 1 < len(texts) and last - number < MOST_DOCUMENTED and _DOCUMENTED.match(texts[last + 1]):
        last += 1
    return any(_DOCUMENTING.match(text) for text in texts[first : last + 1])


def _is_argument(texts: Sequence[str], number: int) -> bool:
    """Whether a line is a literal by itself that the line above asks for, or the line below closes the call of."""
    if unfronted(texts[number]).strip()[:1] not in "\"'`":
        return False
    above = unfronted(texts[number - 1]) if number else ""
    below = unfronted(texts[number + 1]) if number + 1 < len(texts) else ""
    is_in_arm = above.rstrip().endswith(("=> {", "-> {")) and below.strip()[:1] == "}"
    return is_in_arm or _OPEN_CALL.match(above) is not None or _CLOSED.fullmatch(below) is not None


def _is_in_trace(texts: Sequence[str], number: int) -> bool:
    """Whether frames stand right above a line: what Python prints is frames, their code, and then the error."""
    return any(map(_is_frame, texts[max(0, number - 3) : number]))


def _is_frame(text: str) -> bool:
    """Whether a line is a frame, as Python, a virtual machine or Go prints one."""
    return text.lstrip().startswith(_FRAME_WORDS) and _FRAME.match(text) is not None


def _stands_in_code(texts: Sequence[str], number: int) -> bool:
    """Whether enough lines around a line are code."""
    near = [*_nearest(texts, number, -1), *_nearest(texts, number, 1)]
    found = sum(map(_is_strong, near))
    weak = sum(1 for text in near if _COMMENT.match(text) or _CLOSING.match(text))
    return found >= FEWEST and 2 * (found + weak) >= len(near)


@remembered
def _is_strong(text: str) -> bool:
    """Whether a line can hardly be anything but code."""
    return bool(_STRONG.match(text) or _is_declared(text) or _CLOSED_CALL.match(text) or _FORMAT.search(text))


def _nearest(texts: Sequence[str], number: int, step: int) -> list[str]:
    """The next lines in one direction, as far as code may go."""
    found: list[str] = []
    blank = 0
    at = number + step
    while 0 <= at < len(texts) and len(found) < NEAR:
        text = unfronted(texts[at])
        blank = 0 if text.strip() else blank + 1
        if _SAME.match(text) or blank > MOST_BLANK:
            break
        if text.strip():
            found.append(text)
        at += step
    return found
