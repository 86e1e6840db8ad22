"""INVALID_PRODUCER_ID_MAPPING that a producer without a transactional.id met: no coordinator of Kafka answers so.

Kafka's brokers hold a producer id against an id's only in requests that name a transactional.id. A producer that is
only idempotent is answered so by other products that keep producer ids themselves (Azure Event Hubs): they had lost
its producer id, and what it sends is refused until it asks for another one. That it has no id its own bracket shows
(Java prints the id of every producer that has one), or the page says it: it speaks of idempotence or of that product,
and of no transaction.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.one_failure import FailureFacts, alike_by, failure_case, failure_facts, known_as
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.rules.expiries.forgotten import UNMAPPED
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Statement
from kafkatx.text.prose.statements import ONLY_IDEMPOTENT
from kafkatx.words.explanation import Words, included, left_open, remedy, step
from kafkatx.words.log_refs import testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Refs, facts

BY_JAVA = (EventKind.to_abortable, EventKind.to_fatal)
"""Lines that begin with the bracket of their client."""


@facts
class UnmappedWithoutId(FailureFacts):
    """Refusals of a producer id that has no transactional.id; `said` are the words that say so, where no line does."""

    said: Refs


def unmapped_without_id(model: CaptureModel) -> Iterator[Case]:
    """One case for each client that was refused so and has no id."""
    for is_seen, found in alike_by(model, lambda told: _has_no_id(model, told)):
        said = () if is_seen else tuple(_says_so(model.logs, found.first))
        told = UnmappedWithoutId(
            **failure_facts(model, found), said=testimony_refs(model.logs.path(found.rows[0]), said)
        )
        yield failure_case(model, found, told, Verdict.likely if is_seen else Verdict.possible, Severity.error)


def lacks_id(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether a refused producer has no transactional.id, by its lines or by what is said beside them."""
    return _has_no_id(model, told) is not None


def _has_no_id(model: CaptureModel, told: ToldFailure) -> bool | None:
    """True where a line shows it, False where only the page says it, None where neither does."""
    if told.is_brokers or told.transactional_id is not None or not known_as(told, UNMAPPED.name):
        return None
    if any(_is_without_id(model.logs, row) for row in told.rows):
        return True
    return False if not model.labels.transactional_ids and any(_says_so(model.logs, told)) else None


def _is_without_id(logs: LogModel, row: int) -> bool:
    client_id = logs.string(row, "client_id")
    is_java = client_id is not None and "#" not in client_id and "Exception" in (logs.string(row, "error") or "")
    return is_java and logs.kind(row) in BY_JAVA


def _says_so(logs: LogModel, told: ToldFailure) -> Iterator[Statement]:
    """The first words of the page by which its producers are only idempotent."""
    said = statements_of(logs, logs.path(told.rows[0]))
    yield from [one for one in said if one.name == ONLY_IDEMPOTENT][:1]


WITHOUT_ID_WORDS = Words(
    UnmappedWithoutId,
    who="[client {name.client_id}]",
    title="the service forgot the producer id",
    summary=(
        "The producer was refused, since its producer id was not known any more; it has[ {perhaps}] no "
        "transactional.id. Kafka's brokers answer so only where there is one: another product answered, as Azure Event "
        "Hubs does, which had lost the producer id. The same producer is refused until it is made anew."
    ),
    actors=(included("client"),),
    steps=(
        step(
            pick("count", {1: "The client was refused"}, "The client was refused {count:time}"),
            "INVALID_PRODUCER_ID_MAPPING, and the client has no transactional.id",
            cites="lines",
        ),
        step("What is said beside these lines speaks for that", cites="said", needs="said"),
    ),
    considered=(
        left_open(
            "transactional_id_expired",
            "it is what the answer means for a producer that has an id",
            decided_by="the settings of the client: whether it has a transactional.id",
        ),
    ),
    remedies=(
        remedy("Close this producer and create a new one. Then send again what was not acknowledged", "application"),
        remedy(
            "Where it comes again: make the producer anew after this error, or set enable.idempotence=false for this "
            "service, where records that are written twice do no harm",
            "client",
        ),
    ),
)
