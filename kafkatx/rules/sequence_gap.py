"""A batch is missing in a producer's sequence: the partition's leader refused the next one, or the log shows the gap.

Mechanism    The leader takes only the batch that follows the last one of its producer and epoch. It refuses another one
             with OUT_OF_ORDER_SEQUENCE_NUMBER: a batch before it is missing (lost after it had been acknowledged, by an
             unclean election or a disk; or given up by the client), or batches overtook each other. In flight it heals
             by itself: the client sends them again in order. What goes on being refused does not heal.
             A batch that comes below the one that is due, such as the first of all, misses none before it: the leader
             has later ones of this producer id, by an overtaken batch, an older repetition (it knows the last five), a
             client that counts anew, or another producer with the same id.
             In the log a gap shows where a leader without the producer's state took what came next.
Evidence     OUT_OF_ORDER_SEQUENCE_NUMBER that ends a call or repeats without end; the leader's line with both numbers.
             In data: sequences that jump within one producer and epoch while offsets go on without a hole.
Against      a refusal that the client's own retry repaired; an earlier error of the same client that gave a batch up;
             missing offsets in between (the cleaner); the step from 2147483647 to 0; a new epoch.
Look-alikes  producer_state_expired (the leader knows nothing of the producer); unresolved_sequence (the client gave a
             batch up first); a client that counts wrongly.
Remedy       look for an unclean election, a truncation or a failed disk at the leader; abort or replace the producer,
             and send again what was not acknowledged.
Source       ProducerAppendInfo.checkSequence (0.11 to 4.4); KIP-98, KIP-360; KAFKA-5793, KAFKA-15591.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.conditions import same_time
from kafkatx.findings.expiries import answers_before
from kafkatx.findings.one_failure import (
    OF_WHOM,
    Alike,
    FailureFacts,
    alike,
    failed_before,
    failure_case,
    failure_facts,
    is_of,
    known_as,
    says,
)
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.sequence_breaks import BreakFacts, break_case, break_facts, by_producer
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.defects.epochs import rows_counted_on
from kafkatx.rules.duplicate_sequence import REPEATED
from kafkatx.rules.producer_state_expired import WITHOUT_STATE, has_no_state
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import base_sequence_in, producer_in
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Refs, facts

OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
SKIPPED = "skipped sequence numbers"
LAST_SEQUENCE = 2_147_483_647
"""0 follows it."""
WHAT_CAME = ": sequence {came} came, {due} was due"
HEALS = ", which heals by itself: no producer is seen to fail."
OFTEN = 3
"""Fewer refusals of one producer at its leader heal by its own retries."""


@facts
class Facts(FailureFacts):
    """Refusals of batches out of order; `retried` are lines of retries that met the same.

    `came` is the sequence of the first batch that a line tells, `due` the one that the leader waited for, `is_below`
    that it waited for a later one. `may_heal` says that it was refused no more often than a producer repairs by itself,
    and that none is seen to fail.
    """

    retried: Refs
    came: int | None
    due: int | None
    is_below: bool
    may_heal: bool


@facts
class MissingInData(BreakFacts):
    """Sequences that a partition lacks."""


def find(model: CaptureModel) -> Found:
    """One case for each client, and each producer that brokers tell of; then each that data show."""
    yield from _refused(model)
    for rows in by_producer(model, lambda breaks: breaks["missing"] > 0):
        told = MissingInData(**break_facts(model, rows))
        yield break_case(model, rows, told, Verdict.likely, Severity.error if told.is_new_leader else Severity.warning)


def _refused(model: CaptureModel) -> Iterator[Case]:
    logs = model.logs
    retries = [row for row in logs.of_kind(EventKind.produce_retry).tolist() if _names_it(logs, row)]
    for found in alike(model, lambda told: _is_gap(logs, told)):
        shared = failure_facts(model, found)
        came, due = _sequences(logs, found)
        named = (producer_in(logs.string(row, "detail") or "") for row in found.rows)
        if shared["producer_id"] is None and (producer := next((one for one in named if one), None)) is not None:
            shared["producer_id"] = producer[0]
        may_heal = shared["is_brokers"] and found.count < OFTEN and not retries
        told = Facts(
            **shared,
            retried=event_refs(model, retries, 3),
            came=came,
            due=due,
            is_below=_is_below(came, due),
            may_heal=may_heal,
        )
        is_dead = any(logs.kind(row) is EventKind.to_fatal for row in found.rows)
        severity = Severity.info if may_heal else Severity.error if is_dead else Severity.warning
        yield failure_case(model, found, told, _verdict(model, found), severity)


def _sequences(logs: LogModel, found: Alike) -> tuple[int | None, int | None]:
    """The first sequence that came and the one that was due then: a leader's line has both, librdkafka's the first."""
    for row in found.rows:
        came, last = logs.number(row, "number"), logs.string(row, "detail") or ""
        if logs.kind(row) is EventKind.sequence_refused and came is not None and last.isdecimal():
            return came, 0 if int(last) == LAST_SEQUENCE else int(last) + 1
    told = (base_sequence_in(logs.string(row, "detail") or "") for row in found.rows)
    return next((came for came in told if came is not None), None), None


def _is_below(came: int | None, due: int | None) -> bool:
    """Whether the leader has what comes before a batch: the first of all is refused only where later ones are there."""
    if came is None:
        return False
    return came == 0 if due is None else 0 < (due - came) % (LAST_SEQUENCE + 1) <= LAST_SEQUENCE // 2


def _names_it(logs: LogModel, row: int) -> bool:
    return "OUT_OF_ORDER" in (logs.string(row, "error") or "") or "OutOfOrder" in (logs.string(row, "error") or "")


def _is_gap(logs: LogModel, told: ToldFailure) -> bool:
    is_refused = known_as(told, OUT_OF_ORDER) or is_of(logs, told, EventKind.sequence_refused) or _ran_out(logs, told)
    is_another = says(logs, told, WITHOUT_STATE, REPEATED) or (has_no_state(logs) and not told.is_brokers)
    return is_refused and not is_another and not _is_unknown(logs, told)


def _is_unknown(logs: LogModel, told: ToldFailure) -> bool:
    """Whether another line of the brokers says that the leader knew nothing of the producer."""
    unknown = logs.of_kind(EventKind.unknown_producer).tolist()
    return told.is_brokers and any(logs.number(row, "producer_id") == told.producer_id is not None for row in unknown)


def _ran_out(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a batch was refused as out of order until its time was over."""
    refused = answers_before(logs, told)
    return len(refused) > 1 and all(_names_it(logs, row) for row in refused[-2:])


def _verdict(model: CaptureModel, found: Alike) -> Verdict:
    """Only possible after another failure of the client: what it gave up leaves the same gap.

    So does a client that counts on under a new epoch. librdkafka counts what it gave up itself (`skipped sequence
    numbers`).
    """
    is_effect = any(failed_before(model, told) or says(model.logs, told, SKIPPED) for told in found.all)
    is_effect |= any(set(rows) <= set(found.rows) for rows in rows_counted_on(model).values())
    return Verdict.possible if is_effect else Verdict.likely


WORDS = Words(
    Facts,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title=pick("count", {1: "a batch refused out of sequence"}, "batches refused out of sequence"),
    summary=(
        "The leader[ of {place}] refused ",
        pick("count", {1: "a batch"}, "batches"),
        " of ",
        pick("producer_id", {None: "the producer"}, "producer id {producer_id}"),
        OF_WHOM,
        " as out of order",
        pick("count", {1: ""}, pick("came", {None: ""}, ", the first of them")),
        pick("due", {None: pick("is_below", {True: ": base sequence 0, the first of its epoch"}, "")}, WHAT_CAME),
        pick(
            "is_below",
            {
                True: ". No batch is missing before it: the leader already holds later ones of this producer id, so["
                " {perhaps}] it was overtaken, came once more, or another producer was given the same id",
            },
            ". A batch before them is[ {perhaps}] missing there, or came in another order",
        ),
        pick("may_heal", {True: pick("is_below", {True: ". No producer is seen to fail."}, HEALS)}, "."),
    ),
    actors=(included("client"),),
    steps=(
        step(
            pick("count", {1: "A batch was refused"}, "Batches were refused {count:time}"),
            "OUT_OF_ORDER_SEQUENCE_NUMBER: the batch is not the one that follows the last",
            cites="lines",
        ),
        step("The client sent them again and met the same", cites="retried", needs="retried"),
    ),
    considered=(
        ruled_out("producer_state_expired", "the leader's refusal names no missing state"),
        left_open(
            "unresolved_sequence",
            "a batch that the client gave up leaves the same gap",
            decided_by="the client's log before this line",
            unless="is_below",
        ),
        left_open(
            "producer_id_collision",
            "two producers that were given the same id are refused like this where both write",
            decided_by="the logs of the clients (which of them were given this id), or a dump of the partition",
            needs="is_below",
        ),
        left_open(
            "client_bug",
            "a client that counts or orders its batches wrongly is refused the same way",
            decided_by="the release of the client library",
        ),
    ),
    remedies=(
        remedy(
            "See first whether this producer failed: if it went on, all that it sent was written in the end, and "
            "there is nothing to do",
            "application",
            needs="may_heal",
        ),
        remedy(
            pick(
                "is_below",
                {
                    True: "Look first whether the refused records are in the partition[ {place}], and whether one "
                    "client wrote all batches of this producer id there (dump it)"
                },
                "Look for an unclean election, a truncation or a failed log directory of the partition[ {place}] "
                "before the first refusal",
            ),
            "operator",
        ),
        remedy(
            (
                pick("nothing_open", {True: "R"}, "Abort the transaction if one is open, else r"),
                "eplace the producer where the error is fatal. Then send again ",
                pick("is_below", {True: "only what is missing in the partition"}, "what was not acknowledged"),
            ),
            "application",
        ),
    ),
)

WORDS_OF_DATA = Words(
    MissingInData,
    title="records are missing in a partition",
    summary="{left_out:sequence} of {producer} {left_out:is|are}[ {perhaps}] missing before {later}, while offsets go "
    "on: records that it had sent are not in the partition.",
    steps=(
        step("The producer wrote {before}, up to sequence {before_last_sequence}", cites="earlier_batches"),
        step(
            "Its next batch begins with sequence {first_sequence}",
            "offsets go on without a hole, so no cleaner took them",
            cites="later_batches",
        ),
        step(
            "The leader changed in between",
            "the later batch has a higher leader epoch: an unclean election loses what the former leader had alone",
            cites="later_batches",
            needs="is_new_leader",
        ),
    ),
    considered=(
        ruled_out("compaction", "it leaves holes in the offsets"),
        ruled_out("duplicate_sequence", "the sequences are above the last ones, not below"),
        left_open(
            "records that the client gave up",
            "a leader that forgot the producer takes what comes after them",
            decided_by="expired batches in the producer's log between both batches",
        ),
    ),
    remedies=(
        remedy(
            "Look for an unclean election, a truncation or a failed log directory[ of {place}] between both batches",
            "operator",
        ),
        remedy(
            text="Keep a leader from being elected outside the in-sync replicas",
            where="topic",
            config="unclean.leader.election.enable",
            proposed="false",
            needs="is_new_leader",
        ),
        remedy("Send the missing records again, if their source still has them", "application"),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, WORDS_OF_DATA),
    depth=3,
    caused_by=(("log_directory_failed", same_time), ("broker_unreachable", same_time)),
    decided_by=(Side.client, Side.broker),
)
