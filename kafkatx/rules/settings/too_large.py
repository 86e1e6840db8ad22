"""Records and batches above a limit: how large, whose limit, and what the limit is.

A record that the client refuses was never sent; a batch that a broker refuses was. In both cases the transaction can't
be committed with it. One send leaves several lines (what it threw, the state that the client went into): counted are
those of the kind that there is most of.
"""

from __future__ import annotations

from collections import Counter

from kafkatx.findings.client_lines import advised_of, columns, only, producer_at, seen, times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sizes import Limiter, TooLargeSize, size_in
from kafkatx.words.explanation import ActorWords, Bound, Words, included, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, facts

MOST_CITED = 4
BROKERS_DEFAULT = 1_000_012
"""message.max.bytes up to 2.4, the lowest default."""


@facts
class TooLarge:
    """Sends of one client that one limit refused; sizes in bytes, None where no line names them.

    `limit` is what the error names, else what is in force; `now` is the client's setting as it stands, where that is
    the limit. `topic` is named where all lines name one.
    """

    client: ClientName
    producer: Bound[ActorWords] | None
    limiter: Limiter
    largest: Count | None
    limit: Count | None
    now: str | None
    topic: str | None
    count: Count
    lines: Refs

    @property
    def is_unsent(self) -> bool:
        """Whether the client itself refused them: then no broker ever saw them."""
        return self.limiter in (Limiter.request, Limiter.memory)

    @property
    def is_above_brokers(self) -> bool:
        """Whether brokers would refuse it too, as they are set by default."""
        return self.largest is None or self.largest > BROKERS_DEFAULT


def too_large_case(model: CaptureModel, client: ClientInstance | None, rows: list[int]) -> Case:
    """One case for what a client (None: nobody's lines) was refused for its size."""
    logs, name = model.logs, client_name(client)
    said = [size_in(logs.words(row)) for row in rows]
    told = _of_surest(said)
    sends = _one_a_send(logs, rows)
    since, until = times_of(logs, rows)
    partitions = [one.partition.rpartition("-")[0] for one in said if one.partition is not None]
    topics = [topic for row in rows if (topic := logs.string(row, "topic")) is not None]
    effective = advised_of(model, client).now(told.limiter.value) if told.limiter is Limiter.request else None
    return Case(
        facts=TooLarge(
            client=name,
            producer=seen(model, client),
            limiter=told.limiter,
            largest=_count(max((one.size or 0 for one in said if one.limiter is told.limiter), default=0)),
            limit=_count(told.limit or (effective.number if effective is not None else None) or 0),
            now=f"{effective:plain}" if effective is not None and effective.number is not None else _text(told.limit),
            topic=only(topics or partitions),
            count=Count(len(sends)),
            lines=event_refs(model, rows, MOST_CITED),
        ),
        verdict=Verdict.proved,
        severity=Severity.error,
        since=since,
        until=until,
        **columns(logs, name, [producer_at(client, row) for row in sends], sends),
    )


def _of_surest(said: list[TooLargeSize]) -> TooLargeSize:
    """The error that says the most: whose limit it was, and its size."""
    return max(said, key=lambda one: (one.limiter is not Limiter.unknown, one.limit is not None, one.size or 0))


def _one_a_send(logs: LogModel, rows: list[int]) -> list[int]:
    """Lines of the kind and call that there is most of: one for each send."""
    kinds = [(logs.kind(row), logs.string(row, "api")) for row in rows]
    (most, _), *_ = Counter(kinds).most_common(1)
    return [row for row, kind in zip(rows, kinds, strict=True) if kind == most]


def _count(number: int) -> Count | None:
    return Count(number) if number > 0 else None


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


TOO_LARGE_WORDS = Words(
    TooLarge,
    who=pick("client.transactional_id", {None: "[client {client.client_id}]"}),
    title=pick(
        "limiter",
        {
            Limiter.unknown: "a record or batch above the size limit",
            Limiter.topic: "a batch above the topic's size limit",
            Limiter.segment: "a batch larger than a segment",
        },
        "{count:record} above {limiter.value}[ ({limit:plain})]",
    ),
    summary=pick(
        "is_unsent",
        {
            True: (
                pick("count", {1: "A record"}, "{count:record}"),
                " of the producer[ of {client.transactional_id}][ for topic {topic}] ",
                pick("count", {1: "was larger"}, "were larger"),
                " than {limiter.value} allows",
                pick("largest", {None: ""}, (pick("count", {1: ": "}, ": up to "), "{largest:byte}")),
                pick("limit", {None: ""}, (pick("largest", {None: ": "}, ", "), "the limit is {limit}")),
                ". The client did not send ",
                pick("count", {1: "it"}, "them"),
                ", and the transaction can't be committed then.",
            )
        },
        (
            "A record or batch of the producer[ of {client.transactional_id}][ for topic {topic}] is larger than ",
            pick(
                "limiter",
                {
                    Limiter.topic: "the brokers accept for its topic",
                    Limiter.segment: "a segment of its topic (segment.bytes)",
                },
                "a limit allows",
            ),
            "[: {largest:byte}][, the limit is {limit}]. Its transaction can't be committed with it.",
        ),
    ),
    actors=(included("producer"),),
    steps=(step("The call failed for that reason, {count:time}", "the error names its reason", cites="lines"),),
    remedies=(
        remedy(
            text=pick(
                "largest",
                {None: "Send smaller records, or raise {limiter.value} of the producer above the largest one"},
                "Send smaller records, or raise {limiter.value} of the producer to the size of the largest one at "
                "least ({largest:byte})",
            ),
            where="client",
            config="{limiter.value}",
            current="{now}",
            proposed="at least {largest:plain}",
            derived_from="the largest record that was refused has {largest:byte}",
            cost=pick(
                "is_above_brokers",
                {True: "max.message.bytes of the topic must allow it as well (about 1 MB by default)"},
            ),
            restart_needed=True,
            needs="is_unsent",
        ),
        remedy(
            text=pick(
                "limiter",
                {
                    Limiter.topic: "Send smaller records (or smaller batches: batch.size), or raise max.message.bytes "
                    "of the topic above the largest one[ ({largest:byte})]. Raising max.request.size of the producer "
                    "does not help: a broker refused it",
                    Limiter.segment: "Send smaller batches, or raise segment.bytes of the topic",
                },
                "Send smaller records, or raise the limit that refused it: max.request.size of the producer, "
                "max.message.bytes of the topic, message.max.bytes of the brokers",
            ),
            where=pick("limiter", {Limiter.topic: "topic", Limiter.segment: "topic"}, "client"),
            config=pick("limiter", {Limiter.unknown: "max.request.size"}, "{limiter.value}"),
            current="{limit:plain}",
            command=pick(
                "limiter",
                {
                    Limiter.topic: (
                        "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics --entity-name ",
                        pick("topic", {None: "TOPIC"}, "{topic}"),
                        " --add-config max.message.bytes=",
                        pick("largest", {None: "BYTES"}, "{largest:plain}"),
                    )
                },
            ),
            unless="is_unsent",
        ),
    ),
)
