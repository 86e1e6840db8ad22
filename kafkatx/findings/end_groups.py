"""Ends of transactions in groups, by who ended them.

One finding is about the ends of one transactional.id (of one producer id, where only data tell) by one ender.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product

import numpy as np

from kafkatx.findings.client_lines import only
from kafkatx.findings.finding import Subject
from kafkatx.findings.grouping import CaseColumns, Spread, by_transactional_id, spread, subjects_of
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd, known
from kafkatx.histories.endings import EndedBy, Reason
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.values import Count


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

    @cached_property
    def count(self) -> Count:
        """How many transactions ended so; of data, which lie in several partitions, the least that can have been."""
        return Count(_fewest(self.spans) if self.told_by is ToldBy.data else len(self.numbers))

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
        return self.model.spans[ends.spans[np.array(self.numbers) - ends.row_count]]

    @cached_property
    def is_printed(self) -> bool:
        """Whether somebody shows the rows or data that tell them in a text."""
        model = self.model
        if self.told_by is ToldBy.rows:
            partitions = distinct(model.transactions["state_partition"][self.numbers])
            return all(model.state_log_extents[int(number)].is_printed for number in partitions)
        if self.told_by is not ToldBy.data:
            return False
        return all(model.log_extents[int(code)].is_printed for code in distinct(self.spans["partition_code"]))

    def columns(self) -> CaseColumns:
        """The columns that place their finding."""
        if self.told_by is ToldBy.logs:
            return CaseColumns(
                transactional_id=self.transactional_id, count=int(self.count), subjects=(), **_of_logs(self.logs)
            )
        of_rows = self.told_by is ToldBy.rows
        place = spread(self.model, self.numbers) if of_rows else _of_spans(self.model, self.spans)
        subjects = subjects_of(self.model, self.numbers) if of_rows else _subjects(self.model, self.spans)
        return CaseColumns(transactional_id=self.transactional_id, count=int(self.count), subjects=subjects, **place)


def _fewest(spans: Array) -> int:
    """Transactions of spans: of one producer id and epoch as many as lie in the partition that holds the most."""
    one = np.unique(spans[["producer_id", "producer_epoch", "partition_code"]], return_counts=True)
    owners, place = np.unique(one[0][["producer_id", "producer_epoch"]], return_inverse=True)
    most = np.zeros(len(owners), np.int64)
    np.maximum.at(most, place, one[1])
    return int(most.sum())


def groups(model: CaptureModel, by: EndedBy) -> Iterator[EndGroup]:
    """Yield the ends by one ender: those of rows by id, of data by producer id, of logs by id.

    What is only possible is a group of its own, and comes last: it makes nothing else less sure.
    """
    ended = model.ends.ended(by, ToldBy.rows)
    is_possible = model.ends.verdict[ended] == Verdict.possible
    for rows in (ended[~is_possible], ended[is_possible]):
        yield from (EndGroup(model, ToldBy.rows, of_id) for _, of_id in by_transactional_id(model, rows))
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
    """Ends that data tell, by producer id; those by an operator apart, and what is only possible last."""
    ends, numbers = model.ends, model.ends.ended(by, ToldBy.data)
    is_possible = ends.verdict[numbers] == Verdict.possible
    for is_last, by_operator in product((False, True), repeat=2):
        chosen = numbers[(ends.by_operator[numbers] == by_operator) & (is_possible == is_last)]
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
    place, epochs = _place(model, spans), distinct(spans["producer_epoch"])
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
    if len(distinct(spans["partition_code"])) > 1:
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
    return Spread(
        producer_id=only(end.producer_id for end in ends),
        producer_epoch=only(end.producer_epoch for end in ends),
        topic=None,
        partition=None,
        first_offset=None,
        last_offset=None,
        since=min([*begun, *times]),
        until=max([*times, *answered]),
    )
