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
from dataclasses import replace

from kafkatx.histories.logs.story import ClientInstance, Failure
from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import COMPLETE_ABORT, COMPLETE_COMMIT, EMPTY, TOMBSTONE
from kafkatx.rules.finding import Finding
from kafkatx.rules.in_logs.expired import expired_in_logs, met_by_client
from kafkatx.terms.clocks import EXPIRATION_MS
from kafkatx.terms.times import duration
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.advised import advised
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.log_places import client_phrase, failure_phrase, failure_places
from kafkatx.words.places import state_row
from kafkatx.words.remedies import id_expiration

RULE, SETTING = "transactional_id_expired", "transactional.id.expiration.ms"
ONE_HOUR_MS, SLACK_MS = 3_600_000, 300_000
EXHAUSTED = 32_766
MAY_EXPIRE = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)


def check(story: Story) -> Iterator[Finding]:
    """One finding for each id that came back after its tombstone, or with another producer id after seven idle days.

    Where rows don't tell, the error of a client that met it (expired_in_logs).
    """
    found = list(_in_rows(story))
    yield from found
    yield from expired_in_logs(story, {finding.transactional_id for finding in found})


def _in_rows(story: Story) -> Iterator[Finding]:
    rows = story.initialisations
    tombstones = {(int(row["id_code"]), int(row["offset"])): row for row in rows[rows["is_tombstone"] == 1]}
    for row in rows[(rows["is_tombstone"] == 0) & (rows["previous_state"] == TOMBSTONE)]:
        tombstone = tombstones.get((int(row["id_code"]), int(row["previous_offset"])))
        if tombstone is not None and tombstone["previous_state"] in MAY_EXPIRE:
            yield _after_tombstone(story, tombstone, row)
    changed = (
        (rows["is_tombstone"] == 0)
        & (rows["previous_state"] >= 0)
        & (rows["previous_producer_id"] != rows["producer_id"])
    )
    idle = rows["updated_at"] - rows["previous_updated_at"] >= _expiration(story)
    for row in rows[changed & idle & (rows["producer_epoch"] == 0) & (rows["previous_epoch"] < EXHAUSTED)]:
        yield _after_gap(story, row)


def _expiration(story: Story) -> int:
    """transactional.id.expiration.ms as brokers say it, else the default."""
    limit = story.logs.settings.value("broker", SETTING)
    return limit.number if limit.is_known and limit.number is not None else EXPIRATION_MS


def _after_tombstone(story: Story, tombstone: Array, back: Array) -> Finding:
    idle = int(tombstone["timestamp"] - tombstone["previous_updated_at"])
    limit, expiration = story.logs.settings.value("broker", SETTING), _expiration(story)
    fits = expiration <= idle <= expiration + ONE_HOUR_MS + SLACK_MS
    removed = Place(
        TRANSACTION_STATE,
        int(tombstone["state_partition"]),
        int(tombstone["offset"]),
        int(tombstone["timestamp"]),
        "tombstone of the id",
    )
    steps = (
        Step(
            "the id was idle after its last transaction",
            "its last row is of a state that may expire",
            (_before(tombstone),),
        ),
        Step(
            f"{duration(idle)} later the coordinator forgot it", "a tombstone, which no client can ask for", (removed,)
        ),
        Step(
            f"then it came back as producer id {int(back['producer_id'])}",
            "a forgotten id gets a new producer id, epoch 0",
            (_row(back),),
        ),
    )
    by_hand = Considered(
        "a deletion by hand",
        f"not refuted: the idle time does not fit {SETTING} = {expiration}"
        if limit.is_known
        else "not refuted: the idle time is not the default, and the broker's settings are not in the evidence",
    )
    return _finding(
        story,
        tombstone,
        back,
        idle,
        steps,
        Verdict.proved if fits else Verdict.likely,
        () if fits else (by_hand,),
    )


def _after_gap(story: Story, back: Array) -> Finding:
    idle = int(back["updated_at"] - back["previous_updated_at"])
    steps = (
        Step("the id was idle after its last transaction", "its last row", (_before(back),)),
        Step(
            f"{duration(idle)} later it came back as producer id {int(back['producer_id'])}, epoch 0",
            "an id that is known keeps its producer id",
            (_row(back),),
        ),
    )
    gone = Considered("the tombstone", "is not in the log any more: compaction removes it")
    return _finding(story, back, back, idle, steps, Verdict.likely, (gone,))


def _before(row: Array) -> Place:
    return state_row(
        int(row["state_partition"]),
        int(row["previous_offset"]),
        int(row["previous_timestamp"]),
        int(row["previous_state"]),
        int(row["previous_producer_id"]),
        int(row["previous_epoch"]),
    )


def _row(row: Array) -> Place:
    return state_row(
        int(row["state_partition"]),
        int(row["offset"]),
        int(row["timestamp"]),
        0,
        int(row["producer_id"]),
        int(row["producer_epoch"]),
    )


def _finding(
    story: Story,
    before: Array,
    back: Array,
    idle: int,
    steps: tuple[Step, ...],
    verdict: Verdict,
    considered: tuple[Considered, ...],
) -> Finding:
    name = story.transactional_id(int(back["id_code"]))
    met = met_by_client(story, name)
    refuted = Considered(
        "producer_epoch_exhausted",
        f"the last epoch was {int(before['previous_epoch'])}, far below {EXHAUSTED}",
        (_before(before),),
    )
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning if met is None else Severity.error,
        summary=f"{name} was idle for {duration(idle)}, expired, and came back with producer id "
        f"{int(back['producer_id'])} instead of {int(before['previous_producer_id'])}",
        transactional_id=name,
        producer_id=int(before["previous_producer_id"]),
        producer_epoch=int(before["previous_epoch"]),
        since=int(before["previous_updated_at"]),
        until=int(back["timestamp"]),
        steps=(*steps, *_met(story, met)),
        considered=(refuted, *considered),
        remedies=_remedies(
            story, name, int(back["timestamp"] - before["previous_updated_at"]), verdict is Verdict.proved
        ),
    )


def _met(story: Story, met: tuple[ClientInstance, Failure] | None) -> tuple[Step, ...]:
    """What a living producer was told when it used the id again."""
    if met is None:
        return ()
    client, failure = met
    text = f"{client_phrase(client)}: {failure_phrase(failure)}"
    return (Step(text, "its producer id was no longer that of the id", failure_places(story, failure)),)


def _remedies(story: Story, transactional_id: str, idle: int, is_default: bool) -> tuple[Remedy, ...]:
    """The current setting is known where somebody says it, or where the default shows itself."""
    whom = advised(story, transactional_id)
    shown = {"transactional.id.expiration.ms": EXPIRATION_MS} if is_default else {}
    measured = f"the id was idle for {duration(idle)} until it was used again"
    return id_expiration(replace(whom, current=whom.current | shown), idle, measured, is_default)
