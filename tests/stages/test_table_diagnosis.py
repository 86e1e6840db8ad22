"""The tables of a diagnosis hold what its JSON holds, row by row, of every recorded case."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import kafkatx
from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.judging import NothingToDiagnoseError
from tests.evidence import fixture_cases, fixtures

AS_IT_IS = (
    "id", "key", "rule", "verdict", "severity", "capture", "cluster_id", "transactional_id", "producer_id",
    "producer_epoch", "topic", "partition", "first_offset", "last_offset", "has_zone", "count", "subjects", "who",
    "title", "summary", "actors", "steps", "considered", "caused_by", "contributing",
)  # fmt: skip
OF_A_PLACE = ("position", "line", "topic", "partition", "text")


def tables_and_document(*paths: Path) -> tuple[dict[str, list[dict[str, Any]]], dict[str, Any]]:
    evidence = kafkatx.open(paths)
    names = ("findings", "evidence", "not_checkable", "next", "captures")
    found = {name: [row for batch in evidence.table(name) for row in batch.to_pylist()] for name in names}
    try:
        told: Diagnosis = kafkatx.diagnose(paths)
    except NothingToDiagnoseError as error:
        told = error.diagnosis
    return found, json.loads(json.dumps(document(told, "")))


def iso(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_json(row: dict[str, Any], places: list[dict[str, Any]]) -> dict[str, Any]:
    """A row of `findings` with its rows of `evidence` as JSON has them."""
    mine = [place for place in places if place["finding_id"] == row["id"]]
    assert [place["number"] for place in mine] == list(range(len(mine)))
    told = [{**_place(place), "is_against": place["is_against"]} for place in mine]
    evidence = [{name: value for name, value in one.items() if name != "is_against"} for one in told]
    return {
        **{name: row[name] for name in AS_IT_IS},
        "from": iso(row["valid_from"]),
        "to": iso(row["valid_to"]),
        "evidence": evidence,
        "against": [one for one, place in zip(evidence, mine, strict=True) if place["is_against"]],
        "remedies": [{"where" if n == "applies_to" else n: v for n, v in one.items()} for one in row["remedies"]],
        "facts": json.loads(row["facts"]),
        "candidates": [{"for" if n == "speaks_for" else n: v for n, v in one.items()} for one in row["candidates"]],
    }


def _place(place: dict[str, Any]) -> dict[str, Any]:
    told = {name: place[name] for name in OF_A_PLACE}
    return {**told, "source": place["path"], "offset": place["record_offset"], "at": iso(place["event_time"])}


@pytest.mark.parametrize("case", fixture_cases(), ids=lambda case: case.name)
def test_rows_are_what_json_says(case: Path) -> None:
    rows, told = tables_and_document(case)
    assert [as_json(row, rows["evidence"]) for row in rows["findings"]] == told["findings"]
    wanted = ("rule", "capture", "scope", "missing")
    assert _some(rows["not_checkable"], wanted) == _some(told["not_checkable"], wanted)
    next_rows = [{**row, "where": row["place"]} for row in rows["next"]]
    assert _some(next_rows, ("what", "why", "where", "command", "decides")) == told["next"]
    assert [row["number"] for row in next_rows] == list(range(len(next_rows)))


def _some(rows: list[dict[str, Any]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in names} for row in rows]


def test_captures_are_told_as_a_whole() -> None:
    rows, told = tables_and_document(fixtures() / "k39-timeout", fixtures() / "k20-expired")
    assert {row["capture"] for row in rows["captures"]} == {one["capture"] for one in told["coverage"]} - {None}
    (timeout,) = [row for row in rows["captures"] if row["cluster_id"]]
    examined = told["answer"]["examined"]
    assert sum(row["transactions"] for row in rows["captures"]) == examined["transactions"]
    assert (timeout["broker_ids"], timeout["brokers"]) == ([1], 1)
    newest = max(one["to"] for one in told["coverage"] if one["capture"] == timeout["capture"] and one["to"])
    assert timeout["examined_from"] < timeout["examined_to"] <= timeout["evidence_end"]
    assert iso(timeout["evidence_end"]) <= newest
    assert {clock["path"] for clock in timeout["clocks"]} >= {
        one["path"] for one in told["coverage"] if one["kind"] == "text-log" and one["capture"] == timeout["capture"]
    }
    paths = {one["path"]: one["bytes"] for one in told["coverage"] if one["capture"] == timeout["capture"]}
    assert (timeout["files"], timeout["bytes"]) == (len(paths), sum(paths.values()))


def test_numbers_of_what_to_bring_are_of_one_capture() -> None:
    cases = [fixtures() / name for name in ("k39-timeout", "k20-expired", "k10-hanging")]
    rows, _ = tables_and_document(*cases)
    for capture in {row["capture"] for row in rows["next"]}:
        assert [row["number"] for row in rows["next"] if row["capture"] == capture] == list(
            range(sum(row["capture"] == capture for row in rows["next"]))
        )
    by_place = {(row["capture"], row["number"]): row["decides"] for row in rows["next"]}
    for row in rows["findings"]:
        for candidate in row["candidates"]:
            assert all(row["id"] in by_place[row["capture"], number] for number in candidate["decided_by"])
