"""Ids that were used after their tombstone, or came back with another producer id, as the coordinator's rows show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.initialisations import EXHAUSTED_EPOCH
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, TOMBSTONE
from kafkatx.rules.expiries.forgotten import AGAIN, SETTING, UNMAPPED, expiration_of, restarted_by
from kafkatx.terms.catalogue.frameworks import Framework
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, EXPIRATION_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.evidence_refs import initialised_row, row_before
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Phrase, Words, included, left_open, measure, remedy, ruled_out, step
from kafkatx.words.facts import client_name, thrown
from kafkatx.words.log_refs import event_refs, failure_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import id_expiration
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Duration, Instant, Refs, ShownError, facts

ONE_HOUR_MS, SLACK_MS = 3_600_000, 300_000
MAY_EXPIRE = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)


@dataclass(frozen=True, slots=True)
class Met:
    """What a living producer was told when it used the id again."""

    by: ClientName
    answer: ShownError
    lines: Refs


@dataclass(frozen=True, slots=True)
class NewProducer:
    """A producer that was made when its id had expired: it gets the new producer id as its first, and loses nothing."""

    at: Instant
    lines: Refs


@facts
class ExpiredInRows:
    """An id that came back with another producer id, after its tombstone or where compaction removed that.

    Or one whose producer was refused after its tombstone and that has not come back: `new` is None there.
    `expiration` is the one in force (`is_set`: somebody says so, else it is the default), `fits` whether the idle time
    before the tombstone is that of an expiry; `at` is when it was gone, or back. `made` is the producer that came
    back, where its log and the one of the producer before it show that none was told of the expiry.
    """

    id: str
    idle: Duration
    at: Instant
    old: int
    new: int | None
    last_epoch: int
    expiration: Duration
    is_set: bool
    fits: bool
    met: Met | None
    made: NewProducer | None
    restarts: Framework | None
    before: Refs
    tombstone: Refs
    back: Refs
    longer: Remedies


def after_tombstones(model: CaptureModel) -> Iterator[Case]:
    """Yield a case for each id that came back after its tombstone, or whose producer was refused after it."""
    rows = model.initialisations
    tombstones = {(int(row["id_code"]), int(row["offset"])): row for row in rows[rows["is_tombstone"] == 1]}
    for back in rows[(rows["is_tombstone"] == 0) & (rows["previous_state"] == TOMBSTONE)]:
        tombstone = tombstones.pop((int(back["id_code"]), int(back["previous_offset"])), None)
        if tombstone is not None and tombstone["previous_state"] in MAY_EXPIRE:
            yield _in_rows(model, tombstone, back, _idle(tombstone), (_tombstone(tombstone),))
    for tombstone in tombstones.values():
        if tombstone["previous_state"] in MAY_EXPIRE and _refused_after(model, tombstone):
            yield _in_rows(model, tombstone, None, _idle(tombstone), (_tombstone(tombstone),))


def _idle(tombstone: Array) -> int:
    return int(tombstone["timestamp"] - tombstone["previous_updated_at"])


def _refused_after(model: CaptureModel, tombstone: Array) -> bool:
    """Whether a client that had the producer id of this tombstone used it after that, and was refused."""
    met = _refusal(model, model.transactional_id(int(tombstone["id_code"])))
    if met is None or met[1].at is None or int(tombstone["previous_producer_id"]) not in met[0].producer_ids:
        return False
    return met[1].at >= int(tombstone["timestamp"]) - CLIENT_TOLERANCE_MS


def _used_again(model: CaptureModel, before: Array, back: Array | None) -> int:
    """When the id came back, else when the client was refused that used it."""
    if back is not None:
        return int(back["timestamp"])
    met = _refusal(model, model.transactional_id(int(before["id_code"])))
    return int(before["timestamp"]) if met is None or met[1].at is None else met[1].at


def _tombstone(row: Array) -> EvidenceRef:
    partition, offset, at = int(row["state_partition"]), int(row["offset"]), int(row["timestamp"])
    return EvidenceRef(TRANSACTION_STATE, partition, offset, at, "tombstone of the id")


def after_gaps(model: CaptureModel) -> Iterator[Case]:
    """Yield a case for each id that came back with another producer id after as long as an expiration."""
    rows = model.initialisations
    changed = (
        (rows["is_tombstone"] == 0)
        & (rows["previous_state"] >= 0)
        & (rows["previous_producer_id"] != rows["producer_id"])
    )
    idle = rows["updated_at"] - rows["previous_updated_at"] >= expiration_of(model)
    for back in rows[changed & idle & (rows["producer_epoch"] == 0) & (rows["previous_epoch"] < EXHAUSTED_EPOCH)]:
        yield _in_rows(model, back, back, int(back["updated_at"] - back["previous_updated_at"]), ())


def _in_rows(model: CaptureModel, before: Array, back: Array | None, idle: int, tombstone: Refs) -> Case:
    """An id of which `before` is the row that its idle time follows: its tombstone, else the row of its return.

    `back` is None where it has not come back: then its producer was refused.
    """
    name, expiration = model.transactional_id(int(before["id_code"])), expiration_of(model)
    fits = bool(tombstone) and expiration <= idle <= expiration + ONE_HOUR_MS + SLACK_MS
    met = _met_by_client(model, name)
    made = _made(model, name, before, back) if met is None and back is not None else None
    again = _used_again(model, before, back)
    return Case(
        facts=ExpiredInRows(
            id=name,
            idle=Duration(idle),
            at=Instant(before["previous_updated_at"] + idle),
            old=int(before["previous_producer_id"]),
            new=int(back["producer_id"]) if back is not None else None,
            last_epoch=int(before["previous_epoch"]),
            expiration=Duration(expiration),
            is_set=model.logs.settings.value("broker", SETTING).is_known,
            fits=fits,
            met=met,
            made=made,
            restarts=restarted_by(model, name),
            before=(row_before(before),),
            tombstone=tombstone,
            back=(initialised_row(back),) if back is not None else (),
            longer=_longer(model, name, again - int(before["previous_updated_at"]), fits),
        ),
        verdict=Verdict.proved if fits else Verdict.likely,
        severity=Severity.info if made is not None else Severity.warning if met is None else Severity.error,
        transactional_id=name,
        producer_id=int(before["previous_producer_id"]),
        producer_epoch=int(before["previous_epoch"]),
        since=int(before["previous_updated_at"]),
        until=again,
    )


def _longer(model: CaptureModel, transactional_id: str, idle: int, fits: bool) -> Remedies:
    """The current setting is known where somebody says it, or where the default shows itself."""
    whom = advised(model, transactional_id)
    is_default = fits and not whom.in_force(SETTING).is_known
    shown = {SETTING: EXPIRATION_MS} if is_default else {}
    measured = UNTIL_USED.of(Lasted(Duration(idle)))
    return id_expiration(replace(whom, current=whom.current | shown), idle, measured, is_default)


def _made(model: CaptureModel, name: str, before: Array, back: Array) -> NewProducer | None:
    """The producer that came back, where logs hold its making and the producer that had the id until it expired."""
    clients = [one for one in model.logs.clients_of(name) if one.has_start and one.owns_producer_ids]
    is_old_there = any(int(before["previous_producer_id"]) in one.producer_ids for one in clients)
    new = (one for one in clients if one.initialisations and one.initialisations[0].producer_id == back["producer_id"])
    made = next((one for one in new if (one.since or 0) > before["previous_updated_at"]), None)
    if made is None or made.since is None or not is_old_there:
        return None
    return NewProducer(Instant(made.since), event_refs(model, made.rows[:1]))


def _met_by_client(model: CaptureModel, name: str) -> Met | None:
    """The client that was told of an expired id, for the finding that rows make of it."""
    refusal = _refusal(model, name)
    if refusal is None:
        return None
    client, failure = refusal
    return Met(client_name(client), thrown(failure), failure_refs(model, failure))


def _refusal(model: CaptureModel, name: str) -> tuple[ClientInstance, Failure] | None:
    """The client of an id that was told that its producer id is not known, and that error."""
    for client in model.logs.clients_of(name):
        for failure in client.failures:
            if failure.error is UNMAPPED:
                return client, failure
    return None


UNTIL_USED = Phrase(Lasted, measure("the id was idle for {time} until it was used again"))
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
        ".[ It came back with producer id {new} instead of {old}.]",
        pick("met", {None: ""}, " {met.by:The} failed with {met.answer:exception}."),
    ),
    steps=(
        step("{id} was idle from this record on", cites="before"),
        step("{idle} later the coordinator removed it with a tombstone", cites="tombstone", needs="tombstone"),
        step(
            (pick("tombstone", {(): "{idle} later it"}, "Then it"), " came back as producer id {new}, epoch 0"),
            "a known id keeps its producer id until its epochs are used up",
            cites="back",
            needs="back",
        ),
        step("{met.by:The} failed: {met.answer}", cites="met.lines"),
        step(
            "A producer that was made at {made.at} was given the new producer id",
            "its log; neither it nor the one of the old producer has InvalidPidMappingException",
            cites="made.lines",
        ),
    ),
    considered=(
        ruled_out(
            "producer_epoch_exhausted",
            f"the last epoch was {{last_epoch}}, far below {EXHAUSTED_EPOCH}",
            cites="before",
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
            (pick("back", {(): "Close the producer and make a new one. Then send"}, "Send"), AGAIN),
            "application",
            needs="met",
        ),
        included("longer"),
        remedy(
            "Look into the log of the application of {id} for InvalidPidMappingException: without one nothing was "
            "lost, and the id goes on",
            "application",
            unless="met made",
        ),
        remedy(
            "Nothing to do for {id}: its new producer was made when the id had expired, and lost nothing",
            "application",
            needs="made",
        ),
    ),
)
