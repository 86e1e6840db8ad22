"""Topics and partitions that do not exist: a send that waits for their metadata until max.block.ms is over.

A producer waits in the same way for brokers that don't answer. That they answered, and do not know the topic, is said
by the cause of the exception, by the warnings before it, or by the number of partitions in its own words. Where none of
them is at hand people may say that the topic was not there, or that none is made by itself; a connection that failed
speaks against that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkatx.findings.one_failure import OF_WHOM, FailureFacts, alike, failure_case, failure_facts
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import first_of_each, statements_of
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.breaks import MetadataWait, metadata_wait_in, unknown_topics_in
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Refs, facts

NOT_THERE = "topic_missing"
BROKEN = (EventKind.connection_failed, EventKind.node_disconnected, EventKind.bootstrap_disconnected)


@facts
class MissingTopic(FailureFacts):
    """Sends to a topic, or (`is_partition`) to a partition of it, that no broker has.

    `said` are brokers' answers, `told` what people say where there are none.
    """

    topic: str
    is_partition: bool
    said: Refs
    told: Refs


def missing_topics(model: CaptureModel) -> Iterator[Case]:
    """One case for each client that waited for a topic or a partition that brokers said they don't have."""
    logs = model.logs
    for found in alike(model, lambda told: is_missing(logs, told)):
        waits = _waits(logs, found.rows)
        answers = [one for row, wait in waits for one in _warned(logs, row, wait.topic)]
        told = MissingTopic(
            **failure_facts(model, found),
            topic=waits[0][1].topic,
            is_partition=waits[0][1].is_partition,
            said=event_refs(model, answers, 2),
            told=() if _is_answered(logs, found.rows) else _testified(logs, found.rows),
        )
        verdict = Verdict.proved if told.is_partition else Verdict.likely
        yield failure_case(model, found, told, verdict, Severity.error)


def is_missing(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a call waited for metadata, and a line says that brokers don't know the topic or the partition."""
    return _is_answered(logs, told.rows) or bool(_waits(logs, told.rows) and _testified(logs, told.rows))


def _is_answered(logs: LogModel, rows: Sequence[int]) -> bool:
    """Whether brokers answered, and know no such topic or partition."""
    return any(wait.is_unknown or _warned(logs, row, wait.topic) for row, wait in _waits(logs, rows))


def _testified(logs: LogModel, rows: Sequence[int]) -> tuple[EvidenceRef, ...]:
    """What people say of a topic that was not there; nothing beside a connection that failed."""
    path = logs.path(rows[0])
    if any(logs.path(row) == path for row in logs.of_kind(*BROKEN).tolist()):
        return ()
    return testimony_refs(path, first_of_each(statements_of(logs, path), {NOT_THERE}))


def _waits(logs: LogModel, rows: Sequence[int]) -> list[tuple[int, MetadataWait]]:
    """Lines that tell of a wait for metadata, and what they tell."""
    return [(row, wait) for row in rows if (wait := metadata_wait_in(logs.words(row))) is not None]


def _warned(logs: LogModel, row: int, topic: str) -> list[int]:
    """Lines of the same text before one, by which a broker does not know a topic."""
    return [
        one
        for one in logs.of_kind(EventKind.metadata_refused).tolist()
        if one < row
        and logs.events["source"][one] == logs.events["source"][row]
        and topic in unknown_topics_in(logs.string(one, "detail") or "")
    ]


MISSING_WORDS = Words(
    MissingTopic,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title=pick("is_partition", {True: "a partition of {topic} does not exist"}, "topic {topic} does not exist"),
    summary=(
        pick("call", {None: "A send"}, "{call}"),
        OF_WHOM,
        " waited in vain for metadata: brokers",
        pick("told", {(): " answered, and"}, ""),
        "[ {perhaps}] have no such ",
        pick("is_partition", {True: "partition of the topic {topic}."}, "topic ({topic})."),
    ),
    actors=(included("client"),),
    steps=(
        step("Brokers answered that they do not know the topic", cites="said", needs="said"),
        step("What is said beside these lines speaks for a topic that was not there", cites="told", needs="told"),
        step(
            "The call failed, {count:time}",
            pick(
                "is_partition",
                {True: "its error names the number of partitions that the topic has"},
                "the wait for the topic's metadata was over",
            ),
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("broker_unreachable", "brokers answered the question for the topic", unless="told"),
        left_open(
            "broker_unreachable",
            "a producer waits in the same way for brokers that do not answer",
            decided_by="a description of the topic, and the client's lines about its connections",
            needs="told",
        ),
        left_open(
            "a topic that was being made",
            "it is not known to all brokers at once",
            decided_by="a description of the topic",
            unless="is_partition",
        ),
    ),
    remedies=(
        remedy(
            pick(
                "is_partition",
                {True: "Send to a partition that the topic has: correct the partitioner, or add partitions"},
                "Create the topic, or correct its name in the client's configuration (auto.create.topics.enable may "
                "be off)",
            ),
            "application",
        ),
    ),
)
