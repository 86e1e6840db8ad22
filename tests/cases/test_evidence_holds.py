"""Whatever a finding cites can be opened: the file holds that offset at that byte, whole, and says what the text says
of it.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkatx.formats import producer_snapshot, record_batch
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.transaction_states import state_name
from tests import declared
from tests.cases.judging import diagnosed
from tests.evidence import cases

CASES = list(cases())
MARKERS = {"ABORT": 0, "COMMIT": 1}
STATES = {state_name(number): number for number in range(8)}

Evidence = dict[str, Any]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_cited_place_holds_what_is_said_of_it(case: Path) -> None:
    for finding in diagnosed(case)["findings"]:
        assert finding["evidence"], finding["summary"]
        for item in [*finding["evidence"], *finding["against"]]:
            problems = list(contradictions(item))
            assert not problems, (finding["summary"], item, problems)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_step_points_at_evidence_that_is_listed(case: Path) -> None:
    for finding in diagnosed(case)["findings"]:
        reasons = [*finding["steps"], *finding["considered"]]
        cited = {number for reason in reasons for number in reason["evidence"]}
        assert cited <= set(range(len(finding["evidence"]))), finding["summary"]
        assert any(step["evidence"] for step in finding["steps"]), finding["summary"]


def test_a_wrong_word_offset_or_position_would_be_seen() -> None:
    places = [item for case in CASES for finding in diagnosed(case)["findings"] for item in finding["evidence"]]
    for item in places:
        text = item["text"]
        for wrong in (
            {**item, "offset": item["offset"] + 1_000_000},
            {**item, "position": item["position"] + 1},
            {**item, "text": re.sub(r"producer id (\d+)", r"producer id 9\1", text)} if "producer id" in text else None,
            {**item, "text": re.sub(r"epoch (\d+)", r"epoch 9\1", text)} if re.search(r"epoch \d", text) else None,
            {**item, "text": text.replace("COMMIT", "ABORT")} if "COMMIT" in text else None,
            {**item, "text": text.replace("Ongoing", "PrepareAbort")} if "Ongoing" in text else None,
        ):
            assert wrong is None or list(contradictions(wrong)), wrong


def test_texts_name_facts_that_can_be_compared() -> None:
    texts = [item["text"] for case in CASES for finding in diagnosed(case)["findings"] for item in finding["evidence"]]
    assert all(
        any(word in text for text in texts) for word in ("Ongoing", "PrepareAbort", "ABORT marker", "records of")
    )


def contradictions(item: Evidence) -> list[str]:
    """What is not as the evidence item says, in words."""
    if item["source"] is None or item["position"] is None:
        return ["no file holds it"]
    if item["source"].endswith(".snapshot"):
        return _contradictions_in_snapshot(item)
    batch = _batch_at(item["source"], item["position"])
    if batch is None:
        return ["no whole batch begins there"]
    if not batch.base_offset <= item["offset"] <= batch.last_offset:
        return [f"the batch holds offsets {batch.base_offset} to {batch.last_offset}"]
    if not batch.crc_valid:
        return ["its CRC is wrong"]
    facts = _facts_of_row(batch, item["offset"]) if item["topic"] == TRANSACTION_STATE else _facts_of_batch(batch)
    said = _said(item["text"])
    return [f"{name}: said {said[name]}, found {facts.get(name)}" for name in said if said[name] != facts.get(name)]


def _contradictions_in_snapshot(item: Evidence) -> list[str]:
    content, said = _content(item["source"]), _said(item["text"])
    if not declared.is_crc_valid(content):
        return ["its CRC is wrong"]
    if (item["position"] - producer_snapshot.HEADER_SIZE) % producer_snapshot.ENTRY_SIZE:
        return ["no entry begins there"]
    entry, _ = producer_snapshot.ProducerEntry.parse_at(content, item["position"])
    found = (entry.producer_id, entry.producer_epoch, entry.current_txn_first_offset)
    return [] if found == (said["producer_id"], said["producer_epoch"], item["offset"]) else [f"found {found}"]


def _said(text: str) -> dict[str, Any]:
    """Facts that a text names."""
    said: dict[str, Any] = {}
    if found := re.search(r"producer id (\d+)", text):
        said["producer_id"] = int(found[1])
    if found := re.search(r"(?<!coordinator )epoch (\d+)", text):
        said["producer_epoch"] = int(found[1])
    if found := re.search(r"coordinator epoch (-?\d+)", text):
        said["coordinator_epoch"] = int(found[1])
    if found := re.search(r"\b(ABORT|COMMIT) marker", text):
        said["control_type"] = MARKERS[found[1]]
    if found := re.match(r"(\w+), producer id", text):
        said["state"] = STATES[found[1]]
    if re.search(r"\brecords? of producer", text):
        said["is_data"] = True
    if "tombstone" in text:
        said["is_tombstone"] = True
    return said


def _facts_of_batch(batch: declared.Batch) -> dict[str, Any]:
    return {
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "coordinator_epoch": batch.coordinator_epoch,
        "control_type": batch.control_type,
        "is_data": not record_batch.is_control(batch.attributes) and record_batch.is_transactional(batch.attributes),
    }


def _facts_of_row(batch: declared.Batch, offset: int) -> dict[str, Any]:
    rows = [row for row in declared.transaction_states(batch.data) if row.offset == offset]
    if not rows:
        return {"state": "no row"}
    row = rows[0]
    return {
        "producer_id": row.producer_id,
        "producer_epoch": row.producer_epoch,
        "state": row.state,
        "is_tombstone": row.is_tombstone,
    }


def _batch_at(source: str, position: int) -> declared.Batch | None:
    return next(declared.batches(_content(source)[position:]), None)


@cache
def _content(source: str) -> bytes:
    return Path(source).read_bytes()
