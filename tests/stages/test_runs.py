"""Exports that grow: runs that share a capture are diagnosed as the whole that they are copies of."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.stages.export_folders import runs_of
from kafkatx.stages.export_manifest import read_manifest
from kafkatx.stages.exports import open_exports
from kafkatx.stages.facts import LAYOUT, READABLE
from tests.building import batch, data_batch, marker, segment
from tests.cases.commands import run
from tests.cases.cutting import image
from tests.days import Days
from tests.evidence import ROOT, fixtures
from tests.exports import exported, said
from tests.golden import compare

STORED = ROOT / "tests/stages/stored"
"""Exports as earlier layouts of facts had them: they stay readable."""
NAMELESS = ("k20-expired", "k011-timeout-late")


def run_by_day(case, days, retention, folder):
    """Export a case day by day; returns the export, what it was made of having become the whole."""
    recorded = Days(image(case), days)
    for day in range(days):
        exported(recorded.write(day, folder / "data", retention), folder / "export")
    left = said(diagnose, sorted((folder / "data").iterdir()))
    recorded.write(days - 1, folder / "data")
    return folder / "export", said(diagnose, sorted((folder / "data").iterdir())), left


def told(document, but=()):
    return [{name: value for name, value in one.items() if name not in but} for one in document["findings"]]


@pytest.mark.parametrize("case", ["k4-tv2-fenced", "k39-eos-groups", "c3-stuck-prepare", *NAMELESS])
def test_days_of_exports_tell_what_the_whole_tells(case, tmp_path):
    target, whole, _ = run_by_day(case, 5, 2, tmp_path)
    but = ("capture",) if case in NAMELESS else ()
    assert told(said(diagnose, [target]), but) == told(whole, but) != []


def test_a_month_of_exports_tells_what_retention_took_long_ago(tmp_path):
    target, whole, left = run_by_day("k39-hanging", 30, 3, tmp_path)
    assert len(read_manifest(target).runs) == 30
    found = said(diagnose, [target])
    assert told(found) == told(whole)
    assert len(left["findings"]) < len(whole["findings"])


@pytest.mark.parametrize("case", NAMELESS)
def test_a_capture_without_a_cluster_id_keeps_its_name_when_its_first_batches_are_gone(case, tmp_path):
    target, _, left = run_by_day(case, 4, 1, tmp_path)
    names = {run.recipe["captures"][0]["name"] for run in read_manifest(target).runs}
    assert len(names) == 1
    assert {entry["capture"] for entry in left["coverage"]} != names
    assert {entry["capture"] for entry in said(diagnose, [target])["coverage"]} == names


def test_days_in_exports_of_their_own_are_diagnosed_together_in_any_order(tmp_path):
    recorded = Days(image("k39-hanging"), 3)
    targets = [exported(recorded.write(day, tmp_path / "data", 1), tmp_path / f"export-{day}") for day in range(3)]
    recorded.write(2, tmp_path / "data")
    whole = said(diagnose, sorted((tmp_path / "data").iterdir()))
    assert told(said(diagnose, targets)) == told(said(diagnose, targets[::-1])) == told(whole)


def test_a_file_that_stayed_as_it_was_is_read_once(tmp_path):
    segment(tmp_path / "data" / "orders-0", batch(0, b"a"))
    path = segment(tmp_path / "data" / "orders-1", batch(0, b"b"))
    exported([tmp_path / "data"], tmp_path / "export")
    path.write_bytes(path.read_bytes() + batch(1, b"c"))
    exported([tmp_path / "data"], tmp_path / "export")
    covered = [entry["path"] for entry in said(diagnose, [tmp_path / "export"])["coverage"]]
    assert sorted(map(covered.count, set(covered))) == [1, 2]


@pytest.mark.parametrize("parts", [(1, 2), (2, 1)], ids=["grew", "was taken in part later"])
def test_a_log_of_which_another_run_has_more_is_no_second_log(tmp_path, parts):
    shutil.copytree(fixtures() / "k39-timeout" / "logs", tmp_path / "logs")
    log = max((tmp_path / "logs").iterdir(), key=lambda path: path.stat().st_size)
    lines = log.read_bytes().splitlines(keepends=True)
    whole = said(diagnose, [tmp_path / "logs"])
    for part in parts:
        log.write_bytes(b"".join(lines[: len(lines) * part // 2]))
        exported([tmp_path / "logs"], tmp_path / "export")
    found, of_logs = said(diagnose, [tmp_path / "export"]), ("id", "key", "capture", "caused_by", "contributing")
    assert told(found, of_logs) == told(whole, of_logs)


def test_dumps_that_are_longer_each_day_are_one_log(tmp_path):
    """What a tool printed of a partition, with more below it each time."""
    (tmp_path / "dumps").mkdir()
    printed = run("dump", str(fixtures() / "k39-timeout" / "broker-1" / "payments-0" / f"{0:020d}.log")).out
    lines = printed.splitlines(keepends=True)
    for end in (len(lines) // 2, len(lines)):
        (tmp_path / "dumps" / "payments-0.txt").write_text("".join(lines[:end]))
        exported([tmp_path / "dumps"], tmp_path / "export", captures={str(tmp_path / "dumps"): "eu"})
    found, whole = said(diagnose, [tmp_path / "export"]), said(diagnose, [tmp_path / "dumps"])
    but = ("id", "key", "capture", "caused_by", "contributing")
    assert told(found, but) == told(whole, but)


def test_a_transaction_that_was_open_is_told_by_the_day_that_ended_it(tmp_path):
    path = segment(tmp_path / "data" / "orders-0", data_batch(0, 7, b"a"))
    exported([tmp_path / "data"], tmp_path / "export")
    path.write_bytes(path.read_bytes() + marker(1, 7))
    exported([tmp_path / "data"], tmp_path / "export")
    assert said(diagnose, [tmp_path / "export"])["findings"] == said(diagnose, [tmp_path / "data"])["findings"]


def test_one_run_without_facts_does_not_hide_what_it_lacks(tmp_path):
    segment(tmp_path / "data" / "orders-0", batch(0, b"a"))
    target = exported([tmp_path / "data"], tmp_path / "export")
    manifest = json.loads((target / "_kafkatx.json").read_text())
    manifest["runs"].append({**manifest["runs"][0], "tables": {}})
    (target / "_kafkatx.json").write_text(json.dumps(manifest))
    with pytest.raises(Exception, match="was exported without the table facts"):
        runs_of(target)


@pytest.mark.parametrize("name", sorted(path.name for path in STORED.iterdir()))
def test_an_export_of_an_earlier_release_is_diagnosed_to_the_same_document(name, request, monkeypatch):
    monkeypatch.chdir(STORED)
    assert [len(run.files) for run in runs_of(Path(name))] == [1, 1]
    (folder,) = {export.path for export in open_exports([Path(name)]).exports}
    assert Path(folder).name == name
    text = json.dumps(said(diagnose, [name])["findings"], indent=1, sort_keys=True) + "\n"
    compare(STORED.parent / "golden" / f"{name}.json", text, update=request.config.getoption("--update-golden"))


def test_every_layout_that_is_read_is_stored():
    assert {f"layout-{number}" for number in READABLE} == {path.name for path in STORED.iterdir()}
    assert LAYOUT in READABLE


def test_stored_exports_are_small():
    assert sum(path.stat().st_size for path in STORED.rglob("*")) < 300_000
    assert all(pq.ParquetFile(path).metadata for path in STORED.rglob("*.parquet"))
