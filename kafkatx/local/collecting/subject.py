"""Whom a collection is about: ids, producers, partitions and times of what is found about them in one capture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from kafkatx.findings.diagnosis import Diagnosed, NextEvidence
from kafkatx.findings.next_evidence import STATE_PARTITIONS
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.distinct import distinct
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from kafkatx.terms.verdicts import Severity
from kafkatx.words.asked import Ask, AskFacts, asked

Partition = tuple[str, int]

AROUND_MS = 3_600_000
"""How much of brokers' logs is taken before and after what is found."""


@dataclass(slots=True)
class Subject:
    """What is collected of one capture. `windows` are stretches of time in milliseconds, by the brokers' clock.

    `written` are partitions that transactions of the ids touch (or findings are about), `states` those of
    `__transaction_state` that hold the ids; `cited` are lines by path that findings rest on.
    """

    ids: set[str] = field(default_factory=set)
    producer_ids: set[int] = field(default_factory=set)
    written: set[Partition] = field(default_factory=set)
    states: set[Partition] = field(default_factory=set)
    windows: list[tuple[int, int]] = field(default_factory=list)
    cited: dict[str, set[int]] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not (self.ids or self.producer_ids or self.written or self.cited)


def subject_of(model: CaptureModel, findings: list[Diagnosed], transactional_id: str | None) -> Subject:
    """Gather whom findings are about; with an id and none about it, all that the id did."""
    subject = Subject()
    if transactional_id is not None and _occurs(model, transactional_id):
        subject.ids.add(transactional_id)
    for found in findings:
        _add_finding(subject, found)
    for name in sorted(subject.ids):
        _add_id(model, subject, name, has_window=bool(findings))
    _add_spans(model, subject)
    return subject


def about(findings: list[Diagnosed], transactional_id: str | None) -> list[Diagnosed]:
    """Findings that a collection is for: those that were selected by an id, else the worse ones, else all."""
    if transactional_id is not None:
        return findings
    worse = [one for one in findings if one.finding.severity > Severity.info or one.finding.is_unexplained]
    return worse or findings


def asked_of_id(model: CaptureModel, name: str) -> Iterator[NextEvidence]:
    """What to bring of an id of which neither a row nor a line of its client is at hand."""
    count = model.state_partition_count
    number = count or STATE_PARTITIONS
    facts = AskFacts(name, state_partition=partition_for(name, number), partitions=number, is_counted=count is not None)
    kinds = [Ask.state_rows, Ask.coordinator_log] if model.id_code(name) < 0 else []
    kinds += [] if any(True for _ in model.logs.clients_of(name)) else [Ask.other_instances]
    yield from (NextEvidence(ask, ()) for kind in kinds if (ask := asked(kind, facts)) is not None)


def _occurs(model: CaptureModel, name: str) -> bool:
    return (
        model.id_code(name) >= 0
        or name in model.logs.facts.strings
        or any(setting.value == name for setting in model.logs.facts.settings)
    )


def _add_finding(subject: Subject, found: Diagnosed) -> None:
    finding = found.finding
    subject.ids |= {
        name for name in (finding.transactional_id, *(s.transactional_id for s in finding.subjects)) if name
    }
    numbers = (finding.producer_id, *(one.producer_id for one in finding.subjects))
    subject.producer_ids |= {number for number in numbers if number is not None and number >= 0}
    touched = [(finding.topic, finding.partition), *((one.topic, one.partition) for one in finding.subjects)]
    subject.written |= {(topic, number) for topic, number in touched if topic is not None and number is not None}
    if finding.since is not None or finding.until is not None:
        ends = [time for time in (finding.since, finding.until) if time is not None]
        subject.windows.append((min(ends) - AROUND_MS, max(ends) + AROUND_MS))
    for opened in found.evidence:
        if opened.source is not None:
            subject.cited.setdefault(opened.source, set()).update([] if opened.line is None else [opened.line])
        if opened.place.topic is not None and opened.place.partition is not None:
            subject.written.add((opened.place.topic, opened.place.partition))


def _add_id(model: CaptureModel, subject: Subject, name: str, has_window: bool) -> None:
    """The partitions that an id's transactions touched, its producers, and its rows' partition."""
    count = model.state_partition_count or STATE_PARTITIONS
    subject.states.add((TRANSACTION_STATE, partition_for(name, count)))
    code = model.id_code(name)
    if code < 0:
        return
    latest, rows = model.latest_of(code), model.transactions[model.transactions_of(code)]
    if latest is not None:
        subject.states.add((TRANSACTION_STATE, int(latest["state_partition"])))
        subject.producer_ids |= {int(latest["producer_id"])}
    subject.producer_ids |= {int(number) for number in distinct(rows["producer_id"]) if number >= 0}
    lists = distinct(rows["partitions_code"])
    for member in {one for at in lists[lists >= 0].tolist() for one in model.labels.partition_lists[at]}:
        subject.written.add(model.topic_partition(member))
    if not has_window:
        times = [int(time) for row in ("begin", "decision", "completion") for time in rows[f"{row}_timestamp"]]
        known = [time for time in times if time >= 0]
        if known:
            subject.windows.append((min(known) - AROUND_MS, max(known) + AROUND_MS))


def _add_spans(model: CaptureModel, subject: Subject) -> None:
    """Partitions in which the producers wrote, whoever lists them."""
    mine = np.isin(model.spans["producer_id"], sorted(subject.producer_ids))
    for code in distinct(model.spans["partition_code"][mine]).tolist():
        subject.written.add(model.topic_partition(code))
