"""The coordinator forgot an idle transactional.id (transactional.id.expiration.ms), and somebody used it again.

Mechanism    Once an hour the coordinator removes ids in Empty, CompleteCommit or CompleteAbort whose last update is
             older than transactional.id.expiration.ms: a tombstone, and not a word in the log. A producer that still
             lives gets InvalidPidMappingException; a new initTransactions gets a new producer id, which fences nobody.
Evidence     a tombstone in `__transaction_state`, idle time before it, then the id with another producer id at epoch 0.
             By logs alone: InvalidPidMappingException after a pause longer than the expiration in force.
Against      the same producer id writes after the gap: then nothing expired.
Look-alikes  producer_epoch_exhausted (the producer id changes too, after epoch 32766); a topic or id deleted by hand;
             one-shot ids that nobody uses again (not reported).
Remedy       an expiration above the longest idle time, a producer that is made anew before, or a transaction now and
             then.
Source       KIP-98, KIP-360, KIP-854; TransactionStateManager.removeExpiredTransactionalIds (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.conditions import by_settings
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.one_failure import FailureFacts, alike, failure_case, failure_facts, known_as
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.answers.unknown_id import UNKNOWN_ID_WORDS, unknown_told
from kafkatx.rules.expiries.forgotten import SETTING, UNMAPPED, expiration_of
from kafkatx.rules.expiries.in_logs import ENDED, LOG_WORDS, told_in_logs
from kafkatx.rules.expiries.in_rows import ROW_WORDS, after_gaps, after_tombstones
from kafkatx.rules.expiries.without_id import lacks_id
from kafkatx.rules.producer_restarted_empty import lost_records
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import facts

SENT = (EventKind.produce_retry, EventKind.produce_failed, EventKind.batch_expired, EventKind.idempotent_bump)
"""Lines about batches that were under way: their partitions were in a transaction that the coordinator knew."""
AT_WORK = (*ENDED, EventKind.begin_called, *SENT)


@facts
class ExpiredByError(FailureFacts):
    """A client that was told so, of which no more than the error is known."""


def find(model: CaptureModel) -> Found:
    """One case for each id that came back after its tombstone, or with another producer id after seven idle days.

    Where rows don't tell, the error of a client that met it.
    """
    found = [*after_tombstones(model), *after_gaps(model)]
    yield from found
    told = list(unknown_told(model))
    yield from told
    lost = {one.id for one in lost_records(model)}
    in_logs = list(told_in_logs(model, {case.transactional_id for case in found} | lost))
    yield from in_logs
    if not found and not in_logs and not told and not lost:
        yield from _by_the_error(model)


def _by_the_error(model: CaptureModel) -> Iterator[Case]:
    """One case for each client whose id or lines nothing else tells of: the error alone, where nothing refutes it."""
    for alone in alike(model, lambda told: known_as(told, UNMAPPED.name) and not _is_refuted(model, told)):
        told = ExpiredByError(**failure_facts(model, alone))
        verdict = Verdict.possible if _was_active(model, alone.first) else Verdict.likely
        yield failure_case(model, alone, told, verdict, Severity.error)


def _is_refuted(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether the coordinator's rows know the id, the ids of the client say nothing of it, or the client has none."""
    client, name = told.client, told.transactional_id
    if lacks_id(model, told):
        return True
    if name is not None and model.latest_of(model.id_code(name)) is not None:
        return True
    return client is not None and name is not None and (not client.owns_producer_ids or hands_ids_on(model, name))


def _was_active(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether a line before shows the client, or somebody not named there, at work less than the expiration before."""
    logs, first, at = model.logs, told.rows[0], told.at
    given_up = [row for row in logs.of_kind(EventKind.failure).tolist() if logs.expiry(row) is not None]
    for row in (*logs.of_kind(*AT_WORK).tolist(), *given_up):
        is_earlier = row < first and logs.path(row) == logs.path(first) and logs.error(row) is not UNMAPPED
        if is_earlier and _may_be_one(logs, row, first):
            before = logs.at(row)
            if at is None or before is None or at - before < expiration_of(model):
                return True
    return False


def _may_be_one(logs: LogModel, row: int, other: int) -> bool:
    """Whether two lines are of one client, as far as they name it."""
    if logs.owners[row] == logs.owners[other]:
        return True
    names = ({logs.string(row, column), logs.string(other, column)} for column in ("transactional_id", "client_id"))
    return all(len(told - {None}) < 2 for told in names)


ERROR_WORDS = Words(
    ExpiredByError,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title="the coordinator forgot the transactional.id",
    summary=(
        "The coordinator did not know the producer id of ",
        pick("name.transactional_id", {None: "this transactional.id"}, "{name.transactional_id}"),
        f" any more. The id had[ {{perhaps}}] expired: it is forgotten after {SETTING} without a transaction (7 days "
        "by default).",
    ),
    actors=(included("client"),),
    steps=(
        step(
            pick("count", {1: "The client was refused"}, "The client was refused {count:time}"),
            "INVALID_PRODUCER_ID_MAPPING: the id is not mapped to this producer id",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("producer_state_expired", "the coordinator refused, not the leader of a partition"),
        left_open(
            "producer_restarted_empty",
            "the coordinator's records may have been lost, or the client may talk to another cluster",
            decided_by="the records of the id in __transaction_state, and when it was used before",
        ),
    ),
    remedies=(
        remedy(
            "Close this producer and create a new one with the same transactional.id; initTransactions maps it anew. "
            "Then send the records of the failed transaction again: they were not committed",
            "application",
        ),
        remedy(
            text="Raise transactional.id.expiration.ms above the longest idle time of a producer, or write more often",
            where="broker",
            config=SETTING,
            restart_needed=True,
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(ROW_WORDS, LOG_WORDS, ERROR_WORDS, UNKNOWN_ID_WORDS),
    depth=3,
    caused_by=(("misconfiguration", by_settings(SETTING)),),
)
