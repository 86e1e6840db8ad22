"""A topic that can't be written with acks=all: its min.insync.replicas is above the number of its replicas.

What kafka-topics prints of it holds both numbers. Where nothing prints them, a leader's refusal says that it asks for
two replicas in sync or more, and people may say that there is one broker: then no partition has a second replica.

Look-alikes  replicas that are out of sync or whose broker is down (broker_unreachable); a partition that could not be
             verified, which clients are answered with the same error (partition_verification_failed).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.one_failure import known_as, left
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.settings.one_broker import small
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, facts

REFUSED = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")


@facts
class TooStrict:
    """A topic that asks for more replicas than it has; without `needed` and `replicas` people's words tell it."""

    topic: str | None
    needed: Count | None
    replicas: Count | None
    told: Refs
    count: Count
    refusals: Refs


def too_strict(model: CaptureModel) -> Iterator[Case]:
    """One case for each topic that is described so; else one for leaders' refusals of a single broker."""
    described = _described(model.logs)
    for topic, rows in described.items():
        yield _case(model, topic, rows, _refusals(model, topic))
    if not described:
        yield from _of_one_broker(model)


def _described(logs: LogModel) -> dict[str, list[int]]:
    """Descriptions by topic of which no partition has the replicas that the topic asks for."""
    found: dict[str, list[int]] = {}
    for row in logs.of_kind(EventKind.replicas_missing).tolist():
        replicas, needed = logs.number(row, "number"), logs.number(row, "offset")
        topic = logs.string(row, "topic")
        if topic not in (None, TRANSACTION_STATE) and replicas and needed and replicas < needed:
            found.setdefault(topic or "", []).append(row)
    return found


def _refusals(model: CaptureModel, topic: str | None) -> list[int]:
    """Lines of refusals for want of replicas, of a topic or of none that is named."""
    told = [row for one in left(model) if known_as(one, *REFUSED) for row in one.rows]
    retried = [row for row in model.logs.of_kind(EventKind.produce_retry).tolist() if _is_refused(model.logs, row)]
    rows = (row for row in {*told, *retried} if not model.logs.says(row, Saying.UNABLE_TO_VERIFY))
    return sorted(row for row in rows if model.logs.string(row, "topic") in (topic, None))


def _is_refused(logs: LogModel, row: int) -> bool:
    return logs.error(row).name in REFUSED


def _case(model: CaptureModel, topic: str, rows: list[int], refusals: list[int]) -> Case:
    logs = model.logs
    since, until = times_of(logs, refusals)
    needed, replicas = logs.number(rows[0], "offset") or 0, logs.number(rows[0], "number") or 0
    return Case(
        facts=TooStrict(
            topic=topic,
            needed=Count(needed),
            replicas=Count(replicas),
            told=event_refs(model, rows, 3),
            count=Count(len(refusals)),
            refusals=event_refs(model, refusals, 4),
        ),
        verdict=Verdict.proved,
        severity=Severity.error if refusals else Severity.warning,
        topic=topic,
        since=since,
        until=until,
    )


def _of_one_broker(model: CaptureModel) -> Iterator[Case]:
    """Leaders' own refusals where people say that there is one broker."""
    logs = model.logs
    refused = [one for one in left(model) if _is_leaders(logs, one)]
    said = small(logs, refused[0]) if refused else ()
    if said:
        rows = sorted(row for one in refused for row in one.rows)
        since, until = times_of(logs, rows)
        yield Case(
            facts=TooStrict(
                topic=only(logs.string(row, "topic") for row in rows),
                needed=None,
                replicas=None,
                told=testimony_refs(logs.path(rows[0]), said),
                count=Count(sum(one.count for one in refused)),
                refusals=event_refs(model, rows, 4),
            ),
            verdict=Verdict.likely,
            severity=Severity.error,
            since=since,
            until=until,
        )


def _is_leaders(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a leader refused to append for want of replicas."""
    return (
        told.is_brokers
        and known_as(told, *REFUSED)
        and all(logs.kind(row) is EventKind.append_refused for row in told.rows)
    )


STRICT_WORDS = Words(
    TooStrict,
    who="[topic {topic}]",
    title="min.insync.replicas above the number of replicas",
    summary=pick(
        "needed",
        {
            None: "Writes[ to {topic}] were refused for want of replicas. The cluster is said to have one broker: no "
            "partition[ {perhaps}] has the replicas in sync that min.insync.replicas asks for."
        },
        "The topic {topic} asks for {needed} replicas in sync, and its partitions have {replicas:replica}: no producer "
        "with acks=all can write to it.",
    ),
    steps=(
        step(
            "Its partitions have fewer replicas than min.insync.replicas",
            "the description has both numbers",
            cites="told",
            needs="needed",
        ),
        step("The cluster is said to be that small", cites="told", unless="needed"),
        step("Writes were refused, {count:time}", cites="refusals", needs="refusals"),
    ),
    considered=(
        ruled_out(
            "broker_unreachable", "even with all brokers up there are too few replicas", cites="told", needs="needed"
        ),
        left_open(
            "broker_unreachable",
            "a broker that is down takes its replicas out of sync",
            decided_by="kafka-topics.sh --describe of the topic",
            unless="needed",
        ),
    ),
    remedies=(
        remedy(
            "Give the topic more replicas (kafka-reassign-partitions.sh), one more than min.insync.replicas; or lower "
            "min.insync.replicas of the topic on a cluster that is meant to be this small",
            "topic",
            "min.insync.replicas",
        ),
    ),
)
