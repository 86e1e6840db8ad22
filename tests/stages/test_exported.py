"""An export is diagnosed as what it was made of, to the last field, when that is gone."""

import os
import random
import shutil

import pytest

from kafkatx.findings.diagnosis import Selection
from kafkatx.local.diagnosis import diagnose
from kafkatx.sources.files import OpenFile
from tests.building import batch, segment
from tests.evidence import broker_folders, fixture_cases, fixtures
from tests.exports import exported, exported_together, said
from tests.repeats import together


@pytest.mark.parametrize("cases", together())
def test_recorded_cases(cases):
    raw, target = exported_together(cases)
    assert said(diagnose, [target]) == raw
    assert len(list((target / "facts").iterdir())) > 1


def test_no_file_of_the_evidence_is_looked_for(monkeypatch, tmp_path):
    case = shutil.copytree(fixtures() / "k39-fenced", tmp_path / "case")
    raw, target = said(diagnose, [case]), exported([case], tmp_path / "export")

    def refuse(self, path):
        raise AssertionError(path)

    monkeypatch.setattr(OpenFile, "__init__", refuse)
    assert said(diagnose, [target]) == raw


@pytest.mark.parametrize("seed", [2])
def test_damaged_files_in_one_call(seed, tmp_path):
    chance = random.Random(seed)
    cases = [shutil.copytree(case, tmp_path / case.name) for case in fixture_cases()[seed::8] if broker_folders(case)]
    for path in sorted(tmp_path.rglob("*.log")) + sorted(tmp_path.rglob("*.snapshot")):
        data = bytearray(path.read_bytes())
        if len(data) > 60 and chance.random() < 0.5:
            at, length = chance.randrange(len(data)), chance.choice([1, 1, 1, 40])
            data[at : at + length] = chance.randbytes(length)
            path.write_bytes(data[: chance.choice([len(data), len(data), len(data) - 7])])
    raw, target = said(diagnose, cases), exported(cases, tmp_path / "export")
    for case in cases:
        shutil.rmtree(case)
    assert raw["damage"]
    assert said(diagnose, [target]) == raw


def test_what_is_asked_for(tmp_path):
    case = fixtures() / "k39-fenced"
    options = {
        "selection": Selection(rules=frozenset({"fenced_by_new_instance"}), transactional_id="payments-eu-1"),
        "as_of": 1_900_000_000_000,
        "release": (3, 9, 1),
        "log_zone_ms": 0,
    }
    found = said(diagnose, [exported([case], tmp_path / "export")], **options)
    assert found == said(diagnose, [case], **options)
    assert [finding["rule"] for finding in found["findings"]] == ["fenced_by_new_instance"]


def test_captures_that_were_forced_and_crcs_that_were_checked_when_it_was_exported(tmp_path):
    case = fixtures() / "k39-fenced"
    options = {"captures": {str(case): "eu"}, "verify_all": True}
    target = exported([case], tmp_path / "export", **options)
    found = said(diagnose, [target], verify_all=True)
    assert found == said(diagnose, [target]) == said(diagnose, [case], **options)
    assert {finding["capture"] for finding in found["findings"]} == {"eu"}


def test_paths_that_are_no_text(tmp_path):
    name = os.fsdecode(b"broker-\xff")
    segment(tmp_path / name / "orders-0", batch(0, b"a") + b"torn")
    raw, target = said(diagnose, [tmp_path / name]), exported([tmp_path / name], tmp_path / "export")
    shutil.rmtree(tmp_path / name)
    assert said(diagnose, [target]) == raw
    assert name in raw["coverage"][0]["path"]


def test_exports_of_several_clusters_are_diagnosed_together(tmp_path):
    cases = [fixtures() / name for name in ("k39-timeout", "k28-sequence", "k39-fenced")]
    targets = [exported([case], tmp_path / case.name) for case in cases]
    assert said(diagnose, targets) == said(diagnose, cases) == said(diagnose, [*targets[1:], targets[0]])


def test_secrets_are_not_in_the_facts(tmp_path):
    import pyarrow.parquet as pq

    from kafkatx.evidence.log_reading import FileFacts
    from kafkatx.stages.codec import decode
    from kafkatx.stages.facts import FactKind

    (tmp_path / "client.properties").write_text("transactional.id=a\nssl.keystore.password=keystore-Kn0cked\n")
    target = exported([tmp_path / "client.properties"], tmp_path / "export")
    rows = pq.read_table(target / "facts").to_pylist()
    logs = [decode(row["payload"], FileFacts) for row in rows if row["rank"] == FactKind.LOG]
    assert [(one.name, one.value) for one in logs[0].facts.settings][-1] == ("ssl.keystore.password", "[hidden]")
