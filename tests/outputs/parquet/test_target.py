"""Only an export, and only one with nothing else in it, is ever replaced; every refusal says what to do."""

import json

import pytest

from kafkatx.outputs.parquet.export import export
from kafkatx.outputs.parquet.target import TargetState, look_at
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS
from kafkatx.terms.errors import UsageError
from tests.outputs.parquet.small import COUNTS, content, counts, recipe

RUN = recipe(COUNTS).run_id


@pytest.fixture
def made(tmp_path):
    target = tmp_path / "tables"
    export(target, [COUNTS], lambda name: iter([counts(range(3))]), recipe(COUNTS))
    return target


def test_a_folder_that_does_not_exist_or_is_empty_is_free(tmp_path):
    assert look_at(tmp_path / "none", RUN, overwrite=False) is TargetState.nothing
    assert look_at(tmp_path, RUN, overwrite=False) is TargetState.nothing


def test_an_export_is_replaced_only_where_that_is_wanted(made):
    assert look_at(made, RUN, overwrite=True) is TargetState.replaceable
    assert look_at(made, RUN, overwrite=False) is TargetState.known
    assert look_at(made, "another", overwrite=False) is TargetState.appendable


def test_a_file_and_a_link_to_nothing_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "none")
    for name in ("file", "link"):
        with pytest.raises(UsageError, match="is no folder"):
            look_at(tmp_path / name, RUN, overwrite=True)


@pytest.mark.parametrize("manifest", [None, "{}", "notes"])
def test_a_folder_of_anything_else_is_refused_also_to_be_overwritten(manifest, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(UsageError, match="is no export of kafkatx; give --out a folder that does not exist yet"):
        look_at(tmp_path, RUN, overwrite=True)


@pytest.mark.parametrize("name", ["notes.txt", "counts/notes.txt", "counts/part-0-00001.parquet", "mine/", "link"])
@pytest.mark.parametrize("overwrite", [True, False])
def test_an_export_with_something_of_others_in_it_is_not_replaced_nor_added_to(overwrite, name, made):
    if name == "link":
        (made / name).symlink_to(made.parent)
    elif name.endswith("/"):
        (made / name).mkdir()
    else:
        (made / name).write_text("mine")
    before = content(made)
    rows = [counts(range(9))]
    with pytest.raises(UsageError, match=f"holds what is not of the export, like {name.rstrip('/')}; move it away"):
        export(made, [COUNTS], lambda name: iter(rows), recipe(COUNTS, verify=True), overwrite=overwrite)
    assert content(made) == before


@pytest.mark.parametrize("overwrite", [True, False])
def test_an_export_of_sparks_is_neither_replaced_nor_added_to(overwrite, made):
    """Its tables have folders for clusters and days, beside which no reader takes a file for one of the same table."""
    told = json.loads((made / MANIFEST).read_text())
    told["runs"][0]["options"] = {"format": "parquet"}
    (made / MANIFEST).write_text(json.dumps(told))
    with pytest.raises(UsageError, match="add to it with --engine spark"):
        look_at(made, recipe(COUNTS, verify=True).run_id, overwrite=overwrite)


def test_an_export_that_lacks_only_its_last_file_is_finished_without_reading_anything(made):
    (made / SUCCESS).unlink()
    assert look_at(made, RUN, overwrite=False) is TargetState.almost_finished
    found = export(made, [COUNTS], lambda name: pytest.fail("read"), recipe(COUNTS))
    assert found.taken_over == ("counts",)
    assert (made / SUCCESS).exists()


def test_one_of_another_recipe_that_lacks_its_last_file_is_not_taken_for_ours(made):
    (made / SUCCESS).unlink()
    assert look_at(made, recipe(COUNTS, verify=True).run_id, overwrite=False) is TargetState.appendable
