"""Which causes fit a failure, the likeliest in this evidence first.

Order   the catalogue's, the commonest first; what times and neighbours speak for comes before, what they speak against
        behind. A transaction older than its timeout was probably timed out, one at its first half was not; an id with
        another instance in the evidence was probably taken over, one of which people say that nobody else has it was
        not, nor one that holds a UUID: each process makes its own (Streams with exactly_once_v2). What lines show
        counts before what people say on the page (testimony.speaking).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkatx.findings.client_lines import rows_of
from kafkatx.findings.known_defects import met_defects
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.testimony import is_said_alone, speaking, statements_of
from kafkatx.rules.candidates.words import CANDIDATES, CandidateFacts
from kafkatx.terms.catalogue.random_ids import shape_of
from kafkatx.terms.clocks import EXPIRATION_MS, TRANSACTION_TIMEOUT_MS
from kafkatx.terms.events import EventKind
from kafkatx.text.events import Statement
from kafkatx.words.config_context import advised
from kafkatx.words.facts import lasting
from kafkatx.words.values import Duration, Quoted

MOST = 3
"""Causes that are named."""
MANY_ROLL_OVERS = 3


def weighed(model: CaptureModel, told: ToldFailure) -> list[tuple[str, CandidateFacts]]:
    """The causes that fit a failure, with what speaks for and against them."""
    fits = _fits(model, told)
    spoken = speaking(told.candidates, statements_of(model.logs, model.logs.path(told.rows[0])))
    named = (rule for rule in told.candidates if rule in CANDIDATES)
    found = sorted(named, key=lambda rule: (_weight(rule, fits), rule not in spoken))
    if fits.defect_rule is not None:
        found = list(dict.fromkeys([*found[:1], fits.defect_rule, *found[1:]]))
    return [(rule, _saying(fits, spoken.get(rule))) for rule in found[:MOST]]


def _saying(fits: CandidateFacts, said: Statement | None) -> CandidateFacts:
    """The same with somebody's words that speak for a cause."""
    return replace(fits, said=Quoted(said.text)) if said is not None else fits


def _weight(rule: str, fits: CandidateFacts) -> int:
    """Less is likelier."""
    if rule == "transaction_timed_out":
        return -1 if fits.is_late else 1 if fits.is_early else -1 if fits.is_said_alone or fits.is_own_id else 0
    if rule == "fenced_by_new_instance":
        return -2 if fits.has_other_instance else 1 if fits.is_late or fits.is_said_alone or fits.is_own_id else 0
    if rule == "producer_epoch_exhausted":
        return -1 if fits.has_rolled_over else 0
    if rule == "transactional_id_expired":
        return -1 if fits.idle is not None else 0
    return 0


def _fits(model: CaptureModel, told: ToldFailure) -> CandidateFacts:
    """Return times against timeouts, and whether there are other instances of the id."""
    client, row = told.client, told.rows[0]
    begun = _last_before(model, client, row, EventKind.begin_called, EventKind.producer_id_set)
    idle = _between(model, _line_before(client, row), row)
    return CandidateFacts(
        age=lasting(_between(model, begun, row)),
        timeout=_timeout(model, told),
        idle=lasting(idle) if idle is not None and idle >= EXPIRATION_MS else None,
        has_other_instance=any(one.initialisations for one in _others(model, told)),
        has_rolled_over=_rolled_over(model, told) >= MANY_ROLL_OVERS,
        is_said_alone=is_said_alone(model.logs, model.logs.path(row)),
        is_own_id=told.transactional_id is not None and "<uuid>" in shape_of(told.transactional_id),
        said=None,
        **_defect(model, told),
    )


def _defect(model: CaptureModel, told: ToldFailure) -> dict[str, str]:
    """The known defect that fits the lines of a failure, but is not sure."""
    met = next((met for met in met_defects(model) if not set(met.rows).isdisjoint(told.rows)), None)
    if met is None:
        return {}
    defect = met.defect
    return {"defect": defect.id, "defect_of": defect.product, "defect_is": defect.meaning, "defect_rule": defect.rule}


def _rolled_over(model: CaptureModel, told: ToldFailure) -> int:
    """How often an idempotent client without a transactional.id had raised its own epoch, by the lines before."""
    events = model.logs.events
    if told.transactional_id is not None:
        return 0
    rows = [row for row in model.logs.of_kind(EventKind.idempotent_bump).tolist() if row < told.rows[0]]
    mine = [row for row in rows if events["source"][row] == events["source"][told.rows[0]]]
    return sum(1 + max(0, int(events["repeats"][row])) for row in mine)


def _others(model: CaptureModel, told: ToldFailure) -> Iterator[ClientInstance]:
    """Other instances of the id; of a failure of nobody those in its source, where they are of one id."""
    if told.transactional_id is not None:
        yield from (one for one in model.logs.clients_of(told.transactional_id) if one is not told.client)
        return
    source = int(model.logs.events["source"][told.rows[0]])
    beside = [one for one in model.logs.clients if one.source == source and one is not told.client]
    if len({one.transactional_id for one in beside}) == 1:
        yield from beside


def _timeout(model: CaptureModel, told: ToldFailure) -> Duration | None:
    """transaction.timeout.ms of the client: as configured, else the default."""
    setting = advised(model, told.transactional_id, told.client).client("transaction.timeout.ms")
    return lasting(setting.number if setting.number is not None else TRANSACTION_TIMEOUT_MS)


def _last_before(model: CaptureModel, client: ClientInstance | None, row: int, *kinds: EventKind) -> int | None:
    """The last line of a client before one that is of these kinds."""
    found = [at for at in rows_of(model.logs, client, *kinds).tolist() if at < row] if client is not None else []
    return found[-1] if found else None


def _line_before(client: ClientInstance | None, row: int) -> int | None:
    """The client's line before one."""
    before = [at for at in (client.rows if client is not None else ()) if at < row]
    return before[-1] if before else None


def _between(model: CaptureModel, one: int | None, other: int) -> int | None:
    """Milliseconds from one line to another; None where one has no time."""
    first, second = model.logs.at(one) if one is not None else None, model.logs.at(other)
    return second - first if first is not None and second is not None and second >= first else None
