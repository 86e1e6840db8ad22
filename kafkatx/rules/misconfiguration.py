"""Settings that contradict each other, the brokers, or what the application does.

Mechanism    Each setting is legal alone; together they refuse a producer at its start (a timeout above what brokers
             allow, acks below all beside a transactional.id), give up too early (delivery, request and block timeouts),
             abort what still runs (transaction.timeout.ms below the time of retries or of a commit interval), forget an
             id or a producer before it comes back, lose what was decided (one replica, unclean elections), or let
             readers see aborted data.
Evidence     values in files and in the blocks that clients and brokers print, with the defaults of the release for the
             rest; the refusal, the wait or the abort that followed; a leader's refusal of transactional records for a
             topic's old message format; a client's refusal of transactional calls without a transactional.id; by
             one error alone: a right that is missing, a size above its limit, brokers without transactions, a
             configuration that the library refuses, __transaction_state with more replicas than there are brokers, a
             topic or a partition that brokers say they don't have;
             a group that commits its offsets in transactions and by its consumers as well.
Against      a default on its own; a producer that evidently got its producer id with these settings; a value of the
             brokers that is only assumed (possible at most); a right that a tool, a health check or a reader lacks;
             brokers that were still starting, where a coordinator is at work later.
Look-alikes  an incident with other causes while a setting is merely unusual: without its effect a setting is a warning
             at most, or nothing.
Remedy       the values that fit together, from what was measured, with the order they must have.
Source       KIP-91, KIP-98, KIP-447, KIP-588, KIP-679, KIP-854, KIP-890; ProducerConfig, TransactionStateManager.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from kafkatx.findings.finding import EVERYWHERE, Subject
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.settings.broker import BROKER_CHECKS
from kafkatx.rules.settings.checks import Check, HeldSettings, Seen, Wrong, judge
from kafkatx.rules.settings.consumer import CONSUMER_CHECKS
from kafkatx.rules.settings.min_isr import STRICT_WORDS, too_strict
from kafkatx.rules.settings.missing_topics import MISSING_WORDS, missing_topics
from kafkatx.rules.settings.misuse import (
    MIXED_WORDS,
    OLD_FORMAT_WORDS,
    SET_TWICE_WORDS,
    WITHOUT_ID_WORDS,
    calls_without_id,
    mixed_commits,
    old_formats,
    set_twice,
)
from kafkatx.rules.settings.one_broker import ONE_BROKER_WORDS, TOO_FEW_WORDS, one_broker, too_few_brokers
from kafkatx.rules.settings.producer import PRODUCER_CHECKS
from kafkatx.rules.settings.programs import BROKERS, Program, brokers, consumers, producers
from kafkatx.rules.settings.refused import REFUSED_WORDS, refused
from kafkatx.rules.settings.state_topic import RESIZED_WORDS, resized_state_topic
from kafkatx.rules.settings.too_large import TOO_LARGE_WORDS
from kafkatx.terms.catalogue.frameworks import Framework
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import Bound, Phrase, StepWords, Words, actor, gap, included, step
from kafkatx.words.proposals import Remedies
from kafkatx.words.template import pick
from kafkatx.words.values import JoinedValues, NameList, Refs, facts

MOST_NAMED, MOST_PLACES = 4, 8


class ProgramKind(Enum):
    """What has settings."""

    producer = "producer"
    consumer = "consumer"
    brokers = "brokers"


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """Who has the settings, and the files and logs that say so; `is_asked`: the check reads some."""

    name: str
    kind: ProgramKind
    framework: Framework | None
    sources: JoinedValues[str]
    is_asked: bool


@facts
class Facts:
    """Programs that fail one check with the same settings; what that led to is told of the first where it is seen."""

    check: str
    held: HeldSettings
    names: NameList
    owners: tuple[ProgramFacts, ...]
    places: Refs
    seen: Seen | None
    effect: Bound[StepWords] | None
    remedies: Remedies

    @property
    def owners_have(self) -> str:
        """How the summary begins: `orders-1 has`, `The brokers have`."""
        are_many = len(self.names) > 1 or self.names[0] == BROKERS
        said = f"{self.names:{MOST_NAMED}} {'have' if are_many else 'has'}"
        is_id = self.owners[0].kind is ProgramKind.producer
        return said if is_id else said[0].upper() + said[1:]

    @property
    def is_seen(self) -> bool:
        """Whether its effect was seen."""
        return self.effect is not None


@facts
class WholeCluster:
    """What a gap is about that is no id's or partition's."""


def find(model: CaptureModel) -> Found:
    """One case for each check and the values that fail it, whatever number of clients has them."""
    yield from old_formats(model)
    yield from calls_without_id(model)
    yield from mixed_commits(model)
    yield from set_twice(model)
    yield from too_few_brokers(model)
    yield from resized_state_topic(model)
    yield from one_broker(model)
    yield from missing_topics(model)
    yield from too_strict(model)
    if not model.logs.facts.settings:
        yield NO_SETTINGS.of(WholeCluster())
    wrong = [*_failed(CONSUMER_CHECKS, consumers(model)), *_failed(PRODUCER_CHECKS, producers(model))]
    wrong += _failed(BROKER_CHECKS, [brokers(model)])
    groups: dict[tuple[str, str, int], list[Wrong]] = {}
    for one in wrong:
        groups.setdefault((one.check.name, f"{one.held.all}", one.severity), []).append(one)
    for key in sorted(groups):
        yield _case(groups[key])
    yield from refused(model, _told(wrong))


def _told(wrong: list[Wrong]) -> frozenset[tuple[str | None, int | None]]:
    """Source and line of what failed checks show as their effect."""
    seen = [one.effect.facts for one in wrong if one.effect is not None]
    return frozenset((place.source, place.line) for one in seen if isinstance(one, Seen) for place in one.places)


def _failed(checks: tuple[Check, ...], programs: Iterable[Program]) -> list[Wrong]:
    return [found for program in programs for one in checks if (found := judge(one, program)) is not None]


def _case(group: list[Wrong]) -> Case:
    first = group[0]
    effect = next((one.effect for one in group if one.effect is not None), None)
    ids = [one.program.transactional_id for one in group if one.program.transactional_id is not None]
    owners: dict[str, list[Wrong]] = {}
    for one in group:
        owners.setdefault(one.program.name, []).append(one)
    return Case(
        facts=Facts(
            check=first.check.name,
            held=first.held,
            names=NameList(owners),
            owners=tuple(_owner(alike) for alike in list(owners.values())[:MOST_NAMED]),
            places=tuple(dict.fromkeys(place for one in group for place in one.places))[:MOST_PLACES],
            seen=effect.facts if effect is not None and isinstance(effect.facts, Seen) else None,
            effect=effect,
            remedies=first.check.remedies(first.program),
        ),
        verdict=min(one.verdict for one in group),
        severity=first.severity,
        transactional_id=ids[0] if len(ids) == 1 == len(group) else None,
        count=len(group),
        subjects=tuple(Subject(name) for name in _chosen(ids)) if len(ids) > 1 else (),
    )


def _owner(alike: list[Wrong]) -> ProgramFacts:
    """Programs of one name are one owner: the members of a consumer group have no other."""
    program = alike[0].program
    kind = (
        ProgramKind.producer
        if program.transactional_id
        else ProgramKind.consumer
        if program.consumer
        else ProgramKind.brokers
    )
    sources = sorted({place.source for one in alike for place in one.places if place.source})
    reads = bool(alike[0].check.reads)
    return ProgramFacts(program.name, kind, program.advised.framework, JoinedValues(sources), reads)


def _chosen(names: list[str]) -> list[str]:
    """First, typical and last."""
    return [names[at] for at in dict.fromkeys((0, len(names) // 2, len(names) - 1))]


NO_SETTINGS = Phrase(
    WholeCluster, gap(EVERYWHERE, 'server.properties, client.properties or the "ProducerConfig values" block of a log')
)
CHECKS = (*CONSUMER_CHECKS, *PRODUCER_CHECKS, *BROKER_CHECKS)
WORDS = Words(
    Facts,
    title=pick("check", {check.name: check.title for check in CHECKS}),
    who="{names:2}",
    summary=pick(
        "check",
        {
            check.name: (
                "{owners_have} ",
                check.says,
                ". ",
                pick("is_seen", {True: check.led_to or check.leads_to}, check.leads_to),
            )
            for check in CHECKS
        },
    ),
    actors=(
        actor(
            "{each.name}",
            (
                pick(
                    "each.is_asked",
                    {
                        True: (
                            pick("each.kind", {ProgramKind.brokers: ""}, "{each.kind.value}[, {each.framework}], "),
                            pick(
                                "each.sources",
                                {(): "these settings are not in the evidence"},
                                "settings in {each.sources: and }",
                            ),
                        )
                    },
                    "{each.kind.value}[, {each.framework}]",
                ),
            ),
            each="owners",
        ),
    ),
    steps=(
        step("The configuration has {held.all: and }", cites="places", needs="held.all", unless="held.assumed"),
        step(
            "The configuration has {held.all: and }",
            "nothing found sets {held.assumed: or }",
            cites="places",
            needs="held.assumed",
        ),
        included("effect"),
    ),
    remedies=(included("remedies"),),
)

RULE = Rule(
    find=find,
    words=(
        WORDS,
        OLD_FORMAT_WORDS,
        WITHOUT_ID_WORDS,
        MIXED_WORDS,
        SET_TWICE_WORDS,
        REFUSED_WORDS,
        TOO_LARGE_WORDS,
        TOO_FEW_WORDS,
        RESIZED_WORDS,
        ONE_BROKER_WORDS,
        MISSING_WORDS,
        STRICT_WORDS,
    ),
    depth=0,
)
