"""From what a user typed or pasted to explanations.

Order   names first (rule, error, exception, state, setting, KIP, term), then whole texts of Kafka line by line, with
        the errors and exceptions that the lines name or word; then entries that hold the phrase as whole words; then
        the names in a short question; then entries with all of its words; last, likely names.
Limits  of a pasted text the first `LINES_READ` lines are looked at; more are counted, not read.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kafkatx.outputs.explanations import (
    JUDGEMENTS,
    Explanation,
    exception_name,
    explain_config,
    explain_defect,
    explain_error,
    explain_event,
    explain_exception,
    explain_judgement,
    explain_kip,
    explain_log,
    explain_rule,
    explain_state,
    explain_term,
)
from kafkatx.rules.docstring import RuleText, rule_texts
from kafkatx.terms.catalogue.entries import (
    JAVA_CLIENTS,
    ClientException,
    Config,
    Entry,
    EventTemplate,
    Kip,
    KnownDefect,
    LogTemplate,
    Named,
    ProtocolError,
    StateEntry,
    Term,
)
from kafkatx.terms.catalogue.lookup import (
    by_name,
    close_texts,
    close_words,
    containing,
    failures_in,
    holding_all,
    names_within,
)
from kafkatx.terms.catalogue.releases import Release
from kafkatx.terms.catalogue.templates import Match, match_line, one_blank
from kafkatx.terms.catalogue.whole_words import folded, words_in
from kafkatx.terms.records import dataclass

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
    mentions = [] if explanations else _distinct_mentions(_mentions(phrase, rules))
    if not explanations and not mentions:
        explanations = [*_entries(names_within(phrase), release)]
        mentions = [] if explanations else _distinct_mentions(map(_mention, holding_all(phrase)))
    known = bool(explanations or mentions)
    return Answer(
        phrase=phrase,
        release=release,
        explanations=tuple(_distinct(explanations)),
        mentions=tuple(mentions),
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
    others: list[ProtocolError | Config | StateEntry | Kip | Term | KnownDefect] = []
    for entry in entries:
        if isinstance(entry, ClientException):
            exceptions[exception_name(entry)].append(entry)
        else:
            others.append(entry)
    yield from (explain_term(other, release) for other in others if isinstance(other, Term))
    yield from (explain_exception(rows, release) for rows in exceptions.values())
    for other in others:
        match other:
            case ProtocolError():
                yield explain_error(other, release)
            case Config():
                yield explain_config(other, release)
            case StateEntry():
                yield explain_state(other, release)
            case Kip():
                yield explain_kip(other, release)
            case KnownDefect():
                yield explain_defect(other, release)


def _line_by_line(lines: Iterable[str], release: Release | None) -> Iterator[Explanation]:
    for line in dict.fromkeys(lines):
        found = match_line(line)
        if found is not None:
            yield from _matched(found, release)
        yield from _entries(_also_named(line, found), release)


def _also_named(line: str, found: Match | None) -> Iterator[Named]:
    """Failures in a line beside the text that it is: a text that is a failure's own says which by itself.

    What stands for its placeholders may still name the cause, and clients other than Java's name their class before it.
    """
    failures = failures_in(line)
    if found is None or all(isinstance(source, LogTemplate | EventTemplate) for source in found.sources):
        yield from failures
        return
    yield from failures_in(" ".join(value for _, value in found.values))
    yield from (row for row in failures if isinstance(row, ClientException) and row.client not in JAVA_CLIENTS)


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


def _distinct_mentions(mentions: Iterable[Mention]) -> list[Mention]:
    return list({(mention.kind, mention.name): mention for mention in mentions}.values())


def _mentions(phrase: str, rules: Iterable[RuleText]) -> Iterator[Mention]:
    wanted = folded(phrase).lstrip("_")
    for rule in rules:
        if words_in(f"{rule.rule_id}\n{rule.summary}").hold(wanted):
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
        case Kip():
            return Mention("KIP", entry.kip, entry.title)
        case Term():
            return Mention(entry.kind, entry.name, entry.meaning)
        case KnownDefect():
            return Mention("known defect", entry.id, entry.meaning)
        case Config():
            return Mention(f"{entry.scope} setting", entry.name, entry.meaning)
        case LogTemplate():
            return Mention(f"{entry.side} log message", entry.template, entry.meaning)
