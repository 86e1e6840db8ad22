"""From what a user typed or pasted to explanations.

Order   exact names first (rule, error, exception, state, setting), then whole texts of Kafka line by line, with the
        errors and exceptions that the lines name; then entries that hold the words somewhere; last, likely names.
Limits  of a pasted text the first `LINES_READ` lines are looked at; more are counted, not read.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafkatx.outputs.explanations import (
    JUDGEMENTS,
    Explanation,
    exception_name,
    explain_config,
    explain_error,
    explain_event,
    explain_exception,
    explain_judgement,
    explain_log,
    explain_rule,
    explain_state,
)
from kafkatx.rules.docstring import RuleText, rule_texts
from kafkatx.terms.catalogue.entries import (
    ClientException,
    Config,
    Entry,
    EventTemplate,
    LogTemplate,
    Named,
    ProtocolError,
    StateEntry,
)
from kafkatx.terms.catalogue.lookup import by_name, close_texts, close_words, containing, failures_in
from kafkatx.terms.catalogue.releases import Release
from kafkatx.terms.catalogue.templates import Match, match_line, one_blank

LINES_READ = 200
"""Lines of a pasted text that are looked at."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An entry that holds the words somewhere: its kind, its name and one line about it."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """All that is known about a phrase; `suggestions` only where nothing else is."""

    phrase: str
    release: Release | None
    explanations: tuple[Explanation, ...]
    mentions: tuple[Mention, ...]
    suggestions: tuple[str, ...]
    lines_left_out: int

    @property
    def is_known(self) -> bool:
        """Whether anything was found."""
        return bool(self.explanations or self.mentions)


def answer(phrase: str, release: Release | None = None) -> Answer:
    """Explain `phrase`: a name, a number, a line of a log, a stack trace, or part of any of these.

    Args:
        phrase: what was typed or pasted, of any length and content.
        release: the release of Kafka to narrow the explanations to; None tells all of them.
    """
    rules = rule_texts()
    lines = [line for line in phrase.splitlines() if line.strip()]
    explanations = [*_exactly(phrase, rules, release)] or [*_line_by_line(lines[:LINES_READ], release)]
    mentions = () if explanations else tuple({(m.kind, m.name): m for m in _mentions(phrase, rules)}.values())
    known = bool(explanations or mentions)
    return Answer(
        phrase=phrase,
        release=release,
        explanations=tuple(_distinct(explanations)),
        mentions=mentions,
        suggestions=() if known else _suggestions(phrase, rules),
        lines_left_out=max(0, len(lines) - LINES_READ),
    )


def _suggestions(phrase: str, rules: Iterable[RuleText]) -> tuple[str, ...]:
    return close_words(one_blank(phrase), (rule.rule_id for rule in rules)) or close_texts(phrase)


def _exactly(phrase: str, rules: Sequence[RuleText], release: Release | None) -> Iterator[Explanation]:
    rule_id = one_blank(phrase).casefold().replace(" ", "_").replace("-", "_")
    for rule in rules:
        if rule.rule_id == rule_id:
            yield explain_rule(rule, release)
    yield from (explain_judgement(*judgement) for judgement in JUDGEMENTS if judgement[0] == rule_id)
    yield from _entries(by_name(phrase), release)


def _entries(entries: Iterable[Named], release: Release | None) -> Iterator[Explanation]:
    exceptions: dict[str, list[ClientException]] = defaultdict(list)
    others: list[ProtocolError | Config | StateEntry] = []
    for entry in entries:
        if isinstance(entry, ClientException):
            exceptions[exception_name(entry)].append(entry)
        else:
            others.append(entry)
    yield from (explain_exception(rows, release) for rows in exceptions.values())
    for other in others:
        match other:
            case ProtocolError():
                yield explain_error(other, release)
            case Config():
                yield explain_config(other, release)
            case StateEntry():
                yield explain_state(other, release)


def _line_by_line(lines: Iterable[str], release: Release | None) -> Iterator[Explanation]:
    for line in dict.fromkeys(lines):
        found = match_line(line)
        if found is not None:
            yield from _matched(found, release)
        if found is None or all(isinstance(source, LogTemplate | EventTemplate) for source in found.sources):
            yield from _entries(failures_in(line), release)


def _matched(found: Match, release: Release | None) -> Iterator[Explanation]:
    templates = [source for source in found.sources if isinstance(source, LogTemplate)]
    if templates:
        yield explain_log(templates, found.values, release)
    events = [source for source in found.sources if isinstance(source, EventTemplate)]
    if events:
        yield explain_event(events, found.values, release)
    named = (source for source in found.sources if not isinstance(source, LogTemplate | EventTemplate))
    yield from _entries(named, release)


def _distinct(explanations: Iterable[Explanation]) -> list[Explanation]:
    """Keep the first explanation of each thing: several lines may name the same."""
    return list({(e.kind, e.name): e for e in reversed(list(explanations))}.values())[::-1]


def _mentions(phrase: str, rules: Iterable[RuleText]) -> Iterator[Mention]:
    wanted = one_blank(phrase).casefold()
    for rule in rules:
        if wanted and wanted in f"{rule.rule_id}\n{rule.summary}".casefold():
            yield Mention("rule", rule.rule_id, rule.summary)
    yield from map(_mention, containing(phrase))


def _mention(entry: Entry) -> Mention:
    match entry:
        case ProtocolError():
            return Mention("error code", f"{entry.code} {entry.name}", entry.meaning)
        case ClientException():
            return Mention("exception", exception_name(entry), entry.meaning)
        case StateEntry():
            return Mention("transaction state", entry.state, entry.meaning)
        case Config():
            return Mention(f"{entry.scope} setting", entry.name, entry.meaning)
        case LogTemplate():
            return Mention(f"{entry.side} log message", entry.template, entry.meaning)
