"""The end of an export in words: sizes, what was taken over, lines to copy that survive any name of a folder."""

import io
import json
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from kafkatx.outputs.parquet.export import Exported
from kafkatx.outputs.parquet.summary import examples, print_summary, size_in_words, to_json
from kafkatx.stages.export_manifest import Manifest, Run
from kafkatx.stages.parquet_parts import TableFile
from tests.outputs.parquet.small import COUNTS, LETTERS, recipe


def found(*taken_over, earlier=(), is_new=True):
    parts = [TableFile("part-00000.parquet", 1_200, 3_400_000, ""), TableFile("part-00001.parquet", 1, 600, "")]
    run = Run(recipe(LETTERS, COUNTS).document(), 0, {"letters": parts, "counts": parts[1:]})
    return Exported(Path("/x/tables"), Manifest([*earlier, run]), run, taken_over, is_new)


def printed(exported, out="tables"):
    stream = io.StringIO()
    print_summary(Console(file=stream, width=80), exported, out)
    return stream.getvalue()


def test_every_table_is_a_line_of_what_is_in_it():
    first, _, _, letters, counts, *_ = printed(found()).splitlines()
    assert first == "Wrote 2 tables to tables: 1,202 rows, 3.4 MB."
    assert letters.split() == ["letters", "1,201", "2", "3.4", "MB"]
    assert counts.split() == ["counts", "1", "1", "600", "bytes"]


def test_what_came_to_an_export_is_told():
    run = found().run.run_id
    first = printed(found(earlier=[Run(recipe(COUNTS).document(), 0)])).splitlines()
    assert " ".join(first[:2]).startswith(f"Added run {run}, the 2nd, to tables, 2 tables: 1,202 rows")
    again = " ".join(printed(found(is_new=False)).split())
    assert again.startswith(f"Wrote nothing: tables has the same evidence already, as run {run}, 2 tables: 1,202 rows")


def test_what_an_interrupted_run_had_written_is_told():
    assert "1 table had been written by a run that was interrupted." in printed(found("letters"))


def test_the_largest_table_is_the_example():
    assert "spark.read.parquet('tables/letters')" in printed(found())


@pytest.mark.parametrize("out", ["tables", "my tables/", "it's", '$HOME `x` "y" !', "/"])
def test_lines_to_copy_name_the_folder_whatever_it_is_called(out):
    in_shell, in_python, in_spark = examples(out, "letters")
    _, _, query = shlex.split(in_shell)
    folder = query.removeprefix("FROM '").removesuffix("/*.parquet' LIMIT 9").replace("''", "'")
    assert Path(folder) == Path(out) / "letters"
    assert eval(in_spark.partition("(")[2].removesuffix(")")) == folder
    assert in_python.startswith(f"pandas.read_parquet({folder!r}, ")


def test_what_acts_on_a_terminal_is_shown_instead():
    assert "\x1b" not in printed(found(), "a\x1b[2Jb")


def test_the_document_names_what_was_taken_over_and_what_changed():
    document = json.loads(to_json(found("letters"), "tables", ["a.log"], "1.2"))
    assert (document["kafkatx"], document["schema"], document["out"]) == ("1.2", 1, "tables")
    assert (document["taken_over"], document["changed_inputs"]) == (["letters"], ["a.log"])
    assert document["tables"][1] == {"name": "counts", "rows": 1, "bytes": 600, "files": 1}


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (4_560_000, "4.6 MB"), (10**16, "10,000.0 TB")],
)
def test_sizes_are_said_as_people_say_them(size, words):
    assert size_in_words(size) == words
