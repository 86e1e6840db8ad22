"""Topics and partitions that do not exist: a send that waits for their metadata until max.block.ms is over.

A producer waits in the same way for brokers that don't answer. That they answered, and do not know the topic, is said
by the cause of the exception, by the warnings before it, or by the number of partitions in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafkatx.findings.one_failure import OF_WHOM, Alike, FailureFacts, alike, failure_case, failure_facts
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Refs, facts

_WAITED = re.compile(
    r"Topic (?P<topic>\S+) not present in metadata after"
    r"|Partition \d+ of topic (?P<other>\S+) with partition count (?P<count>\d+) is not present in metadata after"
)
_UNKNOWN = ("UnknownTopicOrPartition", "UNKNOWN_TOPIC_OR_PARTITION")


@facts
class MissingTopic(FailureFacts):
    """Sends to a topic, or (`is_partition`) to a partition of it, that no broker has; `said` are brokers' answers."""

    topic: str
    is_partition: bool
    said: Refs


def missing_topics(model: CaptureModel) -> Iterator[Case]:
    """One case for each client that waited for a topic or a partition that brokers said they don't have."""
    logs = model.logs
    for found in alike(model, lambda told: is_missing(logs, told)):
        waited = next(waited for row in found.rows if (waited := _WAITED.search(logs.words(row))) is not None)
        told = MissingTopic(
            **failure_facts(model, found),
            topic=waited["topic"] or waited["other"],
            is_partition=waited["count"] is not None,
            said=event_refs(model, _answers(logs, found), 2),
        )
        verdict = Verdict.proved if told.is_partition else Verdict.likely
        yield failure_case(model, found, told, verdict, Severity.error)


def is_missing(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a call waited for metadata, and a line says that brokers don't know the topic or the partition."""
    return any(_is_missing(logs, row) for row in told.rows)


def _is_missing(logs: LogModel, row: int) -> bool:
    words = logs.words(row)
    waited = _WAITED.search(words)
    if waited is None:
        return False
    is_told = waited["count"] is not None or any(error in words for error in _UNKNOWN)
    return is_told or bool(_warned(logs, row, waited["topic"]))


def _answers(logs: LogModel, found: Alike) -> list[int]:
    waits = [(row, waited) for row in found.rows if (waited := _WAITED.search(logs.words(row))) is not None]
    return [one for row, waited in waits for one in _warned(logs, row, waited["topic"] or waited["other"])]


def _warned(logs: LogModel, row: int, topic: str) -> list[int]:
    """Lines of the same text before one, by which a broker does not know a topic."""
    errors = {f"{topic}={error}" for error in _UNKNOWN}
    return [
        one
        for one in logs.of_kind(EventKind.metadata_refused).tolist()
        if one < row
        and logs.events["source"][one] == logs.events["source"][row]
        and errors & {part.strip() for part in (logs.string(one, "detail") or "").split(",")}
    ]


MISSING_WORDS = Words(
    MissingTopic,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title=pick("is_partition", {True: "a partition of {topic} does not exist"}, "topic {topic} does not exist"),
    summary=(
        pick("call", {None: "A send"}, "{call}"),
        OF_WHOM,
        " waited in vain for metadata: brokers answered, and[ {perhaps}] have no such ",
        pick("is_partition", {True: "partition of the topic {topic}."}, "topic ({topic})."),
    ),
    actors=(included("client"),),
    steps=(
        step("Brokers answered that they do not know the topic", cites="said", needs="said"),
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
        ruled_out("broker_unreachable", "brokers answered the question for the topic"),
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
