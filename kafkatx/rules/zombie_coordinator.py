"""A marker of a former transaction coordinator was refused: another broker had taken over meanwhile.

Mechanism    A broker that lost the leadership of a partition of `__transaction_state` may still have markers to send. A
             partition's leader compares their coordinator epoch with the newest that it saw for that producer and
             refuses older ones. The new coordinator sends the markers itself.
Evidence     the leader's line "Invalid coordinator epoch for producerId ...: 3 (zombie), 5 (current)".
Against      an abort by an operator, whose coordinator epoch is 0 or -1.
Look-alikes  inconsistent_transaction_state (a refusal that failed); an ordinary change of coordinators.
Remedy       none for the data: the fence worked. Many of them: look for a split network or sessions that expire.
Source       ProducerAppendInfo.checkCoordinatorEpoch (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Refs, TopicPartition, facts


@facts
class Facts:
    """Markers of former coordinators that leaders refused; epochs and place of the first."""

    producer_id: int | None
    place: TopicPartition | None
    old: int | None
    new: int | None
    count: Count
    lines: Refs


def find(model: CaptureModel) -> Found:
    """One case for each producer id."""
    logs = model.logs
    producers: dict[int | None, list[int]] = {}
    for row in logs.of_kind(EventKind.zombie_coordinator).tolist():
        producers.setdefault(logs.number(row, "producer_id"), []).append(row)
    for producer_id, rows in producers.items():
        yield _case(model, producer_id, rows)


def _case(model: CaptureModel, producer_id: int | None, rows: list[int]) -> Case:
    logs, first = model.logs, rows[0]
    topic, number = logs.string(first, "topic"), logs.number(first, "partition")
    since, until = times_of(logs, rows)
    return Case(
        facts=Facts(
            producer_id=producer_id,
            place=TopicPartition(topic, number) if topic is not None and number is not None else None,
            old=logs.number(first, "producer_epoch"),
            new=logs.number(first, "other_epoch"),
            count=Count(len(rows)),
            lines=event_refs(model, rows, 4),
        ),
        verdict=Verdict.proved,
        severity=Severity.info,
        producer_id=producer_id,
        topic=only(logs.string(row, "topic") for row in rows),
        partition=only(logs.number(row, "partition") for row in rows),
        since=since,
        until=until,
        count=len(rows),
    )


WORDS = Words(
    Facts,
    title="a marker of a former coordinator was refused",
    summary="The leader[ of {place}] refused {count:marker}[ for producer {producer_id}] of a broker that was no "
    "longer the coordinator. No data are harmed: the new coordinator sends its own.",
    steps=(
        step(
            "The marker carried coordinator epoch {old}, the leader had seen {new}",
            "the line names both epochs",
            needs="lines",
        ),
        step("The leader refused it", cites="lines"),
    ),
    considered=(ruled_out("atomicity_violation", "the marker was not written"),),
    remedies=(
        remedy(
            "Nothing to do for the data. If it comes often, find out why brokers lose leadership without noticing",
            "operator",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS,), depth=2, decided_by=(Side.broker,))
