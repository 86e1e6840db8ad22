"""What an export says of itself can be read again, and anything else is no export."""

import json
from dataclasses import replace

import pytest

from kafkatx.stages.export_manifest import MANIFEST, Manifest, Run, read_manifest
from kafkatx.stages.parquet_parts import TableFile
from kafkatx.terms.errors import UsageError
from tests.outputs.parquet.small import COUNTS, LETTERS, recipe

PART = TableFile("part-00000.parquet", 3, 400, "ab" * 32)


RECIPE = recipe(LETTERS, COUNTS, verify=True)


def run():
    return Run(RECIPE.document(), 1_795_256_940_132, {"letters": [PART, PART]})


def whole():
    return Manifest([Run(recipe(COUNTS).document(), 0, {"counts": [PART]}), run()])


def test_it_is_read_as_it_was_written(tmp_path):
    (tmp_path / MANIFEST).write_bytes(whole().to_json())
    assert read_manifest(tmp_path) == whole()


def test_it_is_complete_with_the_last_table_that_was_wanted():
    manifest = whole()
    assert not manifest.is_complete
    manifest.runs[1].tables["counts"] = [PART]
    assert manifest.is_complete
    assert manifest.runs[1].summary() == [
        {"name": "letters", "rows": 6, "bytes": 800, "files": 2},
        {"name": "counts", "rows": 3, "bytes": 400, "files": 1},
    ]


def test_it_does_not_depend_on_the_order_in_which_tables_were_written():
    one, other = whole(), whole()
    one.runs[1].tables["counts"] = [PART]
    other.runs[1].tables = {"counts": [PART], **other.runs[1].tables}
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "{",
        '{"format": "other", "schema": 2, "runs": []}',
        '{"format": "kafkatx export", "schema": 3, "runs": []}',
        '{"format": "kafkatx export", "schema": 2, "runs": 7}',
        *(
            f'{{"format": "kafkatx export", "schema": 2, "runs": [{{"run_id": "a", "exported_at": {told}}}]}}'
            for told in (
                '"2026-11-21T10:00:00Z", "wanted": 7, "tables": {}',
                '"2026-11-21T10:00:00Z", "wanted": [], "tables": {"a": {"files": [7]}}',
                '"2026-11-21T10:00:00Z", "wanted": [], "tables": []',
                '"noon", "wanted": [], "tables": {}',
            )
        ),
    ],
)
def test_what_is_no_manifest_of_ours_is_none(text, tmp_path):
    (tmp_path / MANIFEST).write_text(text)
    assert read_manifest(tmp_path) is None
    assert read_manifest(tmp_path / "none") is None


def test_a_name_that_leads_out_of_the_folder_is_kept_in_it(tmp_path):
    document = json.loads(whole().to_json())
    document["runs"][1]["tables"]["letters"]["files"][0]["path"] = "../../elsewhere"
    (tmp_path / MANIFEST).write_text(json.dumps(document))
    assert "letters/elsewhere" in read_manifest(tmp_path).files()


def test_a_run_is_known_by_what_it_was_made_of_and_not_by_when():
    file = {"path": "a.log", "size": 3, "mtime_ns": 5, "sha256": "ab"}
    known = replace(RECIPE, inputs=[file]).run_id
    assert replace(RECIPE, inputs=[{**file, "mtime_ns": 6}], pyarrow="1").run_id == known
    for other in ({**file, "sha256": "cd"}, {**file, "size": 4}, {**file, "path": "b.log"}):
        assert replace(RECIPE, inputs=[other]).run_id != known
    assert replace(RECIPE, kafkatx="9", inputs=[file]).run_id != known
    del file["sha256"]
    known = replace(RECIPE, inputs=[file]).run_id
    assert replace(RECIPE, inputs=[{**file, "mtime_ns": 6}]).run_id != known


def test_the_time_of_a_run_can_be_fixed(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795256940")
    assert Run.begun(RECIPE).exported_at == 1_795_256_940_000
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "noon")
    with pytest.raises(UsageError, match="SOURCE_DATE_EPOCH='noon' is no time: write seconds since 1970, or unset it"):
        Run.begun(RECIPE)
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert Run.begun(RECIPE).exported_at > 1_795_256_940_000 - 10**12
