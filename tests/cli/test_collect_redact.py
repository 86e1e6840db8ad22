"""`kafkatx collect --redact`: the bundle diagnoses alike, and no name and no payload of the original is in it."""

import json
import re
import stat
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kafkatx.cli.app import app
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.local.redacting.vocabulary import is_common
from kafkatx.segments.records import RecordWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import INTERNAL, partition_for
from tests.evidence import ROOT

CASES = ["k39-fenced", "k10-hanging", "c3-storm", "f-other-clients", "k39-codecs", "k25-eos-groups", "f-streams-frozen"]
KEPT = ("rule", "verdict", "severity", "count", "producer_id", "producer_epoch", "partition", "first_offset",
        "last_offset", "from", "to")  # fmt: skip
SHORTEST_PAYLOAD = 9
"""Bytes of a payload that stand in no other file by chance."""


@pytest.fixture
def run(monkeypatch):
    monkeypatch.chdir(ROOT)
    return lambda *words: CliRunner().invoke(app, list(map(str, words)))


def redacted(run, tmp_path: Path, *given) -> tuple[dict, dict, Path]:
    """The document, the mapping and the unpacked bundle."""
    bundle = tmp_path / "out" / "case.tgz"
    bundle.parent.mkdir()
    done = run("collect", *given, "--redact", "--out", bundle, "--json")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "unpacked"
    with tarfile.open(bundle) as archive:
        for member in archive.getmembers():  # extractall(filter=...) came with later releases of Python 3.11
            target = folder / member.name
            assert folder.resolve() in target.resolve().parents
            target.parent.mkdir(parents=True, exist_ok=True)
            if member.isfile():
                target.write_bytes(archive.extractfile(member).read())
    mapping = Path(f"{bundle}.mapping.json")
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600
    assert sorted(path.name for path in bundle.parent.iterdir()) == ["case.tgz", "case.tgz.mapping.json"]
    return json.loads(done.stdout), json.loads(mapping.read_text()), folder


def names_in(mapping: dict) -> dict[str, str]:
    """All names with their stand-ins."""
    found = {one["name"]: one["stand_in"] for one in mapping["transactional_ids"]}
    for kind in ("topics", "client_ids", "groups", "hosts"):
        found |= mapping[kind]
    return found


def findings(run, given, *words, names: dict[str, str] | None = None):
    """What is found, names by their stand-ins."""
    found = json.loads(run("diagnose", given, *words, "--json").stdout)["findings"]
    named = [(one["transactional_id"], one["topic"]) for one in found]
    if names is not None:
        named = [tuple(names.get(name, name) for name in pair) for pair in named]
    told = [(*(str(one[key]) for key in KEPT), *map(str, pair)) for one, pair in zip(found, named, strict=True)]
    return sorted(told)


def payloads(folder: Path) -> set[bytes]:
    """Keys, values and header values of all records of applications."""
    found = set()
    for path in folder.rglob("*.log"):
        if re.fullmatch(r"\d{20}\.log", path.name) and path.parent.name.rpartition("-")[0] not in INTERNAL:
            with OpenFile(str(path)) as file:
                for chunk in RecordWalk(file, check=CHECK_NONE).record_chunks():
                    for rows in (chunk.records, chunk.headers()):
                        for row in rows:
                            for part in ("key", "value"):
                                start, size = int(row[f"{part}_start"]), int(row[f"{part}_length"])
                                if size >= SHORTEST_PAYLOAD:
                                    found.add(bytes(chunk.data[start : start + size]))
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_redacted_bundle_diagnoses_alike_and_names_nobody(run, tmp_path, case):
    given = f"fixtures/{case}"
    document, mapping, folder = redacted(run, tmp_path, given)
    assert document["is_alike"]
    names, words = names_in(mapping), ("--as-of", document["as_of"])
    for name in document["transactional_ids"]:
        of_id = findings(run, folder, "--id", names[name], *words)
        assert of_id == findings(run, given, "--id", name, *words, names=names)
    secret = [name.encode() for name in names if not is_common(name)]
    assert secret
    patterns = [re.compile(rb"(?<![A-Za-z0-9])" + re.escape(name) + rb"(?![A-Za-z0-9])") for name in secret]
    mine = payloads(ROOT / given)
    assert mine or case == "f-streams-frozen"
    for path in folder.rglob("*"):
        content = str(path.relative_to(folder)).encode() + b"\n" + (path.read_bytes() if path.is_file() else b"")
        assert not [pattern.pattern for pattern in patterns if pattern.search(content)], path
        assert not [value for value in mine if value in content], path
    assert not mine & payloads(folder)


def test_stand_ins_of_ids_keep_their_partition(run, tmp_path):
    _, mapping, folder = redacted(run, tmp_path, "fixtures/c3-storm")
    for one in mapping["transactional_ids"]:
        assert one["partition"] == one["stand_in_partition"]
        assert partition_for(one["stand_in"], mapping["transaction_state_partitions"]) == one["partition"]
    rows = {path.parent.name for path in folder.rglob("__transaction_state-*/*.log")}
    assert rows == {f"__transaction_state-{one['partition']}" for one in mapping["transactional_ids"]
                    if one["name"] == "transfers-3"}  # fmt: skip


def test_all_codecs_stay_and_everything_is_whole(run, tmp_path):
    _, _, folder = redacted(run, tmp_path, "fixtures/k39-codecs")
    assert run("verify", folder, "--records").exit_code == 0
    dumps = "".join(run("dump", path).stdout for path in sorted(folder.rglob("topic-*/*.log")))
    codecs = set(re.findall(r"compresscodec: (\w+)", dumps))
    assert codecs == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert "isvalid: false" not in dumps


def test_redact_without_a_bundle_is_refused(run):
    assert run("collect", "fixtures/k39-fenced", "--redact").exit_code != 0
