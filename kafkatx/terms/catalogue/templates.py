"""Which text of Kafka a pasted line is: templates with `<placeholders>` against lines with any prefix.

Method   A template is the literal pieces between its placeholders. A line fits if the pieces stand in it in order, the
         last one at its end; each piece is looked for once, from left to right, so the time is linear in the line
         whatever it holds. Templates are tried longest first (most literal characters), hence the most specific wins.
Prefix   A template that begins with a literal must stand at the start of the message: at the start of the line or
         behind what loggers put before it (a bracket, a colon, a dash, a level, a time). Kafka's own `(logger)` at the
         end of a line and the quotes of JSON lines are taken off.
Limits   runs of white space count as one blank, dots at the end of a text don't count (releases differ in them); a
         placeholder may stand for anything, also for nothing.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from kafkatx.terms.catalogue.entries import ClientException, EventTemplate, LogTemplate, ProtocolError, simple_name
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    error_codes,
    event_templates,
)
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex

Source = LogTemplate | ProtocolError | ClientException | EventTemplate

_PLACEHOLDER = regex(r"<([\w.]+)>")
_LEVELS = frozenset({"TRACE", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL"})
_BEFORE_A_MESSAGE = "])}>:-|,=\"'"
_LOGGER = regex(r"[\w$]+(?:\.[\w$]+)+")
FEWEST = 20
"""Literal characters by which a text is known whose end was cut off, with one word of a value at most before that."""


@dataclass(frozen=True, slots=True)
class Template:
    """Literal pieces and the names of the placeholders between them: one name less than pieces."""

    pieces: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def weight(self) -> int:
        """How many characters of a line the template pins down."""
        return sum(map(len, self.pieces))

    def values(self, message: str) -> tuple[str, ...] | None:
        """Return what stands for each placeholder in `message`, or None if it is another text."""
        start = _start(message, self.pieces[0], whole=len(self.pieces) == 1)
        return None if start is None else self._values_from(message, start)

    def whole_values(self, message: str) -> tuple[str, ...] | None:
        """Return the same for a message without prefix, which must begin as the template does."""
        return self._values_from(message, 0) if message.startswith(self.pieces[0]) else None

    def is_begun_by(self, message: str) -> bool:
        """Whether a message is the beginning of this text, cut off behind `FEWEST` of its characters at least."""
        position, told = 0, 0
        for piece in self.pieces:
            begin = message.find(piece, position) if position else (0 if message.startswith(piece) else -1)
            if begin < 0:
                most = min(len(piece), len(message) - position)
                left = next((count for count in range(most, 0, -1) if message.endswith(piece[:count])), 0)
                return told + left >= FEWEST and " " not in message[position : len(message) - left].strip()
            position, told = begin + len(piece), told + len(piece)
        return False

    def filled(self, values: Sequence[str]) -> str:
        """Return the text with values for its placeholders."""
        pairs = zip(self.pieces, (*values, ""), strict=True)
        return "".join(part for pair in pairs for part in pair)

    def _values_from(self, message: str, start: int) -> tuple[str, ...] | None:
        position, found = start + len(self.pieces[0]), list[str]()
        for piece in self.pieces[1:-1]:
            end = message.find(piece, position)
            if end < 0:
                return None
            found.append(message[position:end])
            position = end + len(piece)
        return self._with_last(message, position, found)

    def _with_last(self, message: str, position: int, found: list[str]) -> tuple[str, ...] | None:
        if len(self.pieces) == 1:
            return () if position == len(message) else None
        end = len(message) - len(self.pieces[-1])
        if end < position or not message.endswith(self.pieces[-1]):
            return None
        return (*found, message[position:end])


Shape = tuple[Template, str, tuple[Source, ...]]
"""A template, its longest piece, and the entries that have this text."""


@dataclass(frozen=True, slots=True)
class Match:
    """A line recognised: the template, what its placeholders stand for, and every entry that has this text."""

    template: Template
    values: tuple[tuple[str, str], ...]
    sources: tuple[Source, ...]


def parse_template(text: str) -> Template:
    """Cut a template at its placeholders; placeholders that touch become one."""
    parts = _PLACEHOLDER.split(_without_end(one_blank(text)))
    pieces, names = [parts[0]], list[str]()
    for name, piece in zip(parts[1::2], parts[2::2], strict=True):
        if names and not pieces[-1]:
            names[-1], pieces[-1] = f"{names[-1]} {name}", piece
        else:
            names.append(name)
            pieces.append(piece)
    return Template(tuple(pieces), tuple(names))


def match_line(line: str) -> Match | None:
    """Return the text of the catalogue that `line` is, or None; texts that are explained in words go first."""
    for shapes in (_explained(), _events()):
        for message, logger in _messages(line):
            for template, keyword, sources in shapes:
                if keyword in message and (values := template.values(message)) is not None:
                    named = tuple(zip(template.names, values, strict=True))
                    return Match(template, named, _of_logger(sources, logger))
    return None


def trimmed(message: str) -> str:
    """Make a message comparable with templates: one blank for white space, no dots at the end."""
    return _without_end(one_blank(message))


def one_blank(text: str) -> str:
    """Make every run of white space one blank and strip the ends."""
    return " ".join(text.split())


@cache
def _explained() -> tuple[Shape, ...]:
    return _by_weight(_texts())


@cache
def _events() -> tuple[Shape, ...]:
    return _by_weight((entry.template, entry) for entry in event_templates())


def _by_weight(texts: Iterable[tuple[str, Source]]) -> tuple[Shape, ...]:
    """Shapes with longest piece and entries: most literal characters first, then fewest placeholders."""
    sources: dict[tuple[str, ...], list[Source]] = defaultdict(list)
    templates: dict[tuple[str, ...], Template] = {}
    for text, source in texts:
        template = parse_template(text)
        templates.setdefault(template.pieces, template)
        sources[template.pieces].append(source)
    ordered = sorted(templates.values(), key=lambda template: (-template.weight, len(template.pieces), template.pieces))
    return tuple((t, max(t.pieces, key=len), tuple(dict.fromkeys(sources[t.pieces]))) for t in ordered)


def _texts() -> Iterator[tuple[str, Source]]:
    for log_template in (*broker_log_templates(), *client_log_templates()):
        yield log_template.template, log_template
    for error in error_codes():
        for message in error.messages:
            yield message.text, error
    for exception in client_exceptions():
        for text in exception.messages:
            yield text, exception


def _messages(line: str) -> Iterator[tuple[str, str | None]]:
    """Yield what may be the message in a line, each with the logger that the line names."""
    text = one_blank(line)
    for candidate in (*_json_texts(text), text):
        message, logger = _without_logger(candidate)
        yield _without_end(message), logger


def _without_end(text: str) -> str:
    return text.rstrip(". ")


def _without_logger(text: str) -> tuple[str, str | None]:
    head, blank, tail = text.rpartition(" (")
    if blank and tail.endswith(")") and _LOGGER.fullmatch(tail, 0, len(tail) - 1):
        return head, tail[:-1]
    return text, None


def _json_texts(text: str) -> tuple[str, ...]:
    if not text.startswith("{"):
        return ()
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(one_blank(value) for value in fields.values() if isinstance(value, str))


def _of_logger(sources: tuple[Source, ...], logger: str | None) -> tuple[Source, ...]:
    """Keep the log templates of the class that the line names, where there are such."""
    if logger is None:
        return sources
    name = simple_name(logger.rstrip("$"))
    own = tuple(s for s in sources if isinstance(s, LogTemplate) and simple_name(s.logger) == name)
    return own or sources


def _start(message: str, piece: str, *, whole: bool) -> int | None:
    """Where a message begins that starts with `piece`; a template without placeholders must reach the end."""
    if whole:
        start = len(message) - len(piece)
        return start if message.endswith(piece) and _begins(message, start) else None
    start = message.find(piece)
    while start >= 0 and piece and not _begins(message, start):
        start = message.find(piece, start + 1)
    return start if start >= 0 else None


def _begins(message: str, position: int) -> bool:
    """Tell whether a message may begin at `position`: what stands before it looks like the end of a logger's prefix."""
    before = message[max(0, position - 40) : position]
    words = before.rstrip(" ")
    if not words or words[-1] in _BEFORE_A_MESSAGE:
        return True
    return before != words and (words[-1].isdigit() or words.rpartition(" ")[2] in _LEVELS)
