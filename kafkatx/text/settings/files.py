r"""Settings as they stand in files: Java properties, YAML of Spring and of operators, lists of environment variables.

Properties  `name=value`, `name: value`, `name value`; `\` at the end of a line goes on with the next one, `\u0041` is a
            character, `#` and `!` begin comments (java.util.Properties.load). A name that stands twice counts as it
            stood last; both are kept, so that it can be told.
YAML        nested names are joined by points; lists, anchors and block texts are no settings and are passed over.
Groups      a comment that is nothing but a client's kind (`# consumer`) begins a group of its own; each group has a
            scope by the names in it, a name with a prefix (`producer.override.`) by its prefix. Where several
            programs are named, each name that the group began with begins another group.
Limits      secrets are replaced while reading (terms/secrets.py): nobody after this sees them. A line that is no
            setting is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from kafkatx.terms.catalogue.setting_names import UNKNOWN, is_known, prefix_scope, scope_of, scope_of_group
from kafkatx.terms.java_text import property_of
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.secrets import shown_value
from kafkatx.text.events import Setting
from kafkatx.text.lines import Line
from kafkatx.text.printed.logged import logged

LONGEST_VALUE = 4_096
"""Characters of a value that are kept."""
MOST_JOINED = 1_000
"""Lines that one logical line may go on over."""
FEWEST_PRINTED = 4
"""Pairs from which on their order says something."""
_KIND = regex(
    r"[#!\s]*(producer|consumer|admin|broker|server|streams|connect|worker|librdkafka|aiokafka|kafka-python|franz-go)"
    r"(?:[ ](?:config|configuration|properties|settings))?\s*:?\s*",
    re.IGNORECASE,
)
_KINDS = {
    "server": "broker", "worker": "connect", "aiokafka": "producer", "kafka-python": "producer", "franz-go": "producer"
}  # fmt: skip
_YAML = regex(
    r"(?P<indent> *)(?P<dash>(?:- +)?)(?P<name>\"[^\"]*\"|'[^']*'|[^\s:#'\"][^:#]*?)[ ]*:(?:[ ]+(?P<value>.*))?"
)
_ASSIGNED = regex(r"\s*(?:export\s+|set\s+|ENV\s+|-\s+|-e\s+)?[\"']?(?P<name>[A-Z][A-Z0-9_]{2,})=(?P<value>.*)")
_NAME = regex(r"[A-Za-z][\w.\-\[\]\"]{0,200}")
_PAIR = regex(r"\s*(?:export\s+|-\s+|-e\s+)?[\"'\[]*[A-Za-z][\w.\-]*[\"'\]]*\s*[=:]|\s*-\s|\s*---")
_LOGGED = regex(r"\s*(?:\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[ T]|%[0-9]\||.{0,200}Config values:)")
_PASTED = regex(r"^\s*[>`]|`\s*$|<br ?/?>|</\w|\\_|&(?:lt|gt|amp|quot);")
_NAMES_A_PROGRAM = frozenset({"transactional.id", "client.id", "group.id", "node.id", "broker.id", "group.instance.id"})
_BLOCK_TEXT = regex(r"[|>][-+0-9]*")


class Pair(NamedTuple):
    """A name and its value, still as written, with the number of the line that the name stands on."""

    line: int
    name: str
    value: str


@dataclass(slots=True)
class Group:
    """Pairs that stand together; `kind` is what a comment says of them."""

    pairs: list[Pair]
    kind: str = UNKNOWN


def settings_of_file(lines: Iterable[Line], source: int) -> list[Setting]:
    """Return the settings of a file (or of a stretch of a page), in the order that they stand in.

    Args:
        lines: its lines; consumed once.
        source: number of the source that they stand in.
    """
    found: list[Setting] = []
    for number, group in enumerate(_groups(lines)):
        found.extend(_settings(group, source, number))
    return found


def is_settings(texts: Iterable[str]) -> bool:
    """Whether the beginning of a text looks like a file of settings.

    Nearly all of its lines are pairs with a sign between them or lines that belong to one, no line is one of a log, and
    a name that is known to be a setting of Kafka's is among them.
    """
    numbered = [Line(number, 0, text) for number, text in enumerate(texts, 1)]
    filled = [line.text for line in numbered if line.text.strip() and line.text.lstrip()[0] not in "#!"]
    shaped = sum(1 for before, text in pairwise(["", *filled]) if _PAIR.match(text) or _ends_open(before))
    if not filled or 10 * shaped < 9 * len(filled) or any(_LOGGED.match(text) for text in filled):
        return False
    return any(is_known(pair.name) for group in _groups(numbered) for pair in group.pairs)


def _settings(group: Group, source: int, block: int) -> Iterator[Setting]:
    voted = scope_of_group(pair.name for pair in group.pairs)
    scope = voted if voted != UNKNOWN else group.kind
    is_printed = _is_printed(group.pairs)
    for pair in group.pairs:
        own = prefix_scope(pair.name) or (scope if scope != UNKNOWN else scope_of(pair.name))
        value = shown_value(pair.name, pair.value)[:LONGEST_VALUE]
        yield Setting(own, pair.name, value, source, pair.line, block, is_printed)


def _is_printed(pairs: list[Pair]) -> bool:
    """Whether pairs are what a program printed at its start, its heading lost: all its values, few of them the user's.

    AbstractConfig.logAll prints them in order of their names, what is absent as `null`, lists in brackets and classes
    with the word before them; nobody writes a file like that.
    """
    names = [pair.name for pair in pairs]
    in_order = sum(1 for before, name in pairwise(names) if before < name)
    told = any(pair.value == "null" or pair.value.startswith(("class ", "[")) for pair in pairs)
    return len(pairs) >= FEWEST_PRINTED and told and 10 * in_order >= 9 * (len(pairs) - 1)


def _as_written(line: Line) -> Line:
    """A line without what pasting put around it: quote marks, backticks, HTML, escapes of Markdown."""
    found = logged(line.text) if _PASTED.search(line.text) else ()
    return replace(line, text=found[0]) if len(found) == 1 else line


def _groups(lines: Iterable[Line]) -> Iterator[Group]:
    """Cut at comments that say whose the settings below are; each group is read as what it looks like."""
    kept: list[Line] = []
    kind = UNKNOWN
    for line in map(_as_written, lines):
        said = _KIND.fullmatch(line.text) if line.text.lstrip().startswith(("#", "!")) else None
        if said:
            yield from _group(kept, kind)
            kept, kind = [], _KINDS.get(said[1].lower(), said[1].lower())
        elif line.text.strip():
            kept.append(line)
    yield from _group(kept, kind)


def _group(lines: list[Line], kind: str) -> Iterator[Group]:
    pairs = list(_yaml(lines) if _is_yaml(lines) else _properties(lines))
    yield from (Group(of_one, kind) for of_one in _programs(pairs))


def _programs(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """Files that somebody put into one, without a word between them: they name several programs, and begin alike."""
    named = {(pair.name, pair.value) for pair in pairs if pair.name in _NAMES_A_PROGRAM}
    several = len(named) > len({name for name, _ in named})
    begun = [at for at, pair in enumerate(pairs) if pair.name == pairs[0].name] if several else [0]
    for begin, end in pairwise([*begun, len(pairs)]):
        yield from _without_heads(pairs[begin:end]) if several else filter(None, [pairs[begin:end]])


def _without_heads(pairs: list[Pair]) -> Iterator[list[Pair]]:
    """A program's settings, and those of others behind them whose beginning was lost: a name comes back, and differs.

    What stands between its two values may be of either, and is nobody's.
    """
    first: dict[str, int] = {}
    for at, pair in enumerate(pairs):
        before = first.setdefault(pair.name, at)
        if pairs[before].value != pair.value:
            yield from filter(None, (pairs[: before + 1], pairs[before + 1 : at]))
            yield from _without_heads(pairs[at:])
            return
    if pairs:
        yield pairs


def _is_yaml(lines: list[Line]) -> bool:
    """Whether most lines are `name: value` with a blank behind the colon, and none has `=` for it."""
    plain = [line.text for line in lines if line.text.lstrip()[:1] not in ("#", "!")][:200]
    shaped = [found for text in plain if (found := _YAML.fullmatch(text.rstrip()))]
    nested = any(found["indent"] or found["dash"] or found["value"] is None for found in shaped)
    return nested and 2 * len(shaped) > len(plain)


def _properties(lines: list[Line]) -> Iterator[Pair]:
    for number, text in _logical(lines):
        assigned = _ASSIGNED.fullmatch(text)
        if assigned:
            yield Pair(number, assigned["name"], assigned["value"].strip().strip("\"'"))
            continue
        name, value = property_of(text)
        if _NAME.fullmatch(name):
            yield Pair(number, name, value.rstrip("\r"))


def _logical(lines: list[Line]) -> Iterator[tuple[int, str]]:
    """Lines as Properties.load sees them: comments left out, continuations joined, blanks in front taken off."""
    number, parts = 0, list[str]()
    for line in lines:
        text = line.text.lstrip(" \t\f")
        if not parts and text[:1] in ("#", "!"):
            continue
        number = number if parts else line.number
        goes_on = _ends_open(text) and len(parts) < MOST_JOINED
        parts.append(text[:-1] if goes_on else text)
        if not goes_on:
            yield number, "".join(parts)
            parts = []
    if parts:
        yield number, "".join(parts)


def _ends_open(text: str) -> bool:
    """Whether a line ends with an odd number of backslashes."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _yaml(lines: list[Line]) -> Iterator[Pair]:
    """Names of nested mappings joined by points; block texts and lists of plain values are passed over."""
    path: list[tuple[int, str]] = []
    text_below = -1
    for line in lines:
        indent = len(line.text) - len(line.text.lstrip(" "))
        if 0 <= text_below < indent:
            continue
        text_below = -1
        assigned, found = _ASSIGNED.fullmatch(line.text), _YAML.fullmatch(line.text.rstrip())
        if assigned:
            yield Pair(line.number, assigned["name"], assigned["value"].strip().strip("\"'"))
        elif found and not line.text.lstrip().startswith("#"):
            depth, name = indent + len(found["dash"]), found["name"].strip().strip("\"'")
            path = [above for above in path if above[0] < depth]
            value = _yaml_value(found["value"] or "")
            text_below = indent if _BLOCK_TEXT.fullmatch(value) else -1
            joined = _joined([above[1] for above in path], name)
            path.append((depth, name))
            if value and text_below < 0:
                yield Pair(line.number, joined, value)


def _joined(path: list[str], name: str) -> str:
    """The name of a value in nested mappings, from where a name of Kafka's or of Spring's begins."""
    parts = [part.strip("[]\"'") for part in (*path, name)]
    if "spring" in parts:
        return ".".join(parts[parts.index("spring") :])
    known = (".".join(parts[at:]) for at in range(len(parts)))
    return next((joined for joined in known if is_known(joined)), parts[-1])


def _yaml_value(text: str) -> str:
    """A value without its comment and quotes."""
    value = text.strip()
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return value.partition(" #")[0].rstrip()
