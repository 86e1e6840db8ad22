"""`kafkatx collect`: what decides is listed or packed, and a bundle gives the findings of the whole evidence."""

import hashlib
import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kafkatx.cli.app import app
from tests.evidence import ROOT

CASES = ["k39-fenced", "k10-hanging", "c3-storm", "f-other-clients", "k39-timeout", "c3-stuck-prepare", "k39-open"]


@pytest.fixture
def run(monkeypatch):
    monkeypatch.chdir(ROOT)
    return lambda *words: CliRunner().invoke(app, list(map(str, words)))


def findings(run, *words):
    done = run("diagnose", *words, "--json")
    found = json.loads(done.stdout)["findings"]
    return {(one["rule"], one["verdict"], one["id"] if one["cluster_id"] else one["key"]) for one in found}


def unpacked(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


@pytest.mark.parametrize("case", CASES)
def test_a_bundle_gives_the_same_findings_about_its_id(run, tmp_path, case):
    given, bundle = f"fixtures/{case}", tmp_path / "case.tgz"
    found = json.loads(run("diagnose", given, "--json").stdout)["findings"]
    name = next(one["transactional_id"] for one in found if one["transactional_id"])
    done = run("collect", given, "--id", name, "--out", bundle, "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["is_alike"]
    assert name in document["transactional_ids"]
    assert findings(run, bundle, "--id", name, "--as-of", document["as_of"]) == findings(run, given, "--id", name)


def test_a_list_reads_like_this(run, golden):
    for case in ("k39-fenced", "k10-hanging"):
        done = run("collect", f"fixtures/{case}")
        assert done.exit_code == 0, done.output
        golden(f"collect-{case}.txt", done.stdout)
        tables = [line for line in done.stdout.splitlines() if not line.startswith(("   kafka", "   (set -x"))]
        assert all(len(line) <= 80 and not line.endswith(" ") for line in tables)


def test_a_bundle_is_the_same_bytes_each_time_and_lists_their_hashes(run, tmp_path):
    for name in ("one.tgz", "two.tgz"):
        assert run("collect", "fixtures/k39-fenced", "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one.tgz").read_bytes() == (tmp_path / "two.tgz").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.tgz", "two.tgz"]
    files = unpacked(tmp_path / "one.tgz")
    lines = files.pop("evidence/MANIFEST").decode().splitlines()
    hashes = dict(reversed(line.split("  ", 1)) for line in lines if not line.startswith("#"))
    assert hashes == {name.removeprefix("evidence/"): hashlib.sha256(data).hexdigest() for name, data in files.items()}


def test_only_the_hours_around_a_finding_and_lines_that_name_the_id_are_taken_of_a_brokers_log(run, tmp_path):
    log = (ROOT / "fixtures/k39-fenced/logs/broker-1/server.log").read_text()
    far = (
        "[2026-11-20 03:00:00,000] INFO [GroupCoordinator 1]: long before (kafka.coordinator.group.GroupCoordinator)\n"
    )
    mine = "[2026-11-20 03:00:01,000] INFO Initialized transactionalId payments-eu-1 with producerId 1\n"
    (tmp_path / "server.log").write_text(far + mine + log)
    done = run("collect", "fixtures/k39-fenced/broker-1", tmp_path / "server.log", "--out", tmp_path / "case.tgz")
    assert done.exit_code == 0, done.output
    packed = next(data for name, data in unpacked(tmp_path / "case.tgz").items() if name.endswith("server.log"))
    lines = packed.decode().splitlines()
    assert lines[0] + "\n" == mine
    assert len(lines) == 1 + len(log.splitlines())


def test_secrets_are_hidden_in_what_is_packed(run, tmp_path):
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    properties = (
        "bootstrap.servers=broker:9092\ntransactional.id=payments-eu-1\nssl.keystore.password=hunter2\n"
        'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n  password="hunter3";\n'
    )
    (evidence / "app.properties").write_text(properties)
    done = run("collect", ROOT / "fixtures/k39-fenced/broker-1", evidence, "--out", tmp_path / "case.tgz")
    assert done.exit_code == 0, done.output
    files = unpacked(tmp_path / "case.tgz")
    packed = next(data for name, data in files.items() if name.endswith("app.properties"))
    assert b"transactional.id=payments-eu-1" in packed
    assert packed.count(b"[hidden]") == 2
    assert not any(b"hunter" in data for data in files.values())


def test_an_id_without_findings_is_collected_and_what_is_missing_of_it_asked_for(run):
    done = run("collect", "fixtures/k39-fenced/broker-1", "--id", "orders-sink-0", "--json")
    document = json.loads(done.stdout)
    assert document["findings"] == []
    assert any("orders-0" in one["name"] for one in document["taken"])
    assert not any("payments-0" in one["name"] for one in document["taken"])
    assert any("orders-sink-0" in one["command"] for one in document["next"])


def test_what_is_too_much_is_refused_and_nothing_is_written_into_the_evidence(run, tmp_path):
    done = run("collect", "fixtures/k39-fenced", "--max-bytes", "1000", "--out", tmp_path / "case.tgz")
    assert done.exit_code != 0
    assert not list(tmp_path.iterdir())
    done = run("collect", "fixtures/k39-fenced", "--out", "fixtures/k39-fenced/case.tgz")
    assert done.exit_code != 0
    assert not (ROOT / "fixtures/k39-fenced/case.tgz").exists()
