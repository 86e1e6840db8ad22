"""Clients that were told of an expired id, as their logs show: how long they were silent before."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.ends import hands_ids_on
from kafkatx.findings.grants import begins_anew
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance, Failure, Initialised
from kafkatx.histories.logs.settings import Effective
from kafkatx.rules.expiries.forgotten import AGAIN, SETTING, UNMAPPED, restarted_by
from kafkatx.terms.catalogue.frameworks import Framework
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, EXPIRATION_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.explanation import ActorWords, Bound, Phrase, Words, included, left_open, measure, remedy, step
from kafkatx.words.facts import thrown
from kafkatx.words.log_refs import client_seen, event_ref, failure_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import id_expiration
from kafkatx.words.template import pick
from kafkatx.words.values import Duration, Instant, Refs, ShownError, facts

ENDED = (EventKind.producer_id_set, EventKind.init_called, EventKind.commit_called, EventKind.abort_called)
"""Lines of a client that was answered by its coordinator then, or ended a transaction."""


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


def told_in_logs(model: CaptureModel, told: set[str | None]) -> Iterator[Case]:
    """One case for each client that was told so, unless rows tell it already (`told`) or refute it."""
    for client in model.logs.clients:
        name = client.transactional_id
        failure = next((one for one in client.failures if one.error is UNMAPPED), None)
        if name is None or failure is None or not client.owns_producer_ids or name in told:
            continue
        new = _replaced(model, client, failure)
        if not _goes_on(model, name, client, failure) and (new is None or not begins_anew(new.old, new.new)):
            yield _of_client(model, name, client, failure)


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
        restarts=restarted_by(model, name, client),
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


IDLE = Phrase(Lasted, measure("it was idle for {time}"))
COORDINATORS_LOG = "the records of {id} in __transaction_state"
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
