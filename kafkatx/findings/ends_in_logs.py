"""Ends that logs alone tell: the facts and words that the rules about ends share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends import EndFacts, end_facts
from kafkatx.histories.logs.client_instance import Failure
from kafkatx.histories.transaction_ends import LogEnding
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import ActorWords, Bound, step
from kafkatx.words.facts import instant, thrown
from kafkatx.words.log_refs import client_seen, failure_refs, testimony_refs
from kafkatx.words.values import Instant, Refs, ShownError


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEndFacts(EndFacts):
    """Ends that logs alone tell, of which the first is explained."""

    client: Bound[ActorWords] | None
    refused: ShownError | None
    refused_at: Instant | None
    refusal: Refs
    told: Refs


def log_facts(group: EndGroup, first: LogEnding, failures: Iterable[Failure]) -> dict[str, Any]:
    """Return the fields of LogEndFacts.

    `first` is the end that is explained, `failures` are what its client was answered.
    """
    model, answers = group.model, list(failures)
    return {
        **end_facts(group),
        "at": Instant(first.at),
        "client": client_seen(model, first.client, "T1") if first.client is not None else None,
        "refused": thrown(answers[0]) if answers else None,
        "refused_at": instant(answers[0].at) if answers else None,
        "told": testimony_refs(first.told.path, first.told.statements) if first.told is not None else (),
        "refusal": tuple(place for answer in answers[:3] for place in failure_refs(model, answer)),
    }


FENCED_AT = "The producer of {whom} was fenced[ at {refused_at}]"
"""How a summary begins where a refusal is all there is."""
EITHER = "fenced, by a second instance or a timeout"
"""The title of a refusal that neither can be told for."""
REFUSED = step("The client was refused[ at {refused_at}]: {refused}", cites="refusal")
"""What the client was answered afterwards."""
TOLD = step("What is said beside these lines speaks for that", cites="told", needs="told")
"""People's words, where they decided and no line did."""
