"""A batch that had been sent was given up without an answer: the client can't know the next sequence number.

Mechanism    delivery.timeout.ms passed while a batch was being retried. The broker may have it or not, so the sequence
             number of the next batch is undefined. Clients up to 2.4 end in their fatal error state; from 2.5 on, with
             brokers of 2.5 or later, the error is abortable and the client raises its own epoch (KIP-360). A producer
             that is only idempotent raises its epoch (before 2.5 it takes a new producer id) and goes on.
Evidence     the client's own words (hasn't received acknowledgment for some previously sent messages), or of an
             idempotent producer "No inflight batches remaining ... Going to bump epoch"; before them the batch's expiry
             and the errors of its retries.
Against      a batch that was never sent: its expiry is a plain TimeoutException, and sequences go on.
Look-alikes  sequence_gap (the leader answered every attempt: out of order); other errors behind the same outer text
             (Cannot execute transactional method because we are in an error state): the cause decides; batches that
             were retried until they were acknowledged.
Remedy       a delivery.timeout.ms above the outage measured and below transaction.timeout.ms; clients of 2.5 or later;
             on the fatal form close the producer and process again from the last committed offsets.
Source       KIP-91, KIP-98, KIP-360; Sender.run (to 2.4), TransactionManager.maybeResolveSequences (2.5 to 4.3).
"""

from __future__ import annotations

from kafkatx.findings.client_lines import TIMES, advised_of, by_client, columns, only, seen, times_of
from kafkatx.findings.conditions import by_settings, same_time
from kafkatx.findings.given_up import IN_LOGS, PartitionLog, partition_logs
from kafkatx.findings.outcome_remedies import IS_REPLACED, REPLACE
from kafkatx.findings.outcomes import FATE_ALONE, OUTCOME, Call, Resolved, TransactionFate, fate_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.unacknowledged.losses import (
    EVERY_ATTEMPT,
    Loss,
    Variant,
    attempts_used,
    episodes,
    errors_of,
    loss_of,
    made_at_of,
    oldest_of,
    outage_of,
    telling_rows,
    variant_of,
    was_refused,
)
from kafkatx.terms.events import Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import ConfigContext
from kafkatx.words.explanation import ActorWords, Bound, Phrase, Words, included, measure, remedy, ruled_out, step
from kafkatx.words.facts import client_name, instant
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import delivery_timeout
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Duration, Instant, NameList, Refs, TopicPartition, facts

MOST_NAMED = 3
"""Partitions that a sentence names."""


@facts
class Facts:
    """Batches that one client gave up; the first time is explained.

    `partitions` are those of all times, `of_first` those of the first; `at` is when it was told; `attempts` are those
    that its retries had used up, `age` how old the oldest batch was, `made_at` when the first was made. `resolved` is
    what became of the transaction, None where nothing tells.
    """

    client: ClientName
    variant: Variant
    count: Count
    partitions: NameList | None
    of_first: NameList | None
    at: Instant | None
    producer: Bound[ActorWords] | None
    retries: Count | None
    retried_since: Instant | None
    errors: NameList | None
    attempts: Count | None
    age: Duration | None
    made_at: Instant | None
    logs: tuple[PartitionLog, ...]
    resolved: Resolved | None
    release: str | None
    is_old: bool
    retried: Refs
    expired: Refs
    said: Refs
    last_said: Refs
    longer: Remedies

    @property
    def is_fatal(self) -> bool:
        """Whether the client can do nothing any more."""
        return self.variant is Variant.fatal

    @property
    def is_abortable(self) -> bool:
        """Whether it goes on after an abort."""
        return self.variant is Variant.abortable

    @property
    def is_idempotent(self) -> bool:
        """Whether it has no transaction."""
        return self.variant is Variant.idempotent


def find(model: CaptureModel) -> Found:
    """One case for each client and what it made of it."""
    groups: dict[tuple[ClientName, Variant], list[Loss]] = {}
    for client, rows in by_client(model, telling_rows(model.logs)):
        for episode in episodes(model.logs, client, rows):
            loss, variant = loss_of(model.logs, client, episode), variant_of(model.logs, episode)
            if variant is not Variant.idempotent or not was_refused(model.logs, loss):
                groups.setdefault((client_name(client), variant), []).append(loss)
    for (name, variant), losses in groups.items():
        yield _case(model, name, variant, losses)


def _case(model: CaptureModel, name: ClientName, variant: Variant, losses: list[Loss]) -> Case:
    logs, rows = model.logs, [row for loss in losses for row in loss.rows]
    topic, partition = only(place for loss in losses for place in loss.partitions) or (None, None)
    begins = [row for loss in losses for row in (*loss.retried[:1], *loss.expired[:1])]
    since, until = times_of(logs, [*begins, *rows])
    given, places = [loss.producer for loss in losses], [only(loss.partitions) for loss in losses]
    return Case(
        facts=_facts(model, name, variant, losses),
        verdict=Verdict.proved,
        severity=Severity.error if variant is Variant.fatal else Severity.warning,
        topic=topic,
        partition=partition,
        since=since,
        until=until,
        **columns(logs, name, given, rows, places),
    )


def _facts(model: CaptureModel, name: ClientName, variant: Variant, losses: list[Loss]) -> Facts:
    logs, first = model.logs, losses[0]
    whom, made_at = advised_of(model, first.client), made_at_of(logs, first)
    of_transaction = variant is not Variant.idempotent and first.client is not None
    return Facts(
        client=name,
        variant=variant,
        count=Count(len(losses)),
        partitions=_names(sorted({_name(place) for loss in losses for place in loss.partitions})),
        of_first=_names([_name(place) for place in first.partitions]),
        at=instant(logs.at(first.rows[0])),
        producer=seen(model, first.client),
        retries=Count(len(first.retried)) if first.retried else None,
        retried_since=instant(logs.at(first.retried[0])) if first.retried else None,
        errors=errors_of(logs, first),
        attempts=attempts_used(logs, first),
        age=oldest_of(logs, first),
        made_at=instant(made_at),
        logs=tuple(partition_logs(model, first.partitions, first.producer, made_at)) if of_transaction else (),
        resolved=_resolved(model, first, made_at) if of_transaction else None,
        release=".".join(str(number) for number in whom.release) or None,
        is_old=whom.release < (2, 5),
        retried=event_refs(model, first.retried, 3),
        expired=event_refs(model, first.expired, 3),
        said=event_refs(model, first.rows, 3),
        last_said=event_refs(model, first.rows, 1),
        longer=_longer(logs, first, whom),
    )


def _name(place: tuple[str, int]) -> str:
    return format(TopicPartition(*place))


def _names(names: list[str]) -> NameList | None:
    return NameList(names) if names else None


def _resolved(model: CaptureModel, loss: Loss, made_at: int | None) -> Resolved | None:
    """What became of its transaction, if anything tells."""
    at = model.logs.at(loss.rows[0])
    resolved = fate_of(model, Call(loss.client, loss.producer[0], made_at or at, at))
    return resolved if resolved.fate is not TransactionFate.unknown else None


def _longer(logs: LogModel, loss: Loss, whom: ConfigContext) -> Remedies:
    outage = outage_of(logs, loss)
    measured = FAILED_FOR.of(Lasted(Duration(outage)))
    return delivery_timeout(whom, outage, measured) if outage > 0 else ()


NO_DUPLICATES = "read_committed readers get no duplicates: the transaction is not committed"
FAILED_FOR = Phrase(Lasted, measure("sends to it failed for {time} at least"))
WORDS = Words(
    Facts,
    title=pick(
        "variant",
        {
            Variant.fatal: "producer dead: batch unanswered, may be stored",
            Variant.abortable: ("transaction failed", TIMES, ": batch unanswered, may be stored"),
            Variant.idempotent: ("batch unanswered", TIMES, ", may be stored; epoch raised"),
        },
    ),
    summary=(
        "{client:The} got no acknowledgement",
        TIMES,
        f" for batches[ of {{partitions:{MOST_NAMED}}}] that it had sent. ",
        pick("variant", {Variant.fatal: "That is fatal: this producer can neither commit nor abort. "}, ""),
        pick(
            "variant",
            {Variant.idempotent: "It raised its own epoch and went on; the records may be in the log or not"},
            pick(
                "count",
                {1: pick("resolved", {None: "Its transaction is not committed"}, FATE_ALONE)},
                "Its transactions are not committed",
            ),
        ),
        ".",
    ),
    actors=(included("producer"),),
    steps=(
        step(
            "Sends failed and were retried[ from {retried_since} on][: {errors}]",
            f"{{retries:line}}[; {{attempts:plain}} of {EVERY_ATTEMPT} attempts used: time ran out, not retries]",
            cites="retried",
        ),
        step(
            "delivery.timeout.ms ran out: P dropped a batch[ of {of_first:3}][ {age} after it was made]",
            cites="expired",
            needs="expired",
        ),
        step(
            (
                "P ",
                pick(
                    "variant",
                    {
                        Variant.fatal: "went into its fatal error state",
                        Variant.abortable: "went into its abortable error state",
                        Variant.idempotent: "raised its own epoch and went on",
                    },
                ),
                ": a batch that it had sent was not acknowledged",
            ),
            cites="said",
        ),
        IN_LOGS,
        *OUTCOME,
    ),
    considered=(
        ruled_out("a batch that was never sent", "such a batch leaves no sequence number open"),
        ruled_out(
            "fenced_by_new_instance",
            "the exception's cause is the missing acknowledgement",
            cites="last_said",
            unless="is_idempotent",
        ),
    ),
    remedies=(
        remedy(
            text=pick("resolved.is_taken_over", {True: IS_REPLACED}, f"{REPLACE}. {NO_DUPLICATES}"),
            where="application",
            restart_needed=True,
            needs="is_fatal",
        ),
        remedy(
            pick(
                "resolved.is_aborted",
                {True: f"Send the records of the transaction again. {NO_DUPLICATES}"},
                pick(
                    "nothing_open",
                    {True: f"Send the records of the aborted transaction again. {NO_DUPLICATES}"},
                    f"Abort the transaction, then send its records again. {NO_DUPLICATES}",
                ),
            ),
            "application",
            needs="is_abortable",
        ),
        remedy(
            "Send the failed records again only where duplicates do no harm: they may be in the log. The producer "
            "itself needs nothing: it went on under a new epoch",
            "application",
            needs="is_idempotent",
        ),
        included("longer"),
        remedy(
            text="Prevent it: use kafka-clients 2.5 or later with brokers of 2.5 or later. There abortTransaction "
            "works after this error, and the producer stays usable (KIP-360)",
            where="client",
            current="{release}",
            proposed="2.5",
            restart_needed=True,
            needs="is_fatal is_old",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=4,
    caused_by=(
        ("broker_unreachable", same_time),
        ("misconfiguration", by_settings("delivery.timeout.ms", "request.timeout.ms")),
    ),
    decided_by=(Side.client,),
)
