"""What no comparison of settings shows: old message formats, producers without an id, names that are set twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import numpy as np

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.frameworks_named import is_of_network_thread
from kafkatx.kernels.distinct import distinct, distinct_of_both
from kafkatx.kernels.growing import Array
from kafkatx.terms.catalogue.setting_names import is_known, kafka_name
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.text.events import Setting
from kafkatx.words.evidence_refs import begin_row
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, NameList, Refs, facts

MOST_IDS = 5


@facts
class OldFormat:
    """A topic (None: the line doesn't name it) that can't keep transactional records, and who writes there."""

    topic: str | None
    count: Count
    writers: NameList
    writer_count: Count
    refusals: Refs
    begun: Refs


@facts
class WithoutId:
    """Transactional calls on a producer without a transactional.id; `client` is its client.id if all have one."""

    client: str | None
    refusals: Refs


@facts
class MixedCommits:
    """A group whose offsets are committed by its consumers and in transactions as well."""

    group: str | None
    count: Count
    lines: Refs


@facts
class SetTwice:
    """Names with two values in one file, and where the first of them stand."""

    file: str
    names: NameList
    lines: Refs


def old_formats(model: CaptureModel) -> Iterator[Case]:
    """Topics whose leader refused transactional records for their message format."""
    logs = model.logs
    rows = distinct_of_both(logs.of_kind(EventKind.unsupported_format), logs.saying(Saying.OLD_FORMAT, None)).tolist()
    topics: dict[str | None, list[int]] = {}
    for row in rows:
        topics.setdefault(model.logs.string(row, "topic"), []).append(row)
    if len(topics) > 1:
        topics.pop(None, None)
    for topic in sorted(topics, key=str):
        yield _old_format(model, topic, topics[topic])


def mixed_commits(model: CaptureModel) -> Iterator[Case]:
    """Groups that the group coordinator saw commit in both ways."""
    groups: dict[str | None, list[int]] = {}
    for row in model.logs.of_kind(EventKind.mixed_commits).tolist():
        groups.setdefault(model.logs.string(row, "group"), []).append(row)
    for group in sorted(groups, key=str):
        rows = groups[group]
        since, until = times_of(model.logs, rows)
        yield Case(
            facts=MixedCommits(group, Count(len(rows)), event_refs(model, rows, 3)),
            verdict=Verdict.proved,
            severity=Severity.warning,
            since=since,
            until=until,
            count=len(rows),
        )


def calls_without_id(model: CaptureModel) -> Iterator[Case]:
    """Transactional calls on producers that have no transactional.id."""
    sources: dict[int, list[int]] = {}
    said = model.logs.saying(Saying.WITHOUT_ID, None).tolist()
    for row in (row for row in said if not is_of_network_thread(model.logs, row)):
        sources.setdefault(int(model.logs.events["source"][row]), []).append(row)
    for source in sorted(sources):
        yield _without_id(model, sources[source])


def set_twice(model: CaptureModel) -> Iterator[Case]:
    """Files that give one name two values: the last one counts."""
    said: dict[tuple[int, int, str], list[Setting]] = {}
    for setting in model.logs.facts.settings:
        if not setting.is_printed and is_known(setting.name):
            said.setdefault((setting.source, setting.block, kafka_name(setting.name)), []).append(setting)
    files: dict[int, list[list[Setting]]] = {}
    for (source, _, _), found in said.items():
        if len({setting.value for setting in found}) > 1:
            files.setdefault(source, []).append(found)
    for source in sorted(files):
        yield _set_twice(model, source, files[source])


def _set_twice(model: CaptureModel, source: int, groups: list[list[Setting]]) -> Case:
    path, some = model.logs.facts.sources[source].path, groups[:MOST_IDS]
    lines = tuple(
        EvidenceRef(None, None, None, None, f"{one.name}={one.value}", path, one.line)
        for group in some
        for one in group
    )
    facts = SetTwice(PurePath(path).name, NameList(group[-1].name for group in groups), lines)
    return Case(facts=facts, verdict=Verdict.proved, severity=Severity.info, count=len(groups))


def _old_format(model: CaptureModel, topic: str | None, rows: list[int]) -> Case:
    writers = _writers(model, topic) if topic is not None else []
    since, until = times_of(model.logs, rows)
    facts = OldFormat(
        topic=topic,
        count=Count(len(rows)),
        writers=NameList(name for name, _ in writers),
        writer_count=Count(len(writers)),
        refusals=event_refs(model, rows),
        begun=tuple(place for _, place in writers[:MOST_IDS]),
    )
    return Case(
        facts=facts,
        verdict=Verdict.proved,
        severity=Severity.error,
        transactional_id=writers[0][0] if len(writers) == 1 else None,
        topic=topic,
        partition=only(model.logs.number(row, "partition") for row in rows),
        since=since,
        until=until,
        count=len(rows),
        subjects=tuple(Subject(name, topic=topic) for name in facts.writers[:MOST_IDS]) if len(writers) > 1 else (),
    )


def _writers(model: CaptureModel, topic: str) -> list[tuple[str, EvidenceRef]]:
    """Transactional ids whose transactions list a partition of a topic, with the row that began one of them."""
    partitions = {code for code, (name, _) in enumerate(model.labels.topic_partitions) if name == topic}
    rows = model.parts.rows
    found: dict[str, EvidenceRef] = {}
    for row in distinct(rows["transaction"][np.isin(rows["partition_code"], list(partitions))]).tolist():
        transaction: Array = model.transactions[row]
        places = begin_row(transaction)
        if places:
            found.setdefault(model.transactional_id(int(transaction["id_code"])), places[0])
    return sorted(found.items())


def _without_id(model: CaptureModel, rows: list[int]) -> Case:
    client = only(model.logs.string(row, "client_id") for row in rows)
    since, until = times_of(model.logs, rows)
    return Case(
        facts=WithoutId(client or None, event_refs(model, rows)),
        verdict=Verdict.proved,
        severity=Severity.error,
        since=since,
        until=until,
        count=len(rows),
    )


OLD_FORMAT_WORDS = Words(
    OldFormat,
    title="message format without transactions",
    who="topic {topic}",
    summary=(
        pick("topic", {None: "A topic"}, "Topic {topic}"),
        " keeps its records in a message format before 0.11, which has no transactions.",
        pick("writers", {(): ""}, f" {{writers:{MOST_IDS}}} can't commit there."),
    ),
    steps=(
        step("The leader refused transactional records {count:time}", cites="refusals"),
        step(
            "{writer_count:transactional.id} had transactions with it",
            "__transaction_state lists its partitions",
            cites="begun",
            needs="writers",
        ),
    ),
    remedies=(
        remedy(
            text="Raise the topic's message format; records are then converted for old consumers",
            where="topic",
            config="message.format.version",
            proposed="0.11.0 or later",
            cost="conversion for consumers before 0.11 costs the brokers memory and time",
            restart_needed=False,
        ),
    ),
)
WITHOUT_ID_WORDS = Words(
    WithoutId,
    title="transactional calls without a transactional.id",
    who="client {client}",
    summary=(
        pick("client", {None: "A producer"}, "Producer {client}"),
        " has no transactional.id. Its client refused transactional calls.",
    ),
    steps=(step("The client refused a transactional call", cites="refusals"),),
    remedies=(
        remedy(
            text="Give the producer a transactional.id that stays the same over restarts and is unique among live "
            "producers",
            where="client",
            config="transactional.id",
            proposed="<application>-<ordinal>",
            restart_needed=True,
        ),
    ),
)
MIXED_WORDS = Words(
    MixedCommits,
    title="offsets committed in and outside of transactions",
    who="group {group}",
    summary=(
        pick("group", {None: "A group"}, "Group {group}"),
        " commits its offsets in transactions, and by its consumers as well. What a consumer commits stays when the "
        "transaction is aborted: its records are then skipped.",
    ),
    steps=(step("The group coordinator saw both kinds of commits, {count:time}", cites="lines"),),
    remedies=(
        remedy(
            text="Commit the group's offsets in one way only: sendOffsetsToTransaction, with enable.auto.commit=false "
            "and no commitSync or commitAsync. Compare what was written with the input after each abort",
            where="client",
            config="enable.auto.commit",
            proposed="false",
            restart_needed=True,
        ),
    ),
)
SET_TWICE_WORDS = Words(
    SetTwice,
    title="{names:2} set twice",
    who="{file}",
    summary=f"{{file}} sets {{names:{MOST_IDS}}} twice, to different values. The last value counts.",
    steps=(step(f"Two values stand for {{names:{MOST_IDS}}}", cites="lines"),),
)
