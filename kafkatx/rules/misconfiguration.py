"""Settings that contradict each other, the brokers, or what the application does.

Mechanism    Each setting is legal alone; together they refuse a producer at its start (a timeout above what brokers
             allow, acks below all beside a transactional.id), give up too early (delivery, request and block timeouts),
             abort what still runs (transaction.timeout.ms below the time of retries or of a commit interval), forget an
             id or a producer before it comes back, lose what was decided (one replica, unclean elections), or let
             readers see aborted data.
Evidence     values in files and in the blocks that clients and brokers print, with the defaults of the release for the
             rest; the refusal, the wait or the abort that followed; a leader's refusal of transactional records for a
             topic's old message format; a client's refusal of transactional calls without a transactional.id.
Against      a default on its own; a producer that evidently got its producer id with these settings; a value of the
             brokers that is only assumed (possible at most).
Look-alikes  an incident with other causes while a setting is merely unusual: without its effect a setting is a warning
             at most, or nothing.
Remedy       the values that fit together, from what was measured, with the order they must have.
Source       KIP-91, KIP-98, KIP-447, KIP-588, KIP-679, KIP-854, KIP-890; ProducerConfig, TransactionStateManager.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, NotCheckable, Subject
from kafkatx.rules.settings.broker import BROKER_CHECKS
from kafkatx.rules.settings.cases import Case, brokers, consumers, producers
from kafkatx.rules.settings.checks import Check, Wrong, judge
from kafkatx.rules.settings.consumer import CONSUMER_CHECKS
from kafkatx.rules.settings.misuse import calls_without_id, old_formats, set_twice
from kafkatx.rules.settings.producer import PRODUCER_CHECKS
from kafkatx.words.explained import Actor, Place, Step

RULE = "misconfiguration"
MOST_NAMED = 4
EVERYWHERE = "the cluster"


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each check and the values that fail it, whatever number of clients has them."""
    yield from old_formats(story)
    yield from calls_without_id(story)
    yield from set_twice(story)
    if not story.logs.facts.settings:
        yield NotCheckable(RULE, EVERYWHERE, "configuration files, or logs with the values that programs print")
    wrong = [*_failed(CONSUMER_CHECKS, consumers(story)), *_failed(PRODUCER_CHECKS, producers(story))]
    wrong += _failed(BROKER_CHECKS, [brokers(story)])
    groups: dict[tuple[str, str, int], list[Wrong]] = {}
    for one in wrong:
        groups.setdefault((one.check.name, one.text, one.severity), []).append(one)
    for key in sorted(groups):
        yield _finding(groups[key])


def _failed(checks: tuple[Check, ...], cases: Iterator[Case] | list[Case]) -> list[Wrong]:
    return [found for case in cases for one in checks if (found := judge(one, case)) is not None]


def _finding(group: list[Wrong]) -> Finding:
    first = group[0]
    names = [one.case.name for one in group]
    ids = [one.case.transactional_id for one in group if one.case.transactional_id is not None]
    said = Step(first.text, first.because, tuple(dict.fromkeys(place for one in group for place in one.places))[:8])
    followed = [Step(one.effect[0], _because(one.effect[1]), one.effect[1]) for one in group if one.effect][:1]
    return Finding(
        rule=RULE,
        verdict=min(one.verdict for one in group),
        severity=first.severity,
        summary=f"{first.text}, for {_listed(names)}: {first.because}",
        transactional_id=ids[0] if len(ids) == 1 == len(group) else None,
        count=len(group),
        subjects=tuple(Subject(name) for name in _chosen(ids)) if len(ids) > 1 else (),
        actors=tuple(_actor(one) for one in group[:MOST_NAMED]),
        steps=(said, *followed),
        remedies=first.check.remedies(first.case),
    )


def _actor(wrong: Wrong) -> Actor:
    """Who has the settings, and where they stand."""
    case = wrong.case
    kind = "producer" if case.transactional_id else "consumer" if case.consumer else "their settings"
    sources = sorted({place.source for place in wrong.places if place.source})
    framework = f", {case.advised.framework}" if case.advised.framework else ""
    return Actor(case.name, f"{kind}{framework}, by {' and '.join(sources) if sources else 'the defaults'}")


def _because(places: tuple[Place, ...]) -> str:
    return "what such settings lead to, by these lines and rows" if places else "by the times in the evidence"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _chosen(names: list[str]) -> list[str]:
    """First, typical and last."""
    return [names[at] for at in dict.fromkeys((0, len(names) // 2, len(names) - 1))]
