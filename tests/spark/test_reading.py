"""`kafkatx.spark.read`: a DataFrame has the rows, names and types of the table, whatever was asked for."""

import random
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import kafkatx
import kafkatx.spark
from kafkatx.sources.files import observed
from kafkatx.spark import diagnosis, reading
from kafkatx.spark.planning import IN_STRETCHES
from kafkatx.spark.request import OF_ALL_FILES
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.findings import FINDINGS
from kafkatx.terms.errors import UsageError
from tests.building import batch, segment
from tests.evidence import broker_folders, fixture_cases, fixtures
from tests.repeats import together
from tests.spark.tables import OF_FILES, here, whole

CASE = fixtures() / "k39-codecs"
FOLDERS = [folder for case in fixture_cases() for folder in broker_folders(case)]
TINY = 700


def read(spark: Any, *arguments: Any, **options: Any) -> Any:
    return kafkatx.spark.read(spark, *arguments, **options).toArrow().combine_chunks()


@cache
def opened(cases: tuple[Path, ...]) -> Any:
    """Recorded cases, texts and all, opened once: that takes longer than to read them."""
    return kafkatx.open(cases)


@pytest.mark.parametrize("cases", together())
@pytest.mark.parametrize("name", OF_FILES)
def test_a_table_of_cases_in_one_call(spark, name, cases, monkeypatch):
    monkeypatch.setattr(reading, "opened_evidence", lambda *given: opened(cases)._found)
    found = read(spark, cases, table=name)
    assert found == whole(opened(cases).table(name), TABLES[name].schema)
    assert found.num_rows or name == "damage"


@pytest.mark.parametrize("cases", together())
@pytest.mark.parametrize("name", IN_STRETCHES)
def test_recorded_files_in_tiny_stretches(spark, name, cases):
    folders = [folder for case in cases for folder in broker_folders(case)]
    assert read(spark, folders, table=name, stretch_bytes=TINY) == here(folders, name, TINY)


def test_damaged_files_in_a_fleet_are_rows_of_damage_and_no_failure(spark, tmp_path):
    chance = random.Random(11)
    for folder in FOLDERS[:6]:
        shutil.copytree(folder, tmp_path / folder.parent.name / folder.name)
    logs = [path for path in sorted(tmp_path.rglob("*.log")) if path.stat().st_size > 500]
    for path in chance.sample(logs, 8):
        data = bytearray(path.read_bytes())
        first = chance.randrange(len(data) - 100)
        data[first : first + 100] = chance.randbytes(100)
        path.write_bytes(data)
    for name in IN_STRETCHES:
        assert read(spark, tmp_path, table=name, stretch_bytes=TINY) == here(tmp_path, name, TINY)
    found = read(spark, tmp_path, table="damage")
    assert found == here(tmp_path, "damage")
    assert len(set(found["path"].to_pylist())) >= 5


def test_what_is_asked_for_is_what_comes(spark):
    since = "2026-01-01"
    asked = {"columns": ["record_offset", "topic"], "topic": ["events", "accounts"], "since": since}
    expected = here(CASE, "records")
    late = pc.greater_equal(expected["timestamp"], pa.scalar(1_767_225_600_000_000, pa.timestamp("us", "UTC")))
    kept = expected.filter(pc.and_(late, pc.is_in(expected["topic"], pa.array(asked["topic"]))))
    assert read(spark, CASE, table="records", **asked) == kept.select(asked["columns"]).combine_chunks()
    assert kept.num_rows


def test_each_evaluation_has_the_files_and_sizes_of_the_call(spark, tmp_path):
    path = segment(tmp_path / "orders-0", [batch(0, b"a"), batch(1, b"b")])
    frame = kafkatx.spark.read(spark, tmp_path, table="batches", columns=["base_offset"])
    assert frame.count() == 2
    with path.open("ab") as file:
        file.write(batch(2, b"c"))
    segment(tmp_path / "orders-1", [batch(0, b"a")])
    both = frame.join(frame.withColumnRenamed("base_offset", "other"))
    assert both.orderBy("base_offset", "other").toArrow().num_rows == 4
    assert frame.count() == 2


def test_a_file_that_goes_before_it_is_read_is_no_failure(spark, tmp_path):
    paths = [segment(tmp_path / f"orders-{number}", [batch(0, b"a")]) for number in range(2)]
    frame = kafkatx.spark.read(spark, tmp_path, table="batches")
    paths[0].unlink()
    assert frame.count() == 1


def test_nothing_to_read_is_an_empty_frame(spark, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of Kafka")
    for name in ("batches", "settings"):
        found = read(spark, tmp_path, table=name, columns=["path"])
        assert (found.num_rows, found.schema.names) == (0, ["path"])


def test_files_in_archives_and_names_that_are_no_text(spark, tmp_path):
    segment(tmp_path / "data" / "orders-0", [batch(0, b"a"), batch(1, b"b")])
    segment(tmp_path / "data" / "strange\udcff-0", [batch(0, b"a")])
    shutil.make_archive(str(tmp_path / "bundle"), "gztar", tmp_path / "data", "orders-0")
    for name in ("batches", "files", "records"):
        assert read(spark, tmp_path, table=name) == here(tmp_path, name)


def test_captures_can_be_forced(spark):
    found = read(spark, CASE, table="batches", columns=["capture"], captures={str(CASE): "eu"})
    assert set(found["capture"].to_pylist()) == {"eu"}


def test_the_call_reads_nothing_of_large_files(spark, tmp_path, monkeypatch):
    path = segment(tmp_path / "orders-0", [batch(number, b"a" * 50) for number in range(40)])
    read = []
    with observed(lambda *given: read.append(given)):
        frame = kafkatx.spark.read(spark, tmp_path, table="batches", columns=["base_offset"], stretch_bytes=500)
    assert sum(end - begin for name, begin, end in read if name == str(path)) < 100
    assert [row.base_offset for row in frame.collect()] == [*range(40)]


def test_rows_are_chosen_by_names_and_times(spark):
    expected = here(CASE, "markers")
    ids = set(expected["producer_id"].to_pylist()[:1])
    until = sorted(expected["timestamp"].to_pylist())[len(expected) // 2]
    found = read(spark, CASE, table="markers", producer_id=ids, partition=[0], until=until)
    rows = [
        row
        for row in expected.to_pylist()
        if row["producer_id"] in ids and row["partition"] == 0 and row["timestamp"] < until
    ]
    assert found.to_pylist() == rows
    assert rows


def test_tables_that_follow_from_all_files_are_narrowed_like_the_others(spark, monkeypatch):
    rows = [
        {"id": "a", "topic": "orders", "valid_from": 0, "valid_to": 7_000_000},
        {"id": "b", "topic": "orders", "valid_from": 9},
        {},
    ]

    def table(session: Any, paths: Any, name: str, **options: Any) -> Any:
        assert (paths, name, options) == (
            [str(Path.cwd() / "here")],
            "findings",
            {"captures": None, "verify_all": False},
        )
        return session.createDataFrame(pa.Table.from_batches([FINDINGS.rows(rows)]))

    monkeypatch.setattr(diagnosis, "table", table)
    found = read(spark, "here", table="findings", columns=["valid_from", "id"], topic="orders", since=7_000)
    assert found["id"].to_pylist() == ["a"]
    assert read(spark, "here", table="findings", topic="orders", until=8)["id"].to_pylist() == ["a", "b"]
    assert read(spark, "here", table="findings", transactional_id="x").num_rows == 0
    assert read(spark, "here", table="findings") == pa.Table.from_batches([FINDINGS.rows(rows)])


@pytest.mark.parametrize("name", OF_ALL_FILES)
def test_a_table_that_follows_from_all_files(spark, name):
    case = fixtures() / "k39-hanging" / "broker-1" if name in ("next", "not_checkable") else CASE
    found, expected = read(spark, case, table=name), here(case, name)
    assert found.schema == expected.schema
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    assert found.num_rows


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({"table": "batch"}, "there is no table 'batch'"),
        ({"table": "batches", "columns": ["x"]}, "batches has no column 'x'"),
        ({"table": "batches", "stretch_bytes": 0}, "it takes a byte at least"),
    ],
)
def test_what_can_not_be_asked_for(spark, options, answer):
    with pytest.raises(UsageError, match=answer):
        kafkatx.spark.read(spark, CASE, **options)


def test_a_path_that_does_not_exist(spark, tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        kafkatx.spark.read(spark, Path(tmp_path / "missing"), table="batches")
