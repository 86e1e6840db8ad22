"""What brokers or the library refused, by the error alone: it names the right, the limit or the setting itself."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from kafkatx.findings.askers import Asker, asker_of
from kafkatx.findings.client_lines import by_client, columns, is_cut_out, only, producer_at, seen, times_of
from kafkatx.findings.plain_clients import is_foreign
from kafkatx.findings.rule import Case
from kafkatx.findings.said_by_failures import by_words, with_brokers_lines
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import is_in_sentence, says_meant, told_id
from kafkatx.rules.settings.too_large import too_large_case
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.refusals import Refusal, refusal_in
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import LISTED, event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, facts

OF_ANYONE = frozenset({Refusal.cluster_denied, Refusal.topic_denied, Refusal.group_denied, Refusal.too_large})
"""What brokers answer to other clients as well: their rights and sizes are no business of a transaction."""
NO_RECORDS = "Produce(0): UNSUPPORTED"
"""What lists of controllers have, whatever a client asks them for."""
DENIED = OF_ANYONE - {Refusal.too_large}
"""Of these the words are the same, whoever asked."""
AT_START = frozenset(
    {
        Refusal.acks, Refusal.retries, Refusal.in_flight, Refusal.without_idempotence, Refusal.delivery_timeout,
        Refusal.message_timeout, Refusal.socket_timeout, Refusal.queuing, Refusal.endless, Refusal.value,
        Refusal.commit_interval, Refusal.not_enabled, Refusal.framework,
    }
)  # fmt: skip
"""What the library refuses before it asks any broker."""


@facts
class Refused:
    """What one client was refused; `topic` where all its lines name one.

    `is_anyones`: nothing tells that a producer asked, and other clients are refused so as well. `is_without_id`: the
    right for a transactional.id was refused to a producer that has none. `is_quoted`: only people's sentences tell it.
    """

    client: ClientName
    producer: Bound[ActorWords] | None
    what: Refusal
    topic: str | None
    count: Count
    lines: Refs
    is_anyones: bool = False
    is_without_id: bool = False
    is_quoted: bool = False

    @property
    def id(self) -> str | None:
        """The transactional.id as a shell takes it."""
        return None if self.client.transactional_id is None else shlex.quote(self.client.transactional_id)

    @property
    def is_listed(self) -> bool:
        """Whether nothing was refused yet: a list tells what the node does not know."""
        return self.what is Refusal.not_listed

    @property
    def is_at_start(self) -> bool:
        """Whether the library refused it, before any broker was asked."""
        return self.what in AT_START


def refused(model: CaptureModel, told: frozenset[tuple[str | None, int | None]]) -> Iterator[Case]:
    """What clients were refused; lines that another case of the rule tells (`told`: source and line) are left out."""
    logs = model.logs
    for client, what, rows in with_brokers_lines(logs, by_words(model, refusal_in)):
        own = [row for row in rows if not (what in OF_ANYONE and _asker(model, client, row) is Asker.another)]
        lines = event_refs(model, own, 4)
        if own and not any((line.source, line.line) in told for line in lines):
            too_large = what is Refusal.too_large
            if too_large and is_foreign(model, own[0]) and says_meant(logs):
                continue
            yield too_large_case(model, client, own) if too_large else _refused(model, client, what, own, lines)
    for client, own in by_client(model, _without_requests(logs)):
        yield _refused(model, client, Refusal.not_listed, own, event_refs(model, own, 4))


def _without_requests(logs: LogModel) -> Iterator[int]:
    """Lists of requests that a transactional producer was given by a broker which knows none of transactions.

    Controllers don't either, but they don't take records. Where no line tells whose list it is, all clients around it
    must be transactional, or it was taken out of its log.
    """
    rows = logs.of_kind(EventKind.client_state)
    codes = logs.events["api_code"][rows]
    first = dict(zip(codes[::-1].tolist(), rows[::-1].tolist(), strict=True))
    listed = next((code for code, row in first.items() if logs.string(row, "api") == LISTED), None)
    for row in rows[codes == listed].tolist() if listed is not None else ():
        owner, path = logs.client(int(logs.owners[row])), logs.path(row)
        is_named = owner is not None and (owner.client_id or owner.transactional_id)
        beside = (one for one in logs.clients if one is not owner and any(logs.path(at) == path for at in one.rows))
        around = [owner] if is_named else [*beside]
        is_known = bool(around) or is_cut_out(logs, [row])
        if is_known and NO_RECORDS not in (logs.string(row, "detail") or "") and all(map(_lacks_an_id, around)):
            yield row


def _lacks_an_id(client: ClientInstance | None) -> bool:
    """Whether a client is a transactional producer that no broker gave a producer id."""
    return client is not None and client.transactional_id is not None and not client.initialisations


def _refused(
    model: CaptureModel, client: ClientInstance | None, what: Refusal, rows: list[int], lines: tuple[EvidenceRef, ...]
) -> Case:
    logs, name = model.logs, client_name(client)
    if what is Refusal.id_denied and name.transactional_id is None:
        name = ClientName(told_id(logs, logs.path(rows[0])), name.client_id)
    since, until = times_of(logs, rows)
    topics = [topic for row in rows if (topic := logs.string(row, "topic")) is not None]
    is_anyones = what in DENIED and all(_asker(model, client, row) is Asker.unknown for row in rows)
    is_quoted = all(is_in_sentence(logs, row) for row in rows)
    is_listed = what is Refusal.not_listed
    is_guessed = is_listed and name.transactional_id is None
    unsure = Verdict.possible if is_guessed else Verdict.likely
    is_without_id = what is Refusal.id_denied and name.transactional_id is None and _has_no_id(logs, client)
    return Case(
        facts=Refused(
            name, seen(model, client), what, only(topics), Count(len(rows)), lines, is_anyones, is_without_id, is_quoted
        ),
        verdict=unsure if is_anyones or is_without_id or is_quoted or is_listed else Verdict.proved,
        severity=Severity.warning if is_guessed else Severity.error,
        since=since,
        until=until,
        **columns(logs, name, [producer_at(client, row) for row in rows], rows),
    )


def _has_no_id(logs: LogModel, client: ClientInstance | None) -> bool:
    """Whether a client's own bracket shows that it has no transactional.id: Java's names it where there is one.

    The name of its network thread, which may be all that tells the client, never does.
    """
    if client is None or client.implementation != "java" or client.client_id is None:
        return False
    return not any((logs.string(row, "thread") or "").endswith(f"| {client.client_id}") for row in client.rows)


def _asker(model: CaptureModel, client: ClientInstance | None, row: int) -> Asker:
    return asker_of(model.logs, client, row)


OF = "[ of {client.transactional_id}]"
THEY_REFUSED = f"The brokers[ {{perhaps}}] refused the producer{OF}"
NEEDS = "The client library refused its configuration: a transactional producer needs "
TITLES = pick(
    "what",
    {
        Refusal.timeout_above_limit: "transaction.timeout.ms above the brokers' limit",
        Refusal.id_denied: "no right to use the transactional.id",
        Refusal.cluster_denied: "no right for idempotent writes",
        Refusal.topic_denied: "no right to write to the topic",
        Refusal.group_denied: "no right to commit the group's offsets",
        Refusal.old_broker: "brokers without transactions",
        Refusal.not_listed: "brokers or a proxy without transactions",
        Refusal.controller: "a controller taken for a broker",
        Refusal.old_for_tool: "brokers older than the tool",
        Refusal.old_for_groups: "brokers before 2.5",
        Refusal.old_for_bump: "brokers before 2.5, which can't raise a producer's epoch",
        Refusal.commit_interval: "transaction.timeout.ms below commit.interval.ms",
        Refusal.not_enabled: "workers without exactly-once support",
        Refusal.no_service: "a service without transactions",
        Refusal.framework: "a framework that can't do transactions as it is set up",
        Refusal.acks: "acks below all beside idempotence",
        Refusal.retries: "retries=0 beside idempotence",
        Refusal.in_flight: "too many requests in flight for idempotence",
        Refusal.without_idempotence: "transactional.id without idempotence",
        Refusal.delivery_timeout: "delivery.timeout.ms below one attempt",
        Refusal.message_timeout: "message.timeout.ms above transaction.timeout.ms",
        Refusal.socket_timeout: "socket.timeout.ms above transaction.timeout.ms",
        Refusal.queuing: "queuing.strategy without fifo",
        Refusal.pool: "too few producers in the pool",
        Refusal.endless: "transaction.timeout.ms beside two-phase commit",
        Refusal.value: "a value that the setting can't have",
        Refusal.other_release: "a program and kafka-clients that don't fit",
    },
)
SUMMARIES = pick(
    "what",
    {
        Refusal.timeout_above_limit: f"The brokers refused the producer{OF}: its transaction.timeout.ms is above "
        "their transaction.max.timeout.ms (15 min by default).",
        Refusal.id_denied: f"The brokers refused the producer{OF}: its principal has no rights for that "
        "transactional.id.",
        Refusal.cluster_denied: f"{THEY_REFUSED} a producer id: its principal may not write idempotently (the "
        "default since clients 3.0).",
        Refusal.topic_denied: f"{THEY_REFUSED}: its principal has no rights for the topic[ {{topic}}].",
        Refusal.group_denied: f"{THEY_REFUSED}: its principal has no rights for the consumer group.",
        Refusal.old_broker: f"The brokers refused the producer{OF}: they don't know the requests of transactions, "
        "which came with 0.11 (without ZooKeeper: with 3.0).",
        Refusal.not_listed: f"What answers the producer{OF} lists no requests of transactions: it is[ {{perhaps}}] a "
        "broker before 0.11, or a product or proxy without them.",
        Refusal.controller: f"The producer{OF} asked a controller, not a broker: bootstrap.servers names the "
        "controllers' listener, which doesn't know the requests of clients.",
        Refusal.old_for_groups: "The brokers are older than 2.5: they don't know a consumer's generation in "
        "transactions (exactly_once_v2, sendOffsetsToTransaction with group metadata), nor stable offsets.",
        Refusal.old_for_bump: "The brokers are older than 2.5: the client, which may go on after an abortable error by "
        "asking for a new epoch of its producer id, can't ask them for one. So each such error is fatal to it.",
        Refusal.commit_interval: "Streams refused its configuration: transaction.timeout.ms of its producers is "
        "below commit.interval.ms, so every transaction would time out.",
        Refusal.not_enabled: "Connect refused the connector: its workers run without exactly-once support for sources.",
        Refusal.old_for_tool: "The brokers don't know what the tool asks for: the requests of "
        "kafka-transactions.sh came with 3.0, describe-producers with 2.8. Nothing is told of transactions.",
        Refusal.no_service: f"The service refused the producer{OF}: it offers no transaction coordinator in this "
        "tier, or has it switched off.",
        Refusal.framework: "The framework refused its configuration: as it is set up it can't do transactions. "
        "Its message says which setting that is.",
        Refusal.acks: f"{NEEDS}acks=all.",
        Refusal.retries: f"{NEEDS}retries above 0.",
        Refusal.in_flight: f"{NEEDS}at most 5 requests in flight (1 for sarama).",
        Refusal.without_idempotence: f"{NEEDS}idempotence.",
        Refusal.delivery_timeout: "The client library refused its configuration: delivery.timeout.ms must hold "
        "linger.ms and one request.timeout.ms.",
        Refusal.message_timeout: "The client library refused its configuration: message.timeout.ms must not be "
        "above transaction.timeout.ms.",
        Refusal.socket_timeout: "The client library refused its configuration: socket.timeout.ms must stay 100 ms "
        "below transaction.timeout.ms.",
        Refusal.queuing: f"{NEEDS}queuing.strategy=fifo.",
        Refusal.endless: "The client library refused its configuration: with two-phase commit transactions don't "
        "expire, so transaction.timeout.ms must not be set.",
        Refusal.value: "The library refused its configuration: a setting of transactions has a value that this "
        "release does not know.",
        Refusal.other_release: "The program was built for another release of kafka-clients than the one that it "
        "runs with: what it asks of the library is not there. No broker was asked.",
        Refusal.pool: "More transactions were open at once than the framework's pool has producers. The framework "
        "refused the next one; no broker was asked.",
    },
)
REFUSED_WORDS = Words(
    Refused,
    who=pick("client.transactional_id", {None: "[client {client.client_id}]"}),
    title=pick(
        "is_without_id",
        {True: "no right to write, of a producer without transactional.id"},
        TITLES,
    ),
    summary=pick(
        "is_without_id",
        {
            True: "The producer was refused for want of a right for a transactional.id, and has none: it is only "
            "idempotent. Kafka's brokers ask for that right only where there is an id, so another product, or a "
            "proxy,[ {perhaps}] answered; what its principal lacks is the right to write to the topic[ {topic}].",
        },
        (pick("is_quoted", {True: "By what somebody quotes[, {perhaps}]: "}, ""), SUMMARIES),
    ),
    actors=(included("producer"),),
    steps=(
        step(
            pick(
                "is_at_start",
                {True: "The client library refused its configuration"},
                pick(
                    "what",
                    {Refusal.not_listed: "The list of what the node knows has them as UNSUPPORTED, {count:time}"},
                    "The call failed for that reason, {count:time}",
                ),
            ),
            pick("what", {Refusal.not_listed: "the answer to ApiVersions"}, "the error names its reason"),
            cites="lines",
        ),
    ),
    considered=(
        left_open(
            "the call of another client",
            "clients for administration and readers are refused in the same words, and nothing names who asked",
            decided_by="the lines around it (the client, its thread, or the frames below the error)",
            needs="is_anyones",
        ),
        left_open(
            "what was met",
            "a sentence quotes the error, and no line that a program printed shows it",
            decided_by="the client's own log of that time",
            needs="is_quoted",
        ),
        left_open(
            "another broker",
            "a cluster in the middle of an upgrade has brokers that know transactions beside one that does not",
            decided_by="the lists of the other nodes (kafka-broker-api-versions.sh)",
            needs="is_listed",
        ),
    ),
    remedies=(
        remedy(
            "Grant the principal WRITE and DESCRIBE on the topic[ {topic}] (IDEMPOTENT_WRITE on the cluster for "
            "brokers "
            "before 2.8), at the product that answered",
            "broker",
            needs="is_without_id",
        ),
        remedy(
            unless="is_without_id",
            text=pick(
                "what",
                {
                    Refusal.timeout_above_limit: "Lower the producer's transaction.timeout.ms to at most 900000 (15 "
                    "min, the brokers' default limit), or raise transaction.max.timeout.ms. Flink's default is 1 h",
                    Refusal.id_denied: "Grant the principal WRITE and DESCRIBE on the transactional.id[ "
                    "{client.transactional_id}] (or on its prefix)",
                    Refusal.cluster_denied: "Grant the principal WRITE on its topics, and IDEMPOTENT_WRITE on the "
                    "cluster for brokers before 2.8. Without transactions set enable.idempotence=false instead",
                    Refusal.topic_denied: "Grant the principal WRITE and DESCRIBE on the topic",
                    Refusal.group_denied: "Grant the principal READ on the consumer group",
                    Refusal.old_broker: "Upgrade the brokers to 0.11 or later (without ZooKeeper: 3.0), and the "
                    "topics' message format with them; or do without idempotence and transactions",
                    Refusal.not_listed: "Use a product, or a tier of the service, that offers transactions, or go past "
                    "the proxy; brokers of Kafka have them since 0.11. Else do without a transactional.id",
                    Refusal.controller: "Put the brokers' listener into bootstrap.servers, not the port of "
                    "controller.listener.names",
                    Refusal.old_for_groups: "Upgrade the brokers to 2.5 or later; until then use exactly_once (Streams "
                    "before 4.0), or sendOffsetsToTransaction with the group's name",
                    Refusal.old_for_bump: "Upgrade the brokers to 2.5 or later, or take a client of their release; "
                    "what "
                    "made the client ask for a new epoch is the error before",
                    Refusal.commit_interval: "Lower commit.interval.ms, or raise producer.transaction.timeout.ms above "
                    "three times that",
                    Refusal.not_enabled: "Set exactly.once.source.support=preparing on all workers and restart them, "
                    "then =enabled and restart them again",
                    Refusal.old_for_tool: "Look at the partition instead: a dump of its log, and of its partition of "
                    "__transaction_state, tells the same. Or upgrade the brokers",
                    Refusal.no_service: "Use a tier of the service that offers transactions (KoP: "
                    "kafkaTransactionCoordinatorEnabled=true), or do without a transactional.id",
                    Refusal.framework: "Correct the setting that the message names, and start the program again",
                    Refusal.acks: "Set acks=all, or remove the override",
                    Refusal.retries: "Remove the override of retries",
                    Refusal.in_flight: "Lower max.in.flight.requests.per.connection to 5 (sarama: Net.MaxOpenRequests "
                    "to 1)",
                    Refusal.without_idempotence: "Remove enable.idempotence=false",
                    Refusal.delivery_timeout: "Raise delivery.timeout.ms to at least linger.ms + request.timeout.ms",
                    Refusal.message_timeout: "Lower message.timeout.ms to transaction.timeout.ms, or remove it: the "
                    "library then sets it by itself",
                    Refusal.socket_timeout: "Lower socket.timeout.ms to 100 ms below transaction.timeout.ms",
                    Refusal.queuing: "Remove the override of queuing.strategy",
                    Refusal.endless: "Remove transaction.timeout.ms, or disable transaction.two.phase.commit.enable",
                    Refusal.value: "Set a value that this release of the library knows",
                    Refusal.other_release: "Run the program with the release of kafka-clients that it was built for: "
                    "remove what forces another one (mvn dependency:tree shows it)",
                    Refusal.pool: "Raise the size of the pool above the number of transactions at once (Flink: of "
                    "concurrent checkpoints), or lower that number",
                },
            ),
            where=pick(
                "what",
                {
                    Refusal.id_denied: "broker",
                    Refusal.cluster_denied: "broker",
                    Refusal.topic_denied: "broker",
                    Refusal.group_denied: "broker",
                    Refusal.old_broker: "broker",
                    Refusal.old_for_groups: "broker",
                    Refusal.old_for_bump: "broker",
                    Refusal.old_for_tool: "operator",
                    Refusal.no_service: "broker",
                    Refusal.not_listed: "broker",
                },
                "client",
            ),
            command=pick(
                "what",
                {
                    Refusal.id_denied: "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal "
                    "User:PRINCIPAL --operation Write --operation Describe --transactional-id {id}",
                },
            ),
            config=pick(
                "what",
                {
                    Refusal.timeout_above_limit: "transaction.timeout.ms",
                    Refusal.acks: "acks",
                    Refusal.retries: "retries",
                    Refusal.in_flight: "max.in.flight.requests.per.connection",
                    Refusal.without_idempotence: "enable.idempotence",
                    Refusal.delivery_timeout: "delivery.timeout.ms",
                    Refusal.message_timeout: "message.timeout.ms",
                    Refusal.socket_timeout: "socket.timeout.ms",
                    Refusal.queuing: "queuing.strategy",
                    Refusal.controller: "bootstrap.servers",
                },
            ),
        ),
    ),
)
