"""Writes that partition leaders refused for what they knew of their producer: lines by partition and producer.

For the rules that one line of a broker (or the error that a client got for it) decides or nearly decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.rule import Case
from kafkatx.findings.said_by_failures import TOLD_BY_CLIENTS
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Duration, Refs, TopicPartition, facts

Subject = tuple[str | None, int | None, int | None]
"""Topic, partition, producer id."""


@facts
class RefusedWrites:
    """What lines say of one partition and producer; `by_broker`: the leader says it itself, else its clients do."""

    partition: TopicPartition | None
    producer_id: int | None
    count: Count
    lasted: Duration | None
    by_broker: bool
    lines: Refs

    @property
    def named(self) -> TopicPartition | None:
        """The partition, where lines name it."""
        return self.partition


def by_producer(logs: LogModel, rows: Iterable[int]) -> Iterator[tuple[Subject, list[int]]]:
    """Group lines by partition and producer id, in the order of the first line of each."""
    groups: dict[Subject, list[int]] = {}
    for row in rows:
        key = logs.string(row, "topic"), logs.number(row, "partition"), logs.number(row, "producer_id")
        groups.setdefault(key, []).append(row)
    yield from groups.items()


def told_by_clients(logs: LogModel, saying: Saying) -> list[int]:
    """Lines of clients (or of nobody) that show a failure which says something."""
    rows = logs.of_kind(*TOLD_BY_CLIENTS).tolist()
    return [row for row in rows if logs.number(row, "side") != Side.broker and logs.says(row, saying)]


def owner_of(model: CaptureModel, producer_id: int | None) -> str | None:
    """The transactional.id that rows or lines give to a producer id; None where they name several or none."""
    if producer_id is None:
        return None
    code, logs = model.owner_of_producer(producer_id), model.logs
    if code >= 0:
        return model.transactional_id(code)
    given = logs.of_kind(EventKind.initialized, EventKind.producer_id_set).tolist()
    mine = (row for row in given if logs.number(row, "producer_id") == producer_id)
    return only(logs.string(row, "transactional_id") for row in mine)


def case_of(
    model: CaptureModel, subject: Subject, rows: list[int], verdict: Verdict, severity: Severity, by_broker: bool
) -> Case:
    """One case about lines of one subject."""
    topic, partition, producer_id = subject
    since, until = times_of(model.logs, rows)
    place = TopicPartition(topic, partition) if topic is not None and partition is not None else None
    lasted = Duration(until - since) if since is not None and until is not None and until > since else None
    return Case(
        facts=RefusedWrites(place, producer_id, Count(len(rows)), lasted, by_broker, event_refs(model, rows)),
        verdict=verdict,
        severity=severity,
        transactional_id=owner_of(model, producer_id),
        topic=topic,
        partition=partition,
        producer_id=producer_id,
        since=since,
        until=until,
        count=len(rows),
    )
