"""`kafkatx export`: what it writes and says, how it ends, killed or on a full disk, and the same bytes each time."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kafkatx.kernels.engine import forced
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS, read_manifest
from kafkatx.tables.catalogue import EXPORTED
from tests.building import batch, segment
from tests.cases.commands import run
from tests.evidence import ROOT, fixtures
from tests.outputs.parquet.small import content

CASE = fixtures() / "k39-fenced"
SECRETS = ("jaas-Kn0cked", "keystore-Kn0cked")
PROPERTIES = """\
transactional.id=payments-eu-1
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="jaas-Kn0cked";
ssl.keystore.password=keystore-Kn0cked
"""
KILLED = """
import fnmatch, os, signal, sys
from kafkatx.cli import app

_, moment, *words = sys.argv

def hook(event, arguments):
    if event == "open" and fnmatch.fnmatch(str(arguments[0]), "*" + moment):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(hook)
sys.argv = ["kafkatx", *words]
app.main()
"""
"""Runs kafkatx, and kills it when it opens a file whose path ends in a certain way."""


@pytest.fixture
def target(tmp_path):
    return tmp_path / "tables"


@pytest.fixture
def orders(tmp_path):
    """Evidence of three records in one partition."""
    segment(tmp_path / "data" / "orders-0", batch(0, b"a", b"b") + batch(2, b"c"))
    return tmp_path / "data"


def rows(target, name):
    return pq.read_table(target / name).to_pylist()


def started(*words, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("variables", {})}
    return subprocess.run(
        [sys.executable, *map(str, words)], env=environment, capture_output=True, text=True, **options
    )


def test_the_summary_names_tables_rows_and_sizes_and_how_to_read_them(golden, tmp_path, monkeypatch):
    shutil.copytree(CASE, tmp_path / "case")
    monkeypatch.chdir(tmp_path)
    result = run("export", "case/broker-1", "--out", "tables", "--table", "batches", "--table", "transactions")
    assert (result.code, result.err) == (0, "")
    golden("export-k39-fenced.txt", result.out)
    assert not [line for line in result.out.splitlines() if len(line) > 80]


def test_what_the_summary_says_reads_a_table_back(orders, target):
    result = run("export", str(orders), "--out", str(target))
    (line,) = [line for line in result.out.splitlines() if "pandas.read_parquet" in line]
    import pandas

    assert len(eval(line.strip(), {"pandas": pandas})) == 3


def test_json_is_one_document_with_every_table(orders, target):
    result = run("export", str(orders), "--out", str(target), "--json")
    document = json.loads(result.out)
    assert [table["name"] for table in document["tables"]] == list(EXPORTED)
    (records,) = [table for table in document["tables"] if table["name"] == "records"]
    assert records == {"name": "records", "rows": 3, "files": 1, "bytes": records["bytes"]}
    assert (document["out"], document["taken_over"], document["changed_inputs"]) == (str(target), [], [])
    assert {path.name for path in target.iterdir()} == {*EXPORTED, MANIFEST, SUCCESS}


def test_only_tables_that_are_named_are_written(orders, target):
    assert run("export", str(orders), "--out", str(target), "--table", "records", "--table", "files").code == 0
    assert {path.name for path in target.iterdir()} == {"records", "files", MANIFEST, SUCCESS}


def test_a_table_that_there_is_not_is_wrong_usage_and_the_tables_are_named(orders, target):
    result = run("export", str(orders), "--out", str(target), "--table", "qqqq")
    assert (result.code, result.raw) == (2, b"")
    assert all(name in result.err for name in EXPORTED)
    assert not target.exists()


def test_without_a_folder_to_write_to_it_is_wrong_usage(orders):
    result = run("export", str(orders))
    assert (result.code, result.raw) == (2, b"")
    assert "--out" in result.err


def test_a_second_export_to_the_same_place_adds_a_run_unless_it_is_to_replace_the_first(orders, target):
    words = ("export", str(orders), "--out", str(target))
    first = json.loads(run(*words, "--json").out)
    before = content(target)
    segment(orders / "orders-1", batch(0, b"d"))
    result = run(*words)
    assert (result.code, result.err) == (0, "")
    assert "Added run" in result.out
    assert {name: data for name, data in content(target).items() if name in before and name != MANIFEST}.items() == {
        name: data for name, data in before.items() if name != MANIFEST
    }.items()
    found = rows(target, "records")
    assert len(found) == 3 + 4
    assert [row["topic"] for row in found if row["run_id"] == first["run_id"]] == ["orders"] * 3


def test_the_same_bytes_are_one_run_however_often_they_are_exported(orders, target):
    words = ("export", str(orders), "--out", str(target))
    first = json.loads(run(*words, "--json").out)
    before = content(target)
    os.utime(next(orders.rglob("*.log")), (1, 1))
    again = run(*words)
    assert (again.code, again.err) == (0, "")
    assert "Wrote nothing: " in " ".join(again.out.split())
    told = json.loads(run(*words, "--json").out)
    assert (first["is_new"], told["is_new"], told["runs"]) == (True, False, [first["run_id"]])
    assert content(target) == before


def test_a_run_can_be_replaced_with_all_others(orders, target):
    words = ("export", str(orders), "--out", str(target))
    assert run(*words).code == 0
    assert run(*words, "--table", "files", "--overwrite").code == 0
    assert {path.name for path in target.iterdir()} == {"files", MANIFEST, SUCCESS}


def test_a_folder_of_something_else_is_never_replaced(orders, tmp_path):
    for place in (orders.parent, tmp_path / "file"):
        (tmp_path / "file").write_text("mine")
        result = run("export", str(orders), "--out", str(place), "--overwrite")
        assert (result.code, result.raw) == (2, b"")
        assert "give --out a folder that does not exist yet" in result.err
    assert (tmp_path / "file").read_text() == "mine"


def test_a_link_to_a_folder_is_the_folder(orders, tmp_path):
    (tmp_path / "disk" / "empty").mkdir(parents=True)
    (tmp_path / "tables").symlink_to(tmp_path / "disk" / "empty")
    assert run("export", str(orders), "--out", str(tmp_path / "tables")).code == 0
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["empty"]
    assert (tmp_path / "tables" / SUCCESS).exists()


def test_a_place_that_can_not_be_written_is_4_and_nothing_is_left(orders, tmp_path):
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "none" / "tables", tmp_path / "file" / "tables"):
        result = run("export", str(orders), "--out", str(place))
        assert (result.code, result.raw) == (4, b""), result.err
        assert f"{place} could not be written" in result.err
    assert {path.name for path in tmp_path.iterdir()} == {"data", "file"}


def test_a_disk_that_is_full_is_4_and_the_same_command_goes_on(target):
    def little():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (22_000, resource.RLIM_INFINITY))

    words = ("-m", "kafkatx", "export", CASE.relative_to(ROOT), "--out", target, "--json")
    done = started(*words, "--table", "markers", "--table", "batches", preexec_fn=little, cwd=ROOT)
    assert (done.returncode, done.stdout) == (4, ""), done.stderr
    assert "could not be written: File too large" in done.stderr
    assert "the same command goes on there" in done.stderr
    assert not target.exists()


def test_nothing_to_read_is_3_and_writes_nothing(tmp_path, target):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "notes.txt").write_text("nothing of a broker")
    result = run("export", str(tmp_path / "data"), "--out", str(target), "--json")
    assert result.code == 3
    assert json.loads(result.out)["tables"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("moment", ["/markers/part-*-00000.parquet", "/damage/part-*-00000.parquet", "tables/_SUCCESS"])
def test_killed_at_some_moment_nothing_looks_finished_and_the_same_command_makes_it_whole(moment, target, tmp_path):
    words = ("export", CASE, "--out", target)
    done = started("-c", KILLED, moment, *words)
    assert done.returncode == -signal.SIGKILL
    assert not list(tmp_path.rglob(SUCCESS))
    before = content(tmp_path)
    again = run(*map(str, words), "--json")
    taken_over = json.loads(again.out)["taken_over"]
    assert set(taken_over) == {Path(name).parent.name for name in before if "/part-" in name}
    assert run("export", str(CASE), "--out", str(tmp_path / "other")).code == 0
    assert content(target) == content(tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "tables"]


def test_an_interruption_is_130_and_says_that_the_same_command_goes_on(orders, target, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kafkatx.stages.table_interpreted.transaction_table", interrupted)
    result = run("export", str(orders), "--out", str(target))
    assert (result.code, result.raw) == (130, b"")
    assert "the same command goes on with the next table" in result.err
    monkeypatch.undo()
    assert (
        "5 tables had been written by a run that was interrupted"
        in run("export", str(orders), "--out", str(target)).out
    )


def test_evidence_that_changed_since_is_exported_from_the_beginning(orders, target, monkeypatch):
    words = ("export", str(orders), "--out", str(target), "--json")
    monkeypatch.setattr("kafkatx.stages.table_interpreted.transaction_table", lambda *_: 1 / 0)
    assert run(*words).code == 70
    monkeypatch.undo()
    path = next(orders.rglob("*.log"))
    path.write_bytes(path.read_bytes() + batch(3, b"d"))
    assert json.loads(run(*words).out)["taken_over"] == []


def test_evidence_that_changes_meanwhile_is_told(orders, target, monkeypatch):
    path = next(orders.rglob("*.log"))

    def written_to(*_):
        path.write_bytes(path.read_bytes() + batch(3, b"d"))
        yield from ()

    monkeypatch.setattr("kafkatx.stages.table_interpreted.transaction_table", written_to)
    result = run("export", str(orders), "--out", str(target), "--json")
    assert result.code == 0
    assert json.loads(result.out)["changed_inputs"] == [str(path)]
    assert "changed while being read; tables may not agree with each other" in " ".join(result.err.split())


def test_the_same_evidence_gives_the_same_bytes_whatever_the_order_seed_and_zone(tmp_path):
    given = [CASE / "broker-1", CASE / "logs", fixtures() / "k28-sequence"]
    machines = ({"PYTHONHASHSEED": "1", "TZ": "UTC"}, {"PYTHONHASHSEED": "2", "TZ": "FAR-13", "LC_ALL": "C"})
    for number, variables in enumerate(machines):
        paths = given[::-1] if number else given
        done = started("-m", "kafkatx", "export", *paths, "--out", tmp_path / f"{number}", variables=variables)
        assert done.returncode == 0, done.stderr
    assert content(tmp_path / "0") == content(tmp_path / "1")
    assert {len(rows(tmp_path / "0", name)) > 0 for name in ("batches", "log_events", "findings")} == {True}


def test_compiled_kernels_write_the_same_bytes(tmp_path):
    for mode in ("interpreted", "compiled"):
        with forced(mode):
            assert run("export", str(CASE), "--out", str(tmp_path / mode)).code == 0
    assert content(tmp_path / "interpreted") == content(tmp_path / "compiled")


def test_names_in_the_evidence_are_never_names_of_files(tmp_path, target):
    names = ("../../up", "a\nb", "c=d", "%2e%2e", "_x", "$(touch y)", "o\udcffr", "'; DROP")
    for name in names:
        segment(tmp_path / "data" / f"{name.replace('/', '%2F')}-0", batch(0, name.encode("utf-8", "replace")))
    assert run("export", str(tmp_path / "data"), "--out", str(target)).code == 0
    folders = {path.relative_to(target).parts[0] for path in target.rglob("*")}
    assert folders == {*EXPORTED, MANIFEST, SUCCESS}
    (made,) = read_manifest(target).runs
    assert {path.name for path in target.rglob("*.parquet")} == {f"part-{made.run_id}-00000.parquet"}
    found = {row["topic"] for row in rows(target, "records")}
    assert {name.removesuffix("-0") for name in found} == {
        "..%2F..%2Fup", "a\nb", "c=d", "%2e%2e", "_x", "$(touch y)", "o\ufffdr", "'; DROP",
    }  # fmt: skip


def test_secrets_are_in_no_table(tmp_path, target):
    shutil.copytree(CASE, tmp_path / "case")
    (tmp_path / "case" / "config" / "client.properties").write_text(PROPERTIES)
    assert run("export", str(tmp_path / "case"), "--out", str(target)).code == 0
    values = [row["value"] for row in rows(target, "settings") if row["name"] == "sasl.jaas.config"]
    assert "[hidden]" in values
    for name in EXPORTED:
        text = repr(rows(target, name))
        assert not [secret for secret in SECRETS if secret in text], name


def test_an_archive_and_standard_input_are_evidence_too(orders, tmp_path):
    with tarfile.open(tmp_path / "bundle.tgz", "w:gz") as bundle:
        bundle.add(orders, "data")
    data = (tmp_path / "bundle.tgz").read_bytes()
    for name, words, given in (("a", ["bundle.tgz"], None), ("b", ["-"], data), ("c", ["-"], data)):
        done = subprocess.run(
            [sys.executable, "-m", "kafkatx", "export", *words, "--out", name, "--table", "records"],
            cwd=tmp_path, input=given, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True,
        )  # fmt: skip
        assert b"3 rows" in done.stdout
    assert rows(tmp_path / "a", "records")[0]["path"].startswith("bundle.tgz!/")
    assert content(tmp_path / "b") == content(tmp_path / "c")
    (taken_in,) = read_manifest(tmp_path / "b").runs[0].recipe["inputs"]
    assert taken_in["path"] == "-"
    assert len(taken_in["sha256"]) == 64


def test_crcs_are_all_checked_where_that_is_asked_for(tmp_path, target):
    broken = batch(1, b"b" * 30)
    segment(tmp_path / "data" / "orders-0", batch(0, b"a") + broken[:-3] + b"???" + batch(2, b"c"))
    assert run("export", str(tmp_path / "data"), "--out", str(target), "--table", "damage").code == 0
    assert rows(target, "damage") == []
    words = ("export", str(tmp_path / "data"), "--out", str(target), "--table", "damage", "--verify", "--overwrite")
    assert run(*words).code == 0
    assert [row["kind"] for row in rows(target, "damage")] == ["crc"]


def test_a_capture_is_forced_by_its_name(orders, target):
    assert run("export", str(orders), "--out", str(target), "--capture", f"mine={orders}").code == 0
    assert {row["capture"] for row in rows(target, "batches")} == {"mine"}
