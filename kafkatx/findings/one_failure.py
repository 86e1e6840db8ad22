"""Failures that one error tells by itself: for rules whose mechanism the error names, whatever else is at hand.

Grain    a failure as findings/told_failures.py counts it (one client, call and error; the wrapper, its cause and the
         broker's echo are one); excused ones (tried again, the application's own) are left out. Alike failures of one
         client are told as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from kafkatx.findings.accounts import is_excused
from kafkatx.findings.client_lines import only, producer_at, seen, subjects, times_of, topic_partition
from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure, told_failures
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.methods import method_of
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, TopicPartition

What = TypeVar("What")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureFacts:
    """Alike failures of one client, or of a broker: `error` names them, `place` is the partition where all name one.

    `call` is the method by Java's name, `called` as the client's library has it.
    """

    name: ClientName
    client: Bound[ActorWords] | None
    is_brokers: bool
    error: str
    call: str | None
    called: str | None
    producer_id: int | None
    place: TopicPartition | None
    count: Count
    lines: Refs


@dataclass(frozen=True, slots=True)
class Alike:
    """Failures that are told as one; `rows` are all their lines."""

    first: ToldFailure
    all: tuple[ToldFailure, ...]

    @property
    def rows(self) -> list[int]:
        """Lines of all of them, in order."""
        return sorted({row for told in self.all for row in told.rows})

    @property
    def count(self) -> int:
        """How often it was told at least."""
        return sum(told.count for told in self.all)


def alike(model: CaptureModel, is_meant: Callable[[ToldFailure], bool]) -> Iterator[Alike]:
    """Yield the failures that a rule means, those of one client (or of one producer at the brokers) together."""
    for _, found in alike_by(model, lambda told: is_meant(told) or None):
        yield found


def alike_by(model: CaptureModel, what: Callable[[ToldFailure], What | None]) -> Iterator[tuple[What, Alike]]:
    """Yield the same of several kinds: `what` tells which one a failure is, None where the rule does not mean it."""
    groups: dict[tuple[What, ClientName, int | None, bool], list[ToldFailure]] = {}
    for told in left(model):
        if (kind := what(told)) is not None:
            who = client_name(told.client) if told.client is not None else ClientName(told.transactional_id, None)
            producer_id = told.producer_id if told.is_brokers else None
            groups.setdefault((kind, who, producer_id, told.is_brokers), []).append(told)
    for (kind, *_), found in groups.items():
        yield kind, Alike(found[0], tuple(found))


def known_as(told: ToldFailure, *names: str) -> bool:
    """Whether a failure is one of these errors of the protocol."""
    return told.known is not None and told.known.name in names


def says(logs: LogModel, told: ToldFailure, *texts: str) -> bool:
    """Whether its lines hold one of these texts."""
    return any(text in words for row in told.rows for words in (logs.words(row),) for text in texts)


def is_of(logs: LogModel, told: ToldFailure, *kinds: EventKind) -> bool:
    """Whether it was told by lines of these kinds."""
    return any(logs.kind(row) in kinds for row in told.rows)


def failed_before(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether the same client, or somebody not named in the same text, had failed for another reason before."""
    logs = model.logs
    source, first = int(logs.events["source"][told.rows[0]]), told.rows[0]
    return any(
        other.rows[0] < first
        and int(logs.events["source"][other.rows[0]]) == source
        and (other.client is told.client or told.client is None or other.client is None)
        and other.error != told.error
        for other in left(model)
    )


@once
def left(model: CaptureModel) -> list[ToldFailure]:
    """Every failure that is not excused, in the order of their lines; no request that is only made again."""
    return [told for told in told_failures(model) if not (told.is_retry or is_excused(model.logs, told))]


def failure_facts(model: CaptureModel, found: Alike) -> dict[str, Any]:
    """Return the fields of FailureFacts."""
    logs, told = model.logs, found.first
    name = client_name(told.client) if told.client is not None else ClientName(told.transactional_id, None)
    place = only(place for row in found.rows if (place := topic_partition(logs, row)) is not None)
    return {
        "name": name,
        "client": seen(model, told.client),
        "is_brokers": told.is_brokers,
        "error": told.known.name if told.known is not None else told.error,
        "call": told.call,
        "called": method_of(told.call, told.client) if told.call is not None else None,
        "producer_id": _producer_id(found),
        "place": TopicPartition(*place) if place is not None else None,
        "count": Count(found.count),
        "lines": event_refs(model, found.rows, 4),
    }


def _producer_id(found: Alike) -> int | None:
    told = found.first
    return told.producer_id if told.producer_id is not None else producer_at(told.client, told.rows[0])[0]


def failure_case(model: CaptureModel, found: Alike, told: FailureFacts, verdict: Verdict, severity: Severity) -> Case:
    """Return the case of a rule about them."""
    since, until = times_of(model.logs, found.rows)
    epoch = producer_at(found.first.client, found.first.rows[0])[1] if told.producer_id is not None else None
    return Case(
        facts=told,
        verdict=verdict,
        severity=severity,
        transactional_id=told.name.transactional_id,
        producer_id=told.producer_id,
        producer_epoch=epoch,
        topic=told.place.topic if told.place is not None else None,
        partition=told.place.partition if told.place is not None else None,
        since=since,
        until=until,
        count=found.count,
        subjects=subjects([Subject(one.transactional_id, one.producer_id) for one in found.all]),
    )


OF_WHOM = "[ of {name.transactional_id}]"
THE_CALL = (pick("called", {None: "A call", "send": "A send"}, "{called}"), OF_WHOM)
"""What a sentence about the call that failed begins with."""
