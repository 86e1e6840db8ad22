"""Streams of the tables of a diagnosis, filled from the same plain data as its JSON: no second wording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from kafkatx.evidence.coverage import Coverage
from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined, NextEvidence, OpenedRef
from kafkatx.findings.examined import examined
from kafkatx.findings.fields import evidence_fields, finding_fields, next_fields
from kafkatx.histories.producers_clocks import ANY, behind_ms
from kafkatx.stages.models import JudgedCapture
from kafkatx.tables.captures import CAPTURES
from kafkatx.tables.columns import Table, microseconds
from kafkatx.tables.findings import EVIDENCE, FINDINGS, NEXT, NOT_CHECKABLE

RENAMED = {"from": "valid_from", "to": "valid_to", "where": "applies_to", "for": "speaks_for", "at": "event_time",
           "offset": "record_offset", "source": "path"}  # fmt: skip
"""Columns and members that JSON calls by a word of SQL."""
ROWS = 1_000
"""Rows of one batch."""


def finding_table(diagnosis: Diagnosis) -> Iterator[Any]:
    """Stream `findings`."""
    to_bring = _next_of_captures(diagnosis)
    return _batches(FINDINGS, [_finding(found, to_bring.get(found.capture, [])) for found in diagnosis.findings])


def _finding(found: Diagnosed, to_bring: list[NextEvidence]) -> dict[str, Any]:
    told, finding = _renamed(finding_fields(found, to_bring)), found.finding
    times = {"valid_from": microseconds(finding.since), "valid_to": microseconds(finding.until)}
    return {**told, **times, "facts": json.dumps(told["facts"], ensure_ascii=False)}


def evidence_table(diagnosis: Diagnosis) -> Iterator[Any]:
    """Stream `evidence`: the places of each finding."""
    rows = (_evidence(found, at, one) for found in diagnosis.findings for at, one in enumerate(found.evidence))
    return _batches(EVIDENCE, [*rows])


def _evidence(found: Diagnosed, number: int, opened: OpenedRef) -> dict[str, Any]:
    return {
        **_renamed(evidence_fields(opened)),
        "event_time": microseconds(opened.place.at),
        "capture": found.capture,
        "cluster_id": found.cluster_id,
        "finding_id": found.id,
        "number": number,
        "is_against": opened.place in found.finding.against,
        "crc_valid": opened.crc_valid,
    }


def not_checkable_table(diagnosis: Diagnosis) -> Iterator[Any]:
    """Stream `not_checkable`."""
    clusters = _clusters(diagnosis)
    rows = [
        {
            "capture": name,
            "cluster_id": clusters.get(name),
            "rule": one.rule,
            "scope": one.scope,
            "missing": one.missing,
        }
        for name, one in diagnosis.not_checkable
    ]
    return _batches(NOT_CHECKABLE, rows)


def next_table(diagnosis: Diagnosis) -> Iterator[Any]:
    """Stream `next`, capture by capture."""
    clusters, rows = _clusters(diagnosis), []
    for name, to_bring in _next_of_captures(diagnosis).items():
        for number, one in enumerate(to_bring):
            told = next_fields(one)
            place = {"place": told.pop("where"), "number": number}
            rows.append({**told, **place, "capture": name, "cluster_id": clusters.get(name)})
    return _batches(NEXT, rows)


def _next_of_captures(diagnosis: Diagnosis) -> dict[str | None, list[NextEvidence]]:
    """What to bring, by the capture of the findings that it decides."""
    captures = {found.id: found.capture for found in diagnosis.findings}
    found: dict[str | None, list[NextEvidence]] = {}
    for one in diagnosis.next:
        found.setdefault(captures.get(next(iter(one.decides), "")), []).append(one)
    return found


def captures_table(told: JudgedCapture) -> Iterator[Any]:
    """Stream the row of `captures` of one capture."""
    capture, model = told.capture, told.model
    row = {
        "capture": capture.name,
        "cluster_id": capture.cluster_id,
        "evidence_end": microseconds(model.facts.evidence_end),
        "joined_because": capture.why,
        "fingerprint": capture.fingerprint,
        "brokers": model.facts.brokers,
        "broker_ids": sorted({one.broker_id for one in capture.directories if one.broker_id is not None}),
        "releases": _releases(told),
        "clients_behind_ms": behind_ms(model, ANY) if len(model.transactions) else None,
        "clocks": _clocks(told),
        **_examined(examined(model)),
        **_files(told.coverage),
    }
    return _batches(CAPTURES, [row])


def _releases(told: JudgedCapture) -> list[dict[str, str]]:
    known = {pair for source in told.model.logs.facts.sources for pair in source.releases}
    return [{"product": product, "release": release} for product, release in sorted(known)]


def _clocks(told: JudgedCapture) -> list[dict[str, Any]]:
    logs = told.model.logs
    return [
        {
            "path": source.path,
            "zone_from": clock.zone_from,
            "zone_ms": clock.zone_ms,
            "skew_ms": clock.skew_ms,
            "pairs": clock.pairs,
        }
        for source, clock in zip(logs.facts.sources, logs.clocks, strict=False)
    ]


def _examined(found: Examined) -> dict[str, Any]:
    return {
        "examined_from": microseconds(found.since),
        "examined_to": microseconds(found.until),
        "transactions": found.transactions,
        "transactional_ids": found.transactional_ids,
        "producers": found.producers,
        "groups_named": found.groups,
    }


def _files(coverage: list[Coverage]) -> dict[str, int]:
    sizes = {entry.path: entry.bytes for entry in coverage}
    return {"files": len(sizes), "bytes": sum(sizes.values())}


def _clusters(diagnosis: Diagnosis) -> dict[str | None, str | None]:
    """The cluster.id of each capture, by its name."""
    return {entry.capture: entry.cluster_id for entry in diagnosis.coverage}


def _batches(table: Table, rows: list[dict[str, Any]]) -> Iterator[Any]:
    return (table.rows(rows[at : at + ROWS]) for at in range(0, len(rows), ROWS))


def _renamed(told: Any) -> Any:
    """Plain data with the names of columns for those that JSON has; what `facts` holds is let be."""
    if isinstance(told, dict):
        return {RENAMED.get(name, name): value if name == "facts" else _renamed(value) for name, value in told.items()}
    return [_renamed(one) for one in told] if isinstance(told, list) else told
