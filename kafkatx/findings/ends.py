"""What rules about ended transactions share: groups of ends, and the lines that logs hold of an end.

One finding is about the ends of one transactional.id (of one producer id, where only data tell) by one ender.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.findings.grouping import CaseColumns, Spread, by_transactional_id, spread, subjects_of
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd, known
from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.log_model import ClientInstance
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.kernels.growing import Array
from kafkatx.terms.catalogue.frameworks import CONNECT, FLINK, STREAMS, Framework
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.config_context import Looks
from kafkatx.words.evidence_refs import begin_row, completion_row, data_ref, decision_row, marker_ref, next_row
from kafkatx.words.explanation import actor, remedy, step
from kafkatx.words.facts import data, instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Data, Duration, Instant, Producer, Refs

MOST_CITED = 4
"""Partitions of a transaction whose data and markers are cited."""


@dataclass(frozen=True)
class EndGroup:
    """Ends that one finding tells, by their numbers; all of them are told by the same: rows, data or logs."""

    model: CaptureModel
    told_by: ToldBy
    numbers: list[int]

    @cached_property
    def first(self) -> TransactionEnd:
        """The first of them, which the finding explains."""
        return TransactionEnd(self.model, self.numbers[0])

    @property
    def count(self) -> Count:
        """How many."""
        return Count(len(self.numbers))

    @property
    def verdict(self) -> Verdict:
        """What holds for all of them."""
        return Verdict(int(self.model.ends.verdict[self.numbers].min()))

    @cached_property
    def transactional_id(self) -> str | None:
        """Whose they are."""
        return self.first.transactional_id

    @property
    def logs(self) -> list[LogEnding]:
        """The ends, where logs tell them."""
        return [self.model.ends.log(number) for number in self.numbers]

    @cached_property
    def spans(self) -> Array:
        """The spans, where data tell them."""
        ends = self.model.ends
        return self.model.spans[ends.spans[np.array(self.numbers) - ends.row_count]]  # type: ignore[no-any-return]

    @cached_property
    def is_printed(self) -> bool:
        """Whether somebody shows the rows or data that tell them in a text."""
        model = self.model
        if self.told_by is ToldBy.rows:
            partitions = np.unique(model.transactions["state_partition"][self.numbers])
            return all(model.state_log_extents[int(number)].is_printed for number in partitions)
        if self.told_by is not ToldBy.data:
            return False
        return all(model.log_extents[int(code)].is_printed for code in np.unique(self.spans["partition_code"]))

    def columns(self) -> CaseColumns:
        """The columns that place their finding."""
        if self.told_by is ToldBy.logs:
            return CaseColumns(
                transactional_id=self.transactional_id, count=len(self.numbers), subjects=(), **_of_logs(self.logs)
            )
        of_rows = self.told_by is ToldBy.rows
        place = spread(self.model, self.numbers) if of_rows else _of_spans(self.model, self.spans)
        subjects = subjects_of(self.model, self.numbers) if of_rows else _subjects(self.model, self.spans)
        return CaseColumns(transactional_id=self.transactional_id, count=len(self.numbers), subjects=subjects, **place)


def groups(model: CaptureModel, by: EndedBy) -> Iterator[EndGroup]:
    """Yield the ends by one ender: those of rows by id, of data by producer id, of logs by id."""
    for _, rows in by_transactional_id(model, model.ends.ended(by, ToldBy.rows)):
        yield EndGroup(model, ToldBy.rows, rows)
    yield from groups_without_rows(model, by)


def groups_without_rows(model: CaptureModel, by: EndedBy) -> Iterator[EndGroup]:
    """Yield the ends by one ender that only data or logs tell."""
    yield from (EndGroup(model, ToldBy.data, numbers) for numbers in _by_producer(model, by))
    yield from (EndGroup(model, ToldBy.logs, numbers) for numbers in _by_name(model, by))


def of_reason(model: CaptureModel, *reasons: Reason) -> Iterator[EndGroup]:
    """Yield the ends of rows that were decided for these reasons, by id."""
    rows = np.flatnonzero(np.isin(model.ends.rows().reason, reasons))
    yield from (EndGroup(model, ToldBy.rows, numbers) for _, numbers in by_transactional_id(model, rows))


def _by_producer(model: CaptureModel, by: EndedBy) -> Iterator[list[int]]:
    """Ends that data tell, by producer id; those by an operator apart, and last."""
    ends, numbers = model.ends, model.ends.ended(by, ToldBy.data)
    for by_operator in (False, True):
        chosen = numbers[ends.by_operator[numbers] == by_operator]
        producers = model.spans["producer_id"][ends.spans[chosen - ends.row_count]]
        ordered = chosen[np.argsort(producers, kind="stable")]
        cuts = np.flatnonzero(np.diff(np.sort(producers))) + 1
        yield from (group.tolist() for group in np.split(ordered, cuts) if len(group))


def _by_name(model: CaptureModel, by: EndedBy) -> Iterator[list[int]]:
    """Ends that logs tell, by id; of one id only the surest count."""
    found: dict[str, list[int]] = {}
    for number in model.ends.ended(by, ToldBy.logs).tolist():
        found.setdefault(model.ends.log(number).name, []).append(number)
    verdict = model.ends.verdict
    for name in sorted(found):
        best = verdict[found[name]].max()
        yield [number for number in found[name] if verdict[number] == best]


def _of_spans(model: CaptureModel, spans: Array) -> Spread:
    place, epochs = _place(model, spans), np.unique(spans["producer_epoch"])
    return Spread(
        producer_id=place.producer_id,
        producer_epoch=int(epochs[0]) if len(epochs) == 1 else None,
        topic=place.topic,
        partition=place.partition,
        first_offset=place.first_offset,
        last_offset=place.last_offset,
        since=known(spans["first_timestamp"].min()),
        until=known(spans["marker_timestamp"].max()),
    )


def _subjects(model: CaptureModel, spans: Array) -> tuple[Subject, ...]:
    some = dict.fromkeys((0, len(spans) // 2, len(spans) - 1)) if len(spans) > 1 else ()
    return tuple(_place(model, spans[[at]]) for at in some)


def _place(model: CaptureModel, spans: Array) -> Subject:
    """The producer id and, where all data lie in one partition, the partition and its offsets."""
    producer_id = int(spans["producer_id"][0])
    if len(np.unique(spans["partition_code"])) > 1:
        return Subject(None, producer_id)
    topic, partition = model.topic_partition(int(spans["partition_code"][0]))
    return Subject(
        None, producer_id, topic, partition, int(spans["first_offset"].min()), int(spans["last_offset"].max())
    )


def _of_logs(ends: list[LogEnding]) -> Spread:
    """From when the first transaction had begun, as far as that is known, to what its client was answered last."""
    begun = [end.began for end in ends if end.began is not None]
    answered = [failure.at for end in ends for failure in end.failures[:1] if failure.at is not None]
    times = [end.at for end in ends]
    producers, epochs = {end.producer_id for end in ends}, {end.producer_epoch for end in ends}
    return Spread(
        producer_id=producers.pop() if len(producers) == 1 else None,
        producer_epoch=epochs.pop() if len(epochs) == 1 else None,
        topic=None,
        partition=None,
        first_offset=None,
        last_offset=None,
        since=min([*begun, *times]),
        until=max([*times, *answered]),
    )


def hands_ids_on(model: CaptureModel, name: str | None) -> bool:
    """Whether an id is of a framework that gives its ids to another owner by design (rebalance, restore, new tasks)."""
    return handing_on(model, name) is not None


def handing_on(model: CaptureModel, name: str | None) -> Framework | None:
    """The framework of an id that gives its ids to another owner by design."""
    found = framework_of(model, name)
    is_one = found is not None and found.certainty >= Verdict.likely and found.name in STREAMS | CONNECT | FLINK
    return found if is_one else None


def log_name(model: CaptureModel, client: ClientInstance | None, other: ClientInstance | None = None) -> str | None:
    """The log of a client, by which people know the instance; None where `other` wrote to the same one.

    Without folders where no other log is called the same.
    """
    if client is None or (other is not None and other.source == client.source):
        return None
    paths = [source.path for source in model.logs.facts.sources]
    names = [PurePath(path).name for path in paths]
    name = names[client.source]
    return name if names.count(name) == 1 else paths[client.source]


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

    `count` is what the finding counts, `times` how often it happened: data of one transaction may lie in several
    partitions. `at` is when it was ended, of one that logs alone show when that shows;
    `framework` is one that gives the id to another owner by design.
    """

    id: str | None
    count: Count
    times: Count
    at: Instant | None
    is_possible: bool
    framework: Looks | None

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
        return self.id or f"producer id {self.producer.id}"

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
    """Ends that the coordinator's records show; `reason` is the observation that decided who ended the first."""

    decision_epoch: int
    reason: Reason
    is_classic: bool
    decided: Refs
    completed: Refs
    next: Refs


def named(found: Data) -> Data | None:
    """Data of partitions that have a name."""
    return Data(one for one in found if one.partition >= 0) or None


def end_facts(group: EndGroup) -> dict[str, Any]:
    """Return the fields of EndFacts, but for the time."""
    framework = handing_on(group.model, group.transactional_id)
    return {
        "id": group.transactional_id,
        "count": group.count,
        "times": group.count,
        "is_possible": group.verdict is Verdict.possible,
        "framework": Looks(framework) if framework is not None else None,
    }


def row_end(group: EndGroup) -> dict[str, Any]:
    """Return the fields of RowEnd."""
    end, model, row = group.first, group.model, group.first.row
    return {
        **end_facts(group),
        "at": instant(row["decided_at"]),
        "by_data": False,
        "producer": Producer(int(row["producer_id"]), int(row["producer_epoch"])),
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
    }


def witnesses(end: TransactionEnd) -> tuple[Witness, ...]:
    """Return the lines beside an end, in the order in which things happen."""
    seen = end.witnesses
    return tuple(Witness(kind, event_refs(end.model, (seen[kind],))) for kind in _WITNESSED if kind in seen)


_WITNESSED = {
    "granted": ("The coordinator gave the id its next epoch", "the coordinator's log"),
    "taken_over": ("Another instance was given the id", "that instance's log"),
    "rollback": ("The coordinator rolled the transaction back due to timeout", "the coordinator's log"),
    "end_request": ("An EndTxn of the client ended the transaction", "the request log, answered without an error"),
    "init_request": ("An InitProducerId ended the transaction", "the request log, with who sent it"),
    "client_abort": ("The client aborted the transaction", "the client's log, and no refusal after it"),
    "own_bump": ("The client then asked for a new epoch of its own producer id", "the client's log (KIP-360)"),
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
TIMES = pick("times", {1: ""}, " {times:time}")
"""How often, where it was not once."""
T1 = actor("T1", "{producer}[, in a transaction since {began_at}]")
WROTE = step(
    "T1 had an open transaction[ with {where}]",
    pick("by_data", {True: "transactional batches"}, "state Ongoing[, transaction.timeout.ms {timeout}]"),
    cites="begin written",
)
"""How every end that records show begins."""
ABORTED = step(
    "T1's {records:record} {records:was|were} aborted",
    "ABORT markers with epoch {decision_epoch}",
    cites="markers",
    needs="markers",
)
WITHIN_TIMEOUT = "aborted[ {took} after its start]; its timeout is {timeout}"
SAME_ERROR = "the client sees the same error"
COORDINATOR_TELLS = "the coordinator's server.log[ around {at}]"
SEND_AGAIN = (
    "Send the aborted records again if the application has not done so already. This evidence does not show whether "
    "it did"
)
RESENT = remedy(SEND_AGAIN, "application", unless="is_possible is_handed_on")
"""What an application has to do where its transaction was aborted against its will."""
WHO_ENDED = remedy(
    'Look for "due to timeout" and "Initialized transactionalId[ {id}]" in the coordinator\'s server.log[ around {at}].'
    " The first means a timeout: find out what held the producer up. The second line alone: a second instance; "
    "give each instance a transactional.id of its own. Send the aborted records again if the application has not done "
    "so already",
    "operator",
    needs="is_possible",
)
"""What to do first where nothing tells a timeout from a second instance."""
RECORDS_TELL = f"{COORDINATOR_TELLS}, or the records of {{whom}} in __transaction_state"
"""What decides who ended a transaction."""
