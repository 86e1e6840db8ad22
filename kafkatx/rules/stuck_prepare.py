"""A transaction is decided, but a marker is still missing: PrepareCommit or PrepareAbort is the last word.

Mechanism    PrepareX is durable: the outcome stands. The coordinator sends markers until the leader of every partition
             has answered; a partition without a leader or below min.insync.replicas holds the whole transaction up. A
             new instance of the id gets CONCURRENT_TRANSACTIONS for as long.
Evidence     the id's latest row is Prepare*, older than ten seconds; markers in some of its partitions, none in others.
             By logs alone: the coordinator's lines about a marker that it sends again and again, or gave up.
Against      a younger row (in flight); a Complete* row in another copy.
Look-alikes  hanging_transaction and open_transaction (nothing decided there); atomicity_violation (Complete* written,
             marker missing); on 4.3.1 a partition without a leader is skipped instead (KAFKA-20734).
Remedy       bring the named partitions back. Never abort by hand: the outcome is decided, a manual ABORT breaks it.
Source       KIP-98; TransactionMarkerChannelManager, TransactionCoordinator.onElection (0.11 to 4.4).
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.client_lines import only, place_of
from kafkatx.findings.conditions import leads_a_partition
from kafkatx.findings.grouping import DataColumns, columns_of_part
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.unfinished_decisions import (
    IN_FLIGHT_MS,
    decided_for_ms,
    ends_a_page,
    unfinished,
    waits_for,
    was_asked_for,
)
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import AFTER_HOLE
from kafkatx.rules.answers.markers import MARKER_WORDS, refused_markers
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.transaction_states import PREPARED, state_name
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import begin_row, data_ref, latest_row, marker_ref, parts_of, time_or_none
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.facts import instant, topic_partition
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, NameList, Refs, TopicPartition, facts

STUCK_MS = 60_000
MOST_TOLD, FEWEST_LISTED = 4, 2


@dataclass(frozen=True, slots=True)
class Waiting:
    """A partition whose marker is missing.

    `read_to` is the last offset of its log, None where that is not at hand whole: the marker may be in what is missing.
    """

    partition: TopicPartition
    is_undecided: bool
    read_to: int | None
    last_written: Instant | None
    data: Refs


@facts
class Facts:
    """A decided transaction; of the partitions whose marker is `missing` the first ones are `waiting`.

    `is_placed`: the evidence names its partitions, which a list of ids does not. `holder` is the broker that alone has
    what is missing, of `known_brokers` whose directories are at hand. `waited` are calls that gave up waiting for it.
    """

    id: str
    state: str
    decided_at: Instant | None
    age: Duration | None
    marked: Count
    is_placed: bool
    missing: NameList
    holder: int | None
    known_brokers: Count
    waiting: tuple[Waiting, ...]
    begin: Refs
    latest: Refs
    markers: Refs
    waited: Refs
    is_waiter_named: bool

    @property
    def places(self) -> str:
        """The word for what is missing."""
        return "partition" if len(self.missing) == 1 else "partitions"


def find(model: CaptureModel) -> Found:
    """One case for each id whose latest row is Prepare* and no longer in flight, or the last one that a page shows.

    Where no row is at hand, the coordinator's own lines about markers that were refused.
    """
    for latest in unfinished(model):
        yield _stuck(model, latest, decided_for_ms(model, latest))
    for case in refused_markers(model):
        if model.latest_of(model.id_code(case.transactional_id)) is None:
            yield case


def _stuck(model: CaptureModel, latest: Array, age: int) -> Case:
    row = int(latest["transaction_row"])
    parts = list(parts_of(model, row)) if row >= 0 else []
    missing = [part for part in parts if part["status"] != Status.MARKED]
    verdict = _verdict(model, latest, missing, age)
    facts = _facts(model, latest, age, parts, missing)
    return Case(
        facts=facts,
        verdict=verdict,
        severity=Severity.error if age > STUCK_MS and verdict > Verdict.possible else Severity.warning,
        transactional_id=facts.id,
        producer_id=int(latest["producer_id"]),
        producer_epoch=int(latest["producer_epoch"]),
        since=time_or_none(int(latest["updated_at"])),
        until=model.facts.evidence_end,
        **_place(model, missing),
    )


def _place(model: CaptureModel, missing: list[Array]) -> DataColumns:
    """The topic that all of these lie in; of a single one its partition and data as well."""
    if len(missing) == 1:
        return columns_of_part(model, missing[0])
    return DataColumns(topic=only(model.topic_partition(int(part["partition_code"]))[0] for part in missing))


def _verdict(model: CaptureModel, latest: Array, missing: list[Array], age: int) -> Verdict:
    """Proved where a partition at hand goes on without its marker, for longer than any retry, by a broker's clock."""
    if was_asked_for(latest):
        return Verdict.likely if age > STUCK_MS else Verdict.possible
    is_told_so = _is_refused(model, latest) or _is_one_of_most(model, latest) or _lacks_leader(model, missing)
    if is_told_so and ends_a_page(model, latest):
        return Verdict.likely
    is_soon = age <= IN_FLIGHT_MS
    if is_soon or not _is_last_so_far(model, latest) or _may_be_anothers(model, latest, missing):
        return Verdict.possible
    shown = any(_goes_on_without(model, part, int(latest["timestamp"])) for part in missing)
    lacks_marker = any(part["status"] == Status.UNMARKED for part in missing)
    if not shown and not lacks_marker and _may_be_cut_off(model, latest):
        return Verdict.possible
    is_proved = shown and age > STUCK_MS and model.is_latest_known(latest)
    return Verdict.proved if is_proved else Verdict.likely


def _is_last_so_far(model: CaptureModel, latest: Array) -> bool:
    """Whether no row of the id can be lost up to the newest one at hand.

    A page always breaks off behind that; of one that was put together, nobody knows where.
    """
    log_extent = model.state_log_extents[int(latest["state_partition"])]
    if log_extent.is_printed and log_extent.is_torn:
        return log_extent.last_gap < 0 and not log_extent.is_pieced
    return model.is_latest_known(latest)


def _is_refused(model: CaptureModel, latest: Array) -> bool:
    """Whether somebody was answered CONCURRENT_TRANSACTIONS for the id, or for one without a name where it is alone."""
    logs, name = model.logs, model.transactional_id(int(latest["id_code"]))
    kinds = (EventKind.concurrent_transactions, EventKind.failure, EventKind.init_refused, EventKind.add_refused)
    told = [row for row in logs.of_kind(*kinds).tolist() if logs.error(row) is ErrorCode.CONCURRENT_TRANSACTIONS]
    meant = (None, name) if len(model.latest) == 1 else (name,)
    return any(logs.transactional_id(row) in meant for row in told)


def _lacks_leader(model: CaptureModel, missing: list[Array]) -> bool:
    """Whether a tool shows a partition that takes no writes and still lacks its marker: nobody can write it there."""
    logs = model.logs
    kinds = (EventKind.leader_missing, EventKind.replicas_missing)
    told = {place_of(logs, row) for row in logs.of_kind(*kinds).tolist()}
    return any(topic_partition(model, int(part["partition_code"])) in told for part in missing)


def _is_one_of_most(model: CaptureModel, latest: Array) -> bool:
    """Whether a coordinator lists several ids as decided at one moment, and not as many others.

    A decision lasts milliseconds where all is well: one of them may be met by chance.
    """
    is_listed = (model.latest["updated_at"] < 0) & (model.latest["started_at"] < 0)
    decided = int((is_listed & np.isin(model.latest["state"], list(PREPARED))).sum())
    return decided >= FEWEST_LISTED and 2 * decided >= int(is_listed.sum())


def _may_be_cut_off(model: CaptureModel, latest: Array) -> bool:
    """Whether the completion may have stood behind the last line of a text: nothing much later is in it.

    A marker that a second text lacks, too, says that it did not.
    """
    log_extent = model.state_log_extents[int(latest["state_partition"])]
    return not log_extent.is_end_told and log_extent.newest <= int(latest["timestamp"]) + IN_FLIGHT_MS


def _goes_on_without(model: CaptureModel, part: Array, decided: int) -> bool:
    log_extent = model.log_extents.get(int(part["partition_code"]))
    is_whole = log_extent is not None and log_extent.is_whole and log_extent.broker_time > decided + IN_FLIGHT_MS
    return bool(part["status"] == Status.UNMARKED and is_whole)


def _may_be_anothers(model: CaptureModel, latest: Array, missing: list[Array]) -> bool:
    """Whether markers at hand may belong to a transaction of the id whose rows are lost, and the other way round."""
    lost = model.state_log_extents[int(latest["state_partition"])].last_loss >= 0
    flags = model.transactions["flags"][model.transactions_of(int(latest["id_code"]))]
    return any(part["status"] == Status.UNDECIDED for part in missing) or bool(lost and (flags & AFTER_HOLE).any())


def _facts(model: CaptureModel, latest: Array, age: int, parts: list[Array], missing: list[Array]) -> Facts:
    row, spans = int(latest["transaction_row"]), model.spans
    markers = [spans[int(part["marker"])] for part in parts if part["marker"] >= 0]
    named = [topic_partition(model, int(part["partition_code"])) for part in missing]
    return Facts(
        id=model.transactional_id(int(latest["id_code"])),
        state=state_name(int(latest["state"])),
        decided_at=instant(int(latest["updated_at"])),
        age=Duration(age) if age > IN_FLIGHT_MS else None,
        marked=Count(len(markers)),
        is_placed=len(parts) > 0,
        missing=NameList(f"{where}" for where in named),
        holder=_holder(model, missing),
        known_brokers=Count(model.facts.known_brokers),
        waiting=tuple(_waiting(model, part) for part in missing[:MOST_TOLD]),
        begin=tuple(begin_row(model.transactions[row])) if row >= 0 else (),
        latest=(latest_row(latest),),
        markers=tuple(marker_ref(model, span) for span in markers[:MOST_TOLD]),
        waited=event_refs(model, waits := waits_for(model, latest), MOST_TOLD),
        is_waiter_named=any(model.logs.transactional_id(row) is not None for row in waits),
    )


def _holder(model: CaptureModel, missing: list[Array]) -> int | None:
    """The broker that alone has all these partitions, of several whose directories are at hand."""
    if model.facts.known_brokers < 2:
        return None
    extents = [model.log_extents.get(int(part["partition_code"])) for part in missing]
    return only(extent.only_broker if extent is not None else None for extent in extents)


def _waiting(model: CaptureModel, part: Array) -> Waiting:
    log_extent = model.log_extents.get(int(part["partition_code"]))
    if log_extent is not None and (not log_extent.is_whole or log_extent.log_end <= 0):
        log_extent = None
    return Waiting(
        partition=topic_partition(model, int(part["partition_code"])),
        is_undecided=bool(part["status"] == Status.UNDECIDED),
        read_to=log_extent.log_end - 1 if log_extent is not None else None,
        last_written=Instant(log_extent.newest) if log_extent is not None else None,
        data=(data_ref(model, model.spans[int(part["span"])]),) if part["span"] >= 0 else (),
    )


WORDS = Words(
    Facts,
    title="stuck in {state}[ for {age}]",
    summary=(
        "The ",
        pick("state", {"PrepareCommit": "commit"}, "abort"),
        " of {id} was decided[ at {decided_at}] but[ {perhaps}] still waits for ",
        pick(
            "missing",
            {
                (): pick(
                    "is_placed", {True: "its completion record: all markers are written"}, "markers of its partitions"
                )
            },
            "markers in {missing:3}",
        ),
        ". The outcome stands; ",
        pick("missing", {(): ""}, "read_committed readers there and "),
        "new instances of the id wait.",
    ),
    steps=(
        step(
            pick(
                "decided_at",
                {None: "The coordinator wrote {state}: the outcome stands"},
                "At {decided_at} the coordinator wrote {state}: the outcome stands",
            ),
            "the latest record of {id} in every copy here",
            cites="begin latest",
        ),
        step("{marked:partition} got the marker", cites="markers", needs="markers"),
        step(
            pick(
                "each.is_undecided",
                {True: "{each.partition} has markers that fit more than one decision"},
                pick(
                    "each.read_to", {None: "{each.partition} may have got no marker"}, "{each.partition} got no marker"
                ),
            ),
            pick(
                "each.read_to",
                {None: "no completion record; the partition's log is not all in this evidence"},
                "its log up to offset {each.read_to}, last written {each.last_written}",
            ),
            each="waiting",
            cites="each.data",
        ),
        step(
            pick(
                "is_waiter_named",
                {True: "initTransactions gave up waiting"},
                "initTransactions of an id that is not named gave up waiting, probably for it",
            ),
            "while {id} stands in {state} it is answered CONCURRENT_TRANSACTIONS, and asks again",
            cites="waited",
            needs="waited",
        ),
    ),
    considered=(
        left_open(
            "a transaction that has completed since",
            pick(
                "perhaps",
                {
                    "possibly": pick(
                        "age",
                        {None: "the page ends with this record"},
                        "records of the coordinator may be missing here, or markers belong to another decision",
                    )
                },
                "this evidence ends {age} after the decision",
            ),
            decided_by="kafka-transactions.sh describe of {id}",
            needs="perhaps",
        ),
        ruled_out(
            "hanging_transaction",
            "the coordinator has decided and writes the marker as soon as the partition answers",
            cites="latest",
            needs="missing",
        ),
        ruled_out("open_transaction", "{state} is a decision", cites="latest"),
    ),
    remedies=(
        remedy(
            pick(
                "missing",
                {
                    (): "Check that the partition of __transaction_state of {id} has enough replicas in sync. If it "
                    "has, restart its leader. Do not abort by hand"
                },
                (
                    pick(
                        "holder",
                        {None: "Bring {places} {missing:3} back (leader, in-sync replicas)"},
                        "Start broker {holder}, or find out why {missing:3} does not answer there: of {known_brokers} "
                        "brokers whose directories are here it alone has {missing:3}",
                    ),
                    ". The markers follow by themselves. Do not abort by hand",
                ),
            ),
            "operator",
            command=pick(
                "missing", {(): f"kafka-topics.sh --bootstrap-server HOST:PORT --describe --topic {TRANSACTION_STATE}"}
            ),
            cost="readers and new instances of the id wait until then",
        ),
        remedy(
            pick(
                "state",
                {
                    "PrepareCommit": "Do not send the records of the transaction decided at {decided_at} again: it "
                    "commits"
                },
                "Send the records of the transaction decided at {decided_at} again, if they are needed and the "
                "application did not do so: it aborts",
            ),
            "application",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, MARKER_WORDS),
    depth=4,
    caused_by=(("broker_unreachable", leads_a_partition),),
    is_lasting=True,
)
