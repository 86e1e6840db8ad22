"""Streams of the tables that are interpreted: transactions, findings and the evidence behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.events import Outcome
from kafkatx.histories.story import Story
from kafkatx.histories.sums import Sums, sums
from kafkatx.kernels.transactions import NOTHING, PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.rules.diagnosis import Diagnosed, Diagnosis
from kafkatx.stages.stories import CaptureStory
from kafkatx.tables.columns import INT16, INT32, INT64, microseconds, named, names, numbers, signed, structs
from kafkatx.tables.findings import EVIDENCE, FINDINGS
from kafkatx.tables.transactions import transactions
from kafkatx.terms.verdicts import Verdict

COPIED = (
    "rule",
    "transactional_id",
    "producer_id",
    "producer_epoch",
    "topic",
    "partition",
    "first_offset",
    "last_offset",
    "count",
    "summary",
)
"""Columns of a finding that are its own fields."""
ROWS = 16_384
"""Rows of one batch."""
OUTCOMES = tuple(Outcome)
ENDERS = tuple(None if by is EndedBy.open else by.name for by in EndedBy)
PROTOCOLS = tuple(None if protocol is Protocol.unknown else protocol.name for protocol in Protocol)
VERDICTS = tuple(verdict.name for verdict in Verdict)


def transaction_table(stories: Iterable[CaptureStory]) -> Iterator[Any]:
    """Stream `transactions`, capture by capture."""
    for told in stories:
        story, amounts = told.story, sums(told.story)
        common = {"capture": told.capture.name, "cluster_id": told.capture.cluster_id}
        for first in range(0, len(story.transactions), ROWS):
            rows = slice(first, min(first + ROWS, len(story.transactions)))
            yield transactions(story.transactions[rows], {**common, **_interpreted(story, amounts, rows)})


def _interpreted(story: Story, amounts: Sums, rows: slice) -> dict[str, Any]:
    """The columns that the coordinator's rows alone don't tell."""
    t, ended = story.transactions[rows], story.ends
    by = ended.ended_by[rows]
    return {
        "transactional_id": named(t["id_code"], story.transactional_id),
        "producer_epoch": numbers(ended.data_epoch[rows], INT16),
        "protocol": names(ended.protocol[rows], PROTOCOLS),
        "outcome": names(_outcomes(t), OUTCOMES),
        "ended_by": names(by, ENDERS),
        "verdict": names(np.where(by == EndedBy.open, -1, ended.verdict[rows]), VERDICTS),
        "partitions": _partitions(story, rows),
        "records": signed(amounts.records[rows], INT64),
        "bytes": signed(amounts.bytes[rows], INT64),
    }


def _outcomes(t: Any) -> Any:
    """Place of each transaction's outcome in OUTCOMES; the same as histories.telling.outcome, for many."""
    complete = t["completion_offset"] >= 0
    commit, abort = t["decision"] == PREPARE_COMMIT, t["decision"] == PREPARE_ABORT
    conditions = [commit & complete, abort & complete, commit, abort, t["next_state"] == NOTHING]
    chosen = [Outcome.committed, Outcome.aborted, Outcome.committing, Outcome.aborting, Outcome.open]
    return np.select(conditions, [OUTCOMES.index(one) for one in chosen], OUTCOMES.index(Outcome.lost))


def _partitions(story: Story, rows: slice) -> Any:
    """The participations of some transactions as lists of structs."""
    parts, spans = story.parts.rows, story.spans
    bounds = np.searchsorted(parts["transaction"], np.arange(rows.start, rows.stop + 1))
    parts = parts[bounds[0] : bounds[-1]]
    with_data, with_marker = parts["span"] >= 0, parts["marker"] >= 0

    def of_data(name: str) -> Any:
        return numbers(np.where(with_data, _at(spans[name], parts["span"]), -1), INT64)

    pairs = story.labels.topic_partitions
    numbered = np.array([partition for _, partition in pairs] or [0], np.int64)
    return structs(
        np.diff(bounds),
        {
            "topic": named(parts["partition_code"], lambda code: pairs[code][0]),
            "partition": pa.array(numbered[parts["partition_code"]], INT32),
            "first_offset": of_data("first_offset"),
            "last_offset": of_data("last_offset"),
            "records": of_data("records"),
            "marker_offset": numbers(np.where(with_marker, _at(spans["marker_offset"], parts["marker"]), -1), INT64),
        },
    )


def _at(column: Any, rows: Any) -> Any:
    """Values of a column at some rows; anything where a row is negative."""
    return column[rows.clip(0)] if len(column) else np.full(len(rows), -1)


def finding_table(diagnosis: Diagnosis) -> Iterator[Any]:
    """Stream `findings`."""
    if diagnosis.findings:
        yield FINDINGS.rows([_finding(found) for found in diagnosis.findings])


def _finding(found: Diagnosed) -> dict[str, Any]:
    finding = found.finding
    return {
        **{name: getattr(finding, name) for name in COPIED},
        "id": found.id,
        "capture": found.capture,
        "cluster_id": found.cluster_id,
        "verdict": finding.verdict.name,
        "severity": finding.severity.name,
        "from": microseconds(finding.since),
        "to": microseconds(finding.until),
        "actors": [{"name": actor.name, "what": actor.what} for actor in finding.actors],
        "steps": [{"text": step.text, "because": step.because} for step in finding.steps],
        "considered": [{"rule": other.rule, "because": other.because} for other in finding.considered],
        "remedies": [
            {"text": remedy.text, "where": remedy.where, "command": remedy.command, "cost": remedy.cost}
            for remedy in finding.remedies
        ],
        "caused_by": found.caused_by,
    }


def evidence_table(diagnosis: Diagnosis) -> Iterator[Any]:
    """Stream `evidence`: the places of each finding."""
    for found in diagnosis.findings:
        if found.evidence:
            yield EVIDENCE.rows([_place(found, number) for number in range(len(found.evidence))])


def _place(found: Diagnosed, number: int) -> dict[str, Any]:
    opened = found.evidence[number]
    place = opened.place
    return {
        "capture": found.capture,
        "cluster_id": found.cluster_id,
        "path": opened.source,
        "position": opened.position,
        "finding_id": found.id,
        "number": number,
        "topic": place.topic,
        "partition": place.partition,
        "offset": place.offset,
        "at": microseconds(place.at),
        "text": place.text,
        "crc_valid": opened.crc_valid,
    }
