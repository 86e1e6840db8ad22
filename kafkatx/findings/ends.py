"""What rules about ended transactions share: what their findings say of an end, and the lines that logs hold of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.findings.client_lines import source_name
from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.shared_prefixes import prefix_facts
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd, known
from kafkatx.histories.endings import Protocol, Reason
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.spans import COMMIT
from kafkatx.terms.catalogue.frameworks import CONNECT, FLINK, STREAMS, Framework
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.config_context import Looks
from kafkatx.words.evidence_refs import begin_row, completion_row, data_ref, decision_row, marker_ref, next_row
from kafkatx.words.explanation import actor, remedy, step
from kafkatx.words.facts import data, instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Instant, NameList, Producer, Refs, producer_name

MOST_CITED = 4
"""Partitions of a transaction whose data and markers are cited."""


def hands_ids_on(model: CaptureModel, name: str | None) -> bool:
    """Whether an id is of a framework that gives its ids to another owner by design (rebalance, restore, new tasks)."""
    return handing_on(model, name) is not None


def handing_on(model: CaptureModel, name: str | None) -> Framework | None:
    """The framework of an id that gives its ids to another owner by design."""
    found = framework_of(model, name)
    is_one = found is not None and found.certainty >= Verdict.likely and found.name in STREAMS | CONNECT | FLINK
    return found if is_one else None


def log_name(model: CaptureModel, client: ClientInstance | None, other: ClientInstance | None = None) -> str | None:
    """The log of a client, by which people know the instance; None where `other` wrote to the same one."""
    if client is None or (other is not None and other.source == client.source):
        return None
    return source_name(model, client.source)


def refused_in(end: TransactionEnd) -> str | None:
    """The log of the instance that was refused after an end."""
    logs, seen = end.model.logs, end.witnesses
    refused, taken_over = (
        logs.client(int(logs.owners[seen[kind]])) if kind in seen else None for kind in ("refusal", "taken_over")
    )
    return log_name(end.model, refused, taken_over)


@dataclass(frozen=True, slots=True)
class Witness:
    """A line that logs hold of an end: what it shows, by the name of the witness."""

    kind: str
    line: Refs


@dataclass(frozen=True, slots=True, kw_only=True)
class EndFacts:
    """Ends of one id or producer id, of which the first is explained.

    `count` is how often it happened: data of one transaction may lie in several partitions. `at` is when it was ended,
    of one that logs alone show when that shows; `framework` is one that gives the id to another owner by design.
    `prefix` is one that running instances share, `sharers` are their logs.
    """

    id: str | None
    count: Count
    at: Instant | None
    is_possible: bool
    framework: Looks | None
    prefix: str | None
    sharers: NameList

    @property
    def is_handed_on(self) -> bool:
        """Whether its framework gives ids to another owner by design."""
        return self.framework is not None

    @property
    def is_of_flink(self) -> bool:
        """Whether it is Flink, which commits what it wrote long before."""
        return self.framework is not None and self.framework.framework.name in FLINK

    @property
    def whom(self) -> str:
        """Whose transactions they were."""
        return self.id or ""

    @property
    def affected(self) -> Data | None:
        """Data that the summary names."""
        return None

    @property
    def uncommitted(self) -> Data | None:
        """Data of completed checkpoints that Flink could not commit, where its log tells."""
        return None

    @property
    def loses_nothing(self) -> bool:
        """Whether readers are given all records, since COMMIT markers ended them before the abort."""
        return False

    @property
    def committed(self) -> Data | None:
        """Data that a COMMIT marker ended before the abort."""
        return None

    @property
    def perhaps_committed(self) -> Data | None:
        """Data that a COMMIT marker ended, of this transaction or of another one."""
        return None

    @property
    def may_lose_nothing(self) -> bool:
        """Whether readers may have been given all records."""
        return self.loses_nothing or self.perhaps_committed is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEnd(EndFacts):
    """Ends that records show: those of the coordinator, or (`by_data`) data and markers alone, by the client's clock.

    `data` are the first one's; `was_alive` says that its client was refused afterwards, as `old_log` shows.
    """

    by_data: bool
    producer: Producer
    data: Data
    began_at: Instant | None
    took: Duration | None
    timeout: Duration | None
    was_alive: bool
    old_log: str | None
    witnesses: tuple[Witness, ...]
    begin: Refs
    written: Refs
    markers: Refs

    @property
    def whom(self) -> str:
        """Whose transactions they were."""
        return producer_name(self.id, self.producer.id)

    @property
    def where(self) -> Data | None:
        """Its data, as far as they are at hand and their partitions named."""
        return named(self.data)

    @property
    def affected(self) -> Data | None:
        """Data that the summary names."""
        return self.where

    @property
    def is_long_over(self) -> bool:
        """Whether it was ended much later than its timeout allows."""
        return self.took is not None and self.timeout is not None and self.took > 2 * self.timeout

    @property
    def was_open(self) -> bool:
        """Whether a transaction was open: records show no other ends."""
        return True

    @property
    def records(self) -> Count | None:
        """How many records."""
        return self.data.records or None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEnd(RecordedEnd):
    """Ends that the coordinator's records show; `reason` is the observation that decided who ended the first.

    Of the first's data `aborted` are those that no COMMIT marker ended, `disputed` those that may be another's.
    `committed_first` are those of all ends that one did end, though the coordinator decided ABORT; `loses_none` says
    that this holds for all data of all of them.
    """

    decision_epoch: int
    reason: Reason
    is_classic: bool
    decided: Refs
    completed: Refs
    next: Refs
    aborted: Data
    committed_first: Data
    disputed: Data
    commit_markers: Refs
    loses_none: bool

    @property
    def affected(self) -> Data | None:
        """Data that the summary names."""
        return named(self.aborted)

    @property
    def committed(self) -> Data | None:
        """Data that a COMMIT marker ended before the abort."""
        return self.committed_first or None

    @property
    def perhaps_committed(self) -> Data | None:
        """Data that a COMMIT marker ended, of this transaction or of another one."""
        return named(self.disputed)

    @property
    def loses_nothing(self) -> bool:
        """Whether readers are given all records, since COMMIT markers ended them before the abort."""
        return self.loses_none

    @property
    def records(self) -> Count | None:
        """How many records the abort ended."""
        return self.aborted.records or None

    @property
    def ended_data(self) -> bool:
        """Whether the abort ended data, or may have."""
        return bool(self.aborted) or not self.committed_first


def named(found: Data) -> Data | None:
    """Data of partitions that have a name."""
    return Data(one for one in found if one.partition >= 0) or None


def end_facts(group: EndGroup) -> dict[str, Any]:
    """Return the fields of EndFacts, but for the time."""
    framework = handing_on(group.model, group.transactional_id)
    return {
        "id": group.transactional_id,
        "count": group.count,
        "is_possible": group.verdict is Verdict.possible,
        "framework": Looks(framework) if framework is not None else None,
        **prefix_facts(group.model, group.transactional_id),
    }


def row_end(group: EndGroup) -> dict[str, Any]:
    """Return the fields of RowEnd."""
    end, model, row = group.first, group.model, group.first.row
    return {
        **end_facts(group),
        "at": instant(row["decided_at"]),
        "by_data": False,
        "producer": Producer(int(row["producer_id"]), known(row["producer_epoch"])),
        "data": data(model, end.data),
        "began_at": instant(row["started_at"]),
        "took": lasting(end.took_ms),
        "timeout": lasting(row["timeout_ms"]),
        "was_alive": end.was_alive,
        "old_log": refused_in(end),
        "witnesses": witnesses(end),
        "decision_epoch": int(row["decision_epoch"]),
        "reason": end.reason,
        "is_classic": end.protocol is Protocol.classic,
        "begin": tuple(begin_row(row)),
        "written": tuple(data_ref(model, span) for span in end.data[:MOST_CITED]),
        "decided": tuple(decision_row(row)),
        "completed": tuple(completion_row(row)),
        "markers": tuple(marker_ref(model, span) for span in end.markers[:MOST_CITED]),
        "next": tuple(next_row(row)),
        "aborted": data(model, end.aborted_data),
        "disputed": data(model, end.perhaps_committed_data[:MOST_CITED]),
        **_committed_first(group),
    }


def _committed_first(group: EndGroup) -> dict[str, Any]:
    """Return what COMMIT markers ended of transactions whose abort the coordinator decided."""
    ends = [TransactionEnd(group.model, number) for number in _with_commit_markers(group)]
    spans = [span for end in ends for span in end.committed_data]
    return {
        "committed_first": data(group.model, spans),
        "commit_markers": tuple(marker_ref(group.model, span) for span in spans[:MOST_CITED]),
        "loses_none": len(ends) == len(group.numbers) and all(end.loses_nothing for end in ends),
    }


def _with_commit_markers(group: EndGroup) -> list[int]:
    """Of many transactions the few with data that a COMMIT marker ended."""
    rows, spans = group.model.parts.rows, group.model.spans
    numbers = np.array(group.numbers, rows["transaction"].dtype)
    first, end = np.searchsorted(rows["transaction"], numbers), np.searchsorted(rows["transaction"], numbers, "right")
    places = np.repeat(first - (np.cumsum(end - first) - (end - first)), end - first)
    parts = rows[places + np.arange(len(places))]
    parts = parts[parts["span"] >= 0]
    found: list[int] = distinct(parts["transaction"][spans["marker_kind"][parts["span"]] == COMMIT]).tolist()
    return found


def witnesses(end: TransactionEnd) -> tuple[Witness, ...]:
    """Return the lines beside an end in the order in which things happened."""
    seen = end.witnesses
    kinds = {seen[kind]: kind for kind in _WITNESSED if kind in seen}
    return tuple(Witness(kinds[row], event_refs(end.model, (row,))) for row in end.model.logs.in_order(kinds))


_WITNESSED = {
    "end_request": ("An EndTxn of the client ended the transaction", "the request log, answered without an error"),
    "init_request": ("An InitProducerId ended the transaction", "the request log, with who sent it"),
    "client_abort": ("The client aborted the transaction", "the client's log, and no refusal after it"),
    "own_bump": ("The client then asked for a new epoch of its own producer id", "the client's log (KIP-360)"),
    "granted": ("The coordinator gave the id its next epoch", "the coordinator's log"),
    "taken_over": ("Another instance was given the id", "that instance's log"),
    "rollback": ("The coordinator rolled the transaction back due to timeout", "the coordinator's log"),
    "state_refused": ("The client's next call found the transaction ended by somebody else", "the refusal in its log"),
    "refusal": ("The client was still alive: what it sent after that was refused", "a refusal of its epoch"),
}
WITNESSED = step(
    pick("each.kind", {kind: text for kind, (text, _) in _WITNESSED.items()}),
    pick("each.kind", {kind: because for kind, (_, because) in _WITNESSED.items()}),
    cites="each.line",
    each="witnesses",
)
"""One step for each line that logs hold of an end; the facts have them as `witnesses`."""
TIMES = pick("count", {1: ""}, " {count:time}")
"""How often, where it was not once."""
T1 = actor("T1", "{producer}[, in a transaction since {began_at}]")
WROTE = step(
    "T1 had an open transaction[ with {where}]",
    (
        pick("by_data", {True: "transactional batches"}, pick("begin", {(): "the record of its end"}, "state Ongoing")),
        pick("by_data", {True: ""}, "[, transaction.timeout.ms {timeout}]"),
    ),
    cites="begin written",
)
"""How every end that records show begins."""
ABORTED = step(
    "T1's {records:record} {records:was|were} aborted",
    "ABORT markers with epoch {decision_epoch}",
    cites="markers",
    needs="markers ended_data",
)
COMMITTED_FIRST = step(
    "{committed.records:record} of T1 {committed.records:was|were} committed all the same",
    "the marker that ended {committed} is COMMIT",
    cites="commit_markers",
    needs="committed",
)
"""What a COMMIT marker ended stays committed, whatever is decided later."""
COMMITTED_SAID = pick(
    "committed",
    {None: ""},
    " But a COMMIT marker had ended {committed} before: readers are given "
    "{committed.records:this record|these records}.",
)
WITHIN_TIMEOUT = "aborted[ {took} after its start]; its timeout is {timeout}"
SAME_ERROR = "the client sees the same error"
COORDINATOR_TELLS = "the coordinator's server.log[ around {at}]"
SEND_AGAIN = (
    "Send the aborted records again if the application has not done so already. This evidence does not show whether "
    "it did"
)
RESENT = remedy(SEND_AGAIN, "application", unless="is_possible is_handed_on may_lose_nothing")
"""What an application has to do where its transaction was aborted against its will."""
NOT_RESENT = remedy(
    "Do not send the {committed.records:record} of {committed} again: readers have {committed.records:it|them}",
    "application",
    needs="committed",
)
"""What it must not do where a COMMIT marker came first."""
LOOK_FIRST = remedy(
    "Look first whether readers have {perhaps_committed}: a COMMIT marker stands behind each, of this or another "
    "transaction. Send again only what they lack",
    "application",
    needs="perhaps_committed",
)
"""What to do where nobody can tell whether the transaction's data were committed."""
WHO_ENDED = remedy(
    (
        'Look for "due to timeout" and "Initialized transactionalId[ {id}]" in the coordinator\'s server.log[ around '
        "{at}]. The first means a timeout: find out what held the producer up. The second line alone: a second "
        "instance; give each instance a transactional.id of its own.",
        pick(
            "may_lose_nothing", {True: ""}, " Send the aborted records again if the application has not done so already"
        ),
    ),
    "operator",
    needs="is_possible",
)
"""What to do first where nothing tells a timeout from a second instance."""
RECORDS_TELL = f"{COORDINATOR_TELLS}, or the records of {{whom}} in __transaction_state"
"""What decides who ended a transaction."""
