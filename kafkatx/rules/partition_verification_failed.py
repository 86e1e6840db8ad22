"""A leader refused transactional records, or offsets, since the coordinator didn't know the partition in a transaction.

Mechanism    From 3.6 on a partition's leader asks the coordinator whether the partition belongs to the producer's
             transaction before it takes the first batch (KIP-890; offset commits since 3.7). A late batch of a
             transaction that is over is refused and can't hang any more. Old clients are told INVALID_TXN_STATE, those
             of 3.8 and later TRANSACTION_ABORTABLE; NOT_ENOUGH_REPLICAS with "Unable to verify" says that the
             coordinator could not be asked.
Evidence     the broker's words (Partition was not added to the transaction; Record was not part of an ongoing
             transaction; Unable to verify the partition has been added to the transaction), or the client's
             TransactionAbortableException, or InvalidTxnStateException as the reason of its abortable state.
Against      InvalidTxnStateException as the answer to EndTxn: the transaction was over, by timeout as a rule.
Look-alikes  NOT_ENOUGH_REPLICAS without that message (too few replicas in sync); transaction_timed_out under
             transactions v2 (commit refused with INVALID_TXN_STATE); TransactionAbortableException after exhausted
             retries, which names its own cause.
Remedy       abort and write again; look at the coordinator's latency when it repeats; clients that add partitions as
             the protocol asks. Switching transaction.partition.verification.enable off lets transactions hang again.
Source       KIP-890, KAFKA-15449, KAFKA-15653, KAFKA-16314; ReplicaManager, AddPartitionsToTxnManager (3.6 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kafkatx.findings.client_lines import (
    TIMES,
    aborted_after,
    by_client,
    by_transaction,
    columns,
    only,
    producer_at,
    seen,
    times_of,
    topic_partition,
)
from kafkatx.findings.conditions import ended_by_others
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.line_owners import is_network_thread
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, REQUEST_TIMEOUT_MS
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.evidence_refs import marker_ref
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, TopicPartition, facts

REPEATED = 3
"""So many refusals of one client are more than one meeting with a transaction that had just ended."""
WRITES = (EventKind.produce_failed, EventKind.produce_retry)
GAVE_UP = (EventKind.produce_failed, EventKind.to_abortable, EventKind.failure)
"""Lines of a client that does not retry a write any more."""


@facts
class Facts:
    """Refusals of one client's writes (None: nobody is named); the first is explained. `where` is None of several.

    `in_words` says that its lines, or brokers' ones, have the words of the verification; `could_not_ask` that they say
    that the coordinator gave no answer, `any_could_not_ask` that those of any refusal do. `must_abort`: the client
    doesn't retry one of them by itself. `just_ended` is the ABORT marker that came before it, `shrunk` are partitions
    concerned that lost replicas. `has_brokers_log`: the logs of brokers at hand reach over that time.
    """

    client: ClientName | None
    where: TopicPartition | None
    count: Count
    in_words: bool
    could_not_ask: bool
    any_could_not_ask: bool
    must_abort: bool
    has_brokers_log: bool
    producer: Bound[ActorWords] | None
    just_ended: Refs
    refused: Refs
    last_refused: Refs
    aborted: Refs
    shrunk: Refs

    @property
    def is_aborted(self) -> bool:
        """Whether the client ended the transaction."""
        return bool(self.aborted)

    @property
    def is_late(self) -> bool:
        """Whether a transaction had just ended."""
        return bool(self.just_ended)

    @property
    def is_repeated(self) -> bool:
        """Whether it is no chance meeting."""
        return self.count >= REPEATED


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One refusal: its rows at a client (None: only brokers tell it) or in brokers' logs."""

    client: ClientInstance | None
    rows: tuple[int, ...]


def find(model: CaptureModel) -> Found:
    """One case for each client, with what brokers say of its id, and one for each id that only brokers name."""
    groups: dict[ClientName, list[_Refusal]] = {}
    for client, rows in by_client(model, _client_rows(model)):
        apart = by_transaction(model.logs, client, rows)
        groups.setdefault(client_name(client), []).extend(_Refusal(client, tuple(some)) for some in apart)
    told = _told_by_brokers(model)
    for name, refusals in groups.items():
        yield _case(model, name, refusals, told.pop(name.transactional_id, []))
    for transactional_id, rows in told.items():
        yield _case(model, ClientName(transactional_id, None), [_Refusal(None, (row,)) for row in rows], [])


def _client_rows(model: CaptureModel) -> list[int]:
    """Lines of clients that show a write refused for want of a transaction."""
    logs = model.logs
    rows = set(logs.saying(Saying.OUTSIDE_TRANSACTION).tolist())
    rows |= {row for row in logs.saying(Saying.ABORTABLE).tolist() if not logs.says(row, Saying.OUT_OF_RETRIES)}
    rows |= {row for row in logs.saying(Saying.INVALID_STATE).tolist() if _answers_write(logs, row)}
    return sorted(row for row in rows if logs.events["side"][row] != Side.broker)


def _answers_write(logs: LogModel, row: int) -> bool:
    """Whether INVALID_TXN_STATE answered a write: by the client's state, or as the callback of a send shows it."""
    if logs.kind(row) is EventKind.to_abortable or logs.kind(row) in WRITES:
        return True
    if logs.kind(row) is not EventKind.failure or not is_network_thread(logs.string(row, "thread") or ""):
        return False
    fatal = logs.of_kind(EventKind.to_fatal)
    return not bool((logs.owners[fatal] == logs.owners[row]).any())


def _told_by_brokers(model: CaptureModel) -> dict[str | None, list[int]]:
    """Lines of brokers that refuse for want of a transaction, by the transactional.id they are about."""
    logs = model.logs
    rows = {*logs.of_kind(EventKind.verification_failed).tolist()}
    rows |= set(logs.saying(Saying.OUTSIDE_TRANSACTION, Side.broker).tolist())
    found: dict[str | None, list[int]] = {}
    for row in sorted(row for row in rows if logs.events["side"][row] == Side.broker):
        found.setdefault(_id_of(model, row), []).append(row)
    return found


def _id_of(model: CaptureModel, row: int) -> str | None:
    """transactional.id that a broker's line names, or that its producer id belongs to."""
    name, producer_id = model.logs.string(row, "transactional_id"), model.logs.number(row, "producer_id")
    if name is not None or producer_id is None:
        return name
    owner = model.owner_of_producer(producer_id)
    if owner >= 0:
        return model.transactional_id(owner)
    clients = (client for client in model.logs.clients if producer_id in client.producer_ids)
    return next((client.transactional_id for client in clients if client.owns_producer_ids), None)


def _case(model: CaptureModel, name: ClientName, refusals: list[_Refusal], told: list[int]) -> Case:
    logs = model.logs
    rows = [row for refusal in refusals for row in refusal.rows]
    topic, partition = only(_partitions(logs, [*rows, *told])) or (None, None)
    since, until = times_of(logs, rows)
    given = [_producer(logs, refusal) for refusal in refusals]
    where = TopicPartition(topic, partition) if topic is not None and partition is not None else None
    facts = _facts(model, name, where, refusals, told)
    return Case(
        facts=facts,
        verdict=Verdict.proved if told or _is_named(logs, rows) else Verdict.likely,
        severity=Severity.warning if facts.is_repeated else Severity.info,
        topic=topic,
        partition=partition,
        since=since,
        until=until,
        **columns(logs, name, given, rows),
    )


def _facts(
    model: CaptureModel, name: ClientName, where: TopicPartition | None, refusals: list[_Refusal], told: list[int]
) -> Facts:
    logs, first = model.logs, refusals[0]
    shown, every = [*first.rows, *told], [*(row for refusal in refusals for row in refusal.rows), *told]
    return Facts(
        client=name if name != ClientName(None, None) else None,
        where=where,
        count=Count(len(refusals)),
        in_words=bool(told) or _is_named(logs, first.rows),
        could_not_ask=_could_not_ask(logs, shown),
        any_could_not_ask=_could_not_ask(logs, every),
        must_abort=any(_must_abort(logs, refusal) for refusal in refusals),
        has_brokers_log=_has_brokers_log(logs, first.rows),
        producer=seen(model, first.client),
        just_ended=_just_ended(model, first),
        refused=event_refs(model, shown, 4),
        last_refused=event_refs(model, first.rows, 1),
        aborted=event_refs(model, aborted_after(logs, first.client, first.rows[0])),
        shrunk=event_refs(model, _shrunk(logs, every), 2),
    )


def _partitions(logs: LogModel, rows: Iterable[int]) -> set[tuple[str, int]]:
    return {found for row in rows if (found := topic_partition(logs, row)) is not None}


def _producer(logs: LogModel, refusal: _Refusal) -> tuple[int | None, int | None]:
    if refusal.client is not None:
        return producer_at(refusal.client, refusal.rows[0])
    return logs.number(refusal.rows[0], "producer_id"), logs.number(refusal.rows[0], "producer_epoch")


def _is_named(logs: LogModel, rows: Iterable[int]) -> bool:
    """Whether the words are those of the verification, not only the error that it shares with others."""
    return any(
        logs.says(row, Saying.OUTSIDE_TRANSACTION) or logs.kind(row) is EventKind.verification_failed for row in rows
    )


def _could_not_ask(logs: LogModel, rows: Iterable[int]) -> bool:
    return any(logs.says(row, Saying.UNABLE_TO_VERIFY) or _names_what_kept_it(logs, row) for row in rows)


def _names_what_kept_it(logs: LogModel, row: int) -> bool:
    """Whether a line of the verification has the error of the request in place of a word about the partition."""
    is_check = logs.kind(row) is EventKind.verification_failed and bool(logs.string(row, "error"))
    return is_check and not logs.says(row, Saying.OUTSIDE_TRANSACTION)


def _has_brokers_log(logs: LogModel, rows: Iterable[int]) -> bool:
    """Whether logs of all brokers that wrote any reach over the time of some lines, so that they hold nothing on it."""
    times = [at for row in rows if (at := logs.at(row)) is not None]
    brokers = [number for number, one in enumerate(logs.facts.sources) if one.side == Side.broker]
    return bool(times and brokers) and all(logs.covers(number, min(times), max(times)) for number in brokers)


def _must_abort(logs: LogModel, refusal: _Refusal) -> bool:
    """Whether the client gave up: where the coordinator could not be asked, it is answered an error that it retries."""
    gave_up = any(logs.kind(row) in GAVE_UP for row in refusal.rows)
    return gave_up or not _could_not_ask(logs, refusal.rows)


def _shrunk(logs: LogModel, rows: Iterable[int]) -> list[int]:
    """Lines that tell that one of the partitions lost replicas in sync."""
    places = _partitions(logs, rows)
    return [row for row in logs.of_kind(EventKind.isr_shrunk).tolist() if topic_partition(logs, row) in places]


def _just_ended(model: CaptureModel, refusal: _Refusal) -> Refs:
    """The ABORT marker that had just ended the transaction which the refused batch belonged to, if data are at hand."""
    producer, _ = _producer(model.logs, refusal)
    at, spans = model.logs.at(refusal.rows[0]), model.spans
    if producer is None or at is None or not len(spans):
        return ()
    ended = spans["marker_timestamp"]
    mine = (spans["producer_id"] == producer) & (spans["marker_offset"] >= 0) & (spans["marker_kind"] == 0)
    before = np.flatnonzero(mine & (ended >= at - REQUEST_TIMEOUT_MS - CLIENT_TOLERANCE_MS) & (ended <= at))
    return (marker_ref(model, spans[before[-1]]),) if len(before) else ()


WORDS = Words(
    Facts,
    title=(
        "writes refused",
        TIMES,
        ": ",
        pick("any_could_not_ask", {True: "partition not verified"}, "outside a transaction"),
    ),
    summary=(
        pick("where", {None: "A leader"}, "The leader of {where}"),
        " refused writes[ of {client.transactional_id}]",
        TIMES,
        ": ",
        pick(
            "any_could_not_ask",
            {True: "it could not ask the coordinator whether the partition is in a transaction."},
            "the partition was[ {perhaps}] not part of an open transaction.",
        ),
        pick(
            "is_late",
            {True: " They may have come late, after an abort: accepted, they would have stayed open for ever."},
            "",
        ),
        pick(
            "must_abort",
            {
                True: pick(
                    "is_aborted", {True: " The client aborted its transaction."}, " Its transaction must be aborted."
                )
            },
            " That alone loses nothing: the client retries by itself.",
        ),
    ),
    who=pick("client.transactional_id", {None: "[client {client.client_id}]"}),
    actors=(included("producer"),),
    steps=(
        step(
            "A transaction of the same producer id had just been aborted",
            f"its ABORT marker is at most {duration(REQUEST_TIMEOUT_MS)} older, the default request.timeout.ms",
            cites="just_ended",
            needs="just_ended",
        ),
        step(
            pick(
                "could_not_ask",
                {True: "The leader could not ask the coordinator about the partition"},
                "The leader refused the write",
            ),
            pick(
                "in_words",
                {True: "the message is that of the leader's check (KIP-890)"},
                "the error is the one of the leader's check (KIP-890)",
            ),
            cites="refused",
        ),
        step("P aborted the transaction", cites="aborted", needs="aborted"),
    ),
    considered=(
        ruled_out(
            "transaction_timed_out",
            "the error answered a write; after a timeout the commit is refused, and that is fatal",
            cites="last_refused",
        ),
        ruled_out(
            "too few replicas in sync",
            "the message names the verification, not the replicas",
            needs="any_could_not_ask",
            unless="shrunk",
        ),
        left_open(
            "too few replicas in sync",
            "the ISR of the partition shrank as well",
            decided_by="the topic's min.insync.replicas and the ISR at that time",
            cites="shrunk",
            needs="any_could_not_ask shrunk",
        ),
        left_open(
            "another reason for the refusal",
            "its error has several, and no broker's line names which",
            decided_by=pick(
                "has_brokers_log",
                {True: "the leader's request log (kafka.request.logger), since its server.log names no reason,"},
                "the server.log of the partition's leader at that time",
            ),
            needs="perhaps",
        ),
    ),
    remedies=(
        remedy(
            "Send the records of the transaction again if the application has not done so already. The transaction was "
            "aborted; the producer stays usable",
            "application",
            needs="must_abort aborted",
        ),
        remedy(
            pick(
                "nothing_open",
                {True: "Send the records of the aborted transaction again. The producer stays usable"},
                "Abort the transaction and send its records again. The producer stays usable",
            ),
            "application",
            needs="must_abort",
            unless="aborted",
        ),
        remedy(
            "Nothing to do while the client retries: the check passes when the coordinator answers. Send again only "
            "what fails for good",
            "application",
            unless="must_abort",
        ),
        remedy(
            text="Prevent it: look at the coordinator's latency, and upgrade clients that write before they add the "
            "partition. Leave the verification on: without it late batches hang",
            where="broker",
            config="transaction.partition.verification.enable",
            current="true",
            needs="is_repeated",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=3,
    caused_by=(("aborted_by_client", ended_by_others),),
    decided_by=(Side.client, Side.broker),
)
