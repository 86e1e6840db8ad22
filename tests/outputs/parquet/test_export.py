"""An export is there whole or not at all, goes on where it stopped, and is the same each time."""

import errno
import fcntl
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkatx.outputs.parquet import exchange as exchanging
from kafkatx.outputs.parquet.export import export
from kafkatx.outputs.parquet.runs import SortRoom
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS, read_manifest
from kafkatx.stages.parquet_parts import Sizes
from kafkatx.terms.errors import OutputError, UsageError
from tests.outputs.parquet.small import COUNTS, LETTERS, content, counts, letters, recipe

TABLES = [COUNTS, LETTERS]
RECIPE = recipe(*TABLES)
RUN = RECIPE.run_id
OTHER = recipe(*TABLES, verify=True)
TINY = SortRoom(held=200, block=60, merged=120, block_rows=3)


class Streams:
    """Streams of both tables that note which were asked for; `stops` raises in the middle of one."""

    def __init__(self, stops=None, error=KeyboardInterrupt):
        self.asked, self.stops, self.error = [], stops, error

    def __call__(self, name):
        self.asked.append(name)
        batches = [counts([3, 1]), counts([2])] if name == "counts" else [letters(("b", 1)), letters(("a", None))]
        for batch in batches:
            yield batch
            if name == self.stops:
                raise self.error


@pytest.fixture
def target(tmp_path):
    return tmp_path / "tables"


def write(target, streams=None, of=RECIPE, **options):
    return export(target, TABLES, streams or Streams(), of, **options)


def partial(target):
    return target.with_name(f".{target.name}.partial")


def test_each_table_is_a_folder_of_sorted_files_and_success_comes_with_the_manifest(target):
    found = write(target)
    names = {MANIFEST, SUCCESS, f"counts/part-{RUN}-00000.parquet", f"letters/part-{RUN}-00000.parquet"}
    assert set(content(target)) == names
    assert pq.read_table(target / "counts").column("number").to_pylist() == [1, 2, 3]
    assert pq.read_table(target / "letters").column("word").to_pylist() == ["a", "b"]
    assert read_manifest(target) == found.manifest
    assert [path.name for path in target.parent.iterdir()] == ["tables"]


def test_memory_and_run_files_change_nothing(target, tmp_path):
    write(target)
    write(tmp_path / "other", room=TINY)
    assert content(target) == content(tmp_path / "other")


def test_an_empty_folder_is_filled(target):
    target.mkdir()
    write(target)
    assert (target / SUCCESS).exists()


def test_who_watches_is_told_of_tables_and_rows(target):
    told = []

    class Watch:
        def begin(self, table):
            told.append(table)

        def read(self, rows):
            told.append(rows)

        def wrote(self, rows):
            told.append(f"wrote {rows}")

    write(target, watch=Watch())
    assert told == ["counts", 2, 1, "wrote 3", "letters", 1, 1, "wrote 2"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, OutputError])
def test_what_stops_leaves_no_target_and_the_next_run_goes_on_with_the_next_table(error, target, tmp_path):
    with pytest.raises(error):
        write(target, Streams(stops="letters", error=error("stop")))
    assert not target.exists()
    assert not (partial(target) / SUCCESS).exists()
    again = Streams()
    assert write(target, again).taken_over == ("counts",)
    assert again.asked == ["letters"]
    write(tmp_path / "other")
    assert content(target) == content(tmp_path / "other")
    assert not partial(target).exists()


def test_an_error_of_the_disk_says_that_nothing_is_lost(target):
    with pytest.raises(
        OutputError, match=r"disk; finished tables stay in .*\.tables\.partial, the same command goes on there"
    ):
        write(target, Streams(stops="letters", error=OutputError("no disk")))


@pytest.mark.parametrize(
    "other", [recipe(*TABLES, verify=True), recipe(LETTERS, COUNTS), recipe(COUNTS)], ids=["options", "order", "tables"]
)
def test_a_partial_export_of_another_recipe_is_begun_anew(other, target):
    with pytest.raises(KeyboardInterrupt):
        write(target, Streams(stops="letters"), other)
    again = Streams()
    assert write(target, again).taken_over == ()
    assert again.asked == ["counts", "letters"]


@pytest.mark.parametrize("harm", [lambda path: path.unlink(), lambda path: path.write_bytes(b"PAR1")])
def test_a_table_of_which_a_file_is_gone_or_short_is_written_again(harm, target):
    with pytest.raises(KeyboardInterrupt):
        write(target, Streams(stops="letters"))
    harm(partial(target) / "counts" / f"part-{RUN}-00000.parquet")
    again = Streams()
    write(target, again)
    assert again.asked == ["counts", "letters"]
    assert pq.read_table(target / "counts").num_rows == 3


def test_what_else_lies_in_the_partial_folder_is_removed(target):
    with pytest.raises(KeyboardInterrupt):
        write(target, Streams(stops="letters"))
    (partial(target) / "_runs" / "run-000000.arrow").write_bytes(b"x")
    (partial(target) / SUCCESS).write_bytes(b"")
    (partial(target) / "batches").mkdir()
    write(target)
    assert {name.partition("/")[0] for name in content(target)} == {"counts", "letters", MANIFEST, SUCCESS}


def test_a_folder_of_others_with_the_name_of_the_partial_one_is_left_alone(target):
    partial(target).mkdir()
    (partial(target) / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is in the way and not of kafkatx; move it away"):
        write(target)
    assert content(partial(target)) == {"notes.txt": b"mine"}


def test_a_link_with_the_name_of_the_partial_folder_is_not_followed(target, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    partial(target).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is in the way"):
        write(target)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_two_exports_to_one_place_do_not_mix(target):
    partial(target).mkdir()
    descriptor = os.open(partial(target), os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with pytest.raises(OutputError, match="another export writes to"):
        write(target)
    os.close(descriptor)
    write(target)


def test_a_file_system_without_locks_is_no_obstacle(target, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOTSUP, "no locks")

    monkeypatch.setattr(fcntl, "flock", none)
    write(target)
    assert (target / SUCCESS).exists()


@pytest.mark.parametrize("at_once", [True, False])
def test_an_export_is_replaced_by_another(at_once, target, tmp_path, monkeypatch):
    if not at_once:
        monkeypatch.setattr(exchanging, "_at_once", lambda one, other: False)
    write(target, of=OTHER, sizes=Sizes(group_rows=1, file_bytes=1))
    assert len(content(target)) == 7
    write(target, overwrite=True)
    write(tmp_path / "other")
    assert content(target) == content(tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "tables"]


def test_what_was_put_there_meanwhile_is_not_replaced(target):
    class Meanwhile(Streams):
        def __call__(self, name):
            target.mkdir(exist_ok=True)
            (target / "notes.txt").write_text("mine")
            return super().__call__(name)

    with pytest.raises(UsageError, match="is no export of kafkatx"):
        write(target, Meanwhile(), overwrite=True)
    assert content(target) == {"notes.txt": b"mine"}


def test_a_parent_that_does_not_exist_is_an_error_of_the_output(tmp_path):
    with pytest.raises(OutputError, match=r"none/tables could not be written: No such file or directory"):
        write(tmp_path / "none" / "tables")


def test_a_batch_of_another_table_is_a_bug_and_leaves_no_target(target):
    with pytest.raises(pa.ArrowInvalid):
        export(target, TABLES, lambda name: iter([counts([1])]), RECIPE)
    assert not target.exists()


class Told:
    """Yields letters as if they came in order."""

    def __init__(self, *batches):
        self.batches = batches

    def __call__(self, name):
        return iter(self.batches) if name == "letters" else None

    def read(self, name):
        return iter([counts([1])] if name == "counts" else self.batches)


@pytest.mark.parametrize("sizes", [Sizes(), Sizes(group_rows=2, file_bytes=1)])
def test_rows_that_come_sorted_are_written_as_if_they_had_been(target, tmp_path, sizes):
    told = Told(letters(("a", 1), ("a", 2), ("b", 0)), letters(), letters(("b", 1), ("c", 1)))
    write(target, told.read, told_in_order=told, sizes=sizes)
    write(tmp_path / "other", told.read, sizes=sizes)
    assert content(target) == content(tmp_path / "other")


@pytest.mark.parametrize("last", [("b", 1), ("a", 2), ("c", None)])
def test_rows_that_were_to_come_sorted_and_do_not_are_sorted_and_compared(target, tmp_path, last):
    told = Told(letters(("a", 1), ("a", 2), ("b", 0)), letters(("b", 1), ("c", 1)), letters(last))
    small = Sizes(group_rows=2, file_bytes=1)
    write(target, told.read, told_in_order=told, sizes=small)
    write(tmp_path / "other", told.read, sizes=small)
    assert content(target) == content(tmp_path / "other")
    assert pq.read_table(target / "letters").num_rows == 6
