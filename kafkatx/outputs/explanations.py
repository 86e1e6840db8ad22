"""What `explain` tells of an entry of the catalogue, or of a rule: data, rendered by `explain_text`.

Narrowing  with a release only what holds for it is told; an entry that the release does not have is told whole, and
           marked (`in_release`), since "it came later" is an answer too. Releases of other clients are never narrowed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from kafkatx.rules.docstring import RuleText, rule_texts
from kafkatx.terms.catalogue.entries import (
    ClientException,
    Config,
    EventTemplate,
    Kip,
    KnownDefect,
    LogTemplate,
    ProtocolError,
    Stated,
    StateEntry,
    Term,
    is_kafka_release,
    simple_name,
)
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    error_codes,
    event_words,
)
from kafkatx.terms.catalogue.releases import Release, Span
from kafkatx.terms.events import Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration

OF_KAFKA = ("Kafka", "kafka-clients", "Kafka Streams")
"""Products that are numbered as Kafka is."""
LINKS_SHOWN = 12
"""Entries of one kind that the explanation of a rule lists."""

FROM_MS, ALWAYS_MS = 1_000, 2_147_483_647
"""Milliseconds that are said in other units as well: from a second to what stands for no limit."""

JUDGEMENTS = (
    ("proved", "verdict", "No other reading of the evidence is known."),
    ("likely", "verdict", "One other reading can't be ruled out with this evidence; the finding names it."),
    (
        "possible",
        "verdict",
        "Two or more other readings can't be ruled out with this evidence; the finding names them.",
    ),
    ("error", "severity", "Data are lost, invisible or blocked, or an application is down: act now."),
    ("warning", "severity", "It will become an error, or work was thrown away."),
    ("info", "severity", "Worth knowing: nothing must be done now."),
)
"""What verdicts and severities of findings mean: two independent scales."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it, an item a line."""

    heading: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One thing explained; `releases` are those that have it, `rules` those that it may point to."""

    kind: str
    name: str
    summary: str
    releases: str
    in_release: bool
    sections: tuple[Section, ...]
    rules: tuple[str, ...]


def explain_error(error: ProtocolError, release: Release | None) -> Explanation:
    """Tell what an error code means, says and does to a transactional producer."""
    told = release if error.span.holds(release) else None
    clients = [row for row in client_exceptions() if error.code in row.codes]
    return Explanation(
        kind="error code",
        name=f"{error.code} {error.name}",
        summary=error.meaning,
        releases=str(error.span),
        in_release=error.span.holds(release),
        sections=_sections(
            ("For a transactional producer", [error.reaction, *_stated(error.effects, told)]),
            (
                "What clients throw: what the application must do",
                [_client_line(row) for row in _narrow(clients, _exception_span, told)],
            ),
            ("Exception", _stated(error.exceptions, told)),
            ("Message", _stated(error.messages, told)),
        ),
        rules=_with_pages(error.rules),
    )


def explain_exception(rows: Sequence[ClientException], release: Release | None) -> Explanation:
    """Tell what one exception means, situation by situation; all `rows` are of the same exception."""
    kept = _narrow(rows, _exception_span, release)
    meanings = tuple(dict.fromkeys(row.meaning for row in kept if row.meaning))
    several = f"{len(kept)} situations; the client and the message show which"
    return Explanation(
        kind="exception",
        name=exception_name(rows[0]),
        summary=meanings[0] if len(meanings) == 1 else several,
        releases=", ".join(dict.fromkeys(_client_releases(row) for row in rows)),
        in_release=any(_exception_span(row).holds(release) for row in rows),
        sections=_sections(
            *((_client_releases(row), _situation(row)) for row in kept),
            ("Class", dict.fromkeys(name for row in kept for name in row.exceptions)),
        ),
        rules=_rules(kept),
    )


def explain_log(
    templates: Sequence[LogTemplate], values: Iterable[tuple[str, str]], release: Release | None
) -> Explanation:
    """Tell who writes a text, when, and what it says; `values` are what a pasted line has in its placeholders."""
    kept = _narrow(templates, _template_span, release)
    return Explanation(
        kind=f"{kept[0].side} log message",
        name=kept[0].template,
        summary="; ".join(dict.fromkeys(template.meaning for template in kept if template.meaning)),
        releases=", ".join(dict.fromkeys(_releases(template.client, template.span) for template in templates)),
        in_release=any(_template_span(template).holds(release) for template in templates),
        sections=_sections(
            ("In this line", [f"{name} = {value}" for name, value in values]),
            ("Written by", [f"{t.level} {t.logger} ({_releases(t.client, t.span)})" for t in kept]),
        ),
        rules=_rules(kept),
    )


def explain_event(
    templates: Sequence[EventTemplate], values: Iterable[tuple[str, str]], release: Release | None
) -> Explanation:
    """Tell what a line of a log means that only the readers of logs know: as findings and timelines call it."""
    kept = _narrow(templates, _template_span, release)
    side = f"{kept[0].side.name} " if kept[0].side is not Side.unknown else ""
    words = event_words()
    return Explanation(
        kind=f"{side}log message",
        name=kept[0].template,
        summary="; ".join(dict.fromkeys(words[template.kind].phrase for template in kept)),
        releases=", ".join(dict.fromkeys(_releases(template.client, template.span) for template in templates)),
        in_release=any(_template_span(template).holds(release) for template in templates),
        sections=_sections(
            ("In this line", [f"{name} = {value}" for name, value in values]),
            ("Written by", [f"{', '.join(t.loggers)} ({_releases(t.client, t.span)})" for t in kept if t.loggers]),
        ),
        rules=(),
    )


def explain_config(config: Config, release: Release | None) -> Explanation:
    """Tell a setting's default and what it does to transactions."""
    spans = [default.span for default in config.defaults]
    return Explanation(
        kind=f"{config.scope} setting",
        name=config.name,
        summary=config.meaning,
        releases=_joined(spans),
        in_release=any(span.holds(release) for span in spans),
        sections=_sections(
            ("Default", [_with_unit(text, config.name) for text in _stated(config.defaults, release)]),
            ("Name in a topic", [config.topic_name]),
            ("For transactions", [config.transactions]),
            ("Source", [config.source]),
        ),
        rules=(),
    )


def explain_state(state: StateEntry, release: Release | None) -> Explanation:
    """Tell what a transaction state means and which states may come before it."""
    added = ", ".join(state.added_predecessors)
    before = [Stated(Span("0.11"), ", ".join(state.predecessors))]
    before += [Stated(Span("4.0"), f"with transactions v2 also {added}")] if added else []
    return Explanation(
        kind="transaction state",
        name=f"{state.code} {state.state}",
        summary=state.meaning,
        releases="all",
        in_release=True,
        sections=_sections(
            ("Other name", [f"{state.java_constant} (server logs, 4.1+)"]),
            ("May come after", _stated(before, release)),
            ("On disk", ["yes" if state.on_disk else "never: a record with it is damage"]),
            ("Expires", ["yes, after transactional.id.expiration.ms" if state.expires else "no"]),
            ("Source", [state.source]),
        ),
        rules=_with_pages(state.rules),
    )


def explain_kip(kip: Kip, release: Release | None) -> Explanation:
    """Tell what an improvement proposal changed, release by release, and how one sees it."""
    return Explanation(
        kind="KIP",
        name=f"{kip.kip} {kip.title}",
        summary=kip.meaning,
        releases=str(kip.span) if kip.span.since else "release not known",
        in_release=kip.span.holds(release),
        sections=_sections(
            ("What it changed", map(_begun, _stated(kip.changes, release))),
            ("How it shows", [kip.shown]),
            ("Source", [kip.source]),
        ),
        rules=_with_pages(kip.rules),
    )


def explain_defect(defect: KnownDefect, release: Release | None) -> Explanation:
    """Tell what a known defect of a client or a broker does, how it shows, and what to do about it."""
    return Explanation(
        kind="known defect",
        name=f"{defect.id} of {defect.product}",
        summary=defect.meaning,
        releases=f"{defect.product} {defect.affected}" if defect.affected else "release not known",
        in_release=defect.product not in OF_KAFKA or release is None or defect.is_in(release.numbers),
        sections=_sections(
            ("Other names", [", ".join(defect.names)]),
            ("A line shows", (" and ".join(f'"{text}"' for text in texts) for texts in defect.shows)),
            ("Beside it", (" and ".join(f'"{text}"' for text in texts) for texts in defect.beside)),
            ("What to do", [defect.remedy, f"upgrade: {', '.join(defect.fixed)}" if defect.fixed else ""]),
            ("Source", [defect.source]),
        ),
        rules=_with_pages((defect.rule,)),
    )


def explain_term(term: Term, release: Release | None) -> Explanation:
    """Tell what a term, a request, a client's state or a feature level means."""
    return Explanation(
        kind=term.kind,
        name=term.name,
        summary=term.meaning,
        releases=str(term.span),
        in_release=term.span.holds(release),
        sections=_sections(
            ("Other names", [", ".join(term.names)]),
            ("More", map(_begun, _stated(term.details, release))),
            ("See also", [", ".join(term.see)]),
            ("Source", [term.source]),
        ),
        rules=_with_pages(term.rules),
    )


def explain_rule(rule: RuleText, release: Release | None) -> Explanation:
    """Tell a rule in its own words, and which errors, exceptions and log messages may point to it."""
    errors = [e for e in error_codes() if rule.rule_id in e.rules and e.span.holds(release)]
    exceptions = [e for e in client_exceptions() if rule.rule_id in e.rules and _exception_span(e).holds(release)]
    templates = [
        template
        for template in (*broker_log_templates(), *client_log_templates())
        if rule.rule_id in template.rules and _template_span(template).holds(release)
    ]
    return Explanation(
        kind="rule",
        name=rule.rule_id,
        summary=rule.summary,
        releases="all",
        in_release=True,
        sections=_sections(
            *rule.sections,
            ("Error codes", _shown(f"{error.code} {error.name}" for error in errors)),
            ("Exceptions", _shown(exception_name(exception) for exception in exceptions)),
            ("Log messages", _shown(template.template for template in templates)),
        ),
        rules=(),
    )


def explain_judgement(name: str, kind: str, meaning: str) -> Explanation:
    """Tell what a verdict or a severity means, and which others there are."""
    scale = [f"{other}: {text}" for other, other_kind, text in JUDGEMENTS if other_kind == kind]
    head = "All verdicts: how sure a finding is" if kind == "verdict" else "All severities: how bad it is"
    return Explanation(kind, name, meaning, "all", True, _sections((head, scale)), ())


def exception_name(row: ClientException) -> str:
    """Return the short name that an exception's rows are gathered under."""
    return ", ".join(map(simple_name, row.exceptions))


def _sections(*pairs: tuple[str, Iterable[str]]) -> tuple[Section, ...]:
    sections = (Section(heading, tuple(item for item in items if item)) for heading, items in pairs)
    return tuple(section for section in sections if section.items)


def _narrow(items: Sequence[T], span: Callable[[T], Span], release: Release | None) -> Sequence[T]:
    """Keep what the release has; where it has none of them, keep all."""
    return [item for item in items if span(item).holds(release)] or items


def _stated(statements: Sequence[Stated], release: Release | None) -> list[str]:
    kept = _narrow(statements, lambda statement: statement.span, release)
    return [f"{s.span}: {s.text}" if s.span != Span() else s.text for s in kept]


def _begun(text: str) -> str:
    """The text with a capital, unless a name or a release begins it."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.rstrip(":,").isalpha() and first.islower() else text


def _exception_span(row: ClientException) -> Span:
    return row.span if is_kafka_release(row) else Span()


def _template_span(template: LogTemplate | EventTemplate) -> Span:
    return template.span if is_kafka_release(template) else Span()


def _releases(client: str, span: Span) -> str:
    releases = "release not known" if span == Span() else str(span)
    return releases if client == "kafka" else f"{client} {releases}"


def _client_releases(row: ClientException) -> str:
    return f"{row.client} {row.span}"


def _client_line(row: ClientException) -> str:
    condition = f" ({row.condition})" if row.condition else ""
    return f"{_client_releases(row)}{condition}: {exception_name(row)}, {row.category}: {row.application_must}"


def _situation(row: ClientException) -> list[str]:
    named = (
        ("meaning", row.meaning),
        ("the application must", row.application_must),
        ("kind", row.category),
        ("when", row.condition),
        ("message", " | ".join(row.messages)),
        ("raised by", row.raised_by),
    )
    return [f"{name}: {text}" for name, text in named if text]


def _with_unit(text: str, name: str) -> str:
    """`0.11+: 60000 (60 s)`: a default in milliseconds as people say it."""
    number = text.rpartition(" ")[2]
    is_time = name.endswith(".ms") and number.isdigit() and FROM_MS <= int(number) < ALWAYS_MS
    return f"{text} ({duration(int(number))})" if is_time else text


def _joined(spans: Sequence[Span]) -> str:
    since, until = spans[0].since, spans[-1].until
    return str(Span(since, until))


def _rules(entries: Iterable[ClientException | LogTemplate]) -> tuple[str, ...]:
    return _with_pages(rule for entry in entries for rule in entry.rules)


def _with_pages(rules: Iterable[str]) -> tuple[str, ...]:
    """The rules that one can ask about: the catalogue also names mechanisms that no rule looks for yet."""
    known = {text.rule_id for text in rule_texts()}
    return tuple(dict.fromkeys(rule for rule in rules if rule in known))


def _shown(names: Iterable[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(names))
    rest = len(distinct) - LINKS_SHOWN
    return distinct if rest <= 0 else (*distinct[:LINKS_SHOWN], f"and {rest} more")
