"""Rows that need to meet no others are written where they were read; where a fact may be there twice none is."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkatx.stages import divided_parts, export_packing, export_tasks, seams
from kafkatx.stages.divided_parts import Draft, Drafting
from kafkatx.stages.export_packing import OTHERS, tasks_of_export, tasks_of_places
from kafkatx.stages.export_tasks import blocks_of
from kafkatx.stages.exported_rows import exported_rows, in_folders
from kafkatx.stages.facts import FactsError
from kafkatx.stages.models import joined_evidence
from kafkatx.stages.stamp import Stamp
from kafkatx.stages.strands import Strand, StrandTold, not_in_order, strand_told, without
from kafkatx.stages.table_blocks import Block
from kafkatx.stages.whole_partitions import rows_of_files
from kafkatx.tables.catalogue import EXPORTED
from tests.building import data_batch, segment

TABLES = ("batches", "records", "files")
STAMP = Stamp("0" * 16, 1_000, "1")
LOG = [data_batch(at, 7, b"x" * 50, base_sequence=at) for at in range(40)]


def told(folder: Path, drafts: Path, enough: int = 1) -> list[Block | StrandTold]:
    tasks = tasks_of_export(joined_evidence([str(folder)]), False, 4)
    return [
        one
        for number, files in enumerate(tasks)
        for one in rows_of_files(files, TABLES, Drafting(str(drafts), number, STAMP), enough)
    ]


def read(folder: Path, drafts: Path, enough: int = 1) -> list[Block | Draft]:
    """Blocks and drafts, of strands that reach into each other read once more."""
    found, evidence = told(folder, drafts, enough), joined_evidence([str(folder)])
    strands = [one for one in found if isinstance(one, StrandTold)]
    if places := {*not_in_order(strands)}:
        again = [one for task in tasks_of_places(evidence, False, 4, places) for one in task]
        found += [block for one in again for block in blocks_of(one, TABLES)]
    counted = without([strand_told(one.to_json()) for one in strands], places)
    return [*(one for one in found if isinstance(one, Block)), *(draft for one in counted for draft in one.drafts)]


def blocks(found: list[Block | Draft]) -> list[Block]:
    return sorted((one for one in found if isinstance(one, Block)), key=lambda one: (one.table, one.unit))


def rows(found: list[Block | Draft], table: str, drafts: Path) -> list[dict[str, Any]]:
    """All rows of a table, wherever they are."""
    files = [pq.read_table(drafts / one.name) for one in found if isinstance(one, Draft) and one.table == table]
    own = exported_rows((one for one in blocks(found) if one.table == table), EXPORTED[table], STAMP)
    return pa.concat_tables([*files, *own]).to_pylist()


@pytest.mark.parametrize("cuts", [[0, 40], [0, 10, 25, 40]])
def test_a_partition_in_one_folder_is_written_where_it_is_read(tmp_path, cuts):
    for begin, end in pairwise(cuts):
        segment(tmp_path / "in/orders-0", LOG[begin:end], f"{begin:020}.log")
    found = read(tmp_path / "in", tmp_path / "out")
    assert {one.table for one in blocks(found)} == {"files"}
    assert [(one.table, one.rows) for one in found if isinstance(one, Draft)] == [("batches", 40), ("records", 40)]
    told = rows(found, "records", tmp_path / "out")
    assert [row["record_offset"] for row in told] == [*range(40)]
    assert all(row["is_canonical"] for row in told)


def test_what_is_little_travels(tmp_path):
    segment(tmp_path / "in/orders-0", LOG)
    assert not [one for one in read(tmp_path / "in", tmp_path / "out", 1 << 20) if isinstance(one, Draft)]


@pytest.mark.parametrize("where", ["in/orders-0", "in-2/orders-0"])
def test_copies_meet_others_and_one_of_each_counts(tmp_path, where):
    """Of a file that lies in the folder once more, and of a replica."""
    segment(tmp_path / "in/orders-0", LOG)
    segment(tmp_path / where, LOG[5:], "00000000000000000005.log")
    folders = tmp_path / "both"
    folders.mkdir()
    for folder in {"in", where.partition("/")[0]}:
        (tmp_path / folder).rename(folders / folder)
    found = read(folders, tmp_path / "out")
    assert not [one for one in found if isinstance(one, Draft)]
    told = rows(found, "records", tmp_path / "out")
    assert sorted(row["record_offset"] for row in told) == sorted([*range(40), *range(5, 40)])
    assert sorted(row["record_offset"] for row in told if row["is_canonical"]) == [*range(40)]


def test_rows_are_divided_by_cluster_and_day_and_few_files_are_open(tmp_path, monkeypatch):
    monkeypatch.setattr(divided_parts, "FOLDERS", 2)
    table, day = EXPORTED["markers"], 86_400_000_000
    times = [0, day, 2 * day, None, day, 0]
    columns = {"capture": pa.array(["a/b", "a/b", None, "c", "a/b", "a/b"]), "timestamp": pa.array(times, pa.int64())}
    columns["timestamp"] = columns["timestamp"].cast(pa.timestamp("us", tz="UTC"))
    batch = pa.Table.from_batches([table.batch(6, {**columns, "record_offset": pa.array([*range(6)])})])
    of_folder = dict(in_folders(batch, table))
    assert {folder: some.column("record_offset").to_pylist() for folder, some in of_folder.items()} == {
        "cluster=a%2Fb/day=1970-01-01": [0, 5],
        "cluster=a%2Fb/day=1970-01-02": [1, 4],
        "cluster=unknown/day=1970-01-03": [2],
        "cluster=c/day=unknown": [3],
    }
    drafting = Drafting(str(tmp_path / "out"), 0, STAMP)
    parts, drafts = divided_parts.DividedParts(drafting, table), []
    for _ in range(2):
        for folder, some in of_folder.items():
            drafts += parts.add(folder, STAMP.added(some, table, pa.array([True] * some.num_rows)))
            assert len(parts.open) <= 2
    drafts += parts.rest()
    assert sum(one.rows for one in drafts) == 12
    assert len({one.name for one in drafts}) == len(drafts) == len([*(tmp_path / "out").iterdir()]) > 4


@pytest.fixture
def cut(monkeypatch):
    """A task reads some batches only."""
    monkeypatch.setattr(export_packing, "_largest", lambda found, at_once: 700)
    monkeypatch.setattr(export_tasks, "COST_OF_FILE", 0)
    monkeypatch.setattr(seams, "LOOK_BACK", 400)


def every(found: list[Block | Draft], table: str, drafts: Path) -> list[tuple[int, bool]]:
    column = {"records": "record_offset"}.get(table, "base_offset")
    return sorted((row[column], row["is_canonical"]) for row in rows(found, table, drafts))


@pytest.mark.usefixtures("cut")
@pytest.mark.parametrize("cuts", [[0, 40], [0, 3, 25, 40], [*range(0, 41, 5)]])
def test_a_large_partition_is_read_by_several_tasks(tmp_path, cuts):
    for begin, end in pairwise(cuts):
        segment(tmp_path / "in/orders-0", LOG[begin:end], f"{begin:020}.log")
    found = told(tmp_path / "in", tmp_path / "out")
    strands = [one for one in found if isinstance(one, StrandTold)]
    assert len({one.strand for one in strands}) == strands[0].strand.of > 4
    assert not {*not_in_order(strands)}
    for table in ("batches", "records"):
        written = [draft for one in strands for draft in one.drafts]
        assert every(written, table, tmp_path / "out") == [(at, True) for at in range(40)]
    assert {one.table for one in found if isinstance(one, Block)} == {"files"}
    assert sum(one.rows for one in found if isinstance(one, Block)) == len(cuts) - 1


@pytest.mark.usefixtures("cut")
def test_strands_that_reach_into_each_other_are_read_as_blocks(tmp_path):
    """A segment that holds what the one before it has at its end, each in order by itself."""
    segment(tmp_path / "in/orders-0", LOG[:25])
    segment(tmp_path / "in/orders-0", LOG[15:], "00000000000000000015.log")
    segment(tmp_path / "in/payments-0", LOG)
    found = read(tmp_path / "in", tmp_path / "out")
    for table in ("batches", "records"):
        twice = [(at, True) for at in range(40)] + [(at, False) for at in range(15, 25)]
        assert every(found, table, tmp_path / "out") == sorted([*twice, *((at, True) for at in range(40))])
    drafts = [one for one in found if isinstance(one, Draft)]
    assert sum(one.rows for one in drafts) == 80  # payments


@pytest.mark.usefixtures("cut")
def test_copies_are_read_in_stretches_too(tmp_path):
    for broker in ("one", "other"):
        segment(tmp_path / "in" / broker / "orders-0", LOG)
    tasks = tasks_of_export(joined_evidence([str(tmp_path / "in")]), False, 4)
    parts = [one for task in tasks for one in task if one.source is not None and one.source.is_log]
    assert len([one for one in parts if one.tables == OTHERS]) == 2 < len(parts) / 2
    found = read(tmp_path / "in", tmp_path / "out")
    assert every(found, "records", tmp_path / "out") == [(at, counts) for at in range(40) for counts in (False, True)]


def test_strands_follow_each_other_or_do_not():
    def of(number: int, first: int, last: int, ascends: bool = True) -> StrandTold:
        drafts = [Draft("records", "", "", 1, 1, "")] if last >= 0 else []
        return StrandTold("records", Strand("c/t-0", number, 4), ascends, first, last, drafts)

    assert not [*not_in_order([of(2, 7, 9), of(0, 0, 3), of(1, -1, -1), of(3, 10, 10)])]
    assert [*not_in_order([of(0, 0, 3), of(1, 3, 5)])] == [("records", "c/t-0")]
    assert [*not_in_order([of(0, 0, 8), of(1, -1, -1), of(2, 7, 9)])] == [("records", "c/t-0")]
    assert [*not_in_order([of(0, 0, 8), of(1, -1, -1, ascends=False)])] == [("records", "c/t-0")]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"drafts": [{}]}', b'{"drafts": [], "strand": 1}'])
def test_what_is_no_strand_is_refused(data):
    with pytest.raises(FactsError):
        strand_told(data)
