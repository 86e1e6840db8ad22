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
from dataclasses import dataclass, replace

from kafkatx.findings.conditions import by_settings
from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.grants import begins_anew
from kafkatx.findings.one_failure import FailureFacts, alike, failure_case, failure_facts, known_as
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import ClientInstance, Failure, Initialised
from kafkatx.histories.logs.settings import Effective
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, TOMBSTONE
from kafkatx.rules.answers.unknown_id import UNKNOWN_ID_WORDS, unknown_told
from kafkatx.terms.catalogue.frameworks import CONNECT, STREAMS, Framework
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, EXPIRATION_MS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.evidence_refs import initialised_row, row_before
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import (
    ActorWords,
    Bound,
    Phrase,
    Words,
    included,
    left_open,
    measure,
    remedy,
    ruled_out,
    step,
)
from kafkatx.words.facts import client_name, thrown
from kafkatx.words.log_refs import client_seen, event_ref, failure_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import id_expiration
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Duration, Instant, Refs, ShownError, facts

SETTING = "transactional.id.expiration.ms"
ONE_HOUR_MS, SLACK_MS = 3_600_000, 300_000
EXHAUSTED = 32_766
MAY_EXPIRE = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
UNMAPPED = ErrorCode.INVALID_PRODUCER_ID_MAPPING
ENDED = (EventKind.producer_id_set, EventKind.init_called, EventKind.commit_called, EventKind.abort_called)
"""Lines of a client that was answered by its coordinator then, or ended a transaction."""
AT_WORK = (*ENDED, EventKind.begin_called)


@dataclass(frozen=True, slots=True)
class Met:
    """What a living producer was told when it used the id again."""

    by: ClientName
    answer: ShownError
    lines: Refs


@facts
class ExpiredInRows:
    """An id that came back with another producer id, after its tombstone or where compaction removed that.

    `expiration` is the one in force (`is_set`: somebody says so, else it is the default), `fits` whether the idle time
    before the tombstone is that of an expiry; `at` is when it was gone, or back.
    """

    id: str
    idle: Duration
    at: Instant
    old: int
    new: int
    last_epoch: int
    expiration: Duration
    is_set: bool
    fits: bool
    met: Met | None
    restarts: Framework | None
    before: Refs
    tombstone: Refs
    back: Refs
    longer: Remedies


@dataclass(frozen=True, slots=True)
class Silence:
    """The time before an error in which a client's log shows nothing; `lasted` is None where the error has no time."""

    since: Instant
    lasted: Duration | None
    before: Refs


@dataclass(frozen=True, slots=True)
class Replaced:
    """The producer id that a client was given after the error, instead of the one that it had."""

    old: int
    new: int
    line: Refs


@facts
class ExpiredInLogs:
    """A client that was told of an expired id; `is_long`: its silence was longer than the expiration in force."""

    id: str
    answer: ShownError
    silence: Silence | None
    replaced: Replaced | None
    is_long: bool
    setting: Effective
    expiration: Duration
    restarts: Framework | None
    client: Bound[ActorWords]
    lines: Refs
    longer: Remedies


@facts
class ExpiredByError(FailureFacts):
    """A client that was told so, of which no more than the error is known."""


def find(model: CaptureModel) -> Found:
    """One case for each id that came back after its tombstone, or with another producer id after seven idle days.

    Where rows don't tell, the error of a client that met it.
    """
    found = [*_after_tombstones(model), *_after_gaps(model)]
    yield from found
    told = list(unknown_told(model))
    yield from told
    in_logs = list(_in_logs(model, {case.transactional_id for case in found}))
    yield from in_logs
    if not found and not in_logs and not told:
        yield from _by_the_error(model)


def _after_tombstones(model: CaptureModel) -> Iterator[Case]:
    rows = model.initialisations
    tombstones = {(int(row["id_code"]), int(row["offset"])): row for row in rows[rows["is_tombstone"] == 1]}
    for back in rows[(rows["is_tombstone"] == 0) & (rows["previous_state"] == TOMBSTONE)]:
        tombstone = tombstones.get((int(back["id_code"]), int(back["previous_offset"])))
        if tombstone is not None and tombstone["previous_state"] in MAY_EXPIRE:
            idle = int(tombstone["timestamp"] - tombstone["previous_updated_at"])
            yield _in_rows(model, tombstone, back, idle, (_tombstone(tombstone),))


def _tombstone(row: Array) -> EvidenceRef:
    partition, offset, at = int(row["state_partition"]), int(row["offset"]), int(row["timestamp"])
    return EvidenceRef(TRANSACTION_STATE, partition, offset, at, "tombstone of the id")


def _after_gaps(model: CaptureModel) -> Iterator[Case]:
    rows = model.initialisations
    changed = (
        (rows["is_tombstone"] == 0)
        & (rows["previous_state"] >= 0)
        & (rows["previous_producer_id"] != rows["producer_id"])
    )
    idle = rows["updated_at"] - rows["previous_updated_at"] >= _expiration(model)
    for back in rows[changed & idle & (rows["producer_epoch"] == 0) & (rows["previous_epoch"] < EXHAUSTED)]:
        yield _in_rows(model, back, back, int(back["updated_at"] - back["previous_updated_at"]), ())


def _expiration(model: CaptureModel) -> int:
    """transactional.id.expiration.ms as brokers say it, else the default."""
    limit = model.logs.settings.value("broker", SETTING)
    return limit.number if limit.is_known and limit.number is not None else EXPIRATION_MS


def _in_rows(model: CaptureModel, before: Array, back: Array, idle: int, tombstone: Refs) -> Case:
    """An id of which `before` is the row that its idle time follows: its tombstone, else the row of its return."""
    name, expiration = model.transactional_id(int(back["id_code"])), _expiration(model)
    fits = bool(tombstone) and expiration <= idle <= expiration + ONE_HOUR_MS + SLACK_MS
    met = _met_by_client(model, name)
    return Case(
        facts=ExpiredInRows(
            id=name,
            idle=Duration(idle),
            at=Instant(before["previous_updated_at"] + idle),
            old=int(before["previous_producer_id"]),
            new=int(back["producer_id"]),
            last_epoch=int(before["previous_epoch"]),
            expiration=Duration(expiration),
            is_set=model.logs.settings.value("broker", SETTING).is_known,
            fits=fits,
            met=met,
            restarts=_restarts(model, name),
            before=(row_before(before),),
            tombstone=tombstone,
            back=(initialised_row(back),),
            longer=_longer(model, name, int(back["timestamp"] - before["previous_updated_at"]), fits),
        ),
        verdict=Verdict.proved if fits else Verdict.likely,
        severity=Severity.warning if met is None else Severity.error,
        transactional_id=name,
        producer_id=int(before["previous_producer_id"]),
        producer_epoch=int(before["previous_epoch"]),
        since=int(before["previous_updated_at"]),
        until=int(back["timestamp"]),
    )


def _longer(model: CaptureModel, transactional_id: str, idle: int, is_default: bool) -> Remedies:
    """The current setting is known where somebody says it, or where the default shows itself."""
    whom = advised(model, transactional_id)
    shown = {SETTING: EXPIRATION_MS} if is_default else {}
    measured = UNTIL_USED.of(Lasted(Duration(idle)))
    return id_expiration(replace(whom, current=whom.current | shown), idle, measured, is_default)


def _restarts(model: CaptureModel, name: str, client: ClientInstance | None = None) -> Framework | None:
    """The framework that runs the producer for certain and reads its input again by itself."""
    framework = advised(model, name, client).framework
    if framework is None or framework.certainty is not Verdict.proved or framework.name not in STREAMS | CONNECT:
        return None
    return framework


def _met_by_client(model: CaptureModel, name: str) -> Met | None:
    """The client that was told of an expired id, for the finding that rows make of it."""
    for client in model.logs.clients_of(name):
        for failure in client.failures:
            if failure.error is UNMAPPED:
                return Met(client_name(client), thrown(failure), failure_refs(model, failure))
    return None


def _in_logs(model: CaptureModel, told: set[str | None]) -> Iterator[Case]:
    """One case for each client that was told so, unless rows tell it already (`told`) or refute it."""
    for client in model.logs.clients:
        name = client.transactional_id
        failure = next((one for one in client.failures if one.error is UNMAPPED), None)
        if name is None or failure is None or not client.owns_producer_ids or name in told:
            continue
        new = _replaced(model, client, failure)
        if not _goes_on(model, name, client, failure) and (new is None or not begins_anew(new.old, new.new)):
            yield _of_client(model, name, client, failure)


def _by_the_error(model: CaptureModel) -> Iterator[Case]:
    """One case for each client whose id or lines nothing else tells of: the error alone, where nothing refutes it."""
    for alone in alike(model, lambda told: known_as(told, UNMAPPED.name) and not _is_refuted(model, told)):
        told = ExpiredByError(**failure_facts(model, alone))
        verdict = Verdict.possible if _was_active(model, alone.first) else Verdict.likely
        yield failure_case(model, alone, told, verdict, Severity.error)


def _is_refuted(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether the coordinator's rows know the id, or the ids of the client say nothing of it."""
    client, name = told.client, told.transactional_id
    if name is not None and model.latest_of(model.id_code(name)) is not None:
        return True
    return client is not None and name is not None and (not client.owns_producer_ids or hands_ids_on(model, name))


def _was_active(model: CaptureModel, told: ToldFailure) -> bool:
    """Whether a line before shows the client, or somebody not named there, at work less than the expiration before."""
    logs, first, at = model.logs, told.rows[0], told.at
    for row in logs.of_kind(*AT_WORK).tolist():
        same = logs.owners[row] == logs.owners[first] or logs.owners[row] < 0 or logs.owners[first] < 0
        if row < first and same and logs.events["source"][row] == logs.events["source"][first]:
            before = logs.at(row)
            if at is None or before is None or at - before < _expiration(model):
                return True
    return False


def _of_client(model: CaptureModel, name: str, client: ClientInstance, failure: Failure) -> Case:
    silence, old = _silence(model, client, failure), _given_before(client, failure)
    facts = _log_facts(model, name, client, failure, silence)
    is_open = facts.is_long or silence is None or silence.lasted is None
    is_its_own = not hands_ids_on(model, name) or _was_restored(model, client)
    return Case(
        facts=facts,
        verdict=Verdict.likely if is_open and is_its_own else Verdict.possible,
        severity=Severity.error if facts.is_long and failure.category == "fatal" else Severity.warning,
        transactional_id=name,
        producer_id=old.producer_id if old is not None else None,
        producer_epoch=old.producer_epoch if old is not None else None,
        since=int(silence.since) if silence is not None else failure.at,
        until=failure.at,
    )


def _was_restored(model: CaptureModel, client: ClientInstance) -> bool:
    """Whether a line names id, producer id and epoch of what could not be committed: those that a checkpoint kept."""
    logs = model.logs
    rows = {row for failure in client.failures for row in failure.rows}
    return any(logs.number(row, "producer_id") is not None and logs.string(row, "transactional_id") for row in rows)


def _log_facts(
    model: CaptureModel, name: str, client: ClientInstance, failure: Failure, silence: Silence | None
) -> ExpiredInLogs:
    idle = silence.lasted if silence is not None else None
    setting = model.logs.settings.value("broker", SETTING)
    expiration = setting.number or EXPIRATION_MS
    is_long = idle is not None and idle + CLIENT_TOLERANCE_MS > expiration
    whom, measured = advised(model, name, client), IDLE.of(Lasted(Duration(idle or 0)))
    return ExpiredInLogs(
        id=name,
        answer=thrown(failure),
        silence=silence,
        replaced=_replaced(model, client, failure),
        is_long=is_long,
        setting=setting,
        expiration=Duration(expiration),
        restarts=_restarts(model, name, client),
        client=client_seen(model, client),
        lines=failure_refs(model, failure),
        longer=id_expiration(whom, idle or 0, measured) if is_long else (),
    )


def _goes_on(model: CaptureModel, name: str, client: ClientInstance, failure: Failure) -> bool:
    """Whether the coordinator's rows know the id under the same producer id after that: then nothing had expired."""
    latest = model.latest_of(model.id_code(name))
    if latest is None or latest["state"] < 0 or failure.at is None:
        return False
    return int(latest["producer_id"]) in client.producer_ids and int(latest["timestamp"]) > failure.at


def _silence(model: CaptureModel, client: ClientInstance, failure: Failure) -> Silence | None:
    """From the client's last line before the failure began to show, or before the attempt that failed."""
    times, first = model.logs.times, min(failure.rows or (failure.row,))
    earlier = [row for row in client.rows if row < first and times[row] >= 0]
    if not earlier:
        return None
    last, until = _before_attempt(model, earlier, first) or (earlier[-1], failure.at)
    since = int(times[last])
    lasted = Duration(max(0, until - since)) if until is not None else None
    return Silence(Instant(since), lasted, (event_ref(model, last),))


def _before_attempt(model: CaptureModel, earlier: list[int], first: int) -> tuple[int, int] | None:
    """The last line before a long silence, and its end, where only the attempt that failed stands behind it."""
    logs, times = model.logs, model.logs.times
    for last, later in zip(reversed(earlier), (first, *reversed(earlier)), strict=False):
        if times[later] - times[last] >= EXPIRATION_MS and times[later] >= 0:
            return last, int(times[later])
        if logs.kind(last) in ENDED:
            return None
    return None


def _given_before(client: ClientInstance, failure: Failure) -> Initialised | None:
    """What the client had been given last when it failed."""
    return next((one for one in reversed(client.initialisations) if one.row < failure.row), None)


def _replaced(model: CaptureModel, client: ClientInstance, failure: Failure) -> Replaced | None:
    old = _given_before(client, failure)
    new = next((one for one in client.initialisations if one.row > failure.row), None)
    if old is None or new is None or old.producer_id == new.producer_id:
        return None
    return Replaced(old.producer_id, new.producer_id, (event_ref(model, new.row),))


UNTIL_USED = Phrase(Lasted, measure("the id was idle for {time} until it was used again"))
IDLE = Phrase(Lasted, measure("it was idle for {time}"))
AGAIN = pick(
    "restarts",
    {None: " the records of the failed transaction again if the application did not do so: they were not committed"},
    " nothing again by hand: {restarts.name} processes the input of the failed transaction again when it goes on",
)
COORDINATORS_LOG = "the records of {id} in __transaction_state"
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
ROW_WORDS = Words(
    ExpiredInRows,
    title=pick("fits", {True: "expired after {idle} idle"}, "forgotten after {idle} idle"),
    summary=(
        pick(
            "fits",
            {
                True: (
                    f"{{id}} expired after {{idle}} idle: {SETTING} was {{expiration}}",
                    pick("is_set", {True: ""}, ", the default"),
                )
            },
            "The coordinator forgot {id} after {idle} idle: it[ {perhaps}] expired",
        ),
        ". It came back with producer id {new} instead of {old}.",
        pick("met", {None: ""}, " {met.by:The} failed with {met.answer:exception}."),
    ),
    steps=(
        step("{id} was idle from this record on", cites="before"),
        step("{idle} later the coordinator removed it with a tombstone", cites="tombstone", needs="tombstone"),
        step(
            (pick("tombstone", {(): "{idle} later it"}, "Then it"), " came back as producer id {new}, epoch 0"),
            "a known id keeps its producer id until its epochs are used up",
            cites="back",
        ),
        step("{met.by:The} failed: {met.answer}", cites="met.lines"),
    ),
    considered=(
        ruled_out(
            "producer_epoch_exhausted", f"the last epoch was {{last_epoch}}, far below {EXHAUSTED}", cites="before"
        ),
        left_open(
            "a deletion by hand",
            pick(
                "is_set",
                {True: f"the idle time does not fit {SETTING} = {{expiration:ms}}"},
                "the idle time is not the default of {expiration}",
            ),
            decided_by=f"{SETTING} of the brokers at that time",
            needs="tombstone",
            unless="fits",
        ),
        left_open(
            "a loss of the coordinator's records",
            "no tombstone is there (compaction removes it too)",
            decided_by="server.log of the brokers since {id} was last used",
            unless="tombstone",
        ),
    ),
    remedies=(
        remedy(
            ("Send", AGAIN),
            "application",
            needs="met",
        ),
        included("longer"),
    ),
)
IN_FORCE = pick(
    "setting.is_known",
    {True: f"{SETTING} is {{setting}}"},
    f"{SETTING} is not in the evidence, its default is {{expiration}}",
)
LOG_WORDS = Words(
    ExpiredInLogs,
    title=pick(
        "is_long",
        {True: "expired after {silence.lasted} of silence"},
        "producer id no longer known",
    ),
    summary=(
        "The coordinator no longer knew the producer id of {id}: ",
        pick(
            "is_long",
            {True: "it[ {perhaps}] expired after {silence.lasted} of silence."},
            "expired, deleted, or its data was lost.",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step("The log of P shows nothing for {silence.lasted} after {silence.since}", IN_FORCE, cites="silence.before"),
        step("P failed: {answer}", cites="lines"),
        step(
            "P was then given producer id {replaced.new} instead of {replaced.old}",
            "a known id keeps its producer id until its epochs are used up",
            cites="replaced.line",
        ),
    ),
    considered=(
        left_open(
            "a deleted id or another cluster",
            pick(
                "is_long",
                {True: "this log does not show what removed the id"},
                "the log of P shows no pause as long as {expiration}",
            ),
            decided_by=COORDINATORS_LOG,
        ),
        left_open(
            "producer_epoch_exhausted",
            "a producer id without epochs left is replaced too",
            decided_by=COORDINATORS_LOG,
            unless="is_long",
        ),
    ),
    remedies=(
        remedy(
            (pick("replaced", {None: "Close the producer and make a new one. Then send"}, "Send"), AGAIN),
            "application",
        ),
        included("longer"),
    ),
)

RULE = Rule(
    find=find,
    words=(ROW_WORDS, LOG_WORDS, ERROR_WORDS, UNKNOWN_ID_WORDS),
    depth=3,
    caused_by=(("misconfiguration", by_settings(SETTING)),),
)
