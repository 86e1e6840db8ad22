"""Ends that logs alone tell: the facts and words that the rules about ends share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from kafkatx.findings.ends import EndGroup
from kafkatx.histories.logs.log_model import Failure
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.explanation import ActorWords, Bound, step
from kafkatx.words.facts import instant, thrown
from kafkatx.words.log_refs import client_seen, failure_refs
from kafkatx.words.values import Count, Instant, Refs, ShownError


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEndFacts:
    """Ends that logs alone tell, of which the first is explained."""

    id: str
    count: Count
    at: Instant
    is_possible: bool
    client: Bound[ActorWords] | None
    refused: ShownError | None
    refused_at: Instant | None
    refusal: Refs


class LogColumns(TypedDict):
    """The fields of LogFacts."""

    id: str
    count: Count
    at: Instant
    is_possible: bool
    client: Bound[ActorWords] | None
    refused: ShownError | None
    refused_at: Instant | None
    refusal: Refs


def log_facts(group: EndGroup, first: LogEnding, failures: Iterable[Failure]) -> LogColumns:
    """Return the facts that all rules have of ends that logs tell.

    `first` is the end that is explained, `failures` are what its client was answered.
    """
    model, answers = group.model, list(failures)
    return LogColumns(
        id=first.name,
        count=group.count,
        at=Instant(first.at),
        is_possible=first.verdict is Verdict.possible,
        client=client_seen(model, first.client, "T1") if first.client is not None else None,
        refused=thrown(answers[0]) if answers else None,
        refused_at=instant(answers[0].at) if answers else None,
        refusal=tuple(place for answer in answers[:3] for place in failure_refs(model, answer)),
    )


REFUSED = step("[at {refused_at} ]its client: {refused}", "the epoch that it had was over", cites="refusal")
"""What the client was answered afterwards."""
