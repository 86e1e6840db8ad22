"""Whole cases out of a store say what the folders say, but for the paths; and no secret of the way there is shown."""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kafkatx
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.sources.archives import unpacked_places
from kafkatx.stages.judging import NothingToDiagnoseError
from tests.cases.commands import run
from tests.evidence import FIXTURES, broker_folders, fixture_cases
from tests.sources.s3_server import Bucket, serving
from tests.sources.test_archives import tar_of, zip_of

FENCED = FIXTURES / "k39-fenced"
CASES = [FENCED, *(case for case in fixture_cases() if case != FENCED and (case / "logs").is_dir())][:4]
SECRETS = "Geheim123", "AKIAFLEET", "endpoint_override"


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with serving("fleet") as served, unpacked_places():
        yield served


def said(*paths: str, **options: Any) -> str:
    try:
        found = diagnose(paths, **options)
    except NothingToDiagnoseError as error:
        found = error.diagnosis
    return json.dumps(document(found, ""), indent=1)


def in_store(text: str, folder: Path, key: str) -> str:
    return text.replace(str(folder), f"s3://fleet/{key}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_diagnosis_is_that_of_the_folder(bucket, case):
    bucket.put_folder(case, "a b/case")
    found = said(bucket.url("a b/case"))
    assert found == in_store(said(str(case)), case, "a b/case")
    assert not any(secret in found for secret in SECRETS)
    keys = [one.key for one in bucket.asked if one.method == "GET" and one.key is not None]
    assert len(keys) <= 2 * len(bucket.objects)


def test_brokers_given_one_by_one_and_forced(bucket):
    bucket.put_folder(FENCED, "case")
    brokers = broker_folders(FENCED)
    urls = [bucket.url(f"case/{folder.name}") for folder in brokers]
    forced = {str(folder): "mine" for folder in brokers}
    here = said(*map(str, brokers), captures=forced)
    assert said(*urls, captures=dict.fromkeys(urls, "mine")) == in_store(here, FENCED, "case")


def test_a_file_url_is_the_folder(tmp_path):
    (tmp_path / "the case").symlink_to(FENCED)
    given = tmp_path / "the case"
    assert said(f"file://{tmp_path}/the%20case") == said(str(given))


def test_damage_in_a_store_is_damage(bucket):
    bucket.put_folder(FENCED, "case")
    chance = random.Random(5)
    for key in sorted(key for key in bucket.objects if key.endswith(".log") and len(bucket.objects[key]) > 500):
        spoiled = bytearray(bucket.objects[key])
        begin = chance.randrange(len(spoiled) - 100)
        spoiled[begin : begin + 60] = chance.randbytes(60)
        bucket.objects[key] = bytes(spoiled)
    found = json.loads(said(bucket.url("case")))
    assert any(entry["status"] in ("damaged", "torn") for entry in found["coverage"])


def test_what_the_store_refuses_is_told_in_the_coverage(bucket):
    bucket.put_folder(FENCED, "case")
    refused = next(key for key in bucket.objects if key.endswith("-0/00000000000000000000.log") and "__" not in key)
    bucket.status["HEAD", refused] = 403
    entry = next(one for one in json.loads(said(bucket.url("case")))["coverage"] if one["path"].endswith(refused))
    assert (entry["status"], entry["note"].partition(":")[0]) == ("unreadable", "access denied")


def test_an_archive_in_a_store(bucket):
    files = {path.relative_to(FENCED).as_posix(): path.read_bytes() for path in FENCED.rglob("*") if path.is_file()}
    bucket.objects["support/bundle.tar"] = tar_of(files)
    found = json.loads(said(bucket.url("support")))
    assert {one["path"].partition("!/")[0] for one in found["coverage"]} == {"s3://fleet/support/bundle.tar"}
    here = json.loads(said(str(FENCED)))
    assert [one["id"] for one in found["findings"]] == [one["id"] for one in here["findings"]]


@pytest.mark.parametrize("pack", [tar_of, zip_of, lambda files: gzip.compress(tar_of(files), mtime=0)])
def test_an_archive_that_the_store_stops_giving_is_told_in_the_coverage(bucket, pack):
    whole = pack({"broker-1/orders-0/00000000000000000000.log": random.Random(1).randbytes(300_000)})
    bucket.objects["support/bundle"] = whole
    bucket.spoiled["support/bundle"] = lambda body: b"" if len(body) < len(whole) // 2 else body[:-1]
    found = json.loads(said(bucket.url("support")))
    assert "the object is shorter than it was" in {one["note"] for one in found["coverage"]}


def commands(path: str, tables: Path) -> dict[str, list[str]]:
    return {
        "diagnose": ["diagnose", path],
        "history": ["history", path, "--all", "--json"],
        "verify": ["verify", path, "--records", "--json"],
        "dump": ["dump", path],
        "export": ["export", path, "--out", str(tables), "--json"],
    }


@pytest.mark.parametrize("command", ["diagnose", "history", "verify", "dump"])
def test_every_command_says_what_it_says_of_the_folder(bucket, tmp_path, command):
    bucket.put_folder(FENCED, "case")
    there = run(*commands(bucket.url("case"), tmp_path)[command])
    here = run(*commands(str(FENCED), tmp_path)[command])
    assert there.code == here.code
    if command != "diagnose":  # a line is broken where the paths end
        assert there.out == in_store(here.out, FENCED, "case")
        assert there.err == in_store(here.err, FENCED, "case")
    assert not any(secret in there.out + there.err for secret in SECRETS)


def test_an_export_holds_the_same_rows_and_no_secret(bucket, tmp_path):
    bucket.put_folder(FENCED, "case")
    there, here = run(*commands(bucket.url("case"), tmp_path / "there")["export"]), None
    assert there.code == 0, there.err
    here = run(*commands(str(FENCED), tmp_path / "here")["export"])
    for row in json.loads(here.out)["tables"]:
        if row["name"] != "facts":
            assert rows(tmp_path / "there" / row["name"]) == [
                tuple(moved(one) for one in found) for found in rows(tmp_path / "here" / row["name"])
            ]
    for path in (tmp_path / "there").rglob("*"):
        assert path.is_dir() or not any(secret.encode() in path.read_bytes() for secret in SECRETS[:1])
    assert "endpoint_override" not in (tmp_path / "there" / "_kafkatx.json").read_text()
    exported = said(str(tmp_path / "there"))
    assert exported == said(bucket.url("case"))


def moved(value: Any) -> Any:
    """A value of a row with the paths in it as they are in the store."""
    if isinstance(value, str):
        return in_store(value, FENCED, "case")
    if isinstance(value, list):
        return [moved(member) for member in value]
    return {name: moved(one) for name, one in value.items()} if isinstance(value, dict) else value


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """Rows of an export, but for which run wrote them and when: paths are a part of what a run is known by."""
    return duckdb.sql(f"SELECT * EXCLUDE (run_id, exported_at) FROM '{folder}/*.parquet'").fetchall()


def test_a_table_of_evidence_that_was_opened(bucket):
    bucket.put_folder(FENCED, "case")
    evidence = kafkatx.open(bucket.url("case"))
    assert evidence.paths == ["s3://fleet/case"]
    here = kafkatx.open(FENCED)
    assert sum(batch.num_rows for batch in evidence.table("batches")) == sum(
        batch.num_rows for batch in here.table("batches")
    )
    assert len(evidence.diagnose().findings) == len(here.diagnose().findings)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["{url}", "--out", "{url}"], "--out takes a path of this machine, no URL"),
        (["{url}/nothing"], "no such object or folder"),
        (["{url}", "{other}"], "two different credentials"),
        (["{url}", "--capture", "{url}"], "write it as NAME=PATH"),
        (["{slash}"], "is no bucket"),
        (["{unknown}"], "Unexpected query parameter"),
    ],
)
def test_what_is_refused_is_one_line_without_secrets(bucket, words, told):
    bucket.objects["k/x.txt"] = b"text"
    url = bucket.url("k")
    forms = {
        "{url}": url,
        "{url}/nothing": bucket.url("k/nothing"),
        "{other}": bucket.url("k", user="AKIAFLEET:Geheim124"),
        "{slash}": "s3://AKIAFLEET:Gehe/Geheim123@fleet/k",
        "{unknown}": f"{url}&nonsense=Geheim123",
    }
    found = run("diagnose", *(forms.get(word, word) for word in words))
    assert found.code == 2
    assert told in found.err
    assert found.err.count("\n") == 1
    assert not any(secret in found.out + found.err for secret in SECRETS)
