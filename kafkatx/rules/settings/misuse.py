"""What no comparison of settings shows: old message formats, producers without an id, names that are set twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.rules.finding import Finding, Subject
from kafkatx.terms.catalogue.setting_names import is_known, kafka_name
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Setting
from kafkatx.text.sayings import Saying
from kafkatx.words.explained import Place, Remedy, Step
from kafkatx.words.log_places import event_places
from kafkatx.words.places import begin_row, plural

RULE = "misconfiguration"
MOST_IDS = 5


def old_formats(story: Story) -> Iterator[Finding]:
    """Topics whose leader refused transactional records for their message format."""
    logs = story.logs
    rows = np.union1d(logs.of_kind(EventKind.unsupported_format), logs.saying(Saying.OLD_FORMAT, None)).tolist()
    topics: dict[str | None, list[int]] = {}
    for row in rows:
        topics.setdefault(story.logs.string(row, "topic"), []).append(row)
    if len(topics) > 1:
        topics.pop(None, None)
    for topic in sorted(topics, key=str):
        yield _old_format(story, topic, topics[topic])


def calls_without_id(story: Story) -> Iterator[Finding]:
    """Transactional calls on producers that have no transactional.id."""
    sources: dict[int, list[int]] = {}
    for row in story.logs.saying(Saying.WITHOUT_ID, None).tolist():
        sources.setdefault(int(story.logs.events["source"][row]), []).append(row)
    for source in sorted(sources):
        yield _without_id(story, sources[source])


def set_twice(story: Story) -> Iterator[Finding]:
    """Files that give one name two values: the last one counts."""
    said: dict[tuple[int, int, str], list[Setting]] = {}
    for setting in story.logs.facts.settings:
        if not setting.is_printed and is_known(setting.name):
            said.setdefault((setting.source, setting.block, kafka_name(setting.name)), []).append(setting)
    files: dict[int, list[list[Setting]]] = {}
    for (source, _, _), found in said.items():
        if len({setting.value for setting in found}) > 1:
            files.setdefault(source, []).append(found)
    for source in sorted(files):
        yield _set_twice(story, source, files[source])


def _set_twice(story: Story, source: int, groups: list[list[Setting]]) -> Finding:
    path = story.logs.facts.sources[source].path
    names = ", ".join(group[-1].name for group in groups[:MOST_IDS])
    lines = [setting for group in groups[:MOST_IDS] for setting in group]
    places = [Place(None, None, None, None, f"{one.name}={one.value}", path, one.line) for one in lines]
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.info,
        summary=f"{names} set twice in one file: the last value counts",
        count=len(groups),
        steps=(Step(f"{names} has two values", "Java's Properties keep the last one", tuple(places)),),
    )


def _old_format(story: Story, topic: str | None, rows: list[int]) -> Finding:
    numbers = {story.logs.number(row, "partition") for row in rows}
    partition = numbers.pop() if len(numbers) == 1 else None
    writers = _writers(story, topic) if topic is not None else []
    first = [place for _, place in writers[:MOST_IDS]]
    where = f"topic {topic}" if topic is not None else "a topic that the line doesn't name"
    who = f": {', '.join(name for name, _ in writers[:MOST_IDS])} can't commit there" if writers else ""
    listed = Step(
        f"{plural(len(writers), 'transactional.id')} had transactions with it",
        "rows of the coordinator list the partition",
        tuple(first),
    )
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.error,
        summary=f"{where} keeps records in a message format without transactions{who}",
        transactional_id=writers[0][0] if len(writers) == 1 else None,
        topic=topic,
        partition=partition,
        since=_first(story, rows),
        until=_last(story, rows),
        count=len(rows),
        subjects=tuple(Subject(name, topic=topic) for name, _ in writers[:MOST_IDS]) if len(writers) > 1 else (),
        steps=(
            Step(
                f"its leader refused transactional records {plural(len(rows), 'time')}",
                "producer ids and markers came with message format 0.11.0 (magic 2)",
                event_places(story, rows),
            ),
            *([listed] if writers else []),
        ),
        remedies=(
            Remedy(
                "raise the topic's message format; old consumers then get their records converted",
                "topic",
                "message.format.version",
                None,
                "0.11.0 or later",
                "the leader says that it keeps records of magic 0 or 1",
                cost="conversion for consumers before 0.11 costs the brokers memory and time",
                restart_needed=False,
            ),
        ),
    )


def _writers(story: Story, topic: str) -> list[tuple[str, Place]]:
    """Transactional ids whose transactions list a partition of a topic, with the row that began one of them."""
    partitions = {code for code, (name, _) in enumerate(story.labels.topic_partitions) if name == topic}
    rows = story.parts.rows
    found: dict[str, Place] = {}
    for row in np.unique(rows["transaction"][np.isin(rows["partition_code"], list(partitions))]).tolist():
        transaction: Array = story.transactions[row]
        places = begin_row(transaction)
        if places:
            found.setdefault(story.transactional_id(int(transaction["id_code"])), places[0])
    return sorted(found.items())


def _without_id(story: Story, rows: list[int]) -> Finding:
    names = {story.logs.string(row, "client_id") for row in rows}
    client = names.pop() if len(names) == 1 else None
    who = f" (client {client})" if client else ""
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.error,
        summary=f"transactional calls on a producer without a transactional.id{who}",
        since=_first(story, rows),
        until=_last(story, rows),
        count=len(rows),
        steps=(
            Step(
                "the client refused a transactional call",
                "a producer runs transactions only with a transactional.id",
                event_places(story, rows),
            ),
        ),
        remedies=(
            Remedy(
                "give the producer a transactional.id that is the same after a restart and unique among live producers",
                "client",
                "transactional.id",
                None,
                "<application>-<ordinal>",
                "the client's own words",
                restart_needed=True,
            ),
        ),
    )


def _times(story: Story, rows: Iterable[int]) -> list[int]:
    return [at for row in rows if (at := story.logs.at(row)) is not None]


def _first(story: Story, rows: Iterable[int]) -> int | None:
    return min(_times(story, rows), default=None)


def _last(story: Story, rows: Iterable[int]) -> int | None:
    return max(_times(story, rows), default=None)
